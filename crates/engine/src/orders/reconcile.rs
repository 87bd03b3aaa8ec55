//! The venue's picture against ours, after each connect and before new orders: what is missing is applied, what was in
//! doubt is settled, and what nobody can explain raises an alarm.

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
        // What waits was never sent, so nobody can have seen it.
        let unseen = of_adapter.filter(|order| !seen.contains(&order.id) && !self.waiting.contains(order.id));
        for order in unseen.cloned().collect::<Vec<_>>() {
            self.settle_unseen(moment, &order, picture.complete, out);
        }
        self.desks.reconciled(adapter);
        self.cancel_expired(moment, Some(adapter), out);
    }

    /// First the facts that must stand before fills are booked: the order is there, with these terms.
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
        // An order that has ended shows by its terms that a replace came first.
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

    /// A request that the venue's picture does not show did not reach it: the connection was lost first. A cancel does no
    /// harm twice, and whoever asked for it relies on it; a replace could be stale by now.
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

    /// An open order of ours that the venue does not show.
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

    /// Decision 0003: not blindly, only where the venue certainly does not have it and would refuse a second one.
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

    /// The connection is gone: whatever the venue has not answered is in doubt.
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
