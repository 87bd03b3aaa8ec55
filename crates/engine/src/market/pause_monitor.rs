//! Pause monitor: how long a feed usually pauses in one security, learnt from its prices, and whether it pauses for too long.
//!
//! Time is that of the inputs, and only open hours count: a pause ends with the next price or with the close. What was
//! learnt is forgotten after two sessions; where an exchange never closes, after two days. A security whose pauses are long
//! or whose prices are few has no usual pause, so it is never flagged.

use domain::Timestamp;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// No shorter pause is flagged.
pub(super) const SILENCE_SECONDS_MIN: i64 = 30;
/// A security that usually pauses for so long that more than this would pass before it is flagged is never flagged.
pub(super) const SILENCE_SECONDS_MAX: i64 = 900;
/// A pause is flagged when it is so many times as long as the longest one known.
pub(super) const PAUSE_FACTOR: i64 = 4;
/// Open hours that must have been seen before a pause is flagged.
pub(super) const LEARNING_SECONDS: i64 = 3_600;
/// Prices that must have been seen before a pause is flagged.
pub(super) const PRICES_MIN: u32 = 100;
/// What was learnt without a close in between is kept for this long, and for as long again.
const PERIOD_SECONDS: i64 = 86_400;

#[derive(Debug, Clone, Default)]
pub(super) struct PauseMonitor {
    /// Absent until the calendar was looked at.
    is_open: Option<bool>,
    /// The last price or the open; absent while no pause is measured.
    since: Option<Timestamp>,
    is_flagged: bool,
    /// When the newest period began.
    began: Timestamp,
    /// The newest period, and the one before it.
    periods: [LearntPauses; 2],
}

#[derive(Debug, Clone, Copy, Default)]
struct LearntPauses {
    longest_nanos: i64,
    seen_nanos: i64,
    prices: u32,
}

impl PauseMonitor {
    /// A price came.
    #[inline]
    pub(super) fn on_price(&mut self, at: Timestamp) {
        if self.is_open != Some(true) {
            return;
        }
        self.learn_pause(at);
        self.periods[0].prices = self.periods[0].prices.saturating_add(1);
        self.since = Some(at);
    }

    /// The prices were lost for a known reason: no pause is measured until the next price.
    pub(super) fn on_gap(&mut self) {
        (self.since, self.is_flagged) = (None, false);
    }

    /// Advances the clock; whether the feed pauses for too long since now.
    pub(super) fn advance(&mut self, at: Timestamp, is_open: bool) -> bool {
        match self.is_open.replace(is_open) {
            Some(false) if is_open => self.since = Some(at),
            Some(true) if !is_open => {
                self.learn_pause(at);
                self.begin_period(at);
            }
            None => self.began = at,
            Some(_) if at.seconds_since(self.began) >= PERIOD_SECONDS => self.begin_period(at),
            Some(_) => {}
        }
        let is_silent = !self.is_flagged && self.pause(at) > self.limit_nanos().unwrap_or(i64::MAX);
        self.is_flagged |= is_silent;
        is_silent
    }

    /// A pause that was flagged is not usual: alone it must not make the next one as long as the factor allows, and however
    /// long it was, the next one is noticed. But the same pause again is not flagged again where it was shorter than that.
    #[inline]
    fn learn_pause(&mut self, at: Timestamp) {
        let pause = self.pause(at);
        let flagged_max = SILENCE_SECONDS_MAX * NANOS_PER_SECOND / PAUSE_FACTOR;
        let usual = if self.is_flagged { (pause / PAUSE_FACTOR).min(flagged_max) } else { pause };
        let newest = &mut self.periods[0];
        newest.longest_nanos = newest.longest_nanos.max(usual);
        newest.seen_nanos = newest.seen_nanos.saturating_add(pause);
        (self.since, self.is_flagged) = (None, false);
    }

    #[inline]
    fn pause(&self, at: Timestamp) -> i64 {
        self.since.map_or(0, |since| at.0.saturating_sub(since.0).max(0))
    }

    fn begin_period(&mut self, at: Timestamp) {
        self.began = at;
        self.periods = [LearntPauses::default(), self.periods[0]];
    }

    /// The longest pause that is not flagged; absent where none is.
    fn limit_nanos(&self) -> Option<i64> {
        let [newest, before] = &self.periods;
        let is_learnt = newest.seen_nanos.saturating_add(before.seen_nanos) >= LEARNING_SECONDS * NANOS_PER_SECOND
            && newest.prices.saturating_add(before.prices) >= PRICES_MIN;
        let longest = newest.longest_nanos.max(before.longest_nanos);
        let limit = longest.saturating_mul(PAUSE_FACTOR).max(SILENCE_SECONDS_MIN * NANOS_PER_SECOND);
        (is_learnt && limit <= SILENCE_SECONDS_MAX * NANOS_PER_SECOND).then_some(limit)
    }
}

#[cfg(test)]
mod tests {
    use domain::SeededRng;

    use super::*;

    /// Runs the clock second by second from one instant to another, with prices at given seconds; the seconds at which
    /// the feed was flagged.
    fn flagged(
        monitor: &mut PauseMonitor,
        seconds: std::ops::Range<i64>,
        is_open: impl Fn(i64) -> bool,
        mut has_price: impl FnMut(i64) -> bool,
    ) -> Vec<i64> {
        let mut flagged = Vec::new();
        for second in seconds {
            let at = Timestamp(0).plus_seconds(second);
            if monitor.advance(at, is_open(second)) {
                flagged.push(second);
            }
            if has_price(second) {
                monitor.on_price(at);
            }
        }
        flagged
    }

    const ALWAYS: fn(i64) -> bool = |_| true;
    const NEVER: fn(i64) -> bool = |_| false;
    const HOUR: i64 = 3_600;
    const DAY: i64 = 24 * HOUR;

    #[test]
    fn a_steady_feed_is_flagged_once_when_it_falls_silent() {
        let mut monitor = PauseMonitor::default();
        assert!(flagged(&mut monitor, 0..2 * HOUR, ALWAYS, |second| second % 2 == 0).is_empty());
        let last = 2 * HOUR - 2;
        assert_eq!(flagged(&mut monitor, 2 * HOUR..3 * HOUR, ALWAYS, NEVER), [last + SILENCE_SECONDS_MIN + 1]);
    }

    #[test]
    fn the_limit_follows_the_longest_pause() {
        let mut monitor = PauseMonitor::default();
        assert!(flagged(&mut monitor, 0..2 * HOUR, ALWAYS, |second| second % 20 == 0).is_empty());
        let last = 2 * HOUR - 20;
        assert_eq!(flagged(&mut monitor, 2 * HOUR..3 * HOUR, ALWAYS, NEVER), [last + PAUSE_FACTOR * 20 + 1]);
    }

    #[test]
    fn a_flagged_pause_alone_does_not_make_the_limit_longer_than_itself() {
        let mut monitor = PauseMonitor::default();
        assert!(flagged(&mut monitor, 0..2 * HOUR, ALWAYS, |second| second % 2 == 0).is_empty());
        let silence = 2 * HOUR..2 * HOUR + 600;
        assert_eq!(flagged(&mut monitor, silence, ALWAYS, NEVER).len(), 1);
        let back = 2 * HOUR + 600..3 * HOUR;
        assert!(flagged(&mut monitor, back, ALWAYS, |second| second % 2 == 0).is_empty());
        let last = 3 * HOUR - 2;
        assert_eq!(flagged(&mut monitor, 3 * HOUR..4 * HOUR, ALWAYS, NEVER), [last + 602 + 1]);
    }

    #[test]
    fn a_feed_that_was_dead_for_long_is_noticed_again() {
        for dead in [20 * 60, 2 * HOUR] {
            let mut monitor = PauseMonitor::default();
            assert!(flagged(&mut monitor, 0..2 * HOUR, ALWAYS, |second| second % 2 == 0).is_empty());
            let (back, end) = (2 * HOUR + dead, 3 * HOUR + dead);
            assert_eq!(flagged(&mut monitor, 2 * HOUR..back, ALWAYS, NEVER).len(), 1);
            assert!(flagged(&mut monitor, back..end, ALWAYS, |second| second % 2 == 0).is_empty());
            let again = flagged(&mut monitor, end..end + 2 * HOUR, ALWAYS, NEVER);
            assert_eq!(again, [end - 2 + SILENCE_SECONDS_MAX + 1], "dead for {dead} s");
        }
    }

    #[test]
    fn a_feed_that_was_dead_until_the_close_is_noticed_the_next_day() {
        let is_open = |second: i64| second % DAY < 8 * HOUR;
        let mut monitor = PauseMonitor::default();
        assert!(flagged(&mut monitor, 0..4 * HOUR, is_open, |second| second % 2 == 0).is_empty());
        assert_eq!(flagged(&mut monitor, 4 * HOUR..DAY, is_open, NEVER).len(), 1);
        assert_eq!(flagged(&mut monitor, DAY..2 * DAY, is_open, NEVER), [DAY + SILENCE_SECONDS_MAX + 1]);
    }

    #[test]
    fn nothing_is_flagged_before_enough_was_seen() {
        let mut young = PauseMonitor::default();
        assert!(flagged(&mut young, 0..HOUR - 10, ALWAYS, |second| second % 2 == 0).is_empty());
        assert!(flagged(&mut young, HOUR - 10..2 * HOUR, ALWAYS, NEVER).is_empty());
        let mut rare = PauseMonitor::default();
        let every = 3 * HOUR / i64::from(PRICES_MIN - 2);
        assert!(flagged(&mut rare, 0..3 * HOUR, ALWAYS, |second| second % every == 1).is_empty());
        assert!(flagged(&mut rare, 3 * HOUR..6 * HOUR, ALWAYS, NEVER).is_empty());
    }

    #[test]
    fn a_security_that_trades_once_a_day_is_never_flagged_with_and_without_a_close() {
        let mut rng = SeededRng::from_seed(7);
        let prices: Vec<i64> = (0..8).map(|day| day * DAY + rng.between(8 * HOUR, 14 * HOUR)).collect();
        let opens_and_closes = |second: i64| (8 * HOUR..16 * HOUR).contains(&(second % DAY));
        for is_open in [&ALWAYS as &dyn Fn(i64) -> bool, &opens_and_closes] {
            // One price, and a burst of two hundred in as many seconds.
            for burst in [1, 200] {
                let has_price = |second: i64| prices.iter().any(|first| (*first..first + burst).contains(&second));
                assert!(flagged(&mut PauseMonitor::default(), 0..8 * DAY, is_open, has_price).is_empty());
            }
        }
    }

    #[test]
    fn random_prices_raise_no_false_alarm() {
        for (seed, mean_seconds) in [(1, 3), (2, 30), (3, 300)] {
            let mut rng = SeededRng::from_seed(seed);
            let has_price = |_| rng.below(mean_seconds) == 0;
            assert!(flagged(&mut PauseMonitor::default(), 0..2 * DAY, ALWAYS, has_price).is_empty(), "seed {seed}");
        }
    }

    #[test]
    fn closed_hours_are_no_silence_and_the_open_begins_a_pause() {
        let is_open = |second: i64| second % DAY < 8 * HOUR;
        let mut monitor = PauseMonitor::default();
        let steady = |second: i64| is_open(second) && second % 2 == 0;
        assert!(flagged(&mut monitor, 0..DAY, is_open, steady).is_empty());
        // The next morning nothing comes.
        assert_eq!(flagged(&mut monitor, DAY..2 * DAY, is_open, NEVER), [DAY + SILENCE_SECONDS_MIN + 1]);
    }

    #[test]
    fn what_was_learnt_is_forgotten_after_two_sessions() {
        let is_open = |second: i64| second % DAY < 8 * HOUR;
        let mut monitor = PauseMonitor::default();
        assert!(flagged(&mut monitor, 0..DAY, is_open, |second| second % 200 == 0).is_empty());
        assert!(flagged(&mut monitor, DAY..2 * DAY, is_open, |second| second % 2 == 0).is_empty());
        assert!(flagged(&mut monitor, 2 * DAY..2 * DAY + HOUR, is_open, |second| second % 2 == 0).is_empty());
        let last = 2 * DAY + HOUR - 2;
        assert_eq!(
            flagged(&mut monitor, 2 * DAY + HOUR..2 * DAY + 2 * HOUR, is_open, NEVER),
            [last + SILENCE_SECONDS_MIN + 1]
        );
    }
}
