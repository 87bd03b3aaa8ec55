//! Statements: from the ledger alone, the same after a restart.

use domain::{AccountId, Currency};
use expect_test::expect;
use venue_sim::{Deposit, ListedSecurity, UnitCosts, VenueConfig, VenueFees};

use crate::venue_client::{quiet, run_story};

/// Account 1 begins with a thousand dollars; a taker pays a tenth of a percent and two cents a share.
fn charging() -> VenueConfig {
    let fees = VenueFees { maker: "0".parse().unwrap(), taker: "0.001".parse().unwrap() };
    let deposit = Deposit { account: AccountId(1), currency: Currency::USD, amount: 1_000.into() };
    let costs = UnitCosts { commission: "0.02".parse().unwrap(), fee: "7".parse().unwrap() };
    let quiet = quiet();
    let listings = quiet.listings.iter().map(|listing| ListedSecurity { costs, ..listing.clone() }).collect();
    VenueConfig { fees: Some(fees), deposits: vec![deposit], listings, ..quiet }
}

#[test]
fn a_statement_has_cash_what_orders_hold_and_positions_also_after_a_restart() {
    let told = run_story(
        charging(),
        "
        10:00 open-accounts
        10:00 state 1
        10:01 submit 1 buy 50 STOCK limit 9.00 GTC
        10:02 submit 2 buy 10 STOCK limit 10.01 DAY
        10:03 state 1
        10:03 state 2
        10:04 restart
        10:05 state 1
        10:06 submit 3 sell 4 STOCK limit 9.99 DAY
        10:07 cancel 1
        10:08 state 1
        ",
    );
    expect![[r#"
        10:00 open-accounts
        10:00 state 1
            account 1: 1000 USD locked 0
        10:01 submit 1 buy 50 STOCK limit 9.00 GTC
            accepted 1 as SIM-O1
        10:02 submit 2 buy 10 STOCK limit 10.01 DAY
            accepted 2 as SIM-O2
            filled 2 10 @ 10.01 by SIM-1 fee 0.1001 as taker
        10:03 state 1
            account 1: 899.5999 USD locked 450, 10 of 1
        10:03 state 2
            account 2:
        10:04 restart
        10:05 state 1
            account 1: 899.5999 USD locked 450, 10 of 1
        10:06 submit 3 sell 4 STOCK limit 9.99 DAY
            accepted 3 as SIM-O3
            filled 3 4 @ 9.99 by SIM-2 fee 0.03996 as taker
        10:07 cancel 1
            canceled 1
        10:08 state 1
            account 1: 939.43994 USD locked 0, 6 of 1
    "#]]
    .assert_eq(&told);
}

#[test]
fn of_a_future_only_the_profit_is_paid_and_after_its_last_day_cash_is_unknown() {
    let told = run_story(
        quiet(),
        "
        10:00 open-accounts
        10:01 submit 1 buy 2 FUTURE limit 101 DAY
        10:02 submit 2 sell 1 FUTURE limit 99 DAY
        10:03 submit 3 buy 1 FUTURE limit 90 DAY
        10:04 state 1
        +1 18:00 state 1
        ",
    );
    expect![[r#"
        10:00 open-accounts
        10:01 submit 1 buy 2 FUTURE limit 101 DAY
            accepted 1 as SIM-O1
            filled 1 2 @ 100.25 by SIM-1
        10:02 submit 2 sell 1 FUTURE limit 99 DAY
            accepted 2 as SIM-O2
            filled 2 1 @ 99.75 by SIM-2
        10:03 submit 3 buy 1 FUTURE limit 90 DAY
            accepted 3 as SIM-O3
        10:04 state 1
            account 1: -0.5 USD locked 0, 1 of 3
        +1 18:00 state 1
            expired 3: DAY: the exchange day is over
            account 1:, cash unknown
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_ledger_without_the_opening_of_its_accounts_states_nothing() {
    let told = run_story(quiet(), "10:00 submit 1 buy 10 STOCK limit 10.01 DAY\n 10:01 state 1");
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            filled 1 10 @ 10.01 by SIM-1
        10:01 state 1
            account 1: unknown
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_trade_of_an_order_that_has_ended_can_be_busted_or_corrected_and_nothing_of_it_is_left() {
    let told = run_story(
        charging(),
        "
        10:00 open-accounts
        10:00 bust 0
        10:01 submit 1 buy 10 STOCK limit 10.01 DAY
        10:02 submit 2 sell 4 STOCK limit 9.99 DAY
        10:03 correct 0
        10:04 state 1
        10:05 bust 1
        10:06 state 1
        10:07 ask 1
        10:07 ask 2
        10:08 fills
        10:09 restart
        10:10 state 1
        10:10 fills
        10:11 tell-again
        10:12 bust 0
        10:13 state 1
        10:14 bust 0
        ",
    );
    expect![[r#"
        10:00 open-accounts
        10:00 bust 0
        10:01 submit 1 buy 10 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            filled 1 10 @ 10.01 by SIM-1 fee 0.1001 as taker
        10:02 submit 2 sell 4 STOCK limit 9.99 DAY
            accepted 2 as SIM-O2
            filled 2 4 @ 9.99 by SIM-2 fee 0.03996 as taker
        10:03 correct 0
            corrected SIM-2: 2 4 @ 10 by SIM-3 fee 0.03996 as taker
        10:04 state 1
            account 1: 939.47994 USD locked 0, 6 of 1
        10:05 bust 1
            busted SIM-1 of 1
            canceled 1: busted: a trade was taken back, and the order does not return to the book
        10:06 state 1
            account 1: 1039.88004 USD locked 0, -4 of 1
        10:07 ask 1
            order 1 is Canceled with 10 @ 10.01 DAY
        10:07 ask 2
            order 2 is Live with 4 @ 9.99 DAY, 2 4 @ 10 by SIM-3 fee 0.03996 as taker
        10:08 fills
            fills from None to Some("3"): SIM-3 of 2
        10:09 restart
        10:10 state 1
            account 1: 1039.88004 USD locked 0, -4 of 1
        10:10 fills
            fills from None to Some("3"): SIM-3 of 2
        10:11 tell-again
            busted SIM-1 of 1
            canceled 1: busted: a trade was taken back, and the order does not return to the book
            corrected SIM-2: 2 4 @ 10 by SIM-3 fee 0.03996 as taker
        10:12 bust 0
            busted SIM-3 of 2
            canceled 2: busted: a trade was taken back, and the order does not return to the book
        10:13 state 1
            account 1: 1000 USD locked 0
        10:14 bust 0
    "#]]
    .assert_eq(&told);
}
