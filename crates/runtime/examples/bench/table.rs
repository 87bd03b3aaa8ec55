//! One row for each figure: what was measured, what we aim at, and what stands beside it.

use std::borrow::Cow;
use std::time::Duration;

pub(crate) struct Row {
    what: Cow<'static, str>,
    measured: String,
    aim: String,
    verdict: String,
    beside: String,
}

impl Row {
    /// More is better.
    pub(crate) fn rate(what: &'static str, per_second: f64, aim: f64, beside: String) -> Self {
        let verdict = verdict(per_second / aim);
        Self {
            what: what.into(),
            measured: format!("{}/s", thousands(per_second)),
            aim: format!("{}/s", thousands(aim)),
            verdict,
            beside,
        }
    }

    /// Less is better.
    pub(crate) fn time(what: impl Into<Cow<'static, str>>, taken: Duration, aim: Duration, beside: String) -> Self {
        let verdict = verdict(aim.as_secs_f64() / taken.as_secs_f64());
        Self { what: what.into(), measured: format!("{taken:.1?}"), aim: format!("< {aim:.1?}"), verdict, beside }
    }

    pub(crate) fn mib(what: &'static str, mib: f64, aim: f64, beside: String) -> Self {
        let verdict = verdict(aim / mib);
        Self { what: what.into(), measured: format!("{mib:.1} MiB"), aim: format!("< {aim:.0} MiB"), verdict, beside }
    }

    /// What the machine does at the same time, to hold the others against.
    pub(crate) fn yardstick(what: &'static str, taken: Duration, beside: String) -> Self {
        Self {
            what: what.into(),
            measured: format!("{taken:.1?}"),
            aim: "–".into(),
            verdict: "to compare".into(),
            beside,
        }
    }
}

/// How often the aim is reached: 1.00x is on the spot.
fn verdict(reached: f64) -> String {
    let word = if reached >= 1.0 { "met" } else { "MISSED" };
    format!("{reached:.2}x {word}")
}

pub(crate) fn print(rows: &[Row]) {
    let line = |cells: [&str; 5]| {
        println!("{:<38} {:>14} {:>14} {:>13}  {}", cells[0], cells[1], cells[2], cells[3], cells[4]);
    };
    line(["figure", "measured", "aim", "of the aim", "beside it"]);
    for row in rows {
        line([&row.what, &row.measured, &row.aim, &row.verdict, &row.beside]);
    }
}

pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The time below which so many of a hundred lie.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}
