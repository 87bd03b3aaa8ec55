//! Replace, cancel and expiry.

use domain::order::Terms;
use domain::report::Said;
use domain::{MarketPhase, OrderId, Text, TimeInForce};

use super::trading::Met;
use super::{Output, Venue};
use crate::agenda::Task;
use crate::record::Record;
use crate::registry::{Held, Stage};
use crate::reject::Reject;

impl Venue {
    pub(super) fn receive_replace(&mut self, order: OrderId, terms: Terms, out: &mut Vec<Output>) {
        if !self.send(Task::Replace(order, terms)) {
            self.refuse_change(order, Reject::Busy, out);
        }
    }

    pub(super) fn receive_cancel(&mut self, order: OrderId, out: &mut Vec<Output>) {
        if !self.send(Task::Cancel(order)) {
            self.refuse_cancel(order, Reject::Busy, out);
        }
    }

    /// A replace reaches the book.
    pub(super) fn change(&mut self, order: OrderId, terms: Terms, out: &mut Vec<Output>) {
        match self.examine_change(order, &terms).and_then(|()| self.amend(order, terms, out)) {
            Ok(()) => self.after_trading(self.security_of(order), out),
            Err(why) => self.refuse_change(order, why, out),
        }
    }

    fn examine_change(&self, order: OrderId, terms: &Terms) -> Result<(), Reject> {
        let held = self.live(order)?;
        let market = self.markets.get(&held.security()).ok_or(Reject::NotListed)?;
        if !held.terms.kind.same_kind(&terms.kind) {
            return Err(Reject::KindChanged);
        }
        let lasts = |tif| matches!(tif, TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. });
        if held.terms.tif != terms.tif && !(lasts(held.terms.tif) && lasts(terms.tif)) {
            return Err(Reject::TifChanged);
        }
        self.examine_terms(market, terms)
    }

    fn live(&self, order: OrderId) -> Result<&Held, Reject> {
        if !self.registry.knows(order) {
            return Err(Reject::UnknownOrder);
        }
        let held = self.registry.get(order).filter(|held| !held.stage.is_done()).ok_or(Reject::OrderDone)?;
        match held.stage {
            Stage::Underway => Err(Reject::OrderUnderway),
            _ => Ok(held),
        }
    }

    /// Sets the new terms; only the book can still refuse them.
    fn amend(&mut self, order: OrderId, terms: Terms, out: &mut Vec<Output>) -> Result<(), Reject> {
        let held = self.registry.open(order);
        let (stage, filled) = (held.stage, held.filled);
        let terms = Terms { quantity: terms.quantity.max(filled), ..terms };
        if terms.quantity == filled {
            self.leave_book(order);
            self.confirm(order, terms, out);
            return Ok(());
        }
        let met = if stage == Stage::Book { Some(self.change_in_book(order, &terms)?) } else { None };
        self.confirm(order, terms, out);
        if let Some(met) = met {
            self.settle(met, out);
        }
        if stage == Stage::Waiting {
            self.leave_book(order);
            self.await_price(order);
        }
        Ok(())
    }

    fn change_in_book(&mut self, order: OrderId, terms: &Terms) -> Result<Met, Reject> {
        let held = self.registry.open(order);
        let mut met = Met::new(held.security(), Some(held.submission.side));
        let open = terms.quantity.minus(held.filled).map_err(|_| Reject::Quantity)?;
        let market = self.markets.get_mut(&held.security()).expect("checked to be listed");
        let lots = market.grid.lots(open).ok_or(Reject::Quantity)?;
        let limit = terms.kind.limit().and_then(|limit| market.grid.ticks(limit));
        match limit.filter(|_| self.phase == MarketPhase::Continuous) {
            Some(limit) => {
                let outcome = market.book.replace(order.0, limit, lots, &mut |event| met.events.push(event))?;
                met.outcome = Some((order, outcome));
            }
            None => market.book.requeue(order.0, limit, lots)?,
        }
        Ok(met)
    }

    fn confirm(&mut self, order: OrderId, terms: Terms, out: &mut Vec<Output>) {
        self.record(Record::Replaced { at: self.now, order, terms }, out);
        let held = self.registry.open(order);
        let (ext_id, is_open) = (held.ext_id.clone(), !held.stage.is_done());
        if is_open {
            self.schedule_end(order);
        }
        self.say(Said::Replaced { order, terms, ext_id }, out);
    }

    /// A cancel reaches the book.
    pub(super) fn withdraw(&mut self, order: OrderId, out: &mut Vec<Output>) {
        match self.live(order).map(Held::security) {
            Ok(_) => {
                self.leave_book(order);
                self.cancel_for(order, None, out);
            }
            Err(why) => self.refuse_cancel(order, why, out),
        }
    }

    /// The order expires.
    pub(super) fn expire(&mut self, order: OrderId, out: &mut Vec<Output>) {
        let held = self.registry.open(order);
        let reason = match (self.markets.get(&held.security()), held.terms.tif) {
            (None, _) => "unlisted: its security does not trade here any more",
            (Some(market), _) if market.ends.is_some_and(|end| end <= self.now) => "its security has expired",
            (_, TimeInForce::Day) => "DAY: the exchange day is over",
            (_, TimeInForce::Gtd { .. }) => "GTD: its time is over",
            (_, TimeInForce::Ato | TimeInForce::Atc) => "the auction it was for was not held",
            (_, TimeInForce::Ioc | TimeInForce::Fok | TimeInForce::Gtc) => "the venue was interrupted",
        };
        self.leave_book(order);
        self.expire_for(order, reason, out);
    }

    /// Removes an order from the book, the stops or the queue.
    pub(super) fn leave_book(&mut self, order: OrderId) {
        let held = self.registry.open(order);
        let Some(market) = self.markets.get_mut(&held.security()) else {
            return;
        };
        match held.stage {
            Stage::Waiting => market.stops.remove(order),
            Stage::Book => {
                // After a restart with a coarser grid an order may be in no book.
                let _ = market.book.cancel(order.0);
                self.touched.insert(held.security());
            }
            Stage::Underway | Stage::Aside | Stage::Filled | Stage::Gone(_) => {}
        }
    }

    pub(super) fn cancel_for(&mut self, order: OrderId, reason: Option<Text>, out: &mut Vec<Output>) {
        self.record(Record::Canceled { at: self.now, order, reason: reason.clone() }, out);
        self.say(Said::Canceled { order, reason }, out);
    }

    pub(super) fn expire_for(&mut self, order: OrderId, reason: &str, out: &mut Vec<Output>) {
        let reason = Text::from(reason);
        self.record(Record::Expired { at: self.now, order, reason: reason.clone() }, out);
        self.say(Said::Expired { order, reason: Some(reason) }, out);
    }

    fn refuse_change(&mut self, order: OrderId, why: Reject, out: &mut Vec<Output>) {
        self.say(Said::ReplaceRejected { order, reason: why.text() }, out);
    }

    fn refuse_cancel(&mut self, order: OrderId, why: Reject, out: &mut Vec<Output>) {
        self.say(Said::CancelRejected { order, reason: why.text() }, out);
    }
}
