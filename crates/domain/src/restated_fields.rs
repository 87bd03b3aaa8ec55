//! What a request on an order may say about the order itself.

use minicbor::{Decode, Encode};

use crate::amount::Quantity;
use crate::ids::{AccountId, ExchangeId, SecurityId, StrategyId, Text};
use crate::order_terms::{OrderKind, Side};

/// Fields of its order that a request may repeat but not change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct RestatedFields {
    #[n(0)]
    pub side: Option<Side>,
    #[n(1)]
    pub security: Option<SecurityId>,
    #[n(2)]
    pub account: Option<AccountId>,
    /// Its prices are not compared.
    #[n(3)]
    pub kind: Option<OrderKind>,
    #[n(4)]
    pub strategy: Option<StrategyId>,
    #[n(5)]
    pub exchange: Option<ExchangeId>,
    /// A second id of the order, besides the one that the request names.
    #[n(6)]
    pub order: Option<Text>,
    #[n(7)]
    pub post_only: Option<bool>,
    #[n(8)]
    pub display_quantity: Option<Quantity>,
    #[n(9)]
    pub min_quantity: Option<Quantity>,
    #[n(10)]
    pub reduce_only: Option<bool>,
}
