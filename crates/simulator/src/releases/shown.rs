//! What a release showed of its folder, against what this build makes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::query::{Answer, Filter};
use domain::{Decimal, Order, OrderId, Query, Side};
use serde_json::Value;

use super::recorded::Release;
use super::replayed_state::ReplayedState;
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken, ensure};

const DIFFERS: &str = "an upgrade shows something else";
const ORDER: [&str; 8] = ["intId", "side", "quantity", "status", "filledQuantity", "limit", "accountId", "securityId"];
const POSITION: [&str; 3] = ["accountId", "securityId", "quantity"];
const CASH: [&str; 3] = ["accountId", "currency", "amount"];

/// Open orders, positions and cash of a state, and all orders of the journal, are what the release showed.
pub(super) fn compare(
    release: &Release,
    source: &str,
    state: Result<ReplayedState, String>,
    orders: &BTreeMap<OrderId, Arc<Order>>,
) -> InvariantResult {
    let state = state.map_err(|reason| broken(DIFFERS, format!("{source} of {}: {reason}", release.name)))?;
    let shown: Value =
        serde_json::from_str(release.shown).map_err(|error| broken("the simulator failed", error.to_string()))?;
    let lists = [
        ("orders", &ORDER[..], sorted(orders.values().map(|order| order_row(order)))),
        ("open", &ORDER[..], open_orders(&state)?),
        ("positions", &POSITION[..], positions(&state)?),
        ("cash", &CASH[..], cash(&state)?),
    ];
    lists.into_iter().try_for_each(|(list, fields, found)| {
        let expected = sorted(shown[list].as_array().into_iter().flatten().map(|row| row_of(row, fields)));
        ensure(found == expected, DIFFERS, || {
            format!("{source} of {}, {list}: {found:?}, the release showed {expected:?}", release.name)
        })
    })
}

fn sorted(rows: impl Iterator<Item = String>) -> Vec<String> {
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    rows
}

fn row_of(row: &Value, fields: &[&str]) -> String {
    fields.iter().map(|field| row[field].to_string()).collect::<Vec<_>>().join(" ")
}

fn order_row(order: &Order) -> String {
    let side = if order.side == Side::Buy { "BUY" } else { "SELL" };
    let limit = order.terms.kind.limit().map_or("null".to_owned(), |limit| number(limit.0));
    let (quantity, filled) = (number(order.terms.quantity.0), number(order.filled.0));
    let (int_id, status) = (order.int_id.as_str(), order.status().name());
    format!("{int_id:?} {side:?} {quantity} {status:?} {filled} {limit} {} {}", order.account, order.security)
}

fn number(decimal: Decimal) -> String {
    decimal.normalize().to_string()
}

fn ask(state: &ReplayedState, query: &Query) -> Result<Answer, BrokenInvariant> {
    let (at, end) = (state.recovered.at, state.recovered.last_sequence);
    state.engine.answer(at, end, query).map_err(|refusal| broken(DIFFERS, refusal.to_string()))
}

fn open_orders(state: &ReplayedState) -> Result<Vec<String>, BrokenInvariant> {
    match ask(state, &Query::OpenOrders(Filter::default()))? {
        Answer::Orders(orders) => Ok(sorted(orders.iter().map(|order| order_row(order)))),
        other => Err(broken(DIFFERS, format!("{other:?}"))),
    }
}

fn positions(state: &ReplayedState) -> Result<Vec<String>, BrokenInvariant> {
    let row = |position: &domain::Position| {
        format!("{} {} {}", position.account, position.security, number(position.quantity.0))
    };
    match ask(state, &Query::Positions(Filter::default()))? {
        Answer::Positions(positions) => Ok(sorted(positions.iter().map(row))),
        other => Err(broken(DIFFERS, format!("{other:?}"))),
    }
}

fn cash(state: &ReplayedState) -> Result<Vec<String>, BrokenInvariant> {
    let row = |balance: &domain::CashBalance| {
        format!("{} \"{}\" {}", balance.account, balance.currency, number(balance.amount.0))
    };
    match ask(state, &Query::Balances(Filter::default()))? {
        Answer::Balances(balances) => Ok(sorted(balances.iter().map(row))),
        other => Err(broken(DIFFERS, format!("{other:?}"))),
    }
}
