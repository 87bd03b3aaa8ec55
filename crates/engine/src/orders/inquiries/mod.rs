//! Inquiries: a venue is asked about an order that it has not answered, that is in doubt, or whose reports may be lost.
//! Absence ends an order only where nothing sent before can still take effect; an inquiry never sends an order again.

pub(crate) mod inquiry_queue;
pub(crate) mod missing_fills;
pub(crate) mod venue_timeouts;

use std::sync::Arc;

use domain::breaks::BreakRepair;
use domain::order::{BaseState, ExecType, Order};
use domain::report::{InquiryAnswer, InquiryResult, SessionState, VenueFill, VenueOrder, VenueOrderState};
use domain::{AdapterName, Instruction, OrderId, PlantedBug, Quantity, Text, Timestamp};

use self::inquiry_queue::{INQUIRIES_AFTER_GAP_PER_SECOND, INQUIRY_FIRST_SECONDS, Inquiry};
use self::missing_fills::Unbooked;
use self::venue_timeouts::awaits_venue;
use super::order_events::{OrderChange, publish_order};
use super::reconciliation::NEVER_ARRIVED;
use crate::orders::ticket::OrderReport;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

const LOST_REQUEST: &str = "the request never reached the venue";
const VANISHED: &str = "the venue does not know the order that it had accepted";

impl Trading {
    /// When the oldest unanswered request is asked about, or a later question is due.
    pub(crate) fn next_inquiry(&self) -> Option<Timestamp> {
        let oldest = self.venue_timeouts.next_due().map(|deadline| self.first_question(deadline));
        [oldest, self.inquiries.next_due()].into_iter().flatten().min()
    }

    /// When the venue is first asked about a request with that deadline.
    pub(super) fn first_question(&self, deadline: Timestamp) -> Timestamp {
        let sent_at = deadline.plus_seconds(-i64::from(self.settings.venue_timeout_seconds));
        sent_at.plus_seconds(INQUIRY_FIRST_SECONDS.into()).min(deadline)
    }

    /// The order is asked about from the given instant on, sooner where it was to be asked anyway.
    pub(crate) fn start_inquiry(&mut self, order: OrderId, ask_at: Timestamp, edit: impl FnOnce(&mut Inquiry)) {
        self.inquiries.change(order, |inquiry| {
            inquiry.restart(ask_at);
            edit(inquiry);
        });
    }

    /// Reports were lost on a session that is up: every open order of the adapter is asked about.
    pub(crate) fn on_gap(&mut self, moment: Moment, adapter: &AdapterName, out: &mut Outbox) {
        let orders = self.open_at(adapter);
        self.ask_about_all(moment, &orders);
        out.warn("report-gap", format!("{adapter}: reports may be lost; {} open orders are asked about", orders.len()));
        self.send_inquiries(moment, out);
        self.list_fills_after_gap(moment, adapter);
    }

    /// A report contradicts itself or what is known, or cannot be read: the venue is asked, also about an order that has ended.
    /// The same again changes neither alarm nor pauses.
    pub(crate) fn on_unclear_report(&mut self, report: OrderReport, reason: &Text, out: &mut Outbox) {
        let Some(order) = self.find_order(report, out).cloned() else { return };
        let before = self.inquiries.get(order.id).and_then(|inquiry| inquiry.unclear.clone());
        if before.as_ref() != Some(reason) {
            out.error("unclear-report", format!("order {}: {reason}; the venue is asked", order.int_id));
        }
        self.mark_in_doubt(report, reason, out);
        let at = report.moment.at;
        let note = |inquiry: &mut Inquiry| (inquiry.gap_at, inquiry.unclear) = (Some(at), Some(reason.clone()));
        match before {
            None => self.start_inquiry(order.id, at.plus_seconds(INQUIRY_FIRST_SECONDS.into()), note),
            Some(_) => self.inquiries.change(order.id, note),
        }
    }

    /// The venue has filled more than is booked: an execution before its report is missing. An order that is no longer kept is not compared.
    pub(crate) fn on_filled_in_all(&mut self, report: OrderReport, shown: Quantity, out: &mut Outbox) {
        let booked = self.orders.get(report.order).map(|order| order.filled);
        if let Some(booked) = booked.filter(|booked| shown > *booked) {
            let reason = format!("the venue has filled {shown}, but only {booked} were reported");
            self.on_unclear_report(report, &reason.into(), out);
        }
    }

    /// What is booked of an open order was changed by an answer about it, so the rest of that answer is from before the change.
    pub(crate) fn ask_again(&mut self, moment: Moment, order: OrderId) {
        if self.orders.get(order).is_some_and(|order| order.is_open()) {
            self.start_inquiry(order, self.first_inquiry(moment), |inquiry| inquiry.gap_at = Some(moment.at));
        }
    }

    /// When an order is first asked about of which many may be: a log-on may begin with all that are open.
    pub(crate) fn first_inquiry(&self, moment: Moment) -> Timestamp {
        let first = moment.at.plus_seconds(INQUIRY_FIRST_SECONDS.into());
        if self.settings.recovery_rules_2 { self.inquiries.free_second(first) } else { first }
    }

    /// Open orders that the venue may have.
    fn open_at(&self, adapter: &AdapterName) -> Vec<OrderId> {
        let at_venue = |order: &&Arc<Order>| order.adapter == *adapter && !self.waiting_orders.contains(order.id);
        self.orders.open().filter(at_venue).map(|order| order.id).collect()
    }

    /// Each of these orders is asked about whatever becomes of it, so many a second.
    pub(crate) fn ask_about_all(&mut self, moment: Moment, orders: &[OrderId]) {
        for (place, order) in orders.iter().enumerate() {
            let seconds = i64::try_from(place / INQUIRIES_AFTER_GAP_PER_SECOND).unwrap_or(i64::MAX);
            let ask_at = moment.at.plus_seconds(seconds);
            self.start_inquiry(*order, ask_at, |inquiry| inquiry.gap_at = Some(moment.at));
        }
    }

    /// Asks what is due; an order that nothing is to be learnt about is forgotten.
    pub(crate) fn send_inquiries(&mut self, moment: Moment, out: &mut Outbox) {
        for order in self.inquiries.due_by(moment.at) {
            let (Some(held), true) = (self.orders.get(order).cloned(), self.needs_inquiry(order)) else {
                self.inquiries.remove(order);
                continue;
            };
            self.doubt_if_due(moment, &held, out);
            if self.inquiries.get(order).and_then(|inquiry| inquiry.ask_at).is_some_and(|ask_at| ask_at <= moment.at) {
                self.ask(moment, &held, out);
            }
        }
    }

    fn ask(&mut self, moment: Moment, order: &Order, out: &mut Outbox) {
        if self.adapters.session(&order.adapter) < SessionState::LoggedOn {
            return self.inquiries.change(order.id, |inquiry| inquiry.ask_at = None);
        }
        self.inquiries.change(order.id, |inquiry| inquiry.schedule_next(moment.at));
        if let Some(current) = self.orders.get(order.id) {
            out.instruct(&order.adapter, Instruction::Inquire(current.clone()));
        }
    }

    fn doubt_if_due(&mut self, moment: Moment, order: &Order, out: &mut Outbox) {
        let doubt_at = self.inquiries.get(order.id).and_then(|inquiry| inquiry.doubt_at);
        if doubt_at.is_none_or(|doubt_at| doubt_at > moment.at) {
            return;
        }
        self.inquiries.change(order.id, |inquiry| inquiry.doubt_at = None);
        if self.is_unanswered(order) {
            let reason = format!("the venue has not answered for {} s", self.settings.venue_timeout_seconds);
            let since = if order.in_doubt { "; the order was in doubt before" } else { "" };
            out.warn("no-answer", format!("order {}: {reason}{since}", order.int_id));
            self.mark_in_doubt(OrderReport { moment, order: order.id, ext_at: None }, &Text::from(reason), out);
        }
    }

    fn needs_inquiry(&self, order: OrderId) -> bool {
        let (Some(inquiry), Some(order)) = (self.inquiries.get(order), self.orders.get(order)) else { return false };
        let is_open = order.is_open() && !self.waiting_orders.contains(order.id);
        let needs_answer = is_open && (awaits_venue(order) || order.in_doubt);
        inquiry.gap_at.is_some() || needs_answer || order.stray_legs().next().is_some()
    }

    /// Forgets what a report has settled.
    pub(crate) fn settle_inquiry(&mut self, order: Option<OrderId>) {
        if !self.inquiries.is_empty()
            && let Some(order) = order
            && !self.needs_inquiry(order)
        {
            self.inquiries.remove(order);
        }
    }

    /// After a log-on the venue has shown what it knows; what is still open is asked about.
    pub(super) fn resume_inquiries(&mut self, moment: Moment, adapter: &AdapterName) {
        for order in self.inquiries.orders() {
            if self.orders.get(order).is_some_and(|held| held.adapter != *adapter) {
                continue;
            }
            // What a gap hid was in the snapshot, unless the venue has lost it.
            self.inquiries.change(order, |inquiry| {
                inquiry.gap_at = inquiry.gap_at.filter(|_| inquiry.lost.is_some() || inquiry.unclear.is_some());
                inquiry.ask_at = None;
            });
            match self.needs_inquiry(order) {
                true => self.start_inquiry(order, self.first_inquiry(moment), |_| {}),
                false => self.inquiries.remove(order),
            }
        }
    }

    pub(crate) fn on_inquiry_answer(&mut self, moment: Moment, answer: &InquiryAnswer, out: &mut Outbox) {
        let Some(order) = self.orders.get(answer.order).cloned() else { return };
        let is_whole = match &answer.result {
            InquiryResult::Found(seen, fills) => self.on_found(moment, &order, answer, (seen, fills), out),
            InquiryResult::NotFound => {
                self.inquiries.change_known(order.id, |inquiry| inquiry.lost = None);
                self.on_not_found(moment, &order, answer, out)
            }
        };
        // While fills are missing it is asked again.
        let is_over =
            |inquiry: &Inquiry| inquiry.lost.is_none() && inquiry.gap_at.is_some_and(|gap_at| answer.as_of >= gap_at);
        if (is_whole || !order.is_open()) && self.inquiries.get(order.id).is_some_and(is_over) {
            self.inquiries.change(order.id, |inquiry| (inquiry.gap_at, inquiry.unclear) = (None, None));
        }
    }

    /// Fills are booked whenever they come; the rest counts only where nothing was reported since the question. Returns
    /// whether it says how the order stands: it has the leg that the order works by.
    fn on_found(
        &mut self,
        moment: Moment,
        order: &Order,
        answer: &InquiryAnswer,
        (seen, fills): (&VenueOrder, &[VenueFill]),
        out: &mut Outbox,
    ) -> bool {
        if seen.order != order.id || fills.iter().any(|fill| fill.order != order.id) {
            let text = format!("{} was asked about order {} and speaks of another", order.adapter, order.int_id);
            out.error("foreign-report", text);
            return false;
        }
        let inferred = match self.unbooked(moment, order, (answer, seen), out) {
            Unbooked::Nothing => None,
            Unbooked::Unconfirmed => return false,
            Unbooked::Inferred(fill, told) => Some((fill, told)),
        };
        let is_fresh = order.changed_at <= answer.as_of;
        let others = answer.other_legs.iter().flatten().filter(|leg| leg.order == order.id);
        let shown = std::iter::once(seen).chain(others).filter(|_| is_fresh).collect();
        let (working, legs) = self.split_found(shown);
        if let Some(seen) = working {
            self.apply_venue_order(moment, seen, out);
        }
        let is_skipped = PlantedBug::SkipReconciledFills.is_planted();
        for fill in fills.iter().filter(|_| !is_skipped) {
            self.on_fill(moment, &order.adapter, fill, fill.at, out);
        }
        if let Some((fill, told)) = inferred.filter(|_| !is_skipped)
            && !self.book_inferred(moment, order, (&fill, told), seen, out)
        {
            return false;
        }
        if let Some(seen) = working {
            let lost = self.is_conclusive(order, answer).then_some(LOST_REQUEST);
            self.apply_final_state(moment, seen, lost, out);
        }
        // Of an order that works no more, every leg must be gone, also the one that it worked by.
        let ended = working.filter(|seen| !order.state.is_working() || seen.state != VenueOrderState::Live);
        let noted = ended.into_iter().chain(legs).map(|leg| self.note_leg(moment, leg, moment.at, out));
        if noted.fold(false, |any, is_noted| any | is_noted) {
            self.settle_stray_legs(moment, order.id, out);
        }
        working.is_some()
    }

    /// What was found of one order: the leg that it works by, where that is shown, and the others. An order whose first leg
    /// is not known yet works by the newest, which comes first.
    fn split_found<'a>(&self, shown: Vec<&'a VenueOrder>) -> (Option<&'a VenueOrder>, Vec<&'a VenueOrder>) {
        let (mut legs, orders) = self.split_legs(shown);
        let mut orders = orders.into_iter();
        let working = orders.next();
        legs.extend(orders);
        (working, legs)
    }

    /// Whether every request on the order has taken effect by the instant of the answer, or never will.
    fn is_conclusive(&self, order: &Order, answer: &InquiryAnswer) -> bool {
        order.changed_at <= answer.as_of && self.are_requests_over(order, answer)
    }

    /// Whether the venue does not have the order and never will. Cancels of an order that it has not accepted, and their
    /// refusals, change nothing about that: whoever cancels again and again must not keep it open.
    fn is_absent(&self, order: &Order, answer: &InquiryAnswer) -> bool {
        let is_unplaced = order.state == BaseState::PendingNew && order.pending.replace().is_none();
        (is_unplaced || order.changed_at <= answer.as_of) && self.are_requests_over(order, answer)
    }

    fn are_requests_over(&self, order: &Order, answer: &InquiryAnswer) -> bool {
        let of_unknown = self.inquiries.get(order.id).and_then(|inquiry| inquiry.dead_after);
        let fence = answer.dead_after.map(|fence| of_unknown.map_or(fence, |unknown| unknown.max(fence)));
        self.adapters.proves_absence(&order.adapter, answer.as_of, fence)
    }

    /// Returns whether it proves that the venue does not have the order.
    fn on_not_found(&mut self, moment: Moment, order: &Order, answer: &InquiryAnswer, out: &mut Outbox) -> bool {
        if !order.is_open() || self.waiting_orders.contains(order.id) || !self.is_absent(order, answer) {
            return false;
        }
        let report = OrderReport { moment, order: order.id, ext_at: None };
        match order.state {
            BaseState::PendingNew => self.on_rejected(report, &NEVER_ARRIVED.into(), out),
            _ => self.on_vanished(report, order, out),
        }
        true
    }

    /// A venue may forget orders that ended; which way this one ended it does not say, so nothing is assumed.
    fn on_vanished(&mut self, report: OrderReport, order: &Order, out: &mut Outbox) {
        if is_vanished(order) {
            return;
        }
        out.error("order-vanished", format!("order {}: {VANISHED}", order.int_id));
        self.note_vanished(order, Some(BreakRepair::EndHere));
        let order = self.orders.change(order.id, |order| {
            order.in_doubt = true;
            order.reason = Some(VANISHED.into());
            order.changed_at = report.moment.at;
        });
        publish_order(report.moment, &order, OrderChange::from_venue(ExecType::InDoubt, None), out);
    }
}

/// Whether the venue does not know the order that it had accepted, as it told last.
pub(crate) fn is_vanished(order: &Order) -> bool {
    order.in_doubt && order.reason.as_deref() == Some(VANISHED)
}
