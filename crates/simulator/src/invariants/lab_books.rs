//! The lab's ledger, as its admin port tells it: orders with the client ids of the platform, and trades.

use std::collections::BTreeMap;

use domain::report::VenueFill;
use domain::{OrderId, Price, Quantity, Text, WireId};
use serde_json::Value;

use super::books::VenueBooks;

const STRANGE_PREFIX: &str = "web_";

/// Adds the orders and trades of the platform's account.
pub(crate) fn read(venue: usize, ledger: &Value, books: &mut VenueBooks) -> Result<(), String> {
    books.begin_lab(venue);
    let mut numbers = BTreeMap::new();
    for row in rows(ledger, "orders").iter().filter(|row| !is_strange(row)) {
        let order = read_order(row, books)?;
        numbers.insert((text(row, "symbol")?.to_owned(), text(row, "orderId")?.to_owned()), order);
    }
    for row in rows(ledger, "trades") {
        let (symbol, id) = (text(row, "symbol")?, text(row, "orderId")?);
        let Some(order) = numbers.get(&(symbol.to_owned(), id.to_owned())).copied() else { continue };
        let exec_id: Text = format!("{symbol}-{}", text(row, "executionId")?).into();
        books.add_lab_fill(VenueFill {
            order,
            exec_id,
            quantity: Quantity(number(row, "quantity")?),
            price: Price(number(row, "price")?),
            at: None,
            fee: None,
            charges: vec![],
            ext_order: None,
            liquidity: None,
        });
    }
    Ok(())
}

/// Under the fault `strangers` the account has orders from elsewhere.
fn is_strange(row: &Value) -> bool {
    row["clientOrderId"].as_str().is_some_and(|id| id.starts_with(STRANGE_PREFIX))
}

fn read_order(row: &Value, books: &mut VenueBooks) -> Result<OrderId, String> {
    let id = text(row, "clientOrderId")?;
    let id: WireId = id.parse().map_err(|_| format!("the lab has an order with the id {id}, which is none of ours"))?;
    let ended = match text(row, "status")? {
        "CANCELED" => Some("canceled"),
        "EXPIRED" | "EXPIRED_IN_MATCH" => Some("expired"),
        _ => None,
    };
    books.add_lab_order(id.order, Quantity(number(row, "quantity")?), ended);
    Ok(id.order)
}

fn rows<'a>(ledger: &'a Value, key: &str) -> &'a [Value] {
    ledger[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(row: &'a Value, key: &str) -> Result<&'a str, String> {
    row[key].as_str().ok_or_else(|| format!("{key} is missing in {row}"))
}

fn number(row: &Value, key: &str) -> Result<domain::Decimal, String> {
    text(row, key)?.parse().map_err(|_| format!("{key} is no number in {row}"))
}
