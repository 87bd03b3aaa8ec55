//! Replace, cancel and expiry.

use domain::order::OrderTerms;
use domain::report::{ReplaceKind, ReportKind};
use domain::{MarketPhase, OrderId, Text, TimeInForce};

use super::order_entry::check_parts;
use super::trading::MatchResult;
use super::{VenueOutput, VenueSimulator};
use crate::book::BookReject;
use crate::client_orders::client_order::{ClientOrder, OrderStage};
use crate::market::to_book;
use crate::record::VenueRecord;
use crate::reject::Reject;
use crate::task_queue::VenueTask;

impl VenueSimulator {
    pub(super) fn receive_replace(&mut self, order: OrderId, terms: OrderTerms, out: &mut Vec<VenueOutput>) {
        if !self.send(VenueTask::Replace(order, terms)) {
            self.reject_replace(order, Reject::Busy, out);
        }
    }

    pub(super) fn receive_cancel(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        if !self.send(VenueTask::Cancel(order)) {
            self.reject_cancel(order, Reject::Busy, out);
        }
    }

    /// A replace reaches the book.
    pub(super) fn apply_replace(&mut self, order: OrderId, terms: OrderTerms, out: &mut Vec<VenueOutput>) {
        if self.config.replace == ReplaceKind::CancelReplace {
            return self.cancel_replace(order, terms, out);
        }
        match self.check_replace(order, &terms).and_then(|()| self.amend(order, terms, out)) {
            Ok(()) => self.trigger_stops(self.security_of(order), out),
            Err(why) => self.reject_replace(order, why, out),
        }
    }

    pub(super) fn check_replace(&self, order: OrderId, terms: &OrderTerms) -> Result<(), Reject> {
        let held = self.open_order(order)?;
        let market = self.markets.get(&held.security()).ok_or(Reject::NotListed)?;
        self.check_replace_kind(held, terms)?;
        if held.terms.kind.order_type() != terms.kind.order_type() {
            return Err(Reject::KindChanged);
        }
        let lasts = |tif| matches!(tif, TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. });
        if held.terms.tif != terms.tif && !(lasts(held.terms.tif) && lasts(terms.tif)) {
            return Err(Reject::TifChanged);
        }
        check_parts(terms, &held.submission.properties)?;
        self.check_terms(market, terms)
    }

    /// What a new leg may have is checked with it.
    fn check_replace_kind(&self, held: &ClientOrder, terms: &OrderTerms) -> Result<(), Reject> {
        match self.config.replace {
            ReplaceKind::InPlace | ReplaceKind::CancelReplace => Ok(()),
            kind if kind.allows(&held.terms, held.filled, terms) => Ok(()),
            kind => Err(Reject::Replace(kind)),
        }
    }

    pub(super) fn open_order(&self, order: OrderId) -> Result<&ClientOrder, Reject> {
        if !self.orders.contains(order) {
            return Err(Reject::UnknownOrder);
        }
        let held = self.orders.get(order).filter(|held| !held.stage.is_done()).ok_or(Reject::OrderDone)?;
        match held.stage {
            OrderStage::InFlight => Err(Reject::OrderInFlight),
            _ => Ok(held),
        }
    }

    /// Sets the new terms; only the book can still refuse them.
    fn amend(&mut self, order: OrderId, terms: OrderTerms, out: &mut Vec<VenueOutput>) -> Result<(), Reject> {
        let held = self.orders.open(order);
        let (stage, filled) = (held.stage, held.filled);
        let terms = OrderTerms { quantity: terms.quantity.max(filled), ..terms };
        if terms.quantity == filled {
            self.remove_from_book(order);
            self.confirm_replace(order, terms, out);
            return Ok(());
        }
        let met = if stage == OrderStage::Book { Some(self.replace_in_book(order, &terms)?) } else { None };
        self.confirm_replace(order, terms, out);
        if let Some(met) = met {
            self.apply_match(met, out);
        }
        if stage == OrderStage::StopPending {
            self.remove_from_book(order);
            self.add_stop(order);
        }
        Ok(())
    }

    fn replace_in_book(&mut self, order: OrderId, terms: &OrderTerms) -> Result<MatchResult, Reject> {
        let held = self.orders.open(order);
        let mut met = MatchResult::new(held.security(), Some(held.submission.side));
        let open = terms.quantity.minus(held.filled).map_err(|_| Reject::Quantity)?;
        let market = self.markets.get_mut(&held.security()).expect("checked to be listed");
        let lots = market.grid.lots(open).ok_or(Reject::Quantity)?;
        let limit = terms.kind.limit().and_then(|limit| market.grid.ticks(limit));
        let (is_post_only, side) = (held.submission.properties.post_only, to_book(held.submission.side));
        match limit.filter(|_| self.phase == MarketPhase::Continuous) {
            Some(limit) if is_post_only && market.book.would_trade(side, limit) => {
                return Err(Reject::Book(BookReject::WouldTake));
            }
            Some(limit) => {
                let outcome = market.book.replace(order.0, limit, lots, &mut |event| met.events.push(event))?;
                met.outcome = Some((order, outcome));
            }
            None => market.book.requeue(order.0, limit, lots)?,
        }
        Ok(met)
    }

    fn confirm_replace(&mut self, order: OrderId, terms: OrderTerms, out: &mut Vec<VenueOutput>) {
        self.record(VenueRecord::Replaced { at: self.now, order, terms }, out);
        let held = self.orders.open(order);
        let (ext_id, is_open) = (held.ext_id.clone(), !held.stage.is_done());
        if is_open {
            self.schedule_end(order);
        }
        self.send_report(ReportKind::Replaced { order, terms, ext_id }, out);
    }

    /// A cancel reaches the book.
    pub(super) fn apply_cancel(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        let leg = self.orders.working_leg(order);
        match self.open_order(leg).map(ClientOrder::security) {
            Ok(_) => {
                self.remove_from_book(leg);
                self.cancel_with_reason(leg, None, out);
            }
            Err(why) => self.reject_cancel(order, why, out),
        }
    }

    /// The order expires.
    pub(super) fn expire(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        let held = self.orders.open(order);
        let reason = match (self.markets.get(&held.security()), held.terms.tif) {
            (None, _) => "unlisted: its security does not trade here any more",
            (Some(market), _) if market.ends.is_some_and(|end| end <= self.now) => "its security has expired",
            (_, TimeInForce::Day) => "DAY: the exchange day is over",
            (_, TimeInForce::Gtd { .. }) => "GTD: its time is over",
            (_, TimeInForce::Ato | TimeInForce::Atc) => "the auction it was for was not held",
            (_, TimeInForce::Ioc | TimeInForce::Fok | TimeInForce::Gtc) => "the venue was interrupted",
        };
        self.remove_from_book(order);
        self.expire_with_reason(order, reason, out);
    }

    /// Removes an order from the book, the stops or the queue.
    pub(super) fn remove_from_book(&mut self, order: OrderId) {
        let held = self.orders.open(order);
        let Some(market) = self.markets.get_mut(&held.security()) else {
            return;
        };
        match held.stage {
            OrderStage::StopPending => market.stops.remove(order),
            OrderStage::Book => {
                // After a restart with a coarser grid an order may be in no book.
                let _ = market.book.cancel(order.0);
                self.changed_markets.insert(held.security());
            }
            OrderStage::InFlight | OrderStage::OutsideBook | OrderStage::Filled | OrderStage::Ended(_) => {}
        }
    }

    pub(super) fn cancel_with_reason(&mut self, order: OrderId, reason: Option<Text>, out: &mut Vec<VenueOutput>) {
        self.record(VenueRecord::Canceled { at: self.now, order, reason: reason.clone() }, out);
        self.send_report(ReportKind::Canceled { order, reason }, out);
    }

    pub(super) fn expire_with_reason(&mut self, order: OrderId, reason: &str, out: &mut Vec<VenueOutput>) {
        let reason = Text::from(reason);
        self.record(VenueRecord::Expired { at: self.now, order, reason: reason.clone() }, out);
        self.send_report(ReportKind::Expired { order, reason: Some(reason) }, out);
    }

    pub(super) fn reject_replace(&mut self, order: OrderId, why: Reject, out: &mut Vec<VenueOutput>) {
        self.send_report(ReportKind::ReplaceRejected { order, reason: why.text() }, out);
    }

    fn reject_cancel(&mut self, order: OrderId, why: Reject, out: &mut Vec<VenueOutput>) {
        self.send_report(ReportKind::CancelRejected { order, reason: why.text() }, out);
    }
}
