//! Items of the reliable lane: messages for a connection that must not be lost.

use std::sync::Arc;

use crate::message::StompMessage;
use crate::session::{DeliveryFlags, DeliveryToken, SubscriptionKey};
use crate::version::StompVersion;

/// Memory of a message beside its text.
pub const OVERHEAD_BYTES: usize = 64;

/// A message for every subscription of a connection that matches. A publisher pushes it once; the connection matches it
/// with its subscriptions when its socket is writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcast {
    pub message: Arc<StompMessage>,
    /// Sequence number among all broadcasts: a subscription receives those with numbers greater than its start.
    pub number: u64,
    /// This connection caused it.
    pub is_own: bool,
    /// Only a pattern that names its first segment matches it.
    pub is_reserved: bool,
}

/// A message on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionDelivery {
    pub subscription: SubscriptionKey,
    pub message: Arc<StompMessage>,
    /// Set for a message of a queue.
    pub token: Option<DeliveryToken>,
    pub flags: DeliveryFlags,
}

impl SubscriptionDelivery {
    pub(crate) fn size(&self) -> usize {
        size(&self.message)
    }
}

/// A message that must not be lost. It is small, because a burst queues many of them at each connection.
#[derive(Debug)]
pub(crate) enum ReliableItem {
    Broadcast(Broadcast),
    Direct(Box<SubscriptionDelivery>),
}

impl ReliableItem {
    /// Octets that it counts for while it is queued.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Broadcast(broadcast) => size(&broadcast.message),
            Self::Direct(delivery) => delivery.size(),
        }
    }
}

fn size(message: &StompMessage) -> usize {
    message.tail(StompVersion::V12).len() + OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_is_small() {
        assert_eq!(size_of::<ReliableItem>(), 24);
    }
}
