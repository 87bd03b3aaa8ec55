//! What the exchange has for a session, until the session's task takes it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use fix::OutgoingMessage;
use fix_net::SessionHandle;

use crate::book_view::BookSnapshot;
use crate::publisher::VenueEvents;

/// Entries that wait for a session that does not take them; with one more it is logged out.
pub(crate) const SESSION_INBOX_MAX: usize = 100_000;

pub(crate) enum SessionInput {
    Events(VenueEvents),
    Message(Box<OutgoingMessage>),
    Snapshot(Box<BookSnapshot>),
}

pub(crate) struct SessionInbox {
    queue: Mutex<VecDeque<SessionInput>>,
    /// The session was told that there is something, and has not looked yet.
    is_woken: AtomicBool,
    handle: SessionHandle,
}

impl SessionInbox {
    pub(crate) fn new(handle: SessionHandle) -> Self {
        Self { queue: Mutex::default(), is_woken: AtomicBool::new(false), handle }
    }

    /// A session that is too far behind is logged out, and told of what comes after its next Logon.
    pub(crate) fn push(&self, input: SessionInput) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() >= SESSION_INBOX_MAX {
            queue.clear();
            // A session that is gone needs no Logout.
            let _ = self.handle.log_out(Some("too slow: reports were lost".to_owned()));
            return;
        }
        queue.push_back(input);
        drop(queue);
        if !self.is_woken.swap(true, Ordering::AcqRel) && self.handle.wake().is_err() {
            self.is_woken.store(false, Ordering::Release);
        }
    }

    pub(crate) fn send(&self, message: OutgoingMessage) {
        self.push(SessionInput::Message(Box::new(message)));
    }

    /// Logs the client out; both sequence numbers begin at 1 again.
    pub(crate) fn reset_numbers(&self) {
        let handle = self.handle.clone();
        // A session that is gone has no numbers.
        tokio::spawn(async move { handle.reset().await.ok() });
    }

    pub(crate) fn take(&self) -> VecDeque<SessionInput> {
        self.is_woken.store(false, Ordering::Release);
        std::mem::take(&mut *self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
