//! Why a request is not sent.

use std::fmt;

/// Why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRefusal {
    pub code: &'static str,
    pub reason: String,
}

impl RequestRefusal {
    pub(crate) fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

impl fmt::Display for RequestRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.reason)
    }
}

impl std::error::Error for RequestRefusal {}
