//! Event router: sorts the engine's events once and forwards them to the sessions that they concern.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bus::Feed;
use domain::{Event, EventClass, Published, Source, Text};
use tokio::sync::mpsc;

use crate::limits::{EVENTS_MAX, LIVE_EVENTS_MAX};

/// Event classes that can concern a client.
const HEARD: [EventClass; 3] = [EventClass::OrderStatus, EventClass::Refused, EventClass::MassCancel];

/// An event or a refusal of a session's order, with its index among the order events of its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Happening {
    pub(crate) place: u32,
    pub(crate) published: Published,
}

/// Counts the order events of each input, over all orders, so that every one has an id that a replay repeats.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    sequence: u64,
    next: u32,
}

impl Counting {
    /// Its index; `None` for an event that does not concern an order of ours.
    pub(crate) fn place(&mut self, published: Published) -> Option<Happening> {
        if !matches!(published.event, Event::OrderStatus(_) | Event::Refused(_) | Event::MassCancel(_)) {
            return None;
        }
        if published.sequence != self.sequence {
            *self = Self { sequence: published.sequence, next: 0 };
        }
        let place = self.next;
        self.next += 1;
        Some(Happening { place, published })
    }
}

/// The client that an event concerns.
pub(crate) fn client_of(event: &Event) -> Option<&Text> {
    match event {
        Event::OrderStatus(status) => status.client.as_ref().map(|view| &view.comp_id),
        Event::Refused(refused) => client_behind(&refused.source),
        Event::MassCancel(cancel) => client_behind(&cancel.source),
        _ => None,
    }
}

fn client_behind(source: &Source) -> Option<&Text> {
    match source {
        Source::Fix(comp_id) => Some(comp_id),
        _ => None,
    }
}

#[derive(Clone, Default)]
pub(crate) struct Switchboard(Arc<Mutex<BTreeMap<Text, mpsc::Sender<Happening>>>>);

impl Switchboard {
    /// Everything about a client from now on. When it ends, the session fell behind: catch up and join again.
    pub(crate) fn join(&self, comp_id: &Text) -> mpsc::Receiver<Happening> {
        let (sender, receiver) = mpsc::channel(LIVE_EVENTS_MAX);
        self.lines().insert(comp_id.clone(), sender);
        receiver
    }

    /// Runs as long as the process.
    pub(crate) async fn run(self, feed: Feed) {
        loop {
            // First the new listener, then the cut: a session that joins after the cut misses nothing.
            let mut listener = feed.listen(&HEARD, EVENTS_MAX);
            self.lines().clear();
            let mut counting = Counting::default();
            while let Some(published) = listener.next().await {
                if let Some(happening) = counting.place(published) {
                    self.hand_on(happening);
                }
            }
            tracing::warn!(
                "FIX event router fell behind the engine, or the engine stopped; sessions catch up from history"
            );
        }
    }

    fn hand_on(&self, happening: Happening) {
        let Some(comp_id) = client_of(&happening.published.event).cloned() else { return };
        let mut lines = self.lines();
        let is_gone = lines.get(&comp_id).is_some_and(|line| line.try_send(happening).is_err());
        if is_gone {
            lines.remove(&comp_id);
        }
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, BTreeMap<Text, mpsc::Sender<Happening>>> {
        // Each sender is consistent on its own.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
