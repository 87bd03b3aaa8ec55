//! Numbers requests as the engine does: each has a ClOrdID of its own, and the kit sends orders as they were placed.

use std::collections::BTreeMap;

use adapter_fix::FixAdapter;
use adapters::{MarketFeed, OrderSession, ReportSink, SendOutcome, SessionLost, VenueOrderRules};
use crossbeam_channel::Receiver;
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, VenueSnapshot};
use domain::{AccountId, Order, OrderId, SecurityId, Text, Timestamp};

pub(crate) struct NumberedRequests {
    pub(crate) adapter: FixAdapter,
    /// The number of the newest request of each order.
    newest: BTreeMap<OrderId, u32>,
}

impl NumberedRequests {
    pub(crate) fn new(adapter: FixAdapter) -> Self {
        Self { adapter, newest: BTreeMap::new() }
    }

    fn next(&mut self, order: &Order) -> Order {
        *self.newest.entry(order.id).or_default() += 1;
        self.current(order)
    }

    fn current(&self, order: &Order) -> Order {
        Order { request: self.newest.get(&order.id).copied().unwrap_or_default(), ..order.clone() }
    }
}

impl OrderSession for NumberedRequests {
    fn capabilities(&self) -> AdapterCapabilities {
        self.adapter.capabilities()
    }

    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        self.adapter.order_rules(security)
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
        let order = self.next(order);
        self.adapter.modify(at, &order, terms)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let order = self.next(order);
        self.adapter.cancel(at, &order)
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        self.adapter.cancel_leg(at, order, leg)
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let order = self.current(order);
        self.adapter.inquire(at, &order)
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

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        self.adapter.deliver(at, sink)
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

impl MarketFeed for NumberedRequests {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.adapter.subscribe(at, security)
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.adapter.unsubscribe(at, security)
    }
}
