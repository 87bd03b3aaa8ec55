//! What waits for one connection. Publishers put in, the connection takes out when its socket has room.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stomp::lanes::{Delivery, Lanes, Pressure, SlotKey};
use stomp::topics::Pace;
use stomp::{Message, Time};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

pub(crate) struct Mailbox {
    content: Mutex<Content>,
    mail: Notify,
}

pub(crate) struct Content {
    pub(crate) lanes: Lanes,
    /// Why the connection must end.
    pub(crate) end: Option<String>,
}

impl Mailbox {
    pub(crate) fn new(lanes: Lanes) -> Arc<Self> {
        Arc::new(Self { content: Mutex::new(Content { lanes, end: None }), mail: Notify::new() })
    }

    /// Market data, of which the newest counts.
    pub(crate) fn market(&self, key: SlotKey, message: &Arc<Message>, pace: Pace) {
        self.open().lanes.market(key, message.clone(), pace);
        self.mail.notify_one();
    }

    pub(crate) fn market_snapshot(&self, key: SlotKey, message: &Arc<Message>) {
        self.open().lanes.market_snapshot(key, message.clone());
        self.mail.notify_one();
    }

    /// What must not be lost. A client that has not taken enough of it is cut off.
    pub(crate) fn reliable(&self, now: Time, delivery: Delivery) {
        let mut content = self.open();
        match content.lanes.reliable(now, delivery) {
            Ok(Pressure::Easy) => {}
            Ok(Pressure::Slow) => tracing::warn!("a consumer reads slowly; half of what may wait for it is waiting"),
            Err(slow) => content.end = content.end.take().or(Some(slow.to_string())),
        }
        drop(content);
        self.mail.notify_one();
    }

    /// Ends the connection with an ERROR of this text.
    pub(crate) fn end(&self, text: &str) {
        self.open().end.get_or_insert_with(|| text.to_owned());
        self.mail.notify_one();
    }

    pub(crate) fn notified(&self) -> Notified<'_> {
        self.mail.notified()
    }

    pub(crate) fn open(&self) -> MutexGuard<'_, Content> {
        // Lanes are whole between any two statements that hold the lock.
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
