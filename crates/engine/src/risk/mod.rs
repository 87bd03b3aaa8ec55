//! Risk gate for new orders and modifications. Limits and trading states belong to scopes; the strictest of the four
//! scopes of an order applies.

pub(crate) mod fixed_point;
mod dead_man;
mod exposure;
mod gate;
mod rate_limiter;
pub(crate) mod rights;
mod self_trade;
mod states;

use std::collections::BTreeMap;

use domain::order::{Order, OrderTerms, Side};
use domain::risk::{RiskLimits, RiskScope, TradingStateChange};
use domain::{AccountId, Caller, OrderId, Overflow, Quantity, SecurityId, StrategyId};
use minicbor::{Decode, Encode};

use crate::moment::Moment;
use crate::orders::ticket::OrderRoute;
use dead_man::DeadManTimers;
use exposure::OpenOrderExposure;
pub(crate) use exposure::Reservation;
use rate_limiter::RiskRateLimiter;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Risk {
    #[n(0)]
    limits: BTreeMap<RiskScope, RiskLimits>,
    #[n(1)]
    states: BTreeMap<RiskScope, TradingStateChange>,
    #[n(2)]
    rates: RiskRateLimiter,
    #[n(3)]
    exposure: OpenOrderExposure,
    #[n(4)]
    dead_man: DeadManTimers,
}

/// An order, or new terms for one, before the checks.
pub(crate) struct Candidate<'a> {
    pub(crate) route: &'a OrderRoute,
    pub(crate) side: Side,
    pub(crate) terms: OrderTerms,
    /// The open order whose terms these would become.
    pub(crate) replaces: Option<&'a Order>,
    pub(crate) reduce_only: bool,
    /// What orders of its side give up before it is sent, so that it may close that much more.
    pub(crate) freed: Quantity,
    /// An accepted order that waited for others: the rates have counted it.
    pub(crate) is_released: bool,
    pub(crate) caller: &'a Caller,
}

/// An order that passed the checks.
pub(crate) struct RiskApproval {
    pub(crate) reservation: Reservation,
    /// Orders of the same account that must be cancelled before it is sent.
    pub(crate) self_trades: Vec<OrderId>,
}

impl Candidate<'_> {
    /// The remaining quantity.
    pub(crate) fn leaves_quantity(&self) -> Result<Quantity, Overflow> {
        self.terms.quantity.minus(self.replaces.map_or(Quantity::ZERO, |order| order.filled))
    }

    pub(crate) fn scopes(&self) -> [RiskScope; 4] {
        scopes(self.route.account, self.route.strategy, self.route.security.id)
    }
}

/// The scopes of an order.
pub(crate) fn scopes(account: AccountId, strategy: StrategyId, security: SecurityId) -> [RiskScope; 4] {
    [RiskScope::Platform, RiskScope::Account(account), RiskScope::Strategy(strategy), RiskScope::Security(security)]
}

pub(crate) fn touches(scope: RiskScope, account: AccountId, strategy: StrategyId, security: SecurityId) -> bool {
    scopes(account, strategy, security).contains(&scope)
}

/// The limits of all scopes of an order, looked up once.
struct ApplicableLimits<'a> {
    limits: [Option<(RiskScope, &'a RiskLimits)>; 4],
    /// How many of them exist, from the front: a dozen checks iterate over them.
    count: usize,
}

impl<'a> ApplicableLimits<'a> {
    /// The scopes where one limit is set, and its value.
    fn each<T>(&self, limit: impl Fn(&'a RiskLimits) -> Option<T>) -> impl Iterator<Item = (RiskScope, T)> {
        self.limits[..self.count].iter().flatten().filter_map(move |(scope, limits)| Some((*scope, limit(limits)?)))
    }
}

impl Risk {
    fn applicable_limits(&self, scopes: [RiskScope; 4]) -> ApplicableLimits<'_> {
        let mut binding = ApplicableLimits { limits: [None; 4], count: 0 };
        for scope in scopes {
            if let Some(limits) = self.limits.get(&scope) {
                binding.limits[binding.count] = Some((scope, limits));
                binding.count += 1;
            }
        }
        binding
    }

    pub(crate) fn limits(&self) -> Vec<(RiskScope, RiskLimits)> {
        self.limits.iter().map(|(scope, limits)| (*scope, limits.clone())).collect()
    }

    /// The current limits of a scope.
    pub(crate) fn limits_of(&self, scope: RiskScope) -> RiskLimits {
        self.limits.get(&scope).cloned().unwrap_or_default()
    }

    pub(crate) fn set_limits(&mut self, scope: RiskScope, limits: RiskLimits) {
        self.limits.insert(scope, limits);
    }

    /// Open quantity of one side for a strategy and account.
    pub(crate) fn open_for_strategy(
        &self,
        account: AccountId,
        strategy: StrategyId,
        security: SecurityId,
        side: Side,
    ) -> Result<Quantity, Overflow> {
        self.exposure.open_for_strategy(account, strategy, security).side(side)
    }

    /// The open quantity of one order.
    pub(crate) fn open_of(&self, order: OrderId) -> Result<Quantity, Overflow> {
        self.exposure.order_exposure(order).quantity()
    }

    /// An order was accepted.
    pub(crate) fn on_accepted(&mut self, moment: Moment, order: &Order, caller: &Caller, reservation: Reservation) {
        let scopes = scopes(order.account, order.strategy, order.security);
        self.rates.consume(moment.at, scopes, &self.limits);
        self.rates.record_message(moment.at, caller, scopes, &self.limits);
        self.rates.record_order(moment.at, order, caller, &self.limits);
        self.exposure.reserve(order, reservation);
    }

    /// New terms were accepted; until the venue has answered, the larger of both is reserved.
    pub(crate) fn on_modified(
        &mut self,
        moment: Moment,
        order: &Order,
        (caller, is_counted): (&Caller, bool),
        reservation: Reservation,
    ) {
        let scopes = scopes(order.account, order.strategy, order.security);
        if is_counted {
            self.rates.consume(moment.at, scopes, &self.limits);
        }
        self.rates.record_message(moment.at, caller, scopes, &self.limits);
        self.exposure.propose(order, reservation);
    }

    /// A cancel was accepted.
    pub(crate) fn on_cancel_requested(&mut self, moment: Moment, order: &Order, caller: &Caller) {
        let scopes = scopes(order.account, order.strategy, order.security);
        self.rates.record_message(moment.at, caller, scopes, &self.limits);
    }

    pub(crate) fn on_fill(&mut self, order: &Order) {
        self.exposure.update(order);
    }

    /// The venue accepted new terms.
    pub(crate) fn on_replaced(&mut self, order: &Order) {
        self.exposure.accept(order);
    }

    /// The order ended, or keeps its terms.
    pub(crate) fn on_settled(&mut self, order: &Order) {
        self.exposure.withdraw(order);
    }

    pub(crate) fn rebuild<'a>(&mut self, orders: impl Iterator<Item = &'a Order>) {
        self.exposure.rebuild(orders);
    }
}
