//! Prices over FIX: the adapter's market data, over the order session or one of its own.

use adapters::{MarketFeed, ReportSink, SendOutcome};
use domain::report::{LineKind, ReportKind};
use domain::{SecurityId, Timestamp};
use fix::{FixDecoder, FixMessage, OutgoingMessage};

use crate::adapter::FixAdapter;
use crate::market_data::{FeedStep, VenuePrices};
use crate::requests::RequestKind;
use crate::securities::security_list::is_about_securities;
use crate::sessions::side_session::{SideSession, SideSessionEvent};

impl FixAdapter {
    pub(crate) fn deliver_prices(&mut self, at: Timestamp, sink: &mut dyn ReportSink) {
        let own = self.prices.as_mut().and_then(|prices| prices.own.as_mut());
        let events = own.map_or_else(Vec::new, |line| line.poll(&self.runtime, &self.wake.0, at));
        for event in events {
            self.on_price_line(at, event, sink);
        }
        if let Some(line) = self.prices.as_mut().and_then(|prices| prices.own.as_mut()) {
            line.confirm_received(at);
        }
        self.tell_price_line(sink);
        self.ask_for_prices(at, None);
    }

    /// A session for prices alone is down until it has logged on; a state that stays is not told again.
    fn tell_price_line(&mut self, sink: &mut dyn ReportSink) {
        let Some(prices) = &mut self.prices else { return };
        let Some(up) = prices.own.as_ref().map(SideSession::is_up) else { return };
        if prices.told_up.replace(up) != Some(up) {
            let reason = if up { None } else { Some(prices.down_reason.clone().unwrap_or("not logged on yet".into())) };
            sink.on_report(None, ReportKind::Line { line: LineKind::Prices, up, reason });
        }
    }

    fn on_price_line(&mut self, at: Timestamp, event: SideSessionEvent, sink: &mut dyn ReportSink) {
        let Some(prices) = &mut self.prices else { return };
        match event {
            SideSessionEvent::Up => {
                if let Some(securities) = &mut self.securities {
                    securities.is_due = true;
                }
                let requests = prices.feed.restart_all();
                prices.drop_waiting();
                self.ask_for_prices(at, requests);
            }
            SideSessionEvent::Down(reason) => {
                prices.feed.on_line_down();
                prices.drop_waiting();
                prices.down_reason = Some(reason.into());
            }
            SideSessionEvent::Skipped | SideSessionEvent::Reset { .. } => self.on_prices_lost(at, sink),
            SideSessionEvent::Message(frame) => {
                let mut decoder = FixDecoder::new();
                // The session layer has decoded it before.
                match decoder.decode(&frame) {
                    Ok(message) if is_about_securities(&message) => self.on_security_message(&message, sink),
                    Ok(message) => self.on_price_message(at, &message, sink),
                    Err(_) => {}
                }
            }
        }
    }

    pub(crate) fn on_price_message(&mut self, at: Timestamp, message: &FixMessage<'_>, sink: &mut dyn ReportSink) {
        let Some(prices) = &mut self.prices else { return };
        let step = prices.feed.on_message(message, at);
        self.tell_prices(at, step, sink);
    }

    /// Messages of the venue are lost that may have been prices.
    pub(crate) fn on_prices_lost(&mut self, at: Timestamp, sink: &mut dyn ReportSink) {
        let Some(prices) = &mut self.prices else { return };
        let step = prices.feed.on_messages_lost();
        self.tell_prices(at, step, sink);
    }

    fn tell_prices(&mut self, at: Timestamp, step: FeedStep, sink: &mut dyn ReportSink) {
        let FeedStep { prices: told, requests, problem } = step;
        told.into_iter().for_each(|price| sink.on_market_data(price));
        if let Some(problem) = problem {
            let security = problem.security.map(|security| security.to_string());
            tracing::warn!(venue = %self.setup.venue, security, reason = %problem.reason, "no prices for now");
        }
        self.ask_for_prices(at, requests);
    }

    /// Sends what can be sent; the rest waits for the rate or the line.
    pub(crate) fn ask_for_prices(&mut self, at: Timestamp, requests: impl IntoIterator<Item = OutgoingMessage>) {
        let Some(prices) = &mut self.prices else { return };
        prices.enqueue(requests);
        if prices.own.as_ref().is_some_and(|line| !line.is_up()) {
            // The line asks for everything when it is up.
            return prices.drop_waiting();
        }
        while let Some(request) = self.prices.as_mut().and_then(VenuePrices::next_waiting) {
            if let Err(refusal) = self.check.check(&request) {
                tracing::error!(venue = %self.setup.venue, %refusal, "a request for prices breaks the dictionary and is not sent");
                continue;
            }
            let outcome = self.send_price_request(at, request.clone());
            let Some(prices) = &mut self.prices else { return };
            if let SendOutcome::NotSent(reason) = outcome {
                tracing::debug!(venue = %self.setup.venue, %reason, "a request for prices waits");
                return prices.put_back(request, at);
            }
        }
    }

    pub(crate) fn send_price_request(&mut self, at: Timestamp, request: OutgoingMessage) -> SendOutcome {
        match self.prices.as_ref().and_then(|prices| prices.own.as_ref()) {
            None => self.send(at, RequestKind::MarketData, Ok(request)),
            Some(line) if line.send(request) => SendOutcome::Sent,
            Some(_) => SendOutcome::NotSent("venue-queue-full: too many requests wait for the connection".into()),
        }
    }

    pub(crate) fn end_prices(&mut self) {
        let Some(prices) = &mut self.prices else { return };
        prices.feed.clear();
        prices.drop_waiting();
        (prices.told_up, prices.down_reason) = (None, None);
        if let Some(line) = &mut prices.own {
            line.end(&self.runtime);
        }
    }
}

impl MarketFeed for FixAdapter {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        if !self.is_logged_on() {
            return SendOutcome::NotSent("not logged on".into());
        }
        let reference = self.setup.catalogue.current();
        let Some(listed) = reference.securities.get(&security) else {
            return SendOutcome::NotSent("venue-unlisted: the security is not in the reference data".into());
        };
        let Some(prices) = &mut self.prices else {
            return SendOutcome::NotSent(
                "the dialect has no market data, or needs a session for it: marketDataPort".into(),
            );
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
