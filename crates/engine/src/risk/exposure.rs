//! Open order exposure: reserved per order, summed per scope, so that a check costs one look-up.

use domain::order::{Order, Side};
use domain::risk::RiskScope;
use domain::{AccountId, Amount, LookupMap, OrderId, Overflow, Quantity, SecurityId, StrategyId};
use minicbor::{Decode, Encode};

use super::fixed_point::FixedPoint;
use super::scopes::touches;
use crate::shared::shared_map::SharedMap;

/// Possible cost of an order, per unit of its quantity, in base currency at the prices when it was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Reservation {
    #[n(0)]
    pub(crate) quantity: Quantity,
    #[n(1)]
    pub(crate) unit_notional: Amount,
    #[n(2)]
    pub(crate) unit_cash: Amount,
}

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct OpenOrderExposure {
    #[n(0)]
    reserved: SharedMap<OrderId, OrderReservation>,
    // Sums over the reservations, not on disk.
    #[cbor(skip)]
    platform: ExposureTotals,
    #[cbor(skip)]
    accounts: LookupMap<AccountId, ExposureTotals>,
    #[cbor(skip)]
    strategies: LookupMap<StrategyId, ExposureTotals>,
    #[cbor(skip)]
    securities: LookupMap<SecurityId, SecurityExposure>,
}

#[derive(Debug, Clone, Encode, Decode)]
struct OrderReservation {
    #[n(0)]
    now: Reservation,
    /// Boxed, since few orders have one and every open order has the field.
    #[n(1)]
    proposed: Option<Box<Reservation>>,
    /// Its part of the sums, so that it can be subtracted exactly.
    #[cbor(skip)]
    counted: OrderExposure,
}

/// The part of one order in the sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OrderExposure {
    orders: i64,
    quantity: FixedPoint,
    notional: FixedPoint,
    cash: FixedPoint,
}

/// Exposure of all open orders of a scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ExposureTotals {
    pub(crate) orders: i64,
    buys: FixedPoint,
    sells: FixedPoint,
    cash: FixedPoint,
}

#[derive(Debug, Clone, Default)]
struct SecurityExposure {
    totals: ExposureTotals,
    // For these few a linear search is faster than a map.
    by_account_strategy: Vec<(AccountStrategy, SideQuantities)>,
}

/// Account and strategy that trade a security.
type AccountStrategy = (AccountId, StrategyId);

/// Open quantities of one security by side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SideQuantities {
    buys: FixedPoint,
    sells: FixedPoint,
}

impl OpenOrderExposure {
    /// What is written to disk: the sums are made from it.
    pub(crate) fn copy_for_disk(&self) -> Self {
        Self { reserved: self.reserved.clone(), ..Self::default() }
    }

    pub(crate) fn totals(&self, scope: RiskScope) -> ExposureTotals {
        let totals = match scope {
            RiskScope::Platform => Some(&self.platform),
            RiskScope::Account(account) => self.accounts.get(&account),
            RiskScope::Strategy(strategy) => self.strategies.get(&strategy),
            RiskScope::Security(security) => self.securities.get(&security).map(|within| &within.totals),
        };
        totals.copied().unwrap_or_default()
    }

    /// Of one security, in a scope.
    pub(crate) fn open_quantities(&self, scope: RiskScope, security: SecurityId) -> SideQuantities {
        let desks = self.securities.get(&security).map_or(&[][..], |within| &within.by_account_strategy);
        let within = desks.iter().filter(|((account, strategy), _)| touches(scope, *account, *strategy, security));
        within.fold(SideQuantities::default(), |sum, (_, sides)| sum.plus(sides))
    }

    /// Of one security, by one account for one strategy.
    pub(crate) fn open_for_strategy(
        &self,
        account: AccountId,
        strategy: StrategyId,
        security: SecurityId,
    ) -> SideQuantities {
        let within = self.securities.get(&security);
        within.and_then(|within| of(&within.by_account_strategy, (account, strategy))).copied().unwrap_or_default()
    }

    /// The part of one order in the sums.
    pub(crate) fn order_exposure(&self, order: OrderId) -> OrderExposure {
        self.reserved.get(&order).map_or_else(OrderExposure::default, |reserved| reserved.counted)
    }

    pub(crate) fn reserve(&mut self, order: &Order, reservation: Reservation) {
        let mut reserved = OrderReservation { now: reservation, proposed: None, counted: OrderExposure::default() };
        reserved.counted = part(order, &reserved);
        self.add(order, &reserved.counted);
        self.reserved.insert(order.id, reserved);
    }

    pub(crate) fn propose(&mut self, order: &Order, reservation: Reservation) {
        if let Some(reserved) = self.reserved.get_mut(&order.id) {
            reserved.proposed = Some(Box::new(reservation));
        }
        self.update(order);
    }

    /// The venue accepted new terms. A price that was not proposed is reserved as the old one was.
    pub(crate) fn accept(&mut self, order: &Order) {
        if let Some(reserved) = self.reserved.get_mut(&order.id) {
            let accepted = reserved.proposed.take().map_or(reserved.now, |proposed| *proposed);
            reserved.now = Reservation { quantity: order.terms.quantity, ..accepted };
        }
        self.update(order);
    }

    /// The venue changed the quantity by itself: what was proposed is still on its way.
    pub(crate) fn restate(&mut self, order: &Order) {
        if let Some(reserved) = self.reserved.get_mut(&order.id) {
            reserved.now.quantity = order.terms.quantity;
        }
        self.update(order);
    }

    /// The proposed terms are void; the old terms stay.
    pub(crate) fn withdraw(&mut self, order: &Order) {
        if let Some(reserved) = self.reserved.get_mut(&order.id) {
            reserved.proposed = None;
        }
        self.update(order);
    }

    pub(crate) fn contains(&self, order: OrderId) -> bool {
        self.reserved.contains_key(&order)
    }

    /// Updates the sums for the order's current state; a finished order reserves nothing.
    pub(crate) fn update(&mut self, order: &Order) {
        if !order.is_open() {
            return self.release(order);
        }
        let Some(reserved) = self.reserved.get_mut(&order.id) else { return };
        let part = part(order, reserved);
        let change = part.minus(&std::mem::replace(&mut reserved.counted, part));
        self.add(order, &change);
    }

    pub(crate) fn release(&mut self, order: &Order) {
        if let Some(reserved) = self.reserved.remove(&order.id) {
            self.add(order, &OrderExposure::default().minus(&reserved.counted));
        }
    }

    pub(crate) fn rebuild<'a>(&mut self, orders: impl Iterator<Item = &'a Order>) {
        orders.for_each(|order| self.update(order));
    }

    fn add(&mut self, order: &Order, change: &OrderExposure) {
        let within = self.securities.or_default(order.security);
        entry_for(&mut within.by_account_strategy, (order.account, order.strategy)).add(order.side, change);
        let holders = [
            &mut within.totals,
            &mut self.platform,
            self.accounts.or_default(order.account),
            self.strategies.or_default(order.strategy),
        ];
        holders.into_iter().for_each(|totals| totals.add(order.side, change));
    }
}

fn part(order: &Order, reserved: &OrderReservation) -> OrderExposure {
    let part = |reservation: &Reservation| {
        let working = if order.state.is_working() { reservation.quantity } else { order.filled };
        let open = working.minus(order.filled).unwrap_or(Quantity::ZERO);
        let open = if open.is_negative() { Quantity::ZERO } else { open };
        let times =
            |unit: Amount| unit.times(open.0).map_or(FixedPoint::MAX, |amount| FixedPoint::from_decimal(amount.0));
        OrderExposure {
            orders: 1,
            quantity: FixedPoint::from_decimal(open.0),
            notional: times(reservation.unit_notional),
            cash: times(reservation.unit_cash),
        }
    };
    let now = part(&reserved.now);
    reserved.proposed.as_ref().map_or(now, |proposed| now.max(&part(proposed)))
}

/// Whether an order is within the range that can be counted. Larger ones can only come from a venue, by its own
/// replace.
pub(super) fn check_countable(quantity: Quantity, notional: Amount) -> Result<(), Overflow> {
    let is_countable = FixedPoint::from_decimal(quantity.0) < FixedPoint::MAX
        && FixedPoint::from_decimal(notional.0) < FixedPoint::MAX;
    if is_countable { Ok(()) } else { Err(Overflow) }
}

impl OrderExposure {
    pub(crate) fn quantity(&self) -> Result<Quantity, Overflow> {
        self.quantity.to_decimal().map(Quantity)
    }

    pub(crate) fn notional(&self) -> Result<Amount, Overflow> {
        self.notional.to_decimal().map(Amount)
    }

    pub(crate) fn cash(&self) -> Result<Amount, Overflow> {
        self.cash.to_decimal().map(Amount)
    }

    fn max(&self, other: &Self) -> Self {
        Self {
            orders: self.orders,
            quantity: self.quantity.max(other.quantity),
            notional: self.notional.max(other.notional),
            cash: self.cash.max(other.cash),
        }
    }

    fn minus(&self, other: &Self) -> Self {
        Self {
            orders: self.orders - other.orders,
            quantity: self.quantity - other.quantity,
            notional: self.notional - other.notional,
            cash: self.cash - other.cash,
        }
    }
}

impl ExposureTotals {
    pub(crate) fn buys(&self) -> Result<Amount, Overflow> {
        self.buys.to_decimal().map(Amount)
    }

    pub(crate) fn sells(&self) -> Result<Amount, Overflow> {
        self.sells.to_decimal().map(Amount)
    }

    pub(crate) fn cash(&self) -> Result<Amount, Overflow> {
        self.cash.to_decimal().map(Amount)
    }

    fn add(&mut self, side: Side, change: &OrderExposure) {
        let notional = match side {
            Side::Buy => &mut self.buys,
            Side::Sell => &mut self.sells,
        };
        *notional = *notional + change.notional;
        self.cash = self.cash + change.cash;
        self.orders += change.orders;
    }
}

impl SideQuantities {
    pub(crate) fn side(&self, side: Side) -> Result<Quantity, Overflow> {
        let quantity = match side {
            Side::Buy => self.buys,
            Side::Sell => self.sells,
        };
        quantity.to_decimal().map(Quantity)
    }

    fn add(&mut self, side: Side, change: &OrderExposure) {
        let quantity = match side {
            Side::Buy => &mut self.buys,
            Side::Sell => &mut self.sells,
        };
        *quantity = *quantity + change.quantity;
    }

    fn plus(&self, other: &Self) -> Self {
        Self { buys: self.buys + other.buys, sells: self.sells + other.sells }
    }
}

fn of(desks: &[(AccountStrategy, SideQuantities)], wanted: AccountStrategy) -> Option<&SideQuantities> {
    desks.iter().find(|(desk, _)| *desk == wanted).map(|(_, sides)| sides)
}

fn entry_for(desks: &mut Vec<(AccountStrategy, SideQuantities)>, wanted: AccountStrategy) -> &mut SideQuantities {
    let place = desks.iter().position(|(desk, _)| *desk == wanted).unwrap_or_else(|| {
        desks.push((wanted, SideQuantities::default()));
        desks.len() - 1
    });
    &mut desks[place].1
}
