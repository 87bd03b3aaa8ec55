//! Terms of an order: side, type with its prices, quantity, time in force; and where it came from.

use std::fmt;

use minicbor::{Decode, Encode};

use crate::amount::{Price, Quantity};
use crate::ids::Text;
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum Side {
    #[n(0)]
    Buy,
    #[n(1)]
    Sell,
}

impl Side {
    pub fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }

    /// The change of a position that this side causes.
    pub fn signed(self, quantity: Quantity) -> Quantity {
        match self {
            Self::Buy => quantity,
            Self::Sell => quantity.negated(),
        }
    }
}

/// The type of an order with the prices it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum OrderKind {
    #[n(0)]
    Market,
    #[n(1)]
    Limit {
        #[n(0)]
        limit: Price,
    },
    #[n(2)]
    Stop {
        #[n(0)]
        stop: Price,
    },
    #[n(3)]
    StopLimit {
        #[n(0)]
        limit: Price,
        #[n(1)]
        stop: Price,
    },
}

impl OrderKind {
    pub fn limit(&self) -> Option<Price> {
        match *self {
            Self::Limit { limit } | Self::StopLimit { limit, .. } => Some(limit),
            Self::Market | Self::Stop { .. } => None,
        }
    }

    pub fn stop(&self) -> Option<Price> {
        match *self {
            Self::Stop { stop } | Self::StopLimit { stop, .. } => Some(stop),
            Self::Market | Self::Limit { .. } => None,
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Market => "MarketOrder",
            Self::Limit { .. } => "LimitOrder",
            Self::Stop { .. } => "StopOrder",
            Self::StopLimit { .. } => "StopLimitOrder",
        }
    }

    pub fn same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum TimeInForce {
    #[n(0)]
    Day,
    #[n(1)]
    Gtc,
    /// At the opening auction.
    #[n(2)]
    Ato,
    #[n(3)]
    Ioc,
    #[n(4)]
    Fok,
    /// Until that instant.
    #[n(5)]
    Gtd {
        #[n(0)]
        until: Timestamp,
    },
    /// At the closing auction.
    #[n(6)]
    Atc,
}

impl TimeInForce {
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Gtc => "GTC",
            Self::Ato => "ATO",
            Self::Ioc => "IOC",
            Self::Fok => "FOK",
            Self::Gtd { .. } => "GTD",
            Self::Atc => "ATC",
        }
    }
}

/// The interface that an order came through.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Source {
    #[n(0)]
    Rest,
    #[n(1)]
    Ui,
    #[n(2)]
    Strategy,
    /// The CompID of the client.
    #[n(3)]
    Fix(#[n(0)] Text),
    /// The platform itself: kill switch, recovery, clock.
    #[n(4)]
    Platform,
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
    pub fn id_policy(&self) -> IdPolicy<'_> {
        match self {
            Self::Fix(comp_id) => IdPolicy::Session(comp_id),
            Self::Rest | Self::Ui | Self::Strategy | Self::Platform => IdPolicy::Platform,
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
    /// As clients see it: `REST`, `UI`, `STRATEGY`, `FIX:<CompID>`, `PLATFORM`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rest => f.write_str("REST"),
            Self::Ui => f.write_str("UI"),
            Self::Strategy => f.write_str("STRATEGY"),
            Self::Fix(comp_id) => write!(f, "FIX:{comp_id}"),
            Self::Platform => f.write_str("PLATFORM"),
        }
    }
}

/// The terms that a replace can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct OrderTerms {
    #[n(0)]
    pub quantity: Quantity,
    #[n(1)]
    pub kind: OrderKind,
    #[n(2)]
    pub tif: TimeInForce,
}
