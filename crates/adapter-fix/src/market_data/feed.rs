//! Prices of the subscribed securities over FIX: Market Data Request (V), Snapshot (W), Incremental Refresh (X), Reject (Y).
//!
//! A book begins with W. Where X contradicts it, it is discarded at once, and the subscription begins again under another id.

use std::collections::{BTreeMap, HashMap, VecDeque};

use domain::command::MarketData;
use domain::{OrderBook, Price, PriceGap, Quantity, SecurityId, StaleCause, Text, Tick, Timestamp, Trade};
use fix::{FixMessage, OutgoingMessage};

use super::entries::{EntryAction, EntryType, MarketEntry, entries_of};
use super::entry_book::EntryBook;
use crate::dialect::{BookUpdates, MarketDataRules};

/// Levels of a side that are published.
pub(crate) const PUBLISHED_LEVELS: usize = 20;
/// Trades of a security that are remembered, so that one that comes again is not told again.
pub(crate) const KNOWN_TRADES_MAX: usize = 256;
/// A book that was discarded so often within one subscription of the host is not asked for again.
pub const RESTARTS_MAX: u32 = 100;
/// After so many changes without a contradiction the restarts are forgotten.
const GOOD_UPDATES: u32 = 1_000;

/// What came of a message.
#[derive(Debug, Default)]
pub struct FeedStep {
    pub prices: Vec<MarketData>,
    /// To be sent to the venue.
    pub requests: Vec<OutgoingMessage>,
    pub problem: Option<FeedProblem>,
}

/// Why a security has no prices for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedProblem {
    pub security: Option<SecurityId>,
    pub reason: String,
}

pub struct MarketDataFeed {
    feed: Text,
    rules: MarketDataRules,
    subscriptions: BTreeMap<SecurityId, Subscription>,
    /// The security of each request that counts.
    asked: HashMap<String, SecurityId>,
    requests: u64,
    /// When the feed began: an answer to a request of an earlier process is none of ours.
    begun_seconds: i64,
}

struct Subscription {
    symbol: String,
    request: String,
    /// Absent until the first snapshot.
    book: Option<EntryBook>,
    /// The best prices that were told last.
    best: Option<BestPrices>,
    /// Why the venue takes its prices for old.
    stale: Option<StaleCause>,
    known_trades: VecDeque<String>,
    restarts: u32,
    /// Changes that were applied since the last restart.
    good_updates: u32,
}

/// Price and quantity of both sides.
type BestPrices = [Option<(Price, Quantity)>; 2];

impl MarketDataFeed {
    pub fn new(feed: Text, rules: MarketDataRules, begun: Timestamp) -> Self {
        let begun_seconds = begun.seconds_since(Timestamp(0));
        Self { begun_seconds, feed, rules, subscriptions: BTreeMap::new(), asked: HashMap::new(), requests: 0 }
    }

    pub fn subscribe(&mut self, security: SecurityId, symbol: &str) -> OutgoingMessage {
        let request = self.next_request(security);
        let message = self.request(&request, symbol, true);
        let fresh = Subscription {
            symbol: symbol.to_owned(),
            request,
            book: None,
            best: None,
            stale: None,
            known_trades: VecDeque::new(),
            restarts: 0,
            good_updates: 0,
        };
        if let Some(before) = self.subscriptions.insert(security, fresh) {
            self.asked.remove(&before.request);
        }
        message
    }

    /// Nothing where there is no subscription.
    pub fn unsubscribe(&mut self, security: SecurityId) -> Option<OutgoingMessage> {
        let ended = self.subscriptions.remove(&security)?;
        self.asked.remove(&ended.request);
        Some(self.request(&ended.request, &ended.symbol, false))
    }

    /// The line is up: everything is asked for anew.
    pub fn restart_all(&mut self) -> Vec<OutgoingMessage> {
        let securities: Vec<SecurityId> = self.subscriptions.keys().copied().collect();
        securities.into_iter().filter_map(|security| self.ask_again(security)).collect()
    }

    /// The line is down: no book is true any more.
    pub fn on_line_down(&mut self) {
        self.subscriptions.values_mut().for_each(|subscription| subscription.book = None);
    }

    pub fn clear(&mut self) {
        self.subscriptions.clear();
        self.asked.clear();
    }

    /// Messages of other types mean nothing.
    pub fn on_message(&mut self, message: &FixMessage<'_>, now: Timestamp) -> FeedStep {
        match message.msg_type() {
            b"W" | b"X" if message.flag(43) => self.on_repeated(message),
            b"W" => self.on_snapshot(message, now),
            b"X" => self.on_refresh(message, now),
            b"Y" => self.on_reject(message.text(262), message.text(58).or(message.text(281))),
            b"j" if message.get(372) == Some(b"V") => self.on_reject(message.text(379), message.text(58)),
            b"3" if message.get(372) == Some(b"V") => self.on_reject(None, message.text(58)),
            _ => FeedStep::default(),
        }
    }

    /// What is sent again is old. Of a subscription that counts it shows that the first sending did not arrive.
    fn on_repeated(&mut self, message: &FixMessage<'_>) -> FeedStep {
        let reason = "a message was lost and came late";
        match message.text(262) {
            Some(request) if self.asked.contains_key(request) => self.discard_all(Some(request), reason),
            Some(_) => FeedStep::default(),
            None => self.discard_books(reason),
        }
    }

    /// Messages were lost that may have been about any security.
    pub fn on_messages_lost(&mut self) -> FeedStep {
        self.discard_books("messages of the venue were lost")
    }

    fn on_snapshot(&mut self, message: &FixMessage<'_>, now: Timestamp) -> FeedStep {
        let found = self.find(message.text(262), message.text(55));
        let Some(security) = found else { return FeedStep::default() };
        let entries = match entries_of(message) {
            Ok(entries) => entries,
            Err(bad) => return self.discard(security, bad.0),
        };
        let book = EntryBook::from_entries(&levels_of(&entries));
        // Trades of the first snapshot were before the subscription.
        let is_first = self.subscriptions.get(&security).is_some_and(|subscription| subscription.book.is_none());
        match book {
            Ok(book) => {
                let trades = self.trades(security, &entries, now);
                let trades = if is_first { Vec::new() } else { trades };
                let stale = self.stale_cause(&entries);
                if let Some(subscription) = self.subscriptions.get_mut(&security) {
                    (subscription.book, subscription.stale) = (Some(book), stale);
                }
                self.published(security, trades, now)
            }
            Err(gap) => self.discard(security, gap.to_string()),
        }
    }

    fn on_refresh(&mut self, message: &FixMessage<'_>, now: Timestamp) -> FeedStep {
        let request = message.text(262);
        let mut step = FeedStep::default();
        let entries = match entries_of(message) {
            Ok(entries) => entries,
            // Which security it is about may be part of what cannot be read.
            Err(bad) => return self.discard_all(request, &bad.0),
        };
        for (symbol, entries) in by_symbol(entries) {
            let Some(security) = self.find(request, symbol.as_deref()) else { continue };
            let changed = self.refresh(security, &entries, now);
            step.prices.extend(changed.prices);
            step.requests.extend(changed.requests);
            step.problem = step.problem.or(changed.problem);
        }
        step
    }

    fn refresh(&mut self, security: SecurityId, entries: &[MarketEntry], now: Timestamp) -> FeedStep {
        let trades = self.trades(security, entries, now);
        let stale = self.stale_cause(entries);
        let Some(subscription) = self.subscriptions.get_mut(&security) else { return FeedStep::default() };
        let levels = levels_of(entries);
        if levels.is_empty() {
            return FeedStep { prices: trades, ..FeedStep::default() };
        }
        // Changes before the snapshot are part of it.
        let Some(book) = subscription.book.as_mut() else { return FeedStep { prices: trades, ..FeedStep::default() } };
        match book.apply(&levels) {
            Ok(()) => {
                subscription.note_good_update();
                // What leaves the book says nothing of the rest.
                if levels.iter().any(|level| level.action != EntryAction::Delete) {
                    subscription.stale = stale;
                }
                self.published(security, trades, now)
            }
            Err(gap) => {
                let mut step = self.discard(security, gap.to_string());
                step.prices.splice(0..0, trades);
                step
            }
        }
    }

    /// Best prices where they changed, the book, and trades.
    fn published(&mut self, security: SecurityId, trades: Vec<MarketData>, at: Timestamp) -> FeedStep {
        let feed = self.feed.clone();
        let levels = if self.rules.depth == 0 { PUBLISHED_LEVELS } else { PUBLISHED_LEVELS.min(self.rules.depth) };
        let unknown = FeedStep { prices: trades, ..FeedStep::default() };
        let Some(subscription) = self.subscriptions.get_mut(&security) else { return unknown };
        let Some(book) = &subscription.book else { return unknown };
        let (bids, asks) = (book.bids(levels), book.asks(levels));
        let best = [&bids, &asks].map(|side| side.first().map(|level| (level.price, level.quantity)));
        if let Some(cause) = subscription.stale {
            // When they are live again they are told, also where they are the same.
            subscription.best = None;
            let gap = MarketData::Gap(PriceGap { security, feed, cause });
            return FeedStep { prices: std::iter::once(gap).chain(unknown.prices).collect(), ..FeedStep::default() };
        }
        let mut prices = Vec::new();
        if subscription.best != Some(best) {
            subscription.best = Some(best);
            prices.push(MarketData::Tick(tick(security, &feed, best, at)));
        }
        prices.push(MarketData::Book(OrderBook { security, feed, at, bids, asks }));
        prices.extend(unknown.prices);
        FeedStep { prices, ..unknown }
    }

    /// Why the venue itself takes its prices for old, where it says so.
    fn stale_cause(&self, entries: &[MarketEntry]) -> Option<StaleCause> {
        let stale = self.rules.stale_condition.as_deref()?;
        let is_stale = |entry: &&&MarketEntry| {
            entry.condition.as_deref().is_some_and(|condition| condition.split(' ').any(|one| one == stale))
        };
        let levels = levels_of(entries);
        let told = levels.iter().find(is_stale)?.text.as_deref().unwrap_or_default();
        let named = StaleCause::ALL.into_iter().find(|cause| told.starts_with(cause.name()));
        Some(named.unwrap_or(StaleCause::Disconnected))
    }

    /// Trades that were not told before.
    fn trades(&mut self, security: SecurityId, entries: &[MarketEntry], now: Timestamp) -> Vec<MarketData> {
        let Some(subscription) = self.subscriptions.get_mut(&security) else { return Vec::new() };
        let mut told = Vec::new();
        for entry in entries.iter().filter(|entry| entry.entry_type == Some(EntryType::Trade)) {
            let (Some(price), Some(size)) = (entry.price, entry.size) else { continue };
            let key = entry.id.clone().unwrap_or_else(|| format!("{:?} {price} {size}", entry.at));
            let repeats = entry.id.is_some() || self.rules.updates == BookUpdates::Full;
            if repeats && subscription.known_trades.contains(&key) {
                continue;
            }
            subscription.remember_trade(key);
            told.push(MarketData::Trade(Trade {
                security,
                feed: self.feed.clone(),
                // The venue's clock may be ahead of ours.
                at: entry.at.unwrap_or(now).min(now),
                price: Price(price),
                quantity: Quantity(size),
                aggressor: entry.aggressor,
                ext_id: entry.id.as_deref().map(Text::from),
            }));
        }
        told
    }

    fn on_reject(&mut self, request: Option<&str>, reason: Option<&str>) -> FeedStep {
        let security = request.and_then(|request| self.find(Some(request), None));
        let reason = format!("the venue refuses market data: {}", reason.unwrap_or("without a reason"));
        if let Some(subscription) = security.and_then(|security| self.subscriptions.get_mut(&security)) {
            (subscription.book, subscription.best) = (None, None);
        }
        let refused: Vec<SecurityId> = match (security, request) {
            (Some(security), _) => vec![security],
            // Of an earlier request.
            (None, Some(_)) => Vec::new(),
            // It may be any that has no answer yet.
            (None, None) => self.unanswered().collect(),
        };
        let prices = refused.into_iter().map(|security| self.gap(security, StaleCause::Refused)).collect();
        FeedStep { prices, problem: Some(FeedProblem { security, reason }), ..FeedStep::default() }
    }

    fn unanswered(&self) -> impl Iterator<Item = SecurityId> {
        self.subscriptions.iter().filter(|(_, asked)| asked.book.is_none()).map(|(security, _)| *security)
    }

    fn gap(&self, security: SecurityId, cause: StaleCause) -> MarketData {
        MarketData::Gap(PriceGap { security, feed: self.feed.clone(), cause })
    }

    /// The subscription ends and begins again, so that the next book begins with a snapshot.
    fn discard(&mut self, security: SecurityId, reason: String) -> FeedStep {
        let mut step = FeedStep {
            prices: vec![self.gap(security, StaleCause::MissedUpdates)],
            problem: Some(FeedProblem {
                security: Some(security),
                reason: format!("the order book begins again: {reason}"),
            }),
            ..FeedStep::default()
        };
        let Some(subscription) = self.subscriptions.get_mut(&security) else { return step };
        (subscription.book, subscription.best) = (None, None);
        subscription.restarts += 1;
        subscription.good_updates = 0;
        let (restarts, request, symbol) =
            (subscription.restarts, subscription.request.clone(), subscription.symbol.clone());
        step.requests.push(self.request(&request, &symbol, false));
        if restarts > RESTARTS_MAX {
            let reason = format!("the order book was discarded {RESTARTS_MAX} times and is given up: {reason}");
            step.problem = Some(FeedProblem { security: Some(security), reason });
            self.subscriptions.remove(&security);
            self.asked.remove(&request);
            return step;
        }
        step.requests.extend(self.ask_again(security));
        step
    }

    fn discard_all(&mut self, request: Option<&str>, reason: &str) -> FeedStep {
        let named = self.find(request, None);
        let securities: Vec<SecurityId> = match (named, request) {
            (Some(security), _) => vec![security],
            // Of an earlier request.
            (None, Some(_)) => Vec::new(),
            (None, None) => self.subscriptions.keys().copied().collect(),
        };
        self.discard_each(securities, reason)
    }

    /// Those that have begun.
    fn discard_books(&mut self, reason: &str) -> FeedStep {
        let begun = self.subscriptions.iter().filter(|(_, subscription)| subscription.book.is_some());
        let securities = begun.map(|(security, _)| *security).collect();
        self.discard_each(securities, reason)
    }

    fn discard_each(&mut self, securities: Vec<SecurityId>, reason: &str) -> FeedStep {
        let mut all = FeedStep::default();
        for security in securities {
            let step = self.discard(security, reason.to_owned());
            all.prices.extend(step.prices);
            all.requests.extend(step.requests);
            all.problem = all.problem.or(step.problem);
        }
        all
    }

    fn ask_again(&mut self, security: SecurityId) -> Option<OutgoingMessage> {
        self.asked.remove(&self.subscriptions.get(&security)?.request);
        let request = self.next_request(security);
        let subscription = self.subscriptions.get_mut(&security)?;
        (subscription.request, subscription.book, subscription.best) = (request.clone(), None, None);
        let symbol = subscription.symbol.clone();
        Some(self.request(&request, &symbol, true))
    }

    /// By the request, or by the symbol where the venue does not repeat the request.
    fn find(&self, request: Option<&str>, symbol: Option<&str>) -> Option<SecurityId> {
        if let Some(request) = request {
            let security = self.asked.get(request)?;
            let is_other = |symbol| self.subscriptions.get(security).is_none_or(|asked| asked.symbol != symbol);
            return Some(*security).filter(|_| !symbol.is_some_and(is_other));
        }
        let mut all = self.subscriptions.iter();
        all.find(|(_, asked)| symbol == Some(asked.symbol.as_str())).map(|(security, _)| *security)
    }

    fn next_request(&mut self, security: SecurityId) -> String {
        self.requests += 1;
        let request = format!("P{:x}-{}", self.begun_seconds, self.requests);
        self.asked.insert(request.clone(), security);
        request
    }

    fn request(&self, id: &str, symbol: &str, subscribes: bool) -> OutgoingMessage {
        let mut message = OutgoingMessage::new("V");
        message.field(262, id).field(263, if subscribes { "1" } else { "2" }).display(264, self.rules.depth);
        if subscribes {
            message.field(265, if self.rules.updates == BookUpdates::Full { "0" } else { "1" });
        }
        if let Some(is_aggregated) = self.rules.aggregated {
            message.field(266, if is_aggregated { "Y" } else { "N" });
        }
        let types: &[&str] = if self.rules.trades { &["0", "1", "2"] } else { &["0", "1"] };
        message.number(267, u64::try_from(types.len()).unwrap_or_default());
        for entry_type in types {
            message.member(269, entry_type);
        }
        message.number(146, 1).member(55, symbol);
        self.rules.fields.iter().for_each(|field| field.write(&mut message));
        message
    }
}

impl Subscription {
    /// A book that has been right for long may fail as often again.
    fn note_good_update(&mut self) {
        self.good_updates = self.good_updates.saturating_add(1);
        if self.good_updates >= GOOD_UPDATES {
            self.restarts = 0;
        }
    }

    fn remember_trade(&mut self, key: String) {
        if self.known_trades.len() >= KNOWN_TRADES_MAX {
            self.known_trades.pop_front();
        }
        self.known_trades.push_back(key);
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

/// What belongs to a book. A deletion by its id alone has no type.
fn levels_of(entries: &[MarketEntry]) -> Vec<&MarketEntry> {
    let is_level = |entry: &&MarketEntry| match entry.entry_type {
        Some(EntryType::Bid | EntryType::Offer) => true,
        Some(EntryType::Trade) => false,
        None => entry.is_untyped && entry.id.is_some(),
    };
    entries.iter().filter(is_level).collect()
}

/// Entries of one message, security by security; an entry without a symbol is of the security before it.
fn by_symbol(entries: Vec<MarketEntry>) -> Vec<(Option<String>, Vec<MarketEntry>)> {
    let mut symbols: Vec<(Option<String>, Vec<MarketEntry>)> = Vec::new();
    for entry in entries {
        let is_next = symbols.last().is_none_or(|(symbol, _)| entry.symbol.is_some() && entry.symbol != *symbol);
        if is_next {
            symbols.push((entry.symbol.clone(), Vec::new()));
        }
        if let Some((_, known)) = symbols.last_mut() {
            known.push(entry);
        }
    }
    symbols
}

/// A side without orders has no price.
fn tick(security: SecurityId, feed: &Text, [bid, ask]: BestPrices, at: Timestamp) -> Tick {
    Tick {
        feed: feed.clone(),
        at,
        bid: bid.map(|(price, _)| price),
        vol_bid: bid.map(|(_, quantity)| quantity),
        ask: ask.map(|(price, _)| price),
        vol_ask: ask.map(|(_, quantity)| quantity),
        ..Tick::empty(security)
    }
}
