//! Demand for prices at a follower: what its clients ask for over REST, and which prices are those of the leader now.
//!
//! Prices come only of what a client wants. A question about others waits for a short time until they are there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::{Query, SecurityId};

/// For so long after a question the prices come without another one.
const WANTED_AFTER_QUERY: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct PriceDemand(Mutex<DemandState>);

#[derive(Default)]
struct DemandState {
    /// Until when, by security.
    queried: BTreeMap<SecurityId, Instant>,
    all_until: Option<Instant>,
    current: BTreeSet<SecurityId>,
    /// Counts new wishes.
    changes: u64,
    /// Up to this change, all that is wanted is current.
    complete_at: Option<u64>,
    /// Whether prices can come at all.
    is_connected: bool,
}

/// What questions ask for.
#[derive(Debug, PartialEq, Eq)]
pub enum QueriedPrices {
    All,
    Of(BTreeSet<SecurityId>),
}

impl PriceDemand {
    /// Notes what a question asks for. Whether it should wait: prices may come, and are not there yet.
    pub(crate) fn note(&self, query: &Query, now: Instant) -> bool {
        let mut state = self.lock();
        match query {
            Query::Ticks(filter) => match filter.security {
                Some(security) => state.note(security, now),
                None => state.note_all(now),
            },
            Query::Book(security) => state.note(*security, now),
            _ => return false,
        }
        state.is_awaited(query)
    }

    /// Whether a question that was noted still waits.
    pub(crate) fn is_awaited(&self, query: &Query) -> bool {
        self.lock().is_awaited(query)
    }

    /// What was asked for lately, and the count of wishes up to here.
    pub fn queried(&self, now: Instant) -> (QueriedPrices, u64) {
        let mut state = self.lock();
        if state.all_until.is_some_and(|until| until > now) {
            return (QueriedPrices::All, state.changes);
        }
        state.queried.retain(|_, until| *until > now);
        (QueriedPrices::Of(state.queried.keys().copied().collect()), state.changes)
    }

    /// The prices of a security are those of the leader from now on, or are not any more.
    pub fn set_current(&self, security: SecurityId, is_current: bool) {
        let mut state = self.lock();
        match is_current {
            true => drop(state.current.insert(security)),
            false => drop(state.current.remove(&security)),
        }
    }

    /// Whether prices can come, and up to which count of wishes all that is wanted are there; none where some are not.
    pub fn set_state(&self, is_connected: bool, complete_at: Option<u64>) {
        let mut state = self.lock();
        (state.is_connected, state.complete_at) = (is_connected, complete_at);
    }

    fn lock(&self) -> MutexGuard<'_, DemandState> {
        // The state is consistent between any two statements that hold the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DemandState {
    fn note(&mut self, security: SecurityId, now: Instant) {
        if self.queried.insert(security, now + WANTED_AFTER_QUERY).is_none() {
            self.changes += 1;
        }
    }

    fn note_all(&mut self, now: Instant) {
        if self.all_until.replace(now + WANTED_AFTER_QUERY).is_none_or(|until| until <= now) {
            self.changes += 1;
        }
    }

    fn is_awaited(&self, query: &Query) -> bool {
        self.is_connected
            && match query {
                Query::Ticks(filter) => match filter.security {
                    Some(security) => !self.current.contains(&security),
                    None => self.complete_at != Some(self.changes),
                },
                Query::Book(security) => !self.current.contains(security),
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_waits_until_its_prices_are_there_and_never_without_a_line() {
        let (demand, now) = (PriceDemand::default(), Instant::now());
        let (book, other) = (Query::Book(SecurityId(7)), Query::Book(SecurityId(8)));
        assert!(!demand.note(&book, now), "no line to the leader: what is known is told at once, with its state");
        demand.set_state(true, None);
        assert!(demand.note(&book, now) && demand.note(&other, now) && !demand.note(&Query::State, now));
        demand.set_current(SecurityId(7), true);
        assert_eq!((demand.is_awaited(&book), demand.is_awaited(&other)), (false, true));
        let wanted = [SecurityId(7), SecurityId(8)].into();
        assert_eq!(demand.queried(now).0, QueriedPrices::Of(wanted));
        assert_eq!(demand.queried(now + WANTED_AFTER_QUERY).0, QueriedPrices::Of(BTreeSet::new()), "nobody asks now");
        demand.set_current(SecurityId(7), false);
        assert!(demand.is_awaited(&book));
    }

    #[test]
    fn a_question_about_all_waits_until_all_are_there() {
        let (demand, now) = (PriceDemand::default(), Instant::now());
        let before = demand.queried(now).1;
        demand.set_state(true, Some(before));
        let all = Query::Ticks(domain::query::Filter::default());
        assert!(demand.note(&all, now), "what was complete before the question is not all");
        demand.set_state(true, Some(before));
        assert!(demand.is_awaited(&all));
        let (wanted, changes) = demand.queried(now);
        assert_eq!(wanted, QueriedPrices::All);
        demand.set_state(true, Some(changes));
        assert!(!demand.is_awaited(&all) && !demand.note(&all, now));
    }
}
