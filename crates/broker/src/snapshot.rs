//! Subscription snapshot: the last values that match a new subscription, delivered in steps as fast as the client
//! reads, so that other connections are served in between.

use std::sync::Arc;

use domain::ReferenceData;
use stomp::lanes::{Delivery, Lanes};
use stomp::session::{Marks, Subscription, SubscriptionKey};
use stomp::topics::TopicId;
use stomp::{Kind, Message, Pattern, Version};

use crate::last_values::LastValues;
use crate::limits::{SNAPSHOT_STEP_BYTES, SNAPSHOT_STEP_SUBJECTS};
use crate::subject::Subject;
use crate::telling::{MessageNumbers, Telling};

const MARKS: Marks = Marks { snapshot: true, redelivered: false, replayed: false, conflated: 0 };

/// The last values of one pattern for a new subscription.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) subscription: SubscriptionKey,
    pattern: Pattern,
    /// The newest event at the start of the subscription; later ones are received anyway.
    begun: u64,
    /// The newest broadcast at that time.
    since: u64,
    /// The last subject that was checked; `None` at the beginning.
    after: Option<Subject>,
}

impl Snapshot {
    /// One for each pattern of the subscription that selects topics.
    pub(crate) fn begin(subscription: &Subscription, begun: u64, since: u64) -> Vec<Self> {
        let topics = subscription.patterns.iter().filter(|pattern| pattern.kind() == Kind::Topic);
        let subscription = subscription.key;
        topics.map(|pattern| Self { subscription, pattern: pattern.clone(), begun, since, after: None }).collect()
    }

    /// Finds the next values and returns whether those were all. Values are current, so a topic never goes back in
    /// time, provided that they are queued before anything that is published later.
    pub(crate) fn go_on(&mut self, last: &LastValues, step: &mut Step<'_>) -> bool {
        let after = self.after.take();
        let mut octets = 0;
        for (seen, (subject, price, telling)) in (1..).zip(last.behind(after.as_ref())) {
            octets += self.find(telling, price, step);
            if octets >= SNAPSHOT_STEP_BYTES || seen == SNAPSHOT_STEP_SUBJECTS {
                self.after = Some(subject.clone());
                return false;
            }
        }
        true
    }

    /// Finds the matching topics of one subject and returns their octets. A price has a slot, where only its newest
    /// value counts.
    fn find(&self, telling: &Telling, price: Option<TopicId>, step: &mut Step<'_>) -> usize {
        if telling.number() > self.begun {
            return 0;
        }
        let (words, mut octets) = (telling.words(step.reference), 0);
        for (place, root) in telling.roots().iter().enumerate() {
            if !self.pattern.may_select(root) || !self.pattern.matches(&words.destinations()[place]) {
                continue;
            }
            let message = &telling.messages(&words, step.numbers)[place];
            octets += message.tail(Version::V12).len();
            let (subscription, since) = (self.subscription, self.since);
            step.found.push(Found { subscription, price, since, message: message.clone() });
        }
        octets
    }
}

/// Inputs of a snapshot step.
pub(crate) struct Step<'a> {
    pub(crate) reference: &'a ReferenceData,
    pub(crate) numbers: &'a mut MessageNumbers,
    pub(crate) found: &'a mut Vec<Found>,
}

/// A last value for a new subscription.
pub(crate) struct Found {
    subscription: SubscriptionKey,
    price: Option<TopicId>,
    since: u64,
    message: Arc<Message>,
}

impl Found {
    pub(crate) fn put_into(self, lanes: &mut Lanes) {
        let Self { subscription, price, since, message } = self;
        match price {
            Some(topic) => lanes.market_snapshot(subscription, topic, message, since),
            None => lanes.reliable(Delivery { subscription, message, token: None, marks: MARKS }),
        }
    }
}
