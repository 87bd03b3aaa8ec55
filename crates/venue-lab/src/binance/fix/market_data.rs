//! Market data: instruments (x, y), subscriptions (V, Y), snapshots (W) and changes (X).

use std::collections::{BTreeMap, BTreeSet};

use fix::{FixMessage, OutgoingMessage, tag};
use venue_sim::book::BookSide;

use super::BinanceFixState;
use super::link::time_text;
use super::reject::{ERROR_CODE, missing};
use crate::binance::api::error::ApiError;
use crate::book_view::{BookSnapshot, BookView, Level, LevelAction, LevelChange, compare};
use crate::exchange::{PublicTrade, SpotExchange, SymbolRules, VenueEvent};
use crate::publisher::VenueEvents;

/// Streams of a connection; one more is rejected.
const STREAMS_MAX: usize = 1_000;
const DEPTH_MAX: usize = 5_000;
const REQUEST_ID_LENGTH_MAX: usize = 36;
const SIDES: [BookSide; 2] = [BookSide::Buy, BookSide::Sell];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamKind {
    Trades,
    Ticker,
    /// With the levels of the snapshot.
    Depth(usize),
}

impl StreamKind {
    fn is_similar(self, other: Self) -> bool {
        self == other || matches!((self, other), (Self::Depth(_), Self::Depth(_)))
    }
}

/// A book that a client follows, and what it was told last.
#[derive(Debug)]
struct FollowedBook {
    view: BookView,
    sent: [Vec<Level>; 2],
    first_update: Option<u64>,
    last_update: u64,
}

#[derive(Debug)]
struct Subscription {
    kind: StreamKind,
    markets: BTreeMap<usize, String>,
    books: BTreeMap<usize, FollowedBook>,
}

/// What a connection has subscribed.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    open: BTreeMap<String, Subscription>,
}

/// A reject of a subscription: MDReqRejReason (281) where it has one, and the error.
type Refusal = (Option<&'static str>, ApiError);

impl Subscriptions {
    pub(super) fn markets(&self) -> BTreeSet<usize> {
        self.open.values().flat_map(|subscription| subscription.markets.keys().copied()).collect()
    }

    /// Subscribes or unsubscribes; the markets whose books are to be sent first.
    pub(super) fn handle(
        &mut self,
        state: &BinanceFixState,
        message: &FixMessage<'_>,
    ) -> Result<(String, Vec<usize>), Refusal> {
        let id = message.text(262).ok_or_else(|| (None, missing(262)))?.to_owned();
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.len() > REQUEST_ID_LENGTH_MAX || id.is_empty() || !id.bytes().all(is_legal) {
            return Err((None, ApiError::illegal("262", "^[a-zA-Z0-9-_]{1,36}$")));
        }
        match message.text(263) {
            Some("1") => self.subscribe(state, id, message),
            Some("2") if self.open.remove(&id).is_some() => Ok((id, Vec::new())),
            Some("2") => {
                let text =
                    "MDReqID (262) contains an unsubscription request id that does not match any active subscription.";
                Err((None, ApiError::bad_request(-1_190, text)))
            }
            Some(_) => Err((None, ApiError::invalid("263"))),
            None => Err((None, missing(263))),
        }
    }

    fn subscribe(
        &mut self,
        state: &BinanceFixState,
        id: String,
        message: &FixMessage<'_>,
    ) -> Result<(String, Vec<usize>), Refusal> {
        if self.open.contains_key(&id) {
            let text = "MDReqID (262) contains a subscription request id that is already in use on this connection.";
            return Err((Some("1"), ApiError::bad_request(-1_190, text)));
        }
        let kind = read_kind(message).map_err(|error| (None, error))?;
        let markets = read_markets(state, message).map_err(|error| (None, error))?;
        self.check_similar(kind, &markets)?;
        let awaited = if kind == StreamKind::Trades { Vec::new() } else { markets.keys().copied().collect() };
        self.open.insert(id.clone(), Subscription { kind, markets, books: BTreeMap::new() });
        Ok((id, awaited))
    }

    fn check_similar(&self, kind: StreamKind, markets: &BTreeMap<usize, String>) -> Result<(), Refusal> {
        let streams: usize = self.open.values().map(|subscription| subscription.markets.len()).sum();
        if streams + markets.len() > STREAMS_MAX {
            let text =
                format!("Too many subscriptions. Connection may create up to '{STREAMS_MAX}' subscriptions at a time.");
            return Err((Some("2"), ApiError::bad_request(-1_191, text)));
        }
        for (id, open) in self.open.iter().filter(|(_, open)| open.kind.is_similar(kind)) {
            let mut shared = markets.iter().filter(|(market, _)| open.markets.contains_key(market));
            if let Some((_, symbol)) = shared.next() {
                let text = format!(
                    "Similar subscription is already active on this connection. Symbol='{symbol}', active subscription id: \
                     '{id}'."
                );
                return Err((Some("2"), ApiError::bad_request(-1_191, text)));
            }
        }
        Ok(())
    }

    /// The snapshot (W) of a book; from then on its changes are told.
    pub(super) fn begin(&mut self, id: &str, snapshot: &BookSnapshot) -> Option<OutgoingMessage> {
        let subscription = self.open.get_mut(id)?;
        // Changes of levels beyond the snapshot are told too.
        let (depth, followed) = match subscription.kind {
            StreamKind::Trades => return None,
            StreamKind::Ticker => (1, 1),
            StreamKind::Depth(levels) => (levels, 0),
        };
        let shown = BookView::new(snapshot, depth);
        let view = BookView::new(snapshot, followed);
        let mut out = OutgoingMessage::new("W");
        out.field(262, id).field(55, &subscription.markets[&snapshot.market]).number(25_044, snapshot.update_id);
        let levels: Vec<(BookSide, Level)> =
            SIDES.iter().flat_map(|side| shown.shown(*side).into_iter().map(|level| (*side, level))).collect();
        out.number(268, levels.len() as u64);
        for (side, (price, quantity)) in levels {
            out.member(269, side_code(side)).member(270, price.to_string()).member(271, quantity.to_string());
        }
        let sent = SIDES.map(|side| view.shown(side));
        let book = FollowedBook { view, sent, first_update: None, last_update: snapshot.update_id };
        subscription.books.insert(snapshot.market, book);
        Some(out)
    }

    /// What is told at once: trades and best quotes. Changes of depth are collected.
    pub(super) fn on_events(&mut self, events: &VenueEvents) -> Vec<OutgoingMessage> {
        let mut messages = Vec::new();
        for (id, subscription) in &mut self.open {
            let kind = subscription.kind;
            if kind == StreamKind::Trades {
                messages.extend(trades(id, &subscription.markets, events));
            }
            for (market, book) in &mut subscription.books {
                book.follow(*market, events);
                if kind == StreamKind::Ticker {
                    messages.extend(book.changes(id, &subscription.markets[market], true));
                }
            }
        }
        messages
    }

    /// The collected changes of depth.
    pub(super) fn on_tick(&mut self) -> Vec<OutgoingMessage> {
        let mut messages = Vec::new();
        for (id, subscription) in &mut self.open {
            if !matches!(subscription.kind, StreamKind::Depth(_)) {
                continue;
            }
            for (market, book) in &mut subscription.books {
                messages.extend(book.changes(id, &subscription.markets[market], false));
            }
        }
        messages
    }
}

impl FollowedBook {
    fn follow(&mut self, market: usize, events: &VenueEvents) {
        for event in events.iter() {
            let VenueEvent::Depth { market: changed, first_update, last_update, .. } = event else { continue };
            if *changed == market && *last_update > self.last_update {
                self.first_update.get_or_insert(*first_update);
                self.last_update = *last_update;
                self.view.apply(event);
            }
        }
    }

    /// An Incremental Refresh (X) with what has changed since the last one.
    fn changes(&mut self, id: &str, symbol: &str, is_ticker: bool) -> Option<OutgoingMessage> {
        let first_update = self.first_update.take()?;
        let now = SIDES.map(|side| self.view.shown(side));
        let mut changes: Vec<LevelChange> = Vec::new();
        for ((side, before), after) in SIDES.into_iter().zip(&self.sent).zip(&now) {
            match is_ticker {
                true => changes.extend(best_change(side, before, after)),
                false => changes.extend(compare(side, before, after)),
            }
        }
        self.sent = now;
        if changes.is_empty() {
            return None;
        }
        let mut out = OutgoingMessage::new("X");
        out.field(262, id).number(268, changes.len() as u64);
        for change in changes {
            let action = match change.action {
                LevelAction::New => "0",
                LevelAction::Change => "1",
                LevelAction::Delete => "2",
            };
            out.member(279, action).member(270, change.price.to_string());
            if change.action != LevelAction::Delete {
                out.member(271, change.quantity.to_string());
            }
            out.member(269, side_code(change.side)).member(55, symbol);
            if !is_ticker {
                out.member(25_043, first_update.to_string());
            }
            out.member(25_044, self.last_update.to_string());
        }
        Some(out)
    }
}

/// A best quote replaces the one before.
fn best_change(side: BookSide, before: &[Level], after: &[Level]) -> Option<LevelChange> {
    let change = |action, (price, quantity): Level| LevelChange { action, side, price, quantity };
    match (before.first(), after.first()) {
        (Some(was), Some(is)) if was == is => None,
        (Some(_), Some(is)) => Some(change(LevelAction::Change, *is)),
        (None, Some(is)) => Some(change(LevelAction::New, *is)),
        (Some(was), None) => Some(change(LevelAction::Delete, *was)),
        (None, None) => None,
    }
}

fn side_code(side: BookSide) -> &'static str {
    match side {
        BookSide::Buy => "0",
        BookSide::Sell => "1",
    }
}

fn trades(id: &str, markets: &BTreeMap<usize, String>, events: &VenueEvents) -> Option<OutgoingMessage> {
    let wanted = |event: &VenueEvent| match event {
        VenueEvent::Trade { market, trade } => markets.get(market).map(|symbol| (symbol.clone(), *trade)),
        _ => None,
    };
    let trades: Vec<(String, PublicTrade)> = events.iter().filter_map(wanted).collect();
    if trades.is_empty() {
        return None;
    }
    let mut out = OutgoingMessage::new("X");
    out.field(262, id).number(268, trades.len() as u64);
    for (symbol, trade) in trades {
        out.member(279, "0").member(270, trade.price.to_string()).member(271, trade.quantity.to_string());
        out.member(269, "2").member(55, symbol).member(60, time_text(trade.time_micros));
        out.member(1_003, trade.id.to_string()).member(2_446, if trade.buyer_is_maker { "2" } else { "1" });
    }
    Some(out)
}

fn read_kind(message: &FixMessage<'_>) -> Result<StreamKind, ApiError> {
    let entries: BTreeSet<&[u8]> = message.fields().filter(|field| field.tag == 269).map(|field| field.value).collect();
    let depth = message.number(264).and_then(|depth| usize::try_from(depth).ok());
    if entries == BTreeSet::from([b"2".as_slice()]) {
        return Ok(StreamKind::Trades);
    }
    if entries != BTreeSet::from([b"0".as_slice(), b"1".as_slice()]) {
        return Err(if entries.is_empty() { missing(269) } else { ApiError::invalid("269") });
    }
    match depth {
        None => Err(missing(264)),
        Some(1) => Ok(StreamKind::Ticker),
        Some(levels) if (2..=DEPTH_MAX).contains(&levels) => Ok(StreamKind::Depth(levels)),
        Some(_) => Err(ApiError::invalid("264")),
    }
}

fn read_markets(state: &BinanceFixState, message: &FixMessage<'_>) -> Result<BTreeMap<usize, String>, ApiError> {
    let mut markets = BTreeMap::new();
    for field in message.fields().filter(|field| field.tag == 55) {
        let symbol = String::from_utf8_lossy(field.value).into_owned();
        let market = state.markets.get(&symbol);
        markets.insert(*market.ok_or_else(|| ApiError::bad_request(-1_121, "Invalid symbol."))?, symbol);
    }
    if markets.is_empty() { Err(missing(55)) } else { Ok(markets) }
}

/// A Market Data Request Reject (Y).
pub(super) fn rejected(message: &FixMessage<'_>, (reason, error): Refusal) -> OutgoingMessage {
    let mut out = OutgoingMessage::new("Y");
    out.field(262, message.get(262).unwrap_or_default());
    if let Some(reason) = reason {
        out.field(281, reason);
    }
    out.display(ERROR_CODE, error.code).field(tag::TEXT, error.text);
    out
}

/// The symbol that an Instrument List Request (x) asks for; none for all.
pub(super) fn wanted_symbol(message: &FixMessage<'_>) -> Result<Option<String>, ApiError> {
    message.get(320).ok_or_else(|| missing(320))?;
    match (message.text(559), message.text(55)) {
        (Some("4"), _) => Ok(None),
        (Some("0"), Some(symbol)) => Ok(Some(symbol.to_owned())),
        (Some("0"), None) => Err(missing(55)),
        (Some(_), _) => Err(ApiError::invalid("559")),
        (None, _) => Err(missing(559)),
    }
}

pub(super) fn find_rules(exchange: &SpotExchange, wanted: Option<&str>) -> Result<Vec<SymbolRules>, ApiError> {
    let rules = exchange.markets.iter().map(|market| &market.rules);
    let found: Vec<_> = rules.filter(|rules| wanted.is_none_or(|symbol| symbol == rules.name)).cloned().collect();
    if found.is_empty() { Err(ApiError::bad_request(-1_121, "Invalid symbol.")) } else { Ok(found) }
}

/// An Instrument List (y).
pub(super) fn instruments(id: &[u8], found: &[SymbolRules]) -> OutgoingMessage {
    let mut out = OutgoingMessage::new("y");
    out.field(320, id).number(146, found.len() as u64);
    for rules in found {
        out.member(55, &rules.name).member(15, &rules.quote);
        out.member(562, rules.quantity_min.to_string()).member(1_140, rules.quantity_max.to_string());
        out.member(25_039, rules.order_step.to_string()).member(25_040, rules.quantity_min.to_string());
        out.member(25_041, rules.quantity_max.to_string()).member(25_042, rules.order_step.to_string());
        out.member(2_551, rules.price_min.to_string()).member(2_552, rules.price_max.to_string());
        out.member(969, rules.order_tick.to_string());
    }
    out
}
