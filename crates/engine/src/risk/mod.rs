//! Risk gate for new orders and modifications. Limits and trading states belong to scopes; the strictest of the four
//! scopes of an order applies.

pub(crate) mod fixed_point;
mod candidate;
mod dead_man;
mod exposure;
mod gate;
mod killed_orders;
mod rate_limiter;
pub(crate) mod rights;
mod scopes;
mod self_trade;
mod states;

use std::collections::BTreeMap;

use domain::order::{Order, OrderRequest, Side};
use domain::risk::{DeadManTimer, RiskLimits, RiskScope, TradingStateChange};
use domain::{AccountId, Caller, OrderId, Overflow, Quantity, SecurityId, StrategyId};
use minicbor::{Decode, Encode};

use crate::outbox::Moment;
use crate::shared::shared_map::SharedMap;
pub(crate) use candidate::{Candidate, RiskApproval};
use exposure::OpenOrderExposure;
pub(crate) use exposure::Reservation;
use rate_limiter::RiskRateLimiter;
pub(crate) use scopes::touches;
use scopes::{ApplicableLimits, scopes};

#[derive(Debug, Default, Encode, Decode)]
pub(crate) struct Risk {
    #[n(0)]
    limits: BTreeMap<RiskScope, RiskLimits>,
    #[n(1)]
    states: BTreeMap<RiskScope, TradingStateChange>,
    #[n(2)]
    rates: RiskRateLimiter,
    #[n(3)]
    exposure: OpenOrderExposure,
    /// Absent in a state that never had a timer.
    #[n(4)]
    dead_man: Option<BTreeMap<RiskScope, DeadManTimer>>,
    /// Open orders that a kill meant, with its request; absent where there are none.
    #[n(5)]
    killed: Option<SharedMap<OrderId, OrderRequest>>,
}

impl Risk {
    /// What is written to disk, without what is made from it.
    pub(crate) fn copy_for_disk(&self) -> Self {
        Self {
            limits: self.limits.clone(),
            states: self.states.clone(),
            rates: self.rates.clone(),
            exposure: self.exposure.copy_for_disk(),
            dead_man: self.dead_man.clone(),
            killed: self.killed.clone(),
        }
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
        let binding = ApplicableLimits::of(scopes(order.account, order.strategy, order.security), &self.limits);
        self.rates.consume(moment.at, &binding);
        self.rates.record_message(moment.at, caller, &binding);
        self.rates.record_order(moment.at, order, caller, &binding);
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
        let binding = ApplicableLimits::of(scopes(order.account, order.strategy, order.security), &self.limits);
        if is_counted {
            self.rates.consume(moment.at, &binding);
        }
        self.rates.record_message(moment.at, caller, &binding);
        self.exposure.propose(order, reservation);
    }

    /// A cancel was accepted.
    pub(crate) fn on_cancel_requested(&mut self, moment: Moment, order: &Order, caller: &Caller) {
        let binding = ApplicableLimits::of(scopes(order.account, order.strategy, order.security), &self.limits);
        self.rates.record_message(moment.at, caller, &binding);
    }

    pub(crate) fn on_fill(&mut self, order: &Order) {
        self.exposure.update(order);
        self.forget_killed(order);
    }

    /// The venue has new terms; a replace that is still on its way was not answered by them.
    pub(crate) fn on_replaced(&mut self, order: &Order) {
        if order.pending.replace().is_some() {
            return self.exposure.restate(order);
        }
        self.exposure.accept(order);
        self.forget_killed(order);
    }

    /// The order ended, or keeps its terms.
    pub(crate) fn on_settled(&mut self, order: &Order) {
        self.exposure.withdraw(order);
        self.forget_killed(order);
    }

    /// The order reserves nothing more, though it may be open.
    pub(crate) fn release(&mut self, order: &Order) {
        self.exposure.release(order);
    }

    pub(crate) fn rebuild<'a>(&mut self, orders: impl Iterator<Item = &'a Order>) {
        self.exposure.rebuild(orders);
    }
}
