//! The last values for a new subscription. They are put in step by step as fast as the client reads, and everybody else
//! is served between two steps.

use domain::ReferenceData;
use stomp::lanes::SlotKey;
use stomp::session::{Marks, Subscription, SubscriptionKey};
use stomp::topics::TopicId;
use stomp::{Kind, Pattern, Time, Version};

use crate::last_values::LastValues;
use crate::limits::{SNAPSHOT_STEP_BYTES, SNAPSHOT_STEP_SUBJECTS};
use crate::mailbox::Mailbox;
use crate::seats::delivery;
use crate::subject::Subject;
use crate::telling::{MessageNumbers, Telling};

const MARKS: Marks = Marks { snapshot: true, redelivered: false, conflated: 0 };

/// The last values of one pattern on their way to a new subscription.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) subscription: SubscriptionKey,
    pattern: Pattern,
    /// The newest event when the subscription began; those behind it are heard anyway.
    begun: u64,
    /// The last subject that was looked at; none at the beginning.
    after: Option<Subject>,
}

impl Snapshot {
    /// One for each pattern of the subscription that selects topics.
    pub(crate) fn begin(subscription: &Subscription, begun: u64) -> Vec<Self> {
        let topics = subscription.patterns.iter().filter(|pattern| pattern.kind() == Kind::Topic);
        let begin =
            |pattern: &Pattern| Self { subscription: subscription.key, pattern: pattern.clone(), begun, after: None };
        topics.map(begin).collect()
    }

    /// Puts in the next values and says whether those were all. What is put in is the last value of this moment, so a topic
    /// never goes back in time.
    pub(crate) fn go_on(&mut self, last: &LastValues, step: &mut Step<'_>) -> bool {
        let after = self.after.take();
        let mut octets = 0;
        for (seen, (subject, price, telling)) in (1..).zip(last.behind(after.as_ref())) {
            octets += self.put_in(telling, price, step);
            if octets >= SNAPSHOT_STEP_BYTES || seen == SNAPSHOT_STEP_SUBJECTS {
                self.after = Some(subject.clone());
                return false;
            }
        }
        true
    }

    /// Puts in what the pattern selects of one subject and says how many octets that are. A price has a slot, where its
    /// newest value counts.
    fn put_in(&self, telling: &Telling, price: Option<TopicId>, step: &mut Step<'_>) -> usize {
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
            let subscription = self.subscription;
            match price {
                Some(topic) => step.mailbox.market_snapshot(SlotKey { subscription, topic }, message),
                None => step.mailbox.reliable(step.now, delivery(subscription, message, MARKS)),
            }
        }
        octets
    }
}

/// What a step of a snapshot works with.
pub(crate) struct Step<'a> {
    pub(crate) now: Time,
    pub(crate) reference: &'a ReferenceData,
    pub(crate) numbers: &'a mut MessageNumbers,
    /// Where it is put in.
    pub(crate) mailbox: &'a Mailbox,
}
