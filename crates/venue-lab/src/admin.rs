//! Admin port: the ledger as JSON, for judges of clients; the faults to inject; and a page that shows both.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use venue_sim::book::BookSide;

use crate::exchange::{AccountTrade, SpotExchange, SpotMarket, SpotOrder};
use crate::faults::LabFaults;
use crate::faults::catalogue::{ALWAYS, Fault};
use crate::faults::fault_request::FaultRequest;
use crate::faults::fault_script;
use crate::sequencer::ExchangeHandle;
use crate::sessions::Sessions;

/// The page, without a framework: it reads `/state` and `/faults` every second.
const PAGE: &str = include_str!("admin.html");
/// Levels of each side that the page shows.
const PAGE_LEVELS: usize = 8;

#[derive(Clone)]
pub(crate) struct AdminState {
    pub(crate) exchange: ExchangeHandle,
    pub(crate) faults: Arc<LabFaults>,
    pub(crate) sessions: Arc<Sessions>,
}

type Refusal = (StatusCode, String);

pub(crate) fn router(state: AdminState) -> Router {
    Router::new()
        .route("/", get(async || Html(PAGE)))
        .route("/ledger", get(ledger))
        .route("/state", get(page_state))
        .route("/faults", get(list).post(arm).delete(disarm_all))
        .route("/faults/script", post(add_script))
        .route("/faults/transcript", get(async |State(state): State<AdminState>| state.faults.transcript()))
        .route("/faults/catalogue", get(async || Json(catalogue())))
        .with_state(state)
}

async fn list(State(state): State<AdminState>) -> Json<Value> {
    Json(state.faults.list())
}

fn refused(reason: impl ToString) -> Refusal {
    (StatusCode::BAD_REQUEST, reason.to_string())
}

async fn arm(State(state): State<AdminState>, body: Bytes) -> Result<Json<Value>, Refusal> {
    let request: FaultRequest = serde_json::from_slice(&body).map_err(refused)?;
    state.faults.arm(&request).map_err(refused)?;
    Ok(Json(state.faults.list()))
}

async fn add_script(State(state): State<AdminState>, body: String) -> Result<Json<Value>, Refusal> {
    let lines = fault_script::parse(&body).map_err(refused)?;
    state.faults.add_script(lines).map_err(refused)?;
    Ok(Json(state.faults.list()))
}

async fn disarm_all(State(state): State<AdminState>) -> Json<Value> {
    state.faults.disarm_all();
    Json(state.faults.list())
}

/// Every name, what happens, and whether it can be armed.
fn catalogue() -> Value {
    let armed = Fault::ALL.iter().map(|(fault, name, text)| {
        json!({ "fault": name, "text": text, "kind": if fault.is_of_fix() { "fix" } else { "armed" } })
    });
    armed.chain(ALWAYS.iter().map(|name| json!({ "fault": name, "kind": "always" }))).collect()
}

async fn ledger(State(state): State<AdminState>) -> Result<Json<Value>, StatusCode> {
    state.exchange.query(encode_ledger).await.map(Json).map_err(|_| StatusCode::SERVICE_UNAVAILABLE)
}

/// What the page shows beside the faults: books, accounts, sessions.
async fn page_state(State(state): State<AdminState>) -> Result<Json<Value>, StatusCode> {
    let encode = |exchange: &SpotExchange| {
        json!({
            "books": exchange.markets.iter().map(encode_book).collect::<Vec<_>>(),
            "balances": encode_balances(exchange),
        })
    };
    let mut shown = state.exchange.query(encode).await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    shown["sessions"] = state.sessions.list();
    Ok(Json(shown))
}

fn encode_book(market: &SpotMarket) -> Value {
    let side = |side: BookSide| -> Vec<Value> {
        let levels = market.book.depth(side).take(PAGE_LEVELS);
        let level = |price: i64, lots: u64| {
            json!([market.rules.price(price).to_string(), market.rules.quantity(lots).to_string()])
        };
        levels.map(|entry| level(entry.price, entry.lots)).collect()
    };
    let open = market.open.len();
    json!({ "symbol": market.rules.name, "last": market.last.to_string(), "openOrders": open, "bids": side(BookSide::Buy), "asks": side(BookSide::Sell) })
}

fn encode_balances(exchange: &SpotExchange) -> Vec<Value> {
    let of_account = exchange.accounts.iter().flat_map(|account| {
        account.balances.iter().map(|(asset, balance)| {
            json!({
                "account": account.rules.name,
                "asset": asset,
                "free": balance.free.to_string(),
                "locked": balance.locked.to_string(),
            })
        })
    });
    of_account.collect()
}

/// Numbers are strings, so that no reader rounds them.
pub(crate) fn encode_ledger(exchange: &SpotExchange) -> Value {
    let name = |account: u32| exchange.accounts[account as usize].rules.name.clone();
    let orders =
        exchange.markets.iter().flat_map(|market: &SpotMarket| market.archive.iter().chain(market.orders.values()));
    let trades = exchange.markets.iter().flat_map(|market| market.account_trades.values().flatten());
    json!({
        "accounts": exchange.accounts.iter().map(|account| json!({ "account": account.rules.name })).collect::<Vec<_>>(),
        "orders": orders.map(|order| encode_order(order, &name(order.account))).collect::<Vec<_>>(),
        "trades": trades.map(|trade| encode_trade(trade, &name(trade.account))).collect::<Vec<_>>(),
        "balances": encode_balances(exchange),
    })
}

fn encode_order(order: &SpotOrder, account: &str) -> Value {
    json!({
        "account": account,
        "symbol": order.symbol,
        "orderId": order.id.to_string(),
        "clientOrderId": order.client_id,
        "side": order.side.name(),
        "type": order.kind.name(),
        "timeInForce": order.time_in_force.name(),
        "price": order.price.to_string(),
        "quantity": order.quantity.to_string(),
        "filled": order.executed.to_string(),
        "status": order.status.name(),
    })
}

fn encode_trade(trade: &AccountTrade, account: &str) -> Value {
    json!({
        "account": account,
        "symbol": trade.symbol,
        "tradeId": trade.trade_id.to_string(),
        "executionId": trade.execution_id.to_string(),
        "orderId": trade.order_id.to_string(),
        "price": trade.price.to_string(),
        "quantity": trade.quantity.to_string(),
        "commission": trade.commission.to_string(),
        "commissionAsset": trade.commission_asset,
        "maker": trade.is_maker,
        "time": (trade.time_micros / 1_000).to_string(),
    })
}
