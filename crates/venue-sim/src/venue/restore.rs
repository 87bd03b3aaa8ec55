//! Restart from the ledger: client orders are restored, participants start again from their seed.

use domain::{OrderId, Timestamp};

use super::VenueSimulator;
use crate::client_orders::client_order::{ClientOrder, OrderStage};
use crate::market::SecurityMarket;
use crate::record::VenueRecord;
use crate::task_queue::VenueTask;

impl VenueSimulator {
    /// Restores the state from the whole ledger; must be called before anything else. Orders that expired in the
    /// meantime expire with the first step of time, and so does the remainder of an order whose trades were interrupted
    /// by a crash.
    ///
    /// # Panics
    /// Where a record contradicts earlier ones: the ledger is not this venue's, or a part of it is missing.
    pub fn restore(&mut self, records: impl IntoIterator<Item = VenueRecord>, at: Timestamp) {
        for record in records {
            self.orders.apply(&record);
            self.accounts.apply(&record);
        }
        self.now = self.now.max(at);
        let now = self.now;
        self.markets.values_mut().filter_map(|market| market.unpriced_since.as_mut()).for_each(|since| *since = now);
        self.fill_books();
        let unfinished: Vec<_> = self.orders.unfinished().map(|held| (held.submission.order, held.stage)).collect();
        for (order, stage) in unfinished {
            match stage {
                OrderStage::InFlight => self.tasks.push(self.now, VenueTask::Submit(order)),
                _ if self.is_restorable(self.orders.open(order)) => self.schedule_end(order),
                _ => self.tasks.set_expiry(order, Some(self.now)),
            }
        }
    }

    /// Clients' orders by time priority, then the opening quotes around them.
    fn fill_books(&mut self) {
        self.markets.values_mut().for_each(SecurityMarket::clear);
        for order in self.restorable(OrderStage::Book) {
            let entry = self.book_order(order);
            let security = self.security_of(order);
            let market = self.markets.get_mut(&security).expect("it fits");
            market.book.queue(&entry).expect("it stood in a book of the same size");
        }
        for order in self.restorable(OrderStage::StopPending) {
            self.add_stop(order);
        }
        self.markets.values_mut().for_each(SecurityMarket::open);
    }

    fn restorable(&self, stage: OrderStage) -> Vec<OrderId> {
        let held = self.orders.at_stage(stage);
        held.into_iter().filter(|held| self.is_restorable(held)).map(|held| held.submission.order).collect()
    }

    /// Whether its security is still listed, with ticks and lots that allow the order.
    fn is_restorable(&self, held: &ClientOrder) -> bool {
        self.markets.get(&held.security()).is_some_and(|market| {
            let on_tick = held.terms.kind.prices().all(|(_, price)| market.grid.ticks(price).is_some());
            let quantities = [Some(held.remaining()), held.shown, held.submission.properties.display_quantity];
            on_tick && quantities.into_iter().flatten().all(|quantity| market.grid.lots(quantity).is_some())
        })
    }
}
