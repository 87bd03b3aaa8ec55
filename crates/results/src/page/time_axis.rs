//! Labels of a time axis: a few round instants.

use domain::Timestamp;

use crate::page::html::{day, when};

/// Labels on an axis, at most.
const MARKS_MAX: i64 = 8;
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Spans between two labels; beyond them labels are at the first of a month.
const STEPS: [i64; 17] = [
    SECOND,
    5 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
];
const MONTH_STEPS: [i64; 5] = [1, 2, 3, 6, 12];
const DAYS_PER_MONTH: i64 = 30;

/// Instants and their labels, within the span.
pub(super) fn axis_labels(from: Timestamp, to: Timestamp) -> Vec<(Timestamp, String)> {
    let span = to.nanos_since(from);
    match STEPS.into_iter().find(|step| span / step <= MARKS_MAX) {
        Some(step) => regular(from, to, step),
        None => monthly(from, to, span / (DAYS_PER_MONTH * DAY)),
    }
}

fn regular(from: Timestamp, to: Timestamp, step: i64) -> Vec<(Timestamp, String)> {
    let first = from.0.div_euclid(step) + i64::from(from.0.rem_euclid(step) > 0);
    let marks = (0..=MARKS_MAX).map(|number| Timestamp(first.saturating_add(number).saturating_mul(step)));
    let label = |at: Timestamp| match when(at) {
        _ if at.0.rem_euclid(DAY) == 0 => day(at),
        text if step < MINUTE => text[11..].to_owned(),
        text => text[11..16].to_owned(),
    };
    marks.take_while(|at| *at <= to).map(|at| (at, label(at))).collect()
}

/// Every few months, counted from January, so that all years are labelled alike.
fn monthly(from: Timestamp, to: Timestamp, months: i64) -> Vec<(Timestamp, String)> {
    let yearly = MONTH_STEPS[MONTH_STEPS.len() - 1];
    let fits = |step: &i64| months / step <= MARKS_MAX;
    let step = MONTH_STEPS.into_iter().find(fits).unwrap_or_else(|| yearly * (months / yearly / MARKS_MAX + 1));
    let (year, month): (i64, i64) = year_and_month(from);
    let first = (year * 12 + month - 1).div_euclid(step) * step;
    let marks = (0..=MARKS_MAX + 1).filter_map(|number| first_of(first + number * step));
    marks.filter(|(at, _)| *at >= from && *at <= to).collect()
}

fn year_and_month(at: Timestamp) -> (i64, i64) {
    let text = day(at);
    (text[..4].parse().unwrap_or(1970), text[5..7].parse().unwrap_or(1))
}

/// The first of a month; months are counted from year 0.
fn first_of(month: i64) -> Option<(Timestamp, String)> {
    let label = format!("{:04}-{:02}", month.div_euclid(12), month.rem_euclid(12) + 1);
    Some((format!("{label}-01T00:00:00Z").parse().ok()?, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: &str, to: &str) -> String {
        let marks = axis_labels(from.parse().unwrap(), to.parse().unwrap());
        marks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn labels_are_at_round_instants() {
        let told = [
            labels("2025-01-01T00:30:00Z", "2025-01-01T05:00:00Z"),
            labels("2025-01-01T23:59:50Z", "2025-01-02T00:00:10Z"),
            labels("2025-01-31T18:00:00Z", "2025-02-04T12:00:00Z"),
            labels("2025-02-01T10:00:30Z", "2025-05-19T21:20:00Z"),
            labels("2015-02-01T00:00:00Z", "2025-05-19T00:00:00Z"),
        ];
        let wanted = [
            "01:00 02:00 03:00 04:00 05:00",
            "23:59:50 23:59:55 2025-01-02 00:00:05 00:00:10",
            "2025-02-01 12:00 2025-02-02 12:00 2025-02-03 12:00 2025-02-04 12:00",
            "2025-03 2025-04 2025-05",
            "2016-01 2018-01 2020-01 2022-01 2024-01",
        ];
        assert_eq!(told, wanted);
    }

    #[test]
    fn an_instant_has_no_more_than_one_mark() {
        assert_eq!(labels("2025-01-01T00:00:00.5Z", "2025-01-01T00:00:00.5Z"), "");
        assert_eq!(labels("2025-01-01T00:00:00Z", "2025-01-01T00:00:00Z"), "2025-01-01");
    }
}
