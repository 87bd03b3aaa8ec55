//! Orders at a venue that we did not place: from the venue's own screen, by a liquidation, by another program.

use minicbor::{Decode, Encode};

use super::{VenueFill, VenueOrder, VenueOrderState};
use crate::amount::{Amount, Price, Quantity};
use crate::ids::{AccountId, OrderId, SecurityId, Text};
use crate::order::liquidity::Liquidity;
use crate::order::{OrderTerms, Side};
use crate::portfolio::Charge;
use crate::time::Timestamp;

/// The whole picture of such an order. The adapter names it by the venue's id alone.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ExternalOrder {
    /// The venue's id of the order.
    #[n(0)]
    pub ext_id: Text,
    /// The client id that whoever placed it chose.
    #[n(1)]
    pub client_id: Option<Text>,
    /// The account that it trades for.
    #[n(2)]
    pub account: AccountId,
    /// What it trades.
    #[n(3)]
    pub security: SecurityId,
    /// Buy or sell.
    #[n(4)]
    pub side: Side,
    /// Its terms as they are now.
    #[n(5)]
    pub terms: OrderTerms,
    /// Whether it is open, or how it ended.
    #[n(6)]
    pub state: VenueOrderState,
    /// All fills that the venue has told.
    #[n(7)]
    pub fills: Vec<ExternalFill>,
    /// Why it ended, where the venue says so.
    #[n(8)]
    pub reason: Option<Text>,
}

/// An execution of such an order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ExternalFill {
    /// The venue's id of the execution.
    #[n(0)]
    pub exec_id: Text,
    /// How much was traded.
    #[n(1)]
    pub quantity: Quantity,
    /// At which price.
    #[n(2)]
    pub price: Price,
    /// The venue's trade time.
    #[n(3)]
    pub at: Option<Timestamp>,
    /// As in [`VenueFill`].
    #[n(4)]
    pub fee: Option<Amount>,
    /// What it cost besides the fee.
    #[n(5)]
    #[cbor(default)]
    pub charges: Vec<Charge>,
    /// Whether it was maker or taker; absent where the venue did not tell.
    #[n(6)]
    pub liquidity: Option<Liquidity>,
}

impl ExternalOrder {
    /// The order and its fills under the number that it has here.
    pub fn under(&self, order: OrderId) -> (VenueOrder, Vec<VenueFill>) {
        let seen = VenueOrder {
            order,
            ext_id: Some(self.ext_id.clone()),
            terms: self.terms,
            state: self.state,
            reason: self.reason.clone(),
        };
        let fills = self.fills.iter().map(|fill| VenueFill {
            order,
            exec_id: fill.exec_id.clone(),
            quantity: fill.quantity,
            price: fill.price,
            at: fill.at,
            fee: fill.fee,
            charges: fill.charges.clone(),
            ext_order: Some(self.ext_id.clone()),
            liquidity: fill.liquidity,
        });
        (seen, fills.collect())
    }
}
