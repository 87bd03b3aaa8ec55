//! The adapter as the host of the platform drives it: whenever it has something, it is asked to deliver it.

use std::time::Instant;

use adapter_fix::FixAdapter;
use adapters::{MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, VenueOrderRules};
use crossbeam_channel::Receiver;
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, VenueSnapshot};
use domain::{AccountId, Order, SecurityId, Text, Timestamp};

use crate::harness::now;
use crate::venue_watch::{VenueWatch, WAIT_MAX};

pub(crate) struct HostedAdapter {
    pub(crate) adapter: FixAdapter,
    pub(crate) watch: VenueWatch,
    /// The line of the prices is cut.
    pub(crate) is_without_prices: bool,
}

impl OrderSession for HostedAdapter {
    /// What a delivery asks for is answered and delivered too, and the session for prices is as its line is.
    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        let (waker, begun, mut at) = (self.adapter.waker(), Instant::now(), at);
        loop {
            while waker.try_recv().is_ok() {}
            self.adapter.deliver(at, sink)?;
            self.watch.settle();
            let is_over = !self.watch.is_logged_on() || self.watch.has_price_session() != self.is_without_prices;
            if is_over && waker.is_empty() {
                return Ok(());
            }
            assert!(begun.elapsed() < WAIT_MAX, "the adapter does not come to rest");
            at = at.max(now());
        }
    }

    fn capabilities(&self) -> AdapterCapabilities {
        self.adapter.capabilities()
    }

    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        self.adapter.order_rules(security)
    }

    fn set_lease(&mut self, lease: SendLease) {
        self.adapter.set_lease(lease);
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.adapter.connect(at)
    }

    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        self.adapter.snapshot(at)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.adapter.submit(at, order)
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.adapter.modify(at, order, terms)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.adapter.cancel(at, order)
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        self.adapter.cancel_leg(at, order, leg)
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.adapter.inquire(at, order)
    }

    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        self.adapter.ask_statement(at, account)
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        self.adapter.list_open_orders(at)
    }

    fn list_fills(&mut self, at: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        self.adapter.list_fills(at, security, cursor)
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.adapter.next_due()
    }

    fn waker(&self) -> Receiver<()> {
        self.adapter.waker()
    }

    fn disconnect(&mut self, at: Timestamp) {
        self.adapter.disconnect(at);
    }
}

impl MarketFeed for HostedAdapter {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.adapter.subscribe(at, security)
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.adapter.unsubscribe(at, security)
    }
}
