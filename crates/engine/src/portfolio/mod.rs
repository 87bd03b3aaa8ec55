//! Transactions and what they add up to: positions, cash, P/L. Only a booked transaction changes any of it.

/// What a transaction is allowed to be, and what it will change.
mod booking;
/// Positions and cash as a fold over transactions.
mod books;
/// Where each scope began the day, and how high it has been.
mod day;
/// What a transaction does to one position.
mod holding;
/// What outsiders are shown.
mod reads;
/// Sums by platform, account, strategy and security.
mod totals;
/// Which uuids are taken.
mod uuids;
/// What a position is worth, seen from the marks.
mod valuer;

#[cfg(test)]
mod model;
#[cfg(test)]
mod stories;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::{
    Amount, Currency, Decimal, Event, Index, Mark, PortfolioValue, PositionId, SecurityId, StrategyId, Timestamp,
};
use minicbor::{Decode, Encode};

use self::books::{Balance, Books, CashKey, Effect, Entry, PositionKey};
use self::day::Day;
use self::totals::Totals;
use self::uuids::TakenUuids;
use crate::outbox::Outbox;

pub(crate) use self::booking::Booking;
pub(crate) use self::totals::Exposure;
pub(crate) use self::valuer::Valuer;

/// 10^18. No quantity, cost, P/L, balance or value grows beyond it: sums over everything then always fit.
const AMOUNT_MAX: Decimal = Decimal::from_parts(0xa764_0000, 0x0de0_b6b3, 0, false, 0);

/// Values that only the market moved are published this often.
const PUBLISH_EVERY_MILLIS: i64 = 1_000;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Portfolio {
    #[n(0)]
    live: Books,
    /// The fold of all transactions before today, made from them alone: with today's it proves the live books.
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
    moved: BTreeSet<PositionKey>,
    #[n(6)]
    published: BTreeMap<StrategyId, PortfolioValue>,
    #[n(7)]
    published_at: Timestamp,
    /// Currencies that a warning of a missing rate was raised for.
    #[n(8)]
    unrated: BTreeSet<Currency>,
    /// Securities of transactions that moved cash only.
    #[n(9)]
    named: BTreeSet<SecurityId>,
    #[cbor(skip)]
    totals: Totals,
    #[cbor(skip)]
    by_id: Index<PositionId, PositionKey>,
    #[cbor(skip)]
    by_security: Index<SecurityId, Vec<PositionKey>>,
}

impl Portfolio {
    /// Works out again what is not encoded: needed after every decode, and when reference data or base currency changed.
    pub(crate) fn refresh(&mut self, valuer: &Valuer<'_>) {
        self.totals = Totals::default();
        self.by_id = Index::default();
        self.by_security = Index::default();
        let positions: Vec<_> = self.live.positions.iter().map(|(key, holding)| (*key, holding.id)).collect();
        for (key, id) in positions {
            self.find_by(key, id);
            value(&self.live, &mut self.totals, key, valuer);
        }
        for (key, balance) in &self.live.cash {
            self.totals.put_cash(*key, Amount::ZERO, balance.amount);
        }
        for (key, flow) in &self.day.flows {
            self.totals.add_flow(*key, *flow);
        }
    }

    /// Does what was planned. The plan must be the newest: nothing else was booked since.
    pub(crate) fn commit(&mut self, booking: Booking, valuer: &Valuer<'_>, out: &mut Outbox) {
        let Booking { entry, mut effect, flow } = booking;
        if let Some((_, holding)) = &mut effect.position {
            holding.changed_at = valuer.at;
        }
        out.publish(Event::Transaction(entry.transaction.clone()));
        self.open_scopes(&effect);
        self.note(Entry { booked_at: valuer.at, ..entry });
        self.put_cash(&effect, valuer, out);
        self.live.apply(&effect);
        if let Some((key, flow)) = flow {
            self.put_flow(key, flow);
        }
        if let Some((key, holding)) = effect.position {
            self.find_by(key, holding.id);
            value(&self.live, &mut self.totals, key, valuer);
            self.tell_position(key, out);
        }
        effect.cash.iter().flatten().for_each(|(key, balance)| tell_cash(key, balance, out));
    }

    fn note(&mut self, entry: Entry) {
        let booked = &entry.transaction;
        self.taken.take(booked.uuid, booked.id);
        self.named.extend(booked.security.filter(|_| entry.contract.is_none()));
        self.today.push(entry);
    }

    /// A scope that was never seen began the day with nothing.
    fn open_scopes(&mut self, effect: &Effect) {
        for scope in effect.opened_scopes(&self.live) {
            if !self.totals.knows(scope) {
                self.day.sample(scope, Amount::ZERO);
            }
        }
    }

    fn put_cash(&mut self, effect: &Effect, valuer: &Valuer<'_>, out: &mut Outbox) {
        for (key, balance) in effect.cash.iter().flatten() {
            let before = self.live.cash.get(key).map(|balance| balance.amount);
            self.totals.put_cash(*key, before.unwrap_or(Amount::ZERO), balance.amount);
            if before.is_none() {
                self.warn_of_missing_rate(key.currency, valuer, out);
            }
        }
    }

    fn put_flow(&mut self, key: CashKey, flow: Amount) {
        self.totals.add_flow(key, flow);
        let sum = self.day.flows.entry(key).or_insert(Amount::ZERO);
        *sum = sum.plus(flow).expect("amounts are bounded");
    }

    fn find_by(&mut self, key: PositionKey, id: PositionId) {
        if self.by_id.insert(id, key).is_some() {
            return;
        }
        match self.by_security.get_mut(&key.security) {
            Some(keys) => keys.push(key),
            None => drop(self.by_security.insert(key.security, vec![key])),
        }
    }

    fn tell_position(&mut self, key: PositionKey, out: &mut Outbox) {
        self.moved.remove(&key);
        out.publish(Event::Position(Arc::new(self.picture(key))));
    }

    /// New prices: values follow at once, and are published once a second where they changed.
    pub(crate) fn revalue(&mut self, changed: &[Mark], valuer: &Valuer<'_>, out: &mut Outbox) {
        let held = changed.iter().filter_map(|mark| self.by_security.get(&mark.security)).flatten();
        self.moved.extend(held.filter(|key| value(&self.live, &mut self.totals, **key, valuer)));
        if valuer.at >= self.published_at.plus_millis(PUBLISH_EVERY_MILLIS) {
            self.publish(valuer, out);
        }
    }

    fn publish(&mut self, valuer: &Valuer<'_>, out: &mut Outbox) {
        self.published_at = valuer.at;
        for key in std::mem::take(&mut self.moved) {
            self.tell_position(key, out);
        }
        for currency in self.totals.currencies().collect::<Vec<_>>() {
            self.warn_of_missing_rate(currency, valuer, out);
        }
        self.sample_day(valuer);
        for value in self.values(valuer, None) {
            self.tell_value(value, out);
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

    /// One warning for each currency, and another only when its rate was there in between.
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

    /// Ends the platform day: today's transactions go into the baseline, and every scope starts anew.
    pub(crate) fn roll(&mut self, valuer: &Valuer<'_>) {
        self.baseline = self.rebuilt();
        self.today.clear();
        self.day = Day::begin(valuer.at);
        self.refresh(valuer);
        self.sample_day(valuer);
    }

    /// Positions as the recorded transactions give them; what differs is corrected and published.
    pub(crate) fn reset_positions(&mut self, valuer: &Valuer<'_>, out: &mut Outbox) {
        let right = self.rebuilt();
        let wrong = std::mem::replace(&mut self.live.positions, right.positions);
        self.live.last_position = self.live.last_position.max(right.last_position);
        self.refresh(valuer);
        let positions = self.live.positions.iter();
        let corrected = positions.filter(|(key, holding)| wrong.get(key) != Some(holding));
        for key in corrected.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.tell_position(key, out);
        }
    }

    /// Cash as the recorded transactions give it; what differs is corrected and published.
    pub(crate) fn reset_cash(&mut self, valuer: &Valuer<'_>, out: &mut Outbox) {
        let right = self.rebuilt();
        let wrong = std::mem::replace(&mut self.live.cash, right.cash);
        self.live.last_balance = self.live.last_balance.max(right.last_balance);
        self.refresh(valuer);
        let corrected = self.live.cash.iter().filter(|(key, balance)| wrong.get(key) != Some(balance));
        corrected.for_each(|(key, balance)| tell_cash(key, balance, out));
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

/// Brings the value of a position up to date; tells whether it moved.
fn value(books: &Books, totals: &mut Totals, key: PositionKey, valuer: &Valuer<'_>) -> bool {
    let Some(holding) = books.positions.get(&key) else { return false };
    let new = valuer.value(key.security, holding);
    totals.put_position(key, holding.currency, new) != new
}

fn tell_cash(key: &CashKey, balance: &Balance, out: &mut Outbox) {
    out.publish(Event::Cash(Arc::new(reads::cash_balance(key, balance))));
}
