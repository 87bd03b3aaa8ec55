//! Prices over FIX: the adapter's market data, over the order session or one of its own.

use std::path::Path;

use adapters::{MarketFeed, ReportSink, SendOutcome};
use domain::report::{LineKind, ReportKind};
use domain::{SecurityId, Timestamp};
use fix::{FixDecoder, FixMessage, OutgoingMessage};

use crate::adapter::{FixAdapter, FixSetup};
use crate::market_data::{FeedStep, MarketDataFeed, PriceLineEvent, PriceSessionLine, VenuePrices};
use crate::number_store::SharedNumbers;
use crate::requests::{self, RequestKind};

impl FixAdapter {
    pub(crate) fn deliver_prices(&mut self, at: Timestamp, sink: &mut dyn ReportSink) {
        let own = self.prices.as_mut().and_then(|prices| prices.own.as_mut());
        let events = own.map_or_else(Vec::new, |line| line.poll(&self.runtime, &self.wake.0, at));
        for event in events {
            self.on_price_line(at, event, sink);
        }
        self.ask_for_prices(at, None);
    }

    fn on_price_line(&mut self, at: Timestamp, event: PriceLineEvent, sink: &mut dyn ReportSink) {
        let Some(prices) = &mut self.prices else { return };
        let line = |up, reason| ReportKind::Line { line: LineKind::Prices, up, reason };
        match event {
            PriceLineEvent::Up => {
                let requests = prices.feed.restart_all();
                prices.drop_waiting();
                self.ask_for_prices(at, requests);
                sink.on_report(None, line(true, None));
            }
            PriceLineEvent::Down(reason) => {
                prices.feed.on_line_down();
                prices.drop_waiting();
                sink.on_report(None, line(false, Some(reason.into())));
            }
            PriceLineEvent::Message(frame) => {
                let mut decoder = FixDecoder::new();
                // The session layer has decoded it before.
                if let Ok(message) = decoder.decode(&frame) {
                    self.on_price_message(at, &message, sink);
                }
            }
        }
    }

    pub(crate) fn on_price_message(&mut self, at: Timestamp, message: &FixMessage<'_>, sink: &mut dyn ReportSink) {
        let Some(prices) = &mut self.prices else { return };
        let FeedStep { prices: told, requests, problem } = prices.feed.on_message(message, at);
        told.into_iter().for_each(|price| sink.on_market_data(price));
        if let Some(problem) = problem {
            let security = problem.security.map(|security| security.to_string());
            tracing::warn!(venue = %self.setup.venue, security, reason = %problem.reason, "no prices for now");
        }
        self.ask_for_prices(at, requests);
    }

    /// Sends what can be sent; the rest waits for the rate or the line.
    fn ask_for_prices(&mut self, at: Timestamp, requests: impl IntoIterator<Item = OutgoingMessage>) {
        let Some(prices) = &mut self.prices else { return };
        prices.enqueue(requests);
        if prices.own.as_ref().is_some_and(|line| !line.is_up()) {
            // The line asks for everything when it is up.
            return prices.drop_waiting();
        }
        while let Some(request) = self.prices.as_mut().and_then(VenuePrices::next_waiting) {
            let outcome = self.send_price_request(at, request.clone());
            let Some(prices) = &mut self.prices else { return };
            if let SendOutcome::NotSent(reason) = outcome {
                tracing::debug!(venue = %self.setup.venue, %reason, "a request for prices waits");
                return prices.put_back(request, at);
            }
        }
    }

    fn send_price_request(&mut self, at: Timestamp, request: OutgoingMessage) -> SendOutcome {
        match self.prices.as_ref().and_then(|prices| prices.own.as_ref()) {
            None => self.send(at, RequestKind::MarketData, Ok(request)),
            Some(line) => match self.check.check(&request) {
                Err(refusal) => SendOutcome::NotSent(refusal.to_string().into()),
                Ok(()) if line.send(request) => SendOutcome::Sent,
                Ok(()) => SendOutcome::NotSent("venue-queue-full: too many requests wait for the connection".into()),
            },
        }
    }

    pub(crate) fn end_prices(&mut self) {
        let Some(prices) = &mut self.prices else { return };
        prices.feed.clear();
        prices.drop_waiting();
        if let Some(line) = &mut prices.own {
            line.end(&self.runtime);
        }
    }
}

impl MarketFeed for FixAdapter {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        let reference = self.setup.catalogue.current();
        let Some(listed) = reference.securities.get(&security) else {
            return SendOutcome::NotSent("venue-unlisted: the security is not in the reference data".into());
        };
        let Some(prices) = &mut self.prices else {
            return SendOutcome::NotSent("the dialect has no market data".into());
        };
        let request = prices.feed.subscribe(security, listed.symbol_at(&self.setup.venue));
        self.ask_for_prices(at, [request]);
        SendOutcome::Sent
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        let request = self.prices.as_mut().and_then(|prices| prices.feed.unsubscribe(security));
        self.ask_for_prices(at, request);
        SendOutcome::Sent
    }
}

/// Prices, and what is said about a request for them.
pub(crate) fn is_market_data(message: &FixMessage<'_>) -> bool {
    match message.msg_type() {
        b"W" | b"X" | b"Y" => true,
        b"3" | b"j" => message.get(372) == Some(b"V"),
        _ => false,
    }
}

pub(crate) fn venue_prices(setup: &FixSetup, numbers: &Path, now: Timestamp) -> std::io::Result<Option<VenuePrices>> {
    let Some(rules) = &setup.dialect.market_data else { return Ok(None) };
    let own = match &setup.price_plan {
        None => None,
        Some(plan) => {
            let numbers = SharedNumbers::open(numbers, requests::utc(now))?;
            let mut dialect = setup.dialect.clone();
            dialect.session.reset_on_logon = rules.reset_on_logon;
            Some(PriceSessionLine::new(dialect, plan.clone(), numbers, setup.instance))
        }
    };
    Ok(Some(VenuePrices::new(MarketDataFeed::new(setup.venue.clone(), rules.clone()), own)))
}
