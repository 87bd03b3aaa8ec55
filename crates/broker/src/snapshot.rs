//! The last values for a new subscription. They are put in step by step as fast as the client reads, and everybody else
//! is served between two steps.

use domain::ReferenceData;
use stomp::lanes::SlotKey;
use stomp::session::{Marks, Subscription, SubscriptionKey};
use stomp::topics::TopicId;
use stomp::{Kind, Pattern, Time, Version};

use crate::hub::{Place, State, delivery};
use crate::limits::{SNAPSHOT_STEP_BYTES, SNAPSHOT_STEP_SUBJECTS};
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
}

impl Place {
    /// Puts in more of a snapshot and says whether that was all. What is put in is the last value of this moment, so a
    /// topic never goes back in time.
    pub(crate) fn go_on(&self, now: Time, snapshot: &mut Snapshot, reference: &ReferenceData) -> bool {
        let mut state = self.hub().lock();
        let State { market, standing, numbers, .. } = &mut *state;
        let after = snapshot.after.take();
        let prices = market.behind(after.as_ref()).map(|(subject, topic)| (subject, Some(topic.id), &topic.last));
        let others = standing.behind(after.as_ref()).map(|(subject, telling)| (subject, None, telling));
        let mut octets = 0;
        for (seen, (subject, price, telling)) in (1..).zip(prices.chain(others)) {
            let step = Step { now, price, telling, reference };
            octets += self.put_in(snapshot, &step, numbers);
            if octets >= SNAPSHOT_STEP_BYTES || seen == SNAPSHOT_STEP_SUBJECTS {
                snapshot.after = Some(subject.clone());
                return false;
            }
        }
        true
    }

    /// Puts in what the pattern selects of one subject and says how many octets that are.
    fn put_in(&self, snapshot: &Snapshot, step: &Step<'_>, numbers: &mut MessageNumbers) -> usize {
        let telling = step.telling;
        if telling.number() > snapshot.begun {
            return 0;
        }
        let (words, mut octets) = (telling.words(step.reference), 0);
        for (place, root) in telling.roots().iter().enumerate() {
            if !snapshot.pattern.may_select(root) || !snapshot.pattern.matches(&words.destinations()[place]) {
                continue;
            }
            let message = &telling.messages(&words, numbers)[place];
            octets += message.tail(Version::V12).len();
            let subscription = snapshot.subscription;
            match step.price {
                Some(topic) => self.mailbox.market_snapshot(SlotKey { subscription, topic }, message),
                None => self.mailbox.reliable(step.now, delivery(subscription, message, MARKS)),
            }
        }
        octets
    }
}

/// One subject of a snapshot.
struct Step<'a> {
    now: Time,
    /// Where its newest value counts: the slot.
    price: Option<TopicId>,
    telling: &'a Telling,
    reference: &'a ReferenceData,
}
