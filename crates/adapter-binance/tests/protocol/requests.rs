//! Requests: every call as it leaves over REST and over the WebSocket API.

use adapter_binance::protocol::encoding::{
    EncodingError, RequestStamp, SocketAuthority, encode_public, encode_rest, encode_socket, encode_stream_command,
    stream_name,
};
use adapter_binance::protocol::requests::{BinanceRequest, OrderReference, OrderTicket, TradesFrom};
use adapter_binance::protocol::venue_enums::{BinanceOrderType, BinanceSide, BinanceStpMode, BinanceTif};
use domain::{Decimal, Timestamp};
use expect_test::expect;

use crate::signing::{API_KEY, ED25519_PEM, hmac_signer, pem_signer};

fn stamp() -> RequestStamp {
    RequestStamp { at: "2026-11-16T05:00:00.123Z".parse().unwrap(), receive_window_millis: 5_000 }
}

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn ticket() -> OrderTicket {
    OrderTicket {
        symbol: "币安人生USDT".to_owned(),
        side: BinanceSide::Buy,
        kind: BinanceOrderType::StopLossLimit,
        tif: Some(BinanceTif::Gtc),
        quantity: decimal("1.50"),
        price: Some(decimal("0.00000100")),
        stop_price: Some(decimal("0.0000009")),
        iceberg: Some(decimal("0.5")),
        stp_mode: Some(BinanceStpMode::ExpireTaker),
        client_id: "r-7-1".to_owned(),
    }
}

fn market() -> OrderTicket {
    OrderTicket {
        symbol: "BTCUSDT".to_owned(),
        side: BinanceSide::Sell,
        kind: BinanceOrderType::Market,
        tif: None,
        price: None,
        stop_price: None,
        iceberg: None,
        stp_mode: None,
        ..ticket()
    }
}

fn all() -> Vec<BinanceRequest> {
    let ours = OrderReference::Client("r-7-1".to_owned());
    let from: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
    vec![
        BinanceRequest::time(),
        BinanceRequest::exchange_info(),
        BinanceRequest::depth("BTCUSDT", 9_999),
        BinanceRequest::klines("BTCUSDT", "1m", from, from.plus_seconds(60)),
        BinanceRequest::place(&ticket()),
        BinanceRequest::place(&market()),
        BinanceRequest::place_test(&market()),
        BinanceRequest::cancel("BTCUSDT", &ours, "r-7-2"),
        BinanceRequest::cancel("BTCUSDT", &OrderReference::Venue(28), "r-7-2"),
        BinanceRequest::cancel_replace(&ours, "r-7-3", &market(), true),
        BinanceRequest::amend("BTCUSDT", "r-7-1", decimal("0.5")),
        BinanceRequest::order_status("BTCUSDT", &ours),
        BinanceRequest::open_orders(None),
        BinanceRequest::open_orders(Some("BTCUSDT")),
        BinanceRequest::my_trades("BTCUSDT", TradesFrom::Id(28_457)),
        BinanceRequest::my_trades("BTCUSDT", TradesFrom::Time(from)),
        BinanceRequest::my_trades("BTCUSDT", TradesFrom::Newest),
        BinanceRequest::order_trades("BTCUSDT", 28, None),
        BinanceRequest::account(),
        BinanceRequest::order_count(),
        BinanceRequest::log_on(),
        BinanceRequest::subscribe_user(true),
        BinanceRequest::subscribe_user(false),
    ]
}

/// Without the signature, which another test is about.
fn unsigned(text: &str, mark: &str) -> String {
    text.split_once(mark).map_or_else(|| text.to_owned(), |(before, _)| format!("{before} (signed)"))
}

#[test]
fn every_call_over_rest() {
    let signer = hmac_signer();
    let lines = all().into_iter().map(|request| match encode_rest(&request, &signer, stamp()) {
        Ok(sent) => {
            assert_eq!(sent.body, "");
            assert!(sent.headers.iter().all(|header| *header == ("X-MBX-APIKEY".to_owned(), API_KEY.to_owned())));
            let key = if sent.headers.is_empty() { "public" } else { "key" };
            format!("{:>3} {key} {} {}\n", request.weight, sent.method, unsigned(&sent.path, "&signature="))
        }
        Err(EncodingError::SocketOnly) => {
            format!("{:>3} WebSocket API only: {}\n", request.weight, request.call.socket())
        }
        Err(other) => panic!("{other}"),
    });
    let lines: String = lines.collect();
    expect![[r#"
          1 public GET /api/v3/time
         20 public GET /api/v3/exchangeInfo?showPermissionSets=false
        250 public GET /api/v3/depth?symbol=BTCUSDT&limit=5000
          2 public GET /api/v3/klines?symbol=BTCUSDT&interval=1m&startTime=1794700800000&endTime=1794700860000&limit=1000
          1 key POST /api/v3/order?symbol=%E5%B8%81%E5%AE%89%E4%BA%BA%E7%94%9FUSDT&side=BUY&type=STOP_LOSS_LIMIT&timeInForce=GTC&quantity=1.5&price=0.000001&stopPrice=0.0000009&icebergQty=0.5&selfTradePreventionMode=EXPIRE_TAKER&newClientOrderId=r-7-1&newOrderRespType=ACK&recvWindow=5000&timestamp=1794805200123 (signed)
          1 key POST /api/v3/order?symbol=BTCUSDT&side=SELL&type=MARKET&quantity=1.5&newClientOrderId=r-7-1&newOrderRespType=ACK&recvWindow=5000&timestamp=1794805200123 (signed)
          1 key POST /api/v3/order/test?symbol=BTCUSDT&side=SELL&type=MARKET&quantity=1.5&newClientOrderId=r-7-1&newOrderRespType=ACK&recvWindow=5000&timestamp=1794805200123 (signed)
          1 key DELETE /api/v3/order?symbol=BTCUSDT&origClientOrderId=r-7-1&newClientOrderId=r-7-2&recvWindow=5000&timestamp=1794805200123 (signed)
          1 key DELETE /api/v3/order?symbol=BTCUSDT&orderId=28&newClientOrderId=r-7-2&recvWindow=5000&timestamp=1794805200123 (signed)
          1 key POST /api/v3/order/cancelReplace?cancelReplaceMode=STOP_ON_FAILURE&cancelRestrictions=ONLY_NEW&cancelOrigClientOrderId=r-7-1&cancelNewClientOrderId=r-7-3&symbol=BTCUSDT&side=SELL&type=MARKET&quantity=1.5&newClientOrderId=r-7-1&newOrderRespType=ACK&recvWindow=5000&timestamp=1794805200123 (signed)
          4 key PUT /api/v3/order/amend/keepPriority?symbol=BTCUSDT&origClientOrderId=r-7-1&newClientOrderId=r-7-1&newQty=0.5&recvWindow=5000&timestamp=1794805200123 (signed)
          4 key GET /api/v3/order?symbol=BTCUSDT&origClientOrderId=r-7-1&recvWindow=5000&timestamp=1794805200123 (signed)
         80 key GET /api/v3/openOrders?recvWindow=5000&timestamp=1794805200123 (signed)
          6 key GET /api/v3/openOrders?symbol=BTCUSDT&recvWindow=5000&timestamp=1794805200123 (signed)
         20 key GET /api/v3/myTrades?symbol=BTCUSDT&fromId=28457&limit=1000&recvWindow=5000&timestamp=1794805200123 (signed)
         20 key GET /api/v3/myTrades?symbol=BTCUSDT&startTime=1794700800000&limit=1000&recvWindow=5000&timestamp=1794805200123 (signed)
         20 key GET /api/v3/myTrades?symbol=BTCUSDT&limit=1000&recvWindow=5000&timestamp=1794805200123 (signed)
          5 key GET /api/v3/myTrades?symbol=BTCUSDT&orderId=28&limit=1000&recvWindow=5000&timestamp=1794805200123 (signed)
         20 key GET /api/v3/account?omitZeroBalances=true&recvWindow=5000&timestamp=1794805200123 (signed)
         40 key GET /api/v3/rateLimit/order?recvWindow=5000&timestamp=1794805200123 (signed)
          2 WebSocket API only: session.logon
          2 WebSocket API only: userDataStream.subscribe
          2 WebSocket API only: userDataStream.subscribe.signature
    "#]].assert_eq(&lines);
}

#[test]
fn every_call_over_the_websocket_api_of_a_session() {
    let signer = pem_signer(ED25519_PEM).unwrap();
    let logged_on = all().into_iter().enumerate().map(|(index, request)| {
        let is_log_on = request == BinanceRequest::log_on() || request == BinanceRequest::subscribe_user(false);
        let authority = if is_log_on { SocketAuthority::Signature(&signer) } else { SocketAuthority::Session };
        let frame = encode_socket(index as u64, &request, authority, stamp()).unwrap();
        format!("{frame}\n")
    });
    let lines: String = logged_on.collect();
    expect![[r#"
        {"id":0,"method":"time"}
        {"id":1,"method":"exchangeInfo","params":{"showPermissionSets":false}}
        {"id":2,"method":"depth","params":{"limit":5000,"symbol":"BTCUSDT"}}
        {"id":3,"method":"klines","params":{"endTime":1794700860000,"interval":"1m","limit":1000,"startTime":1794700800000,"symbol":"BTCUSDT"}}
        {"id":4,"method":"order.place","params":{"icebergQty":"0.5","newClientOrderId":"r-7-1","newOrderRespType":"ACK","price":"0.000001","quantity":"1.5","recvWindow":5000,"selfTradePreventionMode":"EXPIRE_TAKER","side":"BUY","stopPrice":"0.0000009","symbol":"币安人生USDT","timeInForce":"GTC","timestamp":1794805200123,"type":"STOP_LOSS_LIMIT"}}
        {"id":5,"method":"order.place","params":{"newClientOrderId":"r-7-1","newOrderRespType":"ACK","quantity":"1.5","recvWindow":5000,"side":"SELL","symbol":"BTCUSDT","timestamp":1794805200123,"type":"MARKET"}}
        {"id":6,"method":"order.test","params":{"newClientOrderId":"r-7-1","newOrderRespType":"ACK","quantity":"1.5","recvWindow":5000,"side":"SELL","symbol":"BTCUSDT","timestamp":1794805200123,"type":"MARKET"}}
        {"id":7,"method":"order.cancel","params":{"newClientOrderId":"r-7-2","origClientOrderId":"r-7-1","recvWindow":5000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":8,"method":"order.cancel","params":{"newClientOrderId":"r-7-2","orderId":28,"recvWindow":5000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":9,"method":"order.cancelReplace","params":{"cancelNewClientOrderId":"r-7-3","cancelOrigClientOrderId":"r-7-1","cancelReplaceMode":"STOP_ON_FAILURE","cancelRestrictions":"ONLY_NEW","newClientOrderId":"r-7-1","newOrderRespType":"ACK","quantity":"1.5","recvWindow":5000,"side":"SELL","symbol":"BTCUSDT","timestamp":1794805200123,"type":"MARKET"}}
        {"id":10,"method":"order.amend.keepPriority","params":{"newClientOrderId":"r-7-1","newQty":"0.5","origClientOrderId":"r-7-1","recvWindow":5000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":11,"method":"order.status","params":{"origClientOrderId":"r-7-1","recvWindow":5000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":12,"method":"openOrders.status","params":{"recvWindow":5000,"timestamp":1794805200123}}
        {"id":13,"method":"openOrders.status","params":{"recvWindow":5000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":14,"method":"myTrades","params":{"fromId":28457,"limit":1000,"recvWindow":5000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":15,"method":"myTrades","params":{"limit":1000,"recvWindow":5000,"startTime":1794700800000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":16,"method":"myTrades","params":{"limit":1000,"recvWindow":5000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":17,"method":"myTrades","params":{"limit":1000,"orderId":28,"recvWindow":5000,"symbol":"BTCUSDT","timestamp":1794805200123}}
        {"id":18,"method":"account.status","params":{"omitZeroBalances":true,"recvWindow":5000,"timestamp":1794805200123}}
        {"id":19,"method":"account.rateLimits.orders","params":{"recvWindow":5000,"timestamp":1794805200123}}
        {"id":20,"method":"session.logon","params":{"apiKey":"vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A","recvWindow":5000,"signature":"DxUqDoim4KMPOv7EXs4Zdvu15vdvtF1Sl3XcOGwoeyvlUVXyCkffq4E+4/ySi+RHSKQElcLTNf97RZQ06QxRCw==","timestamp":1794805200123}}
        {"id":21,"method":"userDataStream.subscribe"}
        {"id":22,"method":"userDataStream.subscribe.signature","params":{"apiKey":"vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A","recvWindow":5000,"signature":"DxUqDoim4KMPOv7EXs4Zdvu15vdvtF1Sl3XcOGwoeyvlUVXyCkffq4E+4/ySi+RHSKQElcLTNf97RZQ06QxRCw==","timestamp":1794805200123}}
    "#]].assert_eq(&lines);
}

#[test]
fn a_request_without_a_session_has_key_and_signature() {
    let signer = hmac_signer();
    let request = BinanceRequest::order_status("１２３４５６", &OrderReference::Venue(28));
    let frame = encode_socket(7, &request, SocketAuthority::Signature(&signer), stamp()).unwrap();
    let read: serde_json::Value = serde_json::from_str(&frame).unwrap();
    let payload = format!("apiKey={API_KEY}&orderId=28&recvWindow=5000&symbol=１２３４５６&timestamp=1794805200123");
    assert_eq!(read["params"]["signature"], signer.sign(&payload).unwrap());
    assert_eq!(read["params"]["apiKey"], API_KEY);
}

#[test]
fn a_base64_signature_is_percent_encoded_after_signing() {
    let signer = pem_signer(ED25519_PEM).unwrap();
    let sent = encode_rest(&BinanceRequest::account(), &signer, stamp()).unwrap();
    let (payload, signature) = sent.path.split_once('?').unwrap().1.split_once("&signature=").unwrap();
    let expected = signer.sign(payload).unwrap();
    assert_eq!(signature, expected.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D"));
}

#[test]
fn streams_are_named_in_small_letters() {
    let streams = [stream_name("BTCUSDT", "depth@100ms"), stream_name("币安人生USDT", "trade")];
    assert_eq!(
        encode_stream_command(3, true, &streams),
        r#"{"id":3,"method":"SUBSCRIBE","params":["btcusdt@depth@100ms","币安人生usdt@trade"]}"#
    );
    assert_eq!(
        encode_stream_command(4, false, &streams[..1]),
        r#"{"id":4,"method":"UNSUBSCRIBE","params":["btcusdt@depth@100ms"]}"#
    );
}

#[test]
fn without_a_key_only_public_calls_leave_and_as_they_do_with_one() {
    let signer = hmac_signer();
    let public: Vec<&str> =
        all().iter().filter(|request| encode_public(request).is_ok()).map(|request| request.call.socket()).collect();
    expect!["time exchangeInfo depth klines"].assert_eq(&public.join(" "));
    for request in all() {
        match encode_public(&request) {
            Ok(sent) => assert_eq!(sent, encode_rest(&request, &signer, stamp()).unwrap()),
            Err(refusal) => assert!(matches!(refusal, EncodingError::NotPublic | EncodingError::SocketOnly)),
        }
    }
    assert_eq!(encode_public(&BinanceRequest::place(&ticket())), Err(EncodingError::NotPublic));
}
