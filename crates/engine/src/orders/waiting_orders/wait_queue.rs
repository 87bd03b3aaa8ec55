//! Orders that wait until others were cancelled or reduced, and those others.

use std::collections::BTreeMap;

use domain::order::Order;
use domain::{OrderId, Quantity, Text, Timestamp};
use minicbor::{Decode, Encode};

/// Orders that may wait at a time; another is refused as if nothing could be cancelled for it.
const WAITING_ORDERS_MAX: usize = 1_000;

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
        self.0.values().map(|wait| wait.due).min()
    }

    /// One that has waited for too long; the first of them.
    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<(OrderId, WaitingOrder)> {
        let (id, _) = self.0.iter().find(|(_, wait)| wait.due <= now)?;
        self.0.remove_entry(&{ *id })
    }

    /// The venue was asked for something only now, so all that wait for it wait on.
    pub(crate) fn renew(&mut self, displaced: OrderId, due: Timestamp) {
        let waits = |wait: &&mut WaitingOrder| wait.displaced.iter().any(|first| first.order == displaced);
        self.0.values_mut().filter(waits).for_each(|wait| wait.due = due);
    }

    /// The same, which is asked for now.
    pub(crate) fn take_deferred(&mut self, order: OrderId) -> Option<Quantity> {
        let lowest = self.deferred_quantity(order);
        let displaced = self.0.values_mut().flat_map(|wait| &mut wait.displaced);
        displaced.filter(|first| first.order == order).for_each(|first| first.deferral = None);
        lowest
    }

    /// The lowest quantity that an order is still to be asked to shrink to.
    pub(crate) fn deferred_quantity(&self, order: OrderId) -> Option<Quantity> {
        let displaced = self.0.values().flat_map(|wait| &wait.displaced);
        displaced
            .filter(|first| first.order == order && first.deferral.is_some())
            .filter_map(|first| first.leaves_quantity)
            .min()
    }

    /// The orders that must shrink and are not asked yet: the waiting order, and the place among those that it waits for.
    pub(crate) fn deferred(&self) -> Vec<(OrderId, usize)> {
        let all =
            self.0.iter().flat_map(|(id, wait)| wait.displaced.iter().enumerate().map(|(n, first)| (*id, n, first)));
        all.filter(|(.., first)| first.deferral.is_some()).map(|(id, place, _)| (id, place)).collect()
    }

    /// Absent where it was asked for with another one.
    pub(crate) fn deferred_at(&self, waiting: OrderId, place: usize) -> Option<&Displaced> {
        self.0.get(&waiting)?.displaced.get(place).filter(|first| first.deferral.is_some())
    }

    pub(crate) fn remove(&mut self, order: OrderId) -> bool {
        self.0.remove(&order).is_some()
    }
}
