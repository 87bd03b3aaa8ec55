//! Cancel-replace: what each pair of halves means, in the documentation's payloads.

use adapter_binance::protocol::answers::decode_rest;
use adapter_binance::protocol::order_answers::{CancelReplaceOutcome, cancel_replace_outcome};
use adapter_kit::connection::VenueResponse;
use domain::Timestamp;
use expect_test::expect;

const PLACED: &str =
    r#"{"symbol":"BTCUSDT","orderId":11,"orderListId":-1,"clientOrderId":"new","transactTime":1648540168818}"#;
const CANCELED: &str = r#"{"symbol":"BTCUSDT","origClientOrderId":"old","orderId":3,"status":"CANCELED"}"#;
const NO_ORDER: &str = r#"{"code":-2011,"msg":"Unknown order sent."}"#;
const WOULD_TAKE: &str = r#"{"code":-2010,"msg":"Order would immediately match and take."}"#;
const TIMEOUT: &str = r#"{"code":-1007,"msg":"Timeout waiting for response from backend server."}"#;

fn legs(cancel: &str, place: &str, cancel_answer: &str, place_answer: &str) -> String {
    format!(
        r#"{{"cancelResult":"{cancel}","newOrderResult":"{place}","cancelResponse":{cancel_answer},"newOrderResponse":{place_answer}}}"#
    )
}

fn failed(code: i64, legs: &str) -> String {
    format!(r#"{{"code":{code},"msg":"Order cancel-replace failed.","data":{legs}}}"#)
}

fn outcome(status: u16, body: &str) -> CancelReplaceOutcome {
    let response = VenueResponse { status, headers: Vec::new(), body: body.as_bytes().to_vec() };
    cancel_replace_outcome(decode_rest(&response, Timestamp(0)).outcome.as_ref())
}

#[test]
fn each_half_is_read_on_its_own() {
    let both = legs("SUCCESS", "SUCCESS", CANCELED, PLACED);
    let canceled_only = failed(-2021, &legs("SUCCESS", "FAILURE", CANCELED, WOULD_TAKE));
    let canceled_unknown = failed(-2021, &legs("SUCCESS", "FAILURE", CANCELED, TIMEOUT));
    let placed_only = failed(-2021, &legs("FAILURE", "SUCCESS", NO_ORDER, PLACED));
    let not_attempted = failed(-2022, &legs("FAILURE", "NOT_ATTEMPTED", NO_ORDER, "null"));
    let neither = failed(-2022, &legs("FAILURE", "FAILURE", NO_ORDER, WOULD_TAKE));
    let neither_known = failed(-2022, &legs("FAILURE", "NOT_ATTEMPTED", TIMEOUT, "null"));
    let of_tomorrow = failed(-2021, &legs("POSTPONED", "SUCCESS", CANCELED, PLACED));
    let cases = [
        (200, both.as_str()),
        (409, &canceled_only),
        (409, &canceled_unknown),
        (409, &placed_only),
        (400, &not_attempted),
        (400, &neither),
        (400, &neither_known),
        (409, &of_tomorrow),
        (409, r#"{"code":-2021,"msg":"Order cancel-replace partially failed."}"#),
        (429, r#"{"code":-1015,"msg":"Too many new orders; current limit is 1 orders per 10 SECOND."}"#),
        (503, TIMEOUT),
        (200, "{}"),
    ];
    let lines: String = cases.iter().map(|(status, body)| format!("{:?}\n", outcome(*status, body))).collect();
    expect![[r#"
        Replaced(OrderAcknowledgement { symbol: "BTCUSDT", order_id: WireInteger(11), client_id: "new", at: Some(WireInteger(1648540168818)) })
        CanceledOnly { reason: "venue-post-only: Order would immediately match and take. (-2010)" }
        Unknown { reason: "Timeout waiting for response from backend server. (-1007)" }
        PlacedOnly { placed: OrderAcknowledgement { symbol: "BTCUSDT", order_id: WireInteger(11), client_id: "new", at: Some(WireInteger(1648540168818)) }, reason: "venue-unknown-order: Unknown order sent. (-2011)" }
        Neither { meaning: NoSuchOrder, reason: "venue-unknown-order: Unknown order sent. (-2011)" }
        Neither { meaning: NoSuchOrder, reason: "venue-unknown-order: Unknown order sent. (-2011)" }
        Unknown { reason: "Timeout waiting for response from backend server. (-1007)" }
        Unknown { reason: "cancel POSTPONED, new order SUCCESS" }
        Unknown { reason: "Order cancel-replace partially failed. (-2021 CANCEL_REPLACE_PARTIALLY_FAILED)" }
        Neither { meaning: RateLimited, reason: "venue-rate: Too many new orders; current limit is 1 orders per 10 SECOND. (-1015 TOO_MANY_ORDERS)" }
        Unknown { reason: "Timeout waiting for response from backend server. (-1007 TIMEOUT)" }
        Unknown { reason: "the answer has no halves" }
    "#]].assert_eq(&lines);
}
