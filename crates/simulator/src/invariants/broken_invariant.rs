//! A promise that was broken, and how a check says so.

use std::fmt;

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenInvariant {
    pub invariant: &'static str,
    pub detail: String,
}

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.detail)
    }
}

pub(crate) type InvariantResult = Result<(), BrokenInvariant>;

pub(crate) fn broken(invariant: &'static str, detail: impl Into<String>) -> BrokenInvariant {
    BrokenInvariant { invariant, detail: detail.into() }
}

pub(crate) fn ensure(holds: bool, invariant: &'static str, detail: impl FnOnce() -> String) -> InvariantResult {
    if holds { Ok(()) } else { Err(broken(invariant, detail())) }
}
