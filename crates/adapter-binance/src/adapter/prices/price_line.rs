//! The line of prices: up or down, renewed before the venue ends it, and watched for streams that were confirmed and do not send.

use adapter_kit::RequestLane;
use domain::report::{LineKind, ReportKind};
use domain::{Text, Timestamp};
use serde::Deserialize;

use crate::adapter::state::BinanceAdapter;
use crate::adapter::waiting::{RequestPurpose, RequestWay};
use crate::market_streams::StreamCommand;
use crate::protocol::answers::CallAnswer;
use crate::protocol::answers::market_answers::SymbolTicker;
use crate::protocol::requests::BinanceRequest;

impl BinanceAdapter {
    pub(in crate::adapter) fn on_prices_up(&mut self, at: Timestamp) {
        if let Some(session) = &mut self.session {
            session.prices.on_begun(at);
        }
        self.on_prices(true, None);
    }

    pub(in crate::adapter) fn on_prices_down(&mut self, reason: Text) {
        // Behind the prices that came before.
        self.outbox.prices.extend(self.feed.on_line_down());
        self.on_prices(false, Some(reason));
    }

    pub(in crate::adapter) fn on_prices_renewed(&mut self, at: Timestamp) {
        let Some(session) = &mut self.session else { return };
        session.prices.on_begun(at);
        session.prices.renewals += 1;
        tracing::info!(adapter = %self.setup.adapter, "a new connection of market streams has taken over");
    }

    /// A line that stays as it was is not told again.
    fn on_prices(&mut self, up: bool, reason: Option<Text>) {
        let Some(session) = self.session.as_mut().filter(|session| session.prices.is_up != up) else { return };
        session.prices.is_up = up;
        self.outbox.report(ReportKind::Line { line: LineKind::Prices, up, reason });
    }

    pub(in crate::adapter) fn renew_prices(&mut self, at: Timestamp) {
        let is_due = self.session.as_mut().is_some_and(|session| session.prices.is_due(at));
        if is_due {
            self.command_streams(StreamCommand::Renew);
        }
    }

    /// Compares what moved at the venue with what its streams have told.
    pub(in crate::adapter) fn look_after_silence(&mut self, at: Timestamp) {
        for silent in self.feed.silent_symbols(at) {
            tracing::warn!(
                adapter = %self.setup.adapter, symbol = silent.symbol,
                "market streams were confirmed and do not send while the market moves; they are subscribed again"
            );
            self.outbox.prices.push(silent.gap);
            self.command_streams(StreamCommand::Resubscribe(silent.streams));
            if silent.is_repeated {
                self.command_streams(StreamCommand::Renew);
            }
        }
        for symbols in self.feed.wanted_looks(at) {
            let way = (RequestLane::Depth, RequestWay::Rest);
            if let Err(reason) = self.send(at, way, RequestPurpose::Look, BinanceRequest::tickers(&symbols)) {
                tracing::debug!(adapter = %self.setup.adapter, %reason, "market streams are not compared now");
            }
        }
    }

    pub(in crate::adapter) fn on_look(&mut self, at: Timestamp, asked_at: Timestamp, answer: &CallAnswer) {
        let read = answer.outcome.as_ref().ok().and_then(|result| Vec::<SymbolTicker>::deserialize(result).ok());
        for ticker in read.iter().flatten() {
            self.feed.on_look(ticker, asked_at, at);
        }
    }

    /// Where the connection takes no more commands, the session begins again.
    fn command_streams(&mut self, command: StreamCommand) {
        let Some(session) = &self.session else { return };
        if let Err(refused) = session.prices.try_send(command) {
            self.lose(format!("the market streams take no command: {refused}"));
        }
    }

    pub fn are_prices_up(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.prices.is_up)
    }

    /// How many connections of market streams have taken over since the log-on.
    pub fn renewed_price_connections(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.prices.renewals)
    }
}
