//! A session beside the order session, for market data or a drop copy. It fails apart from it, and connects again by itself.

use adapter_kit::reconnect::{NextConnect, ReconnectPolicy, ReconnectRule};
use crossbeam_channel::Sender;
use domain::Timestamp;
use fix::{OutgoingMessage, SeqNum};

use crate::dialect::{Dialect, SessionRole};
use crate::sessions::number_store::SharedNumbers;
use crate::sessions::session::{INBOUND_MESSAGES_MAX, Inbound, SessionPlan, VenueSession};
use crate::sessions::session_runtime::SessionRuntime;

/// How often incoming numbers that no report depends on are written.
const CONFIRM_EVERY_SECONDS: i64 = 10;
/// A session that has not logged on after this is ended, and the next address is tried.
const LOGON_SECONDS_MAX: i64 = 15;

fn reconnect_rule() -> ReconnectRule {
    ReconnectRule {
        first_millis: 1_000,
        max_millis: 60_000,
        attempts_max: 15,
        attempts_seconds: 30,
        failures_max: None,
    }
}

/// What happened on the line.
pub(crate) enum SideSessionEvent {
    Up,
    Down(String),
    Message(Vec<u8>),
    /// The venue goes on with a later number.
    Skipped,
    /// The venue has begun its numbers anew.
    Reset {
        expected: SeqNum,
        received: SeqNum,
    },
}

pub(crate) struct SideSession {
    dialect: Dialect,
    plan: SessionPlan,
    numbers: SharedNumbers,
    session: Option<(VenueSession, Timestamp)>,
    is_up: bool,
    attempts: usize,
    reconnect: ReconnectPolicy,
    retry_at: Timestamp,
    /// What came while nothing could be delivered.
    waiting: Vec<SideSessionEvent>,
    confirm_at: Timestamp,
}

impl SideSession {
    pub(crate) fn new(dialect: Dialect, plan: SessionPlan, numbers: SharedNumbers, seed: u64) -> Self {
        let reconnect = ReconnectPolicy::new(reconnect_rule(), seed);
        Self {
            dialect,
            plan,
            numbers,
            session: None,
            is_up: false,
            attempts: 0,
            reconnect,
            retry_at: Timestamp(0),
            waiting: Vec::new(),
            confirm_at: Timestamp(0),
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.is_up
    }

    /// Keeps the line up while nothing can be delivered: what comes waits for the next `poll`. Where too much waits, nothing more is read
    /// and nothing is connected again.
    pub(crate) fn look_after(&mut self, runtime: &SessionRuntime, wake: &Sender<()>, at: Timestamp) {
        if self.waiting.len() < INBOUND_MESSAGES_MAX {
            self.waiting = self.poll(runtime, wake, at);
        }
    }

    /// Connects where that is due, and takes what has come.
    pub(crate) fn poll(&mut self, runtime: &SessionRuntime, wake: &Sender<()>, at: Timestamp) -> Vec<SideSessionEvent> {
        let mut events = std::mem::take(&mut self.waiting);
        if self.session.is_none() && at >= self.retry_at {
            self.begin(runtime, wake, at);
        }
        let inbound: Vec<Inbound> = self.session.iter().flat_map(|(session, _)| session.inbound().try_iter()).collect();
        for inbound in inbound {
            events.extend(self.on_inbound(inbound, runtime, at));
        }
        // After what has come: it may have logged on while nobody looked, and reports with it.
        let is_late = |begun: Timestamp| at.seconds_since(begun) >= LOGON_SECONDS_MAX;
        if !self.is_up && self.session.as_ref().is_some_and(|(_, begun)| is_late(*begun)) {
            self.lose(runtime, at);
        }
        if let Some((session, _)) = &self.session {
            session.resume();
        }
        // Of a session that was ended meanwhile.
        events.append(&mut self.waiting);
        events
    }

    fn begin(&mut self, runtime: &SessionRuntime, wake: &Sender<()>, at: Timestamp) {
        self.reconnect.on_attempt(at);
        let numbers = self.numbers.clone();
        let session = VenueSession::start(runtime, &self.dialect, &self.plan, self.attempts, numbers, wake.clone());
        self.attempts += 1;
        self.session = Some((session, at));
    }

    fn on_inbound(&mut self, inbound: Inbound, runtime: &SessionRuntime, at: Timestamp) -> Option<SideSessionEvent> {
        match inbound {
            Inbound::LoggedOn => {
                self.is_up = true;
                self.reconnect.on_success();
                Some(SideSessionEvent::Up)
            }
            Inbound::Lost(reason) => {
                self.lose(runtime, at);
                Some(SideSessionEvent::Down(reason))
            }
            other => received(other),
        }
    }

    fn lose(&mut self, runtime: &SessionRuntime, at: Timestamp) {
        self.end(runtime);
        self.reconnect.on_failure(at);
        if let NextConnect::At(next) = self.reconnect.next(at) {
            self.retry_at = next;
        }
    }

    /// False where the queue is full or there is no session.
    pub(crate) fn send(&self, message: OutgoingMessage) -> bool {
        self.is_up && self.session.as_ref().is_some_and(|(session, _)| session.send(message))
    }

    /// When it must be looked at, though nothing comes.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        match &self.session {
            None => Some(self.retry_at),
            Some((_, begun)) if !self.is_up => Some(begun.plus_seconds(LOGON_SECONDS_MAX)),
            Some(_) => None,
        }
    }

    /// Nothing that was received needs to come again: once in a while it is written, so that little comes again after a crash.
    pub(crate) fn confirm_received(&mut self, at: Timestamp) {
        if at < self.confirm_at {
            return;
        }
        self.confirm_at = at.plus_seconds(CONFIRM_EVERY_SECONDS);
        if let Err(error) = self.numbers.confirm_all() {
            tracing::warn!(session = %self.plan.sender, %error, "sequence numbers not saved; the venue may have to resend");
        }
    }

    /// Logs out. What a drop copy has received until then has its numbers, so that the venue does not send it again: it waits.
    pub(crate) fn end(&mut self, runtime: &SessionRuntime) {
        self.is_up = false;
        let Some((session, _)) = self.session.take() else { return };
        let rest = session.end(runtime);
        if self.plan.role == SessionRole::DropCopy {
            self.waiting.extend(rest.into_iter().filter_map(received));
        }
    }
}

/// What came from the venue, and nothing of the session itself.
fn received(inbound: Inbound) -> Option<SideSessionEvent> {
    match inbound {
        Inbound::Message(frame) => Some(SideSessionEvent::Message(frame)),
        Inbound::Skipped => Some(SideSessionEvent::Skipped),
        Inbound::Reset { expected, received } => Some(SideSessionEvent::Reset { expected, received }),
        Inbound::LoggedOn | Inbound::Lost(_) | Inbound::Sent { .. } | Inbound::Unsent { .. } => None,
    }
}
