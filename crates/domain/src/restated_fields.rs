//! What a request on an order may say about the order itself.

use minicbor::{Decode, Encode};

use crate::amount::Quantity;
use crate::ids::{AccountId, ExchangeId, SecurityId, StrategyId, Text};
use crate::order_terms::Side;
use crate::order_type::OrderKind;

/// Fields of its order that a request may repeat but not change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct RestatedFields {
    /// Whether the order buys or sells.
    #[n(0)]
    pub side: Option<Side>,
    /// What it trades.
    #[n(1)]
    pub security: Option<SecurityId>,
    /// The account that it is for.
    #[n(2)]
    pub account: Option<AccountId>,
    /// Its prices are not compared.
    #[n(3)]
    pub kind: Option<OrderKind>,
    /// The strategy that owns it.
    #[n(4)]
    pub strategy: Option<StrategyId>,
    /// Where it is routed.
    #[n(5)]
    pub exchange: Option<ExchangeId>,
    /// A second id of the order, besides the one that the request names.
    #[n(6)]
    pub order: Option<Text>,
    /// Whether it never takes.
    #[n(7)]
    pub post_only: Option<bool>,
    /// How much of it the book shows.
    #[n(8)]
    pub display_quantity: Option<Quantity>,
    /// How much must trade at once.
    #[n(9)]
    pub min_quantity: Option<Quantity>,
    /// Whether it may only reduce a position.
    #[n(10)]
    pub reduce_only: Option<bool>,
}
