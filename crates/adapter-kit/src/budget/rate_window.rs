//! One rate limit of a venue: what was used of it within its span, never less than the venue has counted.
//!
//! The window slides. Whatever the venue does (windows that begin at a full minute, at the first request, or that slide
//! too), it counts no more than this, because a request counts here from its sending until a span after its answer.

use std::collections::VecDeque;

use domain::Timestamp;

use super::fair_share::{LaneUse, WaitingLanes};
use super::{BudgetRefusal, LaneShares, RequestLane};

/// A span is counted in so many parts; what was used in a part is free again when the whole part is older than the span.
pub const WINDOW_PARTS: i64 = 64;

/// A larger count of a venue or of a file is taken for this, so that sums stay within 64 bits.
const COUNT_MAX: u64 = u32::MAX as u64;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A rate limit as the venue states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateRule {
    /// Names it in refusals, in metrics and in the state file.
    pub name: String,
    pub span_seconds: u32,
    pub limit: u32,
    pub shares: LaneShares,
}

/// The use of one rate limit.
#[derive(Debug, Clone)]
pub(super) struct CountedWindow {
    pub(super) rule: RateRule,
    /// Answered weight by part of the span, oldest first.
    parts: VecDeque<(i64, u64)>,
    answered: u64,
    unanswered: u64,
    /// All weight that was ever answered: the difference of two values is what was answered between.
    answered_ever: u64,
    /// The newest request whose answer had the venue's counter.
    corrected_by: Option<u64>,
    /// What each lane has sent, for its fair share.
    lanes: [LaneUse; RequestLane::ALL.len()],
}

/// What a window knows of a request that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SentWeight {
    weight: u32,
    answered_before: u64,
}

impl CountedWindow {
    pub(super) fn new(rule: RateRule) -> Self {
        Self {
            rule,
            parts: VecDeque::new(),
            answered: 0,
            unanswered: 0,
            answered_ever: 0,
            corrected_by: None,
            lanes: Default::default(),
        }
    }

    pub(super) fn used(&self) -> u64 {
        self.answered + self.unanswered
    }

    pub(super) fn ceiling(&self, lane: RequestLane) -> u64 {
        self.rule.shares.ceiling(lane, self.rule.limit)
    }

    /// Forgets what is older than the span.
    pub(super) fn advance(&mut self, now: Timestamp) {
        while let Some((part, weight)) = self.parts.front().copied() {
            if self.free_at(part) > now {
                break;
            }
            self.answered -= weight;
            self.parts.pop_front();
        }
        let (part_nanos, span) = (self.part_nanos(), self.rule.span_seconds);
        self.lanes.iter_mut().for_each(|lane| lane.forget(|part| free_at(part, part_nanos, span) <= now));
    }

    /// Whether so much weight of the lane fits. A request without weight passes a limit, however full it is.
    pub(super) fn check(
        &self,
        now: Timestamp,
        lane: RequestLane,
        weight: u32,
        waiting: &WaitingLanes,
    ) -> Result<(), BudgetRefusal> {
        let limit = || self.rule.name.clone();
        if weight > 0 && u64::from(weight) > self.ceiling(lane) {
            return Err(BudgetRefusal::TooHeavy { lane, limit: limit(), weight, ceiling: self.ceiling(lane) });
        }
        let (share, needed) = (self.fair_share(lane), u64::from(weight));
        let is_within = share > 0 && self.lanes[lane.index()].used() + needed <= share;
        let due = if share > 0 && !is_within { self.due_to_others(now, lane, waiting) } else { None };
        let fair_ceiling = self.rule.shares.fair_ceiling(self.rule.limit);
        let ceiling = match due {
            Some(due) => self.ceiling(lane).min(fair_ceiling.saturating_sub(due)),
            None if is_within => self.ceiling(lane).max(fair_ceiling),
            None => self.ceiling(lane),
        };
        if weight == 0 || self.used() + needed <= ceiling {
            return Ok(());
        }
        // Beside others that wait it depends on what they get.
        let free_at = if due.is_none() { self.fits_at(ceiling, weight) } else { None };
        Err(BudgetRefusal::Exhausted { lane, limit: limit(), used: self.used(), weight, ceiling, free_at })
    }

    fn fair_share(&self, lane: RequestLane) -> u64 {
        self.rule.shares.fair_share(lane, self.rule.limit)
    }

    /// What the others that wait have not had of their shares; nothing where none of them waits.
    fn due_to_others(&self, now: Timestamp, lane: RequestLane, waiting: &WaitingLanes) -> Option<u64> {
        let has_share = |other: &RequestLane| *other != lane && self.fair_share(*other) > 0;
        let others = RequestLane::ALL.into_iter().filter(|other| has_share(other) && waiting.is_waiting(*other, now));
        others
            .map(|other| self.fair_share(other).saturating_sub(self.lanes[other.index()].used()))
            .reduce(|one, other| one + other)
    }

    /// When so much weight is free again below the ceiling, where that follows from the time alone.
    fn fits_at(&self, ceiling: u64, weight: u32) -> Option<Timestamp> {
        let mut used = self.used() + u64::from(weight);
        for (part, freed) in &self.parts {
            used -= freed;
            if used <= ceiling {
                return Some(self.free_at(*part));
            }
        }
        None
    }

    pub(super) fn send(&mut self, now: Timestamp, lane: RequestLane, weight: u32) -> SentWeight {
        self.unanswered += u64::from(weight);
        if weight > 0 {
            let part = now.0.div_euclid(self.part_nanos());
            self.lanes[lane.index()].add(part, u64::from(weight));
        }
        SentWeight { weight, answered_before: self.answered_ever }
    }

    /// The request certainly never left.
    pub(super) fn withdraw(&mut self, lane: RequestLane, sent: SentWeight) {
        self.unanswered -= u64::from(sent.weight);
        self.lanes[lane.index()].withdraw(u64::from(sent.weight));
    }

    /// The request was answered, or is given up; `used` is the venue's own counter.
    pub(super) fn answer(&mut self, now: Timestamp, request: u64, sent: SentWeight, used: Option<u64>) {
        let meanwhile = self.answered_ever - sent.answered_before;
        self.unanswered -= u64::from(sent.weight);
        self.answered_ever += u64::from(sent.weight);
        self.add(now, u64::from(sent.weight));
        let Some(used) = used else { return };
        // An answer that was overtaken by that of a later request knows less than is known already.
        if self.corrected_by.is_none_or(|newest| request > newest) {
            self.corrected_by = Some(request);
            // What was answered since this request left may have reached the venue after it.
            self.set_answered(now, used.min(COUNT_MAX) + meanwhile);
        }
    }

    /// Parts and their weights, for the state file.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Timestamp, u64)> + '_ {
        self.parts.iter().map(|(part, weight)| (Timestamp(part.saturating_mul(self.part_nanos())), *weight))
    }

    /// Continues a count of before a restart; what was unanswered then counts as answered now.
    pub(super) fn restore(&mut self, now: Timestamp, parts: &[(Timestamp, u64)], unanswered: u64) {
        for (at, weight) in parts {
            self.add((*at).min(now), (*weight).min(COUNT_MAX));
        }
        self.add(now, unanswered.min(COUNT_MAX));
        self.advance(now);
    }

    pub(super) fn unanswered(&self) -> u64 {
        self.unanswered
    }

    fn set_answered(&mut self, now: Timestamp, target: u64) {
        match self.answered.checked_sub(target) {
            None => self.add(now, target - self.answered),
            Some(surplus) => self.remove_oldest(surplus),
        }
    }

    fn add(&mut self, now: Timestamp, weight: u64) {
        if weight == 0 {
            return;
        }
        let newest = self.parts.back().map_or(i64::MIN, |(part, _)| *part);
        let part = newest.max(now.0.div_euclid(self.part_nanos()));
        self.answered += weight;
        match self.parts.back_mut() {
            Some((newest, counted)) if *newest == part => *counted += weight,
            _ => self.parts.push_back((part, weight)),
        }
    }

    /// The oldest go first, so that what stays is not free too early.
    fn remove_oldest(&mut self, mut surplus: u64) {
        while let (true, Some((_, weight))) = (surplus > 0, self.parts.front_mut()) {
            let removed = surplus.min(*weight);
            *weight -= removed;
            surplus -= removed;
            self.answered -= removed;
            if *weight == 0 {
                self.parts.pop_front();
            }
        }
    }

    fn part_nanos(&self) -> i64 {
        (i64::from(self.rule.span_seconds) * NANOS_PER_SECOND / WINDOW_PARTS).max(1)
    }

    fn free_at(&self, part: i64) -> Timestamp {
        free_at(part, self.part_nanos(), self.rule.span_seconds)
    }
}

/// When what was used in a part is free again.
fn free_at(part: i64, part_nanos: i64, span_seconds: u32) -> Timestamp {
    let end = part.saturating_add(1).saturating_mul(part_nanos);
    Timestamp(end).plus_seconds(span_seconds.into())
}
