//! The venue's public prices alone, for paper mode: streams, books and lists, without a key and without an order session.

use std::path::Path;

use adapters::{MarketFeed, OrderSession, PriceSession, ReportSink, SendOutcome, SessionLost, VenueOrderRules};
use crossbeam_channel::Receiver;
use domain::order::OrderTerms;
use domain::report::AdapterCapabilities;
use domain::{Order, SecurityId, Text, Timestamp};

use crate::adapter::state::{BinanceAdapter, BinanceSetup};

/// The adapter without a key. What it could do with orders is not reachable from outside.
pub struct BinancePrices(BinanceAdapter);

impl BinancePrices {
    /// Connects nothing yet. Credentials of the setup are not used.
    pub fn open(setup: BinanceSetup, files: &Path) -> Result<Self, String> {
        BinanceAdapter::open_public(setup, files).map(Self)
    }
}

impl PriceSession for BinancePrices {
    fn capabilities(&self) -> AdapterCapabilities {
        self.0.capabilities()
    }

    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        self.0.order_rules(security)
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.0.connect(at)
    }

    fn check(&self, at: Timestamp, order: &Order, terms: OrderTerms) -> Result<(), Text> {
        self.0.ticket(at, order, terms).map(drop)
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        self.0.deliver(at, sink)
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.0.next_due()
    }

    fn waker(&self) -> Receiver<()> {
        self.0.waker()
    }

    fn disconnect(&mut self, at: Timestamp) {
        self.0.disconnect(at);
    }
}

impl MarketFeed for BinancePrices {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.0.subscribe(at, security)
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.0.unsubscribe(at, security)
    }
}
