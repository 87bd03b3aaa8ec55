//! Market data in our words.

use adapter_binance::depth_book::DepthBook;
use adapter_binance::market_mapping::{FeedSecurity, interval_of};
use adapter_binance::protocol::market_answers::{DepthSnapshot, Kline};
use adapter_binance::protocol::market_events::{MarketEvent, decode_market_event};
use domain::{BarSize, SecurityId, Side, Timestamp};

fn feed() -> FeedSecurity {
    FeedSecurity { security: SecurityId(7), feed: "BINANCE".into() }
}

fn at() -> Timestamp {
    "2026-11-16T05:00:00Z".parse().unwrap()
}

#[test]
fn a_quote_has_both_sides_and_an_empty_side_has_no_price() {
    let quote = |text: &str| match decode_market_event(text) {
        MarketEvent::Quote(quote) => feed().tick(&quote, at()),
        other => panic!("{other:?}"),
    };
    let tick = quote(r#"{"u":1,"s":"A","b":"25.35","B":"31.21","a":"25.36","A":"40.66"}"#);
    let shown = |tick: &domain::Tick| format!("{:?} {:?} {:?} {:?}", tick.bid, tick.vol_bid, tick.ask, tick.vol_ask);
    assert_eq!(
        (shown(&tick).as_str(), tick.at, tick.last),
        ("Some(25.35) Some(31.21) Some(25.36) Some(40.66)", at(), None)
    );
    let half = quote(r#"{"u":1,"s":"A","b":"0.00000000","B":"0.00000000","a":"25.36","A":"40.66"}"#);
    assert_eq!(shown(&half), "None None Some(25.36) Some(40.66)");
}

#[test]
fn a_trade_names_the_side_that_took() {
    let trade = |is_buyer_maker: bool| {
        let text = format!(
            r#"{{"e":"trade","E":2,"s":"A","t":12345,"p":"0.001","q":"100","T":1794805200000,"m":{is_buyer_maker}}}"#
        );
        match decode_market_event(&text) {
            MarketEvent::Trade(trade) => feed().trade(&trade).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([trade(true), trade(false)].map(|trade| trade.aggressor), [Some(Side::Sell), Some(Side::Buy)]);
    assert_eq!((trade(true).at, trade(true).ext_id.unwrap().to_string()), (at(), "12345".to_owned()));
}

#[test]
fn a_book_has_its_best_levels_and_none_before_the_snapshot() {
    let mut book = DepthBook::default();
    assert_eq!(feed().book(&book, at(), 2), None);
    let text = r#"{"lastUpdateId":1,"bids":[["9","1"],["8","2"],["7","3"]],"asks":[["10","4"]]}"#;
    book.on_snapshot(&serde_json::from_str::<DepthSnapshot>(text).unwrap(), 5_000);
    let shown = feed().book(&book, at(), 2).unwrap();
    let levels = |side: &[domain::BookLevel]| {
        side.iter().map(|level| format!("{}x{}", level.quantity, level.price)).collect::<Vec<_>>()
    };
    assert_eq!(
        (levels(&shown.bids), levels(&shown.asks)),
        (vec!["1x9".to_owned(), "2x8".to_owned()], vec!["4x10".to_owned()])
    );
}

#[test]
fn a_bar_has_its_volume_weighted_price_or_is_not_taken() {
    let kline = |low: &str, volume: &str| {
        let row = format!(r#"[1794805200000,"2","4","{low}","3","{volume}",1794805259999,"250",308,"1","2","0"]"#);
        feed().bar(&serde_json::from_str::<Kline>(&row).unwrap(), BarSize::Min1)
    };
    let bar = kline("1", "100").unwrap();
    assert_eq!((bar.at, format!("{:?}", bar.vwap)), (at(), "Some(2.5)".to_owned()));
    assert_eq!(kline("1", "0").unwrap().vwap, None);
    assert_eq!(kline("2.5", "100"), None, "the first price is below the lowest one");
    let intervals = BarSize::ALL.map(interval_of);
    assert_eq!(intervals, ["1s", "1m", "5m", "15m", "1h", "1d"]);
}
