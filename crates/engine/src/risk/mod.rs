//! Risk gate for new orders and modifications. Limits and trading states belong to scopes; the strictest of the four
//! scopes of an order applies.

pub(crate) mod exact;
mod exposure;
mod gate;
mod pace;
mod self_trade;
mod states;

use std::collections::BTreeMap;

use domain::order::{Order, Side, Terms};
use domain::risk::{Limits, Scope, StateChange};
use domain::{AccountId, Caller, OrderId, Overflow, Quantity, SecurityId, StrategyId};
use minicbor::{Decode, Encode};

use crate::moment::Moment;
use crate::orders::intake::Route;
use exposure::Exposure;
pub(crate) use exposure::Reservation;
use pace::Pace;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Risk {
    #[n(0)]
    limits: BTreeMap<Scope, Limits>,
    #[n(1)]
    states: BTreeMap<Scope, StateChange>,
    #[n(2)]
    pace: Pace,
    #[n(3)]
    exposure: Exposure,
}

/// An order, or new terms for one, before the checks.
pub(crate) struct Candidate<'a> {
    pub(crate) route: &'a Route,
    pub(crate) side: Side,
    pub(crate) terms: Terms,
    /// The open order whose terms these would become.
    pub(crate) replaces: Option<&'a Order>,
    pub(crate) reduce_only: bool,
    /// What orders of its side give up before it is sent, so that it may close that much more.
    pub(crate) freed: Quantity,
    pub(crate) caller: &'a Caller,
}

/// An order that passed the checks.
pub(crate) struct Passed {
    pub(crate) reservation: Reservation,
    /// Orders of the same account that must be cancelled before it is sent.
    pub(crate) met: Vec<OrderId>,
}

impl Candidate<'_> {
    /// The remaining quantity.
    pub(crate) fn still(&self) -> Result<Quantity, Overflow> {
        self.terms.quantity.minus(self.replaces.map_or(Quantity::ZERO, |order| order.filled))
    }

    pub(crate) fn scopes(&self) -> [Scope; 4] {
        scopes(self.route.account, self.route.strategy, self.route.security.id)
    }
}

/// The scopes of an order.
pub(crate) fn scopes(account: AccountId, strategy: StrategyId, security: SecurityId) -> [Scope; 4] {
    [Scope::Platform, Scope::Account(account), Scope::Strategy(strategy), Scope::Security(security)]
}

pub(crate) fn touches(scope: Scope, account: AccountId, strategy: StrategyId, security: SecurityId) -> bool {
    scopes(account, strategy, security).contains(&scope)
}

/// The limits of all scopes of an order, looked up once.
struct Binding<'a> {
    limits: [Option<(Scope, &'a Limits)>; 4],
    /// How many of them exist, from the front: a dozen checks iterate over them.
    count: usize,
}

impl<'a> Binding<'a> {
    /// The scopes where one limit is set, and its value.
    fn each<T>(&self, limit: impl Fn(&'a Limits) -> Option<T>) -> impl Iterator<Item = (Scope, T)> {
        self.limits[..self.count].iter().flatten().filter_map(move |(scope, limits)| Some((*scope, limit(limits)?)))
    }
}

impl Risk {
    fn binding(&self, scopes: [Scope; 4]) -> Binding<'_> {
        let mut binding = Binding { limits: [None; 4], count: 0 };
        for scope in scopes {
            if let Some(limits) = self.limits.get(&scope) {
                binding.limits[binding.count] = Some((scope, limits));
                binding.count += 1;
            }
        }
        binding
    }

    pub(crate) fn limits(&self) -> Vec<(Scope, Limits)> {
        self.limits.iter().map(|(scope, limits)| (*scope, limits.clone())).collect()
    }

    /// The current limits of a scope.
    pub(crate) fn limits_of(&self, scope: Scope) -> Limits {
        self.limits.get(&scope).cloned().unwrap_or_default()
    }

    pub(crate) fn set_limits(&mut self, scope: Scope, limits: Limits) {
        self.limits.insert(scope, limits);
    }

    /// Open quantity of one side for a strategy and account.
    pub(crate) fn open_at_desk(
        &self,
        account: AccountId,
        strategy: StrategyId,
        security: SecurityId,
        side: Side,
    ) -> Result<Quantity, Overflow> {
        self.exposure.open_at_desk(account, strategy, security).of(side)
    }

    /// The open quantity of one order.
    pub(crate) fn open_of(&self, order: OrderId) -> Result<Quantity, Overflow> {
        self.exposure.of(order).quantity()
    }

    /// An order was accepted.
    pub(crate) fn took_on(&mut self, moment: Moment, order: &Order, caller: &Caller, reservation: Reservation) {
        let scopes = scopes(order.account, order.strategy, order.security);
        self.pace.spend(moment.at, scopes, &self.limits);
        self.pace.remember(moment.at, order, caller, &self.limits);
        self.exposure.reserve(order, reservation);
    }

    /// New terms were accepted; until the venue has answered, the larger of both is reserved.
    pub(crate) fn reserve(&mut self, order: &Order, reservation: Reservation) {
        self.exposure.propose(order, reservation);
    }

    pub(crate) fn filled(&mut self, order: &Order) {
        self.exposure.update(order);
    }

    /// The venue accepted new terms.
    pub(crate) fn replaced(&mut self, order: &Order) {
        self.exposure.accept(order);
    }

    /// The order ended, or keeps its terms.
    pub(crate) fn settled(&mut self, order: &Order) {
        self.exposure.withdraw(order);
    }

    pub(crate) fn rebuild<'a>(&mut self, orders: impl Iterator<Item = &'a Order>) {
        self.exposure.rebuild(orders);
    }
}
