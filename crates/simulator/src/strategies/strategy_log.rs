//! What the strategy did and was told, and what it shall do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::command::PlaceOrder;
use domain::{Event, IntId, StrategyId};

use crate::market::Market;

/// What the strategy did and was told. It outlives the process: the record against the platform.
#[derive(Clone)]
pub(crate) struct StrategyLog {
    market: Arc<Market>,
    state: Arc<Mutex<StrategyLogState>>,
}

#[derive(Default)]
pub(super) struct StrategyLogState {
    /// What it shall do next, drawn by the schedule.
    pub(super) draws: Vec<u64>,
    /// It places nothing any more, and cancels what it has.
    pub(super) is_over: bool,
    pub(super) placed: BTreeMap<IntId, PlaceOrder>,
    /// Orders that it was told do not exist.
    pub(super) refused: BTreeSet<IntId>,
    /// A command of which it was told that no answer came, until that is looked at.
    pub(super) unanswered: Option<String>,
    /// How often it was refused something, by code.
    pub(super) refusals: BTreeMap<String, u64>,
    /// By run: its events of orders, fills and bookings in the order in which it was told.
    pub(super) runs: BTreeMap<u64, Vec<Event>>,
    /// How much each run had been told when it was checked.
    pub(super) checked: BTreeMap<u64, usize>,
    /// How much of the journal was looked at, and what it has for the strategy.
    pub(super) through: u64,
    pub(super) due: Vec<(u64, Event)>,
}

impl StrategyLog {
    pub(crate) fn new(market: Arc<Market>) -> Self {
        Self { market, state: Arc::default() }
    }

    pub(super) fn market(&self) -> &Market {
        &self.market
    }

    pub(super) fn id(&self) -> StrategyId {
        self.market.strategy.id
    }

    pub(crate) fn draw(&self, draw: u64) {
        self.lock().draws.push(draw);
    }

    pub(crate) fn end(&self) {
        self.lock().is_over = true;
    }

    /// A platform that runs owes every command an answer.
    pub(crate) fn take_unanswered(&self) -> Option<String> {
        self.lock().unanswered.take()
    }

    pub(crate) fn counts(&self) -> [u64; 3] {
        let state = self.lock();
        let told = state.runs.values().map(|told| told.len() as u64).sum();
        [state.runs.len() as u64, state.placed.len() as u64, told]
    }

    pub(crate) fn refusals(&self) -> BTreeMap<String, u64> {
        self.lock().refusals.clone()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, StrategyLogState> {
        // One thread uses it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
