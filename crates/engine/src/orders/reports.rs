//! Venue reports on orders. A transition that the table does not have raises an error event and changes nothing.

use std::sync::Arc;

use domain::order::{BaseState, ExecType, Order, OrderTerms, PendingRequest};
use domain::{AdapterName, OrderId, PlantedBug, Text, Timestamp};

use super::inquiries::inquiry_queue::INQUIRY_FIRST_SECONDS;
use super::legs::{change_legs, end_working_leg, terms_of_order};
use super::order_events::{OrderChange, publish_order};
use super::reconciliation::NEVER_ARRIVED;
use super::transitions::{OrderEvent, PendingState, RequestEvent, next_pending, next_state, settled};
use crate::orders::ticket::OrderReport;
use crate::outbox::Outbox;
use crate::trading::Trading;

impl Trading {
    pub(crate) fn on_accepted(&mut self, report: OrderReport, ext_id: Option<&Text>, out: &mut Outbox) {
        let Some(order) = self.find_order(report, out) else { return };
        if order.state == BaseState::Rejected && order.reason.as_deref() == Some(NEVER_ARRIVED) {
            let text = format!("order {}: {NEVER_ARRIVED}, and now the venue has accepted it", order.int_id);
            out.error("late-arrival", text);
            let late = order.clone();
            return self.note_open_at_venue(&late, ext_id, None);
        }
        // An inquiry has settled the order, and its confirmation comes late.
        if order.state == BaseState::Canceled && (ext_id.is_none() || ext_id == order.ext_id.as_ref()) {
            return;
        }
        let Some(state) = self.transition(order, OrderEvent::Accepted, out) else { return };
        // A confirmation that comes after a fill still has the venue's id.
        let is_news = state != order.state || (ext_id.is_some() && ext_id != order.ext_id.as_ref());
        // Repeated, and nothing was in doubt: no change.
        if !is_news && !order.in_doubt {
            return;
        }
        let step = if is_news { ExecType::New } else { ExecType::DoubtResolved };
        let order = self.orders.change(report.order, |order| {
            order.state = state;
            order.in_doubt = false;
            order.ext_id = ext_id.cloned().or(order.ext_id.take());
            order.reason = None;
            order.changed_at = report.moment.at;
        });
        publish_order(report.moment, &order, OrderChange::from_venue(step, report.ext_at), out);
    }

    pub(crate) fn on_rejected(&mut self, report: OrderReport, reason: &Text, out: &mut Outbox) {
        let Some(order) = self.find_order(report, out) else { return };
        if has_ended_as(order, BaseState::Rejected) {
            return;
        }
        let Some(state) = self.transition(order, OrderEvent::Refused, out) else { return };
        let unanswered = order.pending.clone();
        let order = self.orders.change(report.order, |order| {
            order.state = state;
            order.pending = settled(std::mem::take(&mut order.pending), RequestEvent::Ended);
            order.in_doubt = false;
            order.reason = Some(reason.clone());
            order.changed_at = report.moment.at;
        });
        self.risk.on_settled(&order);
        publish_order(report.moment, &order, OrderChange::from_venue(ExecType::Rejected, report.ext_at), out);
        self.publish_too_late(report, &order, &unanswered, out);
        self.count_reject(report.moment, &order, out);
    }

    pub(crate) fn on_ended(&mut self, report: OrderReport, step: ExecType, reason: Option<&Text>, out: &mut Outbox) {
        let Some(order) = self.find_order(report, out) else { return };
        if has_ended_as(order, BaseState::Canceled) {
            return;
        }
        let pending = order.pending.clone();
        // The client that requested the cancel may have given a reason.
        let asked = pending.cancel().filter(|_| step == ExecType::Canceled).and_then(|request| request.reason.clone());
        let Some(state) = self.transition(order, OrderEvent::Ended, out) else {
            return self.reject_pending(report, &"the order was finished already".into(), out);
        };
        let order = self.orders.change(report.order, |order| {
            end_working_leg(order);
            order.state = state;
            order.pending = settled(std::mem::take(&mut order.pending), RequestEvent::Ended);
            order.in_doubt = false;
            order.reason = asked.or(reason.cloned());
            order.changed_at = report.moment.at;
        });
        self.risk.on_settled(&order);
        let change = OrderChange::from_venue(step, report.ext_at).for_request(pending.cancel().cloned());
        publish_order(report.moment, &order, change, out);
        self.publish_too_late(report, &order, &pending.without_cancel(), out);
    }

    /// Requests that stay unanswered because their order ended, in the order in which they were made.
    fn publish_too_late(
        &mut self,
        report: OrderReport,
        order: &Arc<Order>,
        unanswered: &PendingRequest,
        out: &mut Outbox,
    ) {
        let replace = unanswered.replace().map(|(request, _)| (ExecType::ReplaceRejected, request));
        let cancel = unanswered.cancel().map(|request| (ExecType::CancelRejected, request));
        for (step, request) in replace.into_iter().chain(cancel) {
            let reason = Text::from("too late: the order is finished");
            self.orders.record_rejection(step, request, order.id, &reason);
            let change = OrderChange::from_venue(step, report.ext_at).for_request(Some(request.clone()));
            publish_order(report.moment, order, change.with_reason(reason), out);
        }
    }

    /// The venue will not answer pending requests: they are refused, in the order in which they were made.
    pub(crate) fn reject_pending(&mut self, report: OrderReport, reason: &Text, out: &mut Outbox) {
        let Some(pending) = self.orders.get(report.order).map(|order| order.pending.clone()) else { return };
        if pending.replace().is_some() {
            self.on_replace_rejected(report, reason, out);
        }
        if pending.cancel().is_some() {
            self.on_cancel_rejected(report, reason, out);
        }
    }

    /// `shown`: the terms that the venue has of it now, where the order has legs those of the leg that it works by.
    pub(crate) fn on_replaced(
        &mut self,
        report: OrderReport,
        shown: OrderTerms,
        ext_id: Option<&Text>,
        out: &mut Outbox,
    ) {
        let Some(order) = self.find_order(report, out) else { return };
        if let Some(leg) = ext_id.filter(|_| self.is_late_leg(order, ext_id)) {
            let ended = order.clone();
            return self.on_late_leg(report.moment, &ended, (leg, shown), out);
        }
        let terms = terms_of_order(order, ext_id, shown);
        let terms = OrderTerms { quantity: terms.quantity.max(order.filled), ..terms };
        let turn = if terms.quantity == order.filled { OrderEvent::ReplacedToFilled } else { OrderEvent::Replaced };
        let Some(state) = self.transition(order, turn, out) else { return };
        let is_answer = self.answers_replace(order, ext_id, &terms);
        let request = order.pending.replace().filter(|_| is_answer).map(|(request, _)| request.clone());
        let cl_ord_id = request.as_ref().and_then(|request| request.cl_ord_id.clone());
        let why = request.as_ref().and_then(|request| request.reason.clone());
        let accepted_before = order.cl_ord_id.clone();
        let new_leg = ext_id.filter(|_| self.makes_leg(order, ext_id));
        let order = self.orders.change(report.order, |order| {
            change_legs(order, new_leg, shown);
            order.state = state;
            order.terms = terms;
            order.revision += 1;
            order.ext_id = ext_id.cloned().or(order.ext_id.take());
            order.cl_ord_id = cl_ord_id.or(order.cl_ord_id.take());
            order.reason = why;
            order.changed_at = report.moment.at;
            if is_answer {
                order.in_doubt = false;
                order.pending = settled(std::mem::take(&mut order.pending), RequestEvent::Replaced);
            }
        });
        self.risk.on_replaced(&order);
        self.reserve_again(&order);
        self.reschedule_expiry(&order);
        let change = OrderChange::from_venue(ExecType::Replaced, report.ext_at)
            .for_request(request)
            .with_previous_cl_ord_id(accepted_before);
        publish_order(report.moment, &order, change, out);
    }

    pub(crate) fn on_cancel_rejected(&mut self, report: OrderReport, reason: &Text, out: &mut Outbox) {
        self.on_request_rejected(report, ExecType::CancelRejected, reason, out);
    }

    pub(crate) fn on_replace_rejected(&mut self, report: OrderReport, reason: &Text, out: &mut Outbox) {
        self.on_request_rejected(report, ExecType::ReplaceRejected, reason, out);
    }

    /// A refused request never changes the base state; another pending request stays pending.
    fn on_request_rejected(&mut self, report: OrderReport, step: ExecType, reason: &Text, out: &mut Outbox) {
        let Some(order) = self.find_order(report, out) else { return };
        let is_cancel = step == ExecType::CancelRejected;
        let event = if is_cancel { RequestEvent::CancelRejected } else { RequestEvent::ReplaceRejected };
        let (cancel, replace) = (order.pending.cancel(), order.pending.replace().map(|(request, _)| request));
        let asked = if is_cancel { cancel } else { replace };
        let legal = next_pending(PendingState::of(&order.pending), event);
        let Some(request) = asked.filter(|_| legal.is_some()).cloned() else {
            return warn_no_pending_request(order, step, out);
        };
        self.orders.record_rejection(step, &request, report.order, reason);
        let order = self.orders.change(report.order, |order| {
            order.pending = settled(std::mem::take(&mut order.pending), event);
            // What the venue says to a request does not tell whether it has an order that it never accepted.
            order.in_doubt &= order.state == BaseState::PendingNew;
            order.reason = Some(reason.clone());
            order.changed_at = report.moment.at;
        });
        if order.pending.replace().is_none() {
            self.risk.on_settled(&order);
        }
        publish_order(
            report.moment,
            &order,
            OrderChange::from_venue(step, report.ext_at).for_request(Some(request)),
            out,
        );
        if is_cancel {
            self.ask_about_overdue(report);
        }
    }

    /// A venue that refuses to cancel an order whose time is over may have ended it long ago.
    fn ask_about_overdue(&mut self, report: OrderReport) {
        let at = report.moment.at;
        if self.expiry_cancels.contains(report.order) {
            let ask_at = at.plus_seconds(INQUIRY_FIRST_SECONDS.into());
            self.start_inquiry(report.order, ask_at, |inquiry| inquiry.gap_at = Some(at));
        }
    }

    /// Whether the venue has it is unknown: it keeps its status, and its exposure stays reserved until the venue
    /// answers.
    pub(crate) fn on_in_doubt(&mut self, report: OrderReport, reason: &Text, out: &mut Outbox) {
        self.mark_in_doubt(report, reason, out);
        if self.orders.get(report.order).is_some_and(|order| order.in_doubt) {
            self.start_inquiry(report.order, self.first_inquiry(report.moment), |_| {});
        }
    }

    /// The adapter does not know whether a request arrived.
    pub(crate) fn on_delivery_unknown(
        &mut self,
        report: OrderReport,
        reason: &Text,
        dead_after: Option<Timestamp>,
        out: &mut Outbox,
    ) {
        self.on_in_doubt(report, reason, out);
        if self.inquiries.get(report.order).is_some() {
            self.inquiries.change(report.order, |inquiry| inquiry.dead_after = inquiry.dead_after.max(dead_after));
        }
    }

    pub(super) fn mark_in_doubt(&mut self, report: OrderReport, reason: &Text, out: &mut Outbox) {
        let Some(order) = self.find_order(report, out) else { return };
        if order.in_doubt || !order.is_open() || PlantedBug::ForgetInDoubt.is_planted() {
            return;
        }
        let order = self.orders.change(report.order, |order| {
            order.in_doubt = true;
            order.reason = Some(reason.clone());
            order.changed_at = report.moment.at;
        });
        publish_order(report.moment, &order, OrderChange::from_venue(ExecType::InDoubt, report.ext_at), out);
    }

    /// An order belongs to one adapter; a report from another adapter is an error of that adapter.
    pub(crate) fn owns_order(&self, adapter: &AdapterName, order: OrderId, out: &mut Outbox) -> bool {
        match self.orders.get(order) {
            Some(order) if order.adapter != *adapter => {
                let text = format!("{adapter} reports on order {}, which is at {}", order.int_id, order.adapter);
                out.error("foreign-report", text);
                false
            }
            _ => true,
        }
    }

    pub(crate) fn find_order(&self, report: OrderReport, out: &mut Outbox) -> Option<&Arc<Order>> {
        let order = self.orders.get(report.order);
        if order.is_none() {
            out.error("unknown-order", format!("a venue reports on order number {}, which is not known", report.order));
        }
        order
    }

    pub(crate) fn transition(&self, order: &Order, turn: OrderEvent, out: &mut Outbox) -> Option<BaseState> {
        let next = next_state(order.state, turn);
        if next.is_none() {
            let text = format!("order {}: {turn:?} is not legal when {:?}", order.int_id, order.state);
            out.error("illegal-transition", text);
        }
        next
    }
}

/// An inquiry or a snapshot may have settled an order before its last report arrives, and a report may come twice: what
/// says the same is no news.
fn has_ended_as(order: &Order, state: BaseState) -> bool {
    order.state == state && order.pending == PendingRequest::Nothing
}

/// When an order ended or was rejected, its requests were refused as too late: what the venue says to them later is no news.
fn warn_no_pending_request(order: &Order, step: ExecType, out: &mut Outbox) {
    if !matches!(order.state, BaseState::Canceled | BaseState::Rejected) {
        out.warn("nothing-pending", format!("order {}: {step:?} without such a request", order.int_id));
    }
}
