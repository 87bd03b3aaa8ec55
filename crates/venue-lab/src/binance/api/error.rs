//! Errors on the wire: HTTP status, code and text of the venue's documentation.

use serde_json::{Value, json};

use crate::exchange::SpotReject;
use crate::sequencer::Unavailable;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    pub(crate) code: i32,
    pub(crate) text: String,
    /// What `cancelReplace` says about its two halves.
    pub(crate) data: Option<Value>,
    pub(crate) retry_after_seconds: Option<i64>,
    /// The connection is cut instead of an answer.
    pub(crate) is_cut: bool,
}

impl ApiError {
    pub(crate) fn new(status: u16, code: i32, text: impl Into<String>) -> Self {
        Self { status, code, text: text.into(), data: None, retry_after_seconds: None, is_cut: false }
    }

    /// Nothing is known about what became of the request.
    pub(crate) fn unknown_fate() -> Self {
        let text = "Timeout waiting for response from backend server. Send status unknown; execution status unknown.";
        Self::new(503, -1007, text)
    }

    pub(crate) fn cut() -> Self {
        Self { is_cut: true, ..Self::unknown_fate() }
    }

    pub(crate) fn bad_request(code: i32, text: impl Into<String>) -> Self {
        Self::new(400, code, text)
    }

    pub(crate) fn missing(parameter: &str) -> Self {
        let text = format!("Mandatory parameter '{parameter}' was not sent, was empty/null, or malformed.");
        Self::bad_request(-1102, text)
    }

    pub(crate) fn empty(parameter: &str) -> Self {
        Self::bad_request(-1105, format!("Parameter '{parameter}' was empty."))
    }

    pub(crate) fn illegal(parameter: &str, range: &str) -> Self {
        let text = format!("Illegal characters found in parameter '{parameter}'; legal range is '{range}'.");
        Self::bad_request(-1100, text)
    }

    pub(crate) fn not_required(parameter: &str) -> Self {
        Self::bad_request(-1106, format!("Parameter '{parameter}' sent when not required."))
    }

    pub(crate) fn invalid(parameter: &str) -> Self {
        Self::bad_request(-1130, format!("Data sent for parameter '{parameter}' is not valid."))
    }

    pub(crate) fn body(&self) -> Value {
        let mut body = json!({ "code": self.code, "msg": self.text });
        if let Some(data) = &self.data {
            body["data"] = data.clone();
        }
        body
    }
}

impl From<SpotReject> for ApiError {
    fn from(reject: SpotReject) -> Self {
        let status = if reject.code == -1015 { 429 } else { 400 };
        Self::new(status, reject.code, reject.text)
    }
}

impl From<Unavailable> for ApiError {
    fn from(unavailable: Unavailable) -> Self {
        match unavailable {
            Unavailable::Busy => Self::new(
                503,
                -1008,
                "Server is currently overloaded with other requests. Please try again in a few minutes.",
            ),
            Unavailable::Stopped => {
                Self::new(503, -1001, "Internal error; unable to process your request. Please try again.")
            }
        }
    }
}
