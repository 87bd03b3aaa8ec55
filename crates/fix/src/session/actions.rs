//! Actions of a session. Bytes are collected in one buffer, so that many messages leave with one write.

use crate::message_store::SeqNum;
use crate::reject::MessageFault;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionAction {
    /// A message in [`Actions::wire`] is to be written.
    Send(Range<usize>),
    /// The message that was just received is for the application.
    Deliver,
    /// The Reject (3) that was just received is about a message of ours.
    DeliverReject,
    /// The peer goes on with this number: what it sent before it is lost, unless it was session traffic.
    NumbersSkipped(SeqNum),
    /// The peer has begun its numbers anew: what it sent before the log-on and we have not received does not come any more.
    NumbersReset {
        expected: SeqNum,
        received: SeqNum,
    },
    /// The Heartbeat that was just received answers a Test Request.
    TestRequestAnswered,
    /// The Logon that was just received waits for `admit` or `refuse`.
    AuthorizeLogon,
    LoggedOn,
    /// Our Logout was sent.
    LoggingOut,
    LoggedOut,
    /// Write the rest of the buffer, then close the socket.
    Close(DisconnectReason),
}

/// Owned by the driver and filled by the session, with the same memory.
#[derive(Debug, Default)]
pub struct Actions {
    /// Messages to write, in order; the driver empties it.
    pub wire: Vec<u8>,
    queue: VecDeque<SessionAction>,
}

impl Actions {
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn push(&mut self, action: SessionAction) {
        self.queue.push_back(action);
    }

    pub fn pop(&mut self) -> Option<SessionAction> {
        self.queue.pop_front()
    }
}

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DisconnectReason {
    /// The peer logged out, perhaps with a text.
    LoggedOutByPeer(Option<String>),
    /// We logged out, and the peer has answered.
    LogoutAnswered,
    /// We logged out, and the peer has not answered.
    LogoutTimeout,
    LogonTimeout,
    HeartbeatTimeout,
    /// The first message was not a Logon.
    NotLogon,
    /// A Logon on a session that is logged on, without a reset.
    SecondLogon,
    BadLogon(MessageFault),
    /// The application rejected the Logon.
    LogonRefused(String),
    Garbled,
    WrongBeginString,
    MissingMsgSeqNum,
    MsgSeqNumTooLow {
        expected: SeqNum,
        received: SeqNum,
    },
    /// NextExpectedMsgSeqNum (789): the peer expects a number that we have not reached.
    NextExpectedTooHigh {
        expected: SeqNum,
        received: SeqNum,
    },
    /// The highest sequence number was used, in one direction or the other: only a reset helps.
    SequenceExhausted,
    /// ResetSeqNumFlag (141) with a number that is not 1.
    ResetWithoutOne,
    /// A message was received while the application was still deciding about the Logon.
    LogonPending,
    OutsideSchedule,
    PeriodEnded,
    /// An operator has reset the sequence numbers.
    Reset,
    StoreFailed(String),
    // Reasons of the driver.
    MessageTooLong,
    UnknownSession,
    AlreadyConnected,
    AddressNotAllowed,
    /// Evicted: no Logon, and the limit of unauthenticated connections was reached.
    Evicted,
    PeerClosed,
    SocketFailed(String),
    /// The peer reads slower than we write, and the buffer for it is full.
    SlowPeer,
    Shutdown,
}

impl fmt::Display for DisconnectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::LoggedOutByPeer(None) => "the peer logged out",
            Self::LoggedOutByPeer(Some(text)) => return write!(f, "the peer logged out: {text}"),
            Self::LogoutAnswered => "we logged out and the peer answered",
            Self::LogoutTimeout => "we logged out and the peer did not answer",
            Self::LogonTimeout => "no Logon in time",
            Self::HeartbeatTimeout => "no message from the peer for 2.4 heartbeat intervals",
            Self::NotLogon => "the first message was not a Logon",
            Self::SecondLogon => "a second Logon without a reset",
            Self::BadLogon(fault) => return write!(f, "a Logon that can't be accepted: {}", fault.reason.text()),
            Self::LogonRefused(text) => return write!(f, "the Logon was refused: {text}"),
            Self::Garbled => "garbled message before Logon",
            Self::WrongBeginString => "wrong BeginString",
            Self::MissingMsgSeqNum => "a message without MsgSeqNum",
            Self::MsgSeqNumTooLow { expected, received } => {
                return write!(f, "MsgSeqNum too low, expecting {expected} but received {received}");
            }
            Self::NextExpectedTooHigh { expected, received } => {
                return write!(f, "NextExpectedMsgSeqNum too high, expecting {expected} but received {received}");
            }
            Self::SequenceExhausted => "sequence numbers are exhausted: reset the session",
            Self::ResetWithoutOne => "a reset with a number that is not 1",
            Self::LogonPending => "a message before the Logon was answered",
            Self::OutsideSchedule => "a Logon outside of the session's hours",
            Self::PeriodEnded => "the session's period is over",
            Self::Reset => "an operator has reset the sequence numbers",
            Self::StoreFailed(text) => return write!(f, "the session store failed: {text}"),
            Self::MessageTooLong => "a message that is too long",
            Self::UnknownSession => "no session has these CompIDs",
            Self::AlreadyConnected => "the session is connected already",
            Self::AddressNotAllowed => "the peer's address is not allowed",
            Self::Evicted => "evicted: no Logon, and the limit of unauthenticated connections was reached",
            Self::PeerClosed => "the peer closed the connection",
            Self::SocketFailed(text) => return write!(f, "the socket failed: {text}"),
            Self::SlowPeer => "the peer reads too slowly",
            Self::Shutdown => "we are shutting down",
        };
        f.write_str(text)
    }
}
