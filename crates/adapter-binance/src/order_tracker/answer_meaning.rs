//! What the answers to our requests mean for their orders. In doubt the outcome is unknown, and the engine asks.

use domain::report::{CancelReplaceReport, HalfOutcome, ReportKind};
use domain::{OrderId, Text, Timestamp};
use serde::Deserialize;

use super::tracked_order::{ReplacingBy, TrackedOrder};
use super::tracker::{AwaitedEvent, DatedReport, OrderTracker};
use crate::orders::order_picture::{ext_id, kept_quantity};
use crate::protocol::answers::error_codes::ErrorMeaning;
use crate::protocol::answers::order_answers::{
    AmendAnswer, CancelReplaceOutcome, OrderAcknowledgement, cancel_replace_outcome,
};
use crate::protocol::answers::{CallAnswer, CallError};

/// A request that changes an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderRequestKind {
    Submit,
    Cancel,
    Amend,
    CancelReplace,
}

impl OrderTracker {
    /// `dead_after`: the request can no longer take effect then.
    pub fn on_answer(
        &mut self,
        (order, kind): (OrderId, OrderRequestKind),
        answer: &CallAnswer,
        (now, dead_after): (Timestamp, Timestamp),
        reports: &mut Vec<DatedReport>,
    ) {
        let mut told = Vec::new();
        let lost = |reason: String| unknown(order, reason.into(), dead_after);
        match kind {
            OrderRequestKind::Submit => self.on_submit_answer(order, answer, now, lost, &mut told),
            OrderRequestKind::Cancel => self.on_cancel_answer(order, answer, now, lost, &mut told),
            OrderRequestKind::Amend => self.on_amend_answer(order, answer, lost, &mut told),
            OrderRequestKind::CancelReplace => self.on_replace_answer(order, answer, lost, &mut told),
        }
        reports.extend(told.into_iter().map(|said| (None, said)));
    }

    /// The venue has cancelled a leg beside the working one: its event must come too.
    pub fn on_leg_canceled(&mut self, order: OrderId, now: Timestamp) {
        if self.orders.get(&order).is_some_and(|known| known.stray.is_some()) {
            self.awaited.insert((order, AwaitedEvent::LegEnd), now);
        }
    }

    /// No answer will come: it may have taken effect.
    pub fn on_no_answer(
        &mut self,
        order: OrderId,
        reason: Text,
        dead_after: Timestamp,
        reports: &mut Vec<DatedReport>,
    ) {
        reports.push((None, unknown(order, reason, dead_after)));
    }

    /// The request certainly did not leave.
    pub fn on_request_not_sent(
        &mut self,
        (order, kind): (OrderId, OrderRequestKind),
        reason: Text,
        reports: &mut Vec<DatedReport>,
    ) {
        let said = match kind {
            OrderRequestKind::Submit => {
                self.on_not_sent(order);
                ReportKind::NotSent { order, reason }
            }
            OrderRequestKind::Cancel => ReportKind::CancelRejected { order, reason },
            OrderRequestKind::Amend | OrderRequestKind::CancelReplace => {
                self.forget_replace(order);
                ReportKind::ReplaceRejected { order, reason }
            }
        };
        reports.push((None, said));
    }

    fn on_submit_answer(
        &mut self,
        order: OrderId,
        answer: &CallAnswer,
        now: Timestamp,
        lost: impl Fn(String) -> ReportKind,
        told: &mut Vec<ReportKind>,
    ) {
        match &answer.outcome {
            Ok(result) => match OrderAcknowledgement::deserialize(result) {
                Ok(taken) => self.on_taken(order, taken.order_id.0, now, told),
                Err(reason) => told.push(lost(reason.to_string())),
            },
            // The first one lives; its state comes by the stream, or by a question.
            Err(error) if error.meaning == ErrorMeaning::Duplicate => {}
            Err(error) if is_unknown(error) => told.push(lost(error.describe())),
            Err(error) => {
                if let Some(known) = self.orders.get_mut(&order) {
                    known.is_ended = true;
                }
                told.push(ReportKind::Rejected { order, reason: error.refusal().into() });
            }
        }
    }

    /// The event of the acceptance must come too: otherwise fills would be missed as well.
    fn on_taken(&mut self, order: OrderId, order_id: i64, now: Timestamp, told: &mut Vec<ReportKind>) {
        let Some(known) = self.orders.get_mut(&order) else { return };
        if !known.is_accepted {
            self.awaited.insert((order, AwaitedEvent::Acceptance), now);
        }
        if known.is_immediate && !known.is_ended && !known.is_filled {
            self.awaited.insert((order, AwaitedEvent::End), now);
        }
        known.accept(order, order_id, told);
    }

    fn on_cancel_answer(
        &mut self,
        order: OrderId,
        answer: &CallAnswer,
        now: Timestamp,
        lost: impl Fn(String) -> ReportKind,
        told: &mut Vec<ReportKind>,
    ) {
        match &answer.outcome {
            Ok(_) => {
                if self.orders.get(&order).is_some_and(|known| !known.is_ended && !known.is_filled) {
                    self.awaited.insert((order, AwaitedEvent::End), now);
                }
            }
            Err(error) if is_unknown(error) => told.push(lost(error.describe())),
            Err(error) => told.push(ReportKind::CancelRejected { order, reason: error.refusal().into() }),
        }
    }

    fn on_amend_answer(
        &mut self,
        order: OrderId,
        answer: &CallAnswer,
        lost: impl Fn(String) -> ReportKind,
        told: &mut Vec<ReportKind>,
    ) {
        match &answer.outcome {
            Ok(result) => match (AmendAnswer::deserialize(result), self.orders.get_mut(&order)) {
                (Ok(amended), Some(known)) => {
                    let seen = &amended.order;
                    let kept = kept_quantity(seen.quantity, seen.prevented, &seen.status);
                    known.amend(order, (seen.order_id.0, kept), None, told);
                }
                (Ok(_), None) => {}
                (Err(reason), _) => told.push(lost(reason.to_string())),
            },
            Err(error) if is_unknown(error) => told.push(lost(error.describe())),
            Err(error) => {
                self.forget_replace(order);
                told.push(ReportKind::ReplaceRejected { order, reason: error.refusal().into() });
            }
        }
    }

    fn on_replace_answer(
        &mut self,
        order: OrderId,
        answer: &CallAnswer,
        lost: impl Fn(String) -> ReportKind,
        told: &mut Vec<ReportKind>,
    ) {
        let Some(known) = self.orders.get_mut(&order) else { return };
        match cancel_replace_outcome(answer.outcome.as_ref()) {
            CancelReplaceOutcome::Replaced(placed) => {
                // An answer that comes behind its events may meet the next replace.
                if known.replacing.as_ref().is_some_and(|replacing| replacing.is_leg(&placed.client_id)) {
                    known.finish_replace(order, placed.order_id.0, HalfOutcome::Done, told);
                }
            }
            CancelReplaceOutcome::CanceledOnly { reason } => {
                known.replacing = None;
                known.is_ended = true;
                told.push(canceled_only(order, known, reason));
            }
            CancelReplaceOutcome::PlacedOnly { placed, .. } => {
                if known.replacing.as_ref().is_some_and(|replacing| replacing.is_leg(&placed.client_id)) {
                    known.finish_replace(order, placed.order_id.0, HalfOutcome::Refused, told);
                }
            }
            CancelReplaceOutcome::Neither { reason, .. } if !was_canceled(known) => {
                known.replacing = None;
                told.push(ReportKind::ReplaceRejected { order, reason: reason.into() });
            }
            CancelReplaceOutcome::Neither { reason, .. } => {
                told.push(lost(format!("the venue's answer contradicts its events: {reason}")));
            }
            CancelReplaceOutcome::Unknown { reason } => told.push(lost(reason)),
        }
    }

    fn forget_replace(&mut self, order: OrderId) {
        if let Some(known) = self.orders.get_mut(&order) {
            known.replacing = None;
        }
    }
}

fn canceled_only(order: OrderId, known: &TrackedOrder, reason: String) -> ReportKind {
    ReportKind::CancelReplaced(Box::new(CancelReplaceReport {
        order,
        old_leg: known.venue_id.map(ext_id),
        canceled: HalfOutcome::Done,
        new_leg: None,
        placed: HalfOutcome::Refused,
        reason: Some(reason.into()),
        dead_after: None,
    }))
}

/// An event contradicts an answer that says that nothing happened.
fn was_canceled(known: &TrackedOrder) -> bool {
    let by = known.replacing.as_ref().map(|replacing| &replacing.by);
    matches!(by, Some(ReplacingBy::Leg { is_canceled: true, .. }))
}

fn unknown(order: OrderId, reason: Text, dead_after: Timestamp) -> ReportKind {
    ReportKind::DeliveryUnknown { order, reason, dead_after: Some(dead_after) }
}

/// Whether the request may have taken effect all the same.
fn is_unknown(error: &CallError) -> bool {
    match error.meaning {
        ErrorMeaning::Unknown | ErrorMeaning::HalfDone | ErrorMeaning::AlreadySubscribed => true,
        ErrorMeaning::Refused
        | ErrorMeaning::Duplicate
        | ErrorMeaning::NoSuchOrder
        | ErrorMeaning::RateLimited
        | ErrorMeaning::Clock
        | ErrorMeaning::Key
        | ErrorMeaning::Archived => false,
    }
}
