//! Liquidity flag of a fill: whether the order rested in the book or took what rested there.

use minicbor::{Decode, Encode};

use super::Side;

/// Whether a fill added liquidity to the market or took it away. Venues charge by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum Liquidity {
    /// The order rested in the book.
    #[n(0)]
    Maker,
    /// The order met one that rested.
    #[n(1)]
    Taker,
}

impl Liquidity {
    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maker => "MAKER",
            Self::Taker => "TAKER",
        }
    }

    /// Of the order of a side in a trade; an auction has no aggressor, and then there is no such flag.
    pub fn of_side(side: Side, aggressor: Option<Side>) -> Option<Self> {
        aggressor.map(|aggressor| if aggressor == side { Self::Taker } else { Self::Maker })
    }
}
