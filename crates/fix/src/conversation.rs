//! Session engine: a session, its application and its bytes. A driver adds a socket and the time. Frames are processed
//! one by one, so that an answer leaves before the next message is read.

use crate::codec::{Decoder, FrameError, Framer, Message, Outgoing, Time};
use crate::dictionary::Dictionary;
use crate::session::{Action, Actions, DisconnectReason, SendError, Session};
use crate::store::{SeqNum, Store, StoreError};
use crate::tag;
use std::net::IpAddr;

/// The application of a session.
pub trait Application {
    /// A connection is open; its address where the driver knows it. The Logon will identify the peer.
    fn connected(&mut self, _peer: Option<IpAddr>) {}

    /// Decides about a Logon. Nothing has been changed yet. The ticket is for a later decision.
    fn logon(&mut self, logon: &Message<'_>, ticket: LogonTicket) -> Verdict;

    fn logged_on(&mut self, _line: &mut dyn Line) {}

    /// A message for the application, in sequence and never twice.
    fn received(&mut self, message: &Message<'_>, line: &mut dyn Line);

    /// Whether the next message may be handled. While not, received bytes stay in the buffer and their numbers are not
    /// consumed; the component that lifts the pause wakes the session.
    fn takes_more(&self) -> bool {
        true
    }

    /// The peer answered the Test Request of this id: it has read everything that was sent before.
    fn answered(&mut self, _test_req_id: &[u8]) {}

    /// There is work for the application, which fetches it from its own queues. Only what is sent while the session is
    /// logged on goes out.
    fn woken(&mut self, _line: &mut dyn Line) {}

    /// We have sent a Logout and wait for the peer's answer.
    fn logging_out(&mut self) {}

    fn logged_out(&mut self) {}

    /// A connection has ended, with or without a Logon.
    fn disconnected(&mut self, _reason: &DisconnectReason) {}

    /// A message that was handed to the driver, but the session is not logged on (any more).
    fn unsent(&mut self, _message: Outgoing) {}

    /// Every frame in both directions, for a log. Mask secrets before they are stored: see [`crate::masked`].
    fn observe(&mut self, _direction: Direction, _frame: &[u8]) {}
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Admit,
    /// With the text for the peer.
    Refuse(String),
    /// The decision comes later, by [`Conversation::decide`].
    Later,
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
pub trait Line {
    fn send(&mut self, message: &Outgoing) -> Result<SeqNum, SendError>;

    /// Sends a Test Request; [`Application::answered`] is called with the answer.
    fn ask_for_sign(&mut self, id: &str) -> Result<SeqNum, SendError>;

    fn dictionary(&self) -> Option<&Dictionary>;

    fn now(&self) -> Time;
}

/// A decision about a peer from before its connection was handed over: it applies to the first Logon, which then waits
/// for nothing.
pub type Introduction = Box<dyn FnOnce() -> Verdict + Send>;

pub struct Conversation<S, A> {
    framer: Framer,
    decoder: Decoder,
    desk: Desk<S, A>,
}

impl<S: Store, A: Application> Conversation<S, A> {
    pub fn new(session: Session<S>, application: A) -> Self {
        let desk = Desk {
            session,
            application,
            actions: Actions::new(),
            introduction: None,
            undecided: None,
            tickets: LogonTicket::default(),
            ended: None,
        };
        Self { framer: Framer::new(), decoder: Decoder::new(), desk }
    }

    pub fn session(&self) -> &Session<S> {
        &self.desk.session
    }

    pub fn session_mut(&mut self) -> &mut Session<S> {
        &mut self.desk.session
    }

    pub fn application_mut(&mut self) -> &mut A {
        &mut self.desk.application
    }

    /// A new connection begins; no state of the previous one is left.
    pub fn connect(&mut self, now: Time) {
        self.framer.clear();
        self.desk.actions.wire.clear();
        self.desk.ended = None;
        self.desk.introduction = None;
        self.desk.undecided = None;
        self.desk.step(now, None, |session, actions| session.connect(now, actions));
    }

    /// The new connection is authenticated already: its Logon is not passed to the application.
    pub fn introduce(&mut self, introduction: Introduction) {
        self.desk.introduction = Some(introduction);
    }

    /// Where the driver appends what it has read, before [`Self::pump`].
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.framer.buffer()
    }

    /// Whether something has arrived that was not looked at.
    pub fn has_unread(&self) -> bool {
        !self.framer.is_empty()
    }

    /// Something of the peer waits to be read: it lives, whatever we have time for.
    pub fn is_heard(&mut self, now: Time) {
        self.desk.session.is_heard(now);
    }

    /// Handles everything received, up to a Logon that waits for its decision, or as far as the application accepts
    /// messages.
    pub fn pump(&mut self, now: Time) {
        loop {
            while self.take_parked(now) {}
            if !(self.desk.is_listening() && self.take_frame(now)) {
                return;
            }
        }
    }

    /// Whether more input of the peer can be handled.
    pub fn is_listening(&self) -> bool {
        self.desk.is_listening()
    }

    fn take_frame(&mut self, now: Time) -> bool {
        let Self { framer, decoder, desk } = self;
        match framer.next_frame() {
            Ok(None) => return false,
            Ok(Some(frame)) => desk.take(now, frame, decoder),
            Err(FrameError::BadLength) => desk.garbled(now),
            Err(FrameError::TooLong) => desk.cut(now, DisconnectReason::MessageTooLong),
        }
        true
    }

    fn take_parked(&mut self, now: Time) -> bool {
        if !self.desk.is_listening() {
            return false;
        }
        match self.desk.session.next_parked() {
            Ok(Some(frame)) => self.desk.receive(now, &frame, &mut self.decoder),
            Ok(None) => return false,
            Err(error) => self.desk.fail(now, &error),
        }
        true
    }

    /// The decision that [`Verdict::Later`] announced.
    pub fn decide(&mut self, now: Time, ticket: LogonTicket, verdict: &Verdict) {
        self.desk.decide(now, ticket, verdict);
        self.pump(now);
    }

    pub fn is_undecided(&self) -> bool {
        self.desk.undecided.is_some()
    }

    pub fn send(&mut self, now: Time, message: &Outgoing) -> Result<SeqNum, SendError> {
        let result = self.desk.session.send(now, message, &mut self.desk.actions);
        self.desk.perform(now, None);
        if let Err(SendError::Store(error)) = &result {
            self.desk.fail(now, error);
        }
        result
    }

    /// Notifies the application of new work, or that it may accept more messages.
    pub fn wake(&mut self, now: Time) {
        let Desk { session, application, actions, .. } = &mut self.desk;
        application.woken(&mut OpenLine { session, actions, now });
        self.desk.perform(now, None);
        self.pump(now);
    }

    pub fn log_out(&mut self, now: Time, text: Option<&str>) {
        self.desk.step(now, None, |session, actions| session.log_out(now, text, actions));
    }

    pub fn reset(&mut self, now: Time) {
        self.desk.step(now, None, |session, actions| session.reset(now, actions));
    }

    /// To be called when [`Session::deadline`] is reached.
    pub fn tick(&mut self, now: Time) {
        self.desk.step(now, None, |session, actions| session.tick(now, actions));
    }

    /// The next chunk of a resend, when the bytes before are written.
    pub fn continue_resend(&mut self, now: Time) {
        self.desk.step(now, None, |session, actions| session.continue_resend(now, actions).map(drop));
    }

    /// The driver ends the connection, or has lost it.
    pub fn cut(&mut self, now: Time, reason: DisconnectReason) {
        self.desk.cut(now, reason);
    }

    /// Bytes to write; the driver removes what it has written.
    pub fn wire(&mut self) -> &mut Vec<u8> {
        &mut self.desk.actions.wire
    }

    /// Why the connection is to be closed, once the wire is empty.
    pub fn ended(&self) -> Option<&DisconnectReason> {
        self.desk.ended.as_ref()
    }

    /// The socket is closed: reports the reason to the application.
    pub fn finish(&mut self, now: Time) -> DisconnectReason {
        self.desk.cut(now, DisconnectReason::PeerClosed);
        let reason = self.desk.ended.clone().unwrap_or(DisconnectReason::PeerClosed);
        self.desk.application.disconnected(&reason);
        reason
    }
}

/// Executes the actions of the session.
struct Desk<S, A> {
    session: Session<S>,
    application: A,
    actions: Actions,
    /// For the current connection, until its Logon.
    introduction: Option<Introduction>,
    /// The Logon that waits for a decision.
    undecided: Option<LogonTicket>,
    tickets: LogonTicket,
    ended: Option<DisconnectReason>,
}

impl<S: Store, A: Application> Desk<S, A> {
    fn is_listening(&self) -> bool {
        self.ended.is_none() && self.undecided.is_none() && self.application.takes_more()
    }

    fn take(&mut self, now: Time, frame: &[u8], decoder: &mut Decoder) {
        self.application.observe(Direction::In, frame);
        self.receive(now, frame, decoder);
    }

    fn receive(&mut self, now: Time, frame: &[u8], decoder: &mut Decoder) {
        match decoder.decode(frame) {
            Ok(message) => self.step(now, Some(&message), |session, actions| session.receive(now, &message, actions)),
            Err(_) => self.garbled(now),
        }
    }

    fn garbled(&mut self, now: Time) {
        self.step(now, None, |session, actions| session.garbled(now, actions));
    }

    fn step(
        &mut self,
        now: Time,
        message: Option<&Message<'_>>,
        event: impl FnOnce(&mut Session<S>, &mut Actions) -> Result<(), StoreError>,
    ) {
        let result = event(&mut self.session, &mut self.actions);
        self.perform(now, message);
        if let Err(error) = result {
            self.fail(now, &error);
        }
    }

    fn perform(&mut self, now: Time, message: Option<&Message<'_>>) {
        while let Some(action) = self.actions.pop() {
            match (action, message) {
                (Action::Send(range), _) => self.application.observe(Direction::Out, &self.actions.wire[range]),
                (Action::Deliver, Some(message)) => self
                    .application
                    .received(message, &mut OpenLine { session: &mut self.session, actions: &mut self.actions, now }),
                (Action::Answered, Some(heartbeat)) => {
                    self.application.answered(heartbeat.get(tag::TEST_REQ_ID).unwrap_or_default());
                }
                (Action::AskLogon, Some(logon)) => self.ask(now, logon),
                (Action::LoggedOn, _) => self.application.logged_on(&mut OpenLine {
                    session: &mut self.session,
                    actions: &mut self.actions,
                    now,
                }),
                (Action::LoggingOut, _) => self.application.logging_out(),
                (Action::LoggedOut, _) => self.application.logged_out(),
                (Action::Close(reason), _) => self.ended = Some(reason),
                // Only a received message is delivered, authorized or an answer.
                (Action::Deliver | Action::AskLogon | Action::Answered, None) => {}
            }
        }
    }

    fn ask(&mut self, now: Time, logon: &Message<'_>) {
        self.tickets.0 += 1;
        let ticket = self.tickets;
        self.undecided = Some(ticket);
        let verdict = match self.introduction.take() {
            Some(introduction) => introduction(),
            None => self.application.logon(logon, ticket),
        };
        self.decide(now, ticket, &verdict);
    }

    fn decide(&mut self, now: Time, ticket: LogonTicket, verdict: &Verdict) {
        if self.undecided != Some(ticket) || *verdict == Verdict::Later {
            return;
        }
        self.undecided = None;
        self.step(now, None, |session, actions| match verdict {
            Verdict::Refuse(why) => session.refuse(now, why, actions),
            Verdict::Admit | Verdict::Later => session.admit(now, actions),
        });
    }

    fn cut(&mut self, now: Time, reason: DisconnectReason) {
        self.ended.get_or_insert(reason);
        self.step(now, None, |session, actions| session.disconnected(now, actions));
    }

    /// Nothing more is sent to the peer once the store has failed.
    fn fail(&mut self, now: Time, error: &StoreError) {
        self.ended = Some(DisconnectReason::StoreFailed(error.0.clone()));
        if self.session.disconnected(now, &mut self.actions).is_ok() {
            self.perform(now, None);
        }
    }
}

struct OpenLine<'a, S> {
    session: &'a mut Session<S>,
    actions: &'a mut Actions,
    now: Time,
}

impl<S: Store> Line for OpenLine<'_, S> {
    fn send(&mut self, message: &Outgoing) -> Result<SeqNum, SendError> {
        self.session.send(self.now, message, self.actions)
    }

    fn ask_for_sign(&mut self, id: &str) -> Result<SeqNum, SendError> {
        self.session.ask_for_sign(self.now, id, self.actions)
    }

    fn dictionary(&self) -> Option<&Dictionary> {
        self.session.dictionary()
    }

    fn now(&self) -> Time {
        self.now
    }
}
