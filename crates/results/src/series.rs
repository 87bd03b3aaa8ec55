//! Time series in bounded memory, daily values, drawdown.

use domain::Timestamp;

/// Points of a curve; beyond that every second one is dropped.
pub(crate) const CURVE_POINTS_MAX: usize = 2_048;

const NANOS_PER_DAY: i64 = 86_400_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub at: Timestamp,
    pub value: f64,
}

/// Evenly downsampled items: the more there were, the fewer are kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Downsampled<T> {
    kept: Vec<T>,
    most: usize,
    /// One of this many items is kept.
    stride: u64,
    seen: u64,
}

impl<T> Downsampled<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Vec::new(), most, stride: 1, seen: 0 }
    }

    pub(crate) fn push(&mut self, item: T) {
        if self.seen.is_multiple_of(self.stride) {
            self.push_sampled(item);
        }
        self.seen += 1;
    }

    fn push_sampled(&mut self, item: T) {
        if self.kept.len() == self.most {
            let mut is_odd = false;
            self.kept.retain(|_| {
                is_odd = !is_odd;
                is_odd
            });
            self.stride *= 2;
            // The current item is the next one of the coarser sampling.
            if !self.seen.is_multiple_of(self.stride) {
                return;
            }
        }
        self.kept.push(item);
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.kept
    }
}

/// A line over time, with one point per instant. It gets coarser with the length of the run; the newest point is always
/// there.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    points: Downsampled<Point>,
    newest: Option<Point>,
}

impl Default for Curve {
    fn default() -> Self {
        Self { points: Downsampled::new(CURVE_POINTS_MAX), newest: None }
    }
}

impl Curve {
    pub fn push(&mut self, at: Timestamp, value: f64) {
        let point = Point { at, value };
        self.newest = Some(point);
        match self.points.kept.last_mut().filter(|last| last.at == at) {
            Some(last) => *last = point,
            None => self.points.push(point),
        }
    }

    /// In order of time, the newest included.
    pub fn points(&self) -> Vec<Point> {
        let mut points = self.points.items().to_vec();
        points.extend(self.newest.filter(|newest| points.last() != Some(newest)));
        points
    }

    pub fn is_empty(&self) -> bool {
        self.newest.is_none()
    }
}

/// The last value of a day in UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DayValue {
    /// Days since 1970.
    pub day: i64,
    pub at: Timestamp,
    pub value: f64,
}

impl DayValue {
    pub fn new(at: Timestamp, value: f64) -> Self {
        Self { day: Self::day_of(at), at, value }
    }

    /// The UTC day of an instant.
    pub fn day_of(at: Timestamp) -> i64 {
        at.0.div_euclid(NANOS_PER_DAY)
    }

    /// The midnight at which the day begins.
    pub fn begins(&self) -> Timestamp {
        Timestamp(self.day.saturating_mul(NANOS_PER_DAY))
    }

    /// Sets the value of a day: the last one of a day stays.
    pub fn record(days: &mut Vec<Self>, at: Timestamp, value: f64) {
        match days.last_mut() {
            Some(last) if Self::day_of(at) <= last.day => (last.at, last.value) = (at, value),
            _ => days.push(Self::new(at, value)),
        }
    }
}

/// Depth and duration of drawdowns. A drawdown begins with the last value at the peak and ends with the first that
/// reaches it again.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Drawdown {
    /// The highest value, at the last instant at which it was reached.
    peak: Option<Point>,
    is_falling: bool,
    /// The deepest drawdown, as a fraction of the peak before it.
    pub deepest: f64,
    longest_nanos: i64,
}

impl Drawdown {
    pub fn update(&mut self, at: Timestamp, value: f64) {
        let fallen_from = self.peak.filter(|peak| value < peak.value);
        if let Some(peak) = self.peak.filter(|_| self.is_falling || fallen_from.is_some()) {
            self.longest_nanos = self.longest_nanos.max(at.nanos_since(peak.at));
        }
        self.is_falling = fallen_from.is_some();
        match fallen_from {
            Some(peak) => self.deepest = self.deepest.max(drawdown_from(peak.value, value)),
            None => self.peak = Some(Point { at, value }),
        }
    }

    /// The current drawdown, as a fraction of the peak.
    pub fn present(&self, value: f64) -> f64 {
        self.peak.map_or(0.0, |peak| drawdown_from(peak.value, value).max(0.0))
    }

    /// The longest time from a peak until it was reached again, or until the last value.
    pub fn longest_days(&self) -> f64 {
        self.longest_nanos as f64 / NANOS_PER_DAY as f64
    }
}

fn drawdown_from(peak: f64, value: f64) -> f64 {
    if peak > 0.0 { 1.0 - value / peak } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i64) -> Timestamp {
        Timestamp(number * NANOS_PER_DAY)
    }

    #[test]
    fn a_curve_stays_short_and_keeps_both_ends() {
        let mut curve = Curve::default();
        for number in 0..1_000_000 {
            curve.push(Timestamp(number), number as f64);
        }
        let points = curve.points();
        assert!(points.len() <= CURVE_POINTS_MAX + 1, "{}", points.len());
        assert!(points.len() >= CURVE_POINTS_MAX / 2);
        assert_eq!((points[0].at, points[points.len() - 1].at), (Timestamp(0), Timestamp(999_999)));
        assert!(points.is_sorted_by(|earlier, later| earlier.at < later.at));
    }

    #[test]
    fn of_an_instant_the_last_value_stays() {
        let mut curve = Curve::default();
        [(1, 1.0), (2, 2.0), (2, 3.0)].into_iter().for_each(|(at, value)| curve.push(Timestamp(at), value));
        let points: Vec<_> = curve.points().iter().map(|point| (point.at.0, point.value)).collect();
        assert_eq!(points, [(1, 1.0), (2, 3.0)]);
    }

    #[test]
    fn of_a_day_the_last_value_stays() {
        let mut days = Vec::new();
        let noon = |number: i64| Timestamp(day(number).0 + NANOS_PER_DAY / 2);
        for (at, value) in [(noon(1), 1.0), (Timestamp(noon(1).0 + 5), 2.0), (noon(2), 3.0)] {
            DayValue::record(&mut days, at, value);
        }
        assert_eq!(days.iter().map(|day| (day.day, day.value)).collect::<Vec<_>>(), [(1, 2.0), (2, 3.0)]);
    }

    #[test]
    fn the_deepest_fall_and_the_longest_one_may_be_two() {
        let mut drawdown = Drawdown::default();
        // Peak 100: down to 75 and back within three days; peak 110: 1 % down for ten days.
        for (number, value) in [(0, 100.0), (1, 75.0), (3, 100.0), (4, 110.0), (14, 108.9)] {
            drawdown.update(day(number), value);
        }
        assert_eq!((drawdown.deepest, drawdown.longest_days()), (0.25, 10.0));
        assert!((drawdown.present(99.0) - 0.1).abs() < 1e-12);
    }

    /// Up to 120 on day 1, a day at 110, back on day 3, and then five days at the new high of 130.
    #[test]
    fn time_at_the_peak_is_no_time_below_it() {
        let mut drawdown = Drawdown::default();
        let values = [100.0, 120.0, 110.0, 130.0, 130.0, 130.0, 130.0, 130.0, 130.0, 131.0];
        for (number, value) in (0..).zip(values) {
            drawdown.update(day(number), value);
        }
        assert_eq!(drawdown.longest_days(), 2.0);
        // The next fall begins where the peak was last seen, on day 9, and lasts three days.
        [(9, 131.0), (10, 130.0), (12, 130.5)].into_iter().for_each(|(at, value)| drawdown.update(day(at), value));
        assert_eq!(drawdown.longest_days(), 3.0);
    }

    #[test]
    fn a_value_that_only_rises_has_no_drawdown() {
        let mut drawdown = Drawdown::default();
        for number in 0..5 {
            drawdown.update(day(number), 100.0 + number as f64);
        }
        assert_eq!((drawdown.deepest, drawdown.longest_days()), (0.0, 0.0));
    }
}
