//! Requests on an order: what a request may restate of it, and the pending one, a cancel or replace that the venue has not
//! answered, or a cancel that overtook a replace.

use minicbor::{Decode, Encode};

use crate::amount::Quantity;
use crate::ids::{AccountId, ExchangeId, SecurityId, StrategyId, Text};
use crate::order::order_terms::{OrderTerms, Side, Source};
use crate::order::order_type::OrderKind;
use crate::order::pass_through::PassThrough;

/// The pending request. Boxed, since few orders have one and every order has the field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub enum PendingRequest {
    /// Every request on the order is answered.
    #[n(0)]
    #[default]
    Nothing,
    /// With the replace that it overtook, which still gets its own answer.
    #[n(1)]
    Cancel(#[n(0)] Box<OrderRequest>, #[n(1)] Option<Box<ReplaceRequest>>),
    /// The venue has not answered new terms, which are the second part.
    #[n(2)]
    Replace(#[n(0)] Box<OrderRequest>, #[n(1)] Box<OrderTerms>),
}

impl PendingRequest {
    /// The cancel that the venue has not answered.
    pub fn cancel(&self) -> Option<&OrderRequest> {
        match self {
            Self::Cancel(request, _) => Some(request),
            Self::Nothing | Self::Replace(..) => None,
        }
    }

    /// Also one that a cancel overtook.
    pub fn replace(&self) -> Option<(&OrderRequest, OrderTerms)> {
        match self {
            Self::Replace(request, terms) => Some((request, **terms)),
            Self::Cancel(_, Some(overtaken)) => Some((&overtaken.request, overtaken.terms)),
            Self::Nothing | Self::Cancel(_, None) => None,
        }
    }

    /// Adds a cancel; a pending replace stays pending beneath it.
    #[must_use]
    pub fn overtaken_by(self, cancel: OrderRequest) -> Self {
        let overtaken = match self {
            Self::Replace(request, terms) => Some(Box::new(ReplaceRequest { request: *request, terms: *terms })),
            Self::Cancel(_, overtaken) => overtaken,
            Self::Nothing => None,
        };
        Self::Cancel(Box::new(cancel), overtaken)
    }

    /// The cancel is answered.
    #[must_use]
    pub fn without_cancel(self) -> Self {
        match self {
            Self::Cancel(_, Some(overtaken)) => {
                let ReplaceRequest { request, terms } = *overtaken;
                Self::Replace(Box::new(request), Box::new(terms))
            }
            Self::Cancel(_, None) => Self::Nothing,
            other => other,
        }
    }

    /// The replace is answered.
    #[must_use]
    pub fn without_replace(self) -> Self {
        match self {
            Self::Replace(..) => Self::Nothing,
            Self::Cancel(request, _) => Self::Cancel(request, None),
            Self::Nothing => Self::Nothing,
        }
    }
}

/// A request for other terms.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ReplaceRequest {
    /// Who asked for them.
    #[n(0)]
    pub request: OrderRequest,
    /// The terms that were asked for.
    #[n(1)]
    pub terms: OrderTerms,
}

/// Source of a request, and its ClOrdID where it came by FIX.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct OrderRequest {
    /// The ClOrdID of the request; absent for interfaces other than FIX.
    #[n(0)]
    pub cl_ord_id: Option<Text>,
    /// The interface that it came through.
    #[n(1)]
    pub source: Source,
    /// The user, or the cause of a request of the platform.
    #[n(2)]
    pub requested_by: Option<Text>,
    /// The reason that the order shows: it blocks another order.
    #[n(3)]
    pub reason: Option<Text>,
}

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
    /// Fields that go on to a FIX venue.
    #[n(11)]
    pub pass_through: Option<Box<PassThrough>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{OrderKind, TimeInForce};

    fn request(cl_ord_id: &str) -> OrderRequest {
        OrderRequest { cl_ord_id: Some(cl_ord_id.into()), source: Source::Rest, requested_by: None, reason: None }
    }

    fn terms(quantity: i64) -> OrderTerms {
        OrderTerms { quantity: quantity.into(), kind: OrderKind::Market, tif: TimeInForce::Day }
    }

    #[test]
    fn a_replace_waits_on_beneath_the_cancel_that_overtook_it() {
        let replace = PendingRequest::Replace(Box::new(request("Y")), Box::new(terms(5)));
        let both = replace.clone().overtaken_by(request("Z"));
        assert_eq!((both.cancel(), both.replace()), (Some(&request("Z")), Some((&request("Y"), terms(5)))));
        assert_eq!(both.clone().without_cancel(), replace);
        assert_eq!(both.clone().without_replace(), PendingRequest::Cancel(Box::new(request("Z")), None));
        assert_eq!(both.without_replace().without_cancel(), PendingRequest::Nothing);
    }

    /// The older encoding of a cancel, without the replace that it overtook.
    #[derive(Encode)]
    enum Before {
        #[n(1)]
        Cancel(#[n(0)] Box<OrderRequest>),
    }

    #[test]
    fn a_cancel_that_was_written_without_a_replace_can_be_read() {
        let bytes = minicbor::to_vec(Before::Cancel(Box::new(request("Z")))).unwrap();
        let read: PendingRequest = minicbor::decode(&bytes).unwrap();
        assert_eq!(read, PendingRequest::Cancel(Box::new(request("Z")), None));
    }
}
