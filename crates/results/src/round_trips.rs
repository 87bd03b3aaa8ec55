//! Round trips: from the fill that opens a position to the one that closes it. A fill that flips a position ends one
//! trip and begins the next. Amounts are converted when they are booked, as those of positions are, so that the result
//! of a trip is the realised P/L of its position.

use std::collections::BTreeMap;

use domain::{AccountId, Decimal, SecurityId, Side, StrategyId, Timestamp, Transaction};

use crate::rates::to_f64;

const NANOS_PER_DAY: f64 = 86_400e9;

#[derive(Debug, Clone, PartialEq)]
pub struct RoundTrip {
    pub strategy: StrategyId,
    pub security: SecurityId,
    pub opened_at: Timestamp,
    pub closed_at: Timestamp,
    pub side: Side,
    /// The total quantity bought (for a short: sold) during the trip.
    pub quantity: f64,
    pub entry_price: f64,
    pub exit_price: f64,
    /// Positive, in base currency like the two results.
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

type TripKey = (StrategyId, AccountId, SecurityId);

/// The open trips.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    open: BTreeMap<TripKey, OpenTrip>,
}

/// A buy or sell of a security.
#[derive(Clone, Copy)]
pub(crate) struct TripBooking<'a> {
    pub(crate) booked: &'a Transaction,
    pub(crate) security: SecurityId,
    pub(crate) contract_size: f64,
    /// The rate of its currency to the base currency; absent where it is unknown.
    pub(crate) rate: Option<f64>,
}

#[derive(Debug)]
struct OpenTrip {
    at: Timestamp,
    /// Signed, exact: a trip ends at zero, not near zero.
    quantity: Decimal,
    entered: f64,
    entry_value: f64,
    /// Cost of the open quantity.
    cost: f64,
    left: f64,
    exit_value: f64,
    /// In base currency like costs: proceeds of the closed quantity, and its cost. Unknown once a part had no rate.
    left_in_base: Option<(f64, f64)>,
    costs: f64,
}

/// A quantity at a price.
#[derive(Clone, Copy)]
struct TripPart {
    quantity: Decimal,
    price: f64,
    contract_size: f64,
    cost_each: f64,
    rate: Option<f64>,
}

impl RoundTrips {
    /// Returns the trip that a booking ends; without a result where a part of it could not be converted.
    pub(crate) fn book(&mut self, booking: TripBooking<'_>) -> Option<Result<RoundTrip, MissingRate>> {
        let booked = booking.booked;
        let key = (booked.strategy, booked.account, booking.security);
        let part = TripPart::from_booking(&booking);
        let Some(open) = self.open.get_mut(&key) else {
            self.open.insert(key, OpenTrip::new(booked.at, part));
            return None;
        };
        if open.quantity.is_sign_negative() == part.quantity.is_sign_negative() {
            open.enter(part);
            return None;
        }
        let closing = if part.quantity.abs() > open.quantity.abs() { -open.quantity } else { part.quantity };
        open.leave(TripPart { quantity: closing, ..part });
        if !open.quantity.is_zero() {
            return None;
        }
        let ended = self.open.remove(&key).map(|open| open.ended(key, booked.at, closing));
        let beyond = part.quantity - closing;
        if !beyond.is_zero() {
            self.open.insert(key, OpenTrip::new(booked.at, TripPart { quantity: beyond, ..part }));
        }
        ended
    }
}

/// The result of a trip is unknown, because a rate is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingRate;

impl TripPart {
    fn from_booking(booking: &TripBooking<'_>) -> Self {
        let TripBooking { booked, contract_size, rate, .. } = *booking;
        let (quantity, price) = (booked.quantity.0, to_f64(booked.price.0));
        Self { quantity, price, contract_size, cost_each: costs(booked) / to_f64(quantity.abs()), rate }
    }

    fn units(&self) -> f64 {
        to_f64(self.quantity.abs())
    }

    fn costs_in_base(&self) -> f64 {
        self.rate.map_or(0.0, |rate| self.units() * self.cost_each * rate)
    }
}

impl OpenTrip {
    fn new(at: Timestamp, part: TripPart) -> Self {
        let mut open = Self {
            at,
            quantity: Decimal::ZERO,
            entered: 0.0,
            entry_value: 0.0,
            cost: 0.0,
            left: 0.0,
            exit_value: 0.0,
            left_in_base: Some((0.0, 0.0)),
            costs: 0.0,
        };
        open.enter(part);
        open
    }

    fn enter(&mut self, part: TripPart) {
        self.quantity += part.quantity;
        let value = part.units() * part.price;
        self.entered += part.units();
        self.entry_value += value;
        self.cost += value;
        self.costs += part.costs_in_base();
    }

    /// At average cost, as for positions.
    fn leave(&mut self, part: TripPart) {
        let value = part.units() * part.price;
        let taken = self.cost * to_f64(part.quantity.abs() / self.quantity.abs());
        let rated = self.left_in_base.zip(part.rate.map(|rate| rate * part.contract_size));
        self.left_in_base = rated.map(|((received, cost), size)| (received + value * size, cost + taken * size));
        self.quantity += part.quantity;
        self.cost -= taken;
        self.left += part.units();
        self.exit_value += value;
        self.costs += part.costs_in_base();
    }

    fn ended(self, key: TripKey, at: Timestamp, closing: Decimal) -> Result<RoundTrip, MissingRate> {
        let is_long = closing.is_sign_negative();
        let (received, cost) = self.left_in_base.ok_or(MissingRate)?;
        let gross = if is_long { received - cost } else { cost - received };
        Ok(RoundTrip {
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
        })
    }
}

/// All charges of a booking.
pub(crate) fn costs(booked: &Transaction) -> f64 {
    to_f64(booked.execution_commission.0) + to_f64(booked.clearing_commission.0) + to_f64(booked.fee.0)
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
            charges: vec![],
            venue_kind: None,
            liquidity: None,
        }
    }

    fn trips(bookings: &[(i64, i64, i64, i64)]) -> Vec<(Side, f64, f64, f64, f64, f64)> {
        let rated: Vec<_> = bookings.iter().map(|booking| (*booking, Some(1.0))).collect();
        let ended = rated_trips(&rated).into_iter().map(Result::unwrap);
        ended.map(|trip| (trip.side, trip.quantity, trip.entry_price, trip.exit_price, trip.costs, trip.net)).collect()
    }

    type Rated = ((i64, i64, i64, i64), Option<f64>);

    fn rated_trips(bookings: &[Rated]) -> Vec<Result<RoundTrip, MissingRate>> {
        let mut trips = RoundTrips::default();
        let book = |((at, quantity, price, fee), rate): &Rated| {
            let booked = &booked(*at, *quantity, *price, *fee);
            trips.book(TripBooking { booked, security: SecurityId(7), contract_size: 1.0, rate: *rate })
        };
        bookings.iter().filter_map(book).collect()
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
    /// Two at 10, one out at 14 when a euro is 2 dollars, the other at 12 when it is 3; each costs a euro.
    #[test]
    fn every_part_counts_at_the_rate_of_its_booking() {
        let found =
            rated_trips(&[((0, 2, 10, 1), Some(1.0)), ((1, -1, 14, 1), Some(2.0)), ((2, -1, 12, 1), Some(3.0))]);
        let amounts: Vec<_> = found.iter().flatten().map(|trip| (trip.gross, trip.costs, trip.net)).collect();
        assert_eq!(amounts, [(4.0 * 2.0 + 2.0 * 3.0, 1.0 + 2.0 + 3.0, 14.0 - 6.0)]);
    }

    #[test]
    fn a_trip_with_a_part_without_a_rate_has_no_result() {
        let found = rated_trips(&[((0, 2, 10, 1), Some(1.0)), ((1, -1, 14, 1), None), ((2, -1, 12, 1), Some(3.0))]);
        assert_eq!(found, [Err(MissingRate)]);
    }
}
