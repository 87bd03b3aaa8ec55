//! Restart from the ledger: client orders are restored, participants start again from their seed.

use domain::{OrderId, Timestamp};

use super::Venue;
use crate::agenda::Task;
use crate::market::Market;
use crate::record::Record;
use crate::registry::{Held, Stage};

impl Venue {
    /// Restores the state from the whole ledger; must be called before anything else. Orders that expired in the
    /// meantime expire with the first step of time, and so does the remainder of an order whose trades were interrupted
    /// by a crash.
    ///
    /// # Panics
    /// Where a record contradicts earlier ones: the ledger is not this venue's, or a part of it is missing.
    pub fn restore(&mut self, records: impl IntoIterator<Item = Record>, at: Timestamp) {
        records.into_iter().for_each(|record| self.registry.apply(&record));
        self.now = self.now.max(at);
        self.fill_books();
        let unfinished: Vec<_> = self.registry.unfinished().map(|held| (held.submission.order, held.stage)).collect();
        for (order, stage) in unfinished {
            match stage {
                Stage::Underway => self.agenda.push(self.now, Task::Submit(order)),
                _ if self.still_fits(self.registry.open(order)) => self.schedule_end(order),
                _ => self.agenda.set_expiry(order, Some(self.now)),
            }
        }
    }

    /// Clients' orders by time priority, then the opening quotes around them.
    fn fill_books(&mut self) {
        self.markets.values_mut().for_each(Market::clear);
        for order in self.fitting(Stage::Book) {
            let entry = self.book_order(order);
            let security = self.security_of(order);
            let market = self.markets.get_mut(&security).expect("it fits");
            market.book.queue(&entry).expect("it stood in a book of the same size");
        }
        for order in self.fitting(Stage::Waiting) {
            self.await_price(order);
        }
        self.markets.values_mut().for_each(Market::open);
    }

    fn fitting(&self, stage: Stage) -> Vec<OrderId> {
        let held = self.registry.at_stage(stage);
        held.into_iter().filter(|held| self.still_fits(held)).map(|held| held.submission.order).collect()
    }

    /// Whether its security is still listed, with ticks and lots that allow the order.
    fn still_fits(&self, held: &Held) -> bool {
        self.markets.get(&held.security()).is_some_and(|market| {
            let prices = [held.terms.kind.limit(), held.terms.kind.stop()];
            let on_tick = prices.into_iter().flatten().all(|price| market.grid.ticks(price).is_some());
            on_tick && market.grid.lots(held.remaining()).is_some()
        })
    }
}
