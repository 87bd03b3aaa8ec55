//! Prices of the subscribed symbols: best quotes, trades and books, in our words.
//!
//! A book begins with a snapshot that is asked for when its streams are confirmed. After a gap it is discarded at once and
//! begins again. While a connection is renewed both bring the same for a while; the numbers of updates and trades show it.

use std::collections::BTreeMap;

use domain::command::MarketData;
use domain::{PriceGap, SecurityId, StaleCause, Text, Timestamp};

use crate::prices::depth_book::{DepthBook, DepthStep};
use crate::prices::market_mapping::FeedSecurity;
use crate::prices::stream_watch::{FeedStream, LOOK_SECONDS, StreamWatch};
use crate::protocol::answers::market_answers::{DepthSnapshot, SymbolTicker};
use crate::protocol::market_events::{DepthDifference, MarketEvent, QuoteEvent, TradeEvent};
use crate::protocol::requests::TICKERS_MAX;
use crate::protocol::requests::encoding::stream_name;

/// Levels of a side that are published.
pub const BOOK_LEVELS: usize = 20;
/// Levels of a side in a snapshot; it weighs 25.
pub const SNAPSHOT_LEVELS: u32 = 500;
/// A snapshot that was refused, or was too old, is asked for again after so long.
const SNAPSHOT_RETRY_MILLIS: i64 = 1_000;
/// Streams of each symbol.
const STREAMS: [&str; 3] = ["bookTicker", "trade", "depth@100ms"];

#[derive(Debug)]
pub struct PriceFeed {
    feed: Text,
    symbols: BTreeMap<String, SymbolFeed>,
    /// When it is next looked after streams that do not send.
    look_at: Timestamp,
}

/// A symbol with a stream that was confirmed and does not send.
#[derive(Debug, PartialEq, Eq)]
pub struct SilentSymbol {
    pub symbol: String,
    pub gap: MarketData,
    pub streams: Vec<String>,
    /// It was silent before, and a new subscription did not help.
    pub is_repeated: bool,
}

#[derive(Debug)]
struct SymbolFeed {
    security: FeedSecurity,
    is_confirmed: bool,
    book: DepthBook,
    /// The newest best quote; older ones may come behind it.
    quoted: i64,
    /// The newest trade.
    traded: i64,
    snapshot: SnapshotState,
    watch: StreamWatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SnapshotState {
    Wanted { from: Timestamp },
    Asked,
    Here,
}

impl PriceFeed {
    pub fn new(feed: Text) -> Self {
        Self { feed, symbols: BTreeMap::new(), look_at: Timestamp(0) }
    }

    /// The names of its streams.
    pub fn subscribe(&mut self, symbol: &str, security: SecurityId) -> Vec<String> {
        let security = FeedSecurity { security, feed: self.feed.clone() };
        let fresh = SymbolFeed {
            security,
            is_confirmed: false,
            book: DepthBook::default(),
            quoted: i64::MIN,
            traded: i64::MIN,
            snapshot: SnapshotState::Wanted { from: Timestamp(0) },
            watch: StreamWatch::default(),
        };
        self.symbols.insert(symbol.to_owned(), fresh);
        streams(symbol)
    }

    pub fn unsubscribe(&mut self, symbol: &str) -> Vec<String> {
        self.symbols.remove(symbol);
        streams(symbol)
    }

    pub fn clear(&mut self) {
        self.symbols.clear();
    }

    /// The venue has confirmed these streams.
    pub fn on_confirmed(&mut self, confirmed: &[String], now: Timestamp) {
        for (symbol, feed) in &mut self.symbols {
            if streams(symbol).iter().all(|stream| confirmed.contains(stream)) {
                feed.is_confirmed = true;
                feed.watch.on_confirmed(now);
            }
        }
    }

    /// The venue has refused these streams: their symbols have no prices for now.
    pub fn on_refused(&mut self, refused: &[String]) -> Vec<MarketData> {
        let is_refused = |symbol: &str| streams(symbol).iter().any(|stream| refused.contains(stream));
        let lost = self.symbols.iter().filter(|(symbol, _)| is_refused(symbol));
        lost.map(|(_, feed)| feed.gap(StaleCause::Refused)).collect()
    }

    /// The connection ended: every book begins again on the next one.
    pub fn on_line_down(&mut self) -> Vec<MarketData> {
        for feed in self.symbols.values_mut() {
            feed.begin_again();
            // The venue may have begun its numbers again.
            (feed.quoted, feed.traded) = (i64::MIN, i64::MIN);
            feed.watch = StreamWatch::default();
        }
        self.symbols.values().map(|feed| feed.gap(StaleCause::Disconnected)).collect()
    }

    /// Symbols whose snapshot is to be asked for now.
    pub fn wanted_snapshots(&self, now: Timestamp) -> Vec<String> {
        let is_due = |feed: &SymbolFeed| matches!(feed.snapshot, SnapshotState::Wanted { from } if from <= now);
        let due = self.symbols.iter().filter(|(_, feed)| feed.is_confirmed && is_due(feed));
        due.map(|(symbol, _)| symbol.clone()).collect()
    }

    pub fn on_snapshot_asked(&mut self, symbol: &str) {
        if let Some(feed) = self.symbols.get_mut(symbol) {
            feed.snapshot = SnapshotState::Asked;
        }
    }

    pub fn on_snapshot_failed(&mut self, symbol: &str, now: Timestamp) {
        if let Some(feed) = self.symbols.get_mut(symbol) {
            feed.snapshot = SnapshotState::Wanted { from: now.plus_millis(SNAPSHOT_RETRY_MILLIS) };
        }
    }

    /// Whether every subscribed symbol has its book.
    pub fn is_whole(&self) -> bool {
        self.symbols.values().all(|feed| feed.snapshot == SnapshotState::Here)
    }

    pub fn on_snapshot(&mut self, symbol: &str, snapshot: &DepthSnapshot, now: Timestamp) -> Vec<MarketData> {
        let Some(feed) = self.symbols.get_mut(symbol) else { return Vec::new() };
        let limit = usize::try_from(SNAPSHOT_LEVELS).unwrap_or(usize::MAX);
        match feed.book.on_snapshot(snapshot, limit) {
            DepthStep::Updated | DepthStep::Known => {
                feed.snapshot = SnapshotState::Here;
                feed.best(symbol, now).into_iter().chain(feed.published(now)).collect()
            }
            DepthStep::StaleSnapshot | DepthStep::Discarded(_) | DepthStep::Buffered => {
                self.on_snapshot_failed(symbol, now);
                Vec::new()
            }
        }
    }

    /// What a symbol sends that is not subscribed is dropped.
    pub fn on_event(&mut self, event: MarketEvent, now: Timestamp, out: &mut Vec<MarketData>) {
        let symbol = match &event {
            MarketEvent::Quote(quote) => &quote.symbol,
            MarketEvent::Trade(trade) => &trade.symbol,
            MarketEvent::Depth(difference) => &difference.symbol,
            MarketEvent::Kline(_)
            | MarketEvent::Answered { .. }
            | MarketEvent::ServerShutdown
            | MarketEvent::Other(_)
            | MarketEvent::Unreadable(_) => return,
        };
        let Some(feed) = self.symbols.get_mut(symbol) else { return };
        match event {
            MarketEvent::Quote(quote) => feed.on_quote(&quote, now, out),
            MarketEvent::Trade(trade) => feed.on_trade(&trade, now, out),
            MarketEvent::Depth(difference) => feed.on_difference(difference, now, out),
            _ => {}
        }
    }

    /// Symbols to compare with the venue's own words, in questions of at most [`TICKERS_MAX`]. Streams that send are left out.
    pub fn wanted_looks(&mut self, now: Timestamp) -> Vec<Vec<String>> {
        if now < self.look_at {
            return Vec::new();
        }
        let quiet = self.symbols.iter().filter(|(_, feed)| feed.watch.wants_look(now));
        let quiet: Vec<String> = quiet.map(|(symbol, _)| symbol.clone()).collect();
        if !quiet.is_empty() {
            self.look_at = now.plus_seconds(LOOK_SECONDS);
        }
        quiet.chunks(TICKERS_MAX).map(<[String]>::to_vec).collect()
    }

    pub fn on_look(&mut self, ticker: &SymbolTicker, asked_at: Timestamp, now: Timestamp) {
        if let Some(feed) = self.symbols.get_mut(&ticker.symbol) {
            feed.watch.on_look(ticker, asked_at, now);
        }
    }

    /// Symbols with a stream that does not send: their prices are lost, and their streams are to be subscribed again.
    pub fn silent_symbols(&mut self, now: Timestamp) -> Vec<SilentSymbol> {
        let silent = self.symbols.iter_mut().filter(|(_, feed)| feed.watch.is_silent(now));
        silent.map(|(symbol, feed)| feed.on_silent(symbol)).collect()
    }
}

impl SymbolFeed {
    fn on_quote(&mut self, quote: &QuoteEvent, now: Timestamp, out: &mut Vec<MarketData>) {
        self.hear(FeedStream::Quotes, now, out);
        if quote.update <= self.quoted {
            return;
        }
        self.quoted = quote.update;
        if self.watch.is_trusted() {
            out.push(MarketData::Tick(self.security.tick(quote, now)));
        }
    }

    /// A trade is true whatever else is missing.
    fn on_trade(&mut self, trade: &TradeEvent, now: Timestamp, out: &mut Vec<MarketData>) {
        self.hear(FeedStream::Trades, now, out);
        if trade.id <= self.traded {
            return;
        }
        self.traded = trade.id;
        if let Some(mut told) = self.security.trade(trade) {
            // The venue's clock may be ahead of ours.
            told.at = told.at.min(now);
            out.push(MarketData::Trade(told));
        }
    }

    fn on_difference(&mut self, difference: DepthDifference, now: Timestamp, out: &mut Vec<MarketData>) {
        self.hear(FeedStream::Depth, now, out);
        match self.book.on_difference(difference) {
            DepthStep::Updated => out.extend(self.published(now)),
            DepthStep::Discarded(gap) => {
                tracing::warn!(security = %self.security.security, %gap, "the order book has a gap; it begins again");
                self.snapshot = SnapshotState::Wanted { from: now };
                out.push(self.gap(StaleCause::MissedUpdates));
            }
            DepthStep::Known | DepthStep::Buffered | DepthStep::StaleSnapshot => {}
        }
    }

    /// Where all streams are trusted again, the whole book ends the gap.
    fn hear(&mut self, stream: FeedStream, now: Timestamp, out: &mut Vec<MarketData>) {
        if self.watch.on_heard(stream, now) {
            out.extend(self.published(now));
        }
    }

    fn begin_again(&mut self) {
        self.is_confirmed = false;
        self.book.reset();
        self.snapshot = SnapshotState::Wanted { from: Timestamp(0) };
    }

    fn on_silent(&mut self, symbol: &str) -> SilentSymbol {
        self.begin_again();
        SilentSymbol {
            symbol: symbol.to_owned(),
            gap: self.gap(StaleCause::MissedUpdates),
            streams: streams(symbol),
            is_repeated: self.watch.begin_again(),
        }
    }

    fn gap(&self, cause: StaleCause) -> MarketData {
        let FeedSecurity { security, feed } = self.security.clone();
        MarketData::Gap(PriceGap { security, feed, cause })
    }

    /// Nothing where a stream is not trusted: a book would end the gap.
    fn published(&self, now: Timestamp) -> Option<MarketData> {
        if !self.watch.is_trusted() {
            return None;
        }
        self.security.book(&self.book, now, BOOK_LEVELS).map(MarketData::Book)
    }

    /// In a quiet market no quote comes until something happens.
    fn best(&self, symbol: &str, now: Timestamp) -> Option<MarketData> {
        let quote = QuoteEvent {
            symbol: symbol.to_owned(),
            update: self.book.last_update()?,
            bid: self.book.best_bid()?,
            ask: self.book.best_ask()?,
        };
        (quote.update > self.quoted && self.watch.is_trusted())
            .then(|| MarketData::Tick(self.security.tick(&quote, now)))
    }
}

fn streams(symbol: &str) -> Vec<String> {
    STREAMS.map(|stream| stream_name(symbol, stream)).to_vec()
}

#[cfg(test)]
mod tests {
    use domain::Decimal;

    use super::*;
    use crate::protocol::answers::market_answers::WireLevel;
    use crate::protocol::market_events::DepthDifference;
    use crate::protocol::wire_values::WireInteger;

    const SYMBOLS: [(&str, SecurityId); 2] = [("BTCUSDT", SecurityId(1)), ("ETHUSDT", SecurityId(2))];

    fn feed() -> PriceFeed {
        let mut feed = PriceFeed::new("VENUE".into());
        SYMBOLS.iter().for_each(|(symbol, security)| drop(feed.subscribe(symbol, *security)));
        feed
    }

    fn gap(security: SecurityId, cause: StaleCause) -> MarketData {
        MarketData::Gap(PriceGap { security, feed: "VENUE".into(), cause })
    }

    fn told(feed: &mut PriceFeed, event: MarketEvent, now: Timestamp) -> Vec<MarketData> {
        let mut out = Vec::new();
        feed.on_event(event, now, &mut out);
        out
    }

    fn difference(symbol: &str, first: i64) -> MarketEvent {
        let level = |price: i64| WireLevel { price: Decimal::from(price), quantity: Decimal::ONE };
        let (bids, asks) = (vec![level(9)], vec![level(11)]);
        MarketEvent::Depth(DepthDifference {
            symbol: symbol.to_owned(),
            at: WireInteger(0),
            first,
            last: first,
            bids,
            asks,
        })
    }

    #[test]
    fn an_update_that_did_not_come_is_a_gap_of_its_security_until_the_book_is_whole() {
        let (mut feed, now) = (feed(), Timestamp(0));
        let snapshot = |last: i64| {
            let text = format!(r#"{{"lastUpdateId":{last},"bids":[["9","1"]],"asks":[["11","1"]]}}"#);
            serde_json::from_str::<DepthSnapshot>(&text).unwrap()
        };
        assert!(matches!(
            feed.on_snapshot("BTCUSDT", &snapshot(5), now)[..],
            [MarketData::Tick(_), MarketData::Book(_)]
        ));
        assert!(matches!(told(&mut feed, difference("BTCUSDT", 6), now)[..], [MarketData::Book(_)]));
        let lost = told(&mut feed, difference("BTCUSDT", 8), now);
        assert_eq!(lost, [gap(SecurityId(1), StaleCause::MissedUpdates)]);
        assert_eq!(told(&mut feed, difference("BTCUSDT", 9), now), []);
        assert!(matches!(feed.on_snapshot("BTCUSDT", &snapshot(8), now)[..], [.., MarketData::Book(_)]));
    }

    #[test]
    fn a_lost_connection_and_refused_streams_are_gaps_of_their_securities() {
        let mut feed = feed();
        let all = SYMBOLS.map(|(_, security)| gap(security, StaleCause::Disconnected));
        assert_eq!(feed.on_line_down(), all);
        let refused = feed.on_refused(&streams("ETHUSDT")[..1]);
        assert_eq!(refused, [gap(SecurityId(2), StaleCause::Refused)]);
    }
}
