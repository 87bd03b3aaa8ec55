//! Open order exposure: reserved per order, summed per scope, so that a check costs one look-up.

use std::collections::BTreeMap;

use domain::order::{Order, Side};
use domain::risk::Scope;
use domain::{AccountId, Amount, Index, OrderId, Overflow, Quantity, SecurityId, StrategyId};
use minicbor::{Decode, Encode};

use super::exact::Exact;
use super::touches;

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
pub(crate) struct Exposure {
    #[n(0)]
    reserved: BTreeMap<OrderId, Reserved>,
    // Sums over the reservations, not on disk.
    #[cbor(skip)]
    platform: Totals,
    #[cbor(skip)]
    accounts: Index<AccountId, Totals>,
    #[cbor(skip)]
    strategies: Index<StrategyId, Totals>,
    #[cbor(skip)]
    securities: Index<SecurityId, InSecurity>,
}

#[derive(Debug, Clone, Encode, Decode)]
struct Reserved {
    #[n(0)]
    now: Reservation,
    /// Boxed, since few orders have one and every open order has the field.
    #[n(1)]
    proposed: Option<Box<Reservation>>,
    /// Its part of the sums, so that it can be subtracted exactly.
    #[cbor(skip)]
    counted: Part,
}

/// The part of one order in the sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Part {
    orders: i64,
    quantity: Exact,
    notional: Exact,
    cash: Exact,
}

/// Exposure of all open orders of a scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) orders: i64,
    buys: Exact,
    sells: Exact,
    cash: Exact,
}

#[derive(Debug, Clone, Default)]
struct InSecurity {
    totals: Totals,
    // For these few a linear search is faster than a map.
    desks: Vec<(Desk, Sides)>,
}

/// Account and strategy that trade a security.
type Desk = (AccountId, StrategyId);

/// Open quantities of one security by side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sides {
    buys: Exact,
    sells: Exact,
}

impl Exposure {
    pub(crate) fn totals(&self, scope: Scope) -> Totals {
        let totals = match scope {
            Scope::Platform => Some(&self.platform),
            Scope::Account(account) => self.accounts.get(&account),
            Scope::Strategy(strategy) => self.strategies.get(&strategy),
            Scope::Security(security) => self.securities.get(&security).map(|within| &within.totals),
        };
        totals.copied().unwrap_or_default()
    }

    /// Of one security, in a scope.
    pub(crate) fn open_quantities(&self, scope: Scope, security: SecurityId) -> Sides {
        let desks = self.securities.get(&security).map_or(&[][..], |within| &within.desks);
        let within = desks.iter().filter(|((account, strategy), _)| touches(scope, *account, *strategy, security));
        within.fold(Sides::default(), |sum, (_, sides)| sum.plus(sides))
    }

    /// Of one security, by one account for one strategy.
    pub(crate) fn open_at_desk(&self, account: AccountId, strategy: StrategyId, security: SecurityId) -> Sides {
        let within = self.securities.get(&security);
        within.and_then(|within| of(&within.desks, (account, strategy))).copied().unwrap_or_default()
    }

    /// The part of one order in the sums.
    pub(crate) fn of(&self, order: OrderId) -> Part {
        self.reserved.get(&order).map_or_else(Part::default, |reserved| reserved.counted)
    }

    pub(crate) fn reserve(&mut self, order: &Order, reservation: Reservation) {
        let mut reserved = Reserved { now: reservation, proposed: None, counted: Part::default() };
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

    /// The proposed terms are void; the old terms stay.
    pub(crate) fn withdraw(&mut self, order: &Order) {
        if let Some(reserved) = self.reserved.get_mut(&order.id) {
            reserved.proposed = None;
        }
        self.update(order);
    }

    pub(crate) fn knows(&self, order: OrderId) -> bool {
        self.reserved.contains_key(&order)
    }

    /// Updates the sums for the order's current state; a finished order reserves nothing.
    pub(crate) fn update(&mut self, order: &Order) {
        let Some(reserved) = self.reserved.get_mut(&order.id) else { return };
        let part = if order.is_open() { part(order, reserved) } else { Part::default() };
        let change = part.less(&std::mem::replace(&mut reserved.counted, part));
        if !order.is_open() {
            self.reserved.remove(&order.id);
        }
        self.add(order, &change);
    }

    pub(crate) fn rebuild<'a>(&mut self, orders: impl Iterator<Item = &'a Order>) {
        orders.for_each(|order| self.update(order));
    }

    fn add(&mut self, order: &Order, change: &Part) {
        let within = self.securities.or_default(order.security);
        desk(&mut within.desks, (order.account, order.strategy)).add(order.side, change);
        let holders = [
            &mut within.totals,
            &mut self.platform,
            self.accounts.or_default(order.account),
            self.strategies.or_default(order.strategy),
        ];
        holders.into_iter().for_each(|totals| totals.add(order.side, change));
    }
}

fn part(order: &Order, reserved: &Reserved) -> Part {
    let part = |reservation: &Reservation| {
        let working = if order.state.is_working() { reservation.quantity } else { order.filled };
        let open = working.minus(order.filled).unwrap_or(Quantity::ZERO);
        let open = if open.is_negative() { Quantity::ZERO } else { open };
        let times = |unit: Amount| unit.times(open.0).map_or(Exact::MAX, |amount| Exact::of(amount.0));
        Part {
            orders: 1,
            quantity: Exact::of(open.0),
            notional: times(reservation.unit_notional),
            cash: times(reservation.unit_cash),
        }
    };
    let now = part(&reserved.now);
    reserved.proposed.as_ref().map_or(now, |proposed| now.larger(&part(proposed)))
}

/// Whether an order is within the range that can be counted. Larger ones can only come from a venue, by its own
/// replace.
pub(super) fn check_countable(quantity: Quantity, notional: Amount) -> Result<(), Overflow> {
    let is_countable = Exact::of(quantity.0) < Exact::MAX && Exact::of(notional.0) < Exact::MAX;
    if is_countable { Ok(()) } else { Err(Overflow) }
}

impl Part {
    pub(crate) fn quantity(&self) -> Result<Quantity, Overflow> {
        self.quantity.decimal().map(Quantity)
    }

    pub(crate) fn notional(&self) -> Result<Amount, Overflow> {
        self.notional.decimal().map(Amount)
    }

    pub(crate) fn cash(&self) -> Result<Amount, Overflow> {
        self.cash.decimal().map(Amount)
    }

    fn larger(&self, other: &Self) -> Self {
        Self {
            orders: self.orders,
            quantity: self.quantity.max(other.quantity),
            notional: self.notional.max(other.notional),
            cash: self.cash.max(other.cash),
        }
    }

    fn less(&self, other: &Self) -> Self {
        Self {
            orders: self.orders - other.orders,
            quantity: self.quantity - other.quantity,
            notional: self.notional - other.notional,
            cash: self.cash - other.cash,
        }
    }
}

impl Totals {
    pub(crate) fn buys(&self) -> Result<Amount, Overflow> {
        self.buys.decimal().map(Amount)
    }

    pub(crate) fn sells(&self) -> Result<Amount, Overflow> {
        self.sells.decimal().map(Amount)
    }

    pub(crate) fn cash(&self) -> Result<Amount, Overflow> {
        self.cash.decimal().map(Amount)
    }

    fn add(&mut self, side: Side, change: &Part) {
        let notional = match side {
            Side::Buy => &mut self.buys,
            Side::Sell => &mut self.sells,
        };
        *notional = *notional + change.notional;
        self.cash = self.cash + change.cash;
        self.orders += change.orders;
    }
}

impl Sides {
    pub(crate) fn of(&self, side: Side) -> Result<Quantity, Overflow> {
        let quantity = match side {
            Side::Buy => self.buys,
            Side::Sell => self.sells,
        };
        quantity.decimal().map(Quantity)
    }

    fn add(&mut self, side: Side, change: &Part) {
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

fn of(desks: &[(Desk, Sides)], wanted: Desk) -> Option<&Sides> {
    desks.iter().find(|(desk, _)| *desk == wanted).map(|(_, sides)| sides)
}

fn desk(desks: &mut Vec<(Desk, Sides)>, wanted: Desk) -> &mut Sides {
    let place = desks.iter().position(|(desk, _)| *desk == wanted).unwrap_or_else(|| {
        desks.push((wanted, Sides::default()));
        desks.len() - 1
    });
    &mut desks[place].1
}
