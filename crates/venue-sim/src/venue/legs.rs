//! Cancel-and-new: a replace cancels the order's leg and places another one. The client knows all legs by the number of its
//! order, and tells them apart by the venue's ids.

use domain::order::OrderTerms;
use domain::report::{CancelReplaceReport, HalfOutcome, ReportKind, VenueFill, VenueOrderState};
use domain::{OrderId, Text};

use super::{VenueOutput, VenueSimulator};
use crate::client_orders::client_order::ClientOrder;
use crate::faults::ReplaceHalf;
use crate::record::{SubmittedOrder, VenueRecord};
use crate::reject::Reject;
use crate::task_queue::VenueTask;

const REPLACED: &str = "replaced by another order";

impl VenueSimulator {
    /// A replace reaches the book. Both halves are checked before the first is done, but the book can still refuse the second.
    pub(super) fn cancel_replace(&mut self, order: OrderId, terms: OrderTerms, out: &mut Vec<VenueOutput>) {
        let old = self.orders.working_leg(order);
        if let Err(why) = self.check_cancel_replace(old, &terms) {
            return self.reject_replace(order, why, out);
        }
        let like = self.orders.open(old).submission.clone();
        let half = self.reports.faults().replace_half;
        if half == Some(ReplaceHalf::Neither) {
            return self.reject_replace(order, Reject::Fault, out);
        }
        if half != Some(ReplaceHalf::Placed) {
            self.remove_from_book(old);
            self.record(VenueRecord::Canceled { at: self.now, order: old, reason: Some(REPLACED.into()) }, out);
        }
        if half == Some(ReplaceHalf::Canceled) {
            return self.report_canceled_only(order, Reject::Fault.text(), out);
        }
        let new = self.orders.next_leg();
        let submission = SubmittedOrder { at: self.now, order: new, terms, leg_of: Some(order), ..like };
        self.record(VenueRecord::Submitted(submission), out);
        match self.accept_order(new, out) {
            Ok(()) => self.trigger_stops(self.security_of(new), out),
            Err(why) => {
                let reason = why.text();
                self.record(VenueRecord::Rejected { at: self.now, order: new, reason: reason.clone() }, out);
                self.report_canceled_only(order, reason, out);
            }
        }
    }

    /// An order with fills is not replaced: fills on the way would make it trade too much.
    fn check_cancel_replace(&self, leg: OrderId, terms: &OrderTerms) -> Result<(), Reject> {
        self.check_replace(leg, terms)?;
        let has_fills = self.orders.get(leg).is_some_and(|held| !held.filled.is_zero());
        if has_fills { Err(Reject::HasFills) } else { Ok(()) }
    }

    fn report_canceled_only(&mut self, order: OrderId, reason: Text, out: &mut Vec<VenueOutput>) {
        let first = self.orders.get(order).and_then(|held| held.ext_id.clone());
        let told = CancelReplaceReport {
            order,
            old_leg: first,
            canceled: HalfOutcome::Done,
            new_leg: None,
            placed: HalfOutcome::Refused,
            reason: Some(reason),
            dead_after: None,
        };
        self.send_report(ReportKind::CancelReplaced(Box::new(told)), out);
    }

    /// The client hears of a leg under the number of its order; of one besides the working one as a leg.
    pub(super) fn of_leg(&self, said: ReportKind) -> Option<ReportKind> {
        let Some(held) = said.order().and_then(|order| self.orders.get(order)) else { return Some(said) };
        let order = held.client_order();
        let is_first_and_only = held.submission.order == order && self.orders.is_working(held);
        if is_first_and_only {
            return Some(said);
        }
        let is_working = self.orders.is_working(held);
        Some(match said {
            ReportKind::Accepted { ext_id, .. } => self.placed(order, held, ext_id),
            ReportKind::Filled(fill) => ReportKind::Filled(VenueFill { order, ..fill }),
            ReportKind::Canceled { .. } | ReportKind::Expired { .. } if !is_working => {
                ReportKind::Leg(Box::new(held.to_snapshot()))
            }
            ReportKind::Canceled { reason, .. } => ReportKind::Canceled { order, reason },
            ReportKind::Expired { reason, .. } => ReportKind::Expired { order, reason },
            other => other,
        })
    }

    /// A new leg is in the book. Where the one before still is, only this half was done.
    fn placed(&self, order: OrderId, new: &ClientOrder, new_leg: Option<Text>) -> ReportKind {
        let before = self.orders.legs_of(order).filter(|leg| leg.submission.order != new.submission.order).last();
        match before.filter(|leg| leg.final_state().0 == VenueOrderState::Live) {
            None => ReportKind::Replaced { order, terms: new.terms, ext_id: new_leg },
            Some(before) => ReportKind::CancelReplaced(Box::new(CancelReplaceReport {
                order,
                old_leg: before.ext_id.clone(),
                canceled: HalfOutcome::Refused,
                new_leg,
                placed: HalfOutcome::Done,
                reason: Some(Reject::Fault.text()),
                dead_after: None,
            })),
        }
    }

    pub(super) fn receive_leg_cancel(&mut self, order: OrderId, leg: &Text) {
        let found = self.orders.legs_of(order).find(|known| known.ext_id.as_ref() == Some(leg));
        let Some(number) = found.map(|found| found.submission.order) else { return };
        // One that finds no room is asked for again.
        self.send(VenueTask::CancelLeg(number));
    }

    /// The cancel of a leg reaches the book; of one that has ended the client hears how.
    pub(super) fn apply_leg_cancel(&mut self, leg: OrderId, out: &mut Vec<VenueOutput>) {
        if self.open_order(leg).is_ok() {
            self.remove_from_book(leg);
            self.cancel_with_reason(leg, None, out);
        } else if let Some(seen) = self.orders.get(leg).map(ClientOrder::to_snapshot) {
            let leaves = self.reports.answer_time(self.now);
            self.schedule_report(ReportKind::Leg(Box::new(seen)), leaves, out);
        }
    }
}
