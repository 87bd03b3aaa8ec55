//! Modify and cancel requests on open orders.

pub(crate) mod mass_cancel_results;
pub(crate) mod mass_cancels;

use std::sync::Arc;

use domain::command::{CancelOrder, ModifyOrder, RestatedFields};
use domain::order::{ExecType, IdPolicy, Order, OrderKind, OrderRequest, OrderTerms, PendingRequest};
use domain::query::PreTradeCheck;
use domain::query::{Answer, EngineResult};
use domain::{
    Caller, Event, Instruction, IntId, PlantedBug, Price, PriceField, Quantity, Refusal, RiskScope, Source, Text,
    TimeInForce,
};

use super::order_events::{OrderChange, publish_order};
use super::transitions::{RequestKind, may_request};
use crate::orders::terms_check::check_terms;
use crate::orders::ticket::OrderReport;
use crate::orders::ticket::OrderRoute;
use crate::orders::ticket::order_request;
use crate::outbox::{Moment, Outbox};
use crate::risk::rights::{check_account_right, check_trading_right};
use crate::risk::{Candidate, Reservation};
use crate::trading::Trading;

impl Trading {
    pub(crate) fn modify(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &ModifyOrder,
        out: &mut Outbox,
    ) -> EngineResult {
        if ask.changes_only_reference() {
            return self.change_order_reference(moment, caller, ask, out);
        }
        let (order, terms, reservation) = self.check_modify(moment, caller, ask)?;
        let counted = (caller, self.settings.counts_modifications);
        self.risk.on_modified(moment, &order, counted, reservation);
        let request = order_request(caller, ask.cl_ord_id.clone());
        self.orders.record_request(moment.at, RequestKind::Replace, ask.cl_ord_id.as_ref(), order.id);
        if ask.reference.is_some() {
            self.orders.change(order.id, |order| set_reference(order, ask));
        }
        Ok(Answer::Order(self.send_replace(moment, &order, terms, request, out)))
    }

    pub(super) fn send_replace(
        &mut self,
        moment: Moment,
        order: &Order,
        terms: OrderTerms,
        request: OrderRequest,
        out: &mut Outbox,
    ) -> Arc<Order> {
        let order = self.orders.change(order.id, |order| {
            clear_reject_reason(order, &request);
            order.pending = PendingRequest::Replace(Box::new(request.clone()), Box::new(terms));
            order.request += 1;
            order.changed_at = moment.at;
        });
        publish_order(moment, &order, OrderChange::plain(ExecType::PendingReplace).for_request(Some(request)), out);
        self.start_venue_timeout(moment, order.id);
        out.instruct(&order.adapter, Instruction::Replace(order.clone(), terms));
        order
    }

    /// The client's own note is not part of the order at the venue, so no request is sent and the status does not
    /// change.
    fn change_order_reference(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &ModifyOrder,
        out: &mut Outbox,
    ) -> EngineResult {
        let order = self.modifiable_order(moment, caller, ask)?;
        let order = self.orders.change(order.id, |order| {
            set_reference(order, ask);
            order.changed_at = moment.at;
        });
        out.publish(Event::Order(order.clone()));
        Ok(Answer::Order(order))
    }

    /// The open order to be changed, where all restated fields are equal.
    fn modifiable_order(&self, moment: Moment, caller: &Caller, ask: &ModifyOrder) -> Result<Arc<Order>, Refusal> {
        let order =
            self.requestable_order(moment, caller, &ask.int_id, ask.cl_ord_id.as_deref(), RequestKind::Replace)?;
        if order.source == Source::External {
            return Err(Refusal::ExternalOrder(order.int_id.clone()));
        }
        check_unchanged(&order, &ask.restated)?;
        self.check_second_id(caller, &order, &ask.restated)?;
        check_trading_right(caller, order.account, order.security)?;
        Ok(order)
    }

    fn check_modify(
        &self,
        moment: Moment,
        caller: &Caller,
        ask: &ModifyOrder,
    ) -> Result<(Arc<Order>, OrderTerms, Reservation), Refusal> {
        let order = self.modifiable_order(moment, caller, ask)?;
        if self.waiting_orders.contains(order.id) {
            return Err(Refusal::OrderWaiting(order.int_id.clone()));
        }
        let terms = new_terms(&order, ask)?;
        check_tif(order.terms.tif, terms.tif)?;
        let route = self.route_of(&order)?;
        check_terms(&route.security, &terms)?;
        self.check_hours(moment.at, &route, &terms)?;
        self.check_adapter(&order.adapter)?;
        self.check_listing(&order.adapter, order.security, &terms)?;
        self.check_replace(&order, &terms)?;
        self.check_growth(&order, &terms)?;
        let candidate = Candidate {
            route: &route,
            side: order.side,
            terms,
            replaces: Some(&order),
            reduce_only: order.properties.reduce_only,
            freed: Quantity::ZERO,
            is_released: false,
            caller,
        };
        let passed = self.check_risk(moment, &candidate)?;
        Ok((order, terms, passed.reservation))
    }

    /// The result of the checks of new terms for an open order, without any change; notional and fee are of the order
    /// as it would be.
    pub(crate) fn pre_trade_check_modify(&self, moment: Moment, caller: &Caller, ask: &ModifyOrder) -> PreTradeCheck {
        let proposed = self
            .find_client_order(caller, ask.int_id.as_str())
            .and_then(|order| Some((order, new_terms(order, ask).ok()?)));
        let worth = proposed.map(|(order, terms)| self.estimate(order.security, order.side, &terms));
        let (notional, fee) = worth.unwrap_or_default();
        let refusal = match ask.changes_only_reference() {
            true => self.modifiable_order(moment, caller, ask).err(),
            false => self.check_modify(moment, caller, ask).err(),
        };
        PreTradeCheck { refusal, notional, fee }
    }

    pub(crate) fn route_of(&self, order: &Order) -> Result<OrderRoute, Refusal> {
        Ok(OrderRoute {
            security: self.reference.security(order.security)?.clone(),
            account: order.account,
            strategy: order.strategy,
            exchange: order.exchange,
            adapter: order.adapter.clone(),
        })
    }

    pub(crate) fn cancel(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &CancelOrder,
        out: &mut Outbox,
    ) -> EngineResult {
        let order =
            self.requestable_order(moment, caller, &ask.int_id, ask.cl_ord_id.as_deref(), RequestKind::Cancel)?;
        check_account_right(caller, order.account)?;
        check_restated(&order, &ask.restated)?;
        self.check_second_id(caller, &order, &ask.restated)?;
        self.check_cancel(&order)?;
        self.risk.on_cancel_requested(moment, &order, caller);
        Ok(Answer::Order(self.request_cancel(moment, caller, &order, ask.cl_ord_id.clone(), out)))
    }

    /// The open order of that id, where the request may be made now, and under this ClOrdID.
    fn requestable_order(
        &self,
        moment: Moment,
        caller: &Caller,
        id: &IntId,
        request: Option<&str>,
        ask: RequestKind,
    ) -> Result<Arc<Order>, Refusal> {
        let order =
            self.find_client_order(caller, id.as_str()).ok_or_else(|| Refusal::UnknownOrder(id.as_str().into()))?;
        request.map_or(Ok(()), |request| self.check_cl_ord_id_unused(moment, caller, request))?;
        if !may_request(&order.pending, ask) {
            return Err(match order.pending {
                PendingRequest::Replace(..) => Refusal::ReplacePending(order.int_id.clone()),
                PendingRequest::Cancel(..) | PendingRequest::Nothing => Refusal::CancelPending(order.int_id.clone()),
            });
        }
        if !order.state.is_working() {
            return Err(Refusal::OrderClosed(order.int_id.clone()));
        }
        Ok(order.clone())
    }

    /// The order that the caller means by a name. A session's id that was used on several days means the open order, else
    /// the newest.
    pub(crate) fn find_client_order(&self, caller: &Caller, name: &str) -> Option<&Arc<Order>> {
        match caller.source.id_policy() {
            IdPolicy::Session(_) => {
                let own = self.orders.by_cl_ord_id(name).filter(|order| order.source == caller.source);
                own.max_by_key(|order| (order.is_open(), order.id))
            }
            IdPolicy::Platform => self.orders.by_id(name),
        }
    }

    /// Two ids in one request must name the same order.
    fn check_second_id(&self, caller: &Caller, order: &Order, restated: &RestatedFields) -> Result<(), Refusal> {
        let Some(name) = &restated.order else { return Ok(()) };
        match self.find_client_order(caller, name).is_some_and(|other| other.id == order.id) {
            true => Ok(()),
            false => Err(Refusal::OtherOrder { int_id: order.int_id.clone(), field: "orderId" }),
        }
    }

    pub(crate) fn request_cancel(
        &mut self,
        moment: Moment,
        caller: &Caller,
        order: &Order,
        cl_ord_id: Option<Text>,
        out: &mut Outbox,
    ) -> Arc<Order> {
        self.orders.record_request(moment.at, RequestKind::Cancel, cl_ord_id.as_ref(), order.id);
        self.send_cancel(moment, order, order_request(caller, cl_ord_id), out)
    }

    /// An order that was never sent ends at once.
    pub(crate) fn send_cancel(
        &mut self,
        moment: Moment,
        order: &Order,
        request: OrderRequest,
        out: &mut Outbox,
    ) -> Arc<Order> {
        if PlantedBug::SwallowCancel.is_planted() && order.id.0.is_multiple_of(4) {
            return Arc::new(order.clone());
        }
        let is_waiting = self.waiting_orders.contains(order.id);
        let order = self.orders.change(order.id, |order| {
            clear_reject_reason(order, &request);
            order.request += u32::from(!is_waiting);
            order.pending = std::mem::take(&mut order.pending).overtaken_by(request.clone());
            order.changed_at = moment.at;
        });
        publish_order(moment, &order, OrderChange::plain(ExecType::PendingCancel).for_request(Some(request)), out);
        let is_forgotten = PlantedBug::CancelLocally.is_planted() && order.id.0.is_multiple_of(4);
        if self.waiting_orders.remove(order.id) || is_forgotten {
            self.on_ended(OrderReport { moment, order: order.id, ext_at: None }, ExecType::Canceled, None, out);
            return self.orders.get(order.id).cloned().unwrap_or(order);
        }
        self.start_venue_timeout(moment, order.id);
        out.instruct(&order.adapter, Instruction::Cancel(order.clone()));
        if order.legs.is_some() {
            self.settle_stray_legs(moment, order.id, out);
        }
        order
    }

    /// Cancels every order in a scope that can be cancelled; returns how many. Those whose venue takes no cancels are an alarm.
    pub(crate) fn cancel_all(&mut self, moment: Moment, caller: &Caller, scope: RiskScope, out: &mut Outbox) -> usize {
        let in_scope = |order: &&Arc<Order>| crate::risk::touches(scope, order.account, order.strategy, order.security);
        let can_be = |order: &&Arc<Order>| order.state.is_working() && may_request(&order.pending, RequestKind::Cancel);
        let orders = self.orders.open().filter(in_scope).filter(can_be).cloned();
        let (orders, kept): (Vec<_>, Vec<_>) = orders.partition(|order| self.can_cancel(order));
        for order in &orders {
            self.request_cancel(moment, caller, order, None, out);
        }
        self.alarm_uncancelled(&kept, &format!("{scope} is HALTED"), out);
        orders.len()
    }
}

/// The reason why an earlier request was refused does not apply to this one; a doubt remains.
fn clear_reject_reason(order: &mut Order, request: &OrderRequest) {
    if !order.in_doubt {
        order.reason = request.reason.clone();
    }
}

fn set_reference(order: &mut Order, ask: &ModifyOrder) {
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
fn check_unchanged(order: &Order, restated: &RestatedFields) -> Result<(), Refusal> {
    first_difference(order, restated).map_or(Ok(()), |field| Err(Refusal::FieldFixed(field)))
}

/// The restated fields of a cancel must equal the order's: it could mean another order.
fn check_restated(order: &Order, restated: &RestatedFields) -> Result<(), Refusal> {
    let other = |field| Refusal::OtherOrder { int_id: order.int_id.clone(), field };
    first_difference(order, restated).map_or(Ok(()), |field| Err(other(field)))
}

/// The first field that differs from the order's.
fn first_difference(order: &Order, restated: &RestatedFields) -> Option<&'static str> {
    let differs = [
        ("side", restated.side.is_some_and(|side| side != order.side)),
        ("securityId", restated.security.is_some_and(|security| security != order.security)),
        ("accountId", restated.account.is_some_and(|account| account != order.account)),
        ("strategyId", restated.strategy.is_some_and(|strategy| strategy != order.strategy)),
        ("exchangeId", restated.exchange.is_some_and(|exchange| exchange != order.exchange)),
        ("postOnly", restated.post_only.is_some_and(|flag| flag != order.properties.post_only)),
        ("displayQuantity", is_other(restated.display_quantity, order.properties.display_quantity)),
        ("minQuantity", is_other(restated.min_quantity, order.properties.min_quantity)),
        ("reduceOnly", restated.reduce_only.is_some_and(|flag| flag != order.properties.reduce_only)),
        ("passThrough", restated.pass_through.is_some() && restated.pass_through != order.pass_through),
        ("objectType", restated.kind.is_some_and(|kind| kind.order_type() != order.terms.kind.order_type())),
    ];
    differs.into_iter().find(|(_, differs)| *differs).map(|(field, _)| field)
}

fn is_other(restated: Option<Quantity>, own: Option<Quantity>) -> bool {
    restated.is_some() && restated != own
}

/// The order's terms with the requested changes; a total below the filled quantity is raised to it.
fn new_terms(order: &Order, ask: &ModifyOrder) -> Result<OrderTerms, Refusal> {
    let kind = new_kind(&order.terms.kind, ask.limit, ask.stop)?;
    let quantity = ask.quantity.unwrap_or(order.terms.quantity);
    let quantity = if quantity.is_positive() { quantity.max(order.filled) } else { quantity };
    Ok(OrderTerms { quantity, kind, tif: ask.tif.unwrap_or(order.terms.tif) })
}

fn new_kind(kind: &OrderKind, limit: Option<Price>, stop: Option<Price>) -> Result<OrderKind, Refusal> {
    for (field, price) in [(PriceField::Limit, limit), (PriceField::Stop, stop)] {
        if price.is_some() && !kind.order_type().has(field) {
            return Err(Refusal::NotNeeded { field: field.name() });
        }
    }
    Ok(kind.with_prices(limit, stop))
}
