//! Simulated time: a steady clock that only the simulator moves, a wall clock that can be set, and the program's clock over both.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::Timestamp;
use runtime::EngineClock;
use runtime::clock::{ClockReading, MonotonicClock};

/// A Thursday noon.
pub(crate) const NOON: Timestamp = Timestamp(1_780_574_400_000_000_000);

/// A drift is told in parts of this.
const PARTS: i128 = 1_000_000;

#[derive(Clone)]
pub(crate) struct SimulatedClock(Arc<Mutex<ClockState>>);

struct ClockState {
    /// The wall at the beginning of the run.
    start: i64,
    /// Since then.
    steady: i64,
    /// What the wall is off by.
    offset: i64,
    drift: Drift,
    /// Of the running process.
    program: MonotonicClock,
}

/// A wall that goes faster or slower than it should.
#[derive(Default)]
struct Drift {
    /// In steady time.
    since: i64,
    until: i64,
    parts_per_million: i64,
}

impl Drift {
    /// What the wall is off by, because of it alone.
    fn at(&self, steady: i64) -> i64 {
        let nanos = i128::from(steady.min(self.until) - self.since).max(0);
        i64::try_from(nanos * i128::from(self.parts_per_million) / PARTS).unwrap_or(0)
    }
}

impl SimulatedClock {
    pub(crate) fn new(start: Timestamp) -> Self {
        let program = MonotonicClock::default();
        Self(Arc::new(Mutex::new(ClockState {
            start: start.0,
            steady: 0,
            offset: 0,
            drift: Drift::default(),
            program,
        })))
    }

    /// Simulated time since the beginning.
    pub(crate) fn steady(&self) -> i64 {
        self.lock().steady
    }

    pub(crate) fn advance_to(&self, steady: i64) {
        let mut state = self.lock();
        state.steady = state.steady.max(steady);
    }

    pub(crate) fn set_wall_by(&self, nanos: i64) {
        self.lock().offset += nanos;
    }

    /// From now on the wall gains, or loses where it is negative, so many parts of a million. What it is off by then stays.
    pub(crate) fn drift(&self, parts_per_million: i64, nanos: i64) {
        let mut state = self.lock();
        let since = state.steady;
        state.offset += state.drift.at(since);
        state.drift = Drift { since, until: since + nanos, parts_per_million };
    }

    /// The clock of a new process.
    pub(crate) fn restart(&self) {
        self.lock().program = MonotonicClock::default();
    }

    pub(crate) fn start_after(&self, past: Timestamp) {
        self.now();
        self.lock().program.start_after(past);
    }

    /// As the running process reads it.
    pub(crate) fn now(&self) -> Timestamp {
        let wall = self.wall();
        let mut state = self.lock();
        let reading = ClockReading { wall, steady: state.steady };
        state.program.advance(reading, 0).0
    }

    pub(crate) fn shared(&self) -> EngineClock {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }

    /// The wall of the machine, in nanoseconds.
    pub(crate) fn wall(&self) -> i64 {
        let state = self.lock();
        state.start + state.steady + state.offset + state.drift.at(state.steady)
    }

    pub(crate) fn shared_wall(&self) -> EngineClock {
        let clock = self.clone();
        Arc::new(move || Timestamp(clock.wall()))
    }

    fn lock(&self) -> MutexGuard<'_, ClockState> {
        // One thread uses it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_wall_that_drifts_gains_for_as_long_as_it_does_and_keeps_what_it_gained() {
        let clock = SimulatedClock::new(Timestamp(0));
        clock.advance_to(10 * SECOND);
        clock.drift(1_000, 20 * SECOND);
        clock.advance_to(20 * SECOND);
        assert_eq!(clock.wall(), 20 * SECOND + 10_000_000);
        clock.advance_to(60 * SECOND);
        assert_eq!(clock.wall(), 60 * SECOND + 20_000_000);
        clock.drift(-500, 2 * SECOND);
        clock.advance_to(70 * SECOND);
        assert_eq!(clock.wall(), 70 * SECOND + 19_000_000);
    }
}
