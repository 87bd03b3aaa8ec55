//! Modify and cancel requests on open orders.

use std::sync::Arc;

use domain::command::{CancelOrder, ModifyOrder, Restated};
use domain::order::{Order, OrderKind, Pending, Request, Step, Terms};
use domain::query::Verdict;
use domain::query::{Answer, Reply};
use domain::{Caller, Event, Instruction, IntId, Price, Quantity, Refusal, Scope, Source, Text, TimeInForce};

use super::intake::{Route, check_terms};
use super::reports::Word;
use super::telling::{Change, tell};
use super::transitions::{Ask, may_ask};
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::risk::{Candidate, Reservation};
use crate::trading::Trading;

impl Trading {
    pub(crate) fn modify(&mut self, moment: Moment, caller: &Caller, ask: &ModifyOrder, out: &mut Outbox) -> Reply {
        if ask.is_only_a_note() {
            return self.change_note(moment, caller, ask, out);
        }
        let (order, terms, reservation) = self.check_modify(moment, caller, ask)?;
        self.risk.reserve(&order, reservation);
        let request = request(caller, ask.cl_ord_id.clone());
        self.orders.ask(moment.at, Ask::Replace, ask.cl_ord_id.as_ref(), order.id);
        if ask.reference.is_some() {
            self.orders.change(order.id, |order| note(order, ask));
        }
        Ok(Answer::Order(self.send_replace(moment, &order, terms, request, out)))
    }

    pub(super) fn send_replace(
        &mut self,
        moment: Moment,
        order: &Order,
        terms: Terms,
        request: Request,
        out: &mut Outbox,
    ) -> Arc<Order> {
        let order = self.orders.change(order.id, |order| {
            forget_answer(order, &request);
            order.pending = Pending::Replace(Box::new(request.clone()), Box::new(terms));
            order.changed_at = moment.at;
        });
        tell(moment, &order, Change::plain(Step::ReplaceAsked).answering(Some(request)), out);
        self.await_answer(moment, order.id);
        out.instruct(&order.adapter, Instruction::Replace(order.clone(), terms));
        order
    }

    /// The client's own note is not part of the order at the venue, so no request is sent and the status does not
    /// change.
    fn change_note(&mut self, moment: Moment, caller: &Caller, ask: &ModifyOrder, out: &mut Outbox) -> Reply {
        let order = self.changeable(moment, caller, ask)?;
        let order = self.orders.change(order.id, |order| {
            note(order, ask);
            order.changed_at = moment.at;
        });
        out.publish(Event::Order(order.clone()));
        Ok(Answer::Order(order))
    }

    /// The open order to be changed, where all restated fields are equal.
    fn changeable(&self, moment: Moment, caller: &Caller, ask: &ModifyOrder) -> Result<Arc<Order>, Refusal> {
        let order = self.askable(moment, caller, &ask.int_id, ask.cl_ord_id.as_deref(), Ask::Replace)?;
        check_unchanged(&order, &ask.restated)?;
        self.check_second_name(caller, &order, &ask.restated)?;
        Ok(order)
    }

    fn check_modify(
        &self,
        moment: Moment,
        caller: &Caller,
        ask: &ModifyOrder,
    ) -> Result<(Arc<Order>, Terms, Reservation), Refusal> {
        let order = self.changeable(moment, caller, ask)?;
        if self.waiting.contains(order.id) {
            return Err(Refusal::OrderWaiting(order.int_id.clone()));
        }
        let terms = new_terms(&order, ask)?;
        check_tif(order.terms.tif, terms.tif)?;
        let route = self.route_of(&order)?;
        check_terms(&route.security, &terms)?;
        self.check_hours(moment.at, &route, &terms)?;
        self.check_adapter(&order.adapter)?;
        let candidate = Candidate {
            route: &route,
            side: order.side,
            terms,
            replaces: Some(&order),
            reduce_only: order.reduce_only,
            freed: Quantity::ZERO,
            caller,
        };
        let passed = self.check_risk(moment, &candidate)?;
        Ok((order, terms, passed.reservation))
    }

    /// The result of the checks of new terms for an open order, without any change; notional and fee are of the order
    /// as it would be.
    pub(crate) fn check_modify_dry(&self, moment: Moment, caller: &Caller, ask: &ModifyOrder) -> Verdict {
        let proposed =
            self.meant(caller, ask.int_id.as_str()).and_then(|order| Some((order, new_terms(order, ask).ok()?)));
        let worth = proposed.map(|(order, terms)| self.estimate(order.security, order.side, &terms));
        let (notional, fee) = worth.unwrap_or_default();
        let refusal = match ask.is_only_a_note() {
            true => self.changeable(moment, caller, ask).err(),
            false => self.check_modify(moment, caller, ask).err(),
        };
        Verdict { refusal, notional, fee }
    }

    pub(crate) fn route_of(&self, order: &Order) -> Result<Route, Refusal> {
        Ok(Route {
            security: self.directory.security(order.security)?.clone(),
            account: order.account,
            strategy: order.strategy,
            exchange: order.exchange,
            adapter: order.adapter.clone(),
        })
    }

    pub(crate) fn cancel(&mut self, moment: Moment, caller: &Caller, ask: &CancelOrder, out: &mut Outbox) -> Reply {
        let order = self.askable(moment, caller, &ask.int_id, ask.cl_ord_id.as_deref(), Ask::Cancel)?;
        check_meant(&order, &ask.restated)?;
        self.check_second_name(caller, &order, &ask.restated)?;
        // A waiting order is not at the venue, so it ends without it.
        if !self.waiting.contains(order.id) {
            self.check_adapter(&order.adapter)?;
        }
        Ok(Answer::Order(self.ask_cancel(moment, caller, &order, ask.cl_ord_id.clone(), out)))
    }

    /// The open order of that id, where the request may be made now, and under this ClOrdID.
    fn askable(
        &self,
        moment: Moment,
        caller: &Caller,
        id: &IntId,
        request: Option<&str>,
        ask: Ask,
    ) -> Result<Arc<Order>, Refusal> {
        let order = self.meant(caller, id.as_str()).ok_or_else(|| Refusal::UnknownOrder(id.as_str().into()))?;
        request.map_or(Ok(()), |request| self.check_unused(moment, caller, request))?;
        if !may_ask(&order.pending, ask) {
            return Err(match order.pending {
                Pending::Replace(..) => Refusal::ReplacePending(order.int_id.clone()),
                Pending::Cancel(..) | Pending::Nothing => Refusal::CancelPending(order.int_id.clone()),
            });
        }
        if !order.state.is_working() {
            return Err(Refusal::OrderClosed(order.int_id.clone()));
        }
        Ok(order.clone())
    }

    /// A FIX client names its own orders by any ClOrdID of their chain; an id used on several days means the open
    /// order, else the newest.
    pub(crate) fn meant(&self, caller: &Caller, name: &str) -> Option<&Arc<Order>> {
        match caller.source {
            Source::Fix(_) => {
                let own = self.orders.bearing(name).filter(|order| order.source == caller.source);
                own.max_by_key(|order| (order.is_open(), order.id))
            }
            _ => self.orders.with_id(name),
        }
    }

    /// Two ids in one request must name the same order.
    fn check_second_name(&self, caller: &Caller, order: &Order, restated: &Restated) -> Result<(), Refusal> {
        let Some(name) = &restated.order else { return Ok(()) };
        match self.meant(caller, name).is_some_and(|other| other.id == order.id) {
            true => Ok(()),
            false => Err(Refusal::OtherOrder { int_id: order.int_id.clone(), field: "orderId" }),
        }
    }

    pub(crate) fn ask_cancel(
        &mut self,
        moment: Moment,
        caller: &Caller,
        order: &Order,
        cl_ord_id: Option<Text>,
        out: &mut Outbox,
    ) -> Arc<Order> {
        self.orders.ask(moment.at, Ask::Cancel, cl_ord_id.as_ref(), order.id);
        self.send_cancel(moment, order, request(caller, cl_ord_id), out)
    }

    /// An order that was never sent ends at once.
    pub(super) fn send_cancel(
        &mut self,
        moment: Moment,
        order: &Order,
        request: Request,
        out: &mut Outbox,
    ) -> Arc<Order> {
        let order = self.orders.change(order.id, |order| {
            forget_answer(order, &request);
            order.pending = std::mem::take(&mut order.pending).overtaken_by(request.clone());
            order.changed_at = moment.at;
        });
        tell(moment, &order, Change::plain(Step::CancelAsked).answering(Some(request)), out);
        if self.waiting.remove(order.id) {
            self.ended(Word { moment, order: order.id, ext_at: None }, Step::Canceled, None, out);
            return self.orders.get(order.id).cloned().unwrap_or(order);
        }
        self.await_answer(moment, order.id);
        out.instruct(&order.adapter, Instruction::Cancel(order.clone()));
        order
    }

    /// Cancels every order in a scope that can be cancelled; returns how many.
    pub(crate) fn cancel_all(&mut self, moment: Moment, caller: &Caller, scope: Scope, out: &mut Outbox) -> usize {
        let in_scope = |order: &&Arc<Order>| crate::risk::touches(scope, order.account, order.strategy, order.security);
        let can_be = |order: &&Arc<Order>| order.state.is_working() && may_ask(&order.pending, Ask::Cancel);
        let orders: Vec<_> = self.orders.open().filter(in_scope).filter(can_be).cloned().collect();
        for order in &orders {
            self.ask_cancel(moment, caller, order, None, out);
        }
        orders.len()
    }
}

pub(super) fn request(caller: &Caller, cl_ord_id: Option<Text>) -> Request {
    Request { cl_ord_id, source: caller.source.clone(), by: caller.user.clone(), reason: None }
}

/// The reason why an earlier request was refused does not apply to this one; a doubt remains.
fn forget_answer(order: &mut Order, request: &Request) {
    if !order.in_doubt {
        order.reason = request.reason.clone();
    }
}

fn note(order: &mut Order, ask: &ModifyOrder) {
    if ask.reference.is_some() {
        order.reference = ask.reference.clone();
    }
}

/// A resting order can change to another resting time in force, but not to one that trades at once or in an auction,
/// nor the reverse: no venue supports that.
fn check_tif(now: TimeInForce, wanted: TimeInForce) -> Result<(), Refusal> {
    let lasts = |tif| matches!(tif, TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. });
    if now == wanted || lasts(now) && lasts(wanted) {
        return Ok(());
    }
    Err(Refusal::TifFixed { now: now.name(), wanted: wanted.name() })
}

/// The restated fields of a modification must equal the order's.
fn check_unchanged(order: &Order, restated: &Restated) -> Result<(), Refusal> {
    differing(order, restated).map_or(Ok(()), |field| Err(Refusal::FieldFixed(field)))
}

/// The restated fields of a cancel must equal the order's: it could mean another order.
fn check_meant(order: &Order, restated: &Restated) -> Result<(), Refusal> {
    let other = |field| Refusal::OtherOrder { int_id: order.int_id.clone(), field };
    differing(order, restated).map_or(Ok(()), |field| Err(other(field)))
}

/// The first field that differs from the order's.
fn differing(order: &Order, restated: &Restated) -> Option<&'static str> {
    let differs = [
        ("side", restated.side.is_some_and(|side| side != order.side)),
        ("securityId", restated.security.is_some_and(|security| security != order.security)),
        ("accountId", restated.account.is_some_and(|account| account != order.account)),
        ("strategyId", restated.strategy.is_some_and(|strategy| strategy != order.strategy)),
        ("exchangeId", restated.exchange.is_some_and(|exchange| exchange != order.exchange)),
        ("objectType", restated.kind.is_some_and(|kind| !kind.same_kind(&order.terms.kind))),
    ];
    differs.into_iter().find(|(_, differs)| *differs).map(|(field, _)| field)
}

/// The order's terms with the requested changes; a total below the filled quantity is raised to it.
fn new_terms(order: &Order, ask: &ModifyOrder) -> Result<Terms, Refusal> {
    let kind = new_kind(&order.terms.kind, ask.limit, ask.stop)?;
    let quantity = ask.quantity.unwrap_or(order.terms.quantity);
    let quantity = if quantity.is_positive() { quantity.max(order.filled) } else { quantity };
    Ok(Terms { quantity, kind, tif: ask.tif.unwrap_or(order.terms.tif) })
}

fn new_kind(kind: &OrderKind, limit: Option<Price>, stop: Option<Price>) -> Result<OrderKind, Refusal> {
    let no_limit = || limit.map_or(Ok(()), |_| Err(Refusal::NotNeeded { field: "limit" }));
    let no_stop = || stop.map_or(Ok(()), |_| Err(Refusal::NotNeeded { field: "stop" }));
    Ok(match *kind {
        OrderKind::Market => {
            no_limit().and_then(|()| no_stop())?;
            OrderKind::Market
        }
        OrderKind::Limit { limit: old } => {
            no_stop()?;
            OrderKind::Limit { limit: limit.unwrap_or(old) }
        }
        OrderKind::Stop { stop: old } => {
            no_limit()?;
            OrderKind::Stop { stop: stop.unwrap_or(old) }
        }
        OrderKind::StopLimit { limit: old_limit, stop: old_stop } => {
            OrderKind::StopLimit { limit: limit.unwrap_or(old_limit), stop: stop.unwrap_or(old_stop) }
        }
    })
}
