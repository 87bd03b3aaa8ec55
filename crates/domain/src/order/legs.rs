//! Legs: the venue's orders of one order. A venue that replaces an order by cancelling it and placing another one gives each
//! its own id, and what it says later of an earlier one is still about the same order of ours.

use minicbor::{Decode, Encode};

use crate::amount::{Overflow, Quantity};
use crate::ids::Text;
use crate::order::order_terms::OrderTerms;

/// Legs that an order keeps; beyond it the oldest that ended without a fill is forgotten.
pub const ORDER_LEGS_MAX: usize = 16;

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
        if self.is_filled() {
            self.state = LegState::Ended;
        }
    }

    /// Whether all of it was traded.
    pub fn is_filled(&self) -> bool {
        self.filled >= self.terms.quantity
    }
}

impl OrderLegs {
    /// Adds a leg. What is forgotten for it can only come back as a late fill, which names its leg by itself.
    pub fn push(&mut self, leg: OrderLeg) {
        if self.0.len() >= ORDER_LEGS_MAX {
            let is_over = |known: &OrderLeg| known.state == LegState::Ended && known.filled.is_zero();
            if let Some(oldest) = self.0.iter().position(is_over) {
                self.0.remove(oldest);
            }
        }
        self.0.push(leg);
    }

    /// What the other legs have traded.
    pub fn filled_besides(&self, ext_id: &str) -> Result<Quantity, Overflow> {
        let others = self.0.iter().filter(|leg| &*leg.ext_id != ext_id);
        others.map(|leg| leg.filled).try_fold(Quantity::ZERO, Quantity::plus)
    }

    /// The leg with that id.
    pub fn get(&self, ext_id: &str) -> Option<&OrderLeg> {
        self.0.iter().find(|leg| &*leg.ext_id == ext_id)
    }

    /// The leg with that id.
    pub fn get_mut(&mut self, ext_id: &str) -> Option<&mut OrderLeg> {
        self.0.iter_mut().find(|leg| &*leg.ext_id == ext_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{OrderKind, TimeInForce};

    #[test]
    fn of_many_legs_the_oldest_that_ended_without_a_fill_is_forgotten() {
        let terms = OrderTerms { quantity: 10.into(), kind: OrderKind::Market, tif: TimeInForce::Day };
        let mut legs = OrderLegs::default();
        for number in 0..ORDER_LEGS_MAX + 2 {
            let mut leg = OrderLeg::live(format!("V{number}").into(), terms);
            if number == 0 {
                leg.add_fill(3.into());
            }
            leg.state = if number == 1 { LegState::Live } else { LegState::Ended };
            legs.push(leg);
        }
        let kept: Vec<_> = ["V0", "V1", "V2", "V3", "V4"].into_iter().filter(|leg| legs.get(leg).is_some()).collect();
        assert_eq!((legs.0.len(), kept), (ORDER_LEGS_MAX, vec!["V0", "V1", "V4"]));
    }
}
