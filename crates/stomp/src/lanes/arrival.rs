//! Items of the reliable lane: messages for a connection that must not be lost.

use std::sync::Arc;

use crate::message::Message;
use crate::session::{Marks, SubscriptionKey, Token};
use crate::version::Version;

/// Memory of a message beside its text.
pub const OVERHEAD_BYTES: usize = 64;

/// A message for every subscription of a connection that matches. A publisher pushes it once; the connection matches it
/// with its subscriptions when its socket is writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcast {
    pub message: Arc<Message>,
    /// Sequence number among all broadcasts: a subscription receives those with numbers greater than its start.
    pub number: u64,
    /// This connection caused it.
    pub own: bool,
    /// Only a pattern that names its first segment matches it.
    pub apart: bool,
}

/// A message on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub subscription: SubscriptionKey,
    pub message: Arc<Message>,
    /// Set for a message of a queue.
    pub token: Option<Token>,
    pub marks: Marks,
}

impl Delivery {
    pub(crate) fn size(&self) -> usize {
        size(&self.message)
    }
}

/// A message that must not be lost. It is small, because a burst queues many of them at each connection.
#[derive(Debug)]
pub(crate) enum Arrival {
    ToAll(Broadcast),
    ToOne(Box<Delivery>),
}

impl Arrival {
    /// Octets that it counts for while it is queued.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::ToAll(broadcast) => size(&broadcast.message),
            Self::ToOne(delivery) => delivery.size(),
        }
    }
}

fn size(message: &Message) -> usize {
    message.tail(Version::V12).len() + OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_is_small() {
        assert_eq!(size_of::<Arrival>(), 24);
    }
}
