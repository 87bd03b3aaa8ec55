//! Event router: sorts the engine's events once and forwards them to the sessions that they concern.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bus::EventFeed;
use domain::{Event, EventClass, PublishedEvent, Source, Text};
use tokio::sync::mpsc;

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

/// The client that an event concerns.
pub(crate) fn comp_id_of(event: &Event) -> Option<&Text> {
    match event {
        Event::OrderStatus(status) => status.client.as_ref().map(|view| &view.comp_id),
        Event::Refused(refused) => comp_id_of_source(&refused.source),
        Event::MassCancel(cancel) => comp_id_of_source(&cancel.source),
        _ => None,
    }
}

fn comp_id_of_source(source: &Source) -> Option<&Text> {
    match source {
        Source::Fix(comp_id) => Some(comp_id),
        _ => None,
    }
}

#[derive(Clone, Default)]
pub(crate) struct EventRouter(Arc<Mutex<BTreeMap<Text, mpsc::Sender<ReportSource>>>>);

impl EventRouter {
    /// Everything about a client from now on. When it ends, the session fell behind: catch up and join again.
    pub(crate) fn subscribe(&self, comp_id: &Text) -> mpsc::Receiver<ReportSource> {
        let (sender, receiver) = mpsc::channel(LIVE_EVENTS_MAX);
        self.subscribers().insert(comp_id.clone(), sender);
        receiver
    }

    /// Runs as long as the process.
    pub(crate) async fn run(self, feed: EventFeed) {
        loop {
            // First the new listener, then the cut: a session that joins after the cut misses nothing.
            let mut listener = feed.subscribe(&ROUTED_CLASSES, EVENTS_MAX);
            self.subscribers().clear();
            let mut counting = EventIndexer::default();
            while let Some(published) = listener.recv().await {
                // All that waits, so that the events of one client do not lie behind those of another for long.
                let others = std::iter::from_fn(|| listener.try_recv()).take(EVENTS_PER_TURN);
                for published in std::iter::once(published).chain(others) {
                    counting.index(published).into_iter().for_each(|source| self.route(source));
                }
            }
            tracing::warn!(
                "FIX event router fell behind the engine, or the engine stopped; sessions catch up from history"
            );
        }
    }

    fn route(&self, source: ReportSource) {
        let Some(comp_id) = comp_id_of(&source.published.event).cloned() else { return };
        let mut lines = self.subscribers();
        let is_gone = lines.get(&comp_id).is_some_and(|line| line.try_send(source).is_err());
        if is_gone {
            lines.remove(&comp_id);
        }
    }

    fn subscribers(&self) -> std::sync::MutexGuard<'_, BTreeMap<Text, mpsc::Sender<ReportSource>>> {
        // Each sender is consistent on its own.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
