//! Parameters of a request, decoded, with the venue's error for each way in which one can be wrong.

use super::error::ApiError;
use crate::exchange::{Units, UnitsError, WireName};

const DECIMAL_RANGE: &str = r"^([0-9]{1,20})(\.[0-9]{1,20})?$";
const INTEGER_RANGE: &str = "^[0-9]{1,20}$";
const CLIENT_ID_RANGE: &str = "^[a-zA-Z0-9-_]{1,36}$";
const CLIENT_ID_LENGTH_MAX: usize = 36;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// From a query string and a body of the same form; the query string wins where both have a parameter.
    pub(crate) fn decode(query: &str, body: &str) -> Result<Self, ApiError> {
        let mut pairs = decode_form(query)?;
        for (name, value) in decode_form(body)? {
            if !pairs.iter().any(|(known, _)| *known == name) {
                pairs.push((name, value));
            }
        }
        Ok(Self(pairs))
    }

    /// Refuses what the method does not know.
    pub(crate) fn check_known(&self, known: &[&str]) -> Result<(), ApiError> {
        let read = self.0.iter().filter(|(name, _)| known.contains(&name.as_str())).count();
        if read < self.0.len() {
            let sent = self.0.len();
            let text = format!("Not all sent parameters were read; read '{read}' parameter(s) but was sent '{sent}'.");
            return Err(ApiError::bad_request(-1104, text));
        }
        Ok(())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// By name, for signatures of the WebSocket API.
    pub(crate) fn sorted(&self) -> Vec<(&str, &str)> {
        let mut pairs: Vec<_> = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        pairs.sort_unstable();
        pairs
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        match self.raw(name) {
            Some("") => Err(ApiError::empty(name)),
            other => Ok(other),
        }
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str, ApiError> {
        self.raw(name).filter(|text| !text.is_empty()).ok_or_else(|| ApiError::missing(name))
    }

    pub(crate) fn units(&self, name: &str) -> Result<Option<Units>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        Units::parse(text).map(Some).map_err(|error| match error {
            UnitsError::Malformed => ApiError::illegal(name, DECIMAL_RANGE),
            UnitsError::TooPrecise => {
                ApiError::bad_request(-1111, format!("Parameter '{name}' has too much precision."))
            }
            UnitsError::Overflow => ApiError::bad_request(-1108, format!("Parameter '{name}' overflowed.")),
        })
    }

    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 20;
        if !is_number {
            return Err(ApiError::illegal(name, INTEGER_RANGE));
        }
        let overflow = |_| ApiError::bad_request(-1108, format!("Parameter '{name}' overflowed."));
        text.parse().map(Some).map_err(overflow)
    }

    pub(crate) fn id(&self, name: &str) -> Result<Option<u64>, ApiError> {
        Ok(self.integer(name)?.map(i64::unsigned_abs))
    }

    /// A limit of a list: its default, and at most its maximum.
    pub(crate) fn limit(&self, usual: usize, most: usize) -> Result<usize, ApiError> {
        let Some(limit) = self.integer("limit")? else { return Ok(usual) };
        match usize::try_from(limit) {
            Ok(limit) if limit >= 1 => Ok(limit.min(most)),
            _ => Err(ApiError::invalid("limit")),
        }
    }

    pub(crate) fn boolean(&self, name: &str) -> Result<bool, ApiError> {
        match self.text(name)? {
            None => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(ApiError::illegal(name, "true|false")),
        }
    }

    pub(crate) fn choice<T: WireName>(&self, name: &str, error: (i32, &str)) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        T::parse(text).map(Some).ok_or_else(|| ApiError::bad_request(error.0, error.1))
    }

    pub(crate) fn client_id(&self, name: &str) -> Result<Option<String>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if text.len() > CLIENT_ID_LENGTH_MAX || !text.bytes().all(is_legal) {
            return Err(ApiError::illegal(name, CLIENT_ID_RANGE));
        }
        Ok(Some(text.to_owned()))
    }

    /// A time in milliseconds or microseconds, as microseconds.
    pub(crate) fn time(&self, name: &str) -> Result<Option<i64>, ApiError> {
        Ok(self.integer(name)?.map(to_micros))
    }
}

/// Microseconds have 16 digits from the year 2001 on, milliseconds until the year 2286 have 13.
pub(crate) fn to_micros(time: i64) -> i64 {
    if time >= 100_000_000_000_000 { time } else { time.saturating_mul(1_000) }
}

fn decode_form(text: &str) -> Result<Vec<(String, String)>, ApiError> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = percent_decode(name)?;
        if pairs.iter().any(|(known, _)| *known == name) {
            return Err(ApiError::bad_request(-1101, "Duplicate values for a parameter detected."));
        }
        pairs.push((name, percent_decode(value)?));
    }
    Ok(pairs)
}

pub(crate) fn percent_decode(text: &str) -> Result<String, ApiError> {
    let error = || ApiError::bad_request(-1100, "Illegal characters found in a parameter.");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().ok_or_else(error)?, rest.next().ok_or_else(error)?];
                let digits = std::str::from_utf8(&digits).map_err(|_| error())?;
                bytes.push(u8::from_str_radix(digits, 16).map_err(|_| error())?);
            }
            b'+' => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).map_err(|_| error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code<T: std::fmt::Debug>(result: Result<T, ApiError>) -> i32 {
        result.unwrap_err().code
    }

    #[test]
    fn the_query_string_wins_over_the_body() {
        let params = Params::decode("symbol=BTCUSDT&limit=5", "limit=7&side=BUY").unwrap();
        assert_eq!(params.limit(500, 1_000).unwrap(), 5);
        assert_eq!(params.raw("side"), Some("BUY"));
    }

    #[test]
    fn text_is_percent_decoded_as_utf8() {
        let params = Params::decode("symbol=%E5%B8%81%E5%AE%89%E4%BA%BA%E7%94%9FUSDT", "").unwrap();
        assert_eq!(params.raw("symbol"), Some("币安人生USDT"));
        assert_eq!(code(Params::decode("symbol=%E5%B8", "")), -1100);
        assert_eq!(code(Params::decode("symbol=%4", "")), -1100);
    }

    #[test]
    fn each_fault_has_its_code() {
        let params =
            Params::decode("a=&b=x&c=1.123456789&d=99999999999999999999&e=1&f=a%20b&g=999999999999", "").unwrap();
        assert_eq!(code(Params::decode("a=1&a=2", "")), -1101);
        assert_eq!(code(params.required("a")), -1102);
        assert_eq!(code(params.required("z")), -1102);
        assert_eq!(code(params.text("a")), -1105);
        assert_eq!(code(params.integer("b")), -1100);
        assert_eq!(code(params.units("b")), -1100);
        assert_eq!(code(params.units("c")), -1111);
        assert_eq!(code(params.integer("d")), -1108);
        assert_eq!(code(params.units("g")), -1108);
        assert_eq!(code(params.client_id("f")), -1100);
        assert_eq!(code(params.check_known(&["a", "b"])), -1104);
    }

    #[test]
    fn times_are_milliseconds_or_microseconds() {
        assert_eq!(to_micros(1_700_000_000_000), 1_700_000_000_000_000);
        assert_eq!(to_micros(1_700_000_000_000_123), 1_700_000_000_000_123);
    }
}
