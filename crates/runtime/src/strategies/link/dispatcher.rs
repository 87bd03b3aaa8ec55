//! Event dispatcher: one subscription of the event feed, fanned out to the queues of all strategies, so that the
//! engine's thread does not pay for each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bus::{EventFeed, EventReceiver};
use domain::{EventClass, StrategyId};
use tracing::error;

use super::strategy_queue::StrategyQueue;

/// Events that may wait for the dispatcher; with one more it is disconnected, with all running strategies.
const FEED_MAX: usize = 131_072;

const CLASSES: [EventClass; 15] = [
    EventClass::Tick,
    EventClass::Trade,
    EventClass::Book,
    EventClass::Bar,
    EventClass::Order,
    EventClass::OrderStatus,
    EventClass::Fill,
    EventClass::Transaction,
    EventClass::Position,
    EventClass::Cash,
    EventClass::Portfolio,
    EventClass::Session,
    EventClass::TradingState,
    EventClass::Generic,
    EventClass::Reference,
];

/// The queues of all attached strategies.
#[derive(Clone, Default)]
pub(super) struct StrategyQueues(Arc<Mutex<BTreeMap<StrategyId, Arc<StrategyQueue>>>>);

impl StrategyQueues {
    pub(super) fn add(&self, strategy: StrategyId, queue: Arc<StrategyQueue>) {
        self.lock().insert(strategy, queue);
    }

    pub(super) fn remove(&self, strategy: StrategyId) {
        self.lock().remove(&strategy);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<StrategyId, Arc<StrategyQueue>>> {
        // Each queue is consistent on its own.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the dispatcher; it ends with the feed.
pub(super) fn start(feed: &EventFeed, mailboxes: StrategyQueues) -> std::io::Result<()> {
    let (feed, listener) = (feed.clone(), feed.subscribe(&CLASSES, FEED_MAX));
    let deliver = move || deliver_all(&feed, listener, &mailboxes);
    std::thread::Builder::new().name("strategy-feed".into()).spawn(deliver).map(drop)
}

/// When it falls behind, the attached strategies are disconnected; for later ones it subscribes again.
fn deliver_all(feed: &EventFeed, mut listener: EventReceiver, mailboxes: &StrategyQueues) {
    loop {
        deliver(&mut listener, mailboxes);
        listener = feed.subscribe(&CLASSES, FEED_MAX);
        disconnect_all(feed, mailboxes);
        // A feed that closes after this check ends the new subscription.
        if feed.is_closed() {
            return;
        }
    }
}

fn deliver(listener: &mut EventReceiver, mailboxes: &StrategyQueues) {
    while let Some(published) = listener.recv_blocking() {
        for queue in mailboxes.lock().values() {
            queue.push(&published);
        }
    }
}

/// The subscription of a dispatcher without a thread.
pub(super) fn subscribe(feed: &EventFeed) -> EventReceiver {
    feed.subscribe(&CLASSES, FEED_MAX)
}

/// What waits now; by the thread of the caller.
pub(super) fn deliver_waiting(listener: &mut EventReceiver, mailboxes: &StrategyQueues) {
    while let Some(published) = listener.try_recv() {
        mailboxes.lock().values().for_each(|queue| queue.push(&published));
    }
}

fn disconnect_all(feed: &EventFeed, mailboxes: &StrategyQueues) {
    let left: Vec<_> = mailboxes.lock().values().cloned().collect();
    if left.is_empty() {
        return;
    }
    let has_ended = feed.is_closed();
    let reason = if has_ended { "the engine stopped" } else { "the server is too slow for its events" };
    error!(reason, strategies = left.len(), "strategy event feed ended; all strategies are disconnected");
    for queue in left {
        if has_ended { queue.end(reason) } else { queue.disconnect("the feed has ended") }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{AccountId, Amount, BalanceId, CashBalance, Currency, Event, PublishedEvent, Timestamp};

    use super::*;
    use crate::strategies::link::StrategyDelivery;

    /// Timeout of a test step on a slow machine.
    const PATIENCE: Duration = Duration::from_secs(30);

    fn cash(sequence: u64, strategy: StrategyId) -> PublishedEvent {
        let (id, account, currency) = (BalanceId(1), AccountId(1), Currency::USD);
        let balance = CashBalance {
            id,
            strategy,
            account,
            currency,
            amount: Amount::ZERO,
            venue_total: None,
            venue_locked: None,
        };
        PublishedEvent { sequence, at: Timestamp(0), event: Event::Cash(Arc::new(balance)) }
    }

    #[test]
    fn after_an_overrun_attached_strategies_are_disconnected_and_new_ones_get_events() {
        let (feed, mailboxes) = (EventFeed::default(), StrategyQueues::default());
        let [old, new] = [StrategyId(7), StrategyId(8)].map(|id| (id, Arc::new(StrategyQueue::new(id))));
        mailboxes.add(old.0, old.1.clone());
        let narrow = feed.subscribe(&CLASSES, 1);
        (1..=2).for_each(|sequence| feed.publish(&cash(sequence, old.0)));
        let dispatcher = {
            let (feed, mailboxes) = (feed.clone(), mailboxes.clone());
            std::thread::spawn(move || deliver_all(&feed, narrow, &mailboxes))
        };
        while old.1.receive(PATIENCE, &mut vec![]).is_ok() {}
        mailboxes.remove(old.0);
        mailboxes.add(new.0, new.1.clone());
        feed.publish(&cash(3, new.0));
        let mut heard = vec![];
        new.1.receive(PATIENCE, &mut heard).unwrap();
        assert!(matches!(&heard[..], [StrategyDelivery::Event(published)] if published.sequence == 3));
        feed.close();
        dispatcher.join().unwrap();
    }
}
