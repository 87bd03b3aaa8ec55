//! Prices of a venue: the feed, the session that it comes over, and requests that wait for the venue's rate.

use std::collections::VecDeque;

use domain::Timestamp;
use fix::OutgoingMessage;

use super::feed::MarketDataFeed;
use super::price_session::PriceSessionLine;

/// Requests that the rate does not allow yet are tried again after so long.
const RETRY_SECONDS: i64 = 1;

pub(crate) struct VenuePrices {
    pub(crate) feed: MarketDataFeed,
    /// Without a session of its own it shares that of the orders.
    pub(crate) own: Option<PriceSessionLine>,
    waiting: VecDeque<OutgoingMessage>,
    retry_at: Option<Timestamp>,
}

impl VenuePrices {
    pub(crate) fn new(feed: MarketDataFeed, own: Option<PriceSessionLine>) -> Self {
        Self { feed, own, waiting: VecDeque::new(), retry_at: None }
    }

    /// Requests that cannot leave yet wait; their number is bounded by what is subscribed.
    pub(crate) fn enqueue(&mut self, requests: impl IntoIterator<Item = OutgoingMessage>) {
        self.waiting.extend(requests);
    }

    pub(crate) fn next_waiting(&mut self) -> Option<OutgoingMessage> {
        self.waiting.pop_front()
    }

    /// A request that could not leave comes first again.
    pub(crate) fn put_back(&mut self, request: OutgoingMessage, at: Timestamp) {
        self.waiting.push_front(request);
        self.retry_at = Some(at.plus_seconds(RETRY_SECONDS));
    }

    /// The line has ended: what waited is of no use on the next one.
    pub(crate) fn drop_waiting(&mut self) {
        self.waiting.clear();
        self.retry_at = None;
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let retry = self.retry_at.filter(|_| !self.waiting.is_empty());
        [retry, self.own.as_ref().and_then(PriceSessionLine::next_due)].into_iter().flatten().min()
    }
}
