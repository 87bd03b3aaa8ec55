//! Text of a page: escaping, appending, numbers.

use std::fmt::Write;

use domain::Timestamp;

use crate::csv::rounded;
use crate::series::Point;

/// Text that is safe between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub(super) fn append(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a string takes everything");
}

pub(super) fn span(points: &[Point]) -> Option<(Timestamp, Timestamp)> {
    Some((points.first()?.at, points.last()?.at))
}

/// `1,234,567.89`.
pub(super) fn money(value: f64) -> String {
    if value.is_nan() { "–".into() } else { grouped(&rounded(value, 2)) }
}

/// As money; from a thousand on without decimals, for an axis.
pub(super) fn round_money(value: f64) -> String {
    if value.abs() >= 1_000.0 { grouped(&rounded(value, 0)) } else { money(value) }
}

/// `1,234`.
pub(super) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// As money; small prices keep five decimals.
pub(super) fn price(value: f64) -> String {
    if value != 0.0 && value.abs() < 10.0 { format!("{value:.5}") } else { money(value) }
}

pub(super) fn percent(value: f64) -> String {
    format!("{} %", rounded(value * 100.0, 2))
}

pub(super) fn plain(value: f64) -> String {
    rounded(value, 2)
}

/// A dash for an absent value.
pub(super) fn maybe(value: Option<f64>, shown: fn(f64) -> String) -> String {
    value.map_or_else(|| "–".into(), shown)
}

/// In UTC, to the second.
pub(super) fn when(at: Timestamp) -> String {
    let text = Timestamp(at.0 - at.0.rem_euclid(1_000_000_000)).to_string();
    text.replace('T', " ").trim_end_matches('Z').to_owned()
}

pub(super) fn day(at: Timestamp) -> String {
    at.to_string()[..10].to_owned()
}

fn grouped(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let mut shown = String::from(sign);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    if !rest.is_empty() {
        shown.push('.');
        shown.push_str(rest);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_grouped_and_small_prices_keep_their_digits() {
        let shown = [0.0, 1.234_56, -999.0, 1_000.0, -1_234_567.891, f64::NAN].map(money);
        assert_eq!(shown, ["0.00", "1.23", "-999.00", "1,000.00", "-1,234,567.89", "–"]);
        assert_eq!([999.5, 1_000_000.0].map(round_money), ["999.50", "1,000,000"]);
        assert_eq!(count(1_234), "1,234");
        assert_eq!([0.0, 1.234_56, 1_234.5].map(price), ["0.00", "1.23456", "1,234.50"]);
    }

    #[test]
    fn instants_are_shown_to_the_second() {
        assert_eq!(when(Timestamp(1_735_689_600_123_000_000)), "2025-01-01 00:00:00");
        assert_eq!(day(Timestamp(1_735_689_600_123_000_000)), "2025-01-01");
    }
}
