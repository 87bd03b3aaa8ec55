//! The side of an order.

use minicbor::{Decode, Encode};

use crate::amount::Quantity;

/// The direction of an order or a fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum Side {
    /// Adds to the position.
    #[n(0)]
    Buy,
    /// Takes from the position; more than is held opens a short one.
    #[n(1)]
    Sell,
}

impl Side {
    /// The side of a counterparty.
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
