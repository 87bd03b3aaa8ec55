//! Answers of both ways, in the documentation's words and in the words of proxies.

use adapter_binance::protocol::answers::{CallAnswer, SocketFrame, decode_frame, decode_rest};
use adapter_binance::protocol::order_answers::{AmendAnswer, BinanceOrder, OrderAcknowledgement};
use adapter_kit::connection::VenueResponse;
use domain::Timestamp;
use expect_test::expect;
use serde::Deserialize;

fn now() -> Timestamp {
    "2026-11-16T05:00:00Z".parse().unwrap()
}

fn rest(status: u16, headers: &[(&str, &str)], body: &str) -> CallAnswer {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    decode_rest(&VenueResponse { status, headers, body: body.as_bytes().to_vec() }, now())
}

fn shown(answer: &CallAnswer) -> String {
    let outcome = match &answer.outcome {
        Ok(result) => format!("result {result}"),
        Err(error) => format!("{:?}: {}", error.meaning, error.describe()),
    };
    let used: String = answer.counters.iter().map(|counter| format!(" {}={}", counter.name, counter.used)).collect();
    let held = answer
        .hold
        .as_ref()
        .map(|hold| format!(" hold {} {:?} for {:?} s", hold.kind.name(), hold.scope, hold.seconds));
    format!("{} {outcome}{used}{}\n", answer.status, held.unwrap_or_default())
}

#[test]
fn answers_of_rest() {
    let weight = ("x-mbx-used-weight-1m", "321");
    let orders = ("x-mbx-order-count-10s", "12");
    let too_many = r#"{"code":-1015,"msg":"Too many new orders; current limit is 50 orders per 10 SECOND."}"#;
    let answers = [
        rest(200, &[weight, orders, ("date", "x"), ("x-mbx-uuid", "y")], r#"{"serverTime":1}"#),
        rest(400, &[weight], r#"{"code":-2010,"msg":"Account has insufficient balance for requested action."}"#),
        rest(400, &[], r#"{"code":"-1121","msg":"Invalid symbol.","new":[1]}"#),
        rest(400, &[], r#"{"code":-9999,"msg":"A code of tomorrow."}"#),
        rest(400, &[], r#"{"message":"no code"}"#),
        rest(503, &[], r#"{"code":-1007,"msg":"Timeout waiting for response from backend server."}"#),
        rest(504, &[], "<html>\n<head><title>504 Gateway Time-out</title></head>\n</html>"),
        rest(200, &[], "<html>Log in to the hotel's network</html>"),
        rest(403, &[], "<html>Request blocked</html>"),
        rest(429, &[("retry-after", "7")], r#"{"code":-1003,"msg":"Too much request weight used."}"#),
        rest(429, &[("retry-after", "3")], too_many),
        rest(418, &[("retry-after", "120")], r#"{"code":-1003,"msg":"Way too much request weight used."}"#),
        rest(401, &[], r#"{"code":-2015,"msg":"Invalid API-key, IP, or permissions for action."}"#),
    ];
    let lines: String = answers.iter().map(shown).collect();
    expect![[r#"
        200 result {"serverTime":1} REQUEST_WEIGHT/1M=321 ORDERS/10S=12
        400 Refused: Account has insufficient balance for requested action. (-2010 NEW_ORDER_REJECTED) REQUEST_WEIGHT/1M=321
        400 Refused: Invalid symbol. (-1121 BAD_SYMBOL)
        400 Refused: A code of tomorrow. (-9999)
        400 Refused: not an answer of the API: {"message":"no code"}
        503 Unknown: Timeout waiting for response from backend server. (-1007 TIMEOUT)
        504 Unknown: not an answer of the API: <html> <head><title>504 Gateway Time-out</title></head> </html>
        200 Unknown: not an answer of the API: <html>Log in to the hotel's network</html>
        403 Refused: not an answer of the API: <html>Request blocked</html>
        429 RateLimited: Too much request weight used. (-1003 TOO_MANY_REQUESTS) hold Retry-After All for Some(7) s
        429 RateLimited: Too many new orders; current limit is 50 orders per 10 SECOND. (-1015 TOO_MANY_ORDERS) hold Retry-After Limit("ORDERS/10S") for Some(3) s
        418 RateLimited: Way too much request weight used. (-1003 TOO_MANY_REQUESTS) hold ban All for Some(120) s
        401 Key: Invalid API-key, IP, or permissions for action. (-2015 REJECTED_MBX_KEY)
    "#]].assert_eq(&lines);
}

#[test]
fn frames_of_the_websocket_api() {
    let success = r#"{"id":5,"status":200,"result":{"symbol":"BTCUSDT","orderId":12510053279,"clientOrderId":"a"},
        "rateLimits":[{"rateLimitType":"ORDERS","interval":"SECOND","intervalNum":10,"limit":50,"count":12},
        {"rateLimitType":"ORDERS","interval":"DAY","intervalNum":1,"limit":160000,"count":"4043"},
        {"rateLimitType":"NEW","interval":"FORTNIGHT"},
        {"rateLimitType":"REQUEST_WEIGHT","interval":"MINUTE","intervalNum":1,"limit":6000,"count":321}]}"#;
    let ban = r#"{"id":6,"status":418,"error":{"code":-1003,"msg":"IP banned until 1659146400000.",
        "data":{"serverTime":1659142907531,"retryAfter":1659146400000}},"rateLimits":[]}"#;
    let frames = [
        success,
        ban,
        r#"{"id":"7","status":200,"result":null}"#,
        r#"{"id":8,"status":400,"error":{"code":-2010,"msg":"Duplicate order sent."}}"#,
        r#"{"id":9,"status":200}"#,
        r#"{"id":null,"status":401,"error":{"code":-2015,"msg":"Invalid API-key, IP, or permissions for action."}}"#,
        r#"{"subscriptionId":0,"event":{"e":"balanceUpdate"}}"#,
        r#"{"event":{"e":"serverShutdown","E":1770123456789}}"#,
        "<html>502 Bad Gateway</html>",
        r#"{"hello":1}"#,
        "[]",
    ];
    let lines: String = frames
        .iter()
        .map(|text| match decode_frame(text, now()) {
            SocketFrame::Answer(id, answer) => format!("{id}: {}", shown(&answer)),
            SocketFrame::SessionError(error) => format!("session {:?}: {}\n", error.meaning, error.describe()),
            SocketFrame::Event(subscription, event) => format!("event {subscription:?} {event}\n"),
            SocketFrame::Unreadable(excerpt) => format!("unreadable {excerpt}\n"),
        })
        .collect();
    expect![[r#"
        5: 200 result {"clientOrderId":"a","orderId":12510053279,"symbol":"BTCUSDT"} ORDERS/10S=12 ORDERS/1D=4043 REQUEST_WEIGHT/1M=321
        6: 418 RateLimited: IP banned until 1659146400000. (-1003 TOO_MANY_REQUESTS) hold ban All for Some(3493) s
        7: 200 result null
        8: 400 Duplicate: Duplicate order sent. (-2010 NEW_ORDER_REJECTED)
        9: 200 Unknown: not an answer of the API: {"id":9,"status":200}
        session Key: Invalid API-key, IP, or permissions for action. (-2015 REJECTED_MBX_KEY)
        event Some(0) {"e":"balanceUpdate"}
        event None {"E":1770123456789,"e":"serverShutdown"}
        unreadable <html>502 Bad Gateway</html>
        unreadable {"hello":1}
        unreadable []
    "#]].assert_eq(&lines);
}

#[test]
fn orders_in_answers_survive_odd_values() {
    let acknowledged =
        r#"{"symbol":"BTCUSDT","orderId":28,"orderListId":-1,"clientOrderId":"c","transactTime":1507725176595}"#;
    let read: OrderAcknowledgement = serde_json::from_str(acknowledged).unwrap();
    assert_eq!((read.order_id.0, read.client_id.as_str()), (28, "c"));

    let status = serde_json::json!({
        "symbol": "币安人生USDT", "orderId": "1", "orderListId": -1, "clientOrderId": "r-7-1", "price": 0.1,
        "origQty": "1.0", "executedQty": "0.0", "cummulativeQuoteQty": "0.0", "status": "SOMETHING_NEW",
        "timeInForce": "GTC", "type": "LIMIT", "side": "BUY", "stopPrice": null, "icebergQty": "0.0",
        "time": 1499827319559_i64, "updateTime": 1499827319559_i64, "isWorking": true, "field": {"of": "tomorrow"},
    });
    let read = BinanceOrder::deserialize(&status).unwrap();
    assert_eq!((read.order_id.0, read.status.as_str(), read.stop_price), (1, "SOMETHING_NEW", None));
    assert_eq!(read.price.0.to_string(), "0.1");

    let amended = r#"{"transactTime":1741926410255,"executionId":75,"amendedOrder":{"symbol":"BTCUSDT","orderId":33,
        "orderListId":-1,"origClientOrderId":"a","clientOrderId":"a","price":"6.00000000","qty":"5.00000000",
        "executedQty":"0.00000000","preventedQty":"0.00000000","quoteOrderQty":"0.00000000","cumulativeQuoteQty":"0",
        "status":"NEW","timeInForce":"GTC","type":"LIMIT","side":"SELL","workingTime":1741926410242}}"#;
    let read: AmendAnswer = serde_json::from_str(amended).unwrap();
    assert_eq!(read.order.quantity.0.to_string(), "5.00000000");
}
