//! Key of a subscription in its session, and the flags of a delivery to it.

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
