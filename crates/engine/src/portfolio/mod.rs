//! Portfolio: positions, cash and P/L, changed only by booked transactions.

mod booking;
mod books;
mod day;
mod holding;
mod reads;
mod table;
mod totals;
mod uuids;
mod valuer;

#[cfg(test)]
mod model;
#[cfg(test)]
mod stories;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use domain::{
    Amount, Currency, Decimal, Event, Mark, PortfolioValue, PositionId, SecurityId, StrategyId, Timestamp, Transaction,
};
use minicbor::{Decode, Encode};

use self::books::{Books, CashKey, Effect, Entry, PositionKey, Row, id_at};
use self::day::Day;
use self::holding::{Contract, Holding};
use self::table::Table;
use self::totals::Totals;
use self::uuids::TakenUuids;
use crate::outbox::Outbox;

pub(crate) use self::booking::Booking;
pub(crate) use self::totals::Exposure;
pub(crate) use self::valuer::Valuer;

/// 10^18. No quantity, cost, P/L, balance or value exceeds it, so all sums fit.
const AMOUNT_MAX: Decimal = Decimal::from_parts(0xa764_0000, 0x0de0_b6b3, 0, false, 0);

/// Values that changed only by market prices are published this often.
const PUBLISH_EVERY_MILLIS: i64 = 1_000;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Portfolio {
    #[n(0)]
    live: Books,
    /// The fold of all transactions before today, from them alone: with today's it verifies the live books.
    #[n(1)]
    baseline: Books,
    /// Newest last.
    #[n(2)]
    today: Vec<Entry>,
    #[n(3)]
    taken: TakenUuids,
    #[n(4)]
    day: Day,
    /// Positions whose value moved since it was published.
    #[n(5)]
    moved: BTreeSet<PositionId>,
    #[n(6)]
    published: BTreeMap<StrategyId, PortfolioValue>,
    #[n(7)]
    published_at: Timestamp,
    /// Currencies for which a missing rate was reported.
    #[n(8)]
    unrated: BTreeSet<Currency>,
    /// Securities of transactions that moved only cash.
    #[n(9)]
    named: BTreeSet<SecurityId>,
    /// Booked before today and dated today or later, oldest booking first.
    #[cbor(n(10), with = "ahead", default)]
    ahead: Vec<Arc<Transaction>>,
    #[cbor(skip)]
    totals: Totals,
}

impl Portfolio {
    /// Recomputes what is not encoded: needed after every decode, and when reference data or base currency changed.
    pub(crate) fn refresh(&mut self, valuer: &Valuer<'_>) {
        self.totals = Totals::default();
        for place in 0..self.live.positions.rows().len() {
            value(&self.live, &mut self.totals, place, valuer);
        }
        for (key, amount) in self.live.cash.rows() {
            self.totals.put_cash(*key, Amount::ZERO, *amount);
        }
        for (key, flow) in &self.day.flows {
            self.totals.add_flow(*key, *flow);
        }
    }

    /// Commits a plan. It must be the newest: nothing else was booked since.
    pub(crate) fn commit(&mut self, booking: Booking, valuer: &Valuer<'_>, out: &mut Outbox) {
        let Booking { entry, effect, flow } = booking;
        let contract = entry.contract;
        out.publish(Event::Transaction(entry.transaction.clone()));
        self.open_scopes(&effect);
        self.note(Entry { booked_at: valuer.at, ..entry });
        if let Some((key, flow)) = flow {
            self.put_flow(key, flow);
        }
        if let Some(row) = effect.position {
            self.put_position(row, contract, valuer, out);
        }
        for row in effect.cash.into_iter().flatten() {
            self.put_cash(row, valuer, out);
        }
    }

    /// A new scope began the day with nothing.
    fn open_scopes(&mut self, effect: &Effect) {
        for scope in effect.opened_scopes(&self.live) {
            if !self.totals.knows(scope) {
                self.day.sample(scope, Amount::ZERO);
            }
        }
    }

    fn note(&mut self, entry: Entry) {
        let booked = &entry.transaction;
        self.taken.take(booked.uuid, booked.id);
        self.named.extend(booked.security.filter(|_| entry.contract.is_none()));
        self.today.push(entry);
    }

    fn put_flow(&mut self, key: CashKey, flow: Amount) {
        self.totals.add_flow(key, flow);
        let sum = self.day.flows.entry(key).or_insert(Amount::ZERO);
        *sum = sum.plus(flow).expect("the plan has added it up");
    }

    fn put_position(
        &mut self,
        row: Row<PositionKey, Holding>,
        contract: Option<Contract>,
        valuer: &Valuer<'_>,
        out: &mut Outbox,
    ) {
        let holding = Holding { changed_at: valuer.at, ..row.value };
        let valued = valuer.value(row.key.security, contract, &holding);
        self.live.positions.put(row.place, row.key, holding);
        self.totals.put_position(row.place, row.key, holding.currency, &valued);
        let position = reads::position(row.place, row.key, &holding, &valued);
        self.moved.remove(&position.id);
        out.publish(Event::Position(Arc::new(position)));
    }

    fn put_cash(&mut self, row: Row<CashKey, Amount>, valuer: &Valuer<'_>, out: &mut Outbox) {
        let before = self.live.cash.row(row.place).map(|(_, amount)| *amount);
        self.live.cash.put(row.place, row.key, row.value);
        self.totals.put_cash(row.key, before.unwrap_or(Amount::ZERO), row.value);
        out.publish(Event::Cash(Arc::new(reads::cash_balance(row.place, row.key, row.value))));
        if before.is_none() {
            self.warn_of_missing_rate(row.key.currency, valuer, out);
        }
    }

    /// New prices: values change at once, and are published once a second where they changed.
    pub(crate) fn revalue(&mut self, changed: &[Mark], valuer: &Valuer<'_>, out: &mut Outbox) {
        for mark in changed {
            self.revalue_holders(mark.security, valuer);
        }
        if valuer.at >= self.published_at.plus_millis(PUBLISH_EVERY_MILLIS) {
            self.publish(valuer, out);
        }
    }

    fn revalue_holders(&mut self, security: SecurityId, valuer: &Valuer<'_>) {
        for holder in 0..self.totals.places(security).len() {
            let place = self.totals.places(security)[holder];
            if value(&self.live, &mut self.totals, place, valuer) {
                self.moved.insert(PositionId(id_at(place)));
            }
        }
    }

    /// Publishes the values of positions and strategies that changed.
    pub(crate) fn publish(&mut self, valuer: &Valuer<'_>, out: &mut Outbox) {
        self.published_at = valuer.at;
        for id in std::mem::take(&mut self.moved) {
            self.tell_position(id, out);
        }
        for currency in self.totals.currencies().collect::<BTreeSet<_>>() {
            self.warn_of_missing_rate(currency, valuer, out);
        }
        self.sample_day(valuer);
        for value in self.values(valuer, None) {
            self.tell_value(value, out);
        }
    }

    fn tell_position(&self, id: PositionId, out: &mut Outbox) {
        if let Some(position) = self.position(id) {
            out.publish(Event::Position(Arc::new(position)));
        }
    }

    fn tell_value(&mut self, value: PortfolioValue, out: &mut Outbox) {
        let unchanged = |last: &PortfolioValue| PortfolioValue { at: value.at, ..last.clone() } == value;
        if self.published.get(&value.strategy).is_some_and(unchanged) {
            return;
        }
        self.published.insert(value.strategy, value.clone());
        out.publish(Event::Portfolio(Arc::new(value)));
    }

    /// One warning per currency; another only after its rate was known in between.
    fn warn_of_missing_rate(&mut self, currency: Currency, valuer: &Valuer<'_>, out: &mut Outbox) {
        if valuer.marks.rate(currency, valuer.base).is_some() {
            self.unrated.remove(&currency);
        } else if self.unrated.insert(currency) {
            out.warn("no-rate", format!("{currency} has no rate to {}: values in {0} are not known", valuer.base));
        }
    }

    fn sample_day(&mut self, valuer: &Valuer<'_>) {
        let worths = self.totals.scopes().filter_map(|scope| Some((scope, self.worth(scope, valuer)?)));
        for (scope, worth) in worths.collect::<Vec<_>>() {
            self.day.sample(scope, worth);
        }
    }

    /// Ends the platform day: today's transactions go into the baseline, and every scope starts again.
    pub(crate) fn roll(&mut self, day_start: Timestamp, valuer: &Valuer<'_>) {
        self.baseline = self.rebuilt();
        self.ahead.extend(self.today.drain(..).map(|entry| entry.transaction));
        self.ahead.retain(|booked| booked.at >= day_start);
        self.day = Day::begin(valuer.at);
        self.refresh(valuer);
        self.sample_day(valuer);
    }

    /// Recomputes positions from the recorded transactions; differences are corrected and published.
    pub(crate) fn reset_positions(&mut self, valuer: &Valuer<'_>, out: &mut Outbox) {
        let right = self.rebuilt().positions;
        let wrong = std::mem::replace(&mut self.live.positions, right);
        self.refresh(valuer);
        for place in corrected(&wrong, &self.live.positions) {
            self.tell_position(PositionId(id_at(place)), out);
        }
    }

    /// Recomputes cash from the recorded transactions; differences are corrected and published.
    pub(crate) fn reset_cash(&mut self, valuer: &Valuer<'_>, out: &mut Outbox) {
        let right = self.rebuilt().cash;
        let wrong = std::mem::replace(&mut self.live.cash, right);
        self.refresh(valuer);
        for place in corrected(&wrong, &self.live.cash) {
            let (key, amount) = self.live.cash.rows()[place];
            out.publish(Event::Cash(Arc::new(reads::cash_balance(place, key, amount))));
        }
    }

    fn rebuilt(&self) -> Books {
        let mut books = self.baseline.clone();
        for entry in &self.today {
            let effect = books.effect(entry).expect("what was booked fits");
            books.apply(&effect);
        }
        books
    }
}

/// Whether an amount is at most [`AMOUNT_MAX`]. One with no more digits is within, wherever its point is.
fn is_within_bound(amount: Decimal) -> bool {
    amount.mantissa().unsigned_abs() <= AMOUNT_MAX.mantissa().unsigned_abs() || amount.abs() <= AMOUNT_MAX
}

/// Updates the value of a position; returns whether it changed.
fn value(books: &Books, totals: &mut Totals, place: usize, valuer: &Valuer<'_>) -> bool {
    let Some((key, holding)) = books.positions.row(place) else { return false };
    let new = valuer.value(key.security, valuer.contract(key.security), holding);
    totals.put_position(place, *key, holding.currency, &new)
}

/// The rows where the correct table differs from the current one.
fn corrected<K: Copy + Eq + Hash, V: PartialEq>(wrong: &Table<K, V>, right: &Table<K, V>) -> Vec<usize> {
    let rows = right.rows().iter().enumerate();
    rows.filter(|(place, row)| wrong.row(*place) != Some(row)).map(|(place, _)| place).collect()
}

/// Shared values are encoded as the values.
mod ahead {
    use std::sync::Arc;

    use domain::Transaction;
    use minicbor::{Decoder, Encoder};

    pub(super) fn encode<C, W: minicbor::encode::Write>(
        values: &[Arc<Transaction>],
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        crate::codec::encode_shared(values.iter(), e, ctx)
    }

    pub(super) fn decode<C>(
        d: &mut Decoder<'_>,
        ctx: &mut C,
    ) -> Result<Vec<Arc<Transaction>>, minicbor::decode::Error> {
        crate::codec::decode_shared(d, ctx)
    }
}
