//! User data stream events: execution reports and balances of an account.

use serde_json::{Value, json};

use crate::binance::api::encode::{TimeUnit, text};
use crate::exchange::{AccountIndex, ExecutionType, SpotExecution, Units, VenueEvent};
use crate::sequencer::now_micros;

/// The event as the account's subscribers see it; none where it is not theirs.
pub(crate) fn encode(event: &VenueEvent, account: AccountIndex, unit: TimeUnit) -> Option<Value> {
    match event {
        VenueEvent::Execution(report) if report.order.account == account => Some(execution(report, unit)),
        VenueEvent::Balances { account: owner, balances, time_micros } if *owner == account => {
            let balance = |(asset, free, locked): &(String, Units, Units)| json!({ "a": asset, "f": text(*free), "l": text(*locked) });
            Some(json!({
                "e": "outboundAccountPosition",
                "E": unit.encode(now_micros()),
                "u": unit.encode(*time_micros),
                "B": balances.iter().map(balance).collect::<Vec<_>>(),
            }))
        }
        VenueEvent::Transfer { account: owner, asset, amount, time_micros } if *owner == account => Some(json!({
            "e": "balanceUpdate",
            "E": unit.encode(now_micros()),
            "a": asset,
            "d": text(*amount),
            "T": unit.encode(*time_micros),
        })),
        _ => None,
    }
}

fn execution(report: &SpotExecution, unit: TimeUnit) -> Value {
    let order = &report.order;
    let (client_id, original_id) = client_ids(report);
    let trade = report.trade.as_ref();
    let mut event = json!({
        "e": "executionReport",
        "E": unit.encode(now_micros()),
        "s": order.symbol,
        "c": client_id,
        "S": order.side.name(),
        "o": order.kind.name(),
        "f": order.time_in_force.name(),
        "q": text(order.quantity),
        "p": text(order.price),
        "P": text(order.stop_price.unwrap_or_default()),
        "F": text(Units::ZERO),
        "g": -1,
        "C": original_id,
        "x": report.kind.name(),
        "X": order.status.name(),
        "r": "NONE",
        "i": order.id,
        "l": text(trade.map_or(Units::ZERO, |trade| trade.quantity)),
        "z": text(order.executed),
        "L": text(trade.map_or(Units::ZERO, |trade| trade.price)),
        "n": trade.map_or_else(|| "0".to_owned(), |trade| trade.commission.to_string()),
        "N": trade.map(|trade| trade.commission_asset.clone()),
        "T": unit.encode(report.time_micros),
        "t": trade.map_or(-1, |trade| trade.trade_id.cast_signed()),
        "I": report.execution_id,
        "w": order.status.is_open() && order.working_micros.is_some(),
        "m": trade.is_some_and(|trade| trade.is_maker),
        "M": trade.is_some(),
        "O": unit.encode(order.time_micros),
        "Z": text(order.cumulative_quote),
        "Y": text(trade.map_or(Units::ZERO, |trade| trade.quote)),
        "Q": text(order.quote_quantity),
        "V": order.prevention.name(),
    });
    let optional = [
        ("W", order.working_micros.map(|micros| unit.encode(micros).into())),
        ("j", order.strategy_id.map(Value::from)),
        ("J", order.strategy_type.map(Value::from)),
        ("v", order.prevented_match.map(Value::from)),
        ("A", order.prevented_match.map(|_| text(order.prevented))),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            event[name] = value;
        }
    }
    event
}

/// A cancel has an id of its own beside that of its order; so has an amended order beside its former one.
fn client_ids(report: &SpotExecution) -> (&str, &str) {
    let own = report.order.client_id.as_str();
    match (report.kind, report.cancel_id.as_deref()) {
        (ExecutionType::Canceled, Some(cancel_id)) => (cancel_id, own),
        (ExecutionType::Replaced, Some(former)) => (own, former),
        _ => (own, ""),
    }
}
