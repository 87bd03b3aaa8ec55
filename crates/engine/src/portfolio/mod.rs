//! Portfolio: positions, cash and P/L, changed only by booked transactions.

pub(crate) mod booked_ids;
mod booking;
mod books;
mod day;
mod position_state;
mod queries;
mod last_samples;
mod sampling;
mod statements;
mod table;
mod totals;
mod valuer;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use domain::report::VenueStatement;
use domain::{
    AccountId, Amount, Currency, Event, Mark, PlantedBug, PortfolioValue, PositionId, SecurityId, StrategyId,
    Timestamp, Transaction,
};
use minicbor::{Decode, Encode};

use self::booked_ids::UsedUuids;
use self::books::{BookedTransaction, BookingEffect, CashKey, PortfolioBooks, PositionKey, TableRow, id_at};
use self::day::PortfolioDay;
use self::last_samples::LastSamples;
use self::position_state::{Contract, PositionState};
use self::table::Table;
use self::totals::PortfolioTotals;
use self::valuer::position;
use crate::outbox::Outbox;
use crate::shared::shared_list::SharedList;

pub(crate) use self::booking::BookingPlan;
pub(crate) use self::statements::{StatedAsset, StatementWindow, stated_total};
pub(crate) use self::totals::PositionExposure;
pub(crate) use self::valuer::Valuer;

/// Values that changed only by market prices are published this often.
const PUBLISH_EVERY_MILLIS: i64 = 1_000;

#[derive(Debug, Default, Encode, Decode)]
pub(crate) struct Portfolio {
    #[n(0)]
    live: PortfolioBooks,
    /// The fold of all transactions before today, from them alone: with today's it verifies the live books.
    #[n(1)]
    baseline: PortfolioBooks,
    /// Newest last.
    #[n(2)]
    today: SharedList<BookedTransaction>,
    #[n(3)]
    used_uuids: UsedUuids,
    #[n(4)]
    day: PortfolioDay,
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
    dated_ahead: Vec<Arc<Transaction>>,
    /// The last statement of each account.
    #[n(11)]
    #[cbor(default)]
    statements: BTreeMap<AccountId, VenueStatement>,
    /// Accounts whose venue is making a statement; absent where there are none.
    #[n(12)]
    windows: Option<BTreeMap<AccountId, StatementWindow>>,
    /// Absent where the value history is not sampled.
    #[n(13)]
    sampling: Option<LastSamples>,
    #[cbor(skip)]
    totals: PortfolioTotals,
}

impl Portfolio {
    /// What is written to disk: the totals and the indexes of tables are made from it.
    pub(crate) fn copy_for_disk(&self) -> Self {
        Self {
            live: self.live.copy_for_disk(),
            baseline: self.baseline.copy_for_disk(),
            today: self.today.clone(),
            used_uuids: self.used_uuids.clone(),
            day: self.day.clone(),
            moved: self.moved.clone(),
            published: self.published.clone(),
            published_at: self.published_at,
            unrated: self.unrated.clone(),
            named: self.named.clone(),
            dated_ahead: self.dated_ahead.clone(),
            statements: self.statements.clone(),
            windows: self.windows.clone(),
            sampling: self.sampling.clone(),
            totals: PortfolioTotals::default(),
        }
    }

    /// Recomputes what is not encoded: needed after every decode, and when reference data or base currency changed.
    pub(crate) fn refresh(&mut self, valuer: &Valuer<'_>) {
        self.totals = PortfolioTotals::default();
        for place in 0..self.live.positions.rows().len() {
            value(&self.live, &mut self.totals, place, valuer);
        }
        for (key, amount) in self.live.cash.rows() {
            self.totals.set_cash(*key, Amount::ZERO, *amount);
        }
        for (key, flow) in &self.day.flows {
            self.totals.add_flow(*key, *flow);
        }
    }

    /// Commits a plan. It must be the newest: nothing else was booked since.
    pub(crate) fn commit(&mut self, mut booking: BookingPlan, valuer: &Valuer<'_>, out: &mut Outbox) {
        let effect = &booking.effect;
        out.publish(Event::Transaction(booking.entry.transaction.clone()));
        self.open_scopes(effect);
        if let Some((key, flow)) = booking.flow {
            self.add_flow(key, flow);
        }
        if let Some(row) = &effect.position {
            self.set_position(row, booking.entry.contract, valuer, out);
        }
        for row in effect.cash.iter().flatten() {
            self.set_cash(row, valuer, out);
        }
        if self.windows.is_some() {
            self.update_window(effect, valuer.reference);
        }
        booking.entry.booked_at = valuer.at;
        self.append(booking.entry);
    }

    /// A new scope began the day with nothing.
    fn open_scopes(&mut self, effect: &BookingEffect) {
        for scope in effect.opened_scopes(&self.live) {
            if !self.totals.contains(scope) {
                self.day.sample(scope, Amount::ZERO);
            }
        }
    }

    fn append(&mut self, entry: BookedTransaction) {
        let booked = &entry.transaction;
        self.used_uuids.insert(booked.uuid, booked.id);
        self.named.extend(booked.security.filter(|_| entry.contract.is_none()));
        self.today.push(entry);
    }

    fn add_flow(&mut self, key: CashKey, flow: Amount) {
        self.totals.add_flow(key, flow);
        let sum = self.day.flows.entry(key).or_insert(Amount::ZERO);
        *sum = sum.plus(flow).expect("the plan has added it up");
    }

    fn set_position(
        &mut self,
        row: &TableRow<PositionKey, PositionState>,
        contract: Option<Contract>,
        valuer: &Valuer<'_>,
        out: &mut Outbox,
    ) {
        let mut holding = PositionState { changed_at: valuer.at, ..row.value };
        if PlantedBug::FlipPosition.is_planted() {
            holding.quantity.0 = -holding.quantity.0;
        }
        let valued = valuer.value(row.key.security, contract, &holding);
        self.live.positions.set(row.index, row.key, holding);
        self.totals.set_position(row.index, row.key, holding.currency, &valued);
        let position = position(row.index, row.key, &holding, &valued);
        self.moved.remove(&position.id);
        out.publish(Event::Position(Arc::new(position)));
    }

    fn set_cash(&mut self, row: &TableRow<CashKey, Amount>, valuer: &Valuer<'_>, out: &mut Outbox) {
        let before = self.live.cash.row(row.index).map(|(_, amount)| *amount);
        self.live.cash.set(row.index, row.key, row.value);
        self.totals.set_cash(row.key, before.unwrap_or(Amount::ZERO), row.value);
        out.publish(Event::Cash(Arc::new(self.balance(row.index, row.key, row.value))));
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
            self.publish_position(id, out);
        }
        for currency in self.totals.currencies().collect::<BTreeSet<_>>() {
            self.warn_of_missing_rate(currency, valuer, out);
        }
        self.sample_day(valuer);
        for value in self.values(valuer, None) {
            self.publish_value(value, out);
        }
    }

    fn publish_position(&self, id: PositionId, out: &mut Outbox) {
        if let Some(position) = self.position(id) {
            out.publish(Event::Position(Arc::new(position)));
        }
    }

    fn publish_value(&mut self, value: PortfolioValue, out: &mut Outbox) {
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

    /// The day goes on in another base currency, at the rates of now: neither its result nor a loss limit begins anew.
    pub(crate) fn change_base(&mut self, from: Currency, valuer: &Valuer<'_>) {
        self.day.convert(|amount| valuer.in_base(amount, from));
    }

    /// Ends the platform day: today's transactions go into the baseline, and every scope starts again.
    pub(crate) fn roll(&mut self, day_start: Timestamp, valuer: &Valuer<'_>) {
        self.baseline = self.rebuilt();
        self.dated_ahead.extend(self.today.take().map(|entry| entry.transaction));
        self.dated_ahead.retain(|booked| booked.at >= day_start);
        self.day = PortfolioDay::begin(valuer.at);
        self.refresh(valuer);
        self.sample_day(valuer);
    }

    /// Recomputes positions from the recorded transactions; differences are corrected and published.
    pub(crate) fn reset_positions(&mut self, valuer: &Valuer<'_>, out: &mut Outbox) {
        let right = self.rebuilt().positions;
        let wrong = std::mem::replace(&mut self.live.positions, right);
        self.refresh(valuer);
        for place in corrected(&wrong, &self.live.positions) {
            self.publish_position(PositionId(id_at(place)), out);
        }
    }

    /// Recomputes cash from the recorded transactions; differences are corrected and published.
    pub(crate) fn reset_cash(&mut self, valuer: &Valuer<'_>, out: &mut Outbox) {
        let right = self.rebuilt().cash;
        let wrong = std::mem::replace(&mut self.live.cash, right);
        self.refresh(valuer);
        for place in corrected(&wrong, &self.live.cash) {
            let (key, amount) = self.live.cash.rows()[place];
            out.publish(Event::Cash(Arc::new(self.balance(place, key, amount))));
        }
    }

    fn rebuilt(&self) -> PortfolioBooks {
        let mut books = self.baseline.clone();
        for entry in self.today.iter() {
            let effect = books.effect(entry).expect("what was booked fits");
            books.apply(&effect);
        }
        books
    }
}

/// Updates the value of a position; returns whether it changed.
fn value(books: &PortfolioBooks, totals: &mut PortfolioTotals, place: usize, valuer: &Valuer<'_>) -> bool {
    let Some((key, holding)) = books.positions.row(place) else { return false };
    let new = valuer.value(key.security, valuer.contract(key.security), holding);
    totals.set_position(place, *key, holding.currency, &new)
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
