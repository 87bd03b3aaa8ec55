//! Session status for operators, and their commands (logout, reset, set sequence numbers).

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bus::operations::{FixAct, FixSession, FixTrouble};
use domain::Timestamp;
use domain::report::SessionState;
use fix::{SessionSettings, Time};
use fix_net::SessionHandle;
use tokio::runtime::Handle;

use super::admission::Guest;
use crate::ledger::Pen;

pub(crate) struct Board {
    pub(crate) settings: Arc<SessionSettings>,
    pub(crate) handle: SessionHandle,
    pub(crate) pen: Pen,
    seen: Mutex<Seen>,
    /// The principal of the newest Logon; set before the session knows of it.
    guest: Mutex<Option<Guest>>,
}

#[derive(Debug, Clone)]
struct Seen {
    state: SessionState,
    peer: Option<IpAddr>,
    last_received: Option<Timestamp>,
    last_sent: Option<Timestamp>,
    /// Why the last connection ended.
    ended: Option<String>,
}

impl Board {
    pub(crate) fn new(settings: Arc<SessionSettings>, handle: SessionHandle, pen: Pen) -> Self {
        let seen =
            Seen { state: SessionState::Disconnected, peer: None, last_received: None, last_sent: None, ended: None };
        Self { settings, handle, pen, seen: Mutex::new(seen), guest: Mutex::default() }
    }

    /// Operators identify a session by its client's CompID.
    pub(crate) fn id(&self) -> &str {
        &self.settings.id.target
    }

    pub(crate) fn connected(&self, peer: Option<IpAddr>) {
        let mut seen = self.seen();
        (seen.state, seen.peer) = (SessionState::Connected, peer);
    }

    pub(crate) fn seat(&self, guest: Guest) {
        *self.guest() = Some(guest);
    }

    pub(crate) fn take_guest(&self) -> Option<Guest> {
        self.guest().take()
    }

    pub(crate) fn logged_on(&self) {
        self.seen().state = SessionState::LoggedOn;
    }

    /// The connection is open, but no message of this client is handled any more.
    pub(crate) fn logging_out(&self) {
        self.seen().state = SessionState::Connected;
    }

    pub(crate) fn received(&self, at: Time) {
        self.seen().last_received = Some(Timestamp(at.nanos()));
    }

    pub(crate) fn sent(&self, at: Time) {
        self.seen().last_sent = Some(Timestamp(at.nanos()));
    }

    pub(crate) fn disconnected(&self, reason: String) {
        let mut seen = self.seen();
        (seen.state, seen.peer, seen.ended) = (SessionState::Disconnected, None, Some(reason));
    }

    pub(crate) fn show(&self, now: Time) -> FixSession {
        let seen = self.seen().clone();
        let (next_in, next_out) = self.pen.numbers();
        let reset = self.settings.schedule.next_change(now).nanos();
        FixSession {
            id: self.id().to_owned(),
            sender_comp_id: self.settings.id.sender.clone(),
            target_comp_id: self.settings.id.target.clone(),
            state: seen.state,
            peer: seen.peer,
            next_in,
            next_out,
            last_received: seen.last_received,
            last_sent: seen.last_sent,
            next_reset: (reset != i64::MAX).then_some(Timestamp(reset)),
            ended: seen.ended,
        }
    }

    /// Blocks until it is done, and so must not be called by a thread of the runtime.
    pub(crate) fn act(&self, act: FixAct, runtime: &Handle) -> Result<(), FixTrouble> {
        let busy = |_| FixTrouble::Busy;
        match act {
            FixAct::Logout => {
                runtime.block_on(self.handle.log_out_now(Some("logged out by an operator".into()))).map_err(busy)
            }
            FixAct::Reset => runtime.block_on(self.handle.reset()).map_err(busy),
            FixAct::Number { next_in, next_out } => {
                let (now_in, now_out) = self.pen.numbers();
                let set = self.handle.set_numbers(next_in.unwrap_or(now_in), next_out.unwrap_or(now_out));
                match runtime.block_on(set).map_err(busy)? {
                    true => Ok(()),
                    false => Err(FixTrouble::Connected),
                }
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // Each value is consistent on its own.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn guest(&self) -> MutexGuard<'_, Option<Guest>> {
        self.guest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
