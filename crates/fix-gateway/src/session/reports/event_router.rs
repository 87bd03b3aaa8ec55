//! Event router: sorts the engine's events once and forwards them to the sessions that they concern.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bus::{Catalogue, EventFeed};
use domain::{Event, EventClass, PublishedEvent, Text};
use fix::DropCopyRule;
use tokio::sync::mpsc;

use super::report_scope::{ReportScope, comp_id_of, is_copied};
use crate::limits::{EVENTS_MAX, EVENTS_PER_TURN, LIVE_EVENTS_MAX};

/// Event classes that can concern a client.
const ROUTED_CLASSES: [EventClass; 3] = [EventClass::OrderStatus, EventClass::Refused, EventClass::MassCancel];

/// An event or a refusal of a session's order, with its index among the order events of its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportSource {
    pub(crate) index: u32,
    pub(crate) published: PublishedEvent,
}

/// Counts the order events of each input, over all orders, so that every one has an id that a replay repeats.
#[derive(Debug, Default)]
pub(crate) struct EventIndexer {
    sequence: u64,
    next: u32,
}

impl EventIndexer {
    /// Its index; `None` for an event that does not concern an order of ours.
    pub(crate) fn index(&mut self, published: PublishedEvent) -> Option<ReportSource> {
        if !matches!(published.event, Event::OrderStatus(_) | Event::Refused(_) | Event::MassCancel(_)) {
            return None;
        }
        if published.sequence != self.sequence {
            *self = Self { sequence: published.sequence, next: 0 };
        }
        let place = self.next;
        self.next += 1;
        Some(ReportSource { index: place, published })
    }
}

/// Whom events go to.
#[derive(Default)]
struct Subscribers {
    clients: BTreeMap<Text, mpsc::Sender<ReportSource>>,
    copies: Vec<(Arc<DropCopyRule>, mpsc::Sender<ReportSource>)>,
}

#[derive(Clone, Default)]
pub(crate) struct EventRouter(Arc<Mutex<Subscribers>>);

impl EventRouter {
    /// Everything in scope from now on. When it ends, the session fell behind: catch up and join again.
    pub(crate) fn subscribe(&self, scope: &ReportScope) -> mpsc::Receiver<ReportSource> {
        let (sender, receiver) = mpsc::channel(LIVE_EVENTS_MAX);
        let mut subscribers = self.subscribers();
        match scope {
            ReportScope::Client(comp_id) => drop(subscribers.clients.insert(comp_id.clone(), sender)),
            ReportScope::Copies(rule) => subscribers.copies.push((rule.clone(), sender)),
        }
        receiver
    }

    /// Runs as long as the process.
    pub(crate) async fn run(self, feed: EventFeed, catalogue: Catalogue) {
        loop {
            // First the new listener, then the cut: a session that joins after the cut misses nothing.
            let mut listener = feed.subscribe(&ROUTED_CLASSES, EVENTS_MAX);
            *self.subscribers() = Subscribers::default();
            let mut counting = EventIndexer::default();
            while let Some(published) = listener.recv().await {
                // All that waits, so that the events of one client do not lie behind those of another for long.
                let others = std::iter::from_fn(|| listener.try_recv()).take(EVENTS_PER_TURN);
                for published in std::iter::once(published).chain(others) {
                    counting.index(published).into_iter().for_each(|source| self.route(source, &catalogue));
                }
            }
            tracing::warn!(
                "FIX event router fell behind the engine, or the engine stopped; sessions catch up from history"
            );
        }
    }

    /// A subscriber that does not keep up is cut off.
    fn route(&self, source: ReportSource, catalogue: &Catalogue) {
        let mut subscribers = self.subscribers();
        if !subscribers.copies.is_empty() {
            let (reference, event) = (catalogue.current(), &source.published.event);
            let stays = |(rule, line): &(Arc<DropCopyRule>, mpsc::Sender<ReportSource>)| {
                !line.is_closed() && (!is_copied(rule, event, &reference) || line.try_send(source.clone()).is_ok())
            };
            subscribers.copies.retain(stays);
        }
        let Some(comp_id) = comp_id_of(&source.published.event).cloned() else { return };
        let is_gone = subscribers.clients.get(&comp_id).is_some_and(|line| line.try_send(source).is_err());
        if is_gone {
            subscribers.clients.remove(&comp_id);
        }
    }

    fn subscribers(&self) -> MutexGuard<'_, Subscribers> {
        // Each sender is consistent on its own.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
