//! Terms of an order: quantity, time in force; and where it came from. The types are in `order_type`.

use std::fmt;

use minicbor::{Decode, Encode};

use crate::amount::Quantity;
use crate::ids::Text;
use crate::order::order_type::OrderKind;
use crate::time::Timestamp;

pub use crate::order::side::Side;

/// How long an order lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum TimeInForce {
    /// To the end of the exchange's day.
    #[n(0)]
    Day,
    /// Until it is filled or cancelled.
    #[n(1)]
    Gtc,
    /// At the opening auction.
    #[n(2)]
    Ato,
    /// What does not trade at once is cancelled.
    #[n(3)]
    Ioc,
    /// All of it trades at once, or nothing does.
    #[n(4)]
    Fok,
    /// Until that instant.
    #[n(5)]
    Gtd {
        /// The instant at which it expires.
        #[n(0)]
        until: Timestamp,
    },
    /// At the closing auction.
    #[n(6)]
    Atc,
}

impl TimeInForce {
    /// As clients see it; the date of a GTD is not part of it.
    pub fn name(self) -> &'static str {
        self.kind().name()
    }

    /// Without the date of a GTD.
    pub fn kind(self) -> TifKind {
        match self {
            Self::Day => TifKind::Day,
            Self::Gtc => TifKind::Gtc,
            Self::Ato => TifKind::Ato,
            Self::Ioc => TifKind::Ioc,
            Self::Fok => TifKind::Fok,
            Self::Gtd { .. } => TifKind::Gtd,
            Self::Atc => TifKind::Atc,
        }
    }
}

/// The times in force, without their dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum TifKind {
    /// To the end of the exchange's day.
    #[n(0)]
    Day,
    /// Until it is filled or cancelled.
    #[n(1)]
    Gtc,
    /// At the opening auction.
    #[n(2)]
    Ato,
    /// What does not trade at once is cancelled.
    #[n(3)]
    Ioc,
    /// All of it trades at once, or nothing does.
    #[n(4)]
    Fok,
    /// Until an instant.
    #[n(5)]
    Gtd,
    /// At the closing auction.
    #[n(6)]
    Atc,
}

impl TifKind {
    /// All of them, in the order of the enum.
    pub const ALL: [Self; 7] = [Self::Day, Self::Gtc, Self::Ato, Self::Ioc, Self::Fok, Self::Gtd, Self::Atc];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Gtc => "GTC",
            Self::Ato => "ATO",
            Self::Ioc => "IOC",
            Self::Fok => "FOK",
            Self::Gtd => "GTD",
            Self::Atc => "ATC",
        }
    }
}

/// The interface that an order came through.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Source {
    /// A client of the REST interface.
    #[n(0)]
    Rest,
    /// The trading screen.
    #[n(1)]
    Ui,
    /// A strategy, inside the server or in its own process.
    #[n(2)]
    Strategy,
    /// The CompID of the client.
    #[n(3)]
    Fix(#[n(0)] Text),
    /// The platform itself: kill switch, recovery, clock.
    #[n(4)]
    Platform,
    /// Nobody here: the venue has an order that we did not place.
    #[n(5)]
    External,
}

/// By which ids a source names its orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdPolicy<'a> {
    /// By ids that are unique on the platform.
    Platform,
    /// By ids that this session chose itself. Every request has a new one, any of the chain names the order, and another
    /// session may use the same.
    Session(&'a Text),
}

impl Source {
    /// By which ids this source names its orders.
    pub fn id_policy(&self) -> IdPolicy<'_> {
        match self {
            Self::Fix(comp_id) => IdPolicy::Session(comp_id),
            Self::Rest | Self::Ui | Self::Strategy | Self::Platform | Self::External => IdPolicy::Platform,
        }
    }

    /// The session that chooses its ids itself, where it is one.
    pub fn session(&self) -> Option<&Text> {
        match self.id_policy() {
            IdPolicy::Session(session) => Some(session),
            IdPolicy::Platform => None,
        }
    }
}

impl fmt::Display for Source {
    /// As clients see it: `REST`, `UI`, `STRATEGY`, `FIX:<CompID>`, `PLATFORM`, `EXTERNAL`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rest => f.write_str("REST"),
            Self::Ui => f.write_str("UI"),
            Self::Strategy => f.write_str("STRATEGY"),
            Self::Fix(comp_id) => write!(f, "FIX:{comp_id}"),
            Self::Platform => f.write_str("PLATFORM"),
            Self::External => f.write_str("EXTERNAL"),
        }
    }
}

/// The terms that a replace can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct OrderTerms {
    /// The total quantity, what is filled included.
    #[n(0)]
    pub quantity: Quantity,
    /// The type with its prices.
    #[n(1)]
    pub kind: OrderKind,
    /// How long it lives.
    #[n(2)]
    pub tif: TimeInForce,
}
