use std::sync::Arc;

use domain::{Exchange, ExchangeId, Price, Quantity, Security, SecurityKind};
use expect_test::expect;
use venue_sim::{ListedSecurity, VenueConfig, VenueSimulator};

use crate::venue_client::{at, quiet};

/// What is wrong with a configuration after a change to it.
fn complaint(change: impl FnOnce(&mut VenueConfig)) -> String {
    let mut config = quiet();
    change(&mut config);
    VenueSimulator::new(config, at("10:00")).unwrap_err().to_string()
}

fn security(listing: &mut ListedSecurity) -> &mut Security {
    Arc::make_mut(&mut listing.security)
}

#[test]
fn what_is_wrong_is_named() {
    let complaints = [
        complaint(|config| {
            config.exchange = Arc::new(Exchange { time_zone: "Mars".into(), ..(*config.exchange).clone() });
        }),
        complaint(|config| config.latency_nanos = -1),
        complaint(|config| config.listings.push(config.listings[0].clone())),
        complaint(|config| security(&mut config.listings[0]).exchange = ExchangeId(2)),
        complaint(|config| security(&mut config.listings[0]).price_incr = "-0.01".parse().unwrap()),
        complaint(|config| security(&mut config.listings[0]).qty_incr = "0.1234567890123".parse().unwrap()),
        complaint(|config| config.listings[0].opening.mid = "10.005".parse().unwrap()),
        complaint(|config| config.listings[0].opening.mid = Price::ZERO),
        complaint(|config| config.listings[0].opening.spread_ticks = 0),
        complaint(|config| config.listings[0].opening.size = Quantity::ZERO),
        complaint(|config| config.listings[0].opening.size = "0.5".parse().unwrap()),
        complaint(|config| config.listings[0].opening.volatility = "-0.1".parse().unwrap()),
    ];
    expect![[r#"
        timeZone: Mars is no zone
        latency: -1 ns is negative
        listings: security 1 is there twice
        listings: security 1 belongs to another exchange
        S1: priceIncr: too fine, too coarse or negative
        S1: qtyIncr: too fine, too coarse or negative
        S1: mid: not on a tick
        S1: mid: out of range
        S1: spreadTicks: out of range
        S1: size: out of range
        S1: size: not a whole number of lots
        S1: volatility: not between 0 and 10"#]]
    .assert_eq(&complaints.join("\n"));
}

#[test]
fn a_security_without_steps_trades_in_fine_ones() {
    let mut config = quiet();
    let stock = security(&mut config.listings[0]);
    assert_eq!(stock.kind, SecurityKind::Stock);
    (stock.price_incr, stock.qty_incr) = (0.into(), 0.into());
    expect![[r#"
        10:00 submit 1 buy 0.123 STOCK limit 10 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 sell 0.1 STOCK limit 9.9999 DAY account 2
            accepted 2 as SIM-O2
            filled 1 0.1 @ 10 by SIM-1
            filled 2 0.1 @ 10 by SIM-2
        10:00 book STOCK
            tick 10 x 10.00000001 (0.023 x 100) last 10 (0.1) vol 0.1
            book bids 0.023 @ 10, 100 @ 9.99999999, 200 @ 9.99999998 (+7) asks 100 @ 10.00000001, 200 @ 10.00000002, 300 @ 10.00000003 (+7)
    "#]].assert_eq(&crate::venue_client::run_story(
        config,
        "
        10:00 submit 1 buy 0.123 STOCK limit 10 DAY
        10:00 submit 2 sell 0.1 STOCK limit 9.9999 DAY account 2
        10:00 book STOCK
        ",
    ));
}
