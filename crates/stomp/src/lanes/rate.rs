//! Rates and token buckets in integers, so that a limit is exact.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::monotonic_time::MonotonicTime;

/// Events per second, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

/// The highest rate: a million a second.
const RATE_MAX: u64 = 1_000_000 * MILLIONTHS;
const MILLIONTHS: u64 = 1_000_000;

/// Why a text or number is not a valid rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidRate {
    /// Not digits with at most six decimals.
    NotANumber,
    /// A rate must be greater than zero and at most a million a second.
    OutOfRange,
}

impl fmt::Display for InvalidRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "a rate is a number with at most six decimals",
            Self::OutOfRange => "a rate is more than 0 and at most 1000000 per second",
        })
    }
}

impl std::error::Error for InvalidRate {}

impl Rate {
    pub fn from_millionths(millionths: u64) -> Result<Self, InvalidRate> {
        if (1..=RATE_MAX).contains(&millionths) { Ok(Self(millionths)) } else { Err(InvalidRate::OutOfRange) }
    }

    pub fn per_second(count: u32) -> Result<Self, InvalidRate> {
        Self::from_millionths(u64::from(count) * MILLIONTHS)
    }

    /// The time between two events that are exactly this frequent, rounded up.
    pub fn gap(self) -> Duration {
        Duration::from_nanos((MILLIONTHS * 1_000_000_000).div_ceil(self.0))
    }

    pub(crate) fn millionths(self) -> u64 {
        self.0
    }
}

impl FromStr for Rate {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || fraction.len() > 6 {
            return Err(InvalidRate::NotANumber);
        }
        let millionths = format!("{whole}{fraction:0<6}").parse().map_err(|_| InvalidRate::OutOfRange)?;
        Self::from_millionths(millionths)
    }
}

/// Tokens, counted in units so small that a refill per nanosecond is a whole number.
pub(crate) type TokenLevel = i128;

/// One token.
pub(crate) const TOKEN: TokenLevel = 1_000_000_000_000_000;

/// Fills steadily up to its capacity; may be in debt.
#[derive(Debug)]
pub(crate) struct RateBucket {
    level: TokenLevel,
    capacity: TokenLevel,
    /// Millionths of a token per second, which are units per nanosecond.
    refill: u64,
    at: MonotonicTime,
}

impl RateBucket {
    /// The refill must be greater than zero.
    pub(crate) fn full(capacity: TokenLevel, refill_millionths: u64) -> Self {
        Self { level: capacity, capacity, refill: refill_millionths, at: MonotonicTime(0) }
    }

    /// The current level.
    pub(crate) fn level(&mut self, now: MonotonicTime) -> TokenLevel {
        let gained = TokenLevel::from(self.refill) * TokenLevel::from(now.0.saturating_sub(self.at.0));
        self.level = self.capacity.min(self.level + gained);
        self.at = self.at.max(now);
        self.level
    }

    /// Takes one token, into debt down to `floor` where need be.
    pub(crate) fn withdraw(&mut self, floor: TokenLevel) {
        self.level = floor.max(self.level - TOKEN);
    }

    pub(crate) fn empty(&mut self, now: MonotonicTime) {
        (self.level, self.at) = (0, self.at.max(now));
    }

    /// When the level reaches that value, which must not exceed the capacity.
    pub(crate) fn full_at(&self, level: TokenLevel) -> MonotonicTime {
        let missing = level - self.level;
        if missing <= 0 {
            return self.at;
        }
        let nanos = missing.unsigned_abs().div_ceil(u128::from(self.refill));
        u64::try_from(nanos)
            .ok()
            .and_then(|nanos| self.at.0.checked_add(nanos))
            .map_or(MonotonicTime::NEVER, MonotonicTime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_exactly() {
        let read = |text: &str| text.parse::<Rate>().map(Rate::millionths);
        assert_eq!(read("50"), Ok(50_000_000));
        assert_eq!(read("0.1"), Ok(100_000));
        assert_eq!(read("2.000001"), Ok(2_000_001));
        assert_eq!(read("1000000"), Ok(RATE_MAX));
        for text in ["", ".", "1.", ".5", "-1", "1e3", "0.0000001", "50 "] {
            assert_eq!(read(text), Err(InvalidRate::NotANumber), "{text:?}");
        }
        for text in ["0", "0.0", "1000000.000001", "99999999999999999999"] {
            assert_eq!(read(text), Err(InvalidRate::OutOfRange), "{text:?}");
        }
        assert_eq!("0.1".parse::<Rate>().unwrap().gap(), Duration::from_secs(10));
    }

    #[test]
    fn a_bucket_is_full_exactly_when_it_says() {
        let mut bucket = RateBucket::full(2 * TOKEN, 3 * MILLIONTHS);
        bucket.withdraw(TokenLevel::MIN);
        bucket.withdraw(TokenLevel::MIN);
        bucket.withdraw(-TOKEN / 2);
        assert_eq!(bucket.level(MonotonicTime(0)), -TOKEN / 2);
        let full = bucket.full_at(TOKEN);
        assert_eq!(full, MonotonicTime::from_millis(500));
        assert!(bucket.level(MonotonicTime(full.0 - 1)) < TOKEN);
        assert!(bucket.level(full) >= TOKEN);
        assert_eq!(bucket.level(MonotonicTime::from_millis(9_000)), 2 * TOKEN);
    }
}
