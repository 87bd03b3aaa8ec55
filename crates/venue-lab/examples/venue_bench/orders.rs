//! Signed orders of the WebSocket API.

use std::fmt::Write;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::hmac;
use serde_json::Value;

use crate::BenchResult;

/// Where to connect, and what to sign with.
pub(crate) struct OrderSource {
    pub(crate) url: String,
    api_key: String,
    key: hmac::Key,
}

impl OrderSource {
    pub(crate) fn new(ready: &Value) -> BenchResult<Self> {
        let path = ready["keys"].as_str().ok_or("the ready line names no keys")?;
        let keys: Value = serde_json::from_slice(&fs::read(path)?)?;
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned).ok_or("a text is missing");
        let key = hmac::Key::new(hmac::HMAC_SHA256, text(&keys[0]["secret"])?.as_bytes());
        Ok(Self { url: text(&ready["binanceWsApi"])?, api_key: text(&keys[0]["apiKey"])?, key })
    }

    /// A request; the client's cost is in the figures too, so it makes the text without a tree of values.
    pub(crate) fn order(&self, id: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let key = &self.api_key;
        // By name, as the signature covers them.
        let payload = format!(
            "apiKey={key}&newClientOrderId={id}&price=50000&quantity=0.001&side=BUY&symbol=BTCUSDT&timeInForce=IOC&timestamp={now}&type=LIMIT"
        );
        let mut signature = String::with_capacity(64);
        for byte in hmac::sign(&self.key, payload.as_bytes()).as_ref() {
            // A string takes all that is written.
            let _ = write!(signature, "{byte:02x}");
        }
        format!(
            r#"{{"id":"{id}","method":"order.place","params":{{"apiKey":"{key}","newClientOrderId":"{id}","price":"50000","quantity":"0.001","side":"BUY","signature":"{signature}","symbol":"BTCUSDT","timeInForce":"IOC","timestamp":{now},"type":"LIMIT"}}}}"#
        )
    }
}

/// Whether an answer says that all went well; an echo has no status.
pub(crate) fn is_good(answer: &str) -> bool {
    !answer.starts_with('{') || answer.contains(r#""status":200"#)
}
