//! Executions, as the venue reports them.

use minicbor::{Decode, Encode};

use crate::amount::{Amount, Price, Quantity};
use crate::ids::{OrderId, Text};
use crate::portfolio::Charge;
use crate::time::Timestamp;

/// An execution of one of our orders.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueFill {
    /// Our number of the order.
    #[n(0)]
    pub order: OrderId,
    /// The venue's id of the execution: a second report with it is not booked again.
    #[n(1)]
    pub exec_id: Text,
    /// How much was traded by this execution, always positive.
    #[n(2)]
    pub quantity: Quantity,
    /// Per unit, in the security's currency.
    #[n(3)]
    pub price: Price,
    /// The venue's trade time.
    #[n(4)]
    pub at: Option<Timestamp>,
    /// The venue's fee in the security's currency; below zero it is a rebate. Without one the fee of the security's
    /// family applies.
    #[n(5)]
    pub fee: Option<Amount>,
    /// Charges by kind, where the venue reports more than a fee: a kind listed here replaces the family's, in any
    /// currency.
    #[n(6)]
    #[cbor(default)]
    pub charges: Vec<Charge>,
    /// The venue's order: it tells the legs of one order apart. Either all fills of an adapter have it, or none.
    #[n(7)]
    pub ext_order: Option<Text>,
}
