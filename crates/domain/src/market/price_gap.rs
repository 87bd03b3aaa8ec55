//! Price gap: from here on the known prices of a security may no longer be true, until the feed sends whole ones.

use minicbor::{Decode, Encode};

use crate::ids::{SecurityId, Text};

/// A feed has lost the prices of a security.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct PriceGap {
    /// The security whose prices are lost.
    #[n(0)]
    pub security: SecurityId,
    /// The feed that lost them; prices of other feeds stay as they are.
    #[n(1)]
    pub feed: Text,
    /// Why.
    #[n(2)]
    pub cause: StaleCause,
}

/// Why known prices may no longer be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum StaleCause {
    /// The connection to the feed was lost.
    #[n(0)]
    Disconnected,
    /// Updates were lost, or contradict the book: it begins again.
    #[n(1)]
    MissedUpdates,
    /// The venue refused or ended the subscription.
    #[n(2)]
    Refused,
    /// The feed is connected and silent for longer than it usually pauses.
    #[n(3)]
    Silent,
    /// Nobody subscribes to the prices, so none come.
    #[n(4)]
    Unsubscribed,
    /// The prices are subscribed, and none has come since.
    #[n(5)]
    Awaited,
}

impl StaleCause {
    /// All causes.
    pub const ALL: [Self; 6] =
        [Self::Disconnected, Self::MissedUpdates, Self::Refused, Self::Silent, Self::Unsubscribed, Self::Awaited];

    /// Whether no position is opened on such a price. One that nobody asked for is no fault of a feed: it is as good as
    /// its age, for which there is a limit.
    pub fn stops_orders(self) -> bool {
        self != Self::Unsubscribed
    }

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disconnected => "DISCONNECTED",
            Self::MissedUpdates => "MISSED_UPDATES",
            Self::Refused => "REFUSED",
            Self::Silent => "SILENT",
            Self::Unsubscribed => "UNSUBSCRIBED",
            Self::Awaited => "AWAITED",
        }
    }

    /// For a person.
    pub fn text(self) -> &'static str {
        match self {
            Self::Disconnected => "the connection to the feed was lost",
            Self::MissedUpdates => "updates of the feed were lost",
            Self::Refused => "the venue refuses its prices",
            Self::Silent => "the feed is silent for longer than usual",
            Self::Unsubscribed => "nobody subscribes to its prices",
            Self::Awaited => "no price has come since it was subscribed",
        }
    }
}
