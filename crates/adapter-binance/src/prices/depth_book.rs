//! Local order book from a depth snapshot and differences, by the venue's rules.
//!
//! Each difference names the updates that it covers. One that does not follow the book's last update shows that another
//! was lost: the book is discarded at once and built again from a new snapshot. A book that is shown is never crossed.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use domain::Decimal;

use crate::protocol::answers::market_answers::{DepthSnapshot, WireLevel};
use crate::protocol::market_events::DepthDifference;

/// Differences that wait for a snapshot; with one more the oldest are dropped, and a newer snapshot is needed.
pub const BUFFERED_DIFFERENCES_MAX: usize = 4_096;

/// What a message did to the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DepthStep {
    /// It is newer.
    Updated,
    /// All that the message has was known.
    Known,
    /// There is no book yet; the difference waits for the snapshot.
    Buffered,
    /// The snapshot is older than the first difference that waits: ask for a newer one.
    StaleSnapshot,
    /// The book is discarded: ask for a snapshot.
    Discarded(DepthGap),
}

/// Why a book cannot be continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DepthGap {
    /// Updates between these two did not come.
    Missed { after: i64, before: i64 },
    /// Best bid and best ask contradict each other.
    Crossed { bid: Decimal, ask: Decimal },
    /// A difference that ends before it begins, or a negative quantity.
    Malformed { update: i64 },
}

/// Book of one symbol.
#[derive(Debug, Clone, Default)]
pub struct DepthBook {
    /// The update that the book is at; `None` while there is no book.
    last: Option<i64>,
    bids: BTreeMap<Decimal, Decimal>,
    asks: BTreeMap<Decimal, Decimal>,
    /// Worst prices of a snapshot that was cut at its limit; beyond them levels may be missing.
    bid_edge: Option<Decimal>,
    ask_edge: Option<Decimal>,
    waiting: VecDeque<DepthDifference>,
}

impl DepthBook {
    /// Whether there is a book to show.
    pub fn is_ready(&self) -> bool {
        self.last.is_some()
    }

    /// The update that the book is at.
    pub fn last_update(&self) -> Option<i64> {
        self.last
    }

    /// Applies a difference, or keeps it until there is a snapshot.
    pub fn on_difference(&mut self, difference: DepthDifference) -> DepthStep {
        match self.last {
            Some(last) => self.continue_from(last, &difference),
            None => self.buffer(difference),
        }
    }

    /// Begins the book with a snapshot of at most `limit` levels on each side.
    pub fn on_snapshot(&mut self, snapshot: &DepthSnapshot, limit: usize) -> DepthStep {
        let last = snapshot.last_update.0;
        if self.last.is_some_and(|known| last <= known) {
            return DepthStep::Known;
        }
        if self.waiting.front().is_some_and(|first| last.saturating_add(1) < first.first) {
            return DepthStep::StaleSnapshot;
        }
        self.bids = side(&snapshot.bids);
        self.asks = side(&snapshot.asks);
        self.bid_edge = edge(&snapshot.bids, limit);
        self.ask_edge = edge(&snapshot.asks, limit);
        self.last = Some(last);
        self.apply_waiting(last)
    }

    /// Discards everything: the connection has ended.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    pub fn best_bid(&self) -> Option<WireLevel> {
        self.bids.last_key_value().map(level)
    }

    pub fn best_ask(&self) -> Option<WireLevel> {
        self.asks.first_key_value().map(level)
    }

    /// Bids, best first, as far as all levels are known.
    pub fn bids(&self) -> impl Iterator<Item = WireLevel> + '_ {
        let edge = self.bid_edge;
        self.bids.iter().rev().map(level).take_while(move |bid| edge.is_none_or(|edge| bid.price >= edge))
    }

    /// Asks, best first, as far as all levels are known.
    pub fn asks(&self) -> impl Iterator<Item = WireLevel> + '_ {
        let edge = self.ask_edge;
        self.asks.iter().map(level).take_while(move |ask| edge.is_none_or(|edge| ask.price <= edge))
    }

    /// Whether fewer than so many levels of a side are known although there may be more: time for a new snapshot.
    pub fn is_thin(&self, levels: usize) -> bool {
        let is_short = |edge: Option<Decimal>, known: usize| edge.is_some() && known < levels;
        is_short(self.bid_edge, self.bids().take(levels).count())
            || is_short(self.ask_edge, self.asks().take(levels).count())
    }

    fn buffer(&mut self, difference: DepthDifference) -> DepthStep {
        let follows = self.waiting.back().is_none_or(|newest| difference.first <= newest.last.saturating_add(1));
        if !follows || difference.last < difference.first {
            // What waits would leave a hole behind any snapshot.
            self.waiting.clear();
        }
        if self.waiting.len() >= BUFFERED_DIFFERENCES_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(difference);
        DepthStep::Buffered
    }

    fn apply_waiting(&mut self, snapshot: i64) -> DepthStep {
        let mut last = snapshot;
        for difference in std::mem::take(&mut self.waiting) {
            match self.continue_from(last, &difference) {
                DepthStep::Updated => last = difference.last,
                DepthStep::Discarded(gap) => return DepthStep::Discarded(gap),
                DepthStep::Known | DepthStep::Buffered | DepthStep::StaleSnapshot => {}
            }
        }
        match self.crossed() {
            Some(gap) => self.discard(gap, None),
            None => DepthStep::Updated,
        }
    }

    fn continue_from(&mut self, last: i64, difference: &DepthDifference) -> DepthStep {
        let is_negative = |level: &WireLevel| level.quantity < Decimal::ZERO || level.price < Decimal::ZERO;
        let mut levels = difference.bids.iter().chain(&difference.asks);
        if difference.last < difference.first || levels.any(is_negative) {
            return self.discard(DepthGap::Malformed { update: difference.first }, None);
        }
        if difference.last <= last {
            return DepthStep::Known;
        }
        if difference.first > last.saturating_add(1) {
            // The difference itself is good, and a snapshot may be followed by it.
            return self.discard(DepthGap::Missed { after: last, before: difference.first }, Some(difference.clone()));
        }
        difference.bids.iter().for_each(|level| set(&mut self.bids, level));
        difference.asks.iter().for_each(|level| set(&mut self.asks, level));
        self.last = Some(difference.last);
        match self.crossed() {
            Some(gap) => self.discard(gap, None),
            None => DepthStep::Updated,
        }
    }

    fn crossed(&self) -> Option<DepthGap> {
        let (bid, ask) = (self.best_bid()?.price, self.best_ask()?.price);
        (bid >= ask).then_some(DepthGap::Crossed { bid, ask })
    }

    fn discard(&mut self, gap: DepthGap, keep: Option<DepthDifference>) -> DepthStep {
        self.reset();
        self.waiting.extend(keep);
        DepthStep::Discarded(gap)
    }
}

fn level((price, quantity): (&Decimal, &Decimal)) -> WireLevel {
    WireLevel { price: *price, quantity: *quantity }
}

fn side(levels: &[WireLevel]) -> BTreeMap<Decimal, Decimal> {
    let mut side = BTreeMap::new();
    levels.iter().for_each(|level| set(&mut side, level));
    side
}

fn set(side: &mut BTreeMap<Decimal, Decimal>, level: &WireLevel) {
    if level.quantity.is_zero() {
        side.remove(&level.price);
    } else {
        side.insert(level.price, level.quantity);
    }
}

/// A side that has as many levels as were asked for may have more at the venue. Levels come best first.
fn edge(levels: &[WireLevel], limit: usize) -> Option<Decimal> {
    levels.last().filter(|_| levels.len() >= limit).map(|worst| worst.price)
}

impl fmt::Display for DepthGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missed { after, before } => write!(f, "the updates between {after} and {before} did not come"),
            Self::Crossed { bid, ask } => write!(f, "the best bid {bid} is not below the best ask {ask}"),
            Self::Malformed { update } => write!(f, "the difference with update {update} contradicts itself"),
        }
    }
}
