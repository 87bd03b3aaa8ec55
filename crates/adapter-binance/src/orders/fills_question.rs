//! A question for the fills of one symbol from a cursor on: the venue's trades, then each order among them whose owner is not
//! known. The cursor is the id of the trade that comes next.

use std::collections::{BTreeSet, VecDeque};

use domain::report::{FillsPage, VenueFill};
use domain::{Currency, SecurityId, Text, Timestamp};
use serde::Deserialize;

use crate::first_log_on::FirstLogOn;
use crate::orders::executions::BinanceFill;
use crate::orders::external_orders::{ExternalKey, ExternalOrders};
use crate::orders::leg_owners::{LegOwner, LegOwners};
use crate::orders::order_picture::{own_id, venue_fill};
use crate::protocol::answers::account_answers::BinanceTrade;
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::answers::{CallAnswer, CallError};
use crate::protocol::requests::{BinanceRequest, OrderReference, TRADES_PAGE_MAX, TradesFrom};
use crate::protocol::wire_values::WireInteger;

/// Orders that are asked about for one page; the page ends before the next one.
pub const UNKNOWN_ORDERS_MAX: usize = 20;
/// Without a cursor the list begins so far back, within the day that the venue lists at once.
const FIRST_LIST_SECONDS: i64 = 23 * 3_600;

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillsStep {
    Ask(BinanceRequest),
    Done,
    /// No list; it is asked for again.
    Fail(String),
}

/// One question under way.
#[derive(Debug)]
pub struct FillsQuestion {
    security: SecurityId,
    symbol: String,
    from: Option<Text>,
    as_of: Timestamp,
    /// Absent until the trades came.
    page: Option<TradesPage>,
    unknown: VecDeque<WireInteger>,
}

#[derive(Debug)]
struct TradesPage {
    trades: Vec<BinanceTrade>,
    is_last: bool,
}

/// What the adapter remembers of orders.
pub struct OrderMemory<'a> {
    pub instance: u64,
    pub owners: &'a mut LegOwners,
    pub external: &'a mut ExternalOrders,
    pub first_log_on: &'a FirstLogOn,
}

impl FillsQuestion {
    /// With its first request; `None` where the cursor is none of ours.
    pub fn start(
        security: SecurityId,
        symbol: &str,
        cursor: Option<&Text>,
        as_of: Timestamp,
        first_log_on: &FirstLogOn,
    ) -> Option<(Self, BinanceRequest)> {
        let from = match cursor {
            Some(cursor) => TradesFrom::Id(cursor.parse().ok().filter(|id| *id >= 0)?),
            None => TradesFrom::Time(first_instant(as_of, first_log_on)),
        };
        let question = Self {
            security,
            symbol: symbol.to_owned(),
            from: cursor.cloned(),
            as_of,
            page: None,
            unknown: VecDeque::new(),
        };
        Some((question, BinanceRequest::my_trades(symbol, from)))
    }

    pub fn on_answer(&mut self, answer: &CallAnswer, memory: &mut OrderMemory<'_>) -> FillsStep {
        let read = match self.page {
            None => self.on_trades(answer, memory),
            Some(_) => self.on_order(answer, memory),
        };
        match (read, self.unknown.front()) {
            (Err(reason), _) => FillsStep::Fail(reason),
            (Ok(()), None) => FillsStep::Done,
            (Ok(()), Some(id)) => {
                FillsStep::Ask(BinanceRequest::order_status(&self.symbol, &OrderReference::Venue(id.0)))
            }
        }
    }

    fn on_trades(&mut self, answer: &CallAnswer, memory: &OrderMemory<'_>) -> Result<(), String> {
        let mut trades: Vec<BinanceTrade> = read(answer)?;
        if let Some(other) = trades.iter().find(|trade| trade.symbol != self.symbol) {
            return Err(format!("a trade of {} is in the list of {}", other.symbol, self.symbol));
        }
        trades.sort_by_key(|trade| trade.id);
        let mut is_last = i64::try_from(trades.len()).is_ok_and(|count| count < TRADES_PAGE_MAX);
        let mut unknown = BTreeSet::new();
        let is_known = |trade: &BinanceTrade| {
            let is_told = match memory.owners.owner_at(&self.symbol, trade.order_id, trade.time) {
                Some(LegOwner::Own(_)) => true,
                // One that was never told, or was forgotten, has no picture that the trade could complete.
                Some(LegOwner::External) => memory.external.contains(&(self.symbol.clone(), trade.order_id.0)),
                None => false,
            };
            is_told || memory.first_log_on.is_after(trade.time)
        };
        for place in 0..trades.len() {
            if is_known(&trades[place]) || unknown.contains(&trades[place].order_id) {
                continue;
            }
            if unknown.len() == UNKNOWN_ORDERS_MAX {
                is_last = false;
                trades.truncate(place);
                break;
            }
            unknown.insert(trades[place].order_id);
        }
        self.unknown = unknown.into_iter().collect();
        self.page = Some(TradesPage { trades, is_last });
        Ok(())
    }

    fn on_order(&mut self, answer: &CallAnswer, memory: &mut OrderMemory<'_>) -> Result<(), String> {
        let order: BinanceOrder = read(answer)?;
        let asked = self.unknown.pop_front();
        if order.symbol != self.symbol || Some(order.order_id) != asked {
            return Err(format!("the venue was asked about order {asked:?} and shows {:?}", order.order_id));
        }
        note_owner(memory, &order);
        if own_id(memory.instance, &order.client_id).is_none() {
            memory.external.on_order(order);
        }
        Ok(())
    }

    /// The page, and the orders placed elsewhere that are in it.
    pub fn finish(self, memory: &mut OrderMemory<'_>, quote: Currency) -> (FillsPage, BTreeSet<ExternalKey>) {
        let (trades, is_last) = self.page.map(|page| (page.trades, page.is_last)).unwrap_or_default();
        let next_cursor = trades.last().map(|trade| Text::from((trade.id.0 + 1).to_string())).or(self.from.clone());
        let (mut fills, mut elsewhere) = (Vec::new(), BTreeSet::new());
        for trade in trades {
            match memory.owners.owner_at(&self.symbol, trade.order_id, trade.time) {
                Some(LegOwner::Own(order)) => {
                    fills.extend(BinanceFill::of_trade(&trade).map(|fill| venue_fill(order, &fill, quote)));
                }
                Some(LegOwner::External) => {
                    let key = (self.symbol.clone(), trade.order_id.0);
                    memory.external.on_trades(&key, [trade]);
                    elsewhere.insert(key);
                }
                None if memory.first_log_on.is_after(trade.time) => {}
                None => tracing::error!(
                    symbol = self.symbol,
                    trade = trade.id.0,
                    order = trade.order_id.0,
                    "a trade is older than the order that has its id; it is not told"
                ),
            }
        }
        let page = page_of(self.security, self.from, fills, next_cursor, is_last, self.as_of);
        (page, elsewhere)
    }
}

fn page_of(
    security: SecurityId,
    from: Option<Text>,
    fills: Vec<VenueFill>,
    next_cursor: Option<Text>,
    last: bool,
    as_of: Timestamp,
) -> FillsPage {
    FillsPage { security: Some(security), from, fills, next_cursor, last, as_of }
}

/// Remembers whose an order is that the venue shows.
pub fn note_owner(memory: &mut OrderMemory<'_>, order: &BinanceOrder) {
    let owner = own_id(memory.instance, &order.client_id).map_or(LegOwner::External, |id| LegOwner::Own(id.order));
    // An order without its time of creation owns its id from the beginning.
    memory.owners.add(&order.symbol, order.order_id, order.created.unwrap_or_default(), owner);
}

fn first_instant(as_of: Timestamp, first_log_on: &FirstLogOn) -> Timestamp {
    let day = as_of.plus_seconds(-FIRST_LIST_SECONDS);
    first_log_on.at().and_then(WireInteger::instant).map_or(day, |first| first.max(day))
}

fn read<T: for<'de> Deserialize<'de>>(answer: &CallAnswer) -> Result<T, String> {
    let result = answer.outcome.as_ref().map_err(CallError::describe)?;
    T::deserialize(result).map_err(|reason| reason.to_string())
}
