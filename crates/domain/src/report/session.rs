//! The state of a session at a venue, and of its lines.

use minicbor::{Decode, Encode};

use crate::ids::Text;

/// How far an adapter is connected to its venue, or a client's session to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum SessionState {
    /// Nothing can be sent.
    #[n(0)]
    Disconnected,
    /// Connected; orders and fills are being reconciled.
    #[n(1)]
    Connected,
    /// Reconciled and open for orders.
    #[n(2)]
    LoggedOn,
    /// Market data flows too.
    #[n(3)]
    Subscribed,
}

impl SessionState {
    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disconnected => "DISCONNECTED",
            Self::Connected => "CONNECTED",
            Self::LoggedOn => "LOGGED_ON",
            Self::Subscribed => "SUBSCRIBED",
        }
    }
}

/// A connection to a venue. The lines of a session fail apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum LineKind {
    /// Requests and their answers.
    #[n(0)]
    Trading,
    /// The stream of order and fill reports.
    #[n(1)]
    Private,
    /// Market data.
    #[n(2)]
    Prices,
}

impl LineKind {
    /// All lines, in the order of the enum.
    pub const ALL: [Self; 3] = [Self::Trading, Self::Private, Self::Prices];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trading => "TRADING",
            Self::Private => "PRIVATE",
            Self::Prices => "PRICES",
        }
    }
}

/// A line that is up or down.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct LineState {
    /// Which line.
    #[n(0)]
    pub line: LineKind,
    /// Whether it works.
    #[n(1)]
    pub up: bool,
    /// Why it is down, where the adapter knows.
    #[n(2)]
    pub reason: Option<Text>,
}

/// What can be sent to a venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpenFor {
    /// Not logged on, or not reconciled.
    Nothing,
    /// Cancels, and orders that only reduce a position: the trading or the private line is down.
    Reduce,
    /// Everything.
    Orders,
}

impl OpenFor {
    /// What a venue is open for with this session and these lines; a price line that is down closes nothing.
    pub fn new(session: SessionState, lines: &[LineState]) -> Self {
        let is_down = |state: &LineState| !state.up && state.line != LineKind::Prices;
        match session {
            SessionState::Disconnected | SessionState::Connected => Self::Nothing,
            SessionState::LoggedOn | SessionState::Subscribed if lines.iter().any(is_down) => Self::Reduce,
            SessionState::LoggedOn | SessionState::Subscribed => Self::Orders,
        }
    }

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "NOTHING",
            Self::Reduce => "REDUCE",
            Self::Orders => "ORDERS",
        }
    }
}
