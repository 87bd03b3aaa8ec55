//! Requests without an answer, and when what is due by the time alone is due.

use adapter_kit::RequestGrant;
use domain::{AccountId, OrderId, SecurityId, Text, Timestamp};

use crate::order_tracker::OrderRequestKind;
use crate::orders::external_orders::ExternalKey;

/// How often it is looked after what is due.
pub(super) const CHECK_MILLIS: i64 = 500;
pub(super) const CLOCK_SECONDS: i64 = 60;
pub(super) const LISTINGS_SECONDS: i64 = 300;
/// Between two questions for the list, however many orders are refused.
pub(super) const LISTINGS_AGAIN_SECONDS: i64 = 5;

/// What a request without an answer was for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestPurpose {
    Order(OrderId, OrderRequestKind),
    /// An earlier leg of this order is cancelled; its order is asked about again.
    CancelLeg(OrderId),
    Inquiry(OrderId),
    /// The newest orders of a symbol, for all inquiries that want them.
    OrderList(String),
    Statement(AccountId, Timestamp),
    /// The list of open orders, as of this instant.
    OpenOrders(Timestamp),
    /// The list of fills of a security, as of this instant.
    Fills(SecurityId, Timestamp),
    /// An order that was placed elsewhere.
    External(ExternalKey, ExternalLook),
    Time(Timestamp),
    /// Whether REST works, where the other connection has ended for this reason.
    RestProbe(Text),
    Listings,
    Depth(String),
    /// What moved at the venue, against streams that do not send.
    Look,
}

/// What is asked about an order that was placed elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExternalLook {
    Status,
    /// From this trade on.
    Trades(Option<i64>),
}

/// Which connection carries a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestWay {
    Socket,
    Rest,
}

#[derive(Debug)]
pub(super) struct UnansweredRequest {
    pub(super) purpose: RequestPurpose,
    pub(super) grant: RequestGrant,
    pub(super) sent_at: Timestamp,
    /// The connection of the WebSocket API that carries it; absent over REST.
    pub(super) connection: Option<u64>,
}

/// When each is due next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DueTimes {
    pub(super) check: Timestamp,
    pub(super) clock: Timestamp,
    pub(super) listings: Timestamp,
}

impl DueTimes {
    pub(super) fn from(begun: Timestamp) -> Self {
        Self {
            check: begun.plus_millis(CHECK_MILLIS),
            clock: begun.plus_seconds(CLOCK_SECONDS),
            listings: begun.plus_seconds(LISTINGS_SECONDS),
        }
    }

    /// The venue's list is asked for soon.
    pub(super) fn hasten_listings(&mut self, at: Timestamp) {
        let asked_at = self.listings.plus_seconds(-LISTINGS_SECONDS);
        self.listings = self.listings.min(asked_at.plus_seconds(LISTINGS_AGAIN_SECONDS).max(at));
    }
}
