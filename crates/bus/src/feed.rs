//! Event feed: each subscriber registers for event classes and has a bounded queue. A subscriber whose queue is full is
//! disconnected and must rejoin from a snapshot; a lost order event would be worse.

use std::sync::{Arc, Mutex, PoisonError};

use domain::{EventClass, Published};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// The event feed: many subscribers, each with its own bounded queue.
#[derive(Clone, Default)]
pub struct Feed(Arc<Mutex<Listeners>>);

#[derive(Default)]
struct Listeners {
    registered: Vec<Registered>,
    is_closed: bool,
}

struct Registered {
    classes: u32,
    queue: mpsc::Sender<Published>,
}

/// A queue of events. When it ends, the subscriber was too slow or the engine stopped: rejoin from a fresh snapshot.
pub struct Listener(mpsc::Receiver<Published>);

impl Feed {
    /// Subscribes to these classes from now on; at most `capacity` events may wait.
    pub fn listen(&self, classes: &[EventClass], capacity: usize) -> Listener {
        let (queue, receiver) = mpsc::channel(capacity);
        let classes = classes.iter().fold(0, |mask, class| mask | bit(*class));
        self.lock().registered.push(Registered { classes, queue });
        Listener(receiver)
    }

    pub fn publish(&self, published: &Published) {
        let class = bit(published.event.class());
        self.lock().registered.retain(|listener| listener.classes & class == 0 || listener.take(published));
    }

    /// Ends all subscriptions.
    pub fn close(&self) {
        *self.lock() = Listeners { registered: vec![], is_closed: true };
    }

    /// Whether the engine has stopped.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Listeners> {
        // Each subscriber's state is consistent on its own.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registered {
    /// Returns whether the subscriber stays.
    fn take(&self, published: &Published) -> bool {
        match self.queue.try_send(published.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => false,
        }
    }
}

impl Listener {
    pub async fn next(&mut self) -> Option<Published> {
        self.0.recv().await
    }

    pub fn next_blocking(&mut self) -> Option<Published> {
        self.0.blocking_recv()
    }

    /// Whether no more events will come: the subscriber was disconnected as too slow, or the engine stopped.
    pub fn is_over(&self) -> bool {
        self.0.is_closed() && self.0.is_empty()
    }

    /// How many events wait now.
    pub fn waiting(&self) -> usize {
        self.0.len()
    }

    /// The next waiting event; `None` when there is none.
    pub fn poll(&mut self) -> Option<Published> {
        self.0.try_recv().ok()
    }
}

fn bit(class: EventClass) -> u32 {
    1 << class as u8
}

#[cfg(test)]
mod tests {
    use domain::event::{Alarm, AlarmLevel};
    use domain::{Event, Timestamp};

    use super::*;

    fn alarm(sequence: u64) -> Published {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "test".into(), text: "test".into() };
        Published { sequence, at: Timestamp(0), event: Event::Alarm(Arc::new(alarm)) }
    }

    #[test]
    fn a_subscriber_gets_only_its_classes() {
        let feed = Feed::default();
        let (mut alarms, mut ticks) = (feed.listen(&[EventClass::Alarm], 8), feed.listen(&[EventClass::Tick], 8));
        feed.publish(&alarm(1));
        assert_eq!(alarms.poll(), Some(alarm(1)));
        assert_eq!(ticks.poll(), None);
    }

    #[test]
    fn a_closed_feed_ends_its_subscriptions() {
        let feed = Feed::default();
        let (listener, was_closed) = (feed.listen(&[EventClass::Alarm], 8), feed.is_closed());
        feed.close();
        assert_eq!((was_closed, listener.is_over(), feed.is_closed()), (false, true, true));
    }

    #[test]
    fn a_listener_that_falls_behind_is_cut_off_after_what_it_got() {
        let feed = Feed::default();
        let mut slow = feed.listen(&[EventClass::Alarm], 2);
        let mut quick = feed.listen(&[EventClass::Alarm], 8);
        (1..=3).for_each(|sequence| feed.publish(&alarm(sequence)));
        let heard: Vec<_> = std::iter::from_fn(|| slow.next_blocking()).map(|event| event.sequence).collect();
        assert_eq!((heard, slow.is_over(), quick.is_over()), (vec![1, 2], true, false));
        assert_eq!(std::iter::from_fn(|| quick.poll()).count(), 3);
    }
}
