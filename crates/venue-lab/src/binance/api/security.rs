//! Security of signed requests: API key, timestamp, receive window, signature.

use super::error::ApiError;
use super::params::{Params, to_micros};
use crate::keys::{ApiKey, KeyRights, KeyRing};

const WINDOW_MICROS: i64 = 5_000_000;
const WINDOW_MAX_MICROS: i64 = 60_000_000;
const AHEAD_MAX_MICROS: i64 = 1_000_000;
const API_KEY_LENGTH_MAX: usize = 128;
/// Room for the parameters of a usual order.
const PAYLOAD_BYTES: usize = 512;

/// Who signed a request, and until when it may reach the matching engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignedRequest {
    pub(crate) account: u32,
    pub(crate) rights: KeyRights,
    pub(crate) deadline_micros: i64,
}

/// The key is unknown, or may not do this.
pub(crate) fn unauthorized() -> ApiError {
    ApiError::new(401, -2015, "Invalid API-key, IP, or permissions for action.")
}

pub(crate) fn find_key<'a>(keys: &'a KeyRing, name: Option<&str>) -> Result<&'a ApiKey, ApiError> {
    let is_legal = |name: &&str| {
        (1..=API_KEY_LENGTH_MAX).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let name = name.filter(is_legal).ok_or_else(|| ApiError::new(401, -2014, "API-key format invalid."))?;
    keys.get(name).ok_or_else(unauthorized)
}

/// Checks timestamp and window; returns until when the request is valid.
pub(crate) fn check_time(params: &Params, now: i64) -> Result<i64, ApiError> {
    params.required("timestamp")?;
    let timestamp = params.integer("timestamp").map_err(|_| ApiError::missing("timestamp"))?;
    let timestamp = to_micros(timestamp.ok_or_else(|| ApiError::missing("timestamp"))?);
    let window = match params.units("recvWindow")? {
        None => WINDOW_MICROS,
        // Milliseconds with three decimals are microseconds.
        Some(window) => window.0 / 100_000,
    };
    if window > WINDOW_MAX_MICROS {
        return Err(ApiError::bad_request(-1131, "recvWindow must be less than 60000."));
    }
    if timestamp >= now + AHEAD_MAX_MICROS {
        let text = "Timestamp for this request was 1000ms ahead of the server's time.";
        return Err(ApiError::bad_request(-1021, text));
    }
    let deadline = timestamp.saturating_add(window);
    if now > deadline {
        let text = "Timestamp for this request is outside of the recvWindow.";
        return Err(ApiError::bad_request(-1021, text));
    }
    Ok(deadline)
}

/// A signed REST request: the payload is what was sent, without the signature.
pub(crate) fn authenticate(
    keys: &KeyRing,
    key_name: Option<&str>,
    query: &str,
    body: &str,
    params: &Params,
    now: i64,
) -> Result<SignedRequest, ApiError> {
    let key = find_key(keys, key_name)?;
    let deadline_micros = check_time(params, now)?;
    let signature = params.required("signature")?;
    let payload = format!("{}{}", without_signature(query), without_signature(body));
    check_signature(key, &payload, signature)?;
    Ok(SignedRequest { account: key.account, rights: key.rights, deadline_micros })
}

/// A signed request of the WebSocket API: the payload is every parameter by name, not percent-encoded.
pub(crate) fn authenticate_sorted(keys: &KeyRing, params: &Params, now: i64) -> Result<SignedRequest, ApiError> {
    let key = find_key(keys, params.raw("apiKey"))?;
    let deadline_micros = check_time(params, now)?;
    let signature = params.required("signature")?;
    let mut payload = String::with_capacity(PAYLOAD_BYTES);
    for (name, value) in params.sorted().into_iter().filter(|(name, _)| *name != "signature") {
        let parts = [if payload.is_empty() { "" } else { "&" }, name, "=", value];
        parts.iter().for_each(|part| payload.push_str(part));
    }
    check_signature(key, &payload, signature)?;
    Ok(SignedRequest { account: key.account, rights: key.rights, deadline_micros })
}

pub(crate) fn check_signature(key: &ApiKey, payload: &str, signature: &str) -> Result<(), ApiError> {
    match key.verifier.verifies(payload.as_bytes(), signature) {
        true => Ok(()),
        false => Err(ApiError::bad_request(-1022, "Signature for this request is not valid.")),
    }
}

fn without_signature(form: &str) -> String {
    let pairs = form.split('&').filter(|pair| !pair.starts_with("signature="));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::SignatureVerifier;

    const NOW: i64 = 1_499_827_319_559_000;

    fn time(query: &str) -> Result<i64, i32> {
        check_time(&Params::decode(query, "").unwrap(), NOW).map_err(|error| error.code)
    }

    #[test]
    fn the_clock_rules_are_the_documented_ones() {
        assert_eq!(time("timestamp=1499827319559"), Ok(NOW + 5_000_000));
        assert_eq!(time("timestamp=1499827319559000"), Ok(NOW + 5_000_000));
        assert_eq!(time("timestamp=1499827320558"), Ok(NOW + 5_999_000));
        assert_eq!(time("timestamp=1499827320559"), Err(-1021));
        assert_eq!(time("timestamp=1499827314559"), Ok(NOW));
        assert_eq!(time("timestamp=1499827314558"), Err(-1021));
        assert_eq!(time("timestamp=1499827314558&recvWindow=5001"), Ok(NOW));
        assert_eq!(time("timestamp=1499827319559&recvWindow=0.5"), Ok(NOW + 500));
        assert_eq!(time("timestamp=1499827319559&recvWindow=60001"), Err(-1131));
        assert_eq!(time("timestamp=now"), Err(-1102));
        assert_eq!(time("recvWindow=5000"), Err(-1102));
    }

    #[test]
    fn a_signature_covers_query_and_body_as_they_were_sent() {
        let secret = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j";
        let verifier = SignatureVerifier::hmac(secret);
        let keys = KeyRing::from([("key".to_owned(), ApiKey { account: 3, rights: KeyRights::default(), verifier })]);
        let signature = "c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71";
        let query = "symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC";
        let body = format!("&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559&signature={signature}");
        let check = |key: Option<&str>, query: &str, body: &str| {
            let params = Params::decode(query, body).unwrap();
            authenticate(&keys, key, query, body, &params, NOW).map(|found| found.account).map_err(|error| error.code)
        };
        assert_eq!(check(Some("key"), query, &body), Ok(3));
        assert_eq!(check(Some("key"), &query.replace("BUY", "SELL"), &body), Err(-1022));
        assert_eq!(check(Some("other"), query, &body), Err(-2015));
        assert_eq!(check(Some("k y"), query, &body), Err(-2014));
        assert_eq!(check(None, query, &body), Err(-2014));
    }
}
