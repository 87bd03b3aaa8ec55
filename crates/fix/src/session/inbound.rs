//! Inbound messages. Checks in QuickFIX's order: BeginString, dictionary, SendingTime, CompIDs, MsgSeqNum.

use super::{Actions, DisconnectReason, FixSession, LogonPhase, SessionAction};
use crate::codec::{FixMessage, UtcTimestamp};
use crate::message_store::{MessageStore, SEQ_NUM_MAX, SeqNum, StoreError, Traffic};
use crate::reject::{MessageFault, SessionRejectReason};
use crate::settings::ConnectionType;
use crate::tag;
use std::cmp::Ordering;

impl<S: MessageStore> FixSession<S> {
    /// A valid message was received.
    pub fn receive(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        self.follow_schedule(now, actions)?;
        match self.connection.phase {
            // The connection has ended: the message is ignored.
            LogonPhase::Disconnected => return Ok(()),
            LogonPhase::Authorizing { .. } => return self.close(now, DisconnectReason::LogonPending, actions),
            LogonPhase::Connected | LogonPhase::LogonSent | LogonPhase::LoggedOn | LogonPhase::LoggingOut => {}
        }
        self.connection.last_received = now;
        self.connection.test_request_pending = false;
        if message.begin_string() != self.settings.id.begin_string.as_bytes() {
            return self.on_wrong_begin_string(now, message, actions);
        }
        let Some(number) = message.number(tag::MSG_SEQ_NUM).filter(|number| *number <= SEQ_NUM_MAX) else {
            return self.on_missing_seq_num(now, message, actions);
        };
        match self.check(message) {
            Ok(()) if self.connection.phase.is_logged_on() => self.handle_message(now, message, number, actions),
            Ok(()) => self.handle_before_logon(now, message, number, actions),
            Err(fault) if self.connection.phase.is_logged_on() => self.reject(now, fault, message, actions),
            Err(fault) => self.close(now, DisconnectReason::BadLogon(fault), actions),
        }?;
        self.close_if_exhausted(now, actions)
    }

    /// A frame that is not a valid message is ignored, and its number will be missing; before the Logon it ends the
    /// connection.
    pub fn on_garbled(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        match self.connection.phase {
            LogonPhase::Connected | LogonPhase::LogonSent => self.close(now, DisconnectReason::Garbled, actions),
            LogonPhase::Disconnected
            | LogonPhase::Authorizing { .. }
            | LogonPhase::LoggedOn
            | LogonPhase::LoggingOut => Ok(()),
        }
    }

    /// The session's own fields are checked always, others as the settings require.
    fn check(&mut self, message: &FixMessage<'_>) -> Result<(), MessageFault> {
        for tag in [tag::SENDER_COMP_ID, tag::TARGET_COMP_ID, tag::SENDING_TIME] {
            message.get(tag).ok_or(MessageFault::at(SessionRejectReason::RequiredTagMissing, tag))?;
        }
        if let Some(dictionary) = self.dictionary.as_ref().filter(|_| self.settings.validate_incoming) {
            self.checker.check(dictionary, self.settings.check, message)?;
        }
        message
            .time(tag::SENDING_TIME)
            .ok_or(MessageFault::at(SessionRejectReason::IncorrectDataFormat, tag::SENDING_TIME))?;
        Ok(())
    }

    fn handle_before_logon(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        match (message.msg_type(), &self.settings.role) {
            (b"A", _) => self.on_logon(now, message, number, actions),
            (b"5", ConnectionType::Initiator { .. }) => {
                let text = message.text(tag::TEXT).map(str::to_owned);
                self.advance_incoming(number, Traffic::Session)?;
                self.close(now, DisconnectReason::LoggedOutByPeer(text), actions)
            }
            _ => self.close(now, DisconnectReason::NotLogon, actions),
        }
    }

    fn handle_message(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        match message.msg_type() {
            b"A" => self.on_logon(now, message, number, actions),
            b"2" => self.on_resend_request(now, message, number, actions),
            b"4" => self.on_sequence_reset(now, message, number, actions),
            b"5" => self.on_logout(now, message, number, actions),
            _ if !self.check_sequence(now, message, number, actions)? => Ok(()),
            b"1" => {
                self.advance_incoming(number, Traffic::Session)?;
                self.answer_test_request(now, message, actions)
            }
            b"0" => {
                self.advance_incoming(number, Traffic::Session)?;
                if message.get(tag::TEST_REQ_ID).is_some() {
                    actions.push(SessionAction::TestRequestAnswered);
                }
                Ok(())
            }
            b"3" => {
                self.advance_incoming(number, Traffic::Session)?;
                actions.push(SessionAction::DeliverReject);
                Ok(())
            }
            _ => {
                self.advance_incoming(number, Traffic::Application)?;
                actions.push(SessionAction::Deliver);
                Ok(())
            }
        }?;
        self.request_next_chunk(now, actions)
    }

    /// Whether CompIDs and SendingTime are right; if not, the peer is informed and logged out.
    pub(super) fn check_trust(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        actions: &mut Actions,
    ) -> Result<bool, StoreError> {
        let Some(reason) = self.trust_failure(now, message) else { return Ok(true) };
        self.reject(now, MessageFault::without_tag(reason), message, actions)?;
        self.log_out(now, None, actions)?;
        Ok(false)
    }

    pub(super) fn trust_failure(&self, now: UtcTimestamp, message: &FixMessage<'_>) -> Option<SessionRejectReason> {
        if self.is_sending_time_off(now, message) {
            return Some(SessionRejectReason::SendingTimeAccuracy);
        }
        self.has_wrong_comp_ids(message).then_some(SessionRejectReason::CompIdProblem)
    }

    fn is_sending_time_off(&self, now: UtcTimestamp, message: &FixMessage<'_>) -> bool {
        let apart = message.time(tag::SENDING_TIME).map(|sent| sent.seconds_apart(self.wall(now)));
        self.settings.max_latency_seconds.zip(apart).is_some_and(|(most, apart)| apart > most)
    }

    fn has_wrong_comp_ids(&self, message: &FixMessage<'_>) -> bool {
        let id = &self.settings.id;
        let same = |tag, name: &str| message.get(tag) == Some(name.as_bytes());
        self.settings.check_comp_ids
            && !(same(tag::SENDER_COMP_ID, &id.target) && same(tag::TARGET_COMP_ID, &id.sender))
    }

    /// A Logout is answered whatever its number; only the expected number is consumed, so that no message is lost.
    fn on_logout(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if !self.check_trust(now, message, actions)? {
            return Ok(());
        }
        self.advance_incoming(number, Traffic::Session)?;
        let reason = if self.connection.phase == LogonPhase::LoggingOut {
            DisconnectReason::LogoutAnswered
        } else {
            self.send_final_logout(now, "", actions)?;
            DisconnectReason::LoggedOutByPeer(message.text(tag::TEXT).map(str::to_owned))
        };
        self.close(now, reason, actions)?;
        if self.settings.reset_on_logout {
            self.reset_when_possible(now);
        }
        Ok(())
    }

    /// A gap fill must be in sequence; a reset ignores its own number and only sets the next one.
    fn on_sequence_reset(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let goes_on = match message.flag(tag::GAP_FILL_FLAG) {
            true => self.check_sequence(now, message, number, actions)?,
            false => self.check_trust(now, message, actions)?,
        };
        if !goes_on {
            return Ok(());
        }
        let Some(next) = message.number(tag::NEW_SEQ_NO) else {
            return self.reject(
                now,
                MessageFault::at(SessionRejectReason::RequiredTagMissing, tag::NEW_SEQ_NO),
                message,
                actions,
            );
        };
        match next.cmp(&self.store.next_incoming()) {
            Ordering::Greater if next <= SEQ_NUM_MAX => {
                self.store.set_next_incoming(next, Traffic::Session)?;
                actions.push(SessionAction::NumbersSkipped(next));
                self.request_after_gap_fill(now, actions)
            }
            Ordering::Equal => Ok(()),
            Ordering::Greater | Ordering::Less => {
                self.reject(now, MessageFault::without_tag(SessionRejectReason::ValueIncorrect), message, actions)
            }
        }
    }

    fn on_wrong_begin_string(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if !self.connection.phase.is_logged_on() {
            return self.close(now, DisconnectReason::WrongBeginString, actions);
        }
        let number = message.number(tag::MSG_SEQ_NUM).unwrap_or(0);
        if message.msg_type() == b"5" {
            return self.on_logout(now, message, number, actions);
        }
        self.advance_incoming(number, Traffic::Session)?;
        self.log_out(now, Some("Incorrect BeginString"), actions)
    }

    /// A number that cannot be parsed is garbled; a message without one cannot be sequenced at all.
    fn on_missing_seq_num(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if !self.connection.phase.is_logged_on() {
            let fault = MessageFault::at(SessionRejectReason::RequiredTagMissing, tag::MSG_SEQ_NUM);
            return self.close(now, DisconnectReason::BadLogon(fault), actions);
        }
        if message.get(tag::MSG_SEQ_NUM).is_some() {
            return self.on_seq_num_overflow(now, message, actions);
        }
        self.send_final_logout(now, "Received message without MsgSeqNum", actions)?;
        self.close(now, DisconnectReason::MissingMsgSeqNum, actions)
    }

    /// From a peer that has used up its sequence numbers only the answer to our Logout is accepted; its number is not
    /// consumed.
    fn on_seq_num_overflow(
        &mut self,
        now: UtcTimestamp,
        message: &FixMessage<'_>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let answers = message.msg_type() == b"5" && self.connection.phase == LogonPhase::LoggingOut;
        match answers && self.store.next_incoming() > SEQ_NUM_MAX {
            true => self.on_logout(now, message, 0, actions),
            false => Ok(()),
        }
    }
}
