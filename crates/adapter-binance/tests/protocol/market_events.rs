//! Frames of market streams, in the documentation's payloads.

use adapter_binance::protocol::market_answers::{DepthSnapshot, Kline, ServerTime};
use adapter_binance::protocol::market_events::decode_market_event;
use expect_test::expect;

#[test]
fn every_stream_that_is_used() {
    let quote =
        r#"{"u":400900217,"s":"BNBUSDT","b":"25.35190000","B":"31.21000000","a":"25.36520000","A":"40.66000000"}"#;
    let trade = r#"{"e":"trade","E":1672515782136,"s":"币安人生USDT","t":12345,"p":"0.001","q":"100","T":1672515782136,"m":true,"M":true}"#;
    let depth = r#"{"e":"depthUpdate","E":1672515782136,"s":"BNBBTC","U":157,"u":160,"b":[["0.0024","10"]],"a":[["0.0026","100",[]],[0.0027,0]]}"#;
    let kline = r#"{"e":"kline","E":1672515782136,"s":"BNBBTC","k":{"t":1672515780000,"T":1672515839999,"s":"BNBBTC","i":"1m","f":100,"L":200,"o":"0.0010","c":"0.0020","h":"0.0025","l":"0.0015","v":"1000","n":100,"x":false,"q":"1.0000","V":"500","Q":"0.500","B":"123456"}}"#;
    let combined = |data: &str| format!(r#"{{"stream":"x@y","data":{data}}}"#);
    let frames = [
        combined(quote),
        quote.to_owned(),
        combined(trade),
        combined(depth),
        combined(kline),
        combined(r#"{"e":"serverShutdown","E":1770123456789}"#),
        combined(
            r#"{"e":"aggTrade","E":1,"s":"BNBBTC","a":12345,"p":"0.001","q":"100","f":100,"l":105,"T":1,"m":true}"#,
        ),
        r#"{"result":null,"id":1}"#.to_owned(),
        r#"{"error":{"code":2,"msg":"Invalid request: too many parameters"},"id":"2"}"#.to_owned(),
        r#"{"code":2,"msg":"Invalid request: unknown variant"}"#.to_owned(),
        combined(r#"{"e":"depthUpdate","s":"BNBBTC","U":157,"b":[],"a":[]}"#),
        combined(r#"{"e":"trade","s":"BNBBTC","t":1,"p":"x"}"#),
        combined("null"),
        "<html>".to_owned(),
    ];
    let lines: String = frames.iter().map(|frame| format!("{:?}\n", decode_market_event(frame))).collect();
    expect![[r#"
        Quote(QuoteEvent { symbol: "BNBUSDT", update: 400900217, bid: WireLevel { price: 25.35190000, quantity: 31.21000000 }, ask: WireLevel { price: 25.36520000, quantity: 40.66000000 } })
        Quote(QuoteEvent { symbol: "BNBUSDT", update: 400900217, bid: WireLevel { price: 25.35190000, quantity: 31.21000000 }, ask: WireLevel { price: 25.36520000, quantity: 40.66000000 } })
        Trade(TradeEvent { symbol: "币安人生USDT", id: 12345, price: 0.001, quantity: 100, at: WireInteger(1672515782136), is_buyer_maker: true })
        Depth(DepthDifference { symbol: "BNBBTC", at: WireInteger(1672515782136), first: 157, last: 160, bids: [WireLevel { price: 0.0024, quantity: 10 }], asks: [WireLevel { price: 0.0026, quantity: 100 }, WireLevel { price: 0.0027, quantity: 0 }] })
        Kline(KlineEvent { symbol: "BNBBTC", interval: "1m", opened: WireInteger(1672515780000), open: WireDecimal(0.0010), high: WireDecimal(0.0025), low: WireDecimal(0.0015), close: WireDecimal(0.0020), volume: WireDecimal(1000), is_closed: false })
        ServerShutdown
        Other("aggTrade")
        Answered { id: Some(1), refused: None }
        Answered { id: Some(2), refused: Some("Invalid request: too many parameters") }
        Answered { id: None, refused: Some("Invalid request: unknown variant") }
        Unreadable("{\"stream\":\"x@y\",\"data\":{\"e\":\"depthUpdate\",\"s\":\"BNBBTC\",\"U\":157,\"b\":[],\"a\":[]}}")
        Unreadable("{\"stream\":\"x@y\",\"data\":{\"e\":\"trade\",\"s\":\"BNBBTC\",\"t\":1,\"p\":\"x\"}}")
        Unreadable("{\"stream\":\"x@y\",\"data\":null}")
        Unreadable("<html>")
    "#]].assert_eq(&lines);
}

#[test]
fn a_price_that_is_a_number_is_a_price() {
    let text = r#"{"u":1,"s":"A","b":25.3519,"B":1,"a":25.36,"A":"2"}"#;
    let shown = format!("{:?}", decode_market_event(text));
    assert!(shown.starts_with("Quote(") && shown.contains("25.3519"), "{shown}");
}

#[test]
fn snapshots_and_bars() {
    let snapshot =
        r#"{"lastUpdateId":1027024,"bids":[["4.00000000","431.00000000"]],"asks":[["4.00000200","12.00000000"]]}"#;
    let read: DepthSnapshot = serde_json::from_str(snapshot).unwrap();
    assert_eq!((read.last_update.0, read.bids[0].quantity.to_string().as_str()), (1_027_024, "431.00000000"));
    let rows = r#"[[1499040000000,"0.01634790","0.80000000","0.01575800","0.01577100","148976.11427815",1499644799999,"2434.19055334",308,"1756.87402397","28.46694368","0"]]"#;
    let read: Vec<Kline> = serde_json::from_str(rows).unwrap();
    assert_eq!((read[0].opened.0, read[0].volume.to_string().as_str()), (1_499_040_000_000, "148976.11427815"));
    assert!(serde_json::from_str::<Vec<Kline>>(r#"[[1499040000000,"0.01634790"]]"#).is_err());
    assert_eq!(serde_json::from_str::<ServerTime>(r#"{"serverTime":1499827319559}"#).unwrap().at.0, 1_499_827_319_559);
}
