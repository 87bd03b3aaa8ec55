//! Deliveries to a subscription: its key, the flags of a delivery, and those that wait for an acknowledgement.

use std::collections::VecDeque;

/// The application's identifier of a message of a queue, given at delivery and returned with the acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryToken(pub u64);

/// One delivery that waits for its acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UnackedDelivery {
    delivery: u64,
    message: u64,
    /// `None` for a topic: there an acknowledgement only frees prefetch for the next message.
    token: Option<DeliveryToken>,
}

/// Deliveries in their order, so that "up to and including" is a prefix.
#[derive(Debug, Default)]
pub(crate) struct UnackedDeliveries {
    deliveries: VecDeque<UnackedDelivery>,
}

impl UnackedDeliveries {
    pub(crate) fn len(&self) -> usize {
        self.deliveries.len()
    }

    pub(crate) fn on_delivered(&mut self, delivery: u64, message: u64, token: Option<DeliveryToken>) {
        self.deliveries.push_back(UnackedDelivery { delivery, message, token });
    }

    pub(crate) fn by_delivery(&self, delivery: u64) -> Option<usize> {
        self.deliveries.binary_search_by_key(&delivery, |unsettled| unsettled.delivery).ok()
    }

    /// The oldest delivery of that message.
    pub(crate) fn by_message(&self, message: u64) -> Option<usize> {
        self.deliveries.iter().position(|unsettled| unsettled.message == message)
    }

    /// Removes the one at `place`, or all up to and including it.
    pub(crate) fn acknowledge(&mut self, place: usize, cumulative: bool) -> Vec<DeliveryToken> {
        let begin = if cumulative { 0 } else { place };
        self.deliveries.drain(begin..=place).filter_map(|unsettled| unsettled.token).collect()
    }
}

/// A subscription of one connection; keys are not reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubscriptionKey(pub u32);

/// The part of a message that differs between subscribers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryFlags {
    pub redelivered: bool,
    /// A last value from before the subscription.
    pub snapshot: bool,
    /// An event from before the subscription.
    pub replayed: bool,
    /// How many older values of the topic this one replaced.
    pub conflated: u64,
}
