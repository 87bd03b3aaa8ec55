//! Orders placed elsewhere: whatever order the messages come in, the picture is whole or it is not told.

use adapter_binance::external_orders::{ExternalOrders, ExternalScope};
use adapter_binance::order_picture::PictureGap;
use adapter_binance::protocol::order_answers::BinanceOrder;
use adapter_binance::protocol::user_events::ExecutionEvent;
use domain::report::VenueOrderState;
use domain::{AccountId, Currency, SecurityId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::inquiries::{leg, traded};

const SCOPE: ExternalScope = ExternalScope { account: AccountId(1), security: SecurityId(7), quote: Currency::USDT };

fn event(execution: &str, status: &str, filled: &str, last: &str, trade: i64) -> ExecutionEvent {
    let shown = json!({
        "e": "executionReport", "E": 2_000, "s": "BTCUSDT", "c": "web_1", "C": "", "S": "BUY", "o": "LIMIT", "f": "GTC", "q": "2",
        "p": "100", "x": execution, "X": status, "i": 41, "l": last, "z": filled, "L": "100", "n": "0.002", "N": "BTC",
        "T": 2_000, "t": trade, "m": true, "O": 1_500,
    });
    ExecutionEvent::deserialize(shown).unwrap()
}

fn order(value: Value) -> BinanceOrder {
    BinanceOrder::deserialize(value).unwrap()
}

#[test]
fn events_in_reverse_order_and_twice_end_in_the_same_picture() {
    let events = [
        event("NEW", "NEW", "0", "0", -1),
        event("TRADE", "PARTIALLY_FILLED", "0.5", "0.5", 70),
        event("TRADE", "FILLED", "2", "1.5", 71),
    ];
    let mut shown = Vec::new();
    for is_reversed in [false, true] {
        let mut orders = ExternalOrders::default();
        let ordered: Vec<_> = if is_reversed { events.iter().rev().collect() } else { events.iter().collect() };
        for event in ordered.iter().chain(&ordered) {
            orders.on_event(event);
        }
        shown.push(orders.shown(&("BTCUSDT".to_owned(), 41), SCOPE).unwrap());
    }
    assert_eq!(shown[0], shown[1]);
    let fills: Vec<_> = shown[0].fills.iter().map(|fill| (&*fill.exec_id, fill.quantity.to_string())).collect();
    assert_eq!(fills, [("BTCUSDT:70", "0.5".to_owned()), ("BTCUSDT:71", "1.5".to_owned())]);
    assert_eq!((&*shown[0].ext_id, shown[0].state), ("BTCUSDT:41", VenueOrderState::Live));
}

#[test]
fn a_missing_trade_leaves_the_order_untold_until_it_is_listed_and_then_it_is_told_once() {
    let mut orders = ExternalOrders::default();
    let key = orders.on_event(&event("TRADE", "FILLED", "2", "1.5", 71));
    assert_eq!(orders.untold(&key, SCOPE), Err(PictureGap::Trades { order_id: 41 }));
    assert_eq!(orders.incomplete(), std::slice::from_ref(&key));
    orders.on_trades(&key, [serde_json::from_value(traded(41, 70, "0.5", 1_900)).unwrap()]);
    assert_eq!(orders.untold(&key, SCOPE).unwrap().unwrap().fills.len(), 2);
    assert_eq!(orders.untold(&key, SCOPE), Ok(None));
}

#[test]
fn an_end_is_final_and_an_older_list_changes_nothing() {
    let mut orders = ExternalOrders::default();
    let key = orders.on_event(&event("CANCELED", "CANCELED", "0", "0", -1));
    orders.on_order(order(leg(41, "web_1", "NEW", "0")));
    assert_eq!(orders.shown(&key, SCOPE).unwrap().state, VenueOrderState::Canceled);
    let odd = order(leg(41, "web_1", "PENDING_REVIEW", "0"));
    orders.on_order(odd);
    assert_eq!(orders.shown(&key, SCOPE).unwrap().state, VenueOrderState::Canceled, "an unknown status says nothing");
}
