//! One order at the venue, as far as it was reported.

use domain::order::OrderTerms;
use domain::report::{CancelReplaceReport, HalfOutcome, ReportKind, VenueOrder};
use domain::{Decimal, OrderId, Price, Quantity, Text, WireId};

use crate::orders::client_id::read_client_id;
use crate::orders::executions::state_of;
use crate::orders::order_mapping::{ShownTerms, terms_of};
use crate::orders::order_picture::{ext_id, kept_quantity};
use crate::protocol::user_events::ExecutionEvent;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TrackedOrder {
    /// Of the newest leg.
    pub(super) client_id: String,
    /// Of the leg that works.
    pub(super) venue_id: Option<i64>,
    /// An earlier leg works than the newest one: the venue's number alone names it.
    pub(super) is_earlier_leg: bool,
    pub(super) is_accepted: bool,
    pub(super) is_ended: bool,
    /// The venue has told that nothing of it is left.
    pub(super) is_filled: bool,
    /// It trades or ends at once.
    pub(super) is_immediate: bool,
    pub(super) replacing: Option<Replacing>,
    /// The quantity of the last amendment that was reported.
    pub(super) amended: Option<Decimal>,
    /// Another leg that may still rest.
    pub(super) stray: Option<i64>,
    /// What self-trade prevention has taken from the working leg: the venue's quantity has it, ours has not.
    pub(super) prevented: Decimal,
}

/// A replace without an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacing {
    pub terms: OrderTerms,
    pub by: ReplacingBy,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplacingBy {
    Amendment,
    /// A new leg of this client id; and whether the old one was cancelled meanwhile.
    Leg {
        client_id: String,
        is_canceled: bool,
    },
}

impl TrackedOrder {
    pub(super) fn new(client_id: String) -> Self {
        Self {
            client_id,
            venue_id: None,
            is_earlier_leg: false,
            is_accepted: false,
            is_ended: false,
            is_filled: false,
            is_immediate: false,
            replacing: None,
            amended: None,
            stray: None,
            prevented: Decimal::ZERO,
        }
    }

    pub(super) fn accepted(client_id: String, venue_id: Option<i64>) -> Self {
        Self { venue_id, is_accepted: true, ..Self::new(client_id) }
    }

    /// The order, or the leg that replaces it, is in the market.
    pub(super) fn begin(&mut self, order: OrderId, event: &ExecutionEvent, told: &mut Vec<ReportKind>) {
        let order_id = event.order_id.0;
        if self.is_of_new_leg(event) {
            self.finish_replace(order, order_id, self.cancel_seen(), told);
        } else if self.is_of_unknown_leg(event) {
            let canceled = if self.is_ended { HalfOutcome::Done } else { HalfOutcome::Unknown };
            let old_leg = self.venue_id;
            *self = Self { stray: old_leg, ..Self::accepted(event.order_client_id().to_owned(), Some(order_id)) };
            told.push(placed(order, (old_leg, canceled), order_id));
        } else {
            self.accept(order, order_id, told);
        }
    }

    /// A newer leg whose replace this process did not send: the engine must know that it lives.
    fn is_of_unknown_leg(&self, event: &ExecutionEvent) -> bool {
        self.is_other_leg(event) && request_of(event.order_client_id()) > request_of(&self.client_id)
    }

    pub(super) fn accept(&mut self, order: OrderId, order_id: i64, told: &mut Vec<ReportKind>) {
        self.venue_id.get_or_insert(order_id);
        if !self.is_accepted {
            self.is_accepted = true;
            told.push(accepted(order, order_id));
        }
    }

    /// What events have told of the old leg so far. The venue cancels it before it places the new one, but its word counts.
    fn cancel_seen(&self) -> HalfOutcome {
        match self.replacing.as_ref().map(|replacing| &replacing.by) {
            Some(ReplacingBy::Leg { is_canceled: true, .. }) => HalfOutcome::Done,
            _ => HalfOutcome::Unknown,
        }
    }

    /// The new leg is there: it is the order from now on.
    pub(super) fn finish_replace(
        &mut self,
        order: OrderId,
        order_id: i64,
        canceled: HalfOutcome,
        told: &mut Vec<ReportKind>,
    ) {
        let Some(Replacing { terms, by: ReplacingBy::Leg { client_id, .. } }) = self.replacing.take() else { return };
        (self.client_id, self.is_earlier_leg, self.prevented) = (client_id, false, Decimal::ZERO);
        // What was told of the leg before is no news of this one.
        self.amended = None;
        let old_leg = self.venue_id.replace(order_id);
        if canceled == HalfOutcome::Done {
            return told.push(replaced(order, terms, order_id));
        }
        self.stray = old_leg;
        told.push(placed(order, (old_leg, canceled), order_id));
    }

    /// A leg that might rest beside the working one is gone.
    fn end_stray(&mut self, order: OrderId, event: &ExecutionEvent, told: &mut Vec<ReportKind>) {
        let Some(number) = self.stray.take_if(|stray| *stray == event.order_id.0) else { return };
        let Some((terms, state)) = terms_shown(event).zip(state_of(&event.status)) else {
            return told.push(ReportKind::Gap);
        };
        let seen = VenueOrder { order, ext_id: Some(ext_id(number)), terms, state, reason: None };
        told.push(ReportKind::Leg(Box::new(seen)));
    }

    /// Of the working leg only: the end of a leg that was or is being replaced is not the end of the order.
    pub(super) fn end(&mut self, order: OrderId, event: &ExecutionEvent, said: ReportKind, told: &mut Vec<ReportKind>) {
        if self.is_other_leg(event) && !self.is_of_new_leg(event) {
            return self.end_stray(order, event, told);
        }
        if self.is_of_new_leg(event) {
            self.finish_replace(order, event.order_id.0, self.cancel_seen(), told);
        } else if let Some(Replacing { by: ReplacingBy::Leg { is_canceled, .. }, .. }) = &mut self.replacing {
            *is_canceled = true;
            return;
        }
        if matches!(said, ReportKind::Canceled { .. } | ReportKind::Expired { .. }) {
            self.accept(order, event.order_id.0, told);
        }
        if !self.is_ended {
            self.is_ended = true;
            told.push(said);
        }
    }

    /// Of the working leg; an event without it says nothing about it.
    pub(super) fn note_prevented(&mut self, event: &ExecutionEvent) {
        if let Some(prevented) = event.prevented.filter(|_| !self.is_other_leg(event)) {
            self.prevented = prevented.0;
        }
    }

    /// Of another one than the leg that works.
    pub(super) fn is_other_leg(&self, event: &ExecutionEvent) -> bool {
        self.venue_id.is_some_and(|working| working != event.order_id.0)
    }

    /// Of an event or an answer, whichever is first; the other may come when the next amendment is under way, so the quantity
    /// that the venue shows must be the one that was asked for. `terms` are those that the venue shows.
    pub(super) fn amend(
        &mut self,
        order: OrderId,
        (order_id, shown): (i64, Quantity),
        terms: Option<OrderTerms>,
        told: &mut Vec<ReportKind>,
    ) {
        let asked = self
            .replacing
            .take_if(|replacing| replacing.by == ReplacingBy::Amendment && replacing.terms.quantity == shown);
        let Some(terms) = asked.map(|replacing| replacing.terms).or(terms) else { return };
        let quantity = Some(terms.quantity.0);
        if self.amended != quantity {
            self.amended = quantity;
            told.push(replaced(order, terms, order_id));
        }
    }

    fn is_of_new_leg(&self, event: &ExecutionEvent) -> bool {
        let is_leg = self.replacing.as_ref().is_some_and(|replacing| replacing.is_leg(event.order_client_id()));
        is_leg && self.venue_id != Some(event.order_id.0)
    }
}

impl Replacing {
    /// Whether the leg that replaces the order has this client id.
    pub(super) fn is_leg(&self, id: &str) -> bool {
        matches!(&self.by, ReplacingBy::Leg { client_id, .. } if client_id == id)
    }
}

fn request_of(client_id: &str) -> Option<u32> {
    read_client_id(client_id).request.parse::<WireId>().ok().map(|id| id.request)
}

/// The terms that an event shows.
pub(super) fn terms_shown(event: &ExecutionEvent) -> Option<OrderTerms> {
    terms_of(&ShownTerms {
        kind: &event.kind,
        tif: &event.tif,
        quantity: kept_quantity(event.quantity, event.prevented, &event.status),
        price: Price(event.price.0),
        stop_price: Some(Price(event.stop_price.0)).filter(|price| price.is_positive()),
        marked: read_client_id(event.order_client_id()).tif,
    })
}

fn replaced(order: OrderId, terms: OrderTerms, order_id: i64) -> ReportKind {
    ReportKind::Replaced { order, terms, ext_id: Some(ext_id(order_id)) }
}

/// The new leg is placed, and the old one not surely gone.
fn placed(order: OrderId, (old_leg, canceled): (Option<i64>, HalfOutcome), order_id: i64) -> ReportKind {
    ReportKind::CancelReplaced(Box::new(CancelReplaceReport {
        order,
        old_leg: old_leg.map(ext_id),
        canceled,
        new_leg: Some(ext_id(order_id)),
        placed: HalfOutcome::Done,
        reason: None,
        dead_after: None,
    }))
}

fn accepted(order: OrderId, order_id: i64) -> ReportKind {
    let ext_id: Option<Text> = Some(ext_id(order_id));
    ReportKind::Accepted { order, ext_id }
}
