//! Request queue: granted requests that wait for the connection, in the order of their lanes.
//!
//! A request is granted or refused when it comes, never later: what waits here has its part of the rate limits. A cancel
//! overtakes everything, except requests for the same order that came before it.

use std::collections::VecDeque;

use domain::Timestamp;

use crate::budget::{BudgetRefusal, RequestBudget, RequestCost, RequestGrant, RequestLane};

/// Requests of one lane that wait for the connection; one more is refused.
pub const LANE_REQUESTS_MAX: usize = 256;

/// A request that waits, with its grant.
#[derive(Debug, PartialEq, Eq)]
pub struct QueuedRequest<T> {
    pub lane: RequestLane,
    pub grant: RequestGrant,
    /// The order that the request is about.
    pub order: Option<u64>,
    pub request: T,
    number: u64,
}

#[derive(Debug)]
pub struct RequestQueue<T> {
    lanes: [VecDeque<QueuedRequest<T>>; RequestLane::ALL.len()],
    next_number: u64,
}

impl<T> Default for RequestQueue<T> {
    fn default() -> Self {
        Self { lanes: Default::default(), next_number: 0 }
    }
}

impl<T> RequestQueue<T> {
    /// Takes the request where lane and budget have room; otherwise the caller hears at once why not.
    pub fn push(
        &mut self,
        now: Timestamp,
        budget: &mut RequestBudget,
        (lane, cost, order): (RequestLane, RequestCost, Option<u64>),
        request: T,
    ) -> Result<(), BudgetRefusal> {
        let queue = &mut self.lanes[lane.index()];
        if queue.len() >= LANE_REQUESTS_MAX {
            return Err(BudgetRefusal::LaneFull { lane, count: queue.len() });
        }
        let grant = budget.request(now, lane, cost)?;
        self.next_number += 1;
        queue.push_back(QueuedRequest { lane, grant, order, request, number: self.next_number });
        Ok(())
    }

    /// The request to send next.
    pub fn pop(&mut self) -> Option<QueuedRequest<T>> {
        let first = self.lanes.iter().find_map(VecDeque::front)?;
        let (lane, place) = self.earliest_of_order(first);
        self.lanes[lane].remove(place)
    }

    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(VecDeque::is_empty)
    }

    pub fn len(&self) -> usize {
        self.lanes.iter().map(VecDeque::len).sum()
    }

    /// The oldest request for the same order: a cancel before the order that it names would find nothing to cancel.
    fn earliest_of_order(&self, first: &QueuedRequest<T>) -> (usize, usize) {
        let of_order = |queued: &QueuedRequest<T>| {
            queued.number == first.number || (first.order.is_some() && queued.order == first.order)
        };
        let places = self.lanes.iter().enumerate().flat_map(|(lane, queue)| {
            queue
                .iter()
                .enumerate()
                .filter(|(_, queued)| of_order(queued))
                .map(move |(place, queued)| (queued.number, lane, place))
        });
        places.min().map_or((first.lane.index(), 0), |(_, lane, place)| (lane, place))
    }
}
