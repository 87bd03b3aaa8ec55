//! Simulated time: a steady clock that only the simulator moves, a wall clock that can be set, and the program's clock over both.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::Timestamp;
use runtime::EngineClock;
use runtime::clock::{ClockReading, MonotonicClock};

/// A Thursday noon.
pub(crate) const NOON: Timestamp = Timestamp(1_780_574_400_000_000_000);

#[derive(Clone)]
pub(crate) struct SimulatedClock(Arc<Mutex<ClockState>>);

struct ClockState {
    /// The wall at the beginning of the run.
    start: i64,
    /// Since then.
    steady: i64,
    /// What the wall is off by.
    offset: i64,
    /// Of the running process.
    program: MonotonicClock,
}

impl SimulatedClock {
    pub(crate) fn new(start: Timestamp) -> Self {
        let program = MonotonicClock::default();
        Self(Arc::new(Mutex::new(ClockState { start: start.0, steady: 0, offset: 0, program })))
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
        state.start + state.steady + state.offset
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
