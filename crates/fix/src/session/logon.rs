//! Logon: checked without side effects, authorized by the application, and only then applied to sequence numbers. A
//! rejected peer changes nothing.

use super::connection_state::{ConnectionState, LogonRequest, OutOfOrderMessage};
use super::{Actions, DisconnectReason, FixSession, LogonPhase, SessionAction};
use crate::codec::{FixMessage, OutgoingMessage, UtcTimestamp};
use crate::message_store::{MessageStore, SEQ_NUM_MAX, SeqNum, StoreError, Traffic};
use crate::reject::{MessageFault, SessionRejectReason};
use crate::settings::{ConnectionType, FixCredentials};
use crate::tag;
use std::cmp::Ordering;
use std::fmt;

/// Adds to the Logon of an initiator what its peer wants besides, such as a signature of the header.
pub trait LogonWriter: fmt::Debug + Send + Sync {
    fn write(&self, header: &LogonHeader<'_>, logon: &mut OutgoingMessage);
}

/// The header that a Logon will have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogonHeader<'a> {
    pub sender: &'a str,
    pub target: &'a str,
    pub number: SeqNum,
    /// SendingTime (52) as it is written.
    pub sending_time: String,
}

impl<S: MessageStore> FixSession<S> {
    /// A socket is open: an acceptor waits for the Logon, an initiator sends it.
    pub fn connect(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        self.follow_schedule(now, actions)?;
        self.connection = ConnectionState::connected(now, self.settings.heartbeat_seconds);
        match &self.settings.role {
            ConnectionType::Acceptor { .. } => Ok(()),
            ConnectionType::Initiator { .. } if !self.is_scheduled_open => {
                self.close(now, DisconnectReason::OutsideSchedule, actions)
            }
            ConnectionType::Initiator { credentials, .. } => {
                let credentials = credentials.clone();
                self.send_logon(now, credentials, actions)
            }
        }
    }

    fn send_logon(
        &mut self,
        now: UtcTimestamp,
        credentials: Option<FixCredentials>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if self.settings.refresh_on_logon {
            self.store.refresh()?;
        }
        if self.settings.reset_on_logon {
            self.reset_sequence(now)?;
        }
        let settings = &self.settings;
        let resets = settings.reset_on_logon || settings.reset_on_logout || settings.reset_on_disconnect;
        self.connection.reset_sent = resets && self.store.next_incoming() == 1 && self.store.next_outgoing() == 1;
        self.connection.phase = LogonPhase::LogonSent;
        let next_expected = self.settings.send_next_expected.then(|| self.store.next_incoming());
        self.draft_logon(self.connection.reset_sent, next_expected);
        if let Some(FixCredentials { username, password }) = credentials {
            self.draft.field(tag::USERNAME, username).field(tag::PASSWORD, password);
        }
        if let Some(writer) = self.logon_writer.clone() {
            let mut sending_time = Vec::new();
            self.wall(now).write(self.settings.fraction_digits, &mut sending_time);
            let header = LogonHeader {
                sender: &self.settings.id.sender,
                target: &self.settings.id.target,
                number: self.store.next_outgoing(),
                sending_time: String::from_utf8_lossy(&sending_time).into_owned(),
            };
            writer.write(&header, &mut self.draft);
        }
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    fn draft_logon(&mut self, reset: bool, next_expected: Option<SeqNum>) {
        self.draft.begin("A").field(tag::ENCRYPT_METHOD, b"0");
        self.draft.number(tag::HEART_BT_INT, u64::from(self.connection.heartbeat_seconds));
        if reset {
            self.draft.field(tag::RESET_SEQ_NUM_FLAG, b"Y");
        }
        if let Some(next_expected) = next_expected {
            self.draft.number(tag::NEXT_EXPECTED_MSG_SEQ_NUM, next_expected);
        }
    }

    pub(super) fn on_logon(
        &mut self,
        now: UtcTimestamp,
        logon: &FixMessage<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let again = self.connection.phase.is_logged_on();
        let reset = logon.flag(tag::RESET_SEQ_NUM_FLAG);
        if again && !reset {
            return self.close(now, DisconnectReason::SecondLogon, actions);
        }
        if !self.is_scheduled_open {
            return self.close(now, DisconnectReason::OutsideSchedule, actions);
        }
        if let Some(reason) = self.trust_failure(now, logon) {
            return self.close(now, DisconnectReason::BadLogon(MessageFault::without_tag(reason)), actions);
        }
        if reset && number != 1 {
            let reason = DisconnectReason::ResetWithoutOne;
            return self.send_logon_reject(now, &reason.to_string(), reason, reset, actions);
        }
        let Some(heartbeat_seconds) = self.heartbeat_of(logon) else {
            let reason =
                DisconnectReason::BadLogon(MessageFault::at(SessionRejectReason::ValueIncorrect, tag::HEART_BT_INT));
            return self.send_logon_reject(now, "HeartBtInt must not be negative", reason, reset, actions);
        };
        let next_expected = logon.number(tag::NEXT_EXPECTED_MSG_SEQ_NUM);
        if next_expected.is_none() && logon.get(tag::NEXT_EXPECTED_MSG_SEQ_NUM).is_some() {
            let fault = MessageFault::at(SessionRejectReason::IncorrectDataFormat, tag::NEXT_EXPECTED_MSG_SEQ_NUM);
            return self.close(now, DisconnectReason::BadLogon(fault), actions);
        }
        let facts = LogonRequest { number, heartbeat_seconds, reset, next_expected };
        if self.connection.phase == LogonPhase::LogonSent {
            return self.complete_logon(now, facts, actions);
        }
        self.connection.logon = Some(facts);
        self.connection.phase = LogonPhase::Authorizing { again };
        actions.push(SessionAction::AuthorizeLogon);
        Ok(())
    }

    /// `None` for an invalid heartbeat interval.
    fn heartbeat_of(&self, logon: &FixMessage<'_>) -> Option<u32> {
        match (&self.settings.role, logon.get(tag::HEART_BT_INT)) {
            (ConnectionType::Initiator { .. }, _) | (_, None) => Some(self.settings.heartbeat_seconds),
            (ConnectionType::Acceptor { .. }, Some(_)) => {
                logon.number(tag::HEART_BT_INT).and_then(|n| u32::try_from(n).ok())
            }
        }
    }

    /// The application accepts the Logon.
    pub fn accept_logon(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        match self.connection.logon.take() {
            Some(facts) => self.complete_logon(now, facts, actions),
            None => Ok(()),
        }
    }

    /// The application rejects the Logon. A peer that starts from 1 at its next Logon receives the reason. Any other
    /// would count the Logout and then miss a number, or we would use up a number for an unauthenticated peer; so the
    /// connection is closed without a message, as the standard allows for this reason.
    pub fn reject_logon(&mut self, now: UtcTimestamp, why: &str, actions: &mut Actions) -> Result<(), StoreError> {
        let Some(facts) = self.connection.logon.take() else { return Ok(()) };
        let reason = DisconnectReason::LogonRefused(why.to_owned());
        match self.resets_sequence(facts.reset) || self.connection.phase.is_logged_on() {
            true => self.send_logon_reject(now, &reason.to_string(), reason, facts.reset, actions),
            false => self.close(now, reason, actions),
        }
    }

    /// The Logout to a rejected peer has the number that an answer would have had, and does not use it up.
    fn send_logon_reject(
        &mut self,
        now: UtcTimestamp,
        text: &str,
        reason: DisconnectReason,
        reset: bool,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if self.connection.phase.is_logged_on() {
            self.send_final_logout(now, text, actions)?;
        } else {
            let number = if self.resets_sequence(reset) { 1 } else { self.store.next_outgoing() };
            self.send_unsequenced_logout(now, number, text, actions);
        }
        self.close(now, reason, actions)
    }

    /// Whether an accepted Logon would reset both sides to 1.
    fn resets_sequence(&self, reset: bool) -> bool {
        reset || (self.settings.reset_on_logon && matches!(self.settings.role, ConnectionType::Acceptor { .. }))
    }

    fn complete_logon(
        &mut self,
        now: UtcTimestamp,
        facts: LogonRequest,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let answers = self.connection.phase != LogonPhase::LogonSent || (facts.reset && !self.connection.reset_sent);
        let reset = self.reset_of_peer(facts);
        let begins_anew = reset.is_some() && answers && self.resets_sequence(facts.reset);
        if answers && reset.is_none() {
            self.reset_if_requested(now, facts)?;
        }
        let expected = match reset {
            Some(_) if self.settings.requests_after_reset => 1,
            Some(_) => facts.number,
            None => self.store.next_incoming(),
        };
        let next = if begins_anew { 1 } else { self.store.next_outgoing() };
        if expected.max(next) > SEQ_NUM_MAX {
            let reason = DisconnectReason::SequenceExhausted;
            return self.send_logon_reject(now, &reason.to_string(), reason, facts.reset, actions);
        }
        if facts.number < expected {
            return self.on_seq_num_too_low(now, facts.number, actions);
        }
        if let Some(received) = facts.next_expected.filter(|received| *received > next) {
            let reason = DisconnectReason::NextExpectedTooHigh { expected: next, received };
            self.send_final_logout(now, &reason.to_string(), actions)?;
            return self.close(now, reason, actions);
        }
        // Not before: a Logon after a connection that ended above would have the number that is expected, and nothing would tell of the
        // reset.
        if reset.is_some() {
            self.follow_reset(now, (facts, expected), answers)?;
        }
        self.connection.phase = LogonPhase::LoggedOn;
        self.connection.heartbeat_seconds = facts.heartbeat_seconds;
        if answers {
            self.answer_logon(now, facts, actions)?;
        }
        match facts.number.cmp(&expected) {
            Ordering::Greater => {
                self.connection.out_of_order.enqueue(facts.number, OutOfOrderMessage::Handled);
                match facts.next_expected.is_some() && (answers || self.settings.send_next_expected) {
                    true => self.await_resend(now, facts.number - 1),
                    false => self.request_gap(now, facts.number, actions)?,
                }
            }
            Ordering::Equal | Ordering::Less => self.advance_incoming(facts.number, Traffic::Session)?,
        }
        if let Some(from) = facts.next_expected.filter(|from| *from < next) {
            self.resend(now, from.max(1), self.store.next_outgoing() - 1, actions)?;
        }
        actions.push(SessionAction::LoggedOn);
        if let Some(expected) = reset {
            actions.push(SessionAction::NumbersReset { expected, received: facts.number });
        }
        self.close_if_exhausted(now, actions)
    }

    /// The number that we expected of a peer that has begun anew without our asking, where that is followed.
    fn reset_of_peer(&self, facts: LogonRequest) -> Option<SeqNum> {
        let expected = self.store.next_incoming();
        let answers_ours = self.connection.phase == LogonPhase::LogonSent && !self.connection.reset_sent;
        (self.settings.follows_reset && answers_ours && facts.number < expected).then_some(expected)
    }

    fn follow_reset(
        &mut self,
        now: UtcTimestamp,
        (facts, expected): (LogonRequest, SeqNum),
        answers: bool,
    ) -> Result<(), StoreError> {
        self.connection.clear_sequence_state();
        self.store.set_next_incoming(expected, Traffic::Session)?;
        if answers { self.reset_if_requested(now, facts) } else { Ok(()) }
    }

    /// A peer that sends NextExpectedMsgSeqNum receives ours: the number after its Logon, unless that was out of order.
    fn answer_logon(
        &mut self,
        now: UtcTimestamp,
        facts: LogonRequest,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let expected = self.store.next_incoming();
        let next = if facts.number == expected { expected + 1 } else { expected };
        let is_told = self.settings.send_next_expected || facts.next_expected.is_some();
        self.draft_logon(facts.reset, is_told.then_some(next));
        if self.settings.send_last_processed {
            self.draft.number(tag::LAST_MSG_SEQ_NUM_PROCESSED, next - 1);
        }
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    fn reset_if_requested(&mut self, now: UtcTimestamp, facts: LogonRequest) -> Result<(), StoreError> {
        if self.settings.refresh_on_logon {
            self.store.refresh()?;
        }
        if self.resets_sequence(facts.reset) { self.reset_sequence(now) } else { Ok(()) }
    }
}
