//! Questions about one order: every way through the venue's answers.

use adapter_binance::inquiry::{Inquiry, InquiryStep};
use adapter_binance::order_lists::OrderList;
use adapter_binance::protocol::answers::CallAnswer;
use adapter_binance::protocol::requests::BinanceRequest;
use domain::report::InquiryResult;
use domain::{Currency, Order};
use expect_test::expect;
use serde_json::{Value, json};

use crate::venue_words::{INSTANCE, NOW, failure, success, terms};

fn order(request: u32) -> Order {
    Order { terms: terms("2", "100"), request, ..samples::order(5) }
}

pub(crate) fn leg(order_id: i64, client_id: &str, status: &str, filled: &str) -> Value {
    json!({
        "symbol": "BTCUSDT", "orderId": order_id, "clientOrderId": client_id, "price": "100", "origQty": "2",
        "executedQty": filled, "status": status, "timeInForce": "GTC", "type": "LIMIT", "side": "BUY",
        "time": 1_000 + order_id, "updateTime": 1_000 + order_id,
    })
}

pub(crate) fn traded(order_id: i64, id: i64, quantity: &str, time: i64) -> Value {
    json!({
        "symbol": "BTCUSDT", "id": id, "orderId": order_id, "price": "100", "qty": quantity, "commission": "0.002",
        "commissionAsset": "BTC", "time": time, "isMaker": true, "isBuyer": true,
    })
}

pub(crate) fn absent() -> CallAnswer {
    failure(400, -2013, "Order does not exist.")
}

/// Asks with these answers; gives each request, and how it ended.
fn ask(order: &Order, answers: &[CallAnswer]) -> String {
    let (mut inquiry, mut step) = Inquiry::start(INSTANCE, order, "BTCUSDT", Currency::USDT, NOW);
    let mut lines = shown(&step);
    for answer in answers {
        step = match step {
            InquiryStep::List => match OrderList::read(INSTANCE, answer) {
                Ok(list) => inquiry.on_list(&list),
                Err(reason) => InquiryStep::GiveUp(reason),
            },
            _ => inquiry.on_answer(answer),
        };
        lines += &shown(&step);
    }
    lines
}

fn shown(step: &InquiryStep) -> String {
    let request = |request: &BinanceRequest| format!("{} {}\n", request.call.socket(), request.parameters.encoded());
    match step {
        InquiryStep::Ask(asked) => request(asked),
        InquiryStep::List => request(&BinanceRequest::all_orders("BTCUSDT")),
        InquiryStep::Answer(told, _) => match &told.result {
            InquiryResult::Found(seen, fills) => {
                let fills: Vec<_> = fills.iter().map(|fill| format!("{} {}", fill.exec_id, fill.quantity)).collect();
                let others: Vec<_> = told.other_legs.iter().flatten().map(|leg| (&leg.ext_id, leg.state)).collect();
                let others = if others.is_empty() { String::new() } else { format!(", besides {others:?}") };
                let found = (seen.state, seen.terms.quantity, &seen.ext_id);
                format!("found {:?} {} of {:?}, fills {fills:?}{others}\n", found.0, found.1, found.2)
            }
            InquiryResult::NotFound => "not found\n".to_owned(),
        },
        InquiryStep::GiveUp(reason) => format!("no answer: {reason}\n"),
    }
}

#[test]
fn an_order_is_found_with_all_its_fills() {
    let found = success(&leg(70, "R1-5-0", "PARTIALLY_FILLED", "0.5"));
    let trades = success(&json!([traded(70, 8, "0.2", 1_100), traded(70, 9, "0.3", 1_100)]));
    expect![[r#"
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        myTrades symbol=BTCUSDT&orderId=70&limit=1000
        found Live 2 of Some("70"), fills ["BTCUSDT:8 0.2", "BTCUSDT:9 0.3"]
    "#]]
    .assert_eq(&ask(&order(0), &[found, trades]));
}

#[test]
fn an_order_is_not_there_only_where_the_list_lacks_it_too() {
    let others = success(&json!([leg(70, "web_1", "NEW", "0"), leg(71, "R1-6-0", "NEW", "0")]));
    expect![[r#"
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-1
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        allOrders symbol=BTCUSDT&limit=1000
        not found
    "#]]
    .assert_eq(&ask(&order(1), &[absent(), absent(), others]));
    let listed = success(&json!([leg(70, "R1-5-0", "CANCELED", "0")]));
    expect![[r#"
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        allOrders symbol=BTCUSDT&limit=1000
        found Canceled 2 of Some("70"), fills []
    "#]]
    .assert_eq(&ask(&order(0), &[absent(), listed]));
}

#[test]
fn an_order_of_ours_that_somebody_cancelled_on_the_screen_of_the_venue_is_found_by_its_number() {
    let cancelled = success(&leg(70, "web_1", "CANCELED", "0.5"));
    let trades = success(&json!([traded(70, 8, "0.5", 1_100)]));
    let placed = Order { ext_id: Some("70".into()), ..order(0) };
    expect![[r#"
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        order.status symbol=BTCUSDT&orderId=70
        myTrades symbol=BTCUSDT&orderId=70&limit=1000
        found Canceled 2 of Some("70"), fills ["BTCUSDT:8 0.5"]
    "#]]
    .assert_eq(&ask(&placed, &[absent(), cancelled, trades]));
}

/// 0.8 of it would have traded with another order of the account.
#[test]
fn what_self_trade_prevention_took_is_no_part_of_an_order_that_is_open_or_filled() {
    let reduced = |status: &str, filled: &str| {
        let mut leg = leg(70, "R1-5-0", status, filled);
        leg["preventedQuantity"] = json!("0.8");
        success(&leg)
    };
    let all = success(&json!([traded(70, 8, "1.2", 1_100)]));
    let lines = [
        ask(&order(0), &[reduced("NEW", "0")]),
        ask(&order(0), &[reduced("FILLED", "1.2"), all.clone()]),
        ask(&order(0), &[reduced("EXPIRED_IN_MATCH", "1.2"), all]),
    ];
    expect![[r#"
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        found Live 1.2 of Some("70"), fills []

        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        myTrades symbol=BTCUSDT&orderId=70&limit=1000
        found Live 1.2 of Some("70"), fills ["BTCUSDT:8 1.2"]

        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        myTrades symbol=BTCUSDT&orderId=70&limit=1000
        found Expired 2 of Some("70"), fills ["BTCUSDT:8 1.2"]
    "#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn the_legs_of_an_order_are_one_order() {
    let (first, second) = (leg(70, "R1-5-0", "CANCELED", "0.5"), leg(71, "R1-5-1", "NEW", "0"));
    let trades = success(&json!([traded(70, 8, "0.5", 1_100)]));
    expect![[r#"
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-1
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        myTrades symbol=BTCUSDT&orderId=70&limit=1000
        found Live 2 of Some("71"), fills ["BTCUSDT:8 0.5"], besides [(Some("70"), Canceled)]
    "#]]
    .assert_eq(&ask(&order(1), &[success(&second), success(&first), trades]));
}

#[test]
fn an_earlier_leg_that_still_rests_is_found_too() {
    let (first, second) = (leg(70, "R1-5-0", "NEW", "0"), leg(71, "R1-5-1", "NEW", "0"));
    expect![[r#"
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-1
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        found Live 2 of Some("71"), fills [], besides [(Some("70"), Live)]
    "#]]
    .assert_eq(&ask(&order(1), &[success(&second), success(&first)]));
}

#[test]
fn a_list_that_lacks_trades_or_a_status_that_is_not_known_is_no_answer() {
    let found = success(&leg(70, "R1-5-0", "FILLED", "2"));
    let half = success(&json!([traded(70, 8, "1", 1_100)]));
    let odd = success(&leg(70, "R1-5-0", "AUCTION", "0"));
    let reissued = success(&json!([traded(70, 3, "2", 900), traded(70, 8, "2", 1_100)]));
    let lines = [
        ask(&order(0), &[found.clone(), half]),
        ask(&order(0), &[odd]),
        ask(&order(0), &[failure(503, -1007, "Timeout waiting for response from backend server.")]),
        // The id of the order was another one's before.
        ask(&order(0), &[found, reissued]),
    ];
    expect![[r#"
        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        myTrades symbol=BTCUSDT&orderId=70&limit=1000
        no answer: the trades of the venue's order 70 are not all listed

        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        no answer: the venue's order 70 has a value that is not known

        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        no answer: Timeout waiting for response from backend server. (-1007 TIMEOUT)

        order.status symbol=BTCUSDT&origClientOrderId=R1-5-0
        myTrades symbol=BTCUSDT&orderId=70&limit=1000
        found Live 2 of Some("70"), fills ["BTCUSDT:8 2"]
    "#]]
    .assert_eq(&lines.join("\n"));
}
