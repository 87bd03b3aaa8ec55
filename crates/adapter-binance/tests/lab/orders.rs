//! Orders over REST and over the WebSocket API, with every kind of key, compared with the lab's ledger.

use adapter_binance::client_id::client_id;
use adapter_binance::executions::BinanceFill;
use adapter_binance::order_mapping::ticket_of;
use adapter_binance::protocol::account_answers::{BinanceAccount, BinanceTrade};
use adapter_binance::protocol::error_codes::ErrorMeaning;
use adapter_binance::protocol::exchange_info::{BinanceSymbol, ExchangeInfo};
use adapter_binance::protocol::order_answers::{
    AmendAnswer, BinanceOrder, CancelReplaceOutcome, OrderAcknowledgement, cancel_replace_outcome,
};
use adapter_binance::protocol::requests::{BinanceRequest, OrderReference, OrderTicket, TradesFrom};
use adapter_binance::symbol_rules::check_ticket;
use adapter_kit::listings::Listings;
use domain::order::OrderTerms;
use domain::{OrderKind, OrderProperties, Quantity, Side, TimeInForce};
use serde::Deserialize;

use crate::lab::{Lab, run};

pub(crate) const CHINESE: &str = "币安人生USDT";

pub(crate) fn ticket(symbol: &str, side: Side, quantity: &str, limit: Option<&str>, id: &str) -> OrderTicket {
    let kind = limit.map_or(OrderKind::Market, |limit| OrderKind::Limit { limit: limit.parse().unwrap() });
    let tif = if limit.is_some() { TimeInForce::Day } else { TimeInForce::Ioc };
    let terms = OrderTerms { quantity: quantity.parse().unwrap(), kind, tif };
    ticket_of(symbol, side, terms, OrderProperties::default(), client_id(id, tif).unwrap()).unwrap()
}

fn client(id: &str) -> OrderReference {
    OrderReference::Client(id.to_owned())
}

/// Prices of the demo are far above.
fn resting(id: &str) -> OrderTicket {
    ticket("BTCUSDT", Side::Buy, "0.01", Some("20000"), id)
}

#[test]
fn every_kind_of_key_trades_over_rest() {
    run(async {
        let lab = Lab::start();
        for (index, kind) in ["HMAC", "RSA", "ED25519"].into_iter().enumerate() {
            let rest = lab.rest(kind);
            let account: BinanceAccount = rest.read(&BinanceRequest::account()).await;
            assert!(account.can_trade && !account.balances.is_empty(), "{kind}");
            let id = format!("R1-{index}-0");
            let placed: OrderAcknowledgement = rest.read(&BinanceRequest::place(&resting(&id))).await;
            assert_eq!(placed.client_id, format!("{id}_D"));
            let status = BinanceRequest::order_status("BTCUSDT", &client(&placed.client_id));
            let found: BinanceOrder = rest.read(&status).await;
            assert_eq!((found.order_id, found.status.as_str(), found.tif.as_str()), (placed.order_id, "NEW", "GTC"));
        }
        let open: Vec<BinanceOrder> = lab.rest("HMAC").read(&BinanceRequest::open_orders(None)).await;
        let ids: Vec<_> = open.iter().map(|order| order.client_id.as_str()).collect();
        assert_eq!(ids, ["R1-0-0_D", "R1-1-0_D", "R1-2-0_D"]);
    });
}

#[test]
fn an_order_is_amended_replaced_and_cancelled() {
    run(async {
        let lab = Lab::start();
        let rest = lab.rest("ED25519");
        rest.call(&BinanceRequest::place(&resting("R1-1-0"))).await.outcome.unwrap();
        let amend = BinanceRequest::amend("BTCUSDT", "R1-1-0_D", "0.006".parse().unwrap());
        let amended: AmendAnswer = rest.read(&amend).await;
        assert_eq!(Quantity(amended.order.quantity.0), "0.006".parse().unwrap());
        assert_eq!(amended.order.client_id, "R1-1-0_D");

        let by = ticket("BTCUSDT", Side::Buy, "0.006", Some("21000"), "R1-1-2");
        let replace = BinanceRequest::cancel_replace(&client("R1-1-0_D"), "R1-1-1", &by, true);
        let answer = rest.call(&replace).await;
        let CancelReplaceOutcome::Replaced(placed) = cancel_replace_outcome(answer.outcome.as_ref()) else {
            panic!("{answer:?}")
        };
        assert_eq!(placed.client_id, "R1-1-2_D");

        let cancel = BinanceRequest::cancel("BTCUSDT", &client("R1-1-2_D"), "R1-1-3");
        rest.call(&cancel).await.outcome.unwrap();
        let again = rest.call(&cancel).await.outcome.unwrap_err();
        assert_eq!(again.meaning, ErrorMeaning::NoSuchOrder, "{again:?}");

        let ledger = lab.ledger().await;
        let orders: Vec<_> =
            ledger["orders"].as_array().unwrap().iter().filter(|order| order["account"] == "ALPHA").collect();
        let shown: Vec<_> = orders
            .iter()
            .map(|order| (order["quantity"].as_str().unwrap().trim_end_matches('0'), order["status"].as_str().unwrap()))
            .collect();
        assert_eq!(shown, [("0.006", "CANCELED"), ("0.006", "CANCELED")]);
    });
}

#[test]
fn a_chinese_symbol_trades_and_its_fill_is_the_ledgers() {
    run(async {
        let lab = Lab::start();
        let info: ExchangeInfo = lab.rest("HMAC").read(&BinanceRequest::exchange_info()).await;
        let mut listings = Listings::default();
        listings.apply(info.symbols.iter().map(BinanceSymbol::listing).collect()).unwrap();
        let symbol = info.symbols.iter().find(|symbol| symbol.symbol == CHINESE).unwrap();
        let market = ticket(CHINESE, Side::Buy, "100", None, "R1-1-0");
        assert_eq!(check_ticket(&listings, symbol, &market), Ok(()));
        // Signed over the WebSocket API too, where the symbol is not percent-encoded.
        let mut session = lab.session("HMAC").await;
        let (answer, _) = session.call(&BinanceRequest::place(&market)).await;
        let placed = OrderAcknowledgement::deserialize(answer.outcome.as_ref().unwrap()).unwrap();
        let trades: Vec<BinanceTrade> =
            lab.rest("RSA").read(&BinanceRequest::order_trades(CHINESE, placed.order_id.0, None)).await;
        let all: Vec<BinanceTrade> = lab.rest("RSA").read(&BinanceRequest::my_trades(CHINESE, TradesFrom::Id(0))).await;
        assert_eq!(trades, all);
        let filled = trades.iter().map(|trade| Quantity(trade.quantity.0)).try_fold(Quantity::ZERO, Quantity::plus);
        assert_eq!(filled, Ok(100.into()));
        let ledger = lab.ledger().await;
        let theirs: Vec<_> =
            ledger["trades"].as_array().unwrap().iter().filter(|trade| trade["account"] == "ALPHA").collect();
        assert_eq!(theirs.len(), trades.len());
        for (trade, theirs) in trades.iter().zip(theirs) {
            let fill = BinanceFill::of_trade(trade).unwrap();
            assert_eq!(fill.quantity, theirs["quantity"].as_str().unwrap().parse().unwrap());
            assert_eq!(fill.price, theirs["price"].as_str().unwrap().parse().unwrap());
            let charge = fill.charge("USDT".parse().unwrap()).unwrap();
            assert_eq!(charge.amount, theirs["commission"].as_str().unwrap().parse().unwrap());
            assert_eq!(charge.currency.to_string(), theirs["commissionAsset"].as_str().unwrap());
        }
    });
}

#[test]
fn refusals_say_what_they_mean() {
    run(async {
        let lab = Lab::start();
        let rest = lab.rest("HMAC");
        let meaning = async |request: BinanceRequest| rest.call(&request).await.outcome.unwrap_err().meaning;
        let unknown = BinanceRequest::order_status("BTCUSDT", &client("R1-9-0"));
        assert_eq!(meaning(unknown).await, ErrorMeaning::NoSuchOrder);
        let nowhere = BinanceRequest::place(&ticket("NOPE", Side::Buy, "1", Some("1"), "R1-1-0"));
        assert_eq!(meaning(nowhere).await, ErrorMeaning::Refused);
        let too_much = BinanceRequest::place(&ticket("BTCUSDT", Side::Sell, "100000", Some("70000"), "R1-2-0"));
        assert_eq!(meaning(too_much).await, ErrorMeaning::Refused);
        rest.call(&BinanceRequest::place(&resting("R1-3-0"))).await.outcome.unwrap();
        assert_eq!(meaning(BinanceRequest::place(&resting("R1-3-0"))).await, ErrorMeaning::Duplicate);
    });
}
