//! Outbound messages: stored before they are sent.

use super::{Actions, FixSession, LogonPhase, SessionAction};
use crate::codec::{FixMessage, HeaderFields, OutgoingMessage, UtcTimestamp};
use crate::message_store::{MessageStore, SeqNum, StoreError, Traffic};
use crate::reject::MessageFault;
use crate::tag;
use std::fmt;

/// Why a message of the application was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendError {
    NotLoggedOn,
    Store(StoreError),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoggedOn => f.write_str("the session is not logged on"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SendError {}

impl<S: MessageStore> FixSession<S> {
    /// Sends a message of the application and returns its number. Also after our Logout, because requests from before
    /// the peer has read it are still answered.
    pub fn send(
        &mut self,
        now: UtcTimestamp,
        message: &OutgoingMessage,
        actions: &mut Actions,
    ) -> Result<SeqNum, SendError> {
        if !matches!(self.connection.phase, LogonPhase::LoggedOn | LogonPhase::LoggingOut) {
            return Err(SendError::NotLoggedOn);
        }
        self.draft.copy_from(message);
        let number = self.transmit(now, Traffic::Application, actions).map_err(SendError::Store)?;
        self.close_if_exhausted(now, actions).map_err(SendError::Store)?;
        Ok(number)
    }

    /// Logs out and waits for the answer; does nothing for a peer that is not logged on.
    pub fn log_out(&mut self, now: UtcTimestamp, text: Option<&str>, actions: &mut Actions) -> Result<(), StoreError> {
        if self.connection.phase != LogonPhase::LoggedOn {
            return Ok(());
        }
        self.connection.phase = LogonPhase::LoggingOut;
        self.connection.since = now;
        actions.push(SessionAction::LoggingOut);
        self.send_logout(now, text, actions)
    }

    /// Sends a Logout before we close without waiting.
    pub(super) fn send_final_logout(
        &mut self,
        now: UtcTimestamp,
        text: &str,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if self.connection.phase == LogonPhase::LoggingOut {
            return Ok(());
        }
        self.send_logout(now, Some(text).filter(|text| !text.is_empty()), actions)
    }

    /// A Logout that is not stored: for a peer that was never accepted, or after the last number.
    pub(super) fn send_unsequenced_logout(
        &mut self,
        now: UtcTimestamp,
        number: SeqNum,
        text: &str,
        actions: &mut Actions,
    ) {
        self.draft.begin("5").field(tag::TEXT, text);
        let start = actions.wire.len();
        self.encode(now, number, None, actions);
        actions.push(SessionAction::Send(start..actions.wire.len()));
    }

    fn send_logout(&mut self, now: UtcTimestamp, text: Option<&str>, actions: &mut Actions) -> Result<(), StoreError> {
        self.draft.begin("5");
        if let Some(text) = text {
            self.draft.field(tag::TEXT, text);
        }
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    /// A rejected message counts as received, except a Logon or a Sequence Reset. The Reject is kept as a message of the application
    /// is: a peer that lost it would never learn that its message was not taken.
    pub(super) fn reject(
        &mut self,
        now: UtcTimestamp,
        fault: MessageFault,
        message: &FixMessage<'_>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if let Some(number) = message.number(tag::MSG_SEQ_NUM).filter(|_| !matches!(message.msg_type(), b"A" | b"4")) {
            self.advance_incoming(number, Traffic::Session)?;
        }
        fault.reject(message, &mut self.draft);
        self.transmit(now, Traffic::Application, actions)?;
        self.request_next_chunk(now, actions)
    }

    pub(super) fn answer_test_request(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        self.draft.begin("0");
        if let Some(id) = message.get(tag::TEST_REQ_ID) {
            self.draft.field(tag::TEST_REQ_ID, id);
        }
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    pub(super) fn send_heartbeat(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        self.draft.begin("0");
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    pub(super) fn send_test_request(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        self.connection.test_request_pending = true;
        self.draft.begin("1").field(tag::TEST_REQ_ID, &self.settings.test_request_id);
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    /// Sends a Test Request: the answer, in sequence, proves that the peer has read everything before. There is no
    /// time-out.
    pub fn send_test_request_with_id(
        &mut self,
        now: UtcTimestamp,
        id: &str,
        actions: &mut Actions,
    ) -> Result<SeqNum, SendError> {
        if self.connection.phase != LogonPhase::LoggedOn {
            return Err(SendError::NotLoggedOn);
        }
        self.draft.begin("1").field(tag::TEST_REQ_ID, id);
        self.transmit(now, Traffic::Session, actions).map_err(SendError::Store)
    }

    /// Numbers, stores and sends the draft.
    pub(super) fn transmit(
        &mut self,
        now: UtcTimestamp,
        traffic: Traffic,
        actions: &mut Actions,
    ) -> Result<SeqNum, StoreError> {
        let number = self.store.next_outgoing();
        let start = actions.wire.len();
        self.encode(now, number, None, actions);
        if let Err(error) = self.store.append(number, traffic, &actions.wire[start..]) {
            actions.wire.truncate(start);
            return Err(error);
        }
        self.connection.last_sent = now;
        actions.push(SessionAction::Send(start..actions.wire.len()));
        Ok(number)
    }

    /// Sends the draft again under its old number.
    pub(super) fn retransmit(
        &mut self,
        now: UtcTimestamp,
        number: SeqNum,
        original_time: &[u8],
        actions: &mut Actions,
    ) {
        let start = actions.wire.len();
        self.encode(now, number, Some(original_time), actions);
        self.connection.last_sent = now;
        actions.push(SessionAction::Send(start..actions.wire.len()));
    }

    fn encode(&mut self, now: UtcTimestamp, number: SeqNum, original_time: Option<&[u8]>, actions: &mut Actions) {
        if self.settings.send_last_processed && !self.draft.has(tag::LAST_MSG_SEQ_NUM_PROCESSED) {
            self.draft.number(tag::LAST_MSG_SEQ_NUM_PROCESSED, self.store.next_incoming() - 1);
        }
        for (tag, value) in &self.header {
            if !self.draft.has(*tag) {
                self.draft.field(*tag, value);
            }
        }
        let head = HeaderFields {
            begin_string: self.settings.id.begin_string.as_bytes(),
            sender: self.settings.id.sender.as_bytes(),
            target: self.settings.id.target.as_bytes(),
            number,
            sending_time: self.wall(now),
            fraction_digits: self.settings.fraction_digits,
            original_time,
        };
        self.encoder.encode(&head, &self.draft, &mut actions.wire);
    }
}
