//! Sequence and time of the input that is being applied.

use domain::{Stamped, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) sequence: u64,
    pub(crate) at: Timestamp,
}

impl<T> From<&Stamped<T>> for Moment {
    fn from(stamped: &Stamped<T>) -> Self {
        Self { sequence: stamped.sequence, at: stamped.at }
    }
}
