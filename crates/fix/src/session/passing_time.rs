//! Timers: heartbeats, test requests, time-outs, end of the session period.

use super::{Actions, DisconnectReason, Phase, Session};
use crate::codec::Time;
use crate::store::{Store, StoreError};

/// After 1.2 intervals of silence a Test Request is sent, after 2.4 the connection is closed.
const TEST_REQUEST_TENTHS: i64 = 12;
const GIVE_UP_TENTHS: i64 = 24;

/// Text (58) of the Logout at the end of a period, usually at midnight.
const PERIOD_OVER: &str = "the session's period is over, numbers begin at 1 with the next Logon";

impl<S: Store> Session<S> {
    /// To be called when [`Self::deadline`] is reached; earlier calls have no effect.
    pub fn tick(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        self.follow_schedule(now, actions)?;
        let waited = |seconds: u32| now >= self.link.since.plus_seconds(i64::from(seconds));
        match self.link.phase {
            Phase::Connected | Phase::LogonSent | Phase::Deciding { again: false }
                if waited(self.settings.logon_timeout_seconds) =>
            {
                self.close(now, DisconnectReason::LogonTimeout, actions)
            }
            Phase::LoggingOut if waited(self.settings.logout_timeout_seconds) => {
                self.close(now, DisconnectReason::LogoutTimeout, actions)
            }
            Phase::LoggedOn | Phase::LoggingOut | Phase::Deciding { again: true } => {
                self.ask_where_a_promise_is_broken(now, actions)?;
                self.keep_alive(now, actions)
            }
            Phase::Down | Phase::Connected | Phase::LogonSent | Phase::Deciding { again: false } => Ok(()),
        }?;
        self.end_with_the_numbers(now, actions)
    }

    /// The peer has sent something that is not read yet, because we have no room for it: it is not silent.
    pub fn is_heard(&mut self, now: Time) {
        self.link.last_received = now;
        self.link.test_request_pending = false;
    }

    /// While an answer to our Test Request is due we send no heartbeats, as QuickFIX does.
    fn keep_alive(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        let beats = self.beats();
        if self.link.heartbeat_seconds == 0 {
            Ok(())
        } else if now >= beats.give_up {
            self.close(now, DisconnectReason::HeartbeatTimeout, actions)
        } else if self.link.test_request_pending {
            Ok(())
        } else if now >= beats.test_request {
            self.send_test_request(now, actions)
        } else if now >= beats.heartbeat {
            self.send_heartbeat(now, actions)
        } else {
            Ok(())
        }
    }

    /// When `tick` is due; it may be called later, but not earlier.
    pub fn deadline(&self) -> Time {
        let schedule = self.schedule_holds_until;
        let after = |seconds: u32| self.link.since.plus_seconds(i64::from(seconds));
        let beats = self.beats();
        let next = match self.link.phase {
            Phase::Down => schedule,
            Phase::Connected | Phase::LogonSent | Phase::Deciding { again: false } => {
                after(self.settings.logon_timeout_seconds)
            }
            Phase::LoggingOut => after(self.settings.logout_timeout_seconds),
            Phase::LoggedOn | Phase::Deciding { again: true } if self.link.heartbeat_seconds == 0 => schedule,
            Phase::LoggedOn | Phase::Deciding { again: true } if self.link.test_request_pending => beats.give_up,
            Phase::LoggedOn | Phase::Deciding { again: true } => beats.test_request.min(beats.heartbeat),
        };
        next.min(schedule).min(self.promise_ends())
    }

    fn beats(&self) -> Beats {
        let interval = i64::from(self.link.heartbeat_seconds);
        Beats {
            heartbeat: self.link.last_sent.plus_seconds(interval),
            test_request: self.link.last_received.plus_tenths(interval * TEST_REQUEST_TENTHS),
            give_up: self.link.last_received.plus_tenths(interval * GIVE_UP_TENTHS),
        }
    }

    /// When the period in which the sequence numbers began is over, a peer that is logged on is logged out, and they
    /// are reset.
    pub(super) fn follow_schedule(&mut self, now: Time, actions: &mut Actions) -> Result<(), StoreError> {
        if now < self.schedule_holds_until {
            return Ok(());
        }
        let schedule = &self.settings.schedule;
        let period = schedule.period(now);
        self.schedule_holds_until = schedule.next_change(now);
        self.open = period.is_some();
        if period == schedule.period(self.store.created()) {
            return Ok(());
        }
        if self.link.phase.is_logged_on() {
            self.say_goodbye(now, PERIOD_OVER, actions)?;
            self.close(now, DisconnectReason::PeriodEnded, actions)?;
        }
        self.start_again(now)
    }
}

/// When the next heartbeat is due, in either direction.
struct Beats {
    heartbeat: Time,
    test_request: Time,
    give_up: Time,
}
