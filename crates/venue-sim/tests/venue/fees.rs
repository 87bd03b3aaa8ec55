use expect_test::expect;
use venue_sim::{VenueConfig, VenueFees};

use crate::venue_client::{quiet, run_story};

/// Pays makers two hundredths of a percent, charges takers five.
fn charging() -> VenueConfig {
    let fees = VenueFees { maker: "-0.0002".parse().unwrap(), taker: "0.0005".parse().unwrap() };
    VenueConfig { fees: Some(fees), ..quiet() }
}

#[test]
fn the_taker_is_charged_and_the_maker_is_paid() {
    let told = run_story(
        charging(),
        "
        10:00 submit 1 buy 150 STOCK limit 10.01 DAY
        10:01 submit 2 sell 50 STOCK limit 10.01 DAY account 2
        10:02 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 150 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            filled 1 100 @ 10.01 by SIM-1 fee 0.5005 as taker
        10:01 submit 2 sell 50 STOCK limit 10.01 DAY account 2
            accepted 2 as SIM-O2
            filled 1 50 @ 10.01 by SIM-2 fee -0.1001 as maker
            filled 2 50 @ 10.01 by SIM-3 fee 0.25025 as taker
        10:02 picture
            1 150 @ 10.01 DAY live
            2 50 @ 10.01 DAY live
            1 100 @ 10.01 by SIM-1 fee 0.5005 as taker
            1 50 @ 10.01 by SIM-2 fee -0.1001 as maker
            2 50 @ 10.01 by SIM-3 fee 0.25025 as taker
    "#]]
    .assert_eq(&told);
}

#[test]
fn in_an_auction_both_sides_pay_the_maker_fee() {
    let told = run_story(
        charging(),
        "
        08:50 submit 1 buy 300 STOCK limit 10.10 DAY
        08:51 submit 2 sell 300 STOCK limit 9.90 DAY account 2
        09:00 wait
        ",
    );
    expect![[r#"
        08:50 submit 1 buy 300 STOCK limit 10.10 DAY
            accepted 1 as SIM-O1
        08:51 submit 2 sell 300 STOCK limit 9.90 DAY account 2
            accepted 2 as SIM-O2
        09:00 wait
            filled 2 300 @ 10 by SIM-1 fee -0.6
            filled 1 300 @ 10 by SIM-2 fee -0.6
    "#]]
    .assert_eq(&told);
}

#[test]
fn charged_fees_are_in_the_ledger() {
    let told = run_story(
        charging(),
        "
        10:00 submit 1 buy 100 STOCK limit 10.01 DAY
        10:01 restart
        10:01 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 100 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            filled 1 100 @ 10.01 by SIM-1 fee 0.5005 as taker
        10:01 restart
        10:01 picture
            1 100 @ 10.01 DAY live
            1 100 @ 10.01 by SIM-1 fee 0.5005 as taker
    "#]]
    .assert_eq(&told);
}
