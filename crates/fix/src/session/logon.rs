//! Logon: checked without side effects, authorized by the application, and only then applied to sequence numbers. A
//! rejected peer changes nothing.

use super::link::{Link, LogonFacts, Parked};
use super::{Action, Actions, DisconnectReason, Phase, Session};
use crate::codec::{Message, Time};
use crate::reject::{Fault, RejectReason};
use crate::settings::{Credentials, Role};
use crate::store::{SeqNum, Store, StoreError, Traffic};
use crate::tag;
use std::cmp::Ordering;

impl<S: Store> Session<S> {
    /// A socket is open: an acceptor waits for the Logon, an initiator sends it.
    pub fn connect(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        self.follow_schedule(now, actions)?;
        self.link = Link::connected(now, self.settings.heartbeat_seconds);
        match &self.settings.role {
            Role::Acceptor { .. } => Ok(()),
            Role::Initiator { .. } if !self.open => self.close(now, DisconnectReason::OutsideSchedule, actions),
            Role::Initiator { credentials, .. } => {
                let credentials = credentials.clone();
                self.send_logon(now, credentials, actions)
            }
        }
    }

    fn send_logon(
        &mut self,
        now: Time,
        credentials: Option<Credentials>,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if self.settings.refresh_on_logon {
            self.store.refresh()?;
        }
        if self.settings.reset_on_logon {
            self.start_again(now)?;
        }
        let settings = &self.settings;
        let resets = settings.reset_on_logon || settings.reset_on_logout || settings.reset_on_disconnect;
        self.link.reset_sent = resets && self.store.next_incoming() == 1 && self.store.next_outgoing() == 1;
        self.link.phase = Phase::LogonSent;
        let next_expected = self.settings.send_next_expected.then(|| self.store.next_incoming());
        self.draft_logon(self.link.reset_sent, next_expected);
        if let Some(Credentials { username, password }) = credentials {
            self.draft.field(tag::USERNAME, username).field(tag::PASSWORD, password);
        }
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    fn draft_logon(&mut self, reset: bool, next_expected: Option<SeqNum>) {
        self.draft.begin("A").field(tag::ENCRYPT_METHOD, b"0");
        self.draft.number(tag::HEART_BT_INT, u64::from(self.link.heartbeat_seconds));
        if reset {
            self.draft.field(tag::RESET_SEQ_NUM_FLAG, b"Y");
        }
        if let Some(next_expected) = next_expected {
            self.draft.number(tag::NEXT_EXPECTED_MSG_SEQ_NUM, next_expected);
        }
    }

    pub(super) fn on_logon(
        &mut self,
        now: Time,
        logon: &Message<'_>,
        number: SeqNum,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        let again = self.link.phase.is_logged_on();
        let reset = logon.flag(tag::RESET_SEQ_NUM_FLAG);
        if again && !reset {
            return self.close(now, DisconnectReason::SecondLogon, actions);
        }
        if !self.open {
            return self.close(now, DisconnectReason::OutsideSchedule, actions);
        }
        if let Some(reason) = self.distrust(now, logon) {
            return self.close(now, DisconnectReason::BadLogon(Fault::of(reason)), actions);
        }
        if reset && number != 1 {
            let reason = DisconnectReason::ResetWithoutOne;
            return self.turn_away(now, &reason.to_string(), reason, reset, actions);
        }
        let Some(heartbeat_seconds) = self.heartbeat_of(logon) else {
            let reason = DisconnectReason::BadLogon(Fault::at(RejectReason::ValueIncorrect, tag::HEART_BT_INT));
            return self.turn_away(now, "HeartBtInt must not be negative", reason, reset, actions);
        };
        let next_expected = logon.number(tag::NEXT_EXPECTED_MSG_SEQ_NUM);
        if next_expected.is_none() && logon.get(tag::NEXT_EXPECTED_MSG_SEQ_NUM).is_some() {
            let fault = Fault::at(RejectReason::IncorrectDataFormat, tag::NEXT_EXPECTED_MSG_SEQ_NUM);
            return self.close(now, DisconnectReason::BadLogon(fault), actions);
        }
        let facts = LogonFacts { number, heartbeat_seconds, reset, next_expected };
        if self.link.phase == Phase::LogonSent {
            return self.welcome(now, facts, actions);
        }
        self.link.logon = Some(facts);
        self.link.phase = Phase::Deciding { again };
        actions.push(Action::AskLogon);
        Ok(())
    }

    /// `None` for an invalid heartbeat interval.
    fn heartbeat_of(&self, logon: &Message<'_>) -> Option<u32> {
        match (&self.settings.role, logon.get(tag::HEART_BT_INT)) {
            (Role::Initiator { .. }, _) | (_, None) => Some(self.settings.heartbeat_seconds),
            (Role::Acceptor { .. }, Some(_)) => logon.number(tag::HEART_BT_INT).and_then(|n| u32::try_from(n).ok()),
        }
    }

    /// The application accepts the Logon.
    pub fn admit(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        match self.link.logon.take() {
            Some(facts) => self.welcome(now, facts, actions),
            None => Ok(()),
        }
    }

    /// The application rejects the Logon. A peer that starts from 1 at its next Logon receives the reason. Any other
    /// would count the Logout and then miss a number, or we would use up a number for an unauthenticated peer; so the
    /// connection is closed without a message, as the standard allows for this reason.
    pub fn refuse(&mut self, now: Time, why: &str, actions: &mut Actions) -> Result<(), StoreError> {
        let Some(facts) = self.link.logon.take() else { return Ok(()) };
        let reason = DisconnectReason::LogonRefused(why.to_owned());
        match self.counts_anew(facts.reset) || self.link.phase.is_logged_on() {
            true => self.turn_away(now, &reason.to_string(), reason, facts.reset, actions),
            false => self.close(now, reason, actions),
        }
    }

    /// The Logout to a rejected peer has the number that an answer would have had, and does not use it up.
    fn turn_away(
        &mut self,
        now: Time,
        text: &str,
        reason: DisconnectReason,
        reset: bool,
        actions: &mut Actions,
    ) -> Result<(), StoreError> {
        if self.link.phase.is_logged_on() {
            self.say_goodbye(now, text, actions)?;
        } else {
            let number = if self.counts_anew(reset) { 1 } else { self.store.next_outgoing() };
            self.show_the_door(now, number, text, actions);
        }
        self.close(now, reason, actions)
    }

    /// Whether an accepted Logon would reset both sides to 1.
    fn counts_anew(&self, reset: bool) -> bool {
        reset || (self.settings.reset_on_logon && matches!(self.settings.role, Role::Acceptor { .. }))
    }

    fn welcome(&mut self, now: Time, facts: LogonFacts, actions: &mut Actions) -> Result<(), StoreError> {
        let answers = self.link.phase != Phase::LogonSent || (facts.reset && !self.link.reset_sent);
        if answers {
            self.reset_for(now, facts)?;
        }
        if self.are_numbers_used_up() {
            let reason = DisconnectReason::NumbersUsedUp;
            return self.turn_away(now, &reason.to_string(), reason, facts.reset, actions);
        }
        let expected = self.store.next_incoming();
        if facts.number < expected {
            return self.too_low(now, facts.number, actions);
        }
        let next = self.store.next_outgoing();
        if let Some(received) = facts.next_expected.filter(|received| *received > next) {
            let reason = DisconnectReason::NextExpectedTooHigh { expected: next, received };
            self.say_goodbye(now, &reason.to_string(), actions)?;
            return self.close(now, reason, actions);
        }
        self.link.phase = Phase::LoggedOn;
        self.link.heartbeat_seconds = facts.heartbeat_seconds;
        if answers {
            self.answer_logon(now, facts, actions)?;
        }
        match facts.number.cmp(&expected) {
            Ordering::Greater => {
                self.link.parked.park(facts.number, Parked::Settled);
                match facts.next_expected.is_some() && (answers || self.settings.send_next_expected) {
                    true => self.await_resend(now, facts.number - 1),
                    false => self.ask_for_gap(now, facts.number, actions)?,
                }
            }
            Ordering::Equal | Ordering::Less => self.settle(facts.number, Traffic::Session)?,
        }
        if let Some(from) = facts.next_expected.filter(|from| *from < next) {
            self.resend(now, from.max(1), self.store.next_outgoing() - 1, actions)?;
        }
        actions.push(Action::LoggedOn);
        self.end_with_the_numbers(now, actions)
    }

    /// A peer that sends NextExpectedMsgSeqNum receives ours: the number after its Logon, unless that was out of order.
    fn answer_logon(&mut self, now: Time, facts: LogonFacts, actions: &mut Actions) -> Result<(), StoreError> {
        let expected = self.store.next_incoming();
        let next = if facts.number == expected { expected + 1 } else { expected };
        let is_told = self.settings.send_next_expected || facts.next_expected.is_some();
        self.draft_logon(facts.reset, is_told.then_some(next));
        if self.settings.send_last_processed {
            self.draft.number(tag::LAST_MSG_SEQ_NUM_PROCESSED, next - 1);
        }
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    fn reset_for(&mut self, now: Time, facts: LogonFacts) -> Result<(), StoreError> {
        if self.settings.refresh_on_logon {
            self.store.refresh()?;
        }
        if self.counts_anew(facts.reset) { self.start_again(now) } else { Ok(()) }
    }
}
