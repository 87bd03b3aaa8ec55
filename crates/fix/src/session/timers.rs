//! Timers: heartbeats, test requests, time-outs, end of the session period.

use super::{Actions, DisconnectReason, FixSession, LogonPhase};
use crate::codec::UtcTimestamp;
use crate::message_store::{MessageStore, StoreError};

/// After 1.2 intervals of silence a Test Request is sent, after 2.4 the connection is closed.
const TEST_REQUEST_TENTHS: i64 = 12;
const HEARTBEAT_TIMEOUT_TENTHS: i64 = 24;

/// Text (58) of the Logout at the end of a period, usually at midnight.
const PERIOD_OVER_TEXT: &str = "the session's period is over, numbers begin at 1 with the next Logon";

impl<S: MessageStore> FixSession<S> {
    /// To be called when [`Self::deadline`] is reached; earlier calls have no effect.
    pub fn tick(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        self.follow_schedule(now, actions)?;
        let waited = |seconds: u32| now >= self.connection.since.plus_seconds(i64::from(seconds));
        match self.connection.phase {
            LogonPhase::Connected | LogonPhase::LogonSent | LogonPhase::Authorizing { again: false }
                if waited(self.settings.logon_timeout_seconds) =>
            {
                self.close(now, DisconnectReason::LogonTimeout, actions)
            }
            LogonPhase::LoggingOut if waited(self.settings.logout_timeout_seconds) => {
                self.close(now, DisconnectReason::LogoutTimeout, actions)
            }
            LogonPhase::LoggedOn | LogonPhase::LoggingOut | LogonPhase::Authorizing { again: true } => {
                self.ask_where_a_promise_is_broken(now, actions)?;
                self.keep_alive(now, actions)
            }
            LogonPhase::Disconnected
            | LogonPhase::Connected
            | LogonPhase::LogonSent
            | LogonPhase::Authorizing { again: false } => Ok(()),
        }?;
        self.close_if_exhausted(now, actions)
    }

    /// The peer has sent something that is not read yet, because we have no room for it: it is not silent.
    pub fn is_heard(&mut self, now: UtcTimestamp) {
        self.connection.last_received = now;
        self.connection.test_request_pending = false;
        // What was promised by 789 may be what waits there.
        self.keep_promise(now);
    }

    /// While an answer to our Test Request is due we send no heartbeats, as QuickFIX does.
    fn keep_alive(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        let beats = self.heartbeat_times();
        if self.connection.heartbeat_seconds == 0 {
            Ok(())
        } else if now >= beats.timeout {
            self.close(now, DisconnectReason::HeartbeatTimeout, actions)
        } else if self.connection.test_request_pending {
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
    pub fn deadline(&self) -> UtcTimestamp {
        let schedule = self.reset_due.unwrap_or(self.next_schedule_change).min(self.next_schedule_change);
        let after = |seconds: u32| self.connection.since.plus_seconds(i64::from(seconds));
        let beats = self.heartbeat_times();
        let next = match self.connection.phase {
            LogonPhase::Disconnected => schedule,
            LogonPhase::Connected | LogonPhase::LogonSent | LogonPhase::Authorizing { again: false } => {
                after(self.settings.logon_timeout_seconds)
            }
            LogonPhase::LoggingOut => after(self.settings.logout_timeout_seconds),
            LogonPhase::LoggedOn | LogonPhase::Authorizing { again: true }
                if self.connection.heartbeat_seconds == 0 =>
            {
                schedule
            }
            LogonPhase::LoggedOn | LogonPhase::Authorizing { again: true } if self.connection.test_request_pending => {
                beats.timeout
            }
            LogonPhase::LoggedOn | LogonPhase::Authorizing { again: true } => beats.test_request.min(beats.heartbeat),
        };
        next.min(schedule).min(self.promise_ends())
    }

    fn heartbeat_times(&self) -> HeartbeatTimes {
        let interval = i64::from(self.connection.heartbeat_seconds);
        HeartbeatTimes {
            heartbeat: self.connection.last_sent.plus_seconds(interval),
            test_request: self.connection.last_received.plus_tenths(interval * TEST_REQUEST_TENTHS),
            timeout: self.connection.last_received.plus_tenths(interval * HEARTBEAT_TIMEOUT_TENTHS),
        }
    }

    /// When the period in which the sequence numbers began is over, a peer that is logged on is logged out, and they
    /// are reset.
    pub(super) fn follow_schedule(&mut self, now: UtcTimestamp, actions: &mut Actions) -> Result<(), StoreError> {
        if self.reset_due.is_some() {
            self.settle_reset(now)?;
        }
        if now < self.next_schedule_change {
            return Ok(());
        }
        let schedule = &self.settings.schedule;
        let period = schedule.period(now);
        self.next_schedule_change = schedule.next_change(now);
        self.is_scheduled_open = period.is_some();
        let is_same = period == schedule.period(self.began(now));
        self.schedule_followed = Some(now);
        if is_same {
            return Ok(());
        }
        // Whatever fails from here on, it is not forgotten.
        self.reset_due = Some(now);
        if self.connection.phase.is_logged_on() {
            self.send_final_logout(now, PERIOD_OVER_TEXT, actions)?;
            self.close(now, DisconnectReason::PeriodEnded, actions)?;
        }
        self.settle_reset(now)
    }

    /// When the numbers began. By a clock that ran ahead that is in the future, and would be in another period at each look: they were there
    /// when the schedule was last followed.
    fn began(&self, now: UtcTimestamp) -> UtcTimestamp {
        let created = self.store.created();
        if created > now { self.schedule_followed.unwrap_or(now) } else { created }
    }
}

/// When the next heartbeat is due, in either direction.
struct HeartbeatTimes {
    heartbeat: UtcTimestamp,
    test_request: UtcTimestamp,
    timeout: UtcTimestamp,
}
