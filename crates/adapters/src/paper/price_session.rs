//! The prices of a real venue, as paper mode sees it.

use crossbeam_channel::Receiver;
use domain::order::OrderTerms;
use domain::report::AdapterCapabilities;
use domain::{Order, SecurityId, Text, Timestamp};

use crate::venue::{MarketFeed, ReportSink, SessionLost, VenueOrderRules};

/// A session that brings the prices of a venue. It has no way to send an order, and needs no key.
pub trait PriceSession: MarketFeed {
    /// What the venue's own adapter would offer.
    fn capabilities(&self) -> AdapterCapabilities;

    /// What the venue says about orders of a security, as far as it is known.
    fn order_rules(&self, security: SecurityId) -> VenueOrderRules;

    /// Connects to the venue's public prices.
    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost>;

    /// Why the venue would refuse an order with these terms, as far as its own lists say.
    fn check(&self, at: Timestamp, order: &Order, terms: OrderTerms) -> Result<(), Text>;

    /// Delivers prices, and what there is to say about their line.
    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost>;

    /// When `deliver` is due next, where that follows from the time alone.
    fn next_due(&self) -> Option<Timestamp>;

    /// Wakes the host when `deliver` has something before it is due.
    fn waker(&self) -> Receiver<()>;

    /// Ends the connection.
    fn disconnect(&mut self, at: Timestamp);
}
