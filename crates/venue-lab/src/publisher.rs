//! Publisher: hands the events of each command to those who want them, and wakes no other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{self, error::TryRecvError};

use crate::exchange::{AccountIndex, VenueEvent};

/// Commands whose events wait for a subscriber; one that is further behind loses its subscription.
pub(crate) const EVENTS_MAX: usize = 10_000;

/// Events of one command, in order.
pub(crate) type VenueEvents = Arc<Vec<VenueEvent>>;

/// Takes the events of a command; false ends the subscription.
type EventSink = Box<dyn Fn(&VenueEvents) -> bool + Send>;

/// What a subscriber wants to be told of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EventInterest {
    pub(crate) accounts: BTreeSet<AccountIndex>,
    pub(crate) markets: BTreeSet<usize>,
    /// Every market, whatever `markets` has.
    pub(crate) is_every_market: bool,
    pub(crate) is_every_account: bool,
}

impl EventInterest {
    pub(crate) fn everything() -> Self {
        Self { is_every_market: true, is_every_account: true, ..Self::default() }
    }

    pub(crate) fn account(account: AccountIndex) -> Self {
        Self { accounts: BTreeSet::from([account]), ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        self.accounts.is_empty() && self.markets.is_empty() && !self.is_every_market && !self.is_every_account
    }

    fn wants_account(&self, account: AccountIndex) -> bool {
        self.is_every_account || self.accounts.contains(&account)
    }

    fn wants(&self, event: &VenueEvent) -> bool {
        match event {
            VenueEvent::Execution(report) => self.wants_account(report.order.account),
            VenueEvent::Balances { account, .. } | VenueEvent::Transfer { account, .. } => self.wants_account(*account),
            VenueEvent::Trade { market, .. } | VenueEvent::Depth { market, .. } => {
                self.is_every_market || self.markets.contains(market)
            }
        }
    }
}

struct Subscriber {
    interest: EventInterest,
    sink: EventSink,
}

#[derive(Default)]
struct SubscriberTable {
    next: u64,
    entries: BTreeMap<u64, Subscriber>,
    /// Those who want anything: a thousand idle connections cost a command nothing.
    interested: BTreeSet<u64>,
}

impl SubscriberTable {
    fn set_interest(&mut self, id: u64, interest: EventInterest) {
        let Some(subscriber) = self.entries.get_mut(&id) else { return };
        if interest.is_empty() {
            self.interested.remove(&id);
        } else {
            self.interested.insert(id);
        }
        subscriber.interest = interest;
    }

    fn remove(&mut self, id: u64) {
        self.entries.remove(&id);
        self.interested.remove(&id);
    }
}

#[derive(Default)]
pub(crate) struct EventPublisher {
    table: Mutex<SubscriberTable>,
}

impl EventPublisher {
    fn table(&self) -> MutexGuard<'_, SubscriberTable> {
        // Each change is one statement.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who want any of the events; one that takes no more is forgotten.
    pub(crate) fn publish(&self, batch: &VenueEvents) {
        let mut table = self.table();
        let SubscriberTable { entries, interested, .. } = &mut *table;
        interested.retain(|id| {
            let Some(subscriber) = entries.get(id) else { return false };
            let is_wanted = batch.iter().any(|event| subscriber.interest.wants(event));
            let stays = !is_wanted || (subscriber.sink)(batch);
            if !stays {
                entries.remove(id);
            }
            stays
        });
    }

    /// Events go to the sink, on the thread of the exchange, until the subscription is dropped.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        interest: EventInterest,
        sink: impl Fn(&VenueEvents) -> bool + Send + 'static,
    ) -> EventSubscription {
        let mut table = self.table();
        let id = table.next;
        table.next += 1;
        table.entries.insert(id, Subscriber { interest: EventInterest::default(), sink: Box::new(sink) });
        table.set_interest(id, interest);
        EventSubscription { publisher: self.clone(), id }
    }

    /// Events wait in a queue.
    pub(crate) fn subscribe_queue(self: &Arc<Self>, interest: EventInterest) -> EventQueue {
        let (sender, receiver) = mpsc::channel(EVENTS_MAX);
        let sink = move |batch: &VenueEvents| sender.try_send(batch.clone()).is_ok();
        EventQueue { subscription: self.subscribe(interest, sink), receiver }
    }
}

/// Dropping it ends it.
pub(crate) struct EventSubscription {
    publisher: Arc<EventPublisher>,
    id: u64,
}

impl EventSubscription {
    pub(crate) fn set_interest(&self, interest: EventInterest) {
        self.publisher.table().set_interest(self.id, interest);
    }
}

impl Drop for EventSubscription {
    fn drop(&mut self) {
        self.publisher.table().remove(self.id);
    }
}

/// A subscription whose events wait until they are taken.
pub(crate) struct EventQueue {
    subscription: EventSubscription,
    receiver: mpsc::Receiver<VenueEvents>,
}

impl EventQueue {
    pub(crate) fn set_interest(&self, interest: EventInterest) {
        self.subscription.set_interest(interest);
    }

    /// The events of the next command; none where the subscriber was too slow, or the exchange has stopped.
    pub(crate) async fn receive(&mut self) -> Option<VenueEvents> {
        self.receiver.recv().await
    }

    pub(crate) fn try_receive(&mut self) -> Result<VenueEvents, TryRecvError> {
        self.receiver.try_recv()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Units;

    fn moved(account: AccountIndex) -> VenueEvents {
        let asset = "USDT".to_owned();
        VenueEvents::new(vec![VenueEvent::Transfer { account, asset, amount: Units::ONE, time_micros: 0 }])
    }

    #[test]
    fn a_subscriber_is_told_what_it_wants_and_nothing_else() {
        let publisher = Arc::new(EventPublisher::default());
        let mut queue = publisher.subscribe_queue(EventInterest::default());
        publisher.publish(&moved(1));
        assert_eq!(queue.try_receive(), Err(TryRecvError::Empty), "it wants nothing yet");
        queue.set_interest(EventInterest::account(1));
        publisher.publish(&moved(0));
        publisher.publish(&moved(1));
        assert_eq!(queue.try_receive(), Ok(moved(1)));
        assert_eq!(queue.try_receive(), Err(TryRecvError::Empty));
        drop(queue);
        assert!(publisher.table().entries.is_empty());
    }

    #[test]
    fn a_subscriber_that_takes_nothing_loses_its_subscription_and_is_told() {
        let publisher = Arc::new(EventPublisher::default());
        let mut queue = publisher.subscribe_queue(EventInterest::account(1));
        for _ in 0..=EVENTS_MAX {
            publisher.publish(&moved(1));
        }
        let taken = std::iter::from_fn(|| queue.try_receive().ok()).count();
        assert_eq!(taken, EVENTS_MAX, "what came before is there");
        assert_eq!(queue.try_receive(), Err(TryRecvError::Disconnected));
    }
}
