//! Connection state, created anew for each connection.

use crate::codec::Time;
use crate::store::SeqNum;
use std::collections::BTreeMap;

/// Messages that are queued while a gap before them is open. More are dropped, and requested when the gap is closed.
pub const PARKED_MESSAGES_MAX: usize = 10_000;
pub const PARKED_BYTES_MAX: usize = 16 << 20;

/// Phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    #[default]
    Down,
    /// Connected, waiting for the peer's Logon.
    Connected,
    /// Our Logon was sent, waiting for the answer.
    LogonSent,
    /// The application decides about a Logon; `again` when the session was logged on already.
    Deciding {
        again: bool,
    },
    LoggedOn,
    /// We have sent a Logout and wait for the answer.
    LoggingOut,
}

impl Phase {
    pub fn is_logged_on(self) -> bool {
        matches!(self, Self::LoggedOn | Self::LoggingOut | Self::Deciding { again: true })
    }
}

#[derive(Debug)]
pub(super) struct Link {
    pub phase: Phase,
    /// When the phase with a time-out began.
    pub since: Time,
    pub heartbeat_seconds: u32,
    pub last_received: Time,
    pub last_sent: Time,
    pub test_request_pending: bool,
    /// Our Logon requested a reset.
    pub reset_sent: bool,
    pub logon: Option<LogonFacts>,
    pub gap: Option<Gap>,
    pub parked: Parking,
    pub resend: Option<Resend>,
}

/// Values of a Logon, kept while the application decides.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogonFacts {
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
    pub asked_to: SeqNum,
    /// The peer resends without a request, by 789: when that began, or when the last of it arrived.
    pub promised: Option<Time>,
}

/// Messages that arrived out of order.
#[derive(Debug, Default)]
pub(super) struct Parking {
    places: BTreeMap<SeqNum, Parked>,
    bytes: usize,
}

#[derive(Debug)]
pub(super) enum Parked {
    /// Was handled on arrival, only its number counts.
    Settled,
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

impl Default for Link {
    fn default() -> Self {
        let never = Time::from_nanos(0);
        Self {
            phase: Phase::Down,
            since: never,
            heartbeat_seconds: 0,
            last_received: never,
            last_sent: never,
            test_request_pending: false,
            reset_sent: false,
            logon: None,
            gap: None,
            parked: Parking::default(),
            resend: None,
        }
    }
}

impl Parking {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn park(&mut self, number: SeqNum, parked: Parked) {
        let bytes = self.bytes + parked.bytes();
        if self.places.len() < PARKED_MESSAGES_MAX && bytes <= PARKED_BYTES_MAX && !self.places.contains_key(&number) {
            self.bytes = bytes;
            self.places.insert(number, parked);
        }
    }

    /// The one with the lowest number, if that number is reached or passed.
    pub(super) fn take_up_to(&mut self, number: SeqNum) -> Option<(SeqNum, Parked)> {
        let entry = self.places.first_entry().filter(|entry| *entry.key() <= number)?;
        let (number, parked) = entry.remove_entry();
        self.bytes -= parked.bytes();
        Some((number, parked))
    }
}

impl Parked {
    fn bytes(&self) -> usize {
        match self {
            Self::Settled => 0,
            Self::Message(bytes) => bytes.len(),
        }
    }
}

impl Link {
    pub(super) fn connected(now: Time, heartbeat_seconds: u32) -> Self {
        Self {
            phase: Phase::Connected,
            since: now,
            heartbeat_seconds,
            last_received: now,
            last_sent: now,
            ..Self::default()
        }
    }

    pub(super) fn forget_numbers(&mut self) {
        self.gap = None;
        self.resend = None;
        self.parked = Parking::default();
    }
}
