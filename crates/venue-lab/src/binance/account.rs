//! Account methods: balances, orders, trades, amendments, prevented matches, commissions.

use serde_json::{Value, json};

use super::ApiCall;
use super::api::encode::{self, text};
use super::api::error::ApiError;
use super::market::exchange_info;
use super::orders::discount;
use crate::exchange::{AccountIndex, AccountTrade, SpotExchange, SpotMarket, SpotOrder, SpotReject, Units};

const LIST_USUAL: usize = 500;
const LIST_MAX: usize = 1_000;
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// The venue shows commission rates in hundredths of a percent too.
const BASIS_POINT: i64 = 10_000;
const FIRST_UID: u32 = 1_000_001;

/// What a list method was asked for.
struct ListRange {
    start: Option<i64>,
    end: Option<i64>,
    limit: usize,
}

impl ListRange {
    /// Without a beginning the newest entries count, with one the oldest from there on. Of an account with many no more are looked at
    /// than it takes: everybody else waits meanwhile.
    fn select<T>(
        &self,
        entries: impl DoubleEndedIterator<Item = T>,
        time: impl Fn(&T) -> i64,
        is_from_id: bool,
    ) -> Vec<T> {
        let is_in = |entry: &T| {
            self.start.is_none_or(|start| time(entry) >= start) && self.end.is_none_or(|end| time(entry) <= end)
        };
        let wanted = entries.filter(is_in);
        if self.start.is_some() || is_from_id {
            return wanted.take(self.limit).collect();
        }
        let mut newest: Vec<T> = wanted.rev().take(self.limit).collect();
        newest.reverse();
        newest
    }
}

/// Of one account, by their ids from the first one on.
fn own_orders<'a>(
    market: &'a SpotMarket,
    account: AccountIndex,
    from_id: u64,
) -> Box<dyn DoubleEndedIterator<Item = &'a SpotOrder> + 'a> {
    let live = market.orders.range(from_id..).map(|(_, order)| order);
    let own = move |order: &&SpotOrder| order.account == account;
    if market.archive.is_empty() {
        return Box::new(live.filter(own));
    }
    let archived = market.archive.iter().filter(|order| order.id >= from_id);
    let mut all: Vec<&SpotOrder> = archived.chain(live).filter(own).collect();
    all.sort_by_key(|order| order.id);
    Box::new(all.into_iter())
}

impl ApiCall<'_> {
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&SpotExchange) -> Result<T, SpotReject> + Send + 'static,
    ) -> Result<T, ApiError> {
        Ok(self.state.exchange.query(question).await??)
    }

    pub(super) async fn account_status(&self) -> Result<Value, ApiError> {
        let omits_zero = self.params.boolean("omitZeroBalances")?;
        let (account, unit) = (self.account, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let state = &exchange.accounts[account as usize];
            let shown = state
                .balances
                .iter()
                .filter(|(_, balance)| !omits_zero || !balance.free.is_zero() || !balance.locked.is_zero());
            let balances: Vec<_> = shown
                .map(|(asset, balance)| {
                    json!({ "asset": asset, "free": text(balance.free), "locked": text(balance.locked) })
                })
                .collect();
            let rules = &state.rules;
            Ok(json!({
                "makerCommission": rules.maker_rate.0 / BASIS_POINT,
                "takerCommission": rules.taker_rate.0 / BASIS_POINT,
                "buyerCommission": 0,
                "sellerCommission": 0,
                "commissionRates": rates(rules.maker_rate, rules.taker_rate),
                "canTrade": true,
                "canWithdraw": false,
                "canDeposit": false,
                "brokered": false,
                "requireSelfTradePrevention": false,
                "preventSor": false,
                "updateTime": unit.encode(state.update_micros),
                "accountType": "SPOT",
                "balances": balances,
                "permissions": ["SPOT"],
                "uid": FIRST_UID + account,
            }))
        };
        self.ask(answer).await
    }

    pub(super) async fn order_status(&self) -> Result<Value, ApiError> {
        let wanted = self.order_reference("orderId", "origClientOrderId")?;
        let unit = self.unit;
        let answer = move |exchange: &SpotExchange| {
            let market = exchange.market(&wanted.symbol)?;
            let found = market.find_order(wanted.account, wanted.order_id, wanted.client_id.as_deref());
            found.map(|order| encode::order(order, unit)).ok_or_else(|| SpotReject::new(-2013, "Order does not exist."))
        };
        self.ask(answer).await
    }

    pub(super) async fn open_orders(&self) -> Result<Value, ApiError> {
        let symbol = self.params.text("symbol")?.map(ToOwned::to_owned);
        let (account, unit) = (self.account, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let markets = match &symbol {
                Some(symbol) => vec![exchange.market(symbol)?],
                None => exchange.markets.iter().collect(),
            };
            let orders = markets.into_iter().flat_map(|market| market.open_orders(account));
            Ok(orders.map(|order| encode::order(order, unit)).collect())
        };
        self.ask(answer).await
    }

    pub(super) async fn all_orders(&self) -> Result<Value, ApiError> {
        let (symbol, from_id, range) = (self.symbol()?, self.params.id("orderId")?, self.list_range()?);
        let (account, unit) = (self.account, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let own = own_orders(exchange.market(&symbol)?, account, from_id.unwrap_or(0));
            let selected = range.select(own, |order| order.time_micros, from_id.is_some());
            Ok(selected.into_iter().map(|order| encode::order(order, unit)).collect())
        };
        self.ask(answer).await
    }

    pub(super) async fn my_trades(&self) -> Result<Value, ApiError> {
        let (symbol, range) = (self.symbol()?, self.list_range()?);
        let (order_id, from_id) = (self.params.id("orderId")?, self.params.id("fromId")?);
        let has_time = range.start.is_some() || range.end.is_some();
        if has_time && (order_id.is_some() || from_id.is_some()) {
            return Err(ApiError::bad_request(-1128, "Combination of optional parameters invalid."));
        }
        let (account, unit) = (self.account, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let trades = exchange.market(&symbol)?.account_trades.get(&account);
            let is_wanted = |trade: &&AccountTrade| {
                order_id.is_none_or(|id| trade.order_id == id) && from_id.is_none_or(|id| trade.trade_id >= id)
            };
            let own = trades.into_iter().flatten().filter(is_wanted);
            let selected = range.select(own, |trade| trade.time_micros, from_id.is_some());
            Ok(selected.into_iter().map(|trade| encode::trade(trade, unit)).collect())
        };
        self.ask(answer).await
    }

    fn list_range(&self) -> Result<ListRange, ApiError> {
        let (start, end) = (self.params.time("startTime")?, self.params.time("endTime")?);
        if let (Some(start), Some(end)) = (start, end)
            && end - start > DAY_MICROS
        {
            return Err(ApiError::bad_request(-1127, "More than 24 hours between startTime and endTime."));
        }
        Ok(ListRange { start, end, limit: self.params.limit(LIST_USUAL, LIST_MAX)? })
    }

    pub(super) async fn amendments(&self) -> Result<Value, ApiError> {
        let symbol = self.symbol()?;
        self.params.required("orderId")?;
        let (order_id, from_id) = (self.params.id("orderId")?, self.params.id("fromExecutionId")?);
        let limit = self.params.limit(LIST_USUAL, LIST_MAX)?;
        let (account, unit) = (self.account, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let found = exchange.market(&symbol)?.find_order(account, order_id, None);
            let order = found.ok_or_else(|| SpotReject::new(-2013, "Order does not exist."))?;
            let amendments = order
                .amendments
                .iter()
                .filter(|amendment| from_id.is_none_or(|from_id| amendment.execution_id >= from_id));
            let encode = |amendment: &crate::exchange::Amendment| {
                json!({
                    "symbol": symbol,
                    "orderId": order.id,
                    "executionId": amendment.execution_id,
                    "origClientOrderId": amendment.old_client_id,
                    "newClientOrderId": amendment.new_client_id,
                    "origQty": text(amendment.old_quantity),
                    "newQty": text(amendment.new_quantity),
                    "time": unit.encode(amendment.time_micros),
                })
            };
            Ok(amendments.take(limit).map(encode).collect())
        };
        self.ask(answer).await
    }

    pub(super) async fn prevented_matches(&self) -> Result<Value, ApiError> {
        let symbol = self.symbol()?;
        let by_match = self.params.id("preventedMatchId")?;
        let by_order = self.params.id("orderId")?;
        let from_id = self.params.id("fromPreventedMatchId")?.unwrap_or(0);
        if by_match.is_none() && by_order.is_none() {
            return Err(ApiError::bad_request(-1128, "Combination of optional parameters invalid."));
        }
        let limit = self.params.limit(LIST_USUAL, LIST_MAX)?;
        let (account, unit) = (self.account, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let matches = exchange.market(&symbol)?.prevented.iter().filter(|prevented| {
                let is_order = |id: u64| prevented.taker == id || prevented.maker == id;
                prevented.account == account
                    && prevented.id >= from_id
                    && by_match.is_none_or(|id| prevented.id == id)
                    && by_order.is_none_or(is_order)
            });
            let encode = |prevented: &crate::exchange::PreventedMatch| {
                json!({
                    "symbol": symbol,
                    "preventedMatchId": prevented.id,
                    "takerOrderId": prevented.taker,
                    "makerSymbol": symbol,
                    "makerOrderId": prevented.maker,
                    "tradeGroupId": -1,
                    "selfTradePreventionMode": prevented.mode.name(),
                    "price": text(prevented.price),
                    "makerPreventedQuantity": text(prevented.maker_quantity),
                    "transactTime": unit.encode(prevented.time_micros),
                })
            };
            Ok(matches.take(limit).map(encode).collect())
        };
        self.ask(answer).await
    }

    pub(super) async fn commission(&self) -> Result<Value, ApiError> {
        let (symbol, account) = (self.symbol()?, self.account);
        let answer = move |exchange: &SpotExchange| {
            exchange.market(&symbol)?;
            let rules = &exchange.accounts[account as usize].rules;
            let none = rates(Units::ZERO, Units::ZERO);
            Ok(json!({
                "symbol": symbol,
                "standardCommission": rates(rules.maker_rate, rules.taker_rate),
                "specialCommission": none,
                "taxCommission": none,
                "discount": discount(rules.pays_in_bnb),
            }))
        };
        self.ask(answer).await
    }

    pub(super) async fn my_filters(&self) -> Result<Value, ApiError> {
        let symbol = self.symbol()?;
        let answer = move |exchange: &SpotExchange| {
            let filters = exchange_info::filters(&exchange.market(&symbol)?.rules);
            Ok(json!({ "exchangeFilters": [], "symbolFilters": filters, "assetFilters": [] }))
        };
        self.ask(answer).await
    }
}

fn rates(maker: Units, taker: Units) -> Value {
    json!({
        "maker": text(maker),
        "taker": text(taker),
        "buyer": text(Units::ZERO),
        "seller": text(Units::ZERO),
    })
}
