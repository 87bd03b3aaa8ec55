//! Reference data and account, in the documentation's payloads.

use adapter_binance::protocol::account_answers::{BinanceAccount, BinanceTrade};
use adapter_binance::protocol::exchange_info::ExchangeInfo;
use expect_test::expect;
use serde_json::{Value, json};

fn symbol(name: &str, status: &str, filters: &Value) -> Value {
    json!({
        "symbol": name, "status": status, "baseAsset": "币安人生", "baseAssetPrecision": 8, "quoteAsset": "USDT",
        "orderTypes": ["LIMIT", "LIMIT_MAKER", "MARKET", "OF_TOMORROW"], "icebergAllowed": true,
        "cancelReplaceAllowed": true, "amendAllowed": false, "isSpotTradingAllowed": true, "filters": filters,
        "permissions": [], "permissionSets": [["SPOT"]], "defaultSelfTradePreventionMode": "NONE",
        "allowedSelfTradePreventionModes": ["NONE", "EXPIRE_TAKER"],
    })
}

fn info() -> Value {
    let filters = json!([
        {"filterType": "PRICE_FILTER", "minPrice": "0.00000100", "maxPrice": "100000.0", "tickSize": "0.00000100"},
        {"filterType": "LOT_SIZE", "minQty": "0.00100000", "maxQty": "100000.00000000", "stepSize": "0.00100000"},
        {"filterType": "ICEBERG_PARTS", "limit": 10},
        {"filterType": "MARKET_LOT_SIZE", "minQty": "0", "maxQty": "100", "stepSize": "0"},
        {"filterType": "NOTIONAL", "minNotional": "10.0", "applyMinToMarket": false, "maxNotional": "10000.0"},
        {"filterType": "MAX_NUM_ORDERS", "maxNumOrders": 25},
        {"filterType": "OF_TOMORROW", "limit": {"a": null}},
    ]);
    let free = json!([{"filterType": "PRICE_FILTER", "minPrice": "0", "maxPrice": "0", "tickSize": "0"}]);
    json!({
        "timezone": "UTC", "serverTime": 1565246363776_i64,
        "rateLimits": [{"rateLimitType": "RAW_REQUESTS", "interval": "MINUTE", "intervalNum": 5, "limit": 61000}],
        "exchangeFilters": [],
        "symbols": [symbol("币安人生USDT", "TRADING", &filters), symbol("B", "CANCEL_ONLY", &free),
            symbol("C", "HALT", &free), symbol("D", "OF_TOMORROW", &free)],
        "sors": [{"baseAsset": "BTC", "symbols": ["BTCUSDT"]}],
    })
}

#[test]
fn listings_come_from_the_filters() {
    let mut info = info();
    // A field of tomorrow must not have the shape of one of today.
    info["symbols"][0]["filters"][6] = json!({"filterType": "OF_TOMORROW", "tomorrow": {"a": null}});
    let read: ExchangeInfo = serde_json::from_value(info).unwrap();
    let limits: Vec<_> = read.rate_limits.iter().map(|limit| (limit.name(), limit.span_seconds())).collect();
    assert_eq!(limits, [("RAW_REQUESTS/5M".to_owned(), Some(300))]);
    let lines: String = read.symbols.iter().map(|symbol| format!("{:?}\n", symbol.listing())).collect();
    expect![[r#"
        Listing { symbol: "币安人生USDT", status: Trading, tick: Some(0.00000100), lot: Some(0.00100000), quantity_min: Some(0.001), quantity_max: Some(100000), notional_min: Some(10), notional_max: Some(10000) }
        Listing { symbol: "B", status: CancelOnly, tick: None, lot: None, quantity_min: None, quantity_max: None, notional_min: None, notional_max: None }
        Listing { symbol: "C", status: Halted, tick: None, lot: None, quantity_min: None, quantity_max: None, notional_min: None, notional_max: None }
        Listing { symbol: "D", status: Halted, tick: None, lot: None, quantity_min: None, quantity_max: None, notional_min: None, notional_max: None }
    "#]].assert_eq(&lines);
}

#[test]
fn a_list_with_a_symbol_that_cannot_be_read_is_refused_as_a_whole() {
    let mut info = info();
    info["symbols"][1].as_object_mut().unwrap().remove("status");
    assert!(serde_json::from_value::<ExchangeInfo>(info).is_err());
}

#[test]
fn trades_and_balances() {
    let trade = r#"{"symbol":"BNBBTC","id":28457,"orderId":100234,"orderListId":-1,"price":"4.00000100","qty":"12.00000000",
        "quoteQty":"48.000012","commission":"10.10000000","commissionAsset":"BNB","time":1499865549590,"isBuyer":true,
        "isMaker":false,"isBestMatch":true}"#;
    let read: BinanceTrade = serde_json::from_str(trade).unwrap();
    assert_eq!((read.id.0, read.order_id.0, read.is_maker), (28_457, 100_234, false));
    let account = r#"{"canTrade":true,"updateTime":123456789,"balances":[
        {"asset":"BTC","free":"4723846.89208129","locked":"0.5"}],"uid":354937868}"#;
    let read: BinanceAccount = serde_json::from_str(account).unwrap();
    assert_eq!((read.can_trade, read.can_withdraw), (true, false));
    assert_eq!(read.balances[0].locked.0.to_string(), "0.5");
}
