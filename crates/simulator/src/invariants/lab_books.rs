//! The lab's ledger, as its admin port tells it: orders with the client ids of the platform, and trades.

use std::collections::BTreeMap;

use domain::order::{OrderKind, TimeInForce};
use domain::report::VenueFill;
use domain::{Amount, Decimal, OrderId, Price, Quantity, SecurityId, Side, Text, WireId};
use serde_json::Value;

use super::venue_books::{Submission, VenueBooks, VenueEnd};
use crate::market::Market;

const STRANGE_PREFIX: &str = "web_";

/// Adds the orders and trades of the platform's account.
pub(super) fn read(venue: usize, ledger: &Value, market: &Market, books: &mut VenueBooks) -> Result<(), String> {
    books.begin_venue(venue);
    let mut numbers = BTreeMap::new();
    for row in rows(ledger, "orders").iter().filter(|row| !is_strange(row)) {
        let order = read_order(row, market, books)?;
        numbers.insert((text(row, "symbol")?.to_owned(), text(row, "orderId")?.to_owned()), order);
    }
    for row in rows(ledger, "trades") {
        let (symbol, id) = (text(row, "symbol")?, text(row, "orderId")?);
        if let Some(order) = numbers.get(&(symbol.to_owned(), id.to_owned())) {
            books.add_fill(read_trade(row, symbol, *order)?);
        }
    }
    Ok(())
}

fn read_trade(row: &Value, symbol: &str, order: OrderId) -> Result<VenueFill, String> {
    let exec_id: Text = format!("{symbol}-{}", text(row, "executionId")?).into();
    // A commission would be in what was bought, and the accounts of the lab have none: see its configuration.
    let commission = number(row, "commission")?;
    if !commission.is_zero() {
        return Err(format!("execution {exec_id} has a commission of {commission}, and the accounts have none"));
    }
    Ok(VenueFill {
        order,
        exec_id,
        quantity: Quantity(number(row, "quantity")?),
        price: Price(number(row, "price")?),
        at: None,
        fee: Some(Amount::ZERO),
        charges: vec![],
        ext_order: None,
        liquidity: None,
    })
}

/// Under the fault `strangers` the account has orders from elsewhere.
fn is_strange(row: &Value) -> bool {
    row["clientOrderId"].as_str().is_some_and(|id| id.starts_with(STRANGE_PREFIX))
}

fn read_order(row: &Value, market: &Market, books: &mut VenueBooks) -> Result<OrderId, String> {
    let id = text(row, "clientOrderId")?;
    let id: WireId = id.parse().map_err(|_| format!("the lab has an order with the id {id}, which is none of ours"))?;
    let ended = match text(row, "status")? {
        "CANCELED" => Some(VenueEnd::Canceled),
        "EXPIRED" | "EXPIRED_IN_MATCH" => Some(VenueEnd::Expired),
        _ => None,
    };
    books.add_order(id.order, None, Quantity(number(row, "quantity")?), submission(row, market)?);
    books.end_order(id.order, number(row, "filled")?, ended);
    Ok(id.order)
}

/// The quantity that was submitted is not known where a replace came behind it.
fn submission(row: &Value, market: &Market) -> Result<Submission, String> {
    let kind = match text(row, "type")? {
        "MARKET" => Some(OrderKind::Market),
        "LIMIT" => Some(OrderKind::Limit { limit: Price(number(row, "price")?) }),
        // The ledger does not tell the price of a stop.
        _ => None,
    };
    let tif = match text(row, "timeInForce")? {
        // A market order has none on the line.
        _ if kind == Some(OrderKind::Market) => None,
        "IOC" => Some(TimeInForce::Ioc),
        "FOK" => Some(TimeInForce::Fok),
        _ => Some(TimeInForce::Gtc),
    };
    let side = if text(row, "side")? == "BUY" { Side::Buy } else { Side::Sell };
    Ok(Submission { side, security: security(row, market)?, account: None, quantity: None, kind, tif })
}

fn security(row: &Value, market: &Market) -> Result<SecurityId, String> {
    let symbol = text(row, "symbol")?;
    let stock = market.stocks.iter().find(|stock| *stock.security.symbol == *symbol);
    stock.map(|stock| stock.security.id).ok_or_else(|| format!("the lab has {symbol}, which is not listed"))
}

fn rows<'a>(ledger: &'a Value, key: &str) -> &'a [Value] {
    ledger[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(row: &'a Value, key: &str) -> Result<&'a str, String> {
    row[key].as_str().ok_or_else(|| format!("{key} is missing in {row}"))
}

fn number(row: &Value, key: &str) -> Result<Decimal, String> {
    text(row, key)?.parse().map_err(|_| format!("{key} is no number in {row}"))
}
