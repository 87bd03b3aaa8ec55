//! What waits for one connection. Publishers put in, the connection takes out when its socket has room.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stomp::lanes::{Delivery, Lanes, Pressure, SlotKey, SlowConsumer};
use stomp::topics::Pace;
use stomp::{Message, Time};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::ending::End;

pub(crate) struct Mailbox {
    content: Mutex<Content>,
    mail: Notify,
}

pub(crate) struct Content {
    pub(crate) lanes: Lanes,
    /// Why the connection must end.
    pub(crate) end: Option<End>,
    /// Half of what may wait is waiting, and nobody was told.
    has_fallen_behind: bool,
    /// Messages that came when it had to end already.
    untaken: u64,
}

impl Content {
    /// Messages that waited for a client that did not read.
    pub(crate) fn unread(&self) -> u64 {
        self.untaken + self.lanes.waiting_messages() as u64
    }

    /// Says it once for each time that the client falls behind.
    pub(crate) fn falls_behind(&mut self) -> bool {
        std::mem::take(&mut self.has_fallen_behind)
    }

    fn note(&mut self, taken: Result<Pressure, SlowConsumer>) {
        match taken {
            Ok(Pressure::Easy) => {}
            Ok(Pressure::Slow) => self.has_fallen_behind = true,
            Err(slow) => {
                self.untaken += 1;
                self.end.get_or_insert(End::Slow(slow));
            }
        }
    }
}

impl Mailbox {
    pub(crate) fn new(lanes: Lanes) -> Arc<Self> {
        let content = Content { lanes, end: None, has_fallen_behind: false, untaken: 0 };
        Arc::new(Self { content: Mutex::new(content), mail: Notify::new() })
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
        let taken = content.lanes.reliable(now, delivery);
        content.note(taken);
        drop(content);
        self.mail.notify_one();
    }

    /// Market data that no rate holds back.
    pub(crate) fn unthrottled(&self, now: Time, key: SlotKey, message: &Arc<Message>) {
        let mut content = self.open();
        let taken = content.lanes.unthrottled(now, key, message.clone());
        content.note(taken);
        drop(content);
        self.mail.notify_one();
    }

    /// Ends the connection with an ERROR.
    pub(crate) fn end(&self, end: End) {
        self.open().end.get_or_insert(end);
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
