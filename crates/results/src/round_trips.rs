//! Round trips: a position from the fill that opens it to the one that closes it. A fill that flips a position ends one
//! trip and begins the next.

use std::collections::BTreeMap;

use domain::{AccountId, Decimal, SecurityId, Side, StrategyId, Timestamp, Transaction};

use crate::rates::float;

const NANOS_PER_DAY: f64 = 86_400e9;

#[derive(Debug, Clone, PartialEq)]
pub struct RoundTrip {
    pub strategy: StrategyId,
    pub security: SecurityId,
    pub opened_at: Timestamp,
    pub closed_at: Timestamp,
    pub side: Side,
    /// All that was bought (of a short: sold) on the way.
    pub quantity: f64,
    pub entry_price: f64,
    pub exit_price: f64,
    /// Positive, in the security's currency like the two results.
    pub costs: f64,
    pub gross: f64,
    pub net: f64,
}

impl Default for RoundTrip {
    fn default() -> Self {
        Self {
            strategy: StrategyId::SERVER,
            security: SecurityId(0),
            opened_at: Timestamp(0),
            closed_at: Timestamp(0),
            side: Side::Buy,
            quantity: 0.0,
            entry_price: 0.0,
            exit_price: 0.0,
            costs: 0.0,
            gross: 0.0,
            net: 0.0,
        }
    }
}

impl RoundTrip {
    pub fn days(&self) -> f64 {
        self.closed_at.nanos_since(self.opened_at) as f64 / NANOS_PER_DAY
    }
}

type Key = (StrategyId, AccountId, SecurityId);

/// The trips that are under way.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    open: BTreeMap<Key, Open>,
}

#[derive(Debug)]
struct Open {
    at: Timestamp,
    /// Signed, exact: a trip ends when it is zero, not when it is nearly so.
    quantity: Decimal,
    entered: f64,
    entry_value: f64,
    left: f64,
    exit_value: f64,
    costs: f64,
}

impl RoundTrips {
    /// Books a buy or sell; tells the trip that it ends.
    pub(crate) fn book(&mut self, booked: &Transaction, security: SecurityId, contract_size: f64) -> Option<RoundTrip> {
        let key = (booked.strategy, booked.account, security);
        let quantity = booked.quantity.0;
        let cost_each = costs(booked) / float(quantity.abs());
        let Some(open) = self.open.get_mut(&key) else {
            self.open.insert(key, Open::new(booked.at, quantity, float(booked.price.0), cost_each));
            return None;
        };
        if open.quantity.is_sign_negative() == quantity.is_sign_negative() {
            open.enter(quantity, float(booked.price.0), cost_each);
            return None;
        }
        let closing = if quantity.abs() > open.quantity.abs() { -open.quantity } else { quantity };
        open.leave(closing, float(booked.price.0), cost_each);
        if !open.quantity.is_zero() {
            return None;
        }
        let ended = self.open.remove(&key).map(|open| open.ended(key, booked.at, closing, contract_size));
        let beyond = quantity - closing;
        if !beyond.is_zero() {
            self.open.insert(key, Open::new(booked.at, beyond, float(booked.price.0), cost_each));
        }
        ended
    }
}

impl Open {
    fn new(at: Timestamp, quantity: Decimal, price: f64, cost_each: f64) -> Self {
        let mut open = Self {
            at,
            quantity: Decimal::ZERO,
            entered: 0.0,
            entry_value: 0.0,
            left: 0.0,
            exit_value: 0.0,
            costs: 0.0,
        };
        open.enter(quantity, price, cost_each);
        open
    }

    fn enter(&mut self, quantity: Decimal, price: f64, cost_each: f64) {
        self.quantity += quantity;
        let units = float(quantity.abs());
        self.entered += units;
        self.entry_value += units * price;
        self.costs += units * cost_each;
    }

    fn leave(&mut self, quantity: Decimal, price: f64, cost_each: f64) {
        self.quantity += quantity;
        let units = float(quantity.abs());
        self.left += units;
        self.exit_value += units * price;
        self.costs += units * cost_each;
    }

    fn ended(self, key: Key, at: Timestamp, closing: Decimal, contract_size: f64) -> RoundTrip {
        let is_long = closing.is_sign_negative();
        let sign = if is_long { 1.0 } else { -1.0 };
        let gross = (self.exit_value - self.entry_value) * contract_size * sign;
        RoundTrip {
            strategy: key.0,
            security: key.2,
            opened_at: self.at,
            closed_at: at,
            side: if is_long { Side::Buy } else { Side::Sell },
            quantity: self.entered,
            entry_price: self.entry_value / self.entered,
            exit_price: self.exit_value / self.left,
            costs: self.costs,
            gross,
            net: gross - self.costs,
        }
    }
}

/// All charges of a booking.
pub(crate) fn costs(booked: &Transaction) -> f64 {
    float(booked.execution_commission.0) + float(booked.clearing_commission.0) + float(booked.fee.0)
}

#[cfg(test)]
mod tests {
    use domain::{Amount, Currency, Price, Quantity, TransactionId, TransactionKind, Uuid};

    use super::*;

    fn booked(at: i64, quantity: i64, price: i64, fee: i64) -> Transaction {
        Transaction {
            id: TransactionId(1),
            uuid: Uuid(1),
            at: Timestamp(at),
            settlement_date: None,
            ext_id: None,
            int_order_id: None,
            ext_order_id: None,
            kind: if quantity > 0 { TransactionKind::Buy } else { TransactionKind::Sell },
            quantity: Quantity::from(quantity),
            price: Price::from(price),
            execution_commission: Amount::ZERO,
            clearing_commission: Amount::ZERO,
            fee: Amount::from(fee),
            currency: Currency::USD,
            account: AccountId(1),
            security: Some(SecurityId(7)),
            strategy: StrategyId(2),
            description: None,
        }
    }

    fn trips(bookings: &[(i64, i64, i64, i64)]) -> Vec<(Side, f64, f64, f64, f64, f64)> {
        let mut trips = RoundTrips::default();
        let ended = bookings.iter().filter_map(|(at, quantity, price, fee)| {
            trips.book(&booked(*at, *quantity, *price, *fee), SecurityId(7), 1.0)
        });
        ended.map(|trip| (trip.side, trip.quantity, trip.entry_price, trip.exit_price, trip.costs, trip.net)).collect()
    }

    #[test]
    fn a_position_built_in_two_and_left_in_two_is_one_trip() {
        // 100 at 10 and 100 at 20 are 200 at 15; out at 18 and 22 are 20: 200 × 5 less 4.
        let found = trips(&[(0, 100, 10, 1), (1, 100, 20, 1), (2, -50, 22, 1), (3, -150, 58, 1)]);
        let exit = (50.0 * 22.0 + 150.0 * 58.0) / 200.0;
        assert_eq!(found, [(Side::Buy, 200.0, 15.0, exit, 4.0, (exit - 15.0) * 200.0 - 4.0)]);
    }

    #[test]
    fn a_flip_ends_one_trip_and_begins_the_next_with_its_share_of_the_costs() {
        let found = trips(&[(0, 100, 10, 10), (1, -200, 12, 20), (2, 100, 11, 10)]);
        assert_eq!(found, [(Side::Buy, 100.0, 10.0, 12.0, 20.0, 180.0), (Side::Sell, 100.0, 12.0, 11.0, 20.0, 80.0)]);
    }

    #[test]
    fn an_open_position_is_no_trip_yet() {
        assert_eq!(trips(&[(0, 100, 10, 0), (1, -99, 12, 0)]), []);
    }
}
