//! Subscription snapshot: the last values that match a new subscription, delivered in steps as fast as the client
//! reads, so that other connections are served in between.

use std::sync::Arc;

use domain::ReferenceData;
use stomp::lanes::{OutboundLanes, SubscriptionDelivery};
use stomp::session::{DeliveryFlags, Subscription, SubscriptionKey};
use stomp::topics::TopicId;
use stomp::{DestinationKind, DestinationPattern, StompMessage, StompVersion};

use crate::cache::cache_key::CacheKey;
use crate::cache::last_value_cache::LastValueCache;
use crate::hub::event_message::{EventMessage, MessageIds};
use crate::limits::{SNAPSHOT_STEP_BYTES, SNAPSHOT_STEP_SUBJECTS};

const SNAPSHOT_FLAGS: DeliveryFlags =
    DeliveryFlags { snapshot: true, redelivered: false, replayed: false, conflated: 0 };

/// The last values of one pattern for a new subscription.
#[derive(Debug)]
pub(crate) struct SubscriptionSnapshot {
    pub(crate) subscription: SubscriptionKey,
    pattern: DestinationPattern,
    /// The newest event at the start of the subscription; later ones are received anyway.
    last_event: u64,
    /// The newest broadcast at that time.
    last_broadcast: u64,
    /// The last subject that was checked; `None` at the beginning.
    after: Option<CacheKey>,
}

impl SubscriptionSnapshot {
    /// One for each pattern of the subscription that selects topics.
    pub(crate) fn for_subscription(subscription: &Subscription, begun: u64, since: u64) -> Vec<Self> {
        let topics = subscription.patterns.iter().filter(|pattern| pattern.kind() == DestinationKind::Topic);
        let subscription = subscription.key;
        topics
            .map(|pattern| Self {
                subscription,
                pattern: pattern.clone(),
                last_event: begun,
                last_broadcast: since,
                after: None,
            })
            .collect()
    }

    /// Finds the next values and returns whether those were all. Values are current, so a topic never goes back in
    /// time, provided that they are queued before anything that is published later.
    pub(crate) fn next_step(&mut self, last: &LastValueCache, step: &mut SnapshotStep<'_>) -> bool {
        let after = self.after.take();
        let mut octets = 0;
        for (seen, (subject, price, message)) in (1..).zip(last.iter_after(after.as_ref())) {
            octets += self.collect(message, price, step);
            if octets >= SNAPSHOT_STEP_BYTES || seen == SNAPSHOT_STEP_SUBJECTS {
                self.after = Some(subject.clone());
                return false;
            }
        }
        true
    }

    /// Finds the matching topics of one subject and returns their octets. A price has a slot, where only its newest
    /// value counts.
    fn collect(&self, telling: &EventMessage, price: Option<TopicId>, step: &mut SnapshotStep<'_>) -> usize {
        if telling.number() > self.last_event {
            return 0;
        }
        let (words, mut octets) = (telling.encoding(step.reference), 0);
        for (place, root) in telling.roots().iter().enumerate() {
            if !self.pattern.may_match(root) || !self.pattern.matches(&words.destinations()[place]) {
                continue;
            }
            let message = &telling.messages(&words, step.numbers)[place];
            octets += message.tail(StompVersion::V12).len();
            let (subscription, since) = (self.subscription, self.last_broadcast);
            step.found.push(SnapshotValue { subscription, price, since, message: message.clone() });
        }
        octets
    }
}

/// Inputs of a snapshot step.
pub(crate) struct SnapshotStep<'a> {
    pub(crate) reference: &'a ReferenceData,
    pub(crate) numbers: &'a mut MessageIds,
    pub(crate) found: &'a mut Vec<SnapshotValue>,
}

/// A last value for a new subscription.
pub(crate) struct SnapshotValue {
    subscription: SubscriptionKey,
    price: Option<TopicId>,
    since: u64,
    message: Arc<StompMessage>,
}

impl SnapshotValue {
    pub(crate) fn push_to(self, lanes: &mut OutboundLanes) {
        let Self { subscription, price, since, message } = self;
        match price {
            Some(topic) => lanes.push_market_snapshot(subscription, topic, message, since),
            None => {
                lanes.push_reliable(SubscriptionDelivery { subscription, message, token: None, flags: SNAPSHOT_FLAGS });
            }
        }
    }
}
