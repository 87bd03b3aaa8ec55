//! A Chinese symbol and an asset of ten characters at Binance spot: traded at the lab over REST and FIX, heard on topics, and booked as
//! the venue has them, to the last digit.

use serde_json::{Value, json};

use crate::binance::{CHINESE, LabPlatform, TEN_CHARACTERS, order_of, place_when_priced};
use crate::fix_orders::client::FixClient;
use crate::test_platform::{TraderClient, with_id};
use crate::topics::TopicListener;

/// The lab's demo with one more symbol.
const SYMBOLS: &str = r#"symbols=[
    {symbol="BTCUSDT",base="BTC",quote="USDT",tickSize="0.01",stepSize="0.00001",mid="60000",spreadTicks=2,size="0.5"},
    {symbol="ETHUSDT",base="ETH",quote="USDT",tickSize="0.01",stepSize="0.0001",mid="3000",spreadTicks=2,size="5"},
    {symbol="BNBUSDT",base="BNB",quote="USDT",tickSize="0.01",stepSize="0.001",mid="600",spreadTicks=2,size="10"},
    {symbol="币安人生USDT",base="币安人生",quote="USDT",tickSize="0.0001",stepSize="0.1",mid="0.25",spreadTicks=2,size="10000"},
    {symbol="1000CHEEMSUSDT",base="1000CHEEMS",quote="USDT",tickSize="0.000001",stepSize="1",mid="0.001234",spreadTicks=2,size="9000000"}
]"#;
const SECURITY: &str =
    "5,Forex,1000CHEEMS.USDT,,,,,,1000CHEEMSUSDT,,1,1,USDT,1,,,1,,,0.000001,,true,1000CHEEMS,USDT,,,,,,,,\n";

#[test]
fn a_chinese_symbol_and_a_ten_character_asset_trade_over_rest_and_fix_and_are_heard_on_topics() {
    let platform = LabPlatform::with("BETA", &[SYMBOLS], SECURITY);
    let server = platform.start();
    let mut client = server.client();
    platform.credit_opening_balances(&mut client);
    let mut topics = TopicListener::join(&mut client);
    topics.subscribe(1, "/topic/transaction.>");

    place_when_priced(&mut client, &with_id(order_of(TEN_CHARACTERS, "BUY", "20000"), "ten"));
    client.wait_for_status("ten", "EXECUTED");
    client.place(&with_id(order_of(CHINESE, "BUY", "100"), "chinese"));
    client.wait_for_status("chinese", "EXECUTED");

    let mut fix = FixClient::new("CLIENT");
    // The venue compares our clock with its own, so the server's is the true one.
    fix.seconds_ahead = 0;
    fix.log_on(server.port_address("fix"));
    for (id, symbol, quantity) in [("f1", "1000CHEEMS.USDT", "7000"), ("f2", "币安人生USDT", "40.5")] {
        fix.send(&format!("35=D|11={id}|54=2|38={quantity}|40=1|55={symbol}|15=USDT"));
        let fill = loop {
            let report = fix.expect("8");
            if report.get(150) == Some("F") {
                break report;
            }
        };
        assert_eq!((fill.get(55), fill.get(32)), (Some(symbol), Some(quantity)));
    }
    fix.log_out();

    let fees: Vec<_> = platform.ledger("trades").iter().map(|trade| trade["commissionAsset"].clone()).collect();
    // By symbol: one buy and one sell of each.
    assert_eq!(fees, ["币安人生", "USDT", "1000CHEEMS", "USDT"]);
    platform.expect_equal_books(&mut client);
    let mut heard = Vec::new();
    while heard.len() < 4 {
        let frame = topics.frame();
        let booked: Value = serde_json::from_str(frame.split_once("\n\n").unwrap().1).unwrap();
        if booked["type"] == "BUY" || booked["type"] == "SELL" {
            heard.push(json!([booked["type"], booked["securityId"]]));
        }
    }
    let expected =
        [("BUY", TEN_CHARACTERS), ("BUY", CHINESE), ("SELL", TEN_CHARACTERS), ("SELL", CHINESE)].map(|row| json!(row));
    assert_eq!(heard, expected);
    server.stop();
}
