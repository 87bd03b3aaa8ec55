//! The one clock of the program: `runtime::clock` read from the machine's own clocks, by any thread (decision 0019).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::Timestamp;
use runtime::clock::{ClockReading as Reading, MonotonicClock, STEP_NANOS};
use rustix::time::{ClockId, clock_gettime};

/// A clock as everybody takes it.
pub type ServerClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

const NANOS_PER_SECOND: f64 = 1e9;

#[derive(Debug)]
pub struct SystemClock {
    offset_seconds: i64,
    hands: Mutex<MonotonicClock>,
}

impl SystemClock {
    pub fn new(offset_seconds: i64) -> Self {
        Self { offset_seconds, hands: Mutex::default() }
    }

    /// Everything from now on is later than this: what a journal ends with, for instance.
    pub fn start_after(&self, past: Timestamp) {
        let ahead = past.0.saturating_sub(self.now().0);
        self.lock().start_after(past);
        if ahead > STEP_NANOS {
            tracing::error!(
                seconds = seconds(ahead),
                "the machine's clock is behind the end of the journal: time goes on from there, and the clock approaches the \
                 machine's slowly"
            );
        }
    }

    pub fn now(&self) -> Timestamp {
        let (at, step) = self.monotonic(take_reading);
        if let Some(step) = step {
            tracing::error!(
                seconds = seconds(step),
                "the machine's clock was set: time goes on as before, and approaches it slowly; a restart takes it at once \
                 unless it was set back"
            );
        }
        at
    }

    pub fn shared(self: &Arc<Self>) -> ServerClock {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }

    /// The wall's own time, with the configured offset: for what others compare with theirs, and for nothing that lasts.
    pub fn wall(self: &Arc<Self>) -> ServerClock {
        let clock = self.clone();
        Arc::new(move || Timestamp(wall_nanos()).plus_seconds(clock.offset_seconds))
    }

    /// The time, and by how much the wall was set since the last reading, where that is worth telling.
    /// Readings are taken one after the other, so none is older than the last.
    fn monotonic(&self, read: impl FnOnce() -> Reading) -> (Timestamp, Option<i64>) {
        let mut hands = self.lock();
        let reading = read();
        hands.advance(reading, self.offset_seconds)
    }

    fn lock(&self) -> MutexGuard<'_, MonotonicClock> {
        // The hands are set in one statement.
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Both clocks of the machine.
fn take_reading() -> Reading {
    Reading { wall: wall_nanos(), steady: steady_nanos() }
}

#[allow(clippy::cast_precision_loss, reason = "for people to read")]
fn seconds(nanos: i64) -> f64 {
    nanos as f64 / NANOS_PER_SECOND
}

fn wall_nanos() -> i64 {
    let nanos = |duration: Duration| {
        i64::try_from(duration.as_nanos()).expect("the wall clock stands between the years 1678 and 2262")
    };
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(before) => -nanos(before.duration()),
    }
}

/// Also while the machine sleeps, where the system has such a clock: a computer that wakes up has not been set.
fn steady_nanos() -> i64 {
    #[cfg(target_os = "linux")]
    let read = clock_gettime(ClockId::Boottime);
    #[cfg(not(target_os = "linux"))]
    let read = clock_gettime(ClockId::Monotonic);
    read.tv_sec.saturating_mul(1_000_000_000).saturating_add(read.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const HOUR: i64 = 3_600 * SECOND;

    /// What the clock says at readings of the wall and of the steady clock.
    fn stamps(clock: &SystemClock, readings: &[(i64, i64)]) -> Vec<i64> {
        readings.iter().map(|(wall, steady)| clock.monotonic(|| Reading { wall: *wall, steady: *steady }).0.0).collect()
    }

    fn steps(clock: &SystemClock, readings: &[(i64, i64)]) -> Vec<Option<i64>> {
        readings.iter().map(|(wall, steady)| clock.monotonic(|| Reading { wall: *wall, steady: *steady }).1).collect()
    }

    #[test]
    fn time_never_goes_back_nor_stands_still() {
        let clock = SystemClock::new(0);
        let walls = [(100, 0), (100, 0), (50, 0), (51, 0)];
        assert_eq!(stamps(&clock, &walls), [100, 101, 102, 103]);
    }

    #[test]
    fn the_clock_follows_a_wall_that_goes_right() {
        let clock = SystemClock::new(0);
        let walls = [(7 * SECOND, 0), (8 * SECOND, SECOND), (9 * SECOND, 2 * SECOND)];
        assert_eq!(stamps(&clock, &walls), [7 * SECOND, 8 * SECOND, 9 * SECOND]);
    }

    #[test]
    fn a_wall_that_is_set_back_does_not_stop_time() {
        let clock = SystemClock::new(0);
        let walls = [(2 * HOUR, 0), (HOUR, SECOND), (HOUR + 100 * SECOND, 101 * SECOND)];
        let slowly = [2 * HOUR, 2 * HOUR + SECOND * 19 / 20, 2 * HOUR + 101 * SECOND * 19 / 20];
        assert_eq!(stamps(&clock, &walls), slowly);
    }

    #[test]
    fn a_wall_that_is_set_ahead_does_not_jump() {
        let clock = SystemClock::new(0);
        let walls = [(HOUR, 0), (2 * HOUR, SECOND), (2 * HOUR + 20 * SECOND, 21 * SECOND)];
        assert_eq!(stamps(&clock, &walls), [HOUR, HOUR + SECOND * 21 / 20, HOUR + 21 * SECOND * 21 / 20]);
    }

    #[test]
    fn in_the_end_the_clock_is_as_the_wall_is() {
        let clock = SystemClock::new(0);
        stamps(&clock, &[(2 * HOUR, 0), (HOUR, 1)]);
        let day = 24 * HOUR;
        assert_eq!(stamps(&clock, &[(HOUR + day, day)]), [HOUR + day]);
    }

    #[test]
    fn a_step_is_told_once_and_a_small_one_is_not() {
        let clock = SystemClock::new(0);
        let walls = [
            (HOUR, 0),
            (HOUR + SECOND, SECOND),
            (3 * HOUR + SECOND, SECOND),
            (3 * HOUR + 2 * SECOND, 2 * SECOND),
            (3 * HOUR + 3 * SECOND / 2, 2 * SECOND),
            (2 * HOUR, 2 * SECOND),
        ];
        let told = [None, None, Some(2 * HOUR), None, None, Some(-HOUR - 3 * SECOND / 2)];
        assert_eq!(steps(&clock, &walls), told);
    }

    #[test]
    fn the_offset_is_added_in_both_directions() {
        assert_eq!(stamps(&SystemClock::new(2), &[(5, 0)]), [2_000_000_005]);
        assert_eq!(stamps(&SystemClock::new(-2), &[(5, 0)]), [-1_999_999_995]);
    }

    #[test]
    fn a_clock_starts_after_what_has_been_and_goes_on() {
        let clock = SystemClock::new(0);
        let ahead = Timestamp(clock.now().0 + HOUR);
        clock.start_after(ahead);
        clock.start_after(Timestamp(10));
        let (first, second) = (clock.now(), clock.now());
        assert!(ahead < first && first < second);
        assert!(second.0 - ahead.0 < HOUR, "it goes on from there");
    }

    #[test]
    fn the_wall_is_not_held_back_by_what_has_been() {
        let clock = Arc::new(SystemClock::new(60));
        clock.start_after(Timestamp(clock.now().0 + HOUR));
        let (wall, now) = ((clock.wall())(), clock.now());
        assert!(now.0 - wall.0 > HOUR / 2);
        assert!(wall.0 - wall_nanos() > 59 * SECOND, "the offset is part of it");
    }

    #[test]
    fn no_two_callers_get_the_same_time() {
        let clock = Arc::new(SystemClock::new(0));
        let ask = |clock: ServerClock| std::thread::spawn(move || (0..1_000).map(|_| clock().0).collect::<Vec<_>>());
        let asked: Vec<_> = (0..4).map(|_| ask(clock.shared())).collect();
        let mut times: Vec<i64> = asked.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        times.sort_unstable();
        times.dedup();
        assert_eq!(times.len(), 4_000);
    }
}
