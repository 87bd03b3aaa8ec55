//! Session engine: a session, its application and its bytes. A driver adds a socket and the time. Frames are processed
//! one by one, so that an answer leaves before the next message is read.

use crate::codec::{FixDecoder, FixMessage, FrameError, Framer, OutgoingMessage, UtcTimestamp};
use crate::dictionary::Dictionary;
use crate::message_store::{MessageStore, SeqNum, StoreError};
use crate::session::{Actions, DisconnectReason, FixSession, SendError, SessionAction};
use crate::tag;
use std::net::IpAddr;

/// The application of a session.
pub trait Application {
    /// A connection is open; its address where the driver knows it. The Logon will identify the peer.
    fn on_connected(&mut self, _peer: Option<IpAddr>) {}

    /// Decides about a Logon. Nothing has been changed yet. The ticket is for a later decision.
    fn on_logon(&mut self, logon: &FixMessage<'_>, ticket: LogonTicket) -> LogonDecision;

    fn on_logged_on(&mut self, _line: &mut dyn SessionSender) {}

    /// A message for the application, in sequence and never twice.
    fn on_message(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender);

    /// The peer refuses a message of ours by a Reject (3), in sequence and never twice.
    fn on_session_reject(&mut self, _reject: &FixMessage<'_>) {}

    /// The peer goes on with this number by a Sequence Reset (4). What it sent before it does not come any more.
    fn on_numbers_skipped(&mut self, _next: SeqNum) {}

    /// The peer has begun its numbers anew with the Logon that was just accepted: it has the number `received` instead of `expected`.
    /// What it sent before and did not arrive does not come any more.
    fn on_numbers_reset(&mut self, _expected: SeqNum, _received: SeqNum) {}

    /// Whether the next message may be handled. While not, received bytes stay in the buffer and their numbers are not
    /// consumed; the component that lifts the pause wakes the session.
    fn is_ready(&self) -> bool {
        true
    }

    /// The peer answered the Test Request of this id: it has read everything that was sent before.
    fn on_test_response(&mut self, _test_req_id: &[u8]) {}

    /// There is work for the application, which fetches it from its own queues. Only what is sent while the session is
    /// logged on goes out.
    fn on_wake(&mut self, _line: &mut dyn SessionSender) {}

    /// We have sent a Logout and wait for the peer's answer.
    fn on_logging_out(&mut self) {}

    fn on_logged_out(&mut self) {}

    /// A connection has ended, with or without a Logon.
    fn on_disconnected(&mut self, _reason: &DisconnectReason) {}

    /// A message that was handed to the driver, but the session is not logged on (any more).
    fn on_unsent(&mut self, _message: OutgoingMessage) {}

    /// A message that has a number and of which no byte has left, nor will. [`Self::on_frame`] had it before.
    fn on_unwritten(&mut self, _frame: &[u8]) {}

    /// Every frame in both directions, for a log. Mask secrets before they are stored: see [`crate::masked`].
    fn on_frame(&mut self, _direction: Direction, _frame: &[u8]) {}
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogonDecision {
    Accept,
    /// With the text for the peer.
    Reject(String),
    /// The decision comes later, by [`SessionEngine::decide_logon`].
    Pending,
}

/// Identifies one Logon, so that a late decision never applies to the next connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogonTicket(u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

/// Sends the application's messages.
pub trait SessionSender {
    fn send(&mut self, message: &OutgoingMessage) -> Result<SeqNum, SendError>;

    /// Sends a Test Request; [`Application::on_test_response`] is called with the answer.
    fn send_test_request(&mut self, id: &str) -> Result<SeqNum, SendError>;

    fn dictionary(&self) -> Option<&Dictionary>;

    fn now(&self) -> UtcTimestamp;
}

/// A decision about a peer from before its connection was handed over: it applies to the first Logon, which then waits
/// for nothing.
pub type PreparedDecision = Box<dyn FnOnce() -> LogonDecision + Send>;

pub struct SessionEngine<S, A> {
    framer: Framer,
    decoder: FixDecoder,
    state: EngineState<S, A>,
}

impl<S: MessageStore, A: Application> SessionEngine<S, A> {
    pub fn new(session: FixSession<S>, application: A) -> Self {
        let state = EngineState {
            session,
            application,
            actions: Actions::new(),
            prepared_decision: None,
            pending_logon: None,
            last_ticket: LogonTicket::default(),
            disconnect_reason: None,
        };
        Self { framer: Framer::new(), decoder: FixDecoder::new(), state }
    }

    pub fn session(&self) -> &FixSession<S> {
        &self.state.session
    }

    pub fn session_mut(&mut self) -> &mut FixSession<S> {
        &mut self.state.session
    }

    pub fn application_mut(&mut self) -> &mut A {
        &mut self.state.application
    }

    /// A new connection begins; no state of the previous one is left.
    pub fn connect(&mut self, now: UtcTimestamp) {
        self.framer.clear();
        self.state.actions.wire.clear();
        self.state.disconnect_reason = None;
        self.state.prepared_decision = None;
        self.state.pending_logon = None;
        self.state.run_session(now, None, |session, actions| session.connect(now, actions));
    }

    /// The new connection is authenticated already: its Logon is not passed to the application.
    pub fn set_logon_decision(&mut self, introduction: PreparedDecision) {
        self.state.prepared_decision = Some(introduction);
    }

    /// Where the driver appends what it has read, before [`Self::process_input`].
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.framer.buffer()
    }

    /// Whether something has arrived that was not looked at.
    pub fn has_unread(&self) -> bool {
        !self.framer.is_empty()
    }

    /// Where the driver's time is not the wall's: see [`FixSession::set_wall`].
    pub fn set_wall(&mut self, now: UtcTimestamp, wall: UtcTimestamp) {
        self.state.session.set_wall(now, wall);
    }

    /// Something of the peer waits to be read: it lives, whatever we have time for.
    pub fn is_heard(&mut self, now: UtcTimestamp) {
        self.state.session.is_heard(now);
    }

    /// Handles everything received, up to a Logon that waits for its decision, or as far as the application accepts
    /// messages.
    pub fn process_input(&mut self, now: UtcTimestamp) {
        loop {
            while self.process_queued(now) {}
            if !(self.state.can_read() && self.process_frame(now)) {
                return;
            }
        }
    }

    /// Whether more input of the peer can be handled.
    pub fn can_read(&self) -> bool {
        self.state.can_read()
    }

    fn process_frame(&mut self, now: UtcTimestamp) -> bool {
        let Self { framer, decoder, state: desk } = self;
        match framer.next_frame() {
            Ok(None) => return false,
            Ok(Some(frame)) => desk.process(now, frame, decoder),
            Err(FrameError::BadLength) => desk.on_garbled(now),
            Err(FrameError::TooLong) => desk.disconnect(now, DisconnectReason::MessageTooLong),
        }
        true
    }

    fn process_queued(&mut self, now: UtcTimestamp) -> bool {
        if !self.state.can_read() {
            return false;
        }
        match self.state.session.next_out_of_order() {
            Ok(Some(frame)) => self.state.receive(now, &frame, &mut self.decoder),
            Ok(None) => return false,
            Err(error) => self.state.fail(now, &error),
        }
        true
    }

    /// The decision that [`LogonDecision::Pending`] announced.
    pub fn decide_logon(&mut self, now: UtcTimestamp, ticket: LogonTicket, verdict: &LogonDecision) {
        self.state.decide_logon(now, ticket, verdict);
        self.process_input(now);
    }

    pub fn is_logon_pending(&self) -> bool {
        self.state.pending_logon.is_some()
    }

    pub fn send(&mut self, now: UtcTimestamp, message: &OutgoingMessage) -> Result<SeqNum, SendError> {
        let result = self.state.session.send(now, message, &mut self.state.actions);
        self.state.run_actions(now, None);
        if let Err(SendError::Store(error)) = &result {
            self.state.fail(now, error);
        }
        result
    }

    /// Notifies the application of new work, or that it may accept more messages.
    pub fn wake(&mut self, now: UtcTimestamp) {
        let EngineState { session, application, actions, .. } = &mut self.state;
        application.on_wake(&mut ActiveSender { session, actions, now });
        self.state.run_actions(now, None);
        self.process_input(now);
    }

    pub fn log_out(&mut self, now: UtcTimestamp, text: Option<&str>) {
        self.state.run_session(now, None, |session, actions| session.log_out(now, text, actions));
    }

    /// By an operator. Where the store fails, the numbers are those of before.
    pub fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        let result = self.state.session.reset(now, &mut self.state.actions);
        self.state.run_actions(now, None);
        if let Err(error) = &result {
            self.state.fail(now, error);
        }
        result
    }

    /// To be called when [`FixSession::deadline`] is reached.
    pub fn tick(&mut self, now: UtcTimestamp) {
        self.state.run_session(now, None, |session, actions| session.tick(now, actions));
    }

    /// The next chunk of a resend, when the bytes before are written.
    pub fn continue_resend(&mut self, now: UtcTimestamp) {
        self.state.run_session(now, None, |session, actions| session.continue_resend(now, actions).map(drop));
    }

    /// The driver ends the connection, or has lost it.
    pub fn disconnect(&mut self, now: UtcTimestamp, reason: DisconnectReason) {
        self.state.disconnect(now, reason);
    }

    /// Bytes to write; the driver removes what it has written.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.state.actions.wire
    }

    /// Why the connection is to be closed, once the wire is empty.
    pub fn disconnect_reason(&self) -> Option<&DisconnectReason> {
        self.state.disconnect_reason.as_ref()
    }

    /// The socket is closed: reports the reason to the application.
    pub fn on_closed(&mut self, now: UtcTimestamp) -> DisconnectReason {
        self.state.disconnect(now, DisconnectReason::PeerClosed);
        let reason = self.state.disconnect_reason.clone().unwrap_or(DisconnectReason::PeerClosed);
        self.state.application.on_disconnected(&reason);
        reason
    }
}

/// Executes the actions of the session.
struct EngineState<S, A> {
    session: FixSession<S>,
    application: A,
    actions: Actions,
    /// For the current connection, until its Logon.
    prepared_decision: Option<PreparedDecision>,
    /// The Logon that waits for a decision.
    pending_logon: Option<LogonTicket>,
    last_ticket: LogonTicket,
    disconnect_reason: Option<DisconnectReason>,
}

impl<S: MessageStore, A: Application> EngineState<S, A> {
    fn can_read(&self) -> bool {
        self.disconnect_reason.is_none() && self.pending_logon.is_none() && self.application.is_ready()
    }

    fn process(&mut self, now: UtcTimestamp, frame: &[u8], decoder: &mut FixDecoder) {
        self.application.on_frame(Direction::In, frame);
        self.receive(now, frame, decoder);
    }

    fn receive(&mut self, now: UtcTimestamp, frame: &[u8], decoder: &mut FixDecoder) {
        match decoder.decode(frame) {
            Ok(message) => {
                self.run_session(now, Some(&message), |session, actions| session.receive(now, &message, actions));
            }
            Err(_) => self.on_garbled(now),
        }
    }

    fn on_garbled(&mut self, now: UtcTimestamp) {
        self.run_session(now, None, |session, actions| session.on_garbled(now, actions));
    }

    fn run_session(
        &mut self,
        now: UtcTimestamp,
        message: Option<&FixMessage<'_>>,
        event: impl FnOnce(&mut FixSession<S>, &mut Actions) -> Result<(), StoreError>,
    ) {
        let result = event(&mut self.session, &mut self.actions);
        self.run_actions(now, message);
        if let Err(error) = result {
            self.fail(now, &error);
        }
    }

    fn run_actions(&mut self, now: UtcTimestamp, message: Option<&FixMessage<'_>>) {
        while let Some(action) = self.actions.pop() {
            match (action, message) {
                (SessionAction::Send(range), _) => self.application.on_frame(Direction::Out, &self.actions.wire[range]),
                (SessionAction::Deliver, Some(message)) => self.application.on_message(
                    message,
                    &mut ActiveSender { session: &mut self.session, actions: &mut self.actions, now },
                ),
                (SessionAction::DeliverReject, Some(reject)) => self.application.on_session_reject(reject),
                (SessionAction::NumbersSkipped(next), _) => self.application.on_numbers_skipped(next),
                (SessionAction::NumbersReset { expected, received }, _) => {
                    self.application.on_numbers_reset(expected, received);
                }
                (SessionAction::TestRequestAnswered, Some(heartbeat)) => {
                    self.application.on_test_response(heartbeat.get(tag::TEST_REQ_ID).unwrap_or_default());
                }
                (SessionAction::AuthorizeLogon, Some(logon)) => self.authorize_logon(now, logon),
                (SessionAction::LoggedOn, _) => self.application.on_logged_on(&mut ActiveSender {
                    session: &mut self.session,
                    actions: &mut self.actions,
                    now,
                }),
                (SessionAction::LoggingOut, _) => self.application.on_logging_out(),
                (SessionAction::LoggedOut, _) => self.application.on_logged_out(),
                (SessionAction::Close(reason), _) => self.disconnect_reason = Some(reason),
                // Only a received message is delivered, authorized or an answer.
                (
                    SessionAction::Deliver
                    | SessionAction::DeliverReject
                    | SessionAction::AuthorizeLogon
                    | SessionAction::TestRequestAnswered,
                    None,
                ) => {}
            }
        }
    }

    fn authorize_logon(&mut self, now: UtcTimestamp, logon: &FixMessage<'_>) {
        self.last_ticket.0 += 1;
        let ticket = self.last_ticket;
        self.pending_logon = Some(ticket);
        let verdict = match self.prepared_decision.take() {
            Some(introduction) => introduction(),
            None => self.application.on_logon(logon, ticket),
        };
        self.decide_logon(now, ticket, &verdict);
    }

    fn decide_logon(&mut self, now: UtcTimestamp, ticket: LogonTicket, verdict: &LogonDecision) {
        if self.pending_logon != Some(ticket) || *verdict == LogonDecision::Pending {
            return;
        }
        self.pending_logon = None;
        self.run_session(now, None, |session, actions| match verdict {
            LogonDecision::Reject(why) => session.reject_logon(now, why, actions),
            LogonDecision::Accept | LogonDecision::Pending => session.accept_logon(now, actions),
        });
    }

    fn disconnect(&mut self, now: UtcTimestamp, reason: DisconnectReason) {
        self.disconnect_reason.get_or_insert(reason);
        self.run_session(now, None, |session, actions| session.disconnected(now, actions));
    }

    /// Nothing more is sent to the peer once the store has failed.
    fn fail(&mut self, now: UtcTimestamp, error: &StoreError) {
        self.disconnect_reason = Some(DisconnectReason::StoreFailed(error.0.clone()));
        if self.session.disconnected(now, &mut self.actions).is_ok() {
            self.run_actions(now, None);
        }
    }
}

struct ActiveSender<'a, S> {
    session: &'a mut FixSession<S>,
    actions: &'a mut Actions,
    now: UtcTimestamp,
}

impl<S: MessageStore> SessionSender for ActiveSender<'_, S> {
    fn send(&mut self, message: &OutgoingMessage) -> Result<SeqNum, SendError> {
        self.session.send(self.now, message, self.actions)
    }

    fn send_test_request(&mut self, id: &str) -> Result<SeqNum, SendError> {
        self.session.send_test_request_with_id(self.now, id, self.actions)
    }

    fn dictionary(&self) -> Option<&Dictionary> {
        self.session.dictionary()
    }

    fn now(&self) -> UtcTimestamp {
        self.now
    }
}
