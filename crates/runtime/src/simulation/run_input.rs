//! What a simulation is given, what it came to, and why it ends early; and its progress, readable from another thread, which
//! finds a callback that does not return.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicUsize};

use domain::risk::EngineSettings;
use domain::{AdapterName, BarSize, Command, ExchangeId, Refusal, SecurityId, Timestamp};
use storage::price_files::InvalidPriceData;
use strategy::StrategyRunner;
use venue_sim::replay::ReplayVenue;

use crate::strategies::OnFailure;

/// An instant that never comes.
pub(super) const NEVER: Timestamp = Timestamp(i64::MAX);

pub struct SimulationSetup {
    pub settings: EngineSettings,
    /// Reference data and limits, applied before anything else.
    pub commands: Vec<Command>,
    /// Opening cash of the accounts.
    pub opening_cash: Vec<OpeningCash>,
    pub venues: Vec<VenueSetup>,
    pub runners: Vec<StrategyRunner>,
    /// What happens to the open orders of a strategy that fails.
    pub on_failure: OnFailure,
    /// Trading begins here; earlier data warms up. Absent: with the first row.
    pub from: Option<Timestamp>,
    /// Data from here on is not played, nor the rest of a bar that is not over.
    pub until: Option<Timestamp>,
    /// From the venue to the strategies.
    pub feed_latency_nanos: i64,
    /// How often positions are valued and loss limits checked.
    pub valuation_nanos: i64,
    /// Bars that the data has.
    pub recorded_bars: BTreeSet<(SecurityId, BarSize)>,
    /// Securities of which the data has ticks, trades or books.
    pub priced: BTreeSet<SecurityId>,
    /// Where the run reports its progress.
    pub progress: Arc<RunProgress>,
}

/// Opening cash of an account; it gets it where strategies subscribe to securities that it can trade.
pub struct OpeningCash {
    pub securities: Vec<SecurityId>,
    pub credit: Command,
}

/// A venue, its adapter, and its securities.
pub struct VenueSetup {
    pub adapter: AdapterName,
    pub exchanges: Vec<ExchangeId>,
    pub securities: Vec<SecurityId>,
    pub venue: ReplayVenue,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulationResult {
    /// Rows of the data that were played.
    pub events: u64,
    pub orders: u64,
    pub fills: u64,
    pub from: Timestamp,
    pub to: Timestamp,
    /// Over orders, fills, positions and cash.
    pub digest: String,
}

#[derive(Debug)]
pub enum SimulationError {
    Data(InvalidPriceData),
    /// There is nothing to play.
    NoData,
    /// The engine refused a setup command.
    Refused(Refusal),
    /// More prices are delayed than the limit.
    FeedTooLate,
    /// The observer failed.
    Observer(String),
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(bad) => bad.fmt(f),
            Self::NoData => f.write_str("the data has no row in the time that is to be played"),
            Self::Refused(refusal) => write!(f, "the engine refused to begin: {refusal}"),
            Self::FeedTooLate => f.write_str("the feed latency keeps more than a million prices on their way"),
            Self::Observer(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for SimulationError {}

impl From<InvalidPriceData> for SimulationError {
    fn from(bad: InvalidPriceData) -> Self {
        Self::Data(bad)
    }
}

/// No strategy is being called.
const NO_STRATEGY: usize = usize::MAX;

/// Written at every call, so it is only two plain stores: a reader may get a slightly old value.
#[derive(Debug)]
pub struct RunProgress {
    at: AtomicI64,
    strategy: AtomicUsize,
}

impl Default for RunProgress {
    fn default() -> Self {
        Self { at: AtomicI64::new(0), strategy: AtomicUsize::new(NO_STRATEGY) }
    }
}

impl RunProgress {
    /// The virtual time of the run.
    pub fn at(&self) -> Timestamp {
        Timestamp(self.at.load(Relaxed))
    }

    /// The index of the strategy that is being called.
    pub fn strategy_index(&self) -> Option<usize> {
        Some(self.strategy.load(Relaxed)).filter(|place| *place != NO_STRATEGY)
    }

    #[inline]
    pub(super) fn set_time(&self, at: Timestamp) {
        self.at.store(at.0, Relaxed);
    }

    #[inline]
    pub(super) fn enter_callback(&self, place: usize) {
        self.strategy.store(place, Relaxed);
    }

    #[inline]
    pub(super) fn leave_callback(&self) {
        self.strategy.store(NO_STRATEGY, Relaxed);
    }
}
