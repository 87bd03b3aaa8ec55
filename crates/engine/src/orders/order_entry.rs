//! Order entry: defaults, routing, rules of the security and the exchange, then risk checks.

use std::sync::Arc;

use domain::command::PlaceOrder;
use domain::order::{BaseState, ExecType, Order, OrderTerms, PendingRequest};
use domain::query::{Answer, EngineResult};
use domain::refusal::DuplicateOrder;
use domain::report::SessionState;
use domain::{
    AccountId, AdapterName, Caller, ExchangeId, Instruction, IntId, MarketPhase, OrderId, OrderProperties, PassThrough,
    PlantedBug, Quantity, Refusal, StrategyId, TimeInForce, Timestamp,
};

use super::order_events::{OrderChange, publish_order};
use crate::orders::terms_check::{check_properties, check_terms};
use crate::orders::ticket::OrderRoute;
use crate::orders::ticket::Reduction;
use crate::orders::ticket::order_request;
use crate::orders::waiting_orders::wait_queue::{DisplaceReason, Displaced};
use crate::outbox::{Moment, Outbox};
use crate::risk::rights::check_trading_right;
use crate::risk::{Candidate, Reservation, RiskApproval};
use crate::trading::Trading;

/// The order id in reports where there is no order: no order has this id.
const NO_ORDER: &str = "NONE";

/// An order that passed every check and can no longer be refused.
struct CheckedOrder {
    int_id: Option<IntId>,
    route: OrderRoute,
    terms: OrderTerms,
    reservation: Reservation,
    /// Orders that must be cancelled or reduced before it is sent.
    displaced: Vec<Displaced>,
    /// Or it is cancelled together with the orders that it would trade with.
    cancels_both: bool,
}

impl Trading {
    pub(crate) fn place(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &PlaceOrder,
        out: &mut Outbox,
    ) -> EngineResult {
        self.place_with_reduction(moment, caller, ask, None, out)
    }

    /// A reduce-only order may lower the position of its strategy, account and security, nothing else.
    pub(crate) fn place_with_reduction(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &PlaceOrder,
        reduction: Option<Reduction>,
        out: &mut Outbox,
    ) -> EngineResult {
        let draft = self.check_new(moment, caller, ask, reduction)?;
        Ok(Answer::Order(self.accept(moment, caller, ask, draft, out)))
    }

    /// The result of all checks, without any change.
    pub(crate) fn pre_trade_check(
        &self,
        moment: Moment,
        caller: &Caller,
        ask: &PlaceOrder,
    ) -> domain::query::PreTradeCheck {
        let terms = OrderTerms { quantity: ask.quantity, kind: ask.kind, tif: ask.tif };
        let (notional, fee) = self.estimate(ask.security, ask.side, &terms);
        let refusal = self.check_new(moment, caller, ask, None).err();
        domain::query::PreTradeCheck { refusal, notional, fee }
    }

    fn check_new(
        &self,
        moment: Moment,
        caller: &Caller,
        ask: &PlaceOrder,
        reduction: Option<Reduction>,
    ) -> Result<CheckedOrder, Refusal> {
        let int_id = self.check_ids(moment, caller, ask)?;
        let route = self.route(ask)?;
        check_trading_right(caller, route.account, route.security.id)?;
        let asked = OrderTerms { quantity: ask.quantity, kind: ask.kind, tif: ask.tif };
        check_terms(&route.security, &asked)?;
        check_properties(&route.security, &asked, &ask.properties)?;
        self.check_hours(moment.at, &route, &asked)?;
        self.check_adapter(&route.adapter)?;
        self.check_offered(&route.adapter, &ask.properties)?;
        self.check_can_reduce(&route.adapter, &asked, &ask.properties)?;
        self.check_passed(&route.adapter, ask.pass_through.as_deref())?;
        let (terms, Reduction { displaced, freed }) = self.size(&route, ask, reduction)?;
        self.check_listing(&route.adapter, route.security.id, &terms)?;
        let (side, reduce_only) = (ask.side, ask.properties.reduce_only);
        let candidate =
            Candidate { route: &route, side, terms, replaces: None, reduce_only, freed, is_released: false, caller };
        let RiskApproval { reservation, self_trades: met } = self.check_risk(moment, &candidate)?;
        let ends_both = !met.is_empty() && self.cancels_both(route.account);
        let displaced = displaced_by(met, displaced, ends_both);
        Ok(CheckedOrder { int_id, route, terms, reservation, displaced, cancels_both: ends_both })
    }

    /// The id of the order where the client chose one; `None`: generate one.
    fn check_ids(&self, moment: Moment, caller: &Caller, ask: &PlaceOrder) -> Result<Option<IntId>, Refusal> {
        if let Some(id) = &ask.int_id {
            let is_used = self.orders.contains_id(id) && !PlantedBug::AcceptRepeatedOrderId.is_planted();
            return if is_used { Err(self.duplicate(id)) } else { Ok(Some(id.clone())) };
        }
        let Some(cl_ord_id) = &ask.cl_ord_id else { return Ok(None) };
        self.check_cl_ord_id_unused(moment, caller, cl_ord_id)?;
        // The first ClOrdID becomes the platform's id where it is free.
        let is_free = |id: &IntId| id.as_str() != NO_ORDER && !self.orders.contains_id(id);
        Ok(cl_ord_id.parse().ok().filter(is_free))
    }

    /// Decision 0012: a client uses a ClOrdID once a day, for an order or for a request. With PossResend, older ones
    /// are searched too.
    pub(crate) fn check_cl_ord_id_unused(
        &self,
        moment: Moment,
        caller: &Caller,
        cl_ord_id: &str,
    ) -> Result<(), Refusal> {
        let may_be_known = caller.origin.as_ref().is_some_and(|origin| origin.poss_resend);
        let today = self.day_start(moment.at);
        let is_taken = |at: Timestamp| may_be_known || at >= today;
        let own = self.orders.by_used_id(cl_ord_id).filter(|order| order.source == caller.source);
        let taken = own.filter(|order| order.is_open() || is_taken(self.orders.used_at(cl_ord_id, order)));
        if let Some(known) = taken.max_by_key(|order| (order.is_open(), order.id)) {
            let (int_id, order) = (known.int_id.clone(), Some(known.clone()));
            return Err(Refusal::DuplicateOrder(DuplicateOrder { int_id, order }));
        }
        let mass_cancel = self.mass_cancels.get(&caller.source, cl_ord_id);
        let is_retired = may_be_known && self.orders.is_retired_name(&caller.source, cl_ord_id);
        match is_retired || mass_cancel.is_some_and(|obeyed| is_taken(obeyed.at)) {
            true => Err(Refusal::ClOrdIdUsed(cl_ord_id.into())),
            false => Ok(()),
        }
    }

    fn duplicate(&self, id: &IntId) -> Refusal {
        let order = self.orders.by_int_id(id).cloned();
        Refusal::DuplicateOrder(DuplicateOrder { int_id: id.clone(), order })
    }

    pub(crate) fn route(&self, ask: &PlaceOrder) -> Result<OrderRoute, Refusal> {
        let security = self.reference.security(ask.security)?.clone();
        let exchange = ask.exchange.unwrap_or(security.exchange);
        if exchange != security.exchange {
            let (security, listed_on) = (security.id, security.exchange);
            return Err(Refusal::NotListed { security, exchange, listed_on });
        }
        let strategy = ask.strategy.unwrap_or(StrategyId::SERVER);
        self.check_strategy(strategy)?;
        let account = match ask.account {
            Some(account) => account,
            None => self.default_account(exchange)?,
        };
        if !self.reference.account(account)?.active {
            return Err(Refusal::AccountInactive(account));
        }
        let adapter = self.reference.adapter_of(account)?.clone();
        if !self.adapters.serves(&adapter, exchange) {
            return Err(Refusal::NoRoute { account, exchange });
        }
        Ok(OrderRoute { security, account, strategy, exchange, adapter })
    }

    fn default_account(&self, exchange: ExchangeId) -> Result<AccountId, Refusal> {
        let reaches =
            |id: AccountId| self.reference.adapter_of(id).is_ok_and(|adapter| self.adapters.serves(adapter, exchange));
        let accounts = self.reference.data().accounts.values();
        let mut fitting = accounts.filter(|account| account.active && reaches(account.id)).map(|account| account.id);
        match (fitting.next(), fitting.next()) {
            (None, _) => Err(Refusal::NoAccount(exchange)),
            (Some(only), None) => Ok(only),
            (Some(first), Some(second)) => {
                Err(Refusal::AccountAmbiguous([first, second].into_iter().chain(fitting).collect()))
            }
        }
    }

    pub(crate) fn check_hours(&self, at: Timestamp, route: &OrderRoute, terms: &OrderTerms) -> Result<(), Refusal> {
        let calendar = self.reference.calendar(route.exchange)?;
        if self.has_expired(&route.security, at) {
            return Err(Refusal::Expired(route.security.id));
        }
        let phase = self.reference.phase(route.exchange, at);
        match terms.tif {
            TimeInForce::Gtd { until } if until <= at => Err(Refusal::DateInThePast),
            TimeInForce::Ato if !calendar.has_opening_auction() => Err(Refusal::NoAuction { tif: "ATO" }),
            TimeInForce::Atc if !calendar.has_closing_auction() => Err(Refusal::NoAuction { tif: "ATC" }),
            // Decision 0002: only orders that must trade at once need an open market; the rest waits at the venue.
            TimeInForce::Ioc | TimeInForce::Fok if phase != MarketPhase::Continuous => {
                Err(Refusal::MarketClosed(route.exchange))
            }
            TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. }
                if terms.kind.never_rests() && phase == MarketPhase::Closed =>
            {
                Err(Refusal::MarketClosed(route.exchange))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn check_adapter(&self, adapter: &AdapterName) -> Result<(), Refusal> {
        match self.adapters.session(adapter) {
            SessionState::LoggedOn | SessionState::Subscribed => Ok(()),
            SessionState::Connected => Err(Refusal::AdapterReconciling(adapter.clone())),
            SessionState::Disconnected => Err(Refusal::AdapterDown(adapter.clone())),
        }
    }

    /// Whether the venue has what the order needs.
    fn check_offered(&self, adapter: &AdapterName, properties: &OrderProperties) -> Result<(), Refusal> {
        match self.adapters.missing_property(adapter, properties) {
            Some(missing) => Err(Refusal::PropertyNotOffered { property: missing.name(), adapter: adapter.clone() }),
            None => Ok(()),
        }
    }

    /// A client whose field the venue does not get would believe that it has it.
    fn check_passed(&self, adapter: &AdapterName, fields: Option<&PassThrough>) -> Result<(), Refusal> {
        let Some(fields) = fields else { return Ok(()) };
        match self.adapters.missing_tag(adapter, fields) {
            Some(tag) => Err(Refusal::FieldNotPassed { tag, adapter: adapter.clone() }),
            None => Ok(()),
        }
    }

    fn accept(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &PlaceOrder,
        draft: CheckedOrder,
        out: &mut Outbox,
    ) -> Arc<Order> {
        let CheckedOrder { int_id, route, terms, reservation, displaced, cancels_both: ends_both } = draft;
        let int_id = int_id.unwrap_or_else(|| self.mint_int_id(route.account));
        let id = OrderId(self.ids.next_order());
        let mut order = new_order(moment, caller, ask, terms, id, int_id, route);
        if terms.quantity != ask.quantity {
            order.reason = Some(format!("reduce-only: cut from {} to {}", ask.quantity, terms.quantity).into());
        }
        if !displaced.is_empty() && !ends_both {
            order.reason = Some(self.wait_reason(&displaced));
        }
        let order = Arc::new(order);
        self.risk.on_accepted(moment, &order, caller, reservation);
        self.orders.insert(order.clone());
        self.schedule_expiry(&order);
        let request = order_request(caller, ask.cl_ord_id.clone());
        publish_order(moment, &order, OrderChange::plain(ExecType::PendingNew).for_request(Some(request)), out);
        if displaced.is_empty() {
            self.submit(moment, &order, out);
        } else if ends_both {
            self.cancel_both(moment, caller, &order, &displaced, out);
            return self.orders.get(order.id).cloned().unwrap_or(order);
        } else {
            self.add_waiting(moment, caller, &order, displaced, out);
        }
        order
    }

    pub(crate) fn submit(&mut self, moment: Moment, order: &Arc<Order>, out: &mut Outbox) {
        self.start_venue_timeout(moment, order.id);
        out.instruct(&order.adapter, Instruction::Submit(order.clone()));
    }
}

/// A close that is cancelled together with opposite orders leaves the orders that protect its position alone.
fn displaced_by(met: Vec<OrderId>, protective: Vec<Displaced>, ends_both: bool) -> Vec<Displaced> {
    let met = met.into_iter().map(|order| Displaced {
        order,
        leaves_quantity: None,
        reason: DisplaceReason::SelfTrade,
        deferral: None,
    });
    if ends_both { met.collect() } else { met.chain(protective).collect() }
}

fn new_order(
    moment: Moment,
    caller: &Caller,
    ask: &PlaceOrder,
    terms: OrderTerms,
    id: OrderId,
    int_id: IntId,
    route: OrderRoute,
) -> Order {
    Order {
        id,
        int_id,
        ext_id: None,
        cl_ord_id: ask.cl_ord_id.clone(),
        at: moment.at,
        side: ask.side,
        terms,
        exchange_order: ask.exchange_order,
        exchange: route.exchange,
        security: route.security.id,
        account: route.account,
        strategy: route.strategy,
        adapter: route.adapter,
        properties: ask.properties,
        state: BaseState::PendingNew,
        pending: PendingRequest::Nothing,
        filled: Quantity::ZERO,
        turnover: domain::Amount::ZERO,
        revision: 0,
        reason: None,
        in_doubt: false,
        reference: ask.reference.clone(),
        source: caller.source.clone(),
        submitted_by: caller.user.clone(),
        changed_at: moment.at,
        request: 0,
        legs: None,
        pass_through: ask.pass_through.clone(),
    }
}
