//! Event feed: each subscriber registers for event classes and has a bounded queue. A subscriber whose queue is full is
//! disconnected and must rejoin from a snapshot; a lost order event would be worse.

use std::sync::{Arc, Mutex, PoisonError};

use domain::{EventClass, PublishedEvent};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// The event feed: many subscribers, each with its own bounded queue.
#[derive(Clone, Default)]
pub struct EventFeed(Arc<Mutex<EventSubscribers>>);

#[derive(Default)]
struct EventSubscribers {
    subscribers: Vec<EventSubscriber>,
    is_closed: bool,
}

struct EventSubscriber {
    classes: u32,
    queue: mpsc::Sender<PublishedEvent>,
}

/// A queue of events. When it ends, the subscriber was too slow or the engine stopped: rejoin from a fresh snapshot.
pub struct EventReceiver(mpsc::Receiver<PublishedEvent>);

impl EventFeed {
    /// Subscribes to these classes from now on; at most `capacity` events may wait.
    pub fn subscribe(&self, classes: &[EventClass], capacity: usize) -> EventReceiver {
        let (queue, receiver) = mpsc::channel(capacity);
        let classes = classes.iter().fold(0, |mask, class| mask | class_bit(*class));
        self.lock().subscribers.push(EventSubscriber { classes, queue });
        EventReceiver(receiver)
    }

    /// Sends an event to every subscriber of its class.
    pub fn publish(&self, published: &PublishedEvent) {
        let class = class_bit(published.event.class());
        self.lock().subscribers.retain(|listener| listener.classes & class == 0 || listener.send(published));
    }

    /// Ends all subscriptions.
    pub fn close(&self) {
        *self.lock() = EventSubscribers { subscribers: vec![], is_closed: true };
    }

    /// Whether the engine has stopped.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, EventSubscribers> {
        // Each subscriber's state is consistent on its own.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSubscriber {
    /// Returns whether the subscriber stays.
    fn send(&self, published: &PublishedEvent) -> bool {
        match self.queue.try_send(published.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => false,
        }
    }
}

impl EventReceiver {
    /// Waits for the next event; `None` when no more will come.
    pub async fn recv(&mut self) -> Option<PublishedEvent> {
        self.0.recv().await
    }

    /// As [`Self::recv`], for a thread.
    pub fn recv_blocking(&mut self) -> Option<PublishedEvent> {
        self.0.blocking_recv()
    }

    /// Whether no more events will come: the subscriber was disconnected as too slow, or the engine stopped.
    pub fn is_terminated(&self) -> bool {
        self.0.is_closed() && self.0.is_empty()
    }

    /// How many events wait now.
    pub fn waiting(&self) -> usize {
        self.0.len()
    }

    /// The next waiting event; `None` when there is none.
    pub fn try_recv(&mut self) -> Option<PublishedEvent> {
        self.0.try_recv().ok()
    }
}

fn class_bit(class: EventClass) -> u32 {
    1 << class as u8
}

#[cfg(test)]
mod tests {
    use domain::event::{Alarm, AlarmLevel};
    use domain::{Event, Timestamp};

    use super::*;

    fn alarm(sequence: u64) -> PublishedEvent {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "test".into(), text: "test".into() };
        PublishedEvent { sequence, at: Timestamp(0), event: Event::Alarm(Arc::new(alarm)) }
    }

    #[test]
    fn a_subscriber_gets_only_its_classes() {
        let feed = EventFeed::default();
        let (mut alarms, mut ticks) = (feed.subscribe(&[EventClass::Alarm], 8), feed.subscribe(&[EventClass::Tick], 8));
        feed.publish(&alarm(1));
        assert_eq!(alarms.try_recv(), Some(alarm(1)));
        assert_eq!(ticks.try_recv(), None);
    }

    #[test]
    fn a_closed_feed_ends_its_subscriptions() {
        let feed = EventFeed::default();
        let (listener, was_closed) = (feed.subscribe(&[EventClass::Alarm], 8), feed.is_closed());
        feed.close();
        assert_eq!((was_closed, listener.is_terminated(), feed.is_closed()), (false, true, true));
    }

    #[test]
    fn a_listener_that_falls_behind_is_cut_off_after_what_it_got() {
        let feed = EventFeed::default();
        let mut slow = feed.subscribe(&[EventClass::Alarm], 2);
        let mut quick = feed.subscribe(&[EventClass::Alarm], 8);
        (1..=3).for_each(|sequence| feed.publish(&alarm(sequence)));
        let heard: Vec<_> = std::iter::from_fn(|| slow.recv_blocking()).map(|event| event.sequence).collect();
        assert_eq!((heard, slow.is_terminated(), quick.is_terminated()), (vec![1, 2], true, false));
        assert_eq!(std::iter::from_fn(|| quick.try_recv()).count(), 3);
    }
}
