//! Sequence and time of the input that is being applied.

use domain::{Sequenced, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) sequence: u64,
    pub(crate) at: Timestamp,
}

impl<T> From<&Sequenced<T>> for Moment {
    fn from(stamped: &Sequenced<T>) -> Self {
        Self { sequence: stamped.sequence, at: stamped.at }
    }
}
