//! Answers of both ways, made alike: a result, an error with its meaning, or something that is no answer of the API.

pub mod error_codes;
pub mod refusal_codes;
pub mod order_answers;
pub mod account_answers;
pub mod market_answers;
pub mod exchange_info;

use adapter_kit::connection::VenueResponse;
use adapter_kit::{HoldKind, HoldScope, HoldSignal};
use domain::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use self::error_codes::{ErrorMeaning, known, meaning_of, meaning_of_status};
use super::wire_values::WireInteger;

/// So much of an answer that is not understood is shown.
const EXCERPT_CHARS: usize = 120;

/// What came back for a request.
#[derive(Debug, Clone, PartialEq)]
pub struct CallAnswer {
    pub status: u16,
    pub outcome: Result<Value, CallError>,
    pub counters: Vec<RateCounter>,
    pub hold: Option<HoldSignal>,
}

/// An error answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CallError {
    pub meaning: ErrorMeaning,
    /// Absent where the answer is not of the API (a page of a proxy or a firewall).
    pub code: Option<i64>,
    pub message: String,
    /// Further details, such as both halves of a cancel-replace.
    pub data: Option<Value>,
}

/// A counter of the venue, by the name of its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateCounter {
    pub name: String,
    pub used: u64,
    /// Over the WebSocket API the limit stands beside it.
    pub limit: Option<u32>,
}

/// One frame of the WebSocket API.
#[derive(Debug, Clone, PartialEq)]
pub enum SocketFrame {
    /// The answer to the request of this number.
    Answer(u64, CallAnswer),
    /// An error that belongs to no request: the session was revoked.
    SessionError(CallError),
    /// An event, with its subscription.
    Event(Option<i64>, Value),
    /// Not understood; an excerpt.
    Unreadable(String),
}

#[derive(Deserialize)]
struct WireError {
    code: WireInteger,
    #[serde(default)]
    msg: String,
    #[serde(default)]
    data: Option<Value>,
}

#[derive(Deserialize)]
struct WireFrame {
    #[serde(default)]
    id: Option<WireInteger>,
    #[serde(default)]
    status: Option<u16>,
    /// Present and null is another thing than absent.
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<WireError>,
    #[serde(default, rename = "rateLimits")]
    rate_limits: Vec<Value>,
    #[serde(default, rename = "subscriptionId")]
    subscription: Option<WireInteger>,
    #[serde(default)]
    event: Option<Value>,
}

/// A rate limit as it stands in answers and in `exchangeInfo`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WireRateLimit {
    #[serde(rename = "rateLimitType")]
    pub kind: String,
    pub interval: String,
    #[serde(rename = "intervalNum")]
    pub count: WireInteger,
    pub limit: WireInteger,
    #[serde(default, rename = "count")]
    pub used: Option<WireInteger>,
}

impl WireRateLimit {
    /// One name for the same limit over both ways, such as `REQUEST_WEIGHT/1M` and `ORDERS/10S`.
    pub fn name(&self) -> String {
        format!("{}/{}{}", self.kind, self.count.0, self.interval.chars().next().unwrap_or('?'))
    }

    pub fn span_seconds(&self) -> Option<i64> {
        let unit = match self.interval.as_str() {
            "SECOND" => 1,
            "MINUTE" => 60,
            "HOUR" => 3_600,
            "DAY" => 86_400,
            _ => return None,
        };
        self.count.0.checked_mul(unit).filter(|span| *span > 0)
    }
}

/// An answer of REST.
pub fn decode_rest(response: &VenueResponse, now: Timestamp) -> CallAnswer {
    let status = response.status;
    let body = serde_json::from_slice::<Value>(&response.body).ok();
    let outcome = match body {
        Some(body) if (200..300).contains(&status) => Ok(body),
        Some(body) => Err(error_of_value(status, body)),
        None => Err(unreadable(status, &response.text())),
    };
    let counters = response.headers.iter().filter_map(|(name, value)| counter_of_header(name, value)).collect();
    let hold = HoldSignal::of_http(status, response.header("retry-after"), now);
    let hold = hold.map(|hold| scoped(hold, outcome.as_ref().err()));
    CallAnswer { status, outcome, counters, hold }
}

/// A frame of the WebSocket API.
pub fn decode_frame(text: &str, now: Timestamp) -> SocketFrame {
    let Ok(frame) = serde_json::from_str::<WireFrame>(text) else {
        return SocketFrame::Unreadable(excerpt(text));
    };
    if let Some(event) = frame.event {
        return SocketFrame::Event(frame.subscription.map(|id| id.0), event);
    }
    let Some(status) = frame.status else { return SocketFrame::Unreadable(excerpt(text)) };
    let outcome = match (frame.result, frame.error) {
        (_, Some(error)) => Err(error_of(status, error)),
        (Some(result), None) if (200..300).contains(&status) => Ok(result),
        _ => Err(unreadable(status, text)),
    };
    let id = frame.id.and_then(|id| u64::try_from(id.0).ok());
    match (id, outcome) {
        (Some(id), outcome) => {
            let hold = hold_of_error(status, outcome.as_ref().err(), now);
            let counters = frame.rate_limits.iter().filter_map(counter_of_limit).collect();
            SocketFrame::Answer(id, CallAnswer { status, outcome, counters, hold })
        }
        (None, Err(error)) => SocketFrame::SessionError(error),
        (None, Ok(_)) => SocketFrame::Unreadable(excerpt(text)),
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn error_of_value(status: u16, body: Value) -> CallError {
    match WireError::deserialize(&body) {
        Ok(error) => error_of(status, error),
        Err(_) => unreadable(status, &body.to_string()),
    }
}

fn error_of(status: u16, error: WireError) -> CallError {
    let meaning = meaning_of(status, error.code.0, &error.msg);
    CallError { meaning, code: Some(error.code.0), message: error.msg, data: error.data }
}

/// A success that cannot be read is no success: the request may have taken effect.
fn unreadable(status: u16, text: &str) -> CallError {
    CallError { meaning: meaning_of_status(status), code: None, message: excerpt(text), data: None }
}

/// On one line: pages of proxies have many.
pub(crate) fn excerpt(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(EXCERPT_CHARS) {
        words.truncate(end);
        words.push('…');
    }
    words
}

/// `x-mbx-used-weight-1m` and `x-mbx-order-count-10s`; the kit has names in small letters.
fn counter_of_header(name: &str, value: &str) -> Option<RateCounter> {
    let rest = name.strip_prefix("x-mbx-")?;
    let (kind, span) = match (rest.strip_prefix("used-weight-"), rest.strip_prefix("order-count-")) {
        (Some(span), _) => ("REQUEST_WEIGHT", span),
        (None, Some(span)) => ("ORDERS", span),
        (None, None) => return None,
    };
    let name = format!("{kind}/{}", span.to_uppercase());
    Some(RateCounter { name, used: value.trim().parse().ok()?, limit: None })
}

fn counter_of_limit(limit: &Value) -> Option<RateCounter> {
    let limit = WireRateLimit::deserialize(limit).ok()?;
    let used = u64::try_from(limit.used?.0).ok()?;
    Some(RateCounter { name: limit.name(), used, limit: u32::try_from(limit.limit.0).ok() })
}

/// Over the WebSocket API the instant stands in the error: `retryAfter`, beside the venue's own time.
fn hold_of_error(status: u16, error: Option<&CallError>, now: Timestamp) -> Option<HoldSignal> {
    let hold = HoldSignal::of_http(status, None, now)?;
    let data = error.and_then(|error| error.data.as_ref());
    let millis = |name: &str| WireInteger::deserialize(data?.get(name)?).ok().map(|millis| millis.0);
    let seconds = match (millis("retryAfter"), millis("serverTime")) {
        (Some(until), Some(venue_now)) => Some((until.saturating_sub(venue_now).max(0) + 999) / 1_000),
        _ => None,
    };
    Some(scoped(HoldSignal { seconds, ..hold }, error))
}

/// Too many unfilled orders stop new orders; cancels and questions go on.
fn scoped(hold: HoldSignal, error: Option<&CallError>) -> HoldSignal {
    let is_of_orders = hold.kind == HoldKind::RetryAfter && error.is_some_and(|error| error.code == Some(-1015));
    match error.and_then(|error| orders_limit(&error.message)).filter(|_| is_of_orders) {
        Some(limit) => HoldSignal { scope: HoldScope::Limit(limit), ..hold },
        None => hold,
    }
}

/// The limit that a message names: "Too many new orders; current limit is 50 orders per 10 SECOND."
fn orders_limit(message: &str) -> Option<String> {
    let (_, span) = message.split_once(" orders per ")?;
    let mut words = span.split(|c: char| !c.is_ascii_alphanumeric());
    let (count, unit) = (words.next()?, words.next()?);
    let count: u32 = count.parse().ok()?;
    Some(format!("ORDERS/{count}{}", unit.chars().next()?))
}

impl CallError {
    /// For people: the venue's text with its code and the code's name.
    pub fn describe(&self) -> String {
        match self.code {
            Some(code) => {
                let name = known(code).map_or("", |known| known.name);
                format!("{} ({code}{}{name})", self.message, if name.is_empty() { "" } else { " " })
            }
            None => format!("not an answer of the API: {}", self.message),
        }
    }
}
