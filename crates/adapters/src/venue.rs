//! Venue adapter traits: order session and market data. No method has a default, so none can pretend success.
//!
//! All methods run on the adapter's own thread and get the current time, which never goes back; they must not block for
//! longer than an order may wait. An asynchronous adapter bridges inside and wakes the host.

use std::fmt;

use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, ReportKind, VenueSnapshot};
use domain::{AccountId, Amount, Decimal, Order, Price, Quantity, SecurityId, Text, Timestamp};

use crate::send_lease::SendLease;

/// An order session at a venue. The venue's answers come out of `deliver`, never out of the request itself: sent does
/// not mean accepted.
pub trait OrderSession: Send {
    /// What the venue offers.
    fn capabilities(&self) -> AdapterCapabilities;

    /// What the venue says about orders of a security, as far as it is known. Nothing is asked for it.
    fn order_rules(&self, security: SecurityId) -> VenueOrderRules;

    /// Called before the first connection where another process may trade in place of this one. Orders, changes and cancels leave
    /// only while the lease is held: the host asks before it passes them on, and an adapter that writes them on another thread
    /// asks again there, right before.
    fn set_lease(&mut self, lease: SendLease);

    /// For so long after another process has sent its last request, the venue may take it in beside those of this one. Zero where a
    /// venue has one session at a time: the host ends it where another process may lead.
    fn overlap_millis(&self) -> i64 {
        0
    }

    /// Connects to the venue and logs on. Until this succeeds, and after `disconnect`, everything is `NotSent`.
    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost>;

    /// All our orders and fills at the venue, `as_of` this instant; the host adds `dead_after`. Earlier reports are
    /// contained in it or never needed.
    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost>;

    /// Sends a new order.
    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome;

    /// Asks for new terms of an order. At a venue with legs the leg that it works by gets `order.leg_terms(terms)`.
    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome;

    /// Asks to cancel an order.
    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome;

    /// Asks to cancel one leg of an order, by the venue's id; the order itself stays. The answer is `ReportKind::Leg`. A venue
    /// without legs is never asked.
    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome;

    /// Asks the venue what it knows of an order. The answer is `ReportKind::Inquiry` with `as_of` = this instant; the host
    /// adds `dead_after`. An answer that fails or is cut is no answer: it is asked again.
    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome;

    /// Asks the venue what it holds for an account. The answer is `ReportKind::Statement` with `as_of` = this instant. What
    /// the venue does not know it leaves out, and says so; an answer that fails is no answer.
    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome;

    /// Asks the venue for all open orders. The answer is `ReportKind::OpenOrders`, page by page, all with `as_of` = this
    /// instant, or `ReportKind::ListingFailed`; the host adds `dead_after`. Half a list is never passed on as a whole one.
    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome;

    /// Asks the venue for the fills from a cursor on: of one security where its capabilities say so. The answer is one page,
    /// `ReportKind::Fills`, or `ReportKind::ListingFailed`; the engine asks for the next page.
    fn list_fills(&mut self, at: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome;

    /// Delivers everything that the venue has reported since the last call, in the venue's order. Where reports may have
    /// been lost and the session is up, `ReportKind::Gap` comes before the next report.
    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost>;

    /// When `deliver` is due next, where that follows from the time alone.
    fn next_due(&self) -> Option<Timestamp>;

    /// Wakes the host when `deliver` has something before it is due.
    fn waker(&self) -> Receiver<()>;

    /// Ends the connection.
    fn disconnect(&mut self, at: Timestamp);
}

/// Market data of a venue; it comes out of `deliver` too, so that both keep the venue's order.
pub trait MarketFeed: Send {
    /// Prices of a security are wanted.
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome;

    /// Prices of a security are not wanted any more.
    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome;
}

/// Both halves of a venue.
pub trait Adapter: OrderSession + MarketFeed {}

impl<A: OrderSession + MarketFeed> Adapter for A {}

/// Receives the venue's reports and prices.
pub trait ReportSink {
    /// `at` is the venue's own time.
    fn on_report(&mut self, at: Option<Timestamp>, said: ReportKind);

    /// A price.
    fn on_market_data(&mut self, data: MarketData);

    /// What was reported before this call survives a crash once [`Self::reports_durable`] has reached this number. A receiver
    /// that keeps nothing has a number that is never reached: nothing of the venue is confirmed to it.
    fn reports_passed(&self) -> u64 {
        u64::MAX
    }

    /// How far reports survive a crash.
    fn reports_durable(&self) -> u64 {
        0
    }
}

/// What a venue says about orders of a security; absent where it says nothing. What the reference data says applies then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VenueOrderRules {
    /// The step of prices.
    pub tick: Option<Decimal>,
    /// The step of quantities.
    pub lot: Option<Decimal>,
    /// The smallest quantity of an order.
    pub quantity_min: Option<Quantity>,
    /// The smallest quantity × price × contract size of an order.
    pub notional_min: Option<Amount>,
    /// The lowest limit.
    pub price_min: Option<Price>,
    /// The lowest limit of a buy, as a part of the market price.
    pub lowest_buy: Option<Decimal>,
}

/// Result of sending a request to the venue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// Handed to the venue; its answer comes later.
    Sent,
    /// The venue certainly did not receive it.
    NotSent(Text),
    /// The venue may have received it. A timeout after sending is this, never a rejection.
    Unknown {
        /// Why it is not known.
        reason: Text,
        /// After it the request can no longer take effect, where the request itself says so; otherwise it follows from
        /// the capabilities. Never later than these promise.
        dead_after: Option<Timestamp>,
    },
}

/// There is no session, or it was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLost(pub Text);

impl fmt::Display for SessionLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SessionLost {}
