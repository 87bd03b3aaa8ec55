//! What open orders could still do: reserved per order, added up per scope so that a check costs a look-up.

use std::collections::BTreeMap;

use domain::order::{Order, Side};
use domain::risk::Scope;
use domain::{Amount, Index, OrderId, Quantity, SecurityId};
use minicbor::{Decode, Encode};

use super::scopes;

/// What an order may cost, per unit of its quantity, in base currency at the prices when it was checked.
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
    // Derived from the reservations, not on disk.
    #[cbor(skip)]
    contributions: Index<OrderId, Contribution>,
    #[cbor(skip)]
    totals: Index<Scope, Totals>,
    #[cbor(skip)]
    open_quantities: Index<(Scope, SecurityId), Sides>,
}

#[derive(Debug, Clone, Copy, Encode, Decode)]
struct Reserved {
    #[n(0)]
    now: Reservation,
    #[n(1)]
    proposed: Option<Reservation>,
}

/// What all open orders of a scope could still do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) orders: u32,
    pub(crate) buys: Amount,
    pub(crate) sells: Amount,
    pub(crate) cash: Amount,
}

/// Open quantities of one security by side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) buys: Quantity,
    pub(crate) sells: Quantity,
}

/// What one order adds to the totals, remembered so that it can be taken out again exactly.
#[derive(Debug, Clone, Copy)]
struct Contribution {
    side: Side,
    scopes: [Scope; 4],
    security: SecurityId,
    quantity: Quantity,
    notional: Amount,
    cash: Amount,
}

impl Exposure {
    pub(crate) fn totals(&self, scope: Scope) -> Totals {
        self.totals.get(&scope).copied().unwrap_or_default()
    }

    pub(crate) fn open_quantities(&self, scope: Scope, security: SecurityId) -> Sides {
        self.open_quantities.get(&(scope, security)).copied().unwrap_or_default()
    }

    /// What one order adds: notional, cash, quantity.
    pub(crate) fn of(&self, order: OrderId) -> (Amount, Amount, Quantity) {
        let none = (Amount::ZERO, Amount::ZERO, Quantity::ZERO);
        self.contributions.get(&order).map_or(none, |part| (part.notional, part.cash, part.quantity))
    }

    pub(crate) fn reserve(&mut self, order: &Order, reservation: Reservation) {
        self.reserved.insert(order.id, Reserved { now: reservation, proposed: None });
        self.update(order);
    }

    pub(crate) fn propose(&mut self, order: &Order, reservation: Reservation) {
        if let Some(reserved) = self.reserved.get_mut(&order.id) {
            reserved.proposed = Some(reservation);
        }
        self.update(order);
    }

    /// The terms stand as they are; a finished order reserves nothing.
    pub(crate) fn settle(&mut self, order: &Order) {
        if !order.is_open() {
            self.reserved.remove(&order.id);
        } else if let Some(reserved) = self.reserved.get_mut(&order.id) {
            let accepted = reserved.proposed.take().filter(|proposed| proposed.quantity == order.terms.quantity);
            reserved.now = Reservation { quantity: order.terms.quantity, ..accepted.unwrap_or(reserved.now) };
        }
        self.update(order);
    }

    /// Brings the totals up to the order's present state.
    pub(crate) fn update(&mut self, order: &Order) {
        if let Some(old) = self.contributions.remove(&order.id) {
            self.add(&old.negated());
        }
        if !order.is_open() {
            self.reserved.remove(&order.id);
            return;
        }
        let Some(reserved) = self.reserved.get(&order.id) else { return };
        let contribution = contribution(order, reserved);
        self.add(&contribution);
        self.contributions.insert(order.id, contribution);
    }

    pub(crate) fn rebuild<'a>(&mut self, orders: impl Iterator<Item = &'a Order>) {
        orders.for_each(|order| self.update(order));
    }

    fn add(&mut self, part: &Contribution) {
        for scope in part.scopes {
            let mut totals = self.totals(scope);
            totals.add(part);
            self.totals.insert(scope, totals);
            let mut sides = self.open_quantities(scope, part.security);
            sides.add(part);
            self.open_quantities.insert((scope, part.security), sides);
        }
    }
}

fn contribution(order: &Order, reserved: &Reserved) -> Contribution {
    let remaining = |reservation: &Reservation| {
        if !order.state.is_working() {
            return Quantity::ZERO;
        }
        reservation.quantity.minus(order.filled).unwrap_or(Quantity::ZERO).max(Quantity::ZERO)
    };
    let part = |reservation: &Reservation| {
        let quantity = remaining(reservation);
        let times = |unit: Amount| unit.times(quantity.0).unwrap_or(LARGEST);
        (quantity, times(reservation.unit_notional), times(reservation.unit_cash))
    };
    let now = part(&reserved.now);
    let (quantity, notional, cash) = match reserved.proposed.as_ref().map(part) {
        Some(then) => (now.0.max(then.0), now.1.max(then.1), now.2.max(then.2)),
        None => now,
    };
    let scopes = scopes(order.account, order.strategy, order.security);
    Contribution { side: order.side, scopes, security: order.security, quantity, notional, cash }
}

/// Stands for an amount that does not fit; the gate computed the same product before and refused it.
const LARGEST: Amount = Amount(domain::Decimal::MAX);

impl Contribution {
    fn negated(&self) -> Self {
        Self {
            quantity: self.quantity.negated(),
            notional: self.notional.negated(),
            cash: self.cash.negated(),
            ..*self
        }
    }

    fn is_removal(&self) -> bool {
        self.quantity.is_negative() || self.notional.is_negative() || self.cash.is_negative()
    }
}

impl Totals {
    fn add(&mut self, part: &Contribution) {
        let counted = if part.is_removal() { self.orders.checked_sub(1) } else { self.orders.checked_add(1) };
        self.orders = counted.unwrap_or(0);
        let side = match part.side {
            Side::Buy => &mut self.buys,
            Side::Sell => &mut self.sells,
        };
        *side = sum(*side, part.notional);
        self.cash = sum(self.cash, part.cash);
    }
}

impl Sides {
    fn add(&mut self, part: &Contribution) {
        let side = match part.side {
            Side::Buy => &mut self.buys,
            Side::Sell => &mut self.sells,
        };
        *side = side.plus(part.quantity).unwrap_or(*side);
    }
}

/// The gate refuses an order whose notional would carry a total out of range, so this does not overflow.
fn sum(total: Amount, part: Amount) -> Amount {
    total.plus(part).unwrap_or(total)
}
