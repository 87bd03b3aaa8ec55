//! Versions of FIX that the faces speak.

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

    pub(crate) fn dictionary(self) -> Dictionary {
        match self {
            Self::Fix42 => Dictionary::fix42(),
            Self::Fix44 => Dictionary::fix44(),
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
