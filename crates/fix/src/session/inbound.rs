//! Inbound messages. Checks in QuickFIX's order: BeginString, dictionary, SendingTime, CompIDs, MsgSeqNum.

use super::{Action, Actions, DisconnectReason, Phase, Session};
use crate::codec::{Message, Time};
use crate::reject::{Fault, RejectReason};
use crate::settings::Role;
use crate::store::{SEQ_NUM_MAX, SeqNum, Store, StoreError, Traffic};
use crate::tag;
use std::cmp::Ordering;

impl<S: Store> Session<S> {
    /// A valid message was received.
    pub fn receive(&mut self, now: Time, message: &Message<'_>, actions: &mut Actions) -> Result<(), StoreError> {
        self.follow_schedule(now, actions)?;
        match self.link.phase {
            // The connection has ended: the message is ignored.
            Phase::Down => return Ok(()),
            Phase::Deciding { .. } => return self.close(now, DisconnectReason::NotYetAdmitted, actions),
            Phase::Connected | Phase::LogonSent | Phase::LoggedOn | Phase::LoggingOut => {}
        }
        self.link.last_received = now;
        self.link.test_request_pending = false;
        if message.begin_string() != self.settings.id.begin_string.as_bytes() {
            return self.wrong_version(now, message, actions);
        }
        let Some(number) = message.number(tag::MSG_SEQ_NUM).filter(|number| *number <= SEQ_NUM_MAX) else {
            return self.without_number(now, message, actions);
        };
        match self.check(message) {
            Ok(()) if self.link.phase.is_logged_on() => self.act_on(now, message, number, actions),
            Ok(()) => self.before_logon(now, message, number, actions),
            Err(fault) if self.link.phase.is_logged_on() => self.reject(now, fault, message, actions),
            Err(fault) => self.close(now, DisconnectReason::BadLogon(fault), actions),
        }?;
        self.end_with_the_numbers(now, actions)
    }

    /// A frame that is not a valid message is ignored, and its number will be missing; before the Logon it ends the
    /// connection.
    pub fn garbled(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        match self.link.phase {
            Phase::Connected | Phase::LogonSent => self.close(now, DisconnectReason::Garbled, actions),
            Phase::Down | Phase::Deciding { .. } | Phase::LoggedOn | Phase::LoggingOut => Ok(()),
        }
    }

    /// The session's own fields are checked always, others as the settings require.
    fn check(&mut self, message: &Message<'_>) -> Result<(), Fault> {
        for tag in [tag::SENDER_COMP_ID, tag::TARGET_COMP_ID, tag::SENDING_TIME] {
            message.get(tag).ok_or(Fault::at(RejectReason::RequiredTagMissing, tag))?;
        }
        if let Some(dictionary) = self.dictionary.as_ref().filter(|_| self.settings.validate_incoming) {
            self.checker.check(dictionary, self.settings.check, message)?;
        }
        message.time(tag::SENDING_TIME).ok_or(Fault::at(RejectReason::IncorrectDataFormat, tag::SENDING_TIME))?;
        Ok(())
    }

    fn before_logon(
        &mut self,
        now: Time,
        message: &Message<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        match (message.msg_type(), &self.settings.role) {
            (b"A", _) => self.on_logon(now, message, number, actions),
            (b"5", Role::Initiator { .. }) => {
                let text = message.text(tag::TEXT).map(str::to_owned);
                self.settle(number, Traffic::Session)?;
                self.close(now, DisconnectReason::LoggedOutByPeer(text), actions)
            }
            _ => self.close(now, DisconnectReason::NotLogon, actions),
        }
    }

    fn act_on(
        &mut self,
        now: Time,
        message: &Message<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        match message.msg_type() {
            b"A" => self.on_logon(now, message, number, actions),
            b"2" => self.on_resend_request(now, message, number, actions),
            b"4" => self.on_sequence_reset(now, message, number, actions),
            b"5" => self.on_logout(now, message, number, actions),
            _ if !self.is_due(now, message, number, actions)? => Ok(()),
            b"1" => {
                self.settle(number, Traffic::Session)?;
                self.answer_test_request(now, message, actions)
            }
            b"0" => {
                self.settle(number, Traffic::Session)?;
                if message.get(tag::TEST_REQ_ID).is_some() {
                    actions.push(Action::Answered);
                }
                Ok(())
            }
            b"3" => self.settle(number, Traffic::Session),
            _ => {
                self.settle(number, Traffic::Application)?;
                actions.push(Action::Deliver);
                Ok(())
            }
        }?;
        self.ask_for_more(now, actions)
    }

    /// Whether CompIDs and SendingTime are right; if not, the peer is informed and logged out.
    pub(super) fn is_trusted(
        &mut self,
        now: Time,
        message: &Message<'_>,
        actions: &mut Actions,
    ) -> Result<bool, StoreError> {
        let Some(reason) = self.distrust(now, message) else { return Ok(true) };
        self.reject(now, Fault::of(reason), message, actions)?;
        self.log_out(now, None, actions)?;
        Ok(false)
    }

    pub(super) fn distrust(&self, now: Time, message: &Message<'_>) -> Option<RejectReason> {
        if self.clock_is_off(now, message) {
            return Some(RejectReason::SendingTimeAccuracy);
        }
        self.is_stranger(message).then_some(RejectReason::CompIdProblem)
    }

    fn clock_is_off(&self, now: Time, message: &Message<'_>) -> bool {
        let apart = message.time(tag::SENDING_TIME).map(|sent| sent.seconds_apart(now));
        self.settings.max_latency_seconds.zip(apart).is_some_and(|(most, apart)| apart > most)
    }

    fn is_stranger(&self, message: &Message<'_>) -> bool {
        let id = &self.settings.id;
        let same = |tag, name: &str| message.get(tag) == Some(name.as_bytes());
        self.settings.check_comp_ids
            && !(same(tag::SENDER_COMP_ID, &id.target) && same(tag::TARGET_COMP_ID, &id.sender))
    }

    /// A Logout is answered whatever its number; only the expected number is consumed, so that no message is lost.
    fn on_logout(
        &mut self,
        now: Time,
        message: &Message<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if !self.is_trusted(now, message, actions)? {
            return Ok(());
        }
        self.settle(number, Traffic::Session)?;
        let reason = if self.link.phase == Phase::LoggingOut {
            DisconnectReason::LogoutAnswered
        } else {
            self.say_goodbye(now, "", actions)?;
            DisconnectReason::LoggedOutByPeer(message.text(tag::TEXT).map(str::to_owned))
        };
        self.close(now, reason, actions)?;
        if self.settings.reset_on_logout { self.start_again(now) } else { Ok(()) }
    }

    /// A gap fill must be in sequence; a reset ignores its own number and only sets the next one.
    fn on_sequence_reset(
        &mut self,
        now: Time,
        message: &Message<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let goes_on = match message.flag(tag::GAP_FILL_FLAG) {
            true => self.is_due(now, message, number, actions)?,
            false => self.is_trusted(now, message, actions)?,
        };
        if !goes_on {
            return Ok(());
        }
        let Some(next) = message.number(tag::NEW_SEQ_NO) else {
            return self.reject(now, Fault::at(RejectReason::RequiredTagMissing, tag::NEW_SEQ_NO), message, actions);
        };
        match next.cmp(&self.store.next_incoming()) {
            Ordering::Greater if next <= SEQ_NUM_MAX => {
                self.store.set_next_incoming(next, Traffic::Session)?;
                self.ask_behind_fill(now, actions)
            }
            Ordering::Equal => Ok(()),
            Ordering::Greater | Ordering::Less => {
                self.reject(now, Fault::of(RejectReason::ValueIncorrect), message, actions)
            }
        }
    }

    fn wrong_version(&mut self, now: Time, message: &Message<'_>, actions: &mut Actions) -> Result<(), StoreError> {
        if !self.link.phase.is_logged_on() {
            return self.close(now, DisconnectReason::WrongBeginString, actions);
        }
        let number = message.number(tag::MSG_SEQ_NUM).unwrap_or(0);
        if message.msg_type() == b"5" {
            return self.on_logout(now, message, number, actions);
        }
        self.settle(number, Traffic::Session)?;
        self.log_out(now, Some("Incorrect BeginString"), actions)
    }

    /// A number that cannot be parsed is garbled; a message without one cannot be sequenced at all.
    fn without_number(&mut self, now: Time, message: &Message<'_>, actions: &mut Actions) -> Result<(), StoreError> {
        if !self.link.phase.is_logged_on() {
            let fault = Fault::at(RejectReason::RequiredTagMissing, tag::MSG_SEQ_NUM);
            return self.close(now, DisconnectReason::BadLogon(fault), actions);
        }
        if message.get(tag::MSG_SEQ_NUM).is_some() {
            return self.beyond_the_numbers(now, message, actions);
        }
        self.say_goodbye(now, "Received message without MsgSeqNum", actions)?;
        self.close(now, DisconnectReason::NumberMissing, actions)
    }

    /// From a peer that has used up its sequence numbers only the answer to our Logout is accepted; its number is not
    /// consumed.
    fn beyond_the_numbers(
        &mut self,
        now: Time,
        message: &Message<'_>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let answers = message.msg_type() == b"5" && self.link.phase == Phase::LoggingOut;
        match answers && self.store.next_incoming() > SEQ_NUM_MAX {
            true => self.on_logout(now, message, 0, actions),
            false => Ok(()),
        }
    }
}
