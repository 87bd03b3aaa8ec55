//! Rejects of the exchange: the venue's documented codes and texts.

/// A code and a text of the venue's list of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpotReject {
    pub(crate) code: i32,
    pub(crate) text: String,
}

pub(crate) const UNKNOWN_ORDER: &str = "Unknown order sent.";
pub(crate) const DUPLICATE_ORDER: &str = "Duplicate order sent.";
pub(crate) const INSUFFICIENT_BALANCE: &str = "Account has insufficient balance for requested action.";

impl SpotReject {
    pub(crate) fn new(code: i32, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    pub(crate) fn filter(name: &str) -> Self {
        Self::new(-1013, format!("Filter failure: {name}"))
    }

    pub(crate) fn bad_symbol() -> Self {
        Self::new(-1121, "Invalid symbol.")
    }

    pub(crate) fn order(text: &str) -> Self {
        Self::new(-2010, text)
    }

    pub(crate) fn cancel(text: &str) -> Self {
        Self::new(-2011, text)
    }

    pub(crate) fn amend(text: &str) -> Self {
        Self::new(-2038, text)
    }

    pub(crate) fn insufficient_balance() -> Self {
        Self::order(INSUFFICIENT_BALANCE)
    }

    pub(crate) fn outside_window() -> Self {
        Self::new(-1021, "Timestamp for this request is outside of the recvWindow.")
    }
}
