//! Requests that the venue has not answered, with their deadlines.

use std::collections::VecDeque;

use domain::{OrderId, Timestamp};
use minicbor::{Decode, Encode};

/// In the order of their deadlines: all have the same timeout.
#[derive(Debug, Clone, Default, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct VenueTimeouts(#[n(0)] pub(crate) VecDeque<(Timestamp, OrderId)>);

impl VenueTimeouts {
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.0.front().map(|(due, _)| *due)
    }
}
