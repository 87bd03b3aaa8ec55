//! Fair shares: while one of the lanes of inquiries, lists and books waits, the others leave free what it has not had of its share of a
//! limit. Without it many requests of one kind, made again and again, would keep the others waiting without an end.
//!
//! Where none waits, a lane may use all that its ceiling allows. What lanes used before a restart is not known: their shares begin anew,
//! the limit itself does not.

use std::collections::VecDeque;

use domain::Timestamp;

use super::RequestLane;

/// A lane waits for so long after it was refused, because lists are asked for again within a minute; one that does not ask again holds
/// nobody up for longer.
pub const LANE_WAITS_SECONDS: i64 = 60;

/// Which lanes were refused and have got nothing since.
#[derive(Debug, Clone, Default)]
pub(super) struct WaitingLanes([Option<Timestamp>; RequestLane::ALL.len()]);

impl WaitingLanes {
    pub(super) fn on_refused(&mut self, lane: RequestLane, now: Timestamp) {
        self.0[lane.index()] = Some(now);
    }

    pub(super) fn on_granted(&mut self, lane: RequestLane) {
        self.0[lane.index()] = None;
    }

    pub(super) fn is_waiting(&self, lane: RequestLane, now: Timestamp) -> bool {
        self.0[lane.index()].is_some_and(|since| now.seconds_since(since) < LANE_WAITS_SECONDS)
    }
}

/// What one lane has sent within the span of a limit.
#[derive(Debug, Clone, Default)]
pub(super) struct LaneUse {
    /// Weight by part of the span, oldest first.
    parts: VecDeque<(i64, u64)>,
    used: u64,
}

impl LaneUse {
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    pub(super) fn add(&mut self, part: i64, weight: u64) {
        self.used += weight;
        match self.parts.back_mut() {
            Some((newest, counted)) if *newest >= part => *counted += weight,
            _ => self.parts.push_back((part, weight)),
        }
    }

    /// The newest of it was never sent.
    pub(super) fn withdraw(&mut self, weight: u64) {
        if let Some((_, counted)) = self.parts.back_mut() {
            let withdrawn = weight.min(*counted);
            *counted -= withdrawn;
            self.used -= withdrawn;
        }
    }

    /// Forgets the parts for which this is so.
    pub(super) fn forget(&mut self, is_over: impl Fn(i64) -> bool) {
        while let Some((part, weight)) = self.parts.front().copied().filter(|(part, _)| is_over(*part)) {
            debug_assert!(weight <= self.used, "part {part}");
            self.used -= weight;
            self.parts.pop_front();
        }
    }
}
