//! Legs: the venue's orders of one order. A venue that replaces an order by cancelling it and placing another one gives each
//! its own id, and what it says later of an earlier one is still about the same order of ours.

use minicbor::{Decode, Encode};

use crate::amount::Quantity;
use crate::ids::Text;
use crate::order::order_terms::OrderTerms;

/// Legs of an order, oldest first. An order with one leg has no list: its `ext_id` is that leg.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct OrderLegs(#[n(0)] pub Vec<OrderLeg>);

/// One order at the venue.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct OrderLeg {
    /// The venue's id.
    #[n(0)]
    pub ext_id: Text,
    /// With the quantity of this leg alone.
    #[n(1)]
    pub terms: OrderTerms,
    /// Whether it can still trade.
    #[n(2)]
    pub state: LegState,
    /// How much of it was traded.
    #[n(3)]
    pub filled: Quantity,
}

/// Whether a leg can still trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum LegState {
    /// It is in the market.
    #[n(0)]
    Live,
    /// Whether it is in the market is not known.
    #[n(1)]
    Unknown,
    /// It left the market, or nothing of it is left.
    #[n(2)]
    Ended,
}

impl LegState {
    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "LIVE",
            Self::Unknown => "UNKNOWN",
            Self::Ended => "ENDED",
        }
    }
}

impl OrderLeg {
    /// A leg that is in the market and has not traded.
    pub fn live(ext_id: Text, terms: OrderTerms) -> Self {
        Self { ext_id, terms, state: LegState::Live, filled: Quantity::ZERO }
    }

    /// Counts a fill; nothing of a leg that is filled can trade any more.
    pub fn add_fill(&mut self, quantity: Quantity) {
        self.filled = self.filled.plus(quantity).unwrap_or(self.filled);
        if self.filled >= self.terms.quantity {
            self.state = LegState::Ended;
        }
    }
}

impl OrderLegs {
    /// The leg with that id.
    pub fn get(&self, ext_id: &str) -> Option<&OrderLeg> {
        self.0.iter().find(|leg| &*leg.ext_id == ext_id)
    }

    /// The leg with that id.
    pub fn get_mut(&mut self, ext_id: &str) -> Option<&mut OrderLeg> {
        self.0.iter_mut().find(|leg| &*leg.ext_id == ext_id)
    }
}
