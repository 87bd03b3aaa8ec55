//! UTC timestamps in FIX format, with or without a fraction of a second.

/// Nanoseconds since 1970, UTC. The driver stamps every event with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcTimestamp(i64);

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// `YYYYMMDD-HH:MM:SS` without its fraction.
const WHOLE_SECONDS_LENGTH: usize = 17;

/// Digits of a second in our timestamps (`TimeStampPrecision`).
pub const FRACTION_DIGITS_MAX: u8 = 9;

impl UtcTimestamp {
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Later by so many seconds, saturating.
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(NANOS_PER_SECOND)))
    }

    /// Later by tenths of a second: heartbeats are checked at 1.2 and 2.4 intervals.
    pub fn plus_tenths(self, tenths: i64) -> Self {
        Self(self.0.saturating_add(tenths.saturating_mul(NANOS_PER_SECOND / 10)))
    }

    /// In whole seconds, as QuickFIX compares them: fractions are cut off before.
    pub fn seconds_apart(self, other: Self) -> u64 {
        self.0.div_euclid(NANOS_PER_SECOND).abs_diff(other.0.div_euclid(NANOS_PER_SECOND))
    }

    /// Parses `YYYYMMDD-HH:MM:SS` with up to nine digits of a fraction; a leap second counts as the second after it.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let shape = text.len() >= WHOLE_SECONDS_LENGTH && text[8] == b'-' && text[11] == b':' && text[14] == b':';
        if !shape {
            return None;
        }
        let (year, month, day) = (digits(&text[..4])?, digits(&text[4..6])?, digits(&text[6..8])?);
        let (hour, minute, second) = (digits(&text[9..11])?, digits(&text[12..14])?, digits(&text[15..17])?);
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let days = days_from_civil(year, month, day)?;
        let seconds = days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
        let fraction = fraction(&text[WHOLE_SECONDS_LENGTH..])?;
        seconds.checked_mul(NANOS_PER_SECOND)?.checked_add(fraction).map(Self)
    }

    /// Appends the time with so many digits after the second (none, or up to nine).
    pub fn write(self, fraction_digits: u8, out: &mut Vec<u8>) {
        let seconds = self.0.div_euclid(NANOS_PER_SECOND);
        let nanos = self.0.rem_euclid(NANOS_PER_SECOND).unsigned_abs();
        let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
        let in_day = seconds.rem_euclid(SECONDS_PER_DAY).unsigned_abs();
        write_padded(year, 4, out);
        write_padded(month, 2, out);
        write_padded(day, 2, out);
        for (mark, part) in [(b'-', in_day / 3600), (b':', in_day / 60 % 60), (b':', in_day % 60)] {
            out.push(mark);
            write_padded(part, 2, out);
        }
        if fraction_digits > 0 {
            let kept = fraction_digits.min(FRACTION_DIGITS_MAX);
            out.push(b'.');
            write_padded(nanos / 10_u64.pow(u32::from(FRACTION_DIGITS_MAX - kept)), kept, out);
        }
    }
}

fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

fn fraction(text: &[u8]) -> Option<i64> {
    let Some((mark, figures)) = text.split_first() else { return Some(0) };
    if *mark != b'.' || figures.is_empty() || figures.len() > usize::from(FRACTION_DIGITS_MAX) {
        return None;
    }
    let missing = u32::try_from(usize::from(FRACTION_DIGITS_MAX) - figures.len()).ok()?;
    Some(digits(figures)? * 10_i64.pow(missing))
}

/// Days since 1970-01-01 of the Gregorian calendar; `None` where there is no such day.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    // The year begins in March, so that the leap day is its last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn civil_from_days(days: i64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year.unsigned_abs(), month.unsigned_abs(), (day_of_year - (153 * month_from_march + 2) / 5 + 1).unsigned_abs())
}

fn write_padded(value: u64, width: u8, out: &mut Vec<u8>) {
    for place in (0..u32::from(width)).rev() {
        out.push(b"0123456789"[usize::try_from(value / 10_u64.pow(place) % 10).unwrap_or(0)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(time: UtcTimestamp, digits: u8) -> String {
        let mut out = Vec::new();
        time.write(digits, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_fraction_may_have_any_length_and_is_cut_to_the_precision() {
        let time = UtcTimestamp::parse(b"20260228-23:59:59.123456789").unwrap();
        assert_eq!(written(time, 0), "20260228-23:59:59");
        assert_eq!(written(time, 3), "20260228-23:59:59.123");
        assert_eq!(written(time, 9), "20260228-23:59:59.123456789");
        assert_eq!(UtcTimestamp::parse(b"20260228-23:59:59.1"), UtcTimestamp::parse(b"20260228-23:59:59.100"));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "20260228",
            "20260230-00:00:00",
            "20261301-00:00:00",
            "20260101-24:00:00",
            "20260101-00:60:00",
            "20260101 00:00:00",
            "20260101-00:00:00.",
            "20260101-00:00:00.1234567890",
            "+0260101-00:00:00",
        ] {
            assert_eq!(UtcTimestamp::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_leap_second_is_the_second_after() {
        assert_eq!(UtcTimestamp::parse(b"20161231-23:59:60"), UtcTimestamp::parse(b"20170101-00:00:00"));
    }

    proptest! {
        #[test]
        fn every_time_of_four_digit_years_survives_the_wire(nanos in 0_i64..8_000_000_000_000_000_000) {
            let time = UtcTimestamp::from_nanos(nanos);
            prop_assert_eq!(UtcTimestamp::parse(written(time, 9).as_bytes()), Some(time));
        }
    }
}
