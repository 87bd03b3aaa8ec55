//! The adapter as the host knows it.

use adapters::{MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, VenueOrderRules};
use crossbeam_channel::Receiver;
use domain::order::OrderTerms;
use domain::report::{
    AdapterCapabilities, CancelKind, FillsScope, LineKind, ListingCapabilities, RefusesRepeatedIds, ReplaceKind,
    RequestTiming, VenueSnapshot,
};
use domain::{AccountId, Order, SecurityId, Text, Timestamp};

use super::state::{BinanceAdapter, Outbox};
use crate::orders::order_mapping::ORDER_PROPERTIES;
use crate::symbols::symbol_rules::order_rules;

/// How long after a change lists and queries may still lack it.
const READ_LAG_MILLIS: u32 = 2_000;

impl OrderSession for BinanceAdapter {
    fn capabilities(&self) -> AdapterCapabilities {
        AdapterCapabilities {
            exchanges: vec![self.setup.exchange],
            expires_orders: false,
            refuses_repeated_ids: RefusesRepeatedIds::WhileOpen,
            simulated: false,
            request_timing: Some(RequestTiming {
                life_millis: Some(self.life_millis()),
                read_lag_millis: READ_LAG_MILLIS,
            }),
            lists: ListingCapabilities { open_orders: true, fills: Some(FillsScope::PerSecurity), statement: true },
            lines: vec![LineKind::Private, LineKind::Prices],
            order_properties: ORDER_PROPERTIES.to_vec(),
            replace: ReplaceKind::CancelReplace,
            pass_through: None,
            // They differ from symbol to symbol.
            order_types: None,
            cancel: CancelKind::WhileOpen,
        }
    }

    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        let symbol = self.symbols.symbol_of(security);
        let listed = symbol.and_then(|symbol| self.symbols.get(&symbol));
        listed.map_or_else(VenueOrderRules::default, order_rules)
    }

    fn set_lease(&mut self, lease: SendLease) {
        self.lease = Some(lease);
    }

    /// Requests of any number of connections are taken in side by side, while their window lasts.
    fn overlap_millis(&self) -> i64 {
        self.life_millis().into()
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.log_on(at).map_err(|reason| SessionLost(reason.into()))
    }

    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        self.take_snapshot(at).map_err(|reason| SessionLost(reason.into()))
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.send_submit(at, order)
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.send_replace(at, order, terms)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.send_cancel(at, order)
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        self.send_leg_cancel(at, order, leg)
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.send_inquiry(at, order)
    }

    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        self.send_statement_request(at, account)
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        self.ask_open_orders(at)
    }

    fn list_fills(&mut self, at: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        match security {
            Some(security) => self.ask_fills(at, security, cursor),
            None => SendOutcome::NotSent("the venue lists fills of one security only".into()),
        }
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        if self.session.is_none() {
            return Err(SessionLost("not logged on".into()));
        }
        self.pump(at);
        for said in self.symbols.untold_listings() {
            sink.on_report(None, said);
        }
        for (ext_at, said) in std::mem::take(&mut self.outbox.reports) {
            sink.on_report(ext_at, said);
        }
        for data in std::mem::take(&mut self.outbox.prices) {
            sink.on_market_data(data);
        }
        match self.outbox.lost.clone() {
            Some(reason) => Err(SessionLost(reason)),
            None => Ok(()),
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.session.as_ref().map(|session| session.due.check)
    }

    fn waker(&self) -> Receiver<()> {
        self.wake.1.clone()
    }

    /// Dropping the commands ends both connections. What has no answer is asked about after the next log-on.
    fn disconnect(&mut self, at: Timestamp) {
        if self.session.take().is_some() {
            self.forget_requests(at);
            self.tracker.on_session_end();
            self.feed.clear();
            self.outbox = Outbox::default();
        }
    }
}

impl MarketFeed for BinanceAdapter {
    fn subscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        self.send_subscription(security, true)
    }

    fn unsubscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        self.send_subscription(security, false)
    }
}
