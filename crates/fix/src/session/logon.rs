//! Logon. The peer's Logon is checked as far as that changes nothing, then put to the application (who is it, may it),
//! and only when it is admitted are numbers read, reset or used.

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
        self.draft_logon(self.link.reset_sent);
        if let Some(Credentials { username, password }) = credentials {
            self.draft.field(tag::USERNAME, username).field(tag::PASSWORD, password);
        }
        self.transmit(now, Traffic::Session, actions).map(drop)
    }

    fn draft_logon(&mut self, reset: bool) {
        self.draft.begin("A").field(tag::ENCRYPT_METHOD, b"0");
        self.draft.number(tag::HEART_BT_INT, u64::from(self.link.heartbeat_seconds));
        if reset {
            self.draft.field(tag::RESET_SEQ_NUM_FLAG, b"Y");
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
            return self.turn_away(now, DisconnectReason::ResetWithoutOne, actions);
        }
        let Some(heartbeat_seconds) = self.heartbeat_of(logon) else {
            let fault = Fault::at(RejectReason::ValueIncorrect, tag::HEART_BT_INT);
            self.say_goodbye(now, "HeartBtInt must not be negative", actions)?;
            return self.close(now, DisconnectReason::BadLogon(fault), actions);
        };
        let facts = LogonFacts { number, heartbeat_seconds, reset };
        if self.link.phase == Phase::LogonSent {
            return self.welcome(now, facts, actions);
        }
        self.link.logon = Some(facts);
        self.link.phase = Phase::Deciding { again };
        actions.push(Action::AskLogon);
        Ok(())
    }

    /// None where the Logon has a heart-beat interval that can't be one.
    fn heartbeat_of(&self, logon: &Message<'_>) -> Option<u32> {
        match (&self.settings.role, logon.get(tag::HEART_BT_INT)) {
            (Role::Initiator { .. }, _) | (_, None) => Some(self.settings.heartbeat_seconds),
            (Role::Acceptor { .. }, Some(_)) => logon.number(tag::HEART_BT_INT).and_then(|n| u32::try_from(n).ok()),
        }
    }

    /// The application admits the Logon it was asked about.
    pub fn admit(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        match self.link.logon.take() {
            Some(facts) => self.welcome(now, facts, actions),
            None => Ok(()),
        }
    }

    /// The application refuses it. The peer hears why; the numbers of the session are not reset.
    pub fn refuse(&mut self, now: Time, why: &str, actions: &mut Actions) -> Result<(), StoreError> {
        match self.link.logon.take() {
            Some(_) => self.turn_away(now, DisconnectReason::LogonRefused(why.to_owned()), actions),
            None => Ok(()),
        }
    }

    fn turn_away(&mut self, now: Time, reason: DisconnectReason, actions: &mut Actions) -> Result<(), StoreError> {
        self.say_goodbye(now, &reason.to_string(), actions)?;
        self.close(now, reason, actions)
    }

    fn welcome(&mut self, now: Time, facts: LogonFacts, actions: &mut Actions) -> Result<(), StoreError> {
        let answers = self.link.phase != Phase::LogonSent || (facts.reset && !self.link.reset_sent);
        if answers {
            self.reset_for(now, facts)?;
        }
        let expected = self.store.next_incoming();
        if facts.number < expected {
            return self.too_low(now, facts.number, actions);
        }
        self.link.phase = Phase::LoggedOn;
        self.link.heartbeat_seconds = facts.heartbeat_seconds;
        if answers {
            self.draft_logon(facts.reset);
            self.transmit(now, Traffic::Session, actions)?;
        }
        match facts.number.cmp(&expected) {
            Ordering::Greater => {
                self.link.parked.park(facts.number, Parked::Settled);
                self.ask_for_gap(now, facts.number, actions)?;
            }
            Ordering::Equal | Ordering::Less => self.settle(facts.number, Traffic::Session)?,
        }
        actions.push(Action::LoggedOn);
        Ok(())
    }

    fn reset_for(&mut self, now: Time, facts: LogonFacts) -> Result<(), StoreError> {
        if self.settings.refresh_on_logon {
            self.store.refresh()?;
        }
        let by_setting = self.settings.reset_on_logon && matches!(self.settings.role, Role::Acceptor { .. });
        if facts.reset || by_setting { self.start_again(now) } else { Ok(()) }
    }
}
