//! Questions about orders that wait their turn: first in, first out. One that is asked again keeps its place and has the newest instant
//! and picture of its order: an answer as of an old instant proves less, and changes less.

use std::collections::BTreeMap;

use domain::{Order, OrderId, Timestamp};

/// Each order waits once.
#[derive(Debug, Default)]
pub(crate) struct WaitingInquiries {
    /// By their places, which grow.
    waiting: BTreeMap<u64, WaitingInquiry>,
    places: BTreeMap<OrderId, u64>,
    next_place: u64,
}

#[derive(Debug)]
pub(crate) struct WaitingInquiry {
    place: u64,
    /// When it was asked last.
    pub(crate) as_of: Timestamp,
    /// As it was then.
    pub(crate) order: Order,
}

impl WaitingInquiries {
    pub(crate) fn push(&mut self, as_of: Timestamp, order: Order) {
        let place = *self.places.entry(order.id).or_insert(self.next_place);
        self.next_place = self.next_place.max(place + 1);
        self.waiting.insert(place, WaitingInquiry { place, as_of, order });
    }

    pub(crate) fn pop(&mut self) -> Option<WaitingInquiry> {
        let (_, first) = self.waiting.pop_first()?;
        self.places.remove(&first.order.id);
        Some(first)
    }

    /// One that cannot be asked yet, at its place.
    pub(crate) fn restore(&mut self, inquiry: WaitingInquiry) {
        self.places.insert(inquiry.order.id, inquiry.place);
        self.waiting.insert(inquiry.place, inquiry);
    }

    pub(crate) fn contains(&self, order: OrderId) -> bool {
        self.places.contains_key(&order)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.places.clear();
    }
}
