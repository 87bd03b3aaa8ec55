//! Demand for prices at a follower: what its clients ask for over REST, and which prices are those of the leader now.
//!
//! Prices come only of what a client wants. A question about others waits for a short time until they are there; where they don't come, the
//! answer says that they are not known, and never looks like one of a security without prices.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::{Answer, Query, ReferenceData, Refusal, SecurityId, StaleCause, Tick, Timestamp};

/// For so long after a question the prices come without another one.
const WANTED_AFTER_QUERY: Duration = Duration::from_secs(60);
/// A follower that has just started hears the leader within half a second. After so long there may be none, and questions don't wait.
const FIRST_HEARD_WITHIN: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct PriceDemand(Mutex<DemandState>);

#[derive(Default)]
struct DemandState {
    /// Until when, by security.
    queried: BTreeMap<SecurityId, Instant>,
    all_until: Option<Instant>,
    /// Counts new wishes.
    changes: u64,
    /// Up to this change, all that is wanted is current.
    complete_at: Option<u64>,
    known: PriceKnowledge,
}

/// What a follower can say of prices.
#[derive(Debug, Clone, Default)]
pub(crate) struct PriceKnowledge {
    source: PriceSource,
    /// Securities whose prices are those of the leader.
    current: BTreeSet<SecurityId>,
}

/// Whether prices can come at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum PriceSource {
    /// They come with the log, or this is no follower.
    #[default]
    None,
    /// The leader was not heard yet; until this moment a question waits for it.
    Unheard(Instant),
    Heard,
    Lost,
}

/// What questions ask for.
#[derive(Debug, PartialEq, Eq)]
pub enum QueriedPrices {
    All,
    Of(BTreeSet<SecurityId>),
}

impl PriceDemand {
    /// Prices will come from the leader of a cluster.
    pub fn from_leader(now: Instant) -> Self {
        let known = PriceKnowledge { source: PriceSource::Unheard(now + FIRST_HEARD_WITHIN), current: BTreeSet::new() };
        Self(Mutex::new(DemandState { known, ..DemandState::default() }))
    }

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
        state.is_awaited(query, now)
    }

    /// Whether a question that was noted still waits.
    pub(crate) fn is_awaited(&self, query: &Query, now: Instant) -> bool {
        self.lock().is_awaited(query, now)
    }

    /// What is known now. Prices that come later may be in the engine already, and never the other way round.
    pub(crate) fn known(&self) -> PriceKnowledge {
        self.lock().known.clone()
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
            true => drop(state.known.current.insert(security)),
            false => drop(state.known.current.remove(&security)),
        }
    }

    /// Whether prices can come, and up to which count of wishes all that is wanted are there; none where some are not.
    pub fn set_state(&self, is_connected: bool, complete_at: Option<u64>) {
        let mut state = self.lock();
        state.complete_at = complete_at;
        state.known.source = match (is_connected, state.known.source) {
            (true, _) => PriceSource::Heard,
            (false, PriceSource::Heard) => PriceSource::Lost,
            (false, before) => before,
        };
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

    fn is_awaited(&self, query: &Query, now: Instant) -> bool {
        let PriceKnowledge { source, current } = &self.known;
        let may_come = match source {
            PriceSource::Heard => true,
            PriceSource::Unheard(until) => now < *until,
            PriceSource::None | PriceSource::Lost => false,
        };
        may_come
            && match query {
                Query::Ticks(filter) => match filter.security {
                    Some(security) => !current.contains(&security),
                    None => self.complete_at != Some(self.changes),
                },
                Query::Book(security) => !current.contains(security),
                _ => false,
            }
    }
}

impl PriceKnowledge {
    /// Adds to an answer what is not known here because it has not come from the leader: a tick without prices that says why. A book has no such
    /// state, so the question is refused.
    pub(crate) fn complete(
        &self,
        query: &Query,
        answer: Answer,
        reference: &ReferenceData,
        now: Timestamp,
    ) -> Result<Answer, Refusal> {
        match (query, answer) {
            (Query::Ticks(filter), Answer::Ticks(ticks)) => {
                let wanted = reference.securities.keys().copied();
                let wanted = wanted.filter(|security| filter.security.is_none_or(|only| only == *security));
                Ok(Answer::Ticks(self.with_unknown(ticks, wanted, now)))
            }
            (Query::Book(security), Answer::Book(None)) if self.why_unknown(*security).is_some() => {
                Err(Refusal::PricesUnknown(*security))
            }
            (_, answer) => Ok(answer),
        }
    }

    /// Why nothing can be said of the prices of a security; none where they are the leader's.
    fn why_unknown(&self, security: SecurityId) -> Option<StaleCause> {
        match self.source {
            PriceSource::None => None,
            _ if self.current.contains(&security) => None,
            PriceSource::Heard => Some(StaleCause::Awaited),
            PriceSource::Unheard(_) | PriceSource::Lost => Some(StaleCause::Disconnected),
        }
    }

    /// By security, as the engine's answer is.
    fn with_unknown(
        &self,
        mut ticks: Vec<Arc<Tick>>,
        wanted: impl Iterator<Item = SecurityId>,
        now: Timestamp,
    ) -> Vec<Arc<Tick>> {
        let known: BTreeSet<_> = ticks.iter().map(|tick| tick.security).collect();
        for security in wanted.filter(|security| !known.contains(security)) {
            let stale = self.why_unknown(security);
            let unknown = || Arc::new(Tick { at: now, stale, ..Tick::empty(security) });
            ticks.extend(stale.is_some().then(unknown));
        }
        ticks.sort_by_key(|tick| tick.security);
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(now: Instant) -> PriceDemand {
        let demand = PriceDemand::from_leader(now);
        demand.set_state(true, None);
        demand
    }

    /// As a follower answers that knows no prices, with two securities.
    fn told(demand: &PriceDemand, query: &Query) -> String {
        let securities =
            [(SecurityId(7), Arc::new(samples::stock(7, "A"))), (SecurityId(8), Arc::new(samples::stock(8, "B")))];
        let reference = ReferenceData { securities: securities.into_iter().collect(), ..ReferenceData::default() };
        let nothing = if matches!(query, Query::Book(_)) { Answer::Book(None) } else { Answer::Ticks(vec![]) };
        match demand.known().complete(query, nothing, &reference, Timestamp(1)) {
            Ok(Answer::Ticks(ticks)) => ticks
                .iter()
                .map(|tick| format!("{} {} ", tick.security, tick.stale.map_or("live", StaleCause::name)))
                .collect(),
            Ok(answer) => format!("{answer:?}"),
            Err(refusal) => refusal.code().to_owned(),
        }
    }

    fn ticks_of(security: Option<SecurityId>) -> Query {
        Query::Ticks(domain::query::Filter { security, ..domain::query::Filter::default() })
    }

    #[test]
    fn right_after_the_start_a_question_waits_for_the_leader_and_then_says_that_nothing_is_known() {
        let now = Instant::now();
        let (demand, seven, all) = (PriceDemand::from_leader(now), Query::Book(SecurityId(7)), ticks_of(None));
        assert!(demand.note(&seven, now) && demand.note(&all, now), "the leader is heard in a moment");
        // The connection to NATS cannot be made: no leader was heard, and none was lost.
        demand.set_state(false, None);
        assert!(demand.is_awaited(&seven, now) && !demand.is_awaited(&seven, now + FIRST_HEARD_WITHIN));
        assert_eq!(told(&demand, &seven), "prices-unknown");
        assert_eq!(told(&demand, &ticks_of(Some(SecurityId(8)))), "8 DISCONNECTED ");
        assert_eq!(told(&demand, &all), "7 DISCONNECTED 8 DISCONNECTED ");
        // It is heard; of one security it has said everything, and that was nothing.
        demand.set_state(true, None);
        demand.set_current(SecurityId(7), true);
        assert_eq!((demand.is_awaited(&seven, now), told(&demand, &seven)), (false, "Book(None)".to_owned()));
        assert_eq!(told(&demand, &all), "8 AWAITED ");
        // It is lost: nobody waits for it.
        demand.set_current(SecurityId(7), false);
        demand.set_state(false, None);
        assert!(!demand.is_awaited(&seven, now));
        assert_eq!(told(&demand, &all), "7 DISCONNECTED 8 DISCONNECTED ");
    }

    #[test]
    fn prices_that_come_with_the_log_are_neither_waited_for_nor_missed() {
        let (demand, all) = (PriceDemand::default(), ticks_of(None));
        assert!(!demand.note(&all, Instant::now()));
        assert_eq!(
            (told(&demand, &all), told(&demand, &Query::Book(SecurityId(7)))),
            (String::new(), "Book(None)".to_owned())
        );
    }

    #[test]
    fn a_question_waits_until_its_prices_are_there_and_never_for_a_leader_that_was_lost() {
        let now = Instant::now();
        let demand = heard(now);
        let (book, other) = (Query::Book(SecurityId(7)), Query::Book(SecurityId(8)));
        demand.set_state(false, None);
        assert!(!demand.note(&book, now), "what is known is told at once, with its state");
        demand.set_state(true, None);
        assert!(demand.note(&book, now) && demand.note(&other, now) && !demand.note(&Query::State, now));
        demand.set_current(SecurityId(7), true);
        assert_eq!((demand.is_awaited(&book, now), demand.is_awaited(&other, now)), (false, true));
        let wanted = [SecurityId(7), SecurityId(8)].into();
        assert_eq!(demand.queried(now).0, QueriedPrices::Of(wanted));
        assert_eq!(demand.queried(now + WANTED_AFTER_QUERY).0, QueriedPrices::Of(BTreeSet::new()), "nobody asks now");
        demand.set_current(SecurityId(7), false);
        assert!(demand.is_awaited(&book, now));
    }

    #[test]
    fn a_question_about_all_waits_until_all_are_there() {
        let now = Instant::now();
        let demand = heard(now);
        let before = demand.queried(now).1;
        demand.set_state(true, Some(before));
        let all = ticks_of(None);
        assert!(demand.note(&all, now), "what was complete before the question is not all");
        demand.set_state(true, Some(before));
        assert!(demand.is_awaited(&all, now));
        let (wanted, changes) = demand.queried(now);
        assert_eq!(wanted, QueriedPrices::All);
        demand.set_state(true, Some(changes));
        assert!(!demand.is_awaited(&all, now) && !demand.note(&all, now));
    }
}
