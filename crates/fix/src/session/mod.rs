//! FIX session layer for acceptor and initiator: an event and a time in, actions out. The driver decodes messages and
//! passes them one by one; between two of them it executes the actions.

mod actions;
mod connection_state;
mod inbound;
mod logon;
mod sequencing;
mod resend;
mod outbound;
mod timers;

pub use actions::{Actions, DisconnectReason, SessionAction};
pub use connection_state::{LogonPhase, OUT_OF_ORDER_BYTES_MAX, OUT_OF_ORDER_MESSAGES_MAX};
pub use logon::{LogonHeader, LogonWriter};
pub use outbound::SendError;
pub use resend::RESEND_CHUNK;

use crate::codec::{FixDecoder, FixEncoder, OutgoingMessage, UtcTimestamp};
use crate::dictionary::{Dictionary, DictionaryChecker};
use crate::message_store::{MessageStore, SEQ_NUM_MAX, SeqNum, StoreError, Traffic};
use crate::settings::SessionSettings;
use crate::tag::Tag;
use connection_state::ConnectionState;
use std::sync::Arc;

/// How long after a reset that the store did not take it is tried again.
const RESET_RETRY_SECONDS: i64 = 1;

/// One session over all its connections.
#[derive(Debug)]
pub struct FixSession<S> {
    settings: Arc<SessionSettings>,
    dictionary: Option<Arc<Dictionary>>,
    store: S,
    connection: ConnectionState,
    /// Until when the schedule does not change, and whether it is open till then.
    next_schedule_change: UtcTimestamp,
    /// A reset that the store has not taken yet is tried again then, and before anything that comes.
    reset_due: Option<UtcTimestamp>,
    is_scheduled_open: bool,
    /// When the numbers were last compared with the schedule.
    schedule_followed: Option<UtcTimestamp>,
    checker: DictionaryChecker,
    encoder: FixEncoder,
    draft: OutgoingMessage,
    replay: FixDecoder,
    /// By how much the wall is ahead of the time that the driver passes.
    wall_ahead_nanos: i64,
    /// Of an initiator whose peer wants more than the standard's fields.
    logon_writer: Option<Arc<dyn LogonWriter>>,
    /// Fields of every header.
    header: Vec<(Tag, String)>,
}

/// Status for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixSessionState {
    pub phase: LogonPhase,
    pub next_incoming: SeqNum,
    pub next_outgoing: SeqNum,
    pub last_received: Option<UtcTimestamp>,
    pub last_sent: Option<UtcTimestamp>,
    /// What the peer was requested to resend, first and last number.
    pub awaited: Option<(SeqNum, SeqNum)>,
    pub out_of_order: usize,
    pub next_reset: Option<UtcTimestamp>,
}

impl<S: MessageStore> FixSession<S> {
    pub fn new(settings: Arc<SessionSettings>, dictionary: Option<Arc<Dictionary>>, store: S) -> Self {
        Self {
            settings,
            dictionary,
            store,
            connection: ConnectionState::default(),
            next_schedule_change: UtcTimestamp::from_nanos(i64::MIN),
            reset_due: None,
            is_scheduled_open: false,
            schedule_followed: None,
            checker: DictionaryChecker::default(),
            encoder: FixEncoder::default(),
            draft: OutgoingMessage::default(),
            replay: FixDecoder::new(),
            wall_ahead_nanos: 0,
            logon_writer: None,
            header: Vec::new(),
        }
    }

    /// An initiator's Logon gets further fields.
    pub fn with_logon_writer(self, logon_writer: Arc<dyn LogonWriter>) -> Self {
        Self { logon_writer: Some(logon_writer), ..self }
    }

    /// Every message gets these fields of the header, those of the session too. What a message has itself stays as it is.
    pub fn with_header(self, header: Vec<(Tag, String)>) -> Self {
        Self { header, ..self }
    }

    /// Where the driver's time is not the wall's: SendingTime (52) is, because peers compare it with theirs. Everything
    /// that lasts goes by the driver's time.
    pub fn set_wall(&mut self, now: UtcTimestamp, wall: UtcTimestamp) {
        self.wall_ahead_nanos = wall.nanos().saturating_sub(now.nanos());
    }

    fn wall(&self, now: UtcTimestamp) -> UtcTimestamp {
        UtcTimestamp::from_nanos(now.nanos().saturating_add(self.wall_ahead_nanos))
    }

    pub fn settings(&self) -> &Arc<SessionSettings> {
        &self.settings
    }

    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_deref()
    }

    pub fn store(&self) -> &S {
        &self.store
    }

    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    pub fn phase(&self) -> LogonPhase {
        self.connection.phase
    }

    pub fn status(&self, now: UtcTimestamp) -> FixSessionState {
        let change = self.settings.schedule.next_change(now);
        let connected = self.connection.phase != LogonPhase::Disconnected;
        FixSessionState {
            phase: self.connection.phase,
            next_incoming: self.store.next_incoming(),
            next_outgoing: self.store.next_outgoing(),
            last_received: connected.then_some(self.connection.last_received),
            last_sent: connected.then_some(self.connection.last_sent),
            awaited: self.connection.gap.map(|gap| (self.store.next_incoming(), gap.end)),
            out_of_order: self.connection.out_of_order.len(),
            next_reset: (change != UtcTimestamp::from_nanos(i64::MAX)).then_some(change),
        }
    }

    /// The peer, or the network, has ended the connection.
    pub fn disconnected(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        if self.connection.phase == LogonPhase::Disconnected {
            return Ok(());
        }
        if self.connection.phase.is_logged_on() {
            actions.push(SessionAction::LoggedOut);
        }
        let was_let_in = self.connection.phase.is_logged_on() || self.connection.phase == LogonPhase::LogonSent;
        self.connection = ConnectionState::default();
        if was_let_in && self.settings.reset_on_disconnect {
            self.reset_when_possible(now);
        }
        Ok(())
    }

    /// We end the connection.
    fn close(&mut self, now: UtcTimestamp, reason: DisconnectReason, actions: &mut Actions) -> Result<(), StoreError> {
        self.disconnected(now, actions)?;
        actions.push(SessionAction::Close(reason));
        Ok(())
    }

    /// Sequence numbers are reset to 1; queued messages and requests belonged to the old ones.
    fn reset_sequence(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        self.connection.clear_sequence_state();
        self.store.reset(now)?;
        self.reset_due = None;
        Ok(())
    }

    /// The connection ends whether the store takes the reset now or later.
    fn reset_when_possible(&mut self, now: UtcTimestamp) {
        // `reset_due` keeps what failed.
        let _ = self.settle_reset(now);
    }

    /// Numbers go on only after it: until the store takes it, no peer is let in.
    fn settle_reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        self.reset_due = Some(now.plus_seconds(RESET_RETRY_SECONDS));
        self.reset_sequence(now)
    }

    /// Reset by an operator: a peer that is logged on is logged out first.
    pub fn reset(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        if self.connection.phase != LogonPhase::Disconnected {
            self.send_final_logout(now, "Sequence numbers are reset", actions)?;
            self.close(now, DisconnectReason::Reset, actions)?;
        }
        self.reset_sequence(now)
    }

    /// Sequence numbers set by an operator, while no peer is connected; returns whether they were set.
    pub fn set_sequence_numbers(&mut self, incoming: SeqNum, outgoing: SeqNum) -> Result<bool, StoreError> {
        let is_number = |number| (1..=SEQ_NUM_MAX).contains(&number);
        if self.connection.phase != LogonPhase::Disconnected || !is_number(incoming) || !is_number(outgoing) {
            return Ok(false);
        }
        self.store.set_next_incoming(incoming, Traffic::Session)?;
        self.store.set_next_outgoing(outgoing)?;
        Ok(true)
    }
}
