//! Orders that wait until others were cancelled or reduced, and those others.

use std::collections::BTreeMap;

use domain::order::Order;
use domain::{OrderId, Quantity, Text, Timestamp};
use minicbor::{Decode, Encode};

/// Orders that may wait at a time; another is refused as if nothing could be cancelled for it.
const WAITING_ORDERS_MAX: usize = 1_000;

/// All have the same timeout, so the one with the lowest id is due first.
#[derive(Debug, Clone, Default, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct WaitingOrders(#[n(0)] pub(crate) BTreeMap<OrderId, WaitingOrder>);

#[derive(Debug, Clone, Encode, Decode)]
pub(crate) struct WaitingOrder {
    #[n(0)]
    pub(crate) due: Timestamp,
    #[n(1)]
    pub(crate) displaced: Vec<Displaced>,
}

/// An order that must end or shrink before another is sent.
#[derive(Debug, Clone, Encode, Decode)]
pub(crate) struct Displaced {
    #[n(0)]
    pub(crate) order: OrderId,
    /// The quantity that it is reduced to; absent where it is cancelled.
    #[n(1)]
    pub(crate) leaves_quantity: Option<Quantity>,
    #[n(2)]
    pub(crate) reason: DisplaceReason,
    /// Why it is not asked to shrink yet.
    #[n(3)]
    pub(crate) deferral: Option<Deferral>,
}

/// Why a request is made later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub(crate) enum Deferral {
    /// Another replace of the order is on its way.
    #[n(0)]
    ReplacePending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub(crate) enum DisplaceReason {
    #[n(0)]
    SelfTrade,
    #[n(1)]
    PositionClosed,
    /// It may only reduce the position, and another order of its side could close its part.
    #[n(2)]
    ReduceOnly,
}

impl DisplaceReason {
    /// The reason that the displaced order shows.
    pub(crate) fn displaced_text(self, by: &Order) -> Text {
        match self {
            Self::SelfTrade => format!("self-trade: order {} of the same account meets it", by.int_id).into(),
            Self::PositionClosed => "position-closed".into(),
            Self::ReduceOnly => format!("reduce-only: order {} of the same side goes before it", by.int_id).into(),
        }
    }

    /// The code of the refusal where the venue does not answer.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::SelfTrade => "self-trade",
            Self::PositionClosed | Self::ReduceOnly => "would-flip",
        }
    }
}

impl WaitingOrders {
    pub(crate) fn contains(&self, order: OrderId) -> bool {
        self.0.contains_key(&order)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= WAITING_ORDERS_MAX
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.0.first_key_value().map(|(_, wait)| wait.due)
    }

    /// The orders that must shrink and are not asked yet: the waiting order, and the place among those that it waits for.
    pub(crate) fn deferred(&self) -> Vec<(OrderId, usize)> {
        let all =
            self.0.iter().flat_map(|(id, wait)| wait.displaced.iter().enumerate().map(|(n, first)| (*id, n, first)));
        all.filter(|(.., first)| first.deferral.is_some()).map(|(id, place, _)| (id, place)).collect()
    }

    pub(crate) fn displaced_mut(&mut self, waiting: OrderId, place: usize) -> Option<&mut Displaced> {
        self.0.get_mut(&waiting)?.displaced.get_mut(place)
    }

    pub(crate) fn remove(&mut self, order: OrderId) -> bool {
        self.0.remove(&order).is_some()
    }
}
