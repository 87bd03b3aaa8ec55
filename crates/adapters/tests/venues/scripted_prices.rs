//! Prices of a venue that a test writes: what is subscribed gets the quotes that stand, and then what the test says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use adapters::{MarketFeed, PriceSession, ReportSink, SendOutcome, SessionLost, VenueOrderRules};
use crossbeam_channel::{Receiver, never};
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, LineKind, ReportKind};
use domain::{Order, OrderProperty, PriceGap, SecurityId, StaleCause, Text, Tick, Timestamp, Trade};

/// The venue, from the side of the test.
#[derive(Clone, Default)]
pub(crate) struct ScriptedVenue(Arc<Mutex<VenueScript>>);

#[derive(Default)]
struct VenueScript {
    quotes: BTreeMap<SecurityId, Tick>,
    subscribed: BTreeSet<SecurityId>,
    pending: Vec<Pending>,
    is_cut: bool,
    is_connected: bool,
    /// Orders above it are what the venue would refuse.
    quantity_max: Option<domain::Quantity>,
}

enum Pending {
    Report(ReportKind),
    Price(MarketData),
}

impl ScriptedVenue {
    fn lock(&self) -> MutexGuard<'_, VenueScript> {
        self.0.lock().unwrap()
    }

    /// The best quotes of a security, from now on.
    pub(crate) fn quote(&self, security: SecurityId, bid: (i64, &str), ask: (i64, &str)) {
        let tick = Tick {
            bid: Some(bid.1.parse().unwrap()),
            vol_bid: Some(bid.0.into()),
            ask: Some(ask.1.parse().unwrap()),
            vol_ask: Some(ask.0.into()),
            ..Tick::empty(security)
        };
        let mut script = self.lock();
        script.quotes.insert(security, tick.clone());
        if script.is_connected && script.subscribed.contains(&security) {
            script.pending.push(Pending::Price(MarketData::Tick(tick)));
        }
    }

    pub(crate) fn trade(&self, trade: Trade) {
        self.lock().pending.push(Pending::Price(MarketData::Trade(trade)));
    }

    pub(crate) fn refuse_prices(&self, security: SecurityId) {
        let gap = PriceGap { security, feed: "test".into(), cause: StaleCause::Refused };
        self.lock().pending.push(Pending::Price(MarketData::Gap(gap)));
    }

    pub(crate) fn cut(&self, is_cut: bool) {
        self.lock().is_cut = is_cut;
    }

    /// The line of prices fails, or is back with all quotes.
    pub(crate) fn switch_prices(&self, up: bool) {
        let mut script = self.lock();
        let reason = (!up).then(|| Text::from("no pong"));
        script.pending.push(Pending::Report(ReportKind::Line { line: LineKind::Prices, up, reason }));
        let standing: Vec<_> =
            script.subscribed.iter().filter_map(|security| script.quotes.get(security)).cloned().collect();
        let prices = standing.into_iter().filter(|_| up).map(|tick| Pending::Price(MarketData::Tick(tick)));
        script.pending.extend(prices);
    }

    pub(crate) fn allow_at_most(&self, quantity: i64) {
        self.lock().quantity_max = Some(quantity.into());
    }
}

/// The session of paper mode with it.
pub(crate) struct ScriptedPrices(pub(crate) ScriptedVenue);

impl PriceSession for ScriptedPrices {
    /// As a venue that offers less than the simulated one.
    fn capabilities(&self) -> AdapterCapabilities {
        AdapterCapabilities {
            exchanges: vec![samples::EXCHANGE],
            order_properties: vec![OrderProperty::PostOnly],
            lines: vec![LineKind::Prices],
            ..AdapterCapabilities::default()
        }
    }

    fn order_rules(&self, _: SecurityId) -> VenueOrderRules {
        VenueOrderRules::default()
    }

    fn connect(&mut self, _: Timestamp) -> Result<(), SessionLost> {
        let mut script = self.0.lock();
        if script.is_cut {
            return Err(SessionLost("the connection is cut".into()));
        }
        script.is_connected = true;
        Ok(())
    }

    fn check(&self, _: Timestamp, _: &Order, terms: OrderTerms) -> Result<(), Text> {
        let most = self.0.lock().quantity_max;
        if most.is_some_and(|most| terms.quantity > most) { Err("venue-quantity: too much".into()) } else { Ok(()) }
    }

    fn deliver(&mut self, _: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        let (pending, is_cut) = {
            let mut script = self.0.lock();
            (std::mem::take(&mut script.pending), script.is_cut)
        };
        if is_cut {
            return Err(SessionLost("the connection is cut".into()));
        }
        for pending in pending {
            match pending {
                Pending::Report(said) => sink.on_report(None, said),
                Pending::Price(data) => sink.on_market_data(data),
            }
        }
        Ok(())
    }

    fn next_due(&self) -> Option<Timestamp> {
        None
    }

    fn waker(&self) -> Receiver<()> {
        never()
    }

    fn disconnect(&mut self, _: Timestamp) {
        let mut script = self.0.lock();
        (script.is_connected, script.subscribed, script.pending) = (false, BTreeSet::new(), Vec::new());
    }
}

impl MarketFeed for ScriptedPrices {
    fn subscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        let mut script = self.0.lock();
        script.subscribed.insert(security);
        if let Some(tick) = script.quotes.get(&security).cloned() {
            script.pending.push(Pending::Price(MarketData::Tick(tick)));
        }
        SendOutcome::Sent
    }

    fn unsubscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        self.0.lock().subscribed.remove(&security);
        SendOutcome::Sent
    }
}
