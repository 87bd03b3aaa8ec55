//! Waiting orders: sent to the venue only after other orders were cancelled or reduced, because they would trade with
//! them or flip a position. Such an order is open, its reason names what it waits for, and it is not at the venue yet.
//! It is part of the journalled state and survives a restart.

pub(crate) mod wait_queue;

use domain::order::{BaseState, ExecType, Order, OrderRequest, OrderTerms, PendingRequest};
use domain::{Caller, OrderId, Quantity, Refusal, Source, Text};

use self::wait_queue::{Displaced, WaitingOrder};
use super::order_events::{OrderChange, publish_order};
use super::transitions::{RequestKind, may_request};
use crate::orders::terms_check::check_terms;
use crate::orders::ticket::OrderReport;
use crate::orders::ticket::order_request;
use crate::outbox::{Moment, Outbox};
use crate::risk::Candidate;
use crate::trading::Trading;

/// The venue must cancel or reduce the others within this time, or the order is rejected.
const WAIT_TIMEOUT_SECONDS: i64 = 5;

/// A reason names this many orders; beyond that it gives the count.
const NAMES_MAX: usize = 5;

impl Trading {
    /// The reason that an order shows while it waits.
    pub(crate) fn wait_reason(&self, displaced: &[Displaced]) -> Text {
        let names = self.names_of(displaced.iter());
        let is_reduced = displaced.iter().any(|first| first.leaves_quantity.is_some());
        format!("waits for the venue to {} {names}", if is_reduced { "reduce or cancel" } else { "cancel" }).into()
    }

    /// Requests the cancels and replaces that must come first, and adds the order to the waiting ones.
    pub(crate) fn add_waiting(
        &mut self,
        moment: Moment,
        caller: &Caller,
        order: &Order,
        displaced: Vec<Displaced>,
        out: &mut Outbox,
    ) {
        for first in &displaced {
            self.displace(moment, caller, first, first.reason.displaced_text(order), out);
        }
        let due = moment.at.plus_seconds(WAIT_TIMEOUT_SECONDS);
        self.waiting_orders.0.insert(order.id, WaitingOrder { due, displaced });
    }

    /// The order and those that it would trade with are all cancelled.
    pub(crate) fn cancel_both(
        &mut self,
        moment: Moment,
        caller: &Caller,
        order: &Order,
        displaced: &[Displaced],
        out: &mut Outbox,
    ) {
        for first in displaced {
            self.displace(moment, caller, first, first.reason.displaced_text(order), out);
        }
        let reason = format!("self-trade: would trade with the account's own {}", self.names_of(displaced.iter()));
        let report = OrderReport { moment, order: order.id, ext_at: None };
        self.on_ended(report, ExecType::Canceled, Some(&reason.into()), out);
    }

    /// A cancel that is pending already is not requested again.
    pub(super) fn displace(&mut self, moment: Moment, caller: &Caller, first: &Displaced, why: Text, out: &mut Outbox) {
        let Some(order) = self.orders.get(first.order).cloned() else { return };
        let request = OrderRequest { reason: Some(why), ..order_request(caller, None) };
        // An order that was not placed here cannot be changed, so it is cancelled as a whole.
        match first.leaves_quantity.filter(|_| order.source != Source::External) {
            Some(_) if first.deferral.is_some() => {}
            Some(quantity) => {
                let terms = OrderTerms { quantity, ..order.terms };
                drop(self.send_replace(moment, &order, terms, request, out));
            }
            None if may_request(&order.pending, RequestKind::Cancel) && self.can_cancel(&order) => {
                drop(self.send_cancel(moment, &order, request, out));
            }
            None => {}
        }
    }

    /// Sends waiting orders that nothing blocks any more. Runs after every input that could unblock one.
    pub(crate) fn release_cleared(&mut self, moment: Moment, out: &mut Outbox) {
        if self.waiting_orders.0.is_empty() {
            return;
        }
        // First: an order that is released now would shrink by what one that waits behind it is to close.
        for (waiting, place) in self.waiting_orders.deferred() {
            self.send_deferred(moment, waiting, place, out);
        }
        while let Some(order) = self.next_cleared() {
            self.waiting_orders.remove(order);
            self.release(moment, order, out);
        }
    }

    /// Asks an order to shrink that was being replaced when it should have been asked, once that is over.
    fn send_deferred(&mut self, moment: Moment, waiting: OrderId, place: usize, out: &mut Outbox) {
        let Some(first) = self.waiting_orders.deferred_at(waiting, place).cloned() else { return };
        let Some(order) = self.orders.get(first.order).filter(|order| order.state.is_working()) else { return };
        if order.pending.replace().is_some() {
            return;
        }
        // For all that wait for it at once: one after the other would take a round trip each.
        let lowest = self.waiting_orders.take_deferred(first.order);
        // What was filled meanwhile may leave nothing of it.
        let leaves_quantity = lowest.filter(|quantity| *quantity > order.filled);
        let first = Displaced { leaves_quantity, deferral: None, ..first };
        let is_ending = order.pending.cancel().is_some();
        if !is_ending
            && !self.is_displaced(&first)
            && let Some(by) = self.orders.get(waiting)
        {
            let why = first.reason.displaced_text(by);
            self.waiting_orders.renew(first.order, moment.at.plus_seconds(WAIT_TIMEOUT_SECONDS));
            self.displace(moment, &Caller::platform(), &first, why, out);
        }
    }

    fn next_cleared(&self) -> Option<OrderId> {
        let is_cleared = |(id, wait): &(&OrderId, &WaitingOrder)| match self.orders.get(**id) {
            Some(order) if is_waiting(order) => {
                wait.displaced.iter().all(|first| self.is_displaced(first))
                    && self.check_adapter(&order.adapter).is_ok()
            }
            _ => true,
        };
        self.waiting_orders.0.iter().find(is_cleared).map(|(id, _)| *id)
    }

    /// A fill ends an order as a cancel does.
    fn is_displaced(&self, first: &Displaced) -> bool {
        let Some(order) = self.orders.get(first.order).filter(|order| order.state.is_working()) else { return true };
        let is_small = |quantity| order.terms.quantity <= quantity;
        order.pending == PendingRequest::Nothing && first.leaves_quantity.is_some_and(is_small)
    }

    /// Checked once more, because the state may have changed since the order was accepted.
    fn release(&mut self, moment: Moment, id: OrderId, out: &mut Outbox) {
        let Some(order) = self.orders.get(id).filter(|order| is_waiting(order)).cloned() else { return };
        match self.check_release(moment, &order) {
            Ok(Some(terms)) => self.submit_waiting(moment, &order, terms, out),
            Ok(None) => {
                let report = OrderReport { moment, order: id, ext_at: None };
                self.on_ended(report, ExecType::Canceled, Some(&"position-closed".into()), out);
            }
            Err(refusal) => self.reject_waiting(moment, id, format!("{}: {refusal}", refusal.code()).into(), out),
        }
    }

    /// The terms to send. A close shrinks to what is left to close; absent where that is nothing.
    fn check_release(&self, moment: Moment, order: &Order) -> Result<Option<OrderTerms>, Refusal> {
        let (route, caller) = (self.route_of(order)?, Caller::platform());
        let mut candidate = Candidate {
            route: &route,
            side: order.side,
            terms: order.terms,
            replaces: Some(order),
            reduce_only: order.properties.reduce_only,
            freed: Quantity::ZERO,
            is_released: true,
            caller: &caller,
        };
        if order.properties.reduce_only {
            let closable = self.closable(&candidate)?;
            candidate.terms.quantity = order.terms.quantity.min(closable);
            if candidate.terms.quantity.is_zero() {
                // Nothing is left to close, or later orders close all of it: only the first is a success.
                return if self.is_closed(order) { Ok(None) } else { Err(Refusal::WouldFlip { open: closable }) };
            }
        }
        check_terms(&route.security, &candidate.terms)?;
        self.check_listing(&order.adapter, order.security, &candidate.terms)?;
        self.check_hours(moment.at, &route, &candidate.terms)?;
        self.check_risk(moment, &candidate)?;
        Ok(Some(candidate.terms))
    }

    /// Whether no position is left that an order of this side could close.
    fn is_closed(&self, order: &Order) -> bool {
        let held = self.portfolio.quantity(order.strategy, order.account, order.security);
        !order.side.opposite().signed(held).is_positive()
    }

    fn submit_waiting(&mut self, moment: Moment, order: &Order, terms: OrderTerms, out: &mut Outbox) {
        let order = self.orders.change(order.id, |order| {
            order.terms = terms;
            order.in_doubt = false;
            order.reason = None;
            order.changed_at = moment.at;
        });
        self.risk.on_replaced(&order);
        publish_order(moment, &order, OrderChange::plain(ExecType::DoubtResolved), out);
        self.submit(moment, &order, out);
    }

    /// Not a reject of the venue, so the reject breaker does not count it.
    fn reject_waiting(&mut self, moment: Moment, id: OrderId, reason: Text, out: &mut Outbox) {
        let order = self.orders.change(id, |order| {
            order.state = BaseState::Rejected;
            order.in_doubt = false;
            order.reason = Some(reason);
            order.changed_at = moment.at;
        });
        self.risk.on_settled(&order);
        publish_order(moment, &order, OrderChange::plain(ExecType::Rejected), out);
    }

    /// Rejects waiting orders past their deadline.
    pub(crate) fn reject_timed_out(&mut self, moment: Moment, out: &mut Outbox) {
        while let Some((id, wait)) = self.waiting_orders.pop_due(moment.at) {
            self.reject_waiting(moment, id, self.timeout_reason(&wait), out);
        }
    }

    fn timeout_reason(&self, wait: &WaitingOrder) -> Text {
        let mut left = wait.displaced.iter().filter(|first| !self.is_displaced(first)).peekable();
        let Some(why) = left.peek().map(|first| first.reason) else {
            return format!("adapter-down: the venue was not there for {WAIT_TIMEOUT_SECONDS} s").into();
        };
        let (code, names) = (why.code(), self.names_of(left));
        format!("{code}: the venue has not cancelled or reduced {names} within {WAIT_TIMEOUT_SECONDS} s").into()
    }

    /// `order 3`, or `orders 3, 4 and 7 more`.
    fn names_of<'a>(&self, displaced: impl Iterator<Item = &'a Displaced>) -> String {
        let orders = displaced.filter_map(|first| self.orders.get(first.order));
        let names: Vec<&str> = orders.map(|order| order.int_id.as_str()).collect();
        let shown = names[..names.len().min(NAMES_MAX)].join(", ");
        match names.len() {
            0 | 1 => format!("order {shown}"),
            count if count > NAMES_MAX => format!("orders {shown} and {} more", count - NAMES_MAX),
            _ => format!("orders {shown}"),
        }
    }
}

/// Not sent, and no venue has reported it: an order that a venue reports is at the venue.
fn is_waiting(order: &Order) -> bool {
    order.state == BaseState::PendingNew && order.pending == PendingRequest::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_of_before_orders_could_wait_can_be_read() {
        let now = minicbor::to_vec(Trading::default()).unwrap();
        // An array of eighteen parts, the last two of them an empty map and an empty list.
        assert_eq!((now[0], &now[now.len() - 2..]), (0x92, &[0xa0, 0x80][..]));
        let before = [&[0x90], &now[1..now.len() - 2]].concat();
        let read: Trading = minicbor::decode(&before).unwrap();
        assert_eq!(minicbor::to_vec(&read).unwrap(), now);
    }
}
