//! Session status for operators, and their commands (logout, reset, set sequence numbers).

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use access::AccessGrant;
use bus::operations::{FixSessionCommand, FixSessionError, FixSessionStatus};
use domain::report::SessionState;
use domain::rights::TradingRights;
use domain::{Text, Timestamp};
use fix::{SessionSettings, UtcTimestamp};
use fix_net::{NumbersError, SessionHandle};
use tokio::runtime::Handle;

use crate::store::GatewayStore;

pub(crate) struct SessionStatus {
    pub(crate) settings: Arc<SessionSettings>,
    pub(crate) handle: SessionHandle,
    pub(crate) store: GatewayStore,
    fields: Mutex<StatusFields>,
    /// The principal of the newest Logon; set before the session knows of it.
    principal: Mutex<Option<Principal>>,
}

#[derive(Debug, Clone)]
struct StatusFields {
    state: SessionState,
    peer: Option<IpAddr>,
    last_received: Option<Timestamp>,
    last_sent: Option<Timestamp>,
    /// Why the last connection ended.
    disconnect_reason: Option<String>,
}

impl SessionStatus {
    pub(crate) fn new(settings: Arc<SessionSettings>, handle: SessionHandle, store: GatewayStore) -> Self {
        let seen = StatusFields {
            state: SessionState::Disconnected,
            peer: None,
            last_received: None,
            last_sent: None,
            disconnect_reason: None,
        };
        Self { settings, handle, store, fields: Mutex::new(seen), principal: Mutex::default() }
    }

    /// Operators identify a session by its client's CompID.
    pub(crate) fn id(&self) -> &str {
        &self.settings.id.target
    }

    pub(crate) fn on_connected(&self, peer: Option<IpAddr>) {
        let mut seen = self.fields();
        (seen.state, seen.peer) = (SessionState::Connected, peer);
    }

    pub(crate) fn set_principal(&self, principal: Principal) {
        *self.principal() = Some(principal);
    }

    pub(crate) fn take_principal(&self) -> Option<Principal> {
        self.principal().take()
    }

    pub(crate) fn on_logged_on(&self) {
        self.fields().state = SessionState::LoggedOn;
    }

    /// The connection is open, but no message of this client is handled any more.
    pub(crate) fn on_logging_out(&self) {
        self.fields().state = SessionState::Connected;
    }

    pub(crate) fn on_received(&self, at: UtcTimestamp) {
        self.fields().last_received = Some(Timestamp(at.nanos()));
    }

    pub(crate) fn on_sent(&self, at: UtcTimestamp) {
        self.fields().last_sent = Some(Timestamp(at.nanos()));
    }

    pub(crate) fn on_disconnected(&self, reason: String) {
        let mut seen = self.fields();
        (seen.state, seen.peer, seen.disconnect_reason) = (SessionState::Disconnected, None, Some(reason));
    }

    pub(crate) fn snapshot(&self, now: UtcTimestamp) -> FixSessionStatus {
        let seen = self.fields().clone();
        let (next_in, next_out) = self.store.sequence_numbers();
        let reset = self.settings.schedule.next_change(now).nanos();
        FixSessionStatus {
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
            disconnect_reason: seen.disconnect_reason,
        }
    }

    /// Blocks until it is done, and so must not be called by a thread of the runtime.
    pub(crate) fn command(&self, act: FixSessionCommand, runtime: &Handle) -> Result<(), FixSessionError> {
        let busy = |_| FixSessionError::Busy;
        match act {
            FixSessionCommand::Logout => {
                runtime.block_on(self.handle.log_out_now(Some("logged out by an operator".into()))).map_err(busy)
            }
            FixSessionCommand::ResetSeqNums => runtime.block_on(self.handle.reset()).map_err(not_set),
            FixSessionCommand::SetSeqNums { next_in, next_out } => {
                let (now_in, now_out) = self.store.sequence_numbers();
                let set = self.handle.set_numbers(next_in.unwrap_or(now_in), next_out.unwrap_or(now_out));
                match runtime.block_on(set).map_err(not_set)? {
                    true => Ok(()),
                    false => Err(FixSessionError::Connected),
                }
            }
        }
    }

    fn fields(&self) -> MutexGuard<'_, StatusFields> {
        // Each value is consistent on its own.
        self.fields.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn principal(&self) -> MutexGuard<'_, Option<Principal>> {
        self.principal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_set(error: NumbersError) -> FixSessionError {
    match error {
        NumbersError::NotTaken => FixSessionError::Busy,
        NumbersError::Store(error) => FixSessionError::NotStored(error.0),
    }
}

/// The authenticated client.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    pub(crate) name: Option<Text>,
    /// Trades for this strategy alone.
    pub(crate) strategy: Option<Text>,
    /// The session ends when this is revoked; credentials of the session file are valid until the program stops.
    pub(crate) pass: Option<AccessGrant>,
    /// What it may trade; absent: everything.
    pub(crate) rights: Option<Arc<TradingRights>>,
}
