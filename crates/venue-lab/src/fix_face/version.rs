//! Versions of FIX that the faces speak.

use std::sync::{Arc, LazyLock};

use fix::Dictionary;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FixVersion {
    Fix42,
    Fix44,
}

impl FixVersion {
    /// The name of the face in the configuration and in the ready line.
    pub(crate) fn face(self) -> &'static str {
        match self {
            Self::Fix42 => "fix42",
            Self::Fix44 => "fix44",
        }
    }

    pub(crate) fn begin_string(self) -> &'static str {
        match self {
            Self::Fix42 => "FIX.4.2",
            Self::Fix44 => "FIX.4.4",
        }
    }

    /// Made once for all faces: to read its XML takes longer than all else that opens one.
    pub(crate) fn dictionary(self) -> Arc<Dictionary> {
        static FIX42: LazyLock<Arc<Dictionary>> = LazyLock::new(|| Arc::new(Dictionary::fix42()));
        static FIX44: LazyLock<Arc<Dictionary>> = LazyLock::new(|| Arc::new(Dictionary::fix44()));
        match self {
            Self::Fix42 => FIX42.clone(),
            Self::Fix44 => FIX44.clone(),
        }
    }

    /// FIX 4.2 has no code for a reason of its own in OrdRejReason (103) and CxlRejReason (102).
    pub(crate) fn other_order_reason(self) -> u64 {
        if self == Self::Fix42 { 0 } else { 99 }
    }

    pub(crate) fn other_cancel_reason(self) -> u64 {
        if self == Self::Fix42 { 2 } else { 99 }
    }
}
