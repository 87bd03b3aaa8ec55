//! Inbox metrics: refusals by code, prices that were dropped, and when each adapter and feed was last heard. Nothing else
//! depends on them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::{AdapterName, Text};

/// Why the engine did not apply a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceDrop {
    /// A newer quote or book of the security came first.
    Replaced,
    /// Too many trades of the security waited.
    TooManyTrades,
    /// The next block of sequence numbers was not durable yet.
    NoSequence,
    /// The security is unknown, or the values are invalid.
    Invalid,
}

impl PriceDrop {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::Replaced, Self::TooManyTrades, Self::NoSequence, Self::Invalid];

    /// As the metrics name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::TooManyTrades => "too-many-trades",
            Self::NoSequence => "no-sequence",
            Self::Invalid => "invalid",
        }
    }
}

/// Refusals, dropped prices, and when prices and reports came last.
#[derive(Debug, Default)]
pub struct InboxMetrics {
    refusals: Mutex<BTreeMap<&'static str, u64>>,
    reports: Mutex<BTreeMap<AdapterName, Instant>>,
    prices: Mutex<BTreeMap<Text, Instant>>,
    dropped_prices: [AtomicU64; PriceDrop::ALL.len()],
}

impl InboxMetrics {
    pub(crate) fn count_refusal(&self, code: &'static str) {
        *lock(&self.refusals).entry(code).or_default() += 1;
    }

    pub(crate) fn record_report(&self, adapter: &AdapterName) {
        record_time(&self.reports, adapter);
    }

    pub(crate) fn record_price(&self, feed: &Text) {
        record_time(&self.prices, feed);
    }

    /// Prices that the engine did not apply.
    pub fn count_dropped_prices(&self, reason: PriceDrop, count: u64) {
        self.dropped_prices[reason as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// Prices that the engine did not apply, by reason.
    pub fn dropped_prices(&self) -> [(PriceDrop, u64); PriceDrop::ALL.len()] {
        PriceDrop::ALL.map(|reason| (reason, self.dropped_prices[reason as usize].load(Ordering::Relaxed)))
    }

    /// Commands that the engine refused, by code.
    pub fn refusals(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.refusals).clone()
    }

    /// How long ago each adapter last reported something.
    pub fn since_reports(&self) -> BTreeMap<AdapterName, Duration> {
        ages(&self.reports)
    }

    /// How long ago the last price of each feed came.
    pub fn since_prices(&self) -> BTreeMap<Text, Duration> {
        ages(&self.prices)
    }
}

/// The name is copied only where it is new.
fn record_time<K: Ord + Clone>(times: &Mutex<BTreeMap<K, Instant>>, name: &K) {
    let mut times = lock(times);
    let now = Instant::now();
    match times.get_mut(name) {
        Some(last) => *last = now,
        None => drop(times.insert(name.clone(), now)),
    }
}

fn ages<K: Ord + Clone>(times: &Mutex<BTreeMap<K, Instant>>) -> BTreeMap<K, Duration> {
    lock(times).iter().map(|(name, last)| (name.clone(), last.elapsed())).collect()
}

fn lock<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    // The map is consistent between any two statements that hold the lock.
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
