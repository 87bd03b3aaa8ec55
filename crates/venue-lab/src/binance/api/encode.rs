//! JSON of orders, cancels and trades.

use serde_json::{Map, Value, json};

use crate::exchange::{AccountTrade, Canceled, Placed, SpotOrder, SpotOrderType, Units};

/// Unit of the times in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Milliseconds,
    Microseconds,
}

impl TimeUnit {
    pub(crate) fn encode(self, micros: i64) -> i64 {
        match self {
            Self::Milliseconds => micros.div_euclid(1_000),
            Self::Microseconds => micros,
        }
    }
}

/// How much an answer to a new order says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseType {
    Ack,
    Result,
    Full,
}

impl ResponseType {
    pub(crate) fn usual(kind: SpotOrderType) -> Self {
        match kind {
            SpotOrderType::Limit | SpotOrderType::Market => Self::Full,
            _ => Self::Ack,
        }
    }
}

pub(crate) fn text(units: Units) -> Value {
    Value::String(units.to_string())
}

/// Terms and progress, which every answer about an order has.
fn terms(order: &SpotOrder) -> Map<String, Value> {
    let fields = json!({
        "price": text(order.price),
        "origQty": text(order.quantity),
        "executedQty": text(order.executed),
        "origQuoteOrderQty": text(order.quote_quantity),
        "cummulativeQuoteQty": text(order.cumulative_quote),
        "status": order.status.name(),
        "timeInForce": order.time_in_force.name(),
        "type": order.kind.name(),
        "side": order.side.name(),
        "selfTradePreventionMode": order.prevention.name(),
    });
    let Value::Object(mut fields) = fields else { return Map::new() };
    let optional = [
        ("stopPrice", order.stop_price.map(text)),
        ("strategyId", order.strategy_id.map(Value::from)),
        ("strategyType", order.strategy_type.map(Value::from)),
        ("preventedMatchId", order.prevented_match.map(Value::from)),
        ("preventedQuantity", order.prevented_match.map(|_| text(order.prevented))),
    ];
    fields.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    fields
}

fn identity(order: &SpotOrder, client_id: &str) -> Map<String, Value> {
    let fields = json!({
        "symbol": order.symbol,
        "orderId": order.id,
        "orderListId": -1,
        "clientOrderId": client_id,
    });
    if let Value::Object(fields) = fields { fields } else { Map::new() }
}

fn working_time(order: &SpotOrder, unit: TimeUnit) -> Value {
    order.working_micros.map_or(-1, |micros| unit.encode(micros)).into()
}

/// An order as a query shows it.
pub(crate) fn order(order: &SpotOrder, unit: TimeUnit) -> Value {
    let mut fields = identity(order, &order.client_id);
    fields.extend(terms(order));
    fields.entry("stopPrice").or_insert_with(|| text(Units::ZERO));
    fields.insert("icebergQty".to_owned(), text(Units::ZERO));
    fields.insert("time".to_owned(), unit.encode(order.time_micros).into());
    fields.insert("updateTime".to_owned(), unit.encode(order.update_micros).into());
    fields.insert("isWorking".to_owned(), order.working_micros.is_some().into());
    fields.insert("workingTime".to_owned(), working_time(order, unit));
    Value::Object(fields)
}

pub(crate) fn placed(placed: &Placed, response: ResponseType, unit: TimeUnit) -> Value {
    let order = &placed.order;
    let mut fields = identity(order, &order.client_id);
    fields.insert("transactTime".to_owned(), unit.encode(order.update_micros).into());
    if response != ResponseType::Ack {
        fields.extend(terms(order));
        fields.insert("workingTime".to_owned(), working_time(order, unit));
    }
    if response == ResponseType::Full {
        fields.insert("fills".to_owned(), placed.fills.iter().map(fill).collect());
    }
    Value::Object(fields)
}

fn fill(trade: &AccountTrade) -> Value {
    json!({
        "price": text(trade.price),
        "qty": text(trade.quantity),
        "commission": text(trade.commission),
        "commissionAsset": trade.commission_asset,
        "tradeId": trade.trade_id,
    })
}

pub(crate) fn canceled(canceled: &Canceled, unit: TimeUnit) -> Value {
    let order = &canceled.order;
    let mut fields = identity(order, &canceled.cancel_id);
    fields.insert("origClientOrderId".to_owned(), order.client_id.clone().into());
    fields.insert("transactTime".to_owned(), unit.encode(order.update_micros).into());
    fields.extend(terms(order));
    Value::Object(fields)
}

pub(crate) fn amended(order: &SpotOrder, execution_id: u64, unit: TimeUnit) -> Value {
    let old_id = order.amendments.last().map_or(&order.client_id, |amendment| &amendment.old_client_id);
    json!({
        "transactTime": unit.encode(order.update_micros),
        "executionId": execution_id,
        "amendedOrder": {
            "symbol": order.symbol,
            "orderId": order.id,
            "orderListId": -1,
            "origClientOrderId": old_id,
            "clientOrderId": order.client_id,
            "price": text(order.price),
            "qty": text(order.quantity),
            "executedQty": text(order.executed),
            "preventedQty": text(order.prevented),
            "quoteOrderQty": text(order.quote_quantity),
            "cumulativeQuoteQty": text(order.cumulative_quote),
            "status": order.status.name(),
            "timeInForce": order.time_in_force.name(),
            "type": order.kind.name(),
            "side": order.side.name(),
            "workingTime": working_time(order, unit),
            "selfTradePreventionMode": order.prevention.name(),
        },
    })
}

pub(crate) fn trade(trade: &AccountTrade, unit: TimeUnit) -> Value {
    json!({
        "symbol": trade.symbol,
        "id": trade.trade_id,
        "orderId": trade.order_id,
        "orderListId": -1,
        "price": text(trade.price),
        "qty": text(trade.quantity),
        "quoteQty": text(trade.quote),
        "commission": text(trade.commission),
        "commissionAsset": trade.commission_asset,
        "time": unit.encode(trade.time_micros),
        "isBuyer": trade.is_buyer,
        "isMaker": trade.is_maker,
        "isBestMatch": true,
    })
}
