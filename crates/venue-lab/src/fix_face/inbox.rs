//! What the exchange has for a session, until the session's task takes it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fix::OutgoingMessage;
use fix_net::SessionHandle;

use crate::book_view::BookSnapshot;
use crate::publisher::VenueEvents;

/// Entries that wait for a session that does not take them; with one more it is logged out.
pub(crate) const SESSION_INBOX_MAX: usize = 100_000;

/// Reports that are kept for a client that is away; of more the oldest are dropped.
pub(crate) const KEPT_REPORTS_MAX: usize = 10_000;

pub(crate) enum SessionInput {
    Events(VenueEvents),
    Message(Box<OutgoingMessage>),
    Snapshot(Box<BookSnapshot>),
}

/// What waits, and for whom.
#[derive(Default)]
struct InboxState {
    queue: VecDeque<SessionInput>,
    is_logged_on: bool,
    /// Events since the client went away. They become messages when it is back: most sessions of an account have no client, and the orders of
    /// other faces must not wait until messages are made for them.
    away: VecDeque<VenueEvents>,
}

pub(crate) struct SessionInbox {
    state: Mutex<InboxState>,
    /// Whether events are kept for a client that is away.
    keeps_events: bool,
    /// The session was told that there is something, and has not looked yet.
    is_woken: AtomicBool,
    handle: SessionHandle,
}

impl SessionInbox {
    pub(crate) fn new(handle: SessionHandle, keeps_events: bool) -> Self {
        Self { state: Mutex::default(), keeps_events, is_woken: AtomicBool::new(false), handle }
    }

    fn state(&self) -> MutexGuard<'_, InboxState> {
        // Each change is one statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Events of a command: for the session where its client is there, and otherwise for later.
    pub(crate) fn push_events(&self, events: &VenueEvents) {
        let mut state = self.state();
        if state.is_logged_on {
            drop(state);
            return self.push(SessionInput::Events(events.clone()));
        }
        if self.keeps_events {
            state.away.push_back(events.clone());
            let more = state.away.len().saturating_sub(KEPT_REPORTS_MAX);
            state.away.drain(..more);
        }
    }

    /// The client is there: what came while it was away.
    pub(crate) fn on_logged_on(&self) -> VecDeque<VenueEvents> {
        let mut state = self.state();
        state.is_logged_on = true;
        std::mem::take(&mut state.away)
    }

    pub(crate) fn on_logged_out(&self) {
        self.state().is_logged_on = false;
    }

    /// A session that is too far behind is logged out, and told of what comes after its next Logon.
    pub(crate) fn push(&self, input: SessionInput) {
        let mut state = self.state();
        if state.queue.len() >= SESSION_INBOX_MAX {
            state.queue.clear();
            // A session that is gone needs no Logout.
            let _ = self.handle.log_out(Some("too slow: reports were lost".to_owned()));
            return;
        }
        state.queue.push_back(input);
        drop(state);
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
        std::mem::take(&mut self.state().queue)
    }
}
