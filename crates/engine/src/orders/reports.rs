//! Venue reports on orders. A transition that the table does not have raises an error event and changes nothing.

use std::sync::Arc;

use domain::order::{Order, Pending, Step, Terms};
use domain::report::{Report, Said};
use domain::{AdapterName, OrderId, Text, Timestamp};

use super::telling::{Change, tell};
use super::transitions::{Turn, after};
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::trading::Trading;

/// A venue report on one order, with the venue's time.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    pub(crate) moment: Moment,
    pub(crate) order: OrderId,
    pub(crate) ext_at: Option<Timestamp>,
}

impl Trading {
    pub(crate) fn believe(&mut self, moment: Moment, report: &Report, out: &mut Outbox) {
        if report.said.order().is_some_and(|order| !self.may_speak_of(&report.adapter, order, out)) {
            return;
        }
        self.halt_for_unknown(moment, &report.adapter, report.said.order(), out);
        let word = |order: OrderId| Word { moment, order, ext_at: report.ext_at };
        match &report.said {
            Said::Attached(profile) => self.attach(moment, &report.adapter, profile, out),
            Said::Session(state) => self.session_changed(moment, &report.adapter, *state, out),
            Said::Picture(picture) => self.reconcile(moment, &report.adapter, picture, out),
            Said::Accepted { order, ext_id } => self.accepted(word(*order), ext_id.as_ref(), out),
            Said::Rejected { order, reason } | Said::Unsent { order, reason } => {
                self.rejected(word(*order), reason, out);
            }
            Said::Filled(fill) => self.filled(moment, &report.adapter, fill, report.ext_at, out),
            Said::Canceled { order, reason } => self.ended(word(*order), Step::Canceled, reason.as_ref(), out),
            Said::Expired { order, reason } => self.ended(word(*order), Step::Expired, reason.as_ref(), out),
            Said::Replaced { order, terms, ext_id } => self.replaced(word(*order), *terms, ext_id.as_ref(), out),
            Said::CancelRejected { order, reason } => self.cancel_refused(word(*order), reason, out),
            Said::ReplaceRejected { order, reason } => self.replace_refused(word(*order), reason, out),
            Said::Busted { order, exec_id, reason } => {
                self.busted(word(*order), &report.adapter, exec_id, reason.as_ref(), out);
            }
            Said::Corrected { exec_id, by } => self.corrected(word(by.order), &report.adapter, exec_id, by, out),
            Said::Lost { order, reason } => self.doubted(word(*order), reason, out),
        }
    }

    pub(crate) fn accepted(&mut self, word: Word, ext_id: Option<&Text>, out: &mut Outbox) {
        let Some(order) = self.known(word, out) else { return };
        let Some(state) = self.turn(order, Turn::Accepted, out) else { return };
        // A confirmation that comes after a fill still has the venue's id.
        let is_news = state != order.state || (ext_id.is_some() && ext_id != order.ext_id.as_ref());
        // Repeated, and nothing was in doubt: no change.
        if !is_news && !order.in_doubt {
            return;
        }
        let step = if is_news { Step::Accepted } else { Step::Settled };
        let order = self.orders.change(word.order, |order| {
            order.state = state;
            order.in_doubt = false;
            order.ext_id = ext_id.cloned().or(order.ext_id.take());
            order.reason = None;
            order.changed_at = word.moment.at;
        });
        tell(word.moment, &order, Change::at_venue(step, word.ext_at), out);
    }

    pub(crate) fn rejected(&mut self, word: Word, reason: &Text, out: &mut Outbox) {
        let Some(order) = self.known(word, out) else { return };
        let Some(state) = self.turn(order, Turn::Refused, out) else { return };
        let unanswered = order.pending.clone();
        let order = self.orders.change(word.order, |order| {
            order.state = state;
            order.pending = Pending::Nothing;
            order.in_doubt = false;
            order.reason = Some(reason.clone());
            order.changed_at = word.moment.at;
        });
        self.risk.settled(&order);
        tell(word.moment, &order, Change::at_venue(Step::Refused, word.ext_at), out);
        self.tell_too_late(word, &order, &unanswered, out);
        self.count_reject(word.moment, &order, out);
    }

    pub(crate) fn ended(&mut self, word: Word, step: Step, reason: Option<&Text>, out: &mut Outbox) {
        let Some(order) = self.known(word, out) else { return };
        let pending = order.pending.clone();
        // The client that requested the cancel may have given a reason.
        let asked = pending.cancel().filter(|_| step == Step::Canceled).and_then(|request| request.reason.clone());
        let Some(state) = self.turn(order, Turn::Ended, out) else {
            return self.refuse_pending(word, &"the order was finished already".into(), out);
        };
        let order = self.orders.change(word.order, |order| {
            order.state = state;
            order.pending = Pending::Nothing;
            order.in_doubt = false;
            order.reason = asked.or(reason.cloned());
            order.changed_at = word.moment.at;
        });
        self.risk.settled(&order);
        let change = Change::at_venue(step, word.ext_at).answering(pending.cancel().cloned());
        tell(word.moment, &order, change, out);
        self.tell_too_late(word, &order, &pending.without_cancel(), out);
    }

    /// Requests that stay unanswered because their order ended, in the order in which they were made.
    fn tell_too_late(&mut self, word: Word, order: &Arc<Order>, unanswered: &Pending, out: &mut Outbox) {
        let replace = unanswered.replace().map(|(request, _)| (Step::ReplaceRefused, request));
        let cancel = unanswered.cancel().map(|request| (Step::CancelRefused, request));
        for (step, request) in replace.into_iter().chain(cancel) {
            let reason = Text::from("too late: the order is finished");
            self.orders.refuse(step, request, order.id, &reason);
            let change = Change::at_venue(step, word.ext_at).answering(Some(request.clone()));
            tell(word.moment, order, change.because(reason), out);
        }
    }

    /// The venue will not answer pending requests: they are refused, in the order in which they were made.
    pub(crate) fn refuse_pending(&mut self, word: Word, reason: &Text, out: &mut Outbox) {
        let Some(pending) = self.orders.get(word.order).map(|order| order.pending.clone()) else { return };
        if pending.replace().is_some() {
            self.replace_refused(word, reason, out);
        }
        if pending.cancel().is_some() {
            self.cancel_refused(word, reason, out);
        }
    }

    pub(crate) fn replaced(&mut self, word: Word, terms: Terms, ext_id: Option<&Text>, out: &mut Outbox) {
        let Some(order) = self.known(word, out) else { return };
        let terms = Terms { quantity: terms.quantity.max(order.filled), ..terms };
        let turn = if terms.quantity == order.filled { Turn::ReplacedToFilled } else { Turn::Replaced };
        let Some(state) = self.turn(order, turn, out) else { return };
        let request = order.pending.replace().map(|(request, _)| request.clone());
        let cl_ord_id = request.as_ref().and_then(|request| request.cl_ord_id.clone());
        let why = request.as_ref().and_then(|request| request.reason.clone());
        let accepted_before = order.cl_ord_id.clone();
        let order = self.orders.change(word.order, |order| {
            order.state = state;
            order.terms = terms;
            order.revision += 1;
            order.ext_id = ext_id.cloned().or(order.ext_id.take());
            order.cl_ord_id = cl_ord_id.or(order.cl_ord_id.take());
            order.in_doubt = false;
            order.reason = why;
            order.changed_at = word.moment.at;
            order.pending = std::mem::take(&mut order.pending).without_replace();
        });
        self.risk.replaced(&order);
        self.reserve_again(&order);
        self.watch_expiry_anew(&order);
        let change = Change::at_venue(Step::Replaced, word.ext_at).answering(request).replacing(accepted_before);
        tell(word.moment, &order, change, out);
    }

    pub(crate) fn cancel_refused(&mut self, word: Word, reason: &Text, out: &mut Outbox) {
        self.refused(word, Step::CancelRefused, reason, out);
    }

    pub(crate) fn replace_refused(&mut self, word: Word, reason: &Text, out: &mut Outbox) {
        self.refused(word, Step::ReplaceRefused, reason, out);
    }

    /// A refused request never changes the base state; another pending request stays pending.
    fn refused(&mut self, word: Word, step: Step, reason: &Text, out: &mut Outbox) {
        let Some(order) = self.known(word, out) else { return };
        let is_cancel = step == Step::CancelRefused;
        let (cancel, replace) = (order.pending.cancel(), order.pending.replace().map(|(request, _)| request));
        let Some(request) = if is_cancel { cancel } else { replace }.cloned() else {
            return warn_of_no_request(order, step, out);
        };
        self.orders.refuse(step, &request, word.order, reason);
        let order = self.orders.change(word.order, |order| {
            let pending = std::mem::take(&mut order.pending);
            order.pending = if is_cancel { pending.without_cancel() } else { pending.without_replace() };
            order.in_doubt = false;
            order.reason = Some(reason.clone());
            order.changed_at = word.moment.at;
        });
        if order.pending.replace().is_none() {
            self.risk.settled(&order);
        }
        tell(word.moment, &order, Change::at_venue(step, word.ext_at).answering(Some(request)), out);
    }

    /// Whether the venue has it is unknown: it keeps its status, and its exposure stays reserved until the venue
    /// answers.
    pub(crate) fn doubted(&mut self, word: Word, reason: &Text, out: &mut Outbox) {
        let Some(order) = self.known(word, out) else { return };
        if order.in_doubt || !order.is_open() {
            return;
        }
        let order = self.orders.change(word.order, |order| {
            order.in_doubt = true;
            order.reason = Some(reason.clone());
            order.changed_at = word.moment.at;
        });
        tell(word.moment, &order, Change::at_venue(Step::Doubted, word.ext_at), out);
    }

    /// An order belongs to one adapter; a report from another adapter is an error of that adapter.
    pub(crate) fn may_speak_of(&self, adapter: &AdapterName, order: OrderId, out: &mut Outbox) -> bool {
        match self.orders.get(order) {
            Some(order) if order.adapter != *adapter => {
                let text = format!("{adapter} reports on order {}, which is at {}", order.int_id, order.adapter);
                out.error("foreign-report", text);
                false
            }
            _ => true,
        }
    }

    pub(crate) fn known(&self, word: Word, out: &mut Outbox) -> Option<&Arc<Order>> {
        let order = self.orders.get(word.order);
        if order.is_none() {
            out.error("unknown-order", format!("a venue reports on order number {}, which is not known", word.order));
        }
        order
    }

    pub(crate) fn turn(&self, order: &Order, turn: Turn, out: &mut Outbox) -> Option<domain::order::BaseState> {
        let next = after(order.state, turn);
        if next.is_none() {
            let text = format!("order {}: {turn:?} is not legal when {:?}", order.int_id, order.state);
            out.error("illegal-transition", text);
        }
        next
    }
}

/// For an order that is over, the requests were already rejected as too late.
fn warn_of_no_request(order: &Order, step: Step, out: &mut Outbox) {
    if order.is_open() {
        out.warn("nothing-pending", format!("order {}: {step:?} without such a request", order.int_id));
    }
}
