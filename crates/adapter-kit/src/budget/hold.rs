//! Holds: the venue told us to wait (429 with Retry-After) or has banned us (418). A hold outlives a restart.

use std::fmt;

use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// A longer Retry-After than any that venues document is an error of theirs; so long is waited at most.
pub const HOLD_SECONDS_MAX: i64 = 7 * 24 * 3_600;
/// The wait after a 429 that names none.
pub const RETRY_SECONDS_DEFAULT: i64 = 60;
/// The wait after a ban that names none: the shortest that Binance documents.
pub const BAN_SECONDS_DEFAULT: i64 = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldKind {
    /// Too many requests; a client that goes on is banned.
    RetryAfter,
    Ban,
}

impl HoldKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::RetryAfter => "Retry-After",
            Self::Ban => "ban",
        }
    }

    fn default_seconds(self) -> i64 {
        match self {
            Self::RetryAfter => RETRY_SECONDS_DEFAULT,
            Self::Ban => BAN_SECONDS_DEFAULT,
        }
    }
}

/// Which requests a hold stops.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldScope {
    All,
    /// Those that count against the rate limit of this name. Cancels that do not may still leave.
    Limit(String),
}

/// What an answer says about waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldSignal {
    pub kind: HoldKind,
    pub scope: HoldScope,
    /// `None` where the venue named no time.
    pub seconds: Option<i64>,
}

impl HoldSignal {
    /// Of an HTTP answer: 429 and 418 hold everything, for as long as the header `Retry-After` says (seconds or a date).
    pub fn of_http(status: u16, retry_after: Option<&str>, now: Timestamp) -> Option<Self> {
        let kind = match status {
            429 => HoldKind::RetryAfter,
            418 => HoldKind::Ban,
            _ => return None,
        };
        let seconds = retry_after.and_then(|text| retry_after_seconds(text.trim(), now));
        Some(Self { kind, scope: HoldScope::All, seconds })
    }

    pub(super) fn until(&self, now: Timestamp) -> Timestamp {
        let seconds = self.seconds.filter(|seconds| *seconds >= 0).unwrap_or(self.kind.default_seconds());
        now.plus_seconds(seconds.min(HOLD_SECONDS_MAX))
    }
}

fn retry_after_seconds(text: &str, now: Timestamp) -> Option<i64> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse().unwrap_or(HOLD_SECONDS_MAX));
    }
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    let at = Timestamp::try_from(at).ok()?;
    Some(at.seconds_since(now).max(0))
}

/// A hold and what it stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) kind: HoldKind,
    pub(super) scope: HoldScope,
    pub(super) until: Timestamp,
}

impl fmt::Display for HoldScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all requests"),
            Self::Limit(name) => write!(f, "requests of the limit {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_for_as_long_as_it_says() {
        let now: Timestamp = "2026-11-16T05:00:00Z".parse().unwrap();
        let held = |status, header: Option<&str>| {
            HoldSignal::of_http(status, header, now).map(|signal| signal.until(now).seconds_since(now))
        };
        assert_eq!(held(200, Some("30")), None);
        assert_eq!(held(503, Some("30")), None);
        assert_eq!(held(429, Some("30")), Some(30));
        assert_eq!(held(429, Some(" 0 ")), Some(0));
        assert_eq!(held(429, Some("Mon, 16 Nov 2026 05:02:30 GMT")), Some(150));
        assert_eq!(held(429, Some("Mon, 16 Nov 2026 04:00:00 GMT")), Some(0));
        assert_eq!(held(429, Some("soon")), Some(RETRY_SECONDS_DEFAULT));
        assert_eq!(held(429, Some("-5")), Some(RETRY_SECONDS_DEFAULT));
        assert_eq!(held(429, None), Some(RETRY_SECONDS_DEFAULT));
        assert_eq!(held(418, None), Some(BAN_SECONDS_DEFAULT));
        assert_eq!(held(418, Some("259200")), Some(259_200));
        assert_eq!(held(418, Some("99999999999999999999999")), Some(HOLD_SECONDS_MAX));
    }
}
