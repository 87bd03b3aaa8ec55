//! Orders of the account that were placed elsewhere, as far as events and lists have shown them.
//!
//! Each is told with its whole picture, and only where the trades add up to what the venue counts as filled. Events have
//! enough for that as long as none is lost; otherwise the venue is asked.

use std::collections::BTreeMap;

use domain::report::{ExternalFill, ExternalOrder, VenueOrderState};
use domain::{AccountId, Currency, OrderId, Price, Quantity, SecurityId, Text};

use crate::orders::executions::state_of;
use crate::orders::order_mapping::{ShownTerms, side_of, terms_of};
use crate::orders::order_picture::{PictureGap, fills_of, kept_quantity, venue_fill};
use crate::protocol::answers::account_answers::BinanceTrade;
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::user_events::ExecutionEvent;
use crate::protocol::venue_enums::{BinanceExecutionType, BinanceOrderStatus, BinanceSide};
use crate::protocol::wire_values::WireInteger;

/// Orders that are remembered; beyond it one that has ended is forgotten.
pub const EXTERNAL_ORDERS_MAX: usize = 10_000;

/// Symbol and the venue's id, which is unique within the symbol.
pub type ExternalKey = (String, i64);

#[derive(Debug, Default)]
pub struct ExternalOrders {
    known: BTreeMap<ExternalKey, KnownExternal>,
}

#[derive(Debug)]
struct KnownExternal {
    order: BinanceOrder,
    trades: BTreeMap<i64, BinanceTrade>,
    told: Option<ExternalOrder>,
}

/// For whom and in what it trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExternalScope {
    pub account: AccountId,
    pub security: SecurityId,
    pub quote: Currency,
}

/// Unique at the venue, as the engine wants it.
pub fn external_id((symbol, order_id): &ExternalKey) -> Text {
    format!("{symbol}:{order_id}").into()
}

/// The venue's number of an order that was placed elsewhere.
pub fn external_number(ext_id: &str) -> Option<i64> {
    ext_id.rsplit_once(':')?.1.parse().ok()
}

impl ExternalOrders {
    pub fn on_event(&mut self, event: &ExecutionEvent) -> ExternalKey {
        let key = self.on_order(order_of(event));
        if let Some(trade) = trade_of(event) {
            self.on_trades(&key, [trade]);
        }
        key
    }

    /// Of an event, a list or an answer. What is older than what is known changes nothing.
    pub fn on_order(&mut self, order: BinanceOrder) -> ExternalKey {
        let key = (order.symbol.clone(), order.order_id.0);
        match self.known.get_mut(&key) {
            Some(known) if known.is_other(&order) => *known = KnownExternal::new(order),
            Some(known) if known.is_outdated_by(&order) => known.order = order,
            Some(_) => {}
            None => {
                self.make_room();
                self.known.insert(key.clone(), KnownExternal::new(order));
            }
        }
        key
    }

    /// Trades of an order that is known.
    pub fn on_trades(&mut self, key: &ExternalKey, trades: impl IntoIterator<Item = BinanceTrade>) {
        if let Some(known) = self.known.get_mut(key) {
            known.trades.extend(trades.into_iter().map(|trade| (trade.id.0, trade)));
        }
    }

    /// The whole picture, where it is not as it was told; it counts as told from now on.
    pub fn untold(&mut self, key: &ExternalKey, scope: ExternalScope) -> Result<Option<ExternalOrder>, PictureGap> {
        let told = self.known.get(key).and_then(|known| known.told.clone());
        let seen = self.shown(key, scope)?;
        Ok(Some(seen).filter(|seen| told.as_ref() != Some(seen)))
    }

    /// The whole picture, whether it was told or not; it counts as told from now on.
    pub fn shown(&mut self, key: &ExternalKey, scope: ExternalScope) -> Result<ExternalOrder, PictureGap> {
        let known = self.known.get_mut(key).ok_or(PictureGap::Empty)?;
        let seen = known.picture(key, scope)?;
        known.told = Some(seen.clone());
        Ok(seen)
    }

    /// Whether trades of it are missing.
    pub fn is_incomplete(&self, key: &ExternalKey) -> bool {
        self.known.get(key).is_some_and(|known| !known.is_whole())
    }

    /// Those of which trades are missing.
    pub fn incomplete(&self) -> Vec<ExternalKey> {
        self.known.iter().filter(|(_, known)| !known.is_whole()).map(|(key, _)| key.clone()).collect()
    }

    pub fn contains(&self, key: &ExternalKey) -> bool {
        self.known.contains_key(key)
    }

    /// Whether an order of this client id is known, and filled in part at least where that is asked.
    pub fn has(&self, client_id: &str, is_filled: bool) -> bool {
        let is_it = |known: &KnownExternal| {
            known.order.client_id == client_id && (!is_filled || !known.order.filled.0.is_zero())
        };
        self.known.values().any(is_it)
    }

    fn make_room(&mut self) {
        if self.known.len() < EXTERNAL_ORDERS_MAX {
            return;
        }
        let ended = self.known.iter().find(|(_, known)| has_ended(&known.order.status)).map(|(key, _)| key.clone());
        if let Some(key) = ended {
            self.known.remove(&key);
        }
    }
}

impl KnownExternal {
    fn new(order: BinanceOrder) -> Self {
        Self { order, trades: BTreeMap::new(), told: None }
    }

    /// The venue has issued the id again.
    fn is_other(&self, order: &BinanceOrder) -> bool {
        let is_later = self.order.created.zip(order.created).is_some_and(|(known, shown)| shown > known);
        is_later && order.client_id != self.order.client_id
    }

    /// An end is final and fills only grow, whatever order the messages come in. An unknown status says nothing.
    fn is_outdated_by(&self, order: &BinanceOrder) -> bool {
        let rank = |order: &BinanceOrder| (has_ended(&order.status), order.filled.0, order.updated);
        let is_known = state_of(&order.status).is_some() || state_of(&self.order.status).is_none();
        is_known && rank(order) >= rank(&self.order)
    }

    fn is_whole(&self) -> bool {
        fills_of(&self.order, &self.all_trades()).is_ok()
    }

    fn all_trades(&self) -> Vec<BinanceTrade> {
        self.trades.values().cloned().collect()
    }

    fn picture(&self, key: &ExternalKey, scope: ExternalScope) -> Result<ExternalOrder, PictureGap> {
        let order = &self.order;
        let fills = fills_of(order, &self.all_trades())?;
        let unclear = || PictureGap::Unclear { order_id: order.order_id.0 };
        let terms = terms_of(&ShownTerms {
            kind: &order.kind,
            tif: &order.tif,
            quantity: quantity_of(order).ok_or_else(unclear)?,
            price: Price(order.price.0),
            stop_price: order.stop_price.map(|price| Price(price.0)).filter(|price| price.is_positive()),
            // A mark in another program's id is none of ours.
            marked: None,
        });
        let state = state_of(&order.status).ok_or_else(unclear)?;
        let is_expired = state == VenueOrderState::Expired;
        Ok(ExternalOrder {
            ext_id: external_id(key),
            client_id: Some(order.client_id.as_str().into()),
            account: scope.account,
            security: scope.security,
            side: side_of(&order.side).ok_or_else(unclear)?,
            terms: terms.ok_or_else(unclear)?,
            state,
            fills: fills.iter().map(|fill| external_fill(&venue_fill(OrderId(0), fill, scope.quote))).collect(),
            reason: order.expiry_reason.as_deref().filter(|_| is_expired).map(Text::from),
        })
    }
}

/// A market order for an amount of the quote asset has the quantity that it traded.
fn quantity_of(order: &BinanceOrder) -> Option<Quantity> {
    let kept = kept_quantity(order.quantity, order.prevented, &order.status);
    [kept, Quantity(order.filled.0)].into_iter().find(|quantity| quantity.is_positive())
}

fn has_ended(status: &BinanceOrderStatus) -> bool {
    *status == BinanceOrderStatus::Filled || state_of(status).is_some_and(|state| state != VenueOrderState::Live)
}

fn external_fill(fill: &domain::report::VenueFill) -> ExternalFill {
    ExternalFill {
        exec_id: fill.exec_id.clone(),
        quantity: fill.quantity,
        price: fill.price,
        at: fill.at,
        fee: fill.fee,
        charges: fill.charges.clone(),
        liquidity: fill.liquidity,
    }
}

/// What an event shows of its order, as a list would.
fn order_of(event: &ExecutionEvent) -> BinanceOrder {
    BinanceOrder {
        symbol: event.symbol.clone(),
        order_id: event.order_id,
        client_id: event.order_client_id().to_owned(),
        price: event.price,
        quantity: event.quantity,
        filled: event.filled,
        status: event.status.clone(),
        tif: event.tif.clone(),
        kind: event.kind.clone(),
        side: event.side.clone(),
        stop_price: Some(event.stop_price),
        iceberg: Some(event.iceberg),
        quote_quantity: event.quote_quantity,
        created: event.created,
        updated: Some(event.at),
        expiry_reason: event.expiry_reason.clone(),
        prevented: event.prevented,
    }
}

/// The trade of an event, as a list would have it.
fn trade_of(event: &ExecutionEvent) -> Option<BinanceTrade> {
    let id = event.trade_id.filter(|id| *id >= WireInteger(0))?;
    let is_trade = event.execution == BinanceExecutionType::Trade && !event.last_quantity.0.is_zero();
    is_trade.then(|| BinanceTrade {
        symbol: event.symbol.clone(),
        id,
        order_id: event.order_id,
        price: event.last_price,
        quantity: event.last_quantity,
        commission: event.commission.unwrap_or_default(),
        commission_asset: event.commission_asset.clone().unwrap_or_default(),
        time: event.at,
        is_maker: event.is_maker.unwrap_or_default(),
        is_buyer: event.side == BinanceSide::Buy,
    })
}
