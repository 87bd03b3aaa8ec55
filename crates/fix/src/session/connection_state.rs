//! Connection state, created anew for each connection.

use crate::codec::UtcTimestamp;
use crate::message_store::SeqNum;
use std::collections::BTreeMap;

/// Messages that are queued while a gap before them is open. More are dropped, and requested when the gap is closed.
pub const OUT_OF_ORDER_MESSAGES_MAX: usize = 10_000;
pub const OUT_OF_ORDER_BYTES_MAX: usize = 16 << 20;

/// Phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogonPhase {
    #[default]
    Disconnected,
    /// Connected, waiting for the peer's Logon.
    Connected,
    /// Our Logon was sent, waiting for the answer.
    LogonSent,
    /// The application decides about a Logon; `again` when the session was logged on already.
    Authorizing {
        again: bool,
    },
    LoggedOn,
    /// We have sent a Logout and wait for the answer.
    LoggingOut,
}

impl LogonPhase {
    pub fn is_logged_on(self) -> bool {
        matches!(self, Self::LoggedOn | Self::LoggingOut | Self::Authorizing { again: true })
    }
}

#[derive(Debug)]
pub(super) struct ConnectionState {
    pub phase: LogonPhase,
    /// When the phase with a time-out began.
    pub since: UtcTimestamp,
    pub heartbeat_seconds: u32,
    pub last_received: UtcTimestamp,
    pub last_sent: UtcTimestamp,
    pub test_request_pending: bool,
    /// Our Logon requested a reset.
    pub reset_sent: bool,
    pub logon: Option<LogonRequest>,
    pub gap: Option<Gap>,
    pub out_of_order: OutOfOrderQueue,
    pub resend: Option<Resend>,
}

/// Values of a Logon, kept while the application decides.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogonRequest {
    pub number: SeqNum,
    pub heartbeat_seconds: u32,
    pub reset: bool,
    /// NextExpectedMsgSeqNum (789): our number that the peer expects.
    pub next_expected: Option<SeqNum>,
}

/// Requested numbers, up to this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub end: SeqNum,
    /// The part of it that the newest Resend Request covers.
    pub requested_to: SeqNum,
    /// The peer resends without a request, by 789: when that began, or when the last of it arrived.
    pub promised: Option<UtcTimestamp>,
}

/// Messages that arrived out of order.
#[derive(Debug, Default)]
pub(super) struct OutOfOrderQueue {
    messages: BTreeMap<SeqNum, OutOfOrderMessage>,
    bytes: usize,
}

#[derive(Debug)]
pub(super) enum OutOfOrderMessage {
    /// Was handled on arrival, only its number counts.
    Handled,
    Message(Vec<u8>),
}

/// What the peer has requested and not received yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resend {
    pub next: SeqNum,
    pub end: SeqNum,
    /// First number of the next gap fill.
    pub gap_from: Option<SeqNum>,
}

impl Default for ConnectionState {
    fn default() -> Self {
        let never = UtcTimestamp::from_nanos(0);
        Self {
            phase: LogonPhase::Disconnected,
            since: never,
            heartbeat_seconds: 0,
            last_received: never,
            last_sent: never,
            test_request_pending: false,
            reset_sent: false,
            logon: None,
            gap: None,
            out_of_order: OutOfOrderQueue::default(),
            resend: None,
        }
    }
}

impl OutOfOrderQueue {
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn enqueue(&mut self, number: SeqNum, out_of_order: OutOfOrderMessage) {
        let bytes = self.bytes + out_of_order.bytes();
        if self.messages.len() < OUT_OF_ORDER_MESSAGES_MAX
            && bytes <= OUT_OF_ORDER_BYTES_MAX
            && !self.messages.contains_key(&number)
        {
            self.bytes = bytes;
            self.messages.insert(number, out_of_order);
        }
    }

    /// The one with the lowest number, if that number is reached or passed.
    pub(super) fn pop_up_to(&mut self, number: SeqNum) -> Option<(SeqNum, OutOfOrderMessage)> {
        let entry = self.messages.first_entry().filter(|entry| *entry.key() <= number)?;
        let (number, out_of_order) = entry.remove_entry();
        self.bytes -= out_of_order.bytes();
        Some((number, out_of_order))
    }
}

impl OutOfOrderMessage {
    fn bytes(&self) -> usize {
        match self {
            Self::Handled => 0,
            Self::Message(bytes) => bytes.len(),
        }
    }
}

impl ConnectionState {
    pub(super) fn connected(now: UtcTimestamp, heartbeat_seconds: u32) -> Self {
        Self {
            phase: LogonPhase::Connected,
            since: now,
            heartbeat_seconds,
            last_received: now,
            last_sent: now,
            ..Self::default()
        }
    }

    pub(super) fn clear_sequence_state(&mut self) {
        self.gap = None;
        self.resend = None;
        self.out_of_order = OutOfOrderQueue::default();
    }
}
