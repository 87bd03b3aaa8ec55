//! Model of positions and cash: all bookings from the first, folded again each time.

use std::collections::BTreeMap;

use domain::amount::divide;
use domain::{AccountId, Currency, Decimal, Security, SecurityId, StrategyId, TransactionKind};

/// One booked transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Booking {
    pub(crate) kind: TransactionKind,
    pub(crate) strategy: StrategyId,
    pub(crate) account: AccountId,
    /// Absent where only cash moves.
    pub(crate) security: Option<SecurityId>,
    pub(crate) quantity: Decimal,
    pub(crate) price: Decimal,
    pub(crate) costs: Decimal,
    pub(crate) currency: Currency,
}

pub(crate) type PositionKey = (StrategyId, AccountId, SecurityId);
pub(crate) type CashKey = (StrategyId, AccountId, Currency);

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Books {
    pub(crate) positions: BTreeMap<PositionKey, Lot>,
    pub(crate) cash: BTreeMap<CashKey, Decimal>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lot {
    pub(crate) quantity: Decimal,
    pub(crate) cost: Decimal,
    pub(crate) realized: Decimal,
}

impl Books {
    pub(crate) fn of(bookings: &[Booking], securities: &[Security]) -> Self {
        let mut books = Self::default();
        bookings.iter().for_each(|booking| books.fold(booking, securities));
        books.cash.retain(|_, amount| !amount.is_zero());
        books
    }

    fn fold(&mut self, booking: &Booking, securities: &[Security]) {
        self.pay(booking, -booking.costs);
        let Some(id) = booking.security else { return self.pay(booking, booking.quantity * booking.price) };
        let security = securities.iter().find(|security| security.id == id).unwrap();
        let unit = booking.price * security.contract_size;
        let lot = self.positions.entry((booking.strategy, booking.account, id)).or_default();
        let before = lot.realized;
        lot.trade(booking.quantity, unit);
        let realized = lot.realized - before;
        match booking.kind {
            _ if security.is_margined() => self.pay(booking, realized),
            TransactionKind::Transfer => {}
            _ => self.pay(booking, -booking.quantity * unit),
        }
    }

    fn pay(&mut self, booking: &Booking, amount: Decimal) {
        *self.cash.entry((booking.strategy, booking.account, booking.currency)).or_default() += amount;
    }
}

impl Lot {
    /// First what closes, then what opens.
    fn trade(&mut self, change: Decimal, unit: Decimal) {
        let is_closing = self.quantity * change < Decimal::ZERO;
        let closed = if is_closing { self.quantity.abs().min(change.abs()) } else { Decimal::ZERO };
        if is_closing {
            let sign = sign_of(self.quantity);
            let in_proportion = divide(self.cost * closed, self.quantity.abs()).unwrap();
            let taken = if closed == self.quantity.abs() { self.cost } else { in_proportion };
            self.realized += sign * closed * unit - taken;
            self.cost -= taken;
            self.quantity -= sign * closed;
        }
        let opened = change - sign_of(change) * closed;
        self.quantity += opened;
        self.cost += opened * unit;
    }
}

fn sign_of(amount: Decimal) -> Decimal {
    if amount.is_sign_negative() { Decimal::NEGATIVE_ONE } else { Decimal::ONE }
}
