//! Prices of a venue: the feed, the session that it comes over, and requests that wait for the venue's rate.

use std::collections::VecDeque;
use std::io;

use domain::{Text, Timestamp};
use fix::OutgoingMessage;

use super::feed::MarketDataFeed;
use crate::dialect::Dialect;
use crate::requests::utc;
use crate::sessions::NumberPlace;
use crate::sessions::number_store::SharedNumbers;
use crate::sessions::session::SessionPlan;
use crate::sessions::side_session::SideSession;

/// Requests that the rate does not allow yet are tried again after so long.
const RETRY_SECONDS: i64 = 1;

pub(crate) struct VenuePrices {
    pub(crate) feed: MarketDataFeed,
    /// Without a session of its own it shares that of the orders.
    pub(crate) own: Option<SideSession>,
    /// What was said of the line of its own.
    pub(crate) told_up: Option<bool>,
    pub(crate) down_reason: Option<Text>,
    waiting: VecDeque<OutgoingMessage>,
    retry_at: Option<Timestamp>,
}

/// Where prices come from.
pub(crate) struct PriceSource<'a> {
    /// Its name in ticks, trades and books.
    pub(crate) feed: &'a Text,
    pub(crate) dialect: &'a Dialect,
    /// A session for market data alone, and where its numbers are.
    pub(crate) own: Option<(&'a SessionPlan, &'a NumberPlace)>,
    /// The installation, so that two of them do not reconnect together.
    pub(crate) instance: u64,
}

impl VenuePrices {
    /// Nothing where the dialect has no market data, or has it on a session that is not there.
    pub(crate) fn open(source: &PriceSource<'_>, now: Timestamp) -> io::Result<Option<Self>> {
        let Some(rules) = &source.dialect.market_data else { return Ok(None) };
        if rules.own_session && source.own.is_none() {
            return Ok(None);
        }
        let own = match source.own {
            None => None,
            Some((plan, numbers)) => {
                let numbers = SharedNumbers::open(numbers, utc(now))?;
                let mut dialect = source.dialect.clone();
                dialect.session.reset_on_logon = rules.reset_on_logon;
                Some(SideSession::new(dialect, plan.clone(), numbers, source.instance))
            }
        };
        Ok(Some(Self::new(MarketDataFeed::new(source.feed.clone(), rules.clone(), now), own)))
    }

    fn new(feed: MarketDataFeed, own: Option<SideSession>) -> Self {
        Self { feed, own, told_up: None, down_reason: None, waiting: VecDeque::new(), retry_at: None }
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
        [retry, self.own.as_ref().and_then(SideSession::next_due)].into_iter().flatten().min()
    }
}
