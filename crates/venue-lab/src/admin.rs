//! Admin port: the ledger as JSON, for judges of clients, and the faults to inject.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::exchange::{AccountTrade, SpotExchange, SpotMarket, SpotOrder};
use crate::faults::{FaultRequest, LabFaults};
use crate::sequencer::ExchangeHandle;

pub(crate) fn router(exchange: ExchangeHandle, faults: Arc<LabFaults>) -> Router {
    let faults = Router::new().route("/faults", get(list).post(arm).delete(disarm_all)).with_state(faults);
    Router::new().route("/ledger", get(ledger)).with_state(exchange).merge(faults)
}

async fn list(State(faults): State<Arc<LabFaults>>) -> Json<Value> {
    Json(faults.list())
}

async fn arm(State(faults): State<Arc<LabFaults>>, body: Bytes) -> Result<Json<Value>, (StatusCode, String)> {
    let request: FaultRequest =
        serde_json::from_slice(&body).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    faults.arm(&request).map_err(|reason| (StatusCode::BAD_REQUEST, reason))?;
    Ok(Json(faults.list()))
}

async fn disarm_all(State(faults): State<Arc<LabFaults>>) -> Json<Value> {
    faults.disarm_all();
    Json(faults.list())
}

async fn ledger(State(exchange): State<ExchangeHandle>) -> Result<Json<Value>, StatusCode> {
    exchange.query(encode_ledger).await.map(Json).map_err(|_| StatusCode::SERVICE_UNAVAILABLE)
}

/// Numbers are strings, so that no reader rounds them.
fn encode_ledger(exchange: &SpotExchange) -> Value {
    let name = |account: u32| exchange.accounts[account as usize].rules.name.clone();
    let orders = exchange.markets.iter().flat_map(|market: &SpotMarket| market.orders.values());
    let trades = exchange.markets.iter().flat_map(|market| market.account_trades.values().flatten());
    let balances = exchange.accounts.iter().flat_map(|account| {
        account.balances.iter().map(|(asset, balance)| {
            json!({
                "account": account.rules.name,
                "asset": asset,
                "free": balance.free.to_string(),
                "locked": balance.locked.to_string(),
            })
        })
    });
    json!({
        "accounts": exchange.accounts.iter().map(|account| json!({ "account": account.rules.name })).collect::<Vec<_>>(),
        "orders": orders.map(|order| encode_order(order, &name(order.account))).collect::<Vec<_>>(),
        "trades": trades.map(|trade| encode_trade(trade, &name(trade.account))).collect::<Vec<_>>(),
        "balances": balances.collect::<Vec<_>>(),
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
        "orderId": trade.order_id.to_string(),
        "price": trade.price.to_string(),
        "quantity": trade.quantity.to_string(),
        "commission": trade.commission.to_string(),
        "commissionAsset": trade.commission_asset,
        "maker": trade.is_maker,
        "time": (trade.time_micros / 1_000).to_string(),
    })
}
