//! Market data: requests (V), snapshots (W), changes (X) and rejects (Y).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fix::{FixMessage, OutgoingMessage};
use venue_sim::book::BookSide;

use super::inbox::SessionInput;
use super::reports::{FRACTION_DIGITS, timestamp};
use super::scope::SessionScope;
use super::tags;
use crate::book_view::{BookSnapshot, BookView, Level, LevelAction, LevelChange};
use crate::exchange::{PublicTrade, VenueEvent};
use crate::publisher::VenueEvents;
use crate::sequencer::Unavailable;

/// Subscriptions of a session; one more is rejected.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 100;
/// MDReqRejReason (281).
const UNKNOWN_SYMBOL: &str = "0";
const DUPLICATE_ID: &str = "1";
const NOT_PERMITTED: &str = "3";
const UNSUPPORTED_TYPE: &str = "4";
const UNSUPPORTED_DEPTH: &str = "5";
const UNSUPPORTED_UPDATES: &str = "6";
const UNSUPPORTED_ENTRY: &str = "8";
/// MDEntryType (269).
const BID: &str = "0";
const OFFER: &str = "1";
const TRADE: &str = "2";

/// A request as it was read.
#[derive(Debug)]
struct DataRequest {
    id: Vec<u8>,
    goes_on: bool,
    depth: usize,
    is_incremental: bool,
    entries: BTreeSet<&'static str>,
    markets: BTreeMap<usize, String>,
}

/// A market of a request: its book, once the snapshot has come.
type Books = BTreeMap<usize, Option<BookView>>;

/// What a session has asked for.
#[derive(Debug, Default)]
pub(crate) struct MarketDataRequests {
    open: BTreeMap<Vec<u8>, (DataRequest, Books)>,
}

/// Why a request is rejected.
type Refusal = (&'static str, String);

impl MarketDataRequests {
    /// The markets that anything is subscribed of.
    pub(crate) fn markets(&self) -> BTreeSet<usize> {
        self.open.values().flat_map(|(request, _)| request.markets.keys().copied()).collect()
    }

    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }

    /// Reads a request and notes it; its books are still to be asked for by [`ask_books`].
    pub(crate) fn accept(&mut self, scope: &SessionScope, message: &FixMessage<'_>) -> Option<OutgoingMessage> {
        let id = message.get(tags::MD_REQ_ID).unwrap_or_default().to_vec();
        if message.get(tags::SUBSCRIPTION_REQUEST_TYPE) == Some(b"2") {
            let is_known = self.open.remove(&id).is_some();
            return (!is_known).then(|| rejected(&id, UNSUPPORTED_TYPE, "MDReqID (262): nothing is subscribed by it"));
        }
        let read = self.check(&id).and_then(|()| read(scope, id.clone(), message));
        match read {
            Ok(request) => {
                let books = request.markets.keys().map(|market| (*market, None)).collect();
                self.open.insert(id, (request, books));
                None
            }
            Err((reason, text)) => Some(rejected(&id, reason, &text)),
        }
    }

    fn check(&self, id: &[u8]) -> Result<(), Refusal> {
        if self.open.contains_key(id) {
            return Err((DUPLICATE_ID, "MDReqID (262): is in use".to_owned()));
        }
        if self.open.len() >= SUBSCRIPTIONS_MAX {
            return Err((NOT_PERMITTED, format!("this session has {SUBSCRIPTIONS_MAX} subscriptions")));
        }
        Ok(())
    }

    /// The markets of a request whose books are still to be asked for.
    pub(crate) fn awaited(&self, id: &[u8]) -> Vec<usize> {
        let books = self.open.get(id).map(|(_, books)| books);
        books.into_iter().flatten().filter(|(_, view)| view.is_none()).map(|(market, _)| *market).collect()
    }

    /// The first message about a book; a request for no more than that is done.
    pub(crate) fn begin(&mut self, snapshot: &BookSnapshot) -> Option<OutgoingMessage> {
        let (request, books) = self.open.get_mut(&snapshot.request)?;
        let view = BookView::new(snapshot, request.depth);
        let trade = (snapshot.last, snapshot.time_micros, snapshot.trade_id);
        let message = full(request, snapshot.market, &view, &[trade]);
        if request.goes_on {
            books.insert(snapshot.market, Some(view));
        } else {
            books.remove(&snapshot.market);
            request.markets.remove(&snapshot.market);
        }
        if request.markets.is_empty() {
            self.open.remove(&snapshot.request);
        }
        Some(message)
    }

    /// What the events of a command change of what is subscribed.
    pub(crate) fn on_events(&mut self, events: &VenueEvents) -> Vec<OutgoingMessage> {
        let mut messages = Vec::new();
        for (request, books) in self.open.values_mut() {
            for (market, view) in books {
                // What happened before the snapshot is in it.
                if let Some(view) = view {
                    messages.extend(changed(request, *market, view, events));
                }
            }
        }
        messages
    }
}

/// Asks for the books of a request that was accepted.
pub(crate) fn ask_books(scope: &Arc<SessionScope>, id: &[u8], markets: Vec<usize>) -> Result<(), Unavailable> {
    for market in markets {
        let (id, inbox) = (id.to_vec(), scope.inbox.clone());
        scope.exchange.query_then(
            move |exchange| BookSnapshot::take(exchange, id, market),
            move |snapshot| inbox.push(SessionInput::Snapshot(Box::new(snapshot))),
        )?;
    }
    Ok(())
}

fn read(scope: &SessionScope, id: Vec<u8>, message: &FixMessage<'_>) -> Result<DataRequest, Refusal> {
    let goes_on = match message.text(tags::SUBSCRIPTION_REQUEST_TYPE) {
        Some("0") => false,
        Some("1") => true,
        _ => return Err((UNSUPPORTED_TYPE, "SubscriptionRequestType (263): not 0, 1 or 2".to_owned())),
    };
    let depth = message.text(tags::MARKET_DEPTH).and_then(|depth| depth.parse().ok());
    let depth = depth.ok_or((UNSUPPORTED_DEPTH, "MarketDepth (264): not a number of levels".to_owned()))?;
    let is_incremental = match message.text(tags::MD_UPDATE_TYPE) {
        Some("1") => true,
        Some("0") => false,
        None if !goes_on => false,
        _ => return Err((UNSUPPORTED_UPDATES, "MDUpdateType (265): not 0 or 1".to_owned())),
    };
    let values = |tag| message.fields().filter(move |field| field.tag == tag).map(|field| field.value);
    let mut entries = BTreeSet::new();
    for value in values(tags::MD_ENTRY_TYPE) {
        let known = [BID, OFFER, TRADE].into_iter().find(|known| known.as_bytes() == value);
        entries.insert(known.ok_or((UNSUPPORTED_ENTRY, "MDEntryType (269): not 0, 1 or 2".to_owned()))?);
    }
    let mut markets = BTreeMap::new();
    for value in values(tags::SYMBOL) {
        let symbol = String::from_utf8_lossy(value).into_owned();
        let market = scope.markets.get(&symbol);
        markets.insert(*market.ok_or((UNKNOWN_SYMBOL, format!("Symbol (55): there is no {symbol}")))?, symbol);
    }
    Ok(DataRequest { id, goes_on, depth, is_incremental, entries, markets })
}

fn rejected(id: &[u8], reason: &str, text: &str) -> OutgoingMessage {
    let mut out = OutgoingMessage::new("Y");
    out.field(tags::MD_REQ_ID, id).field(tags::MD_REQ_REJ_REASON, reason).field(tags::TEXT, text);
    out
}

/// Price and quantity, time and id.
type PrintedTrade = (Level, i64, u64);

fn trades_of(events: &VenueEvents, market: usize) -> Vec<PrintedTrade> {
    let printed = |trade: &PublicTrade| ((trade.price, trade.quantity), trade.time_micros, trade.id);
    let of_market = events.iter().filter_map(|event| match event {
        VenueEvent::Trade { market: traded, trade } if *traded == market => Some(printed(trade)),
        _ => None,
    });
    of_market.collect()
}

fn changed(request: &DataRequest, market: usize, view: &mut BookView, events: &VenueEvents) -> Option<OutgoingMessage> {
    let of_market =
        events.iter().filter(|event| matches!(event, VenueEvent::Depth { market: touched, .. } if *touched == market));
    let mut changes: Vec<LevelChange> = of_market.flat_map(|event| view.apply(event)).collect();
    changes.retain(|change| request.entries.contains(side_code(change.side)));
    let mut trades = trades_of(events, market);
    if !request.entries.contains(TRADE) {
        trades.clear();
    }
    if changes.is_empty() && trades.is_empty() {
        return None;
    }
    Some(if request.is_incremental {
        increments(request, market, &changes, &trades)
    } else {
        full(request, market, view, &trades)
    })
}

fn side_code(side: BookSide) -> &'static str {
    match side {
        BookSide::Buy => BID,
        BookSide::Sell => OFFER,
    }
}

/// A Snapshot/Full Refresh (W).
fn full(request: &DataRequest, market: usize, view: &BookView, trades: &[PrintedTrade]) -> OutgoingMessage {
    let mut out = OutgoingMessage::new("W");
    out.field(tags::MD_REQ_ID, &request.id).field(tags::SYMBOL, &request.markets[&market]);
    let sides = [BookSide::Buy, BookSide::Sell].into_iter().filter(|side| request.entries.contains(side_code(*side)));
    let levels: Vec<(BookSide, Level)> =
        sides.flat_map(|side| view.shown(side).into_iter().map(move |level| (side, level))).collect();
    let trades = if request.entries.contains(TRADE) { trades } else { &[] };
    out.number(tags::NO_MD_ENTRIES, (levels.len() + trades.len()) as u64);
    for (side, (price, quantity)) in levels {
        out.member(tags::MD_ENTRY_TYPE, side_code(side)).member(tags::MD_ENTRY_PX, price.to_string());
        out.member(tags::MD_ENTRY_SIZE, quantity.to_string());
    }
    for ((price, quantity), time_micros, _) in trades {
        out.member(tags::MD_ENTRY_TYPE, TRADE).member(tags::MD_ENTRY_PX, price.to_string());
        out.member(tags::MD_ENTRY_SIZE, quantity.to_string());
        add_time(&mut out, *time_micros);
    }
    out
}

/// An Incremental Refresh (X).
fn increments(
    request: &DataRequest,
    market: usize,
    changes: &[LevelChange],
    trades: &[PrintedTrade],
) -> OutgoingMessage {
    let symbol = &request.markets[&market];
    let mut out = OutgoingMessage::new("X");
    out.field(tags::MD_REQ_ID, &request.id).number(tags::NO_MD_ENTRIES, (changes.len() + trades.len()) as u64);
    for change in changes {
        let action = match change.action {
            LevelAction::New => "0",
            LevelAction::Change => "1",
            LevelAction::Delete => "2",
        };
        out.member(tags::MD_UPDATE_ACTION, action).member(tags::MD_ENTRY_TYPE, side_code(change.side));
        out.member(tags::SYMBOL, symbol).member(tags::MD_ENTRY_PX, change.price.to_string());
        out.member(tags::MD_ENTRY_SIZE, change.quantity.to_string());
    }
    for ((price, quantity), time_micros, id) in trades {
        out.member(tags::MD_UPDATE_ACTION, "0").member(tags::MD_ENTRY_TYPE, TRADE);
        out.member(tags::MD_ENTRY_ID, id.to_string()).member(tags::SYMBOL, symbol);
        out.member(tags::MD_ENTRY_PX, price.to_string()).member(tags::MD_ENTRY_SIZE, quantity.to_string());
        add_time(&mut out, *time_micros);
    }
    out
}

fn add_time(out: &mut OutgoingMessage, micros: i64) {
    let mut written = Vec::new();
    timestamp(micros).write(FRACTION_DIGITS, &mut written);
    let text = String::from_utf8_lossy(&written);
    if let Some((date, time)) = text.split_once('-') {
        out.member(tags::MD_ENTRY_DATE, date).member(tags::MD_ENTRY_TIME, time);
    }
}
