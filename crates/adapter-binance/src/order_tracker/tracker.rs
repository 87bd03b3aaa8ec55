//! The orders that were sent or seen, and what events mean for them.

use std::collections::BTreeMap;

use domain::report::{ReportKind, VenueOrderState};
use domain::{Currency, Decimal, Order, OrderId, Source, Timestamp, WireId};

use super::tracked_order::{Replacing, TrackedOrder, terms_shown};
use crate::orders::client_id::client_id;
use crate::orders::executions::{ExecutionMeaning, meaning_of_execution, state_of};
use crate::orders::external_orders::external_number;
use crate::orders::order_picture::{kept_quantity, own_id, venue_fill};
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::requests::OrderReference;
use crate::protocol::user_events::ExecutionEvent;
use crate::protocol::venue_enums::BinanceOrderStatus;

/// Orders that are remembered; beyond it the oldest that has ended is forgotten.
pub const TRACKED_ORDERS_MAX: usize = 100_000;
/// An event that an answer has announced comes within this time, or the private stream is not to be trusted.
pub const EVENT_WITHIN_MILLIS: i64 = 3_000;

/// A report with the venue's time.
pub type DatedReport = (Option<Timestamp>, ReportKind);

/// An event that must come after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AwaitedEvent {
    Acceptance,
    End,
    /// Of a leg beside the working one.
    LegEnd,
}

#[derive(Debug, Default)]
pub struct OrderTracker {
    instance: u64,
    pub(super) orders: BTreeMap<OrderId, TrackedOrder>,
    pub(super) awaited: BTreeMap<(OrderId, AwaitedEvent), Timestamp>,
}

impl OrderTracker {
    pub fn new(instance: u64) -> Self {
        Self { instance, ..Self::default() }
    }

    /// Whether the order was sent already: the venue would take its id again once it has ended.
    pub fn knows(&self, order: OrderId) -> bool {
        self.orders.contains_key(&order)
    }

    /// A new order leaves under this client id. `is_immediate`: it trades or ends at once.
    pub fn on_submit(&mut self, order: OrderId, client_id: String, is_immediate: bool) {
        self.make_room();
        self.orders.insert(order, TrackedOrder { is_immediate, ..TrackedOrder::new(client_id) });
    }

    /// The order certainly did not leave.
    pub fn on_not_sent(&mut self, order: OrderId) {
        self.orders.remove(&order);
    }

    /// By which id the venue knows the working leg of the order.
    pub fn reference(&self, order: &Order) -> Option<OrderReference> {
        if order.source == Source::External {
            return order.ext_id.as_deref().and_then(external_number).map(OrderReference::Venue);
        }
        if let Some(known) = self.orders.get(&order.id) {
            let number = known.venue_id.filter(|_| known.is_earlier_leg).map(OrderReference::Venue);
            return number.or_else(|| Some(OrderReference::Client(known.client_id.clone())));
        }
        let told = order.ext_id.as_deref().and_then(|id| id.parse().ok()).map(OrderReference::Venue);
        let submit = WireId { request: 0, ..WireId::newest(self.instance, order) };
        told.or_else(|| client_id(&submit.to_string(), order.terms.tif).map(OrderReference::Client))
    }

    /// What self-trade prevention has taken from the order; a quantity for the venue has it too.
    pub fn prevented(&self, order: OrderId) -> Decimal {
        self.orders.get(&order).map_or(Decimal::ZERO, |known| known.prevented)
    }

    /// A replace leaves.
    pub fn on_replace(&mut self, order: &Order, replacing: Replacing) {
        let submit = WireId { request: 0, ..WireId::newest(self.instance, order) };
        let known = self.orders.entry(order.id).or_insert_with(|| TrackedOrder::accepted(submit.to_string(), None));
        known.replacing = Some(replacing);
    }

    /// A leg besides the working one is to be cancelled: its end is told. By which leg the order works is the engine's word: where it
    /// had given up a replace whose leg came later, it is not the newest.
    pub fn on_leg_cancel(&mut self, order: &Order, leg: i64) {
        let working = order.ext_id.as_deref().and_then(|id| id.parse().ok());
        let submit = WireId { request: 0, ..WireId::newest(self.instance, order) };
        let known = self.orders.entry(order.id).or_insert_with(|| TrackedOrder::accepted(submit.to_string(), working));
        known.stray = Some(leg);
        if known.venue_id == Some(leg) && working.is_some_and(|working| working != leg) {
            (known.venue_id, known.is_earlier_leg) = (working, true);
            (known.is_ended, known.is_filled) = (false, false);
        }
    }

    /// What the venue shows of an order: later reports only add to it.
    pub fn on_picture(&mut self, order: OrderId, legs: &[BinanceOrder]) {
        let Some(newest) = legs.iter().max_by_key(|leg| (leg.created, leg.order_id)) else { return };
        let is_live = |leg: &BinanceOrder| state_of(&leg.status) == Some(VenueOrderState::Live);
        let (replacing, stray) =
            self.orders.get(&order).map_or((None, None), |known| (known.replacing.clone(), known.stray));
        // One that is to be cancelled does not work, and one that is gone only where no other rests.
        let resting = legs.iter().filter(|leg| is_live(leg) && stray != Some(leg.order_id.0));
        let working = resting.max_by_key(|leg| (leg.created, leg.order_id)).unwrap_or(newest);
        self.make_room();
        let shown = TrackedOrder {
            is_ended: state_of(&working.status).is_some_and(|state| state != VenueOrderState::Live),
            is_filled: working.status == BinanceOrderStatus::Filled,
            is_earlier_leg: working.order_id != newest.order_id,
            // A replace that is on its way may still take effect.
            replacing: replacing.filter(|replacing| !replacing.is_leg(&newest.client_id)),
            stray: stray.filter(|stray| legs.iter().any(|leg| leg.order_id.0 == *stray && is_live(leg))),
            prevented: working.prevented.unwrap_or_default().0,
            ..TrackedOrder::accepted(newest.client_id.clone(), Some(working.order_id.0))
        };
        self.orders.insert(order, shown);
        self.awaited.retain(|(of, _), _| *of != order);
    }

    /// The session ended: no event comes any more. A replace that is on its way may still take effect.
    pub fn on_session_end(&mut self) {
        self.awaited.clear();
    }

    /// Whether an announced event has not come in its time.
    pub fn overdue(&self, now: Timestamp) -> Option<OrderId> {
        let is_late = |since: &Timestamp| now >= since.plus_millis(EVENT_WITHIN_MILLIS);
        self.awaited.iter().find(|(_, since)| is_late(since)).map(|((order, _), _)| *order)
    }

    pub fn awaits_events(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// An event of the private stream. `quote` is the symbol's quote asset.
    pub fn on_execution(&mut self, event: &ExecutionEvent, quote: Currency, reports: &mut Vec<DatedReport>) {
        let Some(id) = own_id(self.instance, event.order_client_id()) else { return };
        let order = id.order;
        let mut told = Vec::new();
        self.make_room();
        let known = self.orders.entry(order).or_insert_with(|| TrackedOrder::new(event.order_client_id().to_owned()));
        match meaning_of_execution(event) {
            ExecutionMeaning::Accepted => known.begin(order, event, &mut told),
            ExecutionMeaning::Filled(fill) => {
                known.begin(order, event, &mut told);
                known.is_filled |= event.status == BinanceOrderStatus::Filled;
                told.push(ReportKind::Filled(venue_fill(order, &fill, quote)));
            }
            ExecutionMeaning::Canceled { reason } => {
                known.end(order, event, ReportKind::Canceled { order, reason }, &mut told);
            }
            ExecutionMeaning::Expired { reason } => {
                known.end(order, event, ReportKind::Expired { order, reason }, &mut told);
            }
            ExecutionMeaning::Rejected { reason } => {
                known.end(order, event, ReportKind::Rejected { order, reason }, &mut told);
            }
            ExecutionMeaning::Amended if known.is_other_leg(event) => told.push(ReportKind::Gap),
            ExecutionMeaning::Amended => {
                let shown = kept_quantity(event.quantity, event.prevented, &event.status);
                known.amend(order, (event.order_id.0, shown), terms_shown(event), &mut told);
            }
            ExecutionMeaning::Nothing => {}
            ExecutionMeaning::Unclear => told.push(ReportKind::Gap),
        }
        known.note_prevented(event);
        self.settle_awaited(order);
        reports.extend(told.into_iter().map(|said| (event.at.instant(), said)));
    }

    /// The events of a command may also come before its answer.
    fn settle_awaited(&mut self, order: OrderId) {
        let Some(known) = self.orders.get(&order) else { return };
        if known.is_accepted {
            self.awaited.remove(&(order, AwaitedEvent::Acceptance));
        }
        if known.is_ended || known.is_filled {
            self.awaited.remove(&(order, AwaitedEvent::End));
        }
        if known.stray.is_none() {
            self.awaited.remove(&(order, AwaitedEvent::LegEnd));
        }
    }

    fn make_room(&mut self) {
        if self.orders.len() < TRACKED_ORDERS_MAX {
            return;
        }
        if let Some(oldest) = self.orders.iter().find(|(_, known)| known.is_ended || known.is_filled).map(|(id, _)| *id)
        {
            self.orders.remove(&oldest);
        }
    }
}
