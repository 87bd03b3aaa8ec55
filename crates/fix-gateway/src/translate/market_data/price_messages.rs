//! Market Data Snapshot (W), Incremental Refresh (X) and Request Reject (Y).

use domain::{SecurityId, StaleCause, Text, Timestamp, Trade};
use fix::tag::Tag;
use fix::{OutgoingMessage, UtcTimestamp};

use super::price_entries::{EntryChange, EntrySide, NewestTrade, PriceEntry};
use super::price_request::MarketDataRefusal;
use crate::translate::field;
use crate::translate::report::printable_text;

/// QuoteCondition (276): the price is live, or it may no longer be true.
const OPEN: &str = "A";
const CLOSED: &str = "B";
/// MDEntryType (269) of a trade.
const TRADE: &str = "2";
/// MDUpdateAction (279).
const NEW: &str = "0";
const CHANGE: &str = "1";
const DELETE: &str = "2";
/// Digits of a date: `20260105`.
const DATE_DIGITS: usize = 8;

/// A security as its prices name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PricedSecurity {
    pub(crate) id: SecurityId,
    pub(crate) symbol: Text,
}

/// All entries, with the time of the prices.
pub(crate) fn price_snapshot(
    request: &str,
    security: &PricedSecurity,
    (entries, at): (&[PriceEntry], Timestamp),
    last: Option<&NewestTrade>,
) -> OutgoingMessage {
    let mut snapshot = OutgoingMessage::new("W");
    snapshot.field(field::MD_REQ_ID, request);
    snapshot.number(field::SECURITY_ID, security.id.0).field(field::SYMBOL, &*security.symbol);
    snapshot.number(field::NO_MD_ENTRIES, (entries.len() + usize::from(last.is_some())) as u64);
    for entry in entries {
        snapshot.member(field::MD_ENTRY_TYPE, side_code(entry.side));
        write_prices(entry, at, &mut snapshot);
    }
    if let Some(last) = last {
        snapshot.member(field::MD_ENTRY_TYPE, TRADE);
        write_trade(last, &mut snapshot);
    }
    snapshot
}

/// What changed, and the trades since.
pub(crate) fn price_refresh(
    request: &str,
    security: &PricedSecurity,
    (changes, at): (&[EntryChange<'_>], Timestamp),
    trades: &[&Trade],
) -> OutgoingMessage {
    let mut refresh = OutgoingMessage::new("X");
    refresh.field(field::MD_REQ_ID, request);
    refresh.number(field::NO_MD_ENTRIES, (changes.len() + trades.len()) as u64);
    for change in changes {
        let (action, entry) = match change {
            EntryChange::New(entry) => (NEW, entry),
            EntryChange::Change(entry) => (CHANGE, entry),
            EntryChange::Delete(entry) => (DELETE, entry),
        };
        refresh.member(field::MD_UPDATE_ACTION, action).member(field::MD_ENTRY_TYPE, side_code(entry.side));
        write_security(security, &mut refresh);
        match action {
            DELETE => drop(refresh.member(field::MD_ENTRY_PX, entry.price.to_string())),
            _ => write_prices(entry, at, &mut refresh),
        }
    }
    for trade in trades {
        refresh.member(field::MD_UPDATE_ACTION, NEW).member(field::MD_ENTRY_TYPE, TRADE);
        if let Some(id) = &trade.ext_id {
            refresh.member(field::MD_ENTRY_ID, printable_text(id));
        }
        write_security(security, &mut refresh);
        write_trade(&NewestTrade { price: trade.price, size: Some(trade.quantity), at: trade.at }, &mut refresh);
    }
    refresh
}

/// Why a request has no prices.
pub(crate) fn market_data_refused(request: &str, refusal: &MarketDataRefusal) -> OutgoingMessage {
    let mut reject = OutgoingMessage::new("Y");
    reject.field(field::MD_REQ_ID, request);
    if let Some(reason) = refusal.reason {
        reject.field(field::MD_REQ_REJ_REASON, reason);
    }
    reject.field(field::TEXT, printable_text(&refusal.reject.display_text()));
    reject
}

fn side_code(side: EntrySide) -> &'static str {
    match side {
        EntrySide::Bid => "0",
        EntrySide::Offer => "1",
    }
}

fn write_security(security: &PricedSecurity, message: &mut OutgoingMessage) {
    message.member(field::SYMBOL, &*security.symbol).member(field::SECURITY_ID, security.id.0.to_string());
}

fn write_prices(entry: &PriceEntry, at: Timestamp, message: &mut OutgoingMessage) {
    message.member(field::MD_ENTRY_PX, entry.price.to_string());
    if let Some(size) = entry.size {
        message.member(field::MD_ENTRY_SIZE, size.to_string());
    }
    write_time(at, message);
    message.member(field::QUOTE_CONDITION, if entry.stale.is_some() { CLOSED } else { OPEN });
    if let Some(cause) = entry.stale {
        message.member(field::TEXT, stale_text(cause));
    }
}

fn write_trade(trade: &NewestTrade, message: &mut OutgoingMessage) {
    message.member(field::MD_ENTRY_PX, trade.price.to_string());
    if let Some(size) = trade.size {
        message.member(field::MD_ENTRY_SIZE, size.to_string());
    }
    write_time(trade.at, message);
}

/// `DISCONNECTED: the connection to the feed was lost`.
fn stale_text(cause: StaleCause) -> String {
    format!("{}: {}", cause.name(), cause.text())
}

/// MDEntryDate (272) and MDEntryTime (273).
fn write_time(at: Timestamp, message: &mut OutgoingMessage) {
    let mut text = Vec::new();
    UtcTimestamp::from_nanos(at.0).write(3, &mut text);
    let (date, time) = text.split_at(DATE_DIGITS.min(text.len()));
    let parts: [(Tag, &[u8]); 2] =
        [(field::MD_ENTRY_DATE, date), (field::MD_ENTRY_TIME, time.strip_prefix(b"-").unwrap_or(time))];
    for (tag, value) in parts {
        message.member(tag, value);
    }
}
