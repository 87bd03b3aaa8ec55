//! Bars of the past, as the venue has them.

use std::sync::Arc;

use adapter_binance::protocol::requests::BinanceRequest;
use adapters::venue_type::WantedBars;
use domain::{BarSize, Quantity, Side};

use crate::harness::{BITCOIN, past_bars};
use crate::lab::{Lab, now, run_value};
use crate::orders::ticket;

#[test]
fn bars_of_the_past_are_closed_and_named_after_the_venue() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let bought = ticket("BTCUSDT", Side::Buy, "0.01", None, "R1-1-0");
    run_value(lab.rest("HMAC").call(&BinanceRequest::place(&bought))).outcome.unwrap();
    let trades = run_value(lab.ledger())["trades"].clone();
    let (price, traded_at) =
        (trades[0]["price"].as_str().unwrap(), trades[0]["time"].as_str().unwrap().parse::<i64>().unwrap());

    // The minute of the trade is over two minutes later, but not while it lasts.
    let wanted =
        WantedBars { security: BITCOIN, symbol: "BTCUSDT".into(), size: BarSize::Min1, from: now().plus_seconds(-600) };
    let mut later = past_bars(&lab, folder.path(), Arc::new(|| now().plus_seconds(120)));
    let bars = later.bars(&wanted).unwrap();
    let minute = traded_at - traded_at.rem_euclid(60_000);
    let first = bars.iter().find(|bar| bar.at.millis() == minute).unwrap();
    assert_eq!((&*first.feed, first.security, first.size), ("BINANCE-SPOT-LAB", BITCOIN, BarSize::Min1));
    // The lab opened its market with a small trade of its own.
    assert!(first.vol >= "0.01".parse::<Quantity>().unwrap(), "{first:?}");
    assert_eq!(first.close, price.parse().unwrap());
    assert!(bars.iter().filter(|bar| bar.at > first.at).all(|bar| bar.vol.is_zero()), "{bars:?}");
    let unlisted = later.bars(&WantedBars { symbol: "NOTUSDT".into(), ..wanted.clone() });
    assert_eq!(unlisted.unwrap_err(), "the venue does not list NOTUSDT");

    let mut earlier = past_bars(&lab, folder.path(), Arc::new(move || domain::Timestamp(traded_at * 1_000_000)));
    assert!(earlier.bars(&wanted).unwrap().iter().all(|bar| bar.at.millis() < minute), "it is not over yet");
}
