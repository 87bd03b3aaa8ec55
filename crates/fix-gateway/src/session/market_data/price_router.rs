//! Price router: joins the engine's event feed once for all market data sessions, while there are subscriptions, and puts each
//! price into the mailboxes of the sessions that subscribe to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bus::{EventFeed, EventReceiver};
use domain::{Event, EventClass, PublishedEvent, SecurityId};
use tokio::sync::mpsc;

use super::price_mailbox::PriceMailbox;
use crate::limits::{EVENTS_PER_TURN, PRICE_EVENTS_MAX};

/// Event classes of prices and securities.
const ROUTED_CLASSES: [EventClass; 4] = [EventClass::Tick, EventClass::Book, EventClass::Trade, EventClass::Security];

#[derive(Clone)]
pub(crate) struct PriceRouter(Arc<RouterShared>);

struct RouterShared {
    feed: EventFeed,
    state: Mutex<RouterState>,
    /// The listener of the feed goes to the task that reads it.
    started: mpsc::UnboundedSender<EventReceiver>,
    waiting: Mutex<Option<mpsc::UnboundedReceiver<EventReceiver>>>,
}

#[derive(Default)]
struct RouterState {
    prices: BTreeMap<SecurityId, Vec<Arc<PriceMailbox>>>,
    /// Those that are told of securities.
    securities: Vec<Arc<PriceMailbox>>,
    is_listening: bool,
}

impl PriceRouter {
    pub(crate) fn new(feed: EventFeed) -> Self {
        let (started, waiting) = mpsc::unbounded_channel();
        Self(Arc::new(RouterShared { feed, state: Mutex::default(), started, waiting: Mutex::new(Some(waiting)) }))
    }

    /// From now on; what was before is asked of the engine after this call.
    pub(super) fn subscribe(&self, security: SecurityId, mailbox: &Arc<PriceMailbox>) {
        let mut state = self.state();
        let mailboxes = state.prices.entry(security).or_default();
        if !mailboxes.iter().any(|known| Arc::ptr_eq(known, mailbox)) {
            mailboxes.push(mailbox.clone());
        }
        self.listen(&mut state);
    }

    pub(super) fn unsubscribe(&self, security: SecurityId, mailbox: &Arc<PriceMailbox>) {
        let mut state = self.state();
        if let Some(mailboxes) = state.prices.get_mut(&security) {
            mailboxes.retain(|known| !Arc::ptr_eq(known, mailbox));
            if mailboxes.is_empty() {
                state.prices.remove(&security);
            }
        }
    }

    /// Changes of securities from now on.
    pub(super) fn watch_securities(&self, mailbox: &Arc<PriceMailbox>) {
        let mut state = self.state();
        if !state.securities.iter().any(|known| Arc::ptr_eq(known, mailbox)) {
            state.securities.push(mailbox.clone());
        }
        self.listen(&mut state);
    }

    /// The connection has ended.
    pub(super) fn remove(&self, mailbox: &Arc<PriceMailbox>) {
        let mut state = self.state();
        let is_other = |known: &Arc<PriceMailbox>| !Arc::ptr_eq(known, mailbox);
        state.prices.retain(|_, mailboxes| {
            mailboxes.retain(is_other);
            !mailboxes.is_empty()
        });
        state.securities.retain(is_other);
    }

    /// Joins before the caller asks the engine: what happens in between is an event.
    fn listen(&self, state: &mut RouterState) {
        if !state.is_listening {
            // A router whose task has ended routes nothing more.
            state.is_listening = self.0.started.send(self.join_feed()).is_ok();
        }
    }

    fn join_feed(&self) -> EventReceiver {
        self.0.feed.subscribe(&ROUTED_CLASSES, PRICE_EVENTS_MAX)
    }

    /// Runs as long as the process.
    pub(crate) async fn run(self) {
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut waiting) = waiting else { return };
        while let Some(listener) = waiting.recv().await {
            self.route_from(listener).await;
        }
    }

    /// Until nobody subscribes any more.
    async fn route_from(&self, mut listener: EventReceiver) {
        loop {
            while let Some(published) = listener.recv().await {
                let others = std::iter::from_fn(|| listener.try_recv()).take(EVENTS_PER_TURN);
                let events: Vec<_> = std::iter::once(published).chain(others).collect();
                if !self.route(&events) {
                    return;
                }
            }
            if self.0.feed.is_closed() {
                return;
            }
            tracing::warn!("FIX price router fell behind the engine; market data sessions read the prices again");
            listener = self.rejoin();
        }
    }

    /// False where nobody subscribes: the feed is left.
    fn route(&self, events: &[PublishedEvent]) -> bool {
        let mut state = self.state();
        for published in events {
            let mailboxes: &[Arc<PriceMailbox>] = match &published.event {
                Event::Security(_) => &state.securities,
                event => security_of(event).and_then(|security| state.prices.get(&security)).map_or(&[], Vec::as_slice),
            };
            mailboxes.iter().for_each(|mailbox| mailbox.put(published));
        }
        state.is_listening = !(state.prices.is_empty() && state.securities.is_empty());
        state.is_listening
    }

    fn rejoin(&self) -> EventReceiver {
        let state = self.state();
        let listener = self.join_feed();
        state.prices.values().flatten().chain(&state.securities).for_each(|mailbox| mailbox.on_events_lost());
        listener
    }

    fn state(&self) -> MutexGuard<'_, RouterState> {
        // Each list is consistent on its own.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn security_of(event: &Event) -> Option<SecurityId> {
    match event {
        Event::Tick(tick) => Some(tick.security),
        Event::Book(book) => Some(book.security),
        Event::Trade(trade) => Some(trade.security),
        _ => None,
    }
}
