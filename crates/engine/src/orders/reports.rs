//! What a venue says of an order. A turn that the table does not know raises an error event and leaves the order as it is.

use std::sync::Arc;

use domain::order::{Order, Pending, Request, Step, Terms};
use domain::report::{Report, Said};
use domain::{AdapterName, OrderId, Text, Timestamp};

use super::telling::{Change, tell};
use super::transitions::{Turn, after};
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::trading::Trading;

/// An adapter's word on one order, with the venue's time.
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
        // A confirmation that a fill overtook still brings the venue's id.
        let is_news = state != order.state || (ext_id.is_some() && ext_id != order.ext_id.as_ref());
        // Said before, and nothing was in doubt: nothing new.
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
        let order = self.orders.change(word.order, |order| {
            order.state = state;
            order.pending = Pending::Nothing;
            order.in_doubt = false;
            order.reason = Some(reason.clone());
            order.changed_at = word.moment.at;
        });
        self.risk.settled(&order);
        tell(word.moment, &order, Change::at_venue(Step::Refused, word.ext_at), out);
        self.count_reject(word.moment, &order, out);
    }

    pub(crate) fn ended(&mut self, word: Word, step: Step, reason: Option<&Text>, out: &mut Outbox) {
        let Some(order) = self.known(word, out) else { return };
        let pending = order.pending.clone();
        let Some(state) = self.turn(order, Turn::Ended, out) else {
            return self.drop_pending(word, &pending, out);
        };
        let request = request_of(order, |pending| matches!(pending, Pending::Cancel(_)));
        let order = self.orders.change(word.order, |order| {
            order.state = state;
            order.pending = Pending::Nothing;
            order.in_doubt = false;
            order.reason = reason.cloned();
            order.changed_at = word.moment.at;
        });
        self.risk.settled(&order);
        tell(word.moment, &order, Change::at_venue(step, word.ext_at).answering(request), out);
    }

    /// The venue ended an order that was over already: a request that still waits for it is answered by that.
    fn drop_pending(&mut self, word: Word, pending: &Pending, out: &mut Outbox) {
        let reason = Text::from("the order was finished already");
        match pending {
            Pending::Cancel(_) => self.cancel_refused(word, &reason, out),
            Pending::Replace(..) => self.replace_refused(word, &reason, out),
            Pending::Nothing => {}
        }
    }

    pub(crate) fn replaced(&mut self, word: Word, terms: Terms, ext_id: Option<&Text>, out: &mut Outbox) {
        let Some(order) = self.known(word, out) else { return };
        let terms = Terms { quantity: terms.quantity.max(order.filled), ..terms };
        let turn = if terms.quantity == order.filled { Turn::ReplacedToFilled } else { Turn::Replaced };
        let Some(state) = self.turn(order, turn, out) else { return };
        let request = request_of(order, |pending| matches!(pending, Pending::Replace(..)));
        let cl_ord_id = request.as_ref().and_then(|request| request.cl_ord_id.clone());
        let accepted_before = order.cl_ord_id.clone();
        let order = self.orders.change(word.order, |order| {
            order.state = state;
            order.terms = terms;
            order.revision += 1;
            order.ext_id = ext_id.cloned().or(order.ext_id.take());
            order.cl_ord_id = cl_ord_id.or(order.cl_ord_id.take());
            order.in_doubt = false;
            order.reason = None;
            order.changed_at = word.moment.at;
            if matches!(order.pending, Pending::Replace(..)) {
                order.pending = Pending::Nothing;
            }
        });
        self.risk.replaced(&order);
        self.reserve_again(&order);
        self.watch_expiry_anew(&order);
        let change = Change::at_venue(Step::Replaced, word.ext_at).answering(request).replacing(accepted_before);
        tell(word.moment, &order, change, out);
    }

    pub(crate) fn cancel_refused(&mut self, word: Word, reason: &Text, out: &mut Outbox) {
        self.refused(word, Step::CancelRefused, reason, out, |pending| matches!(pending, Pending::Cancel(_)));
    }

    pub(crate) fn replace_refused(&mut self, word: Word, reason: &Text, out: &mut Outbox) {
        self.refused(word, Step::ReplaceRefused, reason, out, |pending| matches!(pending, Pending::Replace(..)));
    }

    /// A refused request never changes the base state.
    fn refused(&mut self, word: Word, step: Step, reason: &Text, out: &mut Outbox, meant: impl Fn(&Pending) -> bool) {
        let Some(order) = self.known(word, out) else { return };
        if !meant(&order.pending) {
            return out.warn("nothing-pending", format!("order {}: {step:?} without such a request", order.int_id));
        }
        let request = request_of(order, meant);
        let order = self.orders.change(word.order, |order| {
            order.pending = Pending::Nothing;
            order.in_doubt = false;
            order.reason = Some(reason.clone());
            order.changed_at = word.moment.at;
        });
        self.risk.settled(&order);
        tell(word.moment, &order, Change::at_venue(step, word.ext_at).answering(request), out);
    }

    /// Its fate is not known: it keeps its status, and its exposure stays reserved until the venue has spoken.
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

    /// An order belongs to one adapter; what another says of it is an error of that one.
    pub(crate) fn may_speak_of(&self, adapter: &AdapterName, order: OrderId, out: &mut Outbox) -> bool {
        match self.orders.get(order) {
            Some(order) if order.adapter != *adapter => {
                let text = format!("{adapter} speaks of order {}, which is at {}", order.int_id, order.adapter);
                out.error("foreign-report", text);
                false
            }
            _ => true,
        }
    }

    pub(crate) fn known(&self, word: Word, out: &mut Outbox) -> Option<&Arc<Order>> {
        let order = self.orders.get(word.order);
        if order.is_none() {
            out.error("unknown-order", format!("a venue speaks of order number {}, which is not known", word.order));
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

/// The pending request, where it is of the kind that is being answered.
fn request_of(order: &Order, meant: impl Fn(&Pending) -> bool) -> Option<Request> {
    match &order.pending {
        pending @ (Pending::Cancel(request) | Pending::Replace(request, _)) if meant(pending) => {
            Some(Request::clone(request))
        }
        _ => None,
    }
}
