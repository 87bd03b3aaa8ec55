//! The symbol's filters, checked before an order is sent.

use adapter_binance::order_mapping::TicketRefusal;
use adapter_binance::protocol::exchange_info::BinanceSymbol;
use adapter_binance::protocol::requests::OrderTicket;
use adapter_binance::protocol::venue_enums::BinanceStpMode;
use adapter_binance::symbol_rules::check_ticket;
use adapter_kit::listings::Listings;
use domain::order::OrderTerms;
use domain::{OrderKind, OrderProperties, TimeInForce};
use expect_test::expect;
use serde_json::json;

use crate::tickets::{price, ticket};

fn symbol() -> BinanceSymbol {
    serde_json::from_value(json!({
        "symbol": "BTCUSDT", "status": "TRADING", "baseAsset": "BTC", "quoteAsset": "USDT",
        "orderTypes": ["LIMIT", "LIMIT_MAKER", "MARKET", "STOP_LOSS_LIMIT"], "icebergAllowed": true,
        "isSpotTradingAllowed": true, "allowedSelfTradePreventionModes": ["NONE", "EXPIRE_TAKER"],
        "filters": [
            {"filterType": "PRICE_FILTER", "minPrice": "0.5", "maxPrice": "100", "tickSize": "0.1"},
            {"filterType": "LOT_SIZE", "minQty": "1", "maxQty": "1000", "stepSize": "0.5"},
            {"filterType": "MARKET_LOT_SIZE", "minQty": "2", "maxQty": "50", "stepSize": "2"},
            {"filterType": "NOTIONAL", "minNotional": "5", "maxNotional": "10000"},
            {"filterType": "ICEBERG_PARTS", "limit": 10},
        ],
    }))
    .unwrap()
}

fn check(symbol: &BinanceSymbol, ticket: &OrderTicket) -> Result<(), TicketRefusal> {
    let mut listings = Listings::default();
    listings.apply(vec![symbol.listing()]).unwrap();
    check_ticket(&listings, symbol, ticket)
}

fn limit(quantity: &str, limit: &str) -> OrderTicket {
    let kind = OrderKind::Limit { limit: price(limit) };
    let terms = OrderTerms { quantity: quantity.parse().unwrap(), kind, tif: TimeInForce::Gtc };
    ticket(terms, OrderProperties::default()).unwrap()
}

fn market(quantity: &str) -> OrderTicket {
    let terms = OrderTerms { quantity: quantity.parse().unwrap(), kind: OrderKind::Market, tif: TimeInForce::Ioc };
    ticket(terms, OrderProperties::default()).unwrap()
}

#[test]
fn an_order_that_fits_passes() {
    let stop_limit = OrderTicket { stop_price: Some("1.4".parse().unwrap()), ..limit("10", "1.5") };
    let iceberg = OrderTicket { iceberg: Some("1".parse().unwrap()), ..limit("10", "1.5") };
    let prevented = OrderTicket { stp_mode: Some(BinanceStpMode::ExpireTaker), ..limit("10", "1.5") };
    for fits in [limit("10", "1.5"), limit("10.5", "99.9"), market("50"), stop_limit, iceberg, prevented] {
        assert_eq!(check(&symbol(), &fits), Ok(()), "{fits:?}");
    }
}

#[test]
fn an_order_that_does_not_fit_is_refused_by_the_filter() {
    let stop_loss = OrderKind::Stop { stop: price("1.4") };
    let stop_loss = OrderTerms { quantity: 10.into(), kind: stop_loss, tif: TimeInForce::Gtc };
    let refused = [
        ticket(stop_loss, OrderProperties::default()).unwrap(),
        limit("10", "0.4"),
        limit("10", "100.1"),
        limit("10", "1.55"),
        OrderTicket { stop_price: Some("1.45".parse().unwrap()), ..limit("10", "1.5") },
        limit("10.2", "1.5"),
        limit("0.5", "1.5"),
        limit("2", "1.5"),
        limit("1000", "99.9"),
        market("1"),
        market("51"),
        market("7"),
        OrderTicket { iceberg: Some("0.5".parse().unwrap()), ..limit("10", "1.5") },
        OrderTicket { iceberg: Some("0".parse().unwrap()), ..limit("10", "1.5") },
        OrderTicket { stp_mode: Some(BinanceStpMode::Decrement), ..limit("10", "1.5") },
        OrderTicket { symbol: "ETHUSDT".to_owned(), ..limit("10", "1.5") },
    ];
    let lines: String = refused.iter().map(|ticket| format!("{}\n", check(&symbol(), ticket).unwrap_err())).collect();
    expect![[r#"
        venue-order-type: the symbol has no orders of type STOP_LOSS
        venue-price: the price 0.4 is not from 0.5 to 100
        venue-price: the price 100.1 is not from 0.5 to 100
        venue-tick: the price 1.55 is no multiple of 0.1
        venue-tick: the price 1.45 is no multiple of 0.1
        venue-lot: the quantity 10.2 is no multiple of 0.5
        venue-quantity: the quantity 0.5 is not from 1 to 1000
        venue-notional: price times quantity is not from 5 to 10000
        venue-notional: price times quantity is not from 5 to 10000
        venue-quantity: the quantity 1 is not from 2 to 50
        venue-quantity: the quantity 51 is not from 2 to 50
        venue-lot: the quantity 7 is no multiple of 2
        venue-property: displayQuantity: more than 10 parts
        venue-property: displayQuantity: more than 10 parts
        venue-self-trade: the symbol does not allow the mode DECREMENT
        venue-unlisted: the venue does not list the symbol
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_symbol_that_is_halted_or_without_icebergs_refuses() {
    let of = |status: &str, has_icebergs: bool| BinanceSymbol { status: status.into(), has_icebergs, ..symbol() };
    let iceberg = OrderTicket { iceberg: Some("1".parse().unwrap()), ..limit("10", "1.5") };
    let refused = [
        check(&of("HALT", true), &limit("10", "1.5")),
        check(&of("CANCEL_ONLY", true), &limit("10", "1.5")),
        check(&of("OF_TOMORROW", true), &limit("10", "1.5")),
        check(&of("TRADING", false), &iceberg),
    ];
    let lines: String = refused.into_iter().map(|refused| format!("{}\n", refused.unwrap_err())).collect();
    expect![[r#"
        venue-halted: the symbol is halted
        venue-cancel-only: the symbol is cancel-only
        venue-halted: the symbol is halted
        venue-property: displayQuantity: the symbol has no icebergs
    "#]]
    .assert_eq(&lines);
}
