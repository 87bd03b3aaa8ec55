//! What comes to a connection and must not be lost.

use std::sync::Arc;

use crate::message::Message;
use crate::session::{Marks, SubscriptionKey, Token};
use crate::version::Version;

/// What a message takes beside its text.
pub const OVERHEAD_BYTES: usize = 64;

/// A message for every subscription of a connection that selects it. A publisher hands it over once, and the connection
/// itself finds out who of its subscriptions hears it, when its socket has room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcast {
    pub message: Arc<Message>,
    /// Its place among all broadcasts: a subscription hears those behind its beginning.
    pub number: u64,
    /// This connection caused it.
    pub own: bool,
    /// Only a pattern that names its first segment selects it.
    pub apart: bool,
}

/// A message on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub subscription: SubscriptionKey,
    pub message: Arc<Message>,
    /// Of a message of a queue.
    pub token: Option<Token>,
    pub marks: Marks,
}

impl Delivery {
    pub(crate) fn size(&self) -> usize {
        size(&self.message)
    }
}

/// Something that must not be lost. It is small, because a burst leaves many of them at each connection.
#[derive(Debug)]
pub(crate) enum Arrival {
    ToAll(Broadcast),
    ToOne(Box<Delivery>),
}

impl Arrival {
    /// Octets that count while it waits.
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
