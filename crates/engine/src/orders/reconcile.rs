//! Reconciliation with the venue after each connect: missing reports are applied, doubts are resolved, and breaks are
//! raised as alarms. New orders wait until it is done.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::order::{BaseState, Order, Pending, Step};
use domain::report::{Fate, Picture, VenueOrder};
use domain::{AdapterName, Instruction, OrderId, Text};

use super::awaited::is_unanswered;
use super::reports::Word;
use super::telling::{Change, tell};
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::trading::Trading;

impl Trading {
    pub(crate) fn reconcile(&mut self, moment: Moment, adapter: &AdapterName, picture: &Picture, out: &mut Outbox) {
        let of_fills = picture.fills.iter().map(|fill| fill.order);
        self.halt_for_unknown(moment, adapter, picture.orders.iter().map(|seen| seen.order).chain(of_fills), out);
        let owned: Vec<_> = picture.orders.iter().filter(|seen| self.may_speak_of(adapter, seen.order, out)).collect();
        for seen in &owned {
            self.adopt(moment, seen, out);
        }
        for fill in picture.fills.iter().filter(|fill| self.may_speak_of(adapter, fill.order, out)).collect::<Vec<_>>()
        {
            self.filled(moment, adapter, fill, fill.at, out);
        }
        for seen in owned {
            self.conclude(moment, seen, out);
        }
        let seen: BTreeSet<OrderId> = picture.orders.iter().map(|order| order.order).collect();
        let of_adapter = self.orders.open().filter(|order| order.adapter == *adapter);
        // A waiting order was never sent, so the venue cannot have it.
        let unseen = of_adapter.filter(|order| !seen.contains(&order.id) && !self.waiting.contains(order.id));
        for order in unseen.cloned().collect::<Vec<_>>() {
            self.settle_unseen(moment, &order, picture.complete, out);
        }
        self.desks.reconciled(adapter);
        self.cancel_expired(moment, Some(adapter), out);
    }

    /// First what must be known before fills are booked: the order is there, with these terms.
    fn adopt(&mut self, moment: Moment, seen: &VenueOrder, out: &mut Outbox) {
        let word = Word { moment, order: seen.order, ext_at: None };
        if self.orders.retired_owner(seen.order).is_some() {
            return;
        }
        let Some(order) = self.known(word, out).cloned() else { return };
        let is_nameless = order.is_open() && order.ext_id.is_none() && seen.ext_id.is_some();
        if seen.fate != Fate::Rejected && (order.state == BaseState::PendingNew || is_nameless) {
            self.accepted(word, seen.ext_id.as_ref(), out);
        }
        // The terms of an ended order show that a replace came first.
        let is_as_asked = order.pending.replace().is_some_and(|(_, terms)| terms == seen.terms);
        if order.is_open() && order.terms != seen.terms && (seen.fate == Fate::Live || is_as_asked) {
            self.replaced(word, seen.terms, seen.ext_id.as_ref(), out);
        }
    }

    /// Then, with all fills booked, how it ended or what became of a request.
    fn conclude(&mut self, moment: Moment, seen: &VenueOrder, out: &mut Outbox) {
        let word = Word { moment, order: seen.order, ext_at: None };
        let Some(order) = self.orders.get(seen.order).cloned() else { return };
        if !order.is_open() {
            return;
        }
        match seen.fate {
            Fate::Live => self.settle_live(word, &order, out),
            Fate::Canceled if order.state.is_working() => {
                self.ended(word, Step::Canceled, seen.reason.as_ref(), out);
            }
            Fate::Expired if order.state.is_working() => self.ended(word, Step::Expired, seen.reason.as_ref(), out),
            Fate::Rejected if order.state.is_working() => {
                let reason = seen.reason.clone().unwrap_or_else(|| "rejected by the venue".into());
                self.rejected(word, &reason, out);
            }
            Fate::Canceled | Fate::Expired | Fate::Rejected => self.settle_live(word, &order, out),
        }
    }

    /// A request that the venue's snapshot does not show was lost with the connection. A cancel is sent again, since a
    /// second one does no harm and the client relies on it; a replace could be stale and is refused.
    fn settle_live(&mut self, word: Word, order: &Arc<Order>, out: &mut Outbox) {
        let reason = Text::from("the request was lost with the connection");
        match &order.pending {
            Pending::Cancel(_, overtaken) if order.state.is_working() => {
                if overtaken.is_some() {
                    self.replace_refused(word, &reason, out);
                }
                self.cancel_again(word, order, out);
            }
            Pending::Cancel(..) | Pending::Replace(..) => self.refuse_pending(word, &reason, out),
            Pending::Nothing if order.in_doubt => drop(self.settled(word, order, out)),
            Pending::Nothing => {}
        }
    }

    fn cancel_again(&mut self, word: Word, order: &Order, out: &mut Outbox) {
        let order = self.settled(word, order, out);
        self.await_answer(word.moment, order.id);
        out.instruct(&order.adapter, Instruction::Cancel(order.clone()));
    }

    fn settled(&mut self, word: Word, order: &Order, out: &mut Outbox) -> Arc<Order> {
        let order = self.orders.change(order.id, |order| {
            order.in_doubt = false;
            order.reason = None;
            order.changed_at = word.moment.at;
        });
        tell(word.moment, &order, Change::plain(Step::Settled), out);
        order
    }

    /// An open order that the venue's snapshot does not show.
    fn settle_unseen(&mut self, moment: Moment, order: &Arc<Order>, complete: bool, out: &mut Outbox) {
        let word = Word { moment, order: order.id, ext_at: None };
        if !complete {
            return self.doubted(word, &"the venue did not mention the order".into(), out);
        }
        if order.state != BaseState::PendingNew {
            out.error("order-vanished", format!("order {}: the venue no longer knows it", order.int_id));
            return self.ended(word, Step::Canceled, Some(&"the venue no longer knows the order".into()), out);
        }
        if order.pending == Pending::Nothing && self.may_send_again(moment, order) {
            self.send_again(moment, order, out);
        } else {
            self.rejected(word, &"the order never reached the venue".into(), out);
        }
    }

    /// Decision 0003: only where the venue certainly does not have it and would refuse a duplicate.
    fn may_send_again(&self, moment: Moment, order: &Order) -> bool {
        let age_seconds = moment.at.seconds_since(order.at);
        let limit_seconds = i64::from(self.settings.resend_within_seconds);
        self.desks.refuses_duplicates(&order.adapter) && limit_seconds > 0 && age_seconds <= limit_seconds
    }

    fn send_again(&mut self, moment: Moment, order: &Order, out: &mut Outbox) {
        let order = self.orders.change(order.id, |order| {
            order.in_doubt = false;
            order.reason = None;
            order.changed_at = moment.at;
        });
        tell(moment, &order, Change::plain(Step::Settled), out);
        out.warn("order-sent-again", format!("order {}: never reached the venue and is sent again", order.int_id));
        self.await_answer(moment, order.id);
        out.instruct(&order.adapter, Instruction::Submit(order.clone()));
    }

    /// The connection is lost: every unanswered request is in doubt.
    pub(crate) fn doubt_unanswered(&mut self, moment: Moment, adapter: &AdapterName, out: &mut Outbox) {
        let unanswered = |order: &&Arc<Order>| is_unanswered(order) && !self.waiting.contains(order.id);
        let of_adapter = self.orders.open().filter(|order| order.adapter == *adapter);
        let ids: Vec<OrderId> = of_adapter.filter(unanswered).map(|order| order.id).collect();
        let reason = Text::from("the connection was lost before the venue answered");
        for order in ids {
            self.doubted(Word { moment, order, ext_at: None }, &reason, out);
        }
    }
}
