//! Timestamps and dates. Pure crates never read a clock.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use minicbor::{Decode, Decoder, Encode, Encoder};

const NANOS_PER_MILLI: i64 = 1_000_000;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The valid years of instants that are read. 64-bit nanoseconds reach a little further on either side, so that
/// additions to a valid instant still fit.
const VALID_YEARS: std::ops::RangeInclusive<i16> = 1678..=2261;
/// 1678-01-01 and 2262-01-01 in UTC.
const VALID_RANGE: std::ops::Range<i64> = -9_214_560_000 * NANOS_PER_SECOND..9_214_646_400 * NANOS_PER_SECOND;

/// An instant: nanoseconds since 1970 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct Timestamp(#[n(0)] pub i64);

impl Timestamp {
    /// An instant from milliseconds since 1970 in UTC; absent where it does not fit.
    pub fn from_millis(millis: i64) -> Option<Self> {
        millis.checked_mul(NANOS_PER_MILLI).map(Self)
    }

    /// Whole milliseconds since 1970 in UTC, rounded down.
    pub fn millis(self) -> i64 {
        self.0.div_euclid(NANOS_PER_MILLI)
    }

    /// So many seconds later, or earlier where they are negative; it stops at the ends of the range.
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(NANOS_PER_SECOND)))
    }

    /// So many milliseconds later, or earlier where they are negative; it stops at the ends of the range.
    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis.saturating_mul(NANOS_PER_MILLI)))
    }

    /// Nanoseconds from `earlier` to this; negative where it is later.
    pub fn nanos_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Whole seconds from `earlier` to this, rounded toward zero; negative where it is later.
    pub fn seconds_since(self, earlier: Self) -> i64 {
        self.nanos_since(earlier) / NANOS_PER_SECOND
    }

    /// This instant, or an error where it is out of the supported range.
    pub fn checked_range(self) -> Result<Self, InvalidTimestamp> {
        if VALID_RANGE.contains(&self.0) { Ok(self) } else { Err(InvalidTimestamp::OutOfRange) }
    }

    /// The same instant in the type of the calendar library.
    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_nanosecond(self.0.into()).expect("64-bit nanoseconds lie within the years jiff knows")
    }
}

/// Why a text or a calendar instant is no [`Timestamp`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidTimestamp {
    /// The text is not a date and time with a zone; with the reason.
    Unreadable(String),
    /// A year that 64-bit nanoseconds do not reach, or not with a margin for additions.
    OutOfRange,
}

impl fmt::Display for InvalidTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(reason) => f.write_str(reason),
            Self::OutOfRange => write!(f, "its year is not from {} to {}", VALID_YEARS.start(), VALID_YEARS.end()),
        }
    }
}

impl std::error::Error for InvalidTimestamp {}

/// A date and time with its zone, such as `2025-01-01T00:00:00Z`.
impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let read = text.parse::<jiff::Timestamp>().map_err(|error| InvalidTimestamp::Unreadable(error.to_string()))?;
        read.try_into()
    }
}

impl TryFrom<jiff::Timestamp> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(instant: jiff::Timestamp) -> Result<Self, InvalidTimestamp> {
        let nanos = i64::try_from(instant.as_nanosecond()).map_err(|_| InvalidTimestamp::OutOfRange)?;
        Self(nanos).checked_range()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_jiff().fmt(f)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_jiff().fmt(f)
    }
}

/// A calendar day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub civil::Date);

impl FromStr for Date {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<C> Encode<C> for Date {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.i32(i32::from(self.0.year()) * 10_000 + i32::from(self.0.month()) * 100 + i32::from(self.0.day()))?.ok()
    }
}

impl<'b, C> Decode<'b, C> for Date {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        let packed = d.i32()?;
        let part = |number: i32| i8::try_from(number).unwrap_or(0);
        let year = i16::try_from(packed / 10_000).unwrap_or(0);
        civil::Date::new(year, part(packed / 100 % 100), part(packed % 100))
            .map(Self)
            .map_err(|_| minicbor::decode::Error::message("not a date"))
    }
}

/// A time of the day in minutes since midnight; 1440 is the end of the day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct TimeOfDay(#[n(0)] pub u16);

/// A text that is not `HH:MM`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidTimeOfDay;

impl FromStr for TimeOfDay {
    type Err = InvalidTimeOfDay;

    fn from_str(text: &str) -> Result<Self, InvalidTimeOfDay> {
        let (hours, minutes) = text.split_once(':').ok_or(InvalidTimeOfDay)?;
        let number = |part: &str| part.parse::<u16>().map_err(|_| InvalidTimeOfDay);
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        // Bounds first: a large number of hours must not overflow.
        let total = (hours <= 24 && minutes < 60).then(|| hours * 60 + minutes).filter(|total| *total <= 1440);
        total.map(Self).ok_or(InvalidTimeOfDay)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl fmt::Debug for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::InvalidTimestamp::OutOfRange;
    use super::*;

    #[test]
    fn hours_are_read_and_written_alike() {
        for text in ["00:00", "09:30", "24:00"] {
            assert_eq!(text.parse::<TimeOfDay>().unwrap().to_string(), text);
        }
        for bad in ["9", "25:00", "1093:00", "24:01", "10:60", "x:00"] {
            assert_eq!(bad.parse::<TimeOfDay>(), Err(InvalidTimeOfDay), "{bad}");
        }
    }

    #[test]
    fn an_instant_is_refused_whose_year_64_bit_nanoseconds_do_not_reach() {
        for text in ["1678-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2261-12-31T23:59:59.999999999Z"] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), text);
        }
        for text in ["1600-01-01T00:00:00Z", "1677-12-31T23:59:59Z", "2262-01-01T00:00:00Z", "9999-03-03T10:00:00Z"] {
            let refused = text.parse::<Timestamp>().unwrap_err();
            assert_eq!(
                (refused.to_string(), refused),
                ("its year is not from 1678 to 2261".into(), OutOfRange),
                "{text}"
            );
        }
        assert!(matches!("soon".parse::<Timestamp>(), Err(InvalidTimestamp::Unreadable(_))));
    }

    #[test]
    fn a_date_survives_the_disk() {
        let date: Date = "2027-02-28".parse().unwrap();
        let bytes = minicbor::to_vec(date).unwrap();
        assert_eq!(minicbor::decode::<Date>(&bytes).unwrap(), date);
    }
}
