//! From the feed to the mailboxes: one listener for all strategies, so that the engine's thread does not pay for each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bus::{Feed, Listener};
use domain::{EventClass, StrategyId};
use tracing::error;

use super::mailbox::Mailbox;

/// Events that may wait for the dispatcher; with one more it is cut off and all strategies with it.
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

/// Who gets events now.
#[derive(Clone, Default)]
pub(super) struct Mailboxes(Arc<Mutex<BTreeMap<StrategyId, Arc<Mailbox>>>>);

impl Mailboxes {
    pub(super) fn add(&self, strategy: StrategyId, mailbox: Arc<Mailbox>) {
        self.lock().insert(strategy, mailbox);
    }

    pub(super) fn remove(&self, strategy: StrategyId) {
        self.lock().remove(&strategy);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<StrategyId, Arc<Mailbox>>> {
        // Each mailbox is whole on its own.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the dispatcher; it ends with the feed.
pub(super) fn start(feed: &Feed, mailboxes: Mailboxes) -> std::io::Result<()> {
    let listener = feed.listen(&CLASSES, FEED_MAX);
    std::thread::Builder::new().name("strategy-feed".into()).spawn(move || deliver(listener, &mailboxes)).map(drop)
}

fn deliver(mut listener: Listener, mailboxes: &Mailboxes) {
    while let Some(published) = listener.next_blocking() {
        for mailbox in mailboxes.lock().values() {
            mailbox.offer(&published);
        }
    }
    let left: Vec<_> = mailboxes.lock().values().cloned().collect();
    if !left.is_empty() {
        error!("the feed of strategies has ended: either the engine stopped or the machine is too slow");
        left.iter().for_each(|mailbox| mailbox.cut("the feed has ended"));
    }
}
