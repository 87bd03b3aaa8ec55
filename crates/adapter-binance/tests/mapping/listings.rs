//! The venue's list of symbols, in our securities: what the engine is told of it.

use std::sync::Arc;

use adapter_binance::protocol::exchange_info::BinanceSymbol;
use adapter_binance::symbol_table::SymbolTable;
use bus::Catalogue;
use domain::report::{ReplaceKind, ReportKind};
use domain::{ReferenceData, Security, SecurityId};
use expect_test::{Expect, expect};
use serde_json::json;

fn symbol(name: &str, status: &str, tick: &str) -> BinanceSymbol {
    serde_json::from_value(json!({
        "symbol": name, "status": status, "baseAsset": "BTC", "quoteAsset": "USDT", "isSpotTradingAllowed": true, "cancelReplaceAllowed": true,
        "filters": [
            {"filterType": "PRICE_FILTER", "minPrice": "0.01", "maxPrice": "100000", "tickSize": tick},
            {"filterType": "LOT_SIZE", "minQty": "0.001", "maxQty": "1000", "stepSize": "0.001"},
            {"filterType": "NOTIONAL", "minNotional": "5", "maxNotional": "0"},
        ],
    }))
    .unwrap()
}

/// Two securities of the venue's exchange and one of another.
fn reference(more: &[(u64, &str)]) -> Arc<ReferenceData> {
    let mut reference = ReferenceData::default();
    for (id, name) in [(1, "BTCUSDT"), (2, "ETHUSDT")].iter().chain(more) {
        reference.securities.insert(SecurityId(*id), Arc::new(samples::stock(*id, name)));
    }
    let elsewhere = Security { exchange: domain::ExchangeId(77), ..samples::stock(9, "ELSEWHERE") };
    reference.securities.insert(SecurityId(9), Arc::new(elsewhere));
    Arc::new(reference)
}

fn table() -> (SymbolTable, Catalogue) {
    let catalogue = Catalogue::default();
    catalogue.replace(reference(&[]));
    (SymbolTable::new("LAB".into(), samples::EXCHANGE, catalogue.clone()), catalogue)
}

fn told(table: &mut SymbolTable) -> String {
    let lines = table.untold_listings().into_iter().map(|said| match said {
        ReportKind::Listed { security, listing } => format!("{security} {listing:?}\n"),
        other => panic!("{other:?}"),
    });
    lines.collect()
}

fn check(table: &mut SymbolTable, expected: Expect) {
    expected.assert_eq(&told(table));
}

#[test]
fn only_changes_of_our_securities_are_told_and_each_once() {
    let (mut table, catalogue) = table();
    assert_eq!(told(&mut table), "", "before the first list nothing is known");
    let list = || vec![symbol("BTCUSDT", "TRADING", "0.01"), symbol("NEWUSDT", "TRADING", "0.01")];
    table.apply(list()).unwrap();
    check(
        &mut table,
        expect![[r#"
        1 VenueListing { status: Trading, tick: Some(0.01), lot: Some(0.001), quantity_min: Some(0.001), quantity_max: Some(1000), notional_min: Some(5), notional_max: None, replace: None }
        2 VenueListing { status: Unlisted, tick: None, lot: None, quantity_min: None, quantity_max: None, notional_min: None, notional_max: None, replace: None }
    "#]],
    );
    table.apply(list()).unwrap();
    assert_eq!(told(&mut table), "", "nothing has changed");

    table.apply(vec![symbol("BTCUSDT", "CANCEL_ONLY", "0.1"), symbol("NEWUSDT", "HALT", "0.1")]).unwrap();
    check(
        &mut table,
        expect![[r#"
        1 VenueListing { status: CancelOnly, tick: Some(0.1), lot: Some(0.001), quantity_min: Some(0.001), quantity_max: Some(1000), notional_min: Some(5), notional_max: None, replace: None }
    "#]],
    );
    // The symbol becomes a security of ours.
    catalogue.replace(reference(&[(3, "NEWUSDT")]));
    check(
        &mut table,
        expect![[r#"
        3 VenueListing { status: Halted, tick: Some(0.1), lot: Some(0.001), quantity_min: Some(0.001), quantity_max: Some(1000), notional_min: Some(5), notional_max: None, replace: None }
    "#]],
    );
    table.apply(vec![symbol("NEWUSDT", "TRADING", "0.1"), symbol("ETHUSDT", "TRADING", "0.1")]).unwrap();
    check(
        &mut table,
        expect![[r#"
        1 VenueListing { status: Delisted, tick: Some(0.1), lot: Some(0.001), quantity_min: Some(0.001), quantity_max: Some(1000), notional_min: Some(5), notional_max: None, replace: None }
        2 VenueListing { status: Trading, tick: Some(0.1), lot: Some(0.001), quantity_min: Some(0.001), quantity_max: Some(1000), notional_min: Some(5), notional_max: None, replace: None }
        3 VenueListing { status: Trading, tick: Some(0.1), lot: Some(0.001), quantity_min: Some(0.001), quantity_max: Some(1000), notional_min: Some(5), notional_max: None, replace: None }
    "#]],
    );
    assert_eq!(told(&mut table), "");
}

#[test]
fn a_symbol_that_offers_less_than_most_says_how_its_orders_are_replaced() {
    let (mut table, _) = table();
    let less =
        |has_amend| BinanceSymbol { has_cancel_replace: false, has_amend, ..symbol("BTCUSDT", "TRADING", "0.01") };
    let mut replace = |symbol| {
        table.apply(vec![symbol]).unwrap();
        let told = table.untold_listings().into_iter().find_map(|said| match said {
            ReportKind::Listed { security: SecurityId(1), listing } => Some(listing.replace),
            _ => None,
        });
        told.unwrap()
    };
    assert_eq!(replace(less(false)), Some(ReplaceKind::None));
    assert_eq!(replace(less(true)), Some(ReplaceKind::LowerQuantityOnly));
    assert_eq!(replace(symbol("BTCUSDT", "TRADING", "0.01")), None);
}

#[test]
fn a_list_that_is_empty_or_contradicts_itself_changes_nothing_and_is_an_error() {
    let (mut table, _) = table();
    table.apply(vec![symbol("BTCUSDT", "TRADING", "0.01")]).unwrap();
    told(&mut table);
    let twice = vec![symbol("BTCUSDT", "HALT", "0.01"), symbol("BTCUSDT", "TRADING", "0.01")];
    let refused = [vec![], twice].map(|list| table.apply(list).unwrap_err().to_string());
    assert_eq!(
        refused,
        [
            "the venue's list of symbols is empty; the list before it stays",
            "the venue's list has BTCUSDT twice; the list before it stays",
        ]
    );
    assert_eq!(told(&mut table), "");
    assert!(table.get("BTCUSDT").is_some());
}
