//! The rule of the program's clock: it begins at the wall's time and goes on by the steady clock, so that no step of the wall changes
//! how long anything takes. Where the two part it approaches the wall slowly, and it never goes back (decision 0019).
//!
//! It reads nothing itself: the server gives it the machine's clocks, the simulator its own.

use domain::Timestamp;

/// A part of the time that passes by which the clock may run faster or slower to approach the wall: a twentieth, so a step of an
/// hour is made up for in twenty hours, and no duration is off by more than five percent.
pub const SLEW_PART: i64 = 20;
/// A greater step of the wall between two readings is told.
pub const STEP_NANOS: i64 = 1_000_000_000;

/// Both clocks of the machine, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct ClockReading {
    pub wall: i64,
    pub steady: i64,
}

#[derive(Debug, Clone, Copy)]
pub struct MonotonicClock {
    /// The last answer.
    last: i64,
    /// The wall and the steady clock at that reading; none before the first.
    read: Option<ClockReading>,
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self { last: i64::MIN, read: None }
    }
}

impl MonotonicClock {
    /// Everything from now on is later than this: what a journal ends with, for instance.
    pub fn start_after(&mut self, past: Timestamp) {
        self.last = self.last.max(past.0);
    }

    /// The time, and by how much the wall was set since the last reading, where that is worth telling.
    pub fn advance(&mut self, reading: ClockReading, offset_seconds: i64) -> (Timestamp, Option<i64>) {
        let wanted = Timestamp(reading.wall).plus_seconds(offset_seconds).0;
        let (next, step) = match self.read {
            None => (wanted, 0),
            Some(before) => {
                let elapsed = reading.steady.saturating_sub(before.steady).max(0);
                let expected = self.last.saturating_add(elapsed);
                let slew = elapsed / SLEW_PART;
                let correction = wanted.saturating_sub(expected).clamp(-slew, slew);
                (expected.saturating_add(correction), reading.wall.saturating_sub(before.wall).saturating_sub(elapsed))
            }
        };
        let after_last = self.last.checked_add(1).expect("the clock stands before the year 2262");
        *self = Self { last: next.max(after_last), read: Some(reading) };
        (Timestamp(self.last), (step.abs() > STEP_NANOS).then_some(step))
    }
}
