//! Last-value cache: the newest price and the newest state of every topic that has one.

use std::sync::Arc;
use std::time::Duration;

use stomp::Time;
use stomp::topics::{Book, TopicId};

use crate::limits::MARKET_TOPICS_MAX;
use crate::seats::Price;
use crate::standing::Standing;
use crate::subject::{Family, Subject};
use crate::telling::Telling;

pub(crate) struct LastValues {
    /// Prices, with their activity.
    market: Book<Subject, Arc<Telling>>,
    /// All other last values.
    standing: Standing,
}

impl LastValues {
    /// A gap of `long_gap` between two prices of a topic is long; `state_topics` limits the other last values.
    pub(crate) fn new(long_gap: Duration, state_topics: usize) -> Self {
        Self { market: Book::new(MARKET_TOPICS_MAX, long_gap), standing: Standing::new(state_topics) }
    }

    /// Returns the slot and the activity of a price.
    pub(crate) fn remember(&mut self, now: Time, telling: &Arc<Telling>) -> Price {
        match Family::of(telling.event()) {
            // Beyond the limit of price topics, further ones are not conflated.
            Family::Market(subject) => return self.market.record(now, subject, telling.clone()).ok(),
            Family::State(subject) => self.standing.record(subject, telling),
            Family::LastOfState(subject) => self.standing.forget(&subject),
            Family::Passing => {}
        }
        None
    }

    /// From the beginning, or from after a subject on; a price with its slot.
    pub(crate) fn behind(
        &self,
        subject: Option<&Subject>,
    ) -> impl Iterator<Item = (&Subject, Option<TopicId>, &Telling)> {
        let prices = self.market.behind(subject).map(|(subject, topic)| (subject, Some(topic.id), &*topic.last));
        prices.chain(self.standing.behind(subject).map(|(subject, telling)| (subject, None, &**telling)))
    }
}
