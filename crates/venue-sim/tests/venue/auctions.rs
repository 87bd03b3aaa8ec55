use expect_test::expect;

use crate::venue_client::{quiet, round_the_clock, run_story};

#[test]
fn while_the_market_is_closed_orders_wait_and_those_that_cannot_are_rejected() {
    let told = run_story(
        quiet(),
        "
        08:00 submit 1 buy 10 STOCK limit 10.05 DAY
        08:00 submit 2 buy 10 STOCK market DAY
        08:00 submit 3 buy 10 STOCK limit 10.05 IOC
        08:00 submit 4 buy 10 STOCK limit 10.05 FOK
        08:00 submit 5 buy 10 STOCK market ATO
        08:00 submit 6 buy 10 STOCK market ATC
        08:50 wait
        09:00 wait
        17:00 wait
        ",
    );
    expect![[r#"
        08:00 submit 1 buy 10 STOCK limit 10.05 DAY
            accepted 1 as SIM-O1
        08:00 submit 2 buy 10 STOCK market DAY
            rejected 2: market-closed: a market order needs continuous trading
        08:00 submit 3 buy 10 STOCK limit 10.05 IOC
            rejected 3: market-closed: IOC needs continuous trading
        08:00 submit 4 buy 10 STOCK limit 10.05 FOK
            rejected 4: market-closed: FOK needs continuous trading
        08:00 submit 5 buy 10 STOCK market ATO
            accepted 5 as SIM-O2
        08:00 submit 6 buy 10 STOCK market ATC
            accepted 6 as SIM-O3
        08:50 wait
        09:00 wait
            filled 5 10 @ 10.01 by SIM-1
            filled 1 10 @ 10.01 by SIM-2
        17:00 wait
            filled 6 10 @ 10.01 by SIM-3
    "#]]
    .assert_eq(&told);
}

#[test]
fn the_opening_auction_trades_all_that_can_at_one_price() {
    let told = run_story(
        quiet(),
        "
        08:50 submit 1 buy 500 STOCK limit 10.10 DAY
        08:51 submit 2 sell 300 STOCK limit 9.90 DAY account 2
        08:52 submit 3 buy 50 STOCK market DAY account 3
        08:53 submit 4 sell 10 STOCK limit 10.50 ATO account 2
        08:53 submit 5 buy 10 STOCK limit 10.05 IOC
        08:53 submit 6 buy 10 STOCK market FOK
        08:54 book STOCK
        08:55 replace 1 400 limit 10.10 DAY
        08:56 submit 7 buy 10 STOCK limit 10.05 DAY
        08:57 cancel 7
        09:00 wait
        09:00 book STOCK
        09:01 picture
        ",
    );
    expect![[r#"
        08:50 submit 1 buy 500 STOCK limit 10.10 DAY
            accepted 1 as SIM-O1
        08:51 submit 2 sell 300 STOCK limit 9.90 DAY account 2
            accepted 2 as SIM-O2
        08:52 submit 3 buy 50 STOCK market DAY account 3
            accepted 3 as SIM-O3
        08:53 submit 4 sell 10 STOCK limit 10.50 ATO account 2
            accepted 4 as SIM-O4
        08:53 submit 5 buy 10 STOCK limit 10.05 IOC
            rejected 5: market-closed: IOC needs continuous trading
        08:53 submit 6 buy 10 STOCK market FOK
            rejected 6: market-closed: FOK needs continuous trading
        08:54 book STOCK
            tick 10.02 x 10.02 (550 x 550) last - (-) vol 0
            book bids 550 @ 10.02, 100 @ 9.99, 200 @ 9.98 (+7) asks 550 @ 10.02, 300 @ 10.03, 400 @ 10.04 (+7)
        08:55 replace 1 400 limit 10.10 DAY
            replaced 1: 400 @ 10.1 DAY
        08:56 submit 7 buy 10 STOCK limit 10.05 DAY
            accepted 7 as SIM-O5
        08:57 cancel 7
            canceled 7
        09:00 wait
            filled 2 50 @ 10.02 by SIM-1
            filled 3 50 @ 10.02 by SIM-2
            filled 2 250 @ 10.02 by SIM-3
            filled 1 250 @ 10.02 by SIM-4
            filled 1 100 @ 10.02 by SIM-5
            filled 1 50 @ 10.02 by SIM-6
            expired 4: ATO: the opening auction is over
        09:00 book STOCK
            tick 9.99 x 10.02 (100 x 150) last 10.02 (50) vol 450
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 150 @ 10.02, 300 @ 10.03, 400 @ 10.04 (+6)
        09:01 picture
            1 400 @ 10.1 DAY live
            2 300 @ 9.9 DAY live
            3 50 DAY live
            4 10 @ 10.5 ATO expired
            5 10 @ 10.05 IOC rejected
            6 10 FOK rejected
            7 10 @ 10.05 DAY canceled
            2 50 @ 10.02 by SIM-1
            3 50 @ 10.02 by SIM-2
            2 250 @ 10.02 by SIM-3
            1 250 @ 10.02 by SIM-4
            1 100 @ 10.02 by SIM-5
            1 50 @ 10.02 by SIM-6
    "#]]
    .assert_eq(&told);
}

#[test]
fn the_rest_of_an_ato_expires_and_that_of_a_market_order_is_canceled() {
    let told = run_story(
        quiet(),
        "
        08:50 submit 1 sell 6000 STOCK market ATO
        08:50 submit 2 sell 1000 STOCK market DAY
        09:00 wait
        ",
    );
    expect![[r#"
        08:50 submit 1 sell 6000 STOCK market ATO
            accepted 1 as SIM-O1
        08:50 submit 2 sell 1000 STOCK market DAY
            accepted 2 as SIM-O2
        09:00 wait
            filled 1 100 @ 9.9 by SIM-1
            filled 1 200 @ 9.9 by SIM-2
            filled 1 300 @ 9.9 by SIM-3
            filled 1 400 @ 9.9 by SIM-4
            filled 1 500 @ 9.9 by SIM-5
            filled 1 600 @ 9.9 by SIM-6
            filled 1 700 @ 9.9 by SIM-7
            filled 1 800 @ 9.9 by SIM-8
            filled 1 900 @ 9.9 by SIM-9
            filled 1 1000 @ 9.9 by SIM-10
            expired 1: ATO: the opening auction is over
            canceled 2: no-liquidity: no counterparty in the book
    "#]]
    .assert_eq(&told);
}

#[test]
fn atc_orders_stand_aside_until_the_closing_call() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK market ATC
        10:00 submit 2 buy 10 STOCK limit 9.50 ATC account 2
        10:00 submit 3 sell 20 STOCK limit 10 ATC account 3
        10:01 replace 2 15 limit 9.60 ATC
        10:02 submit 4 sell 10 STOCK limit 9.99 DAY account 4
        16:55 wait
        16:56 submit 5 buy 10 STOCK limit 10.01 DAY account 5
        16:57 submit 6 sell 10 STOCK limit 10 ATC account 6
        16:58 submit 7 sell 10 STOCK limit 10 IOC
        17:00 wait
        17:01 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK market ATC
            accepted 1 as SIM-O1
        10:00 submit 2 buy 10 STOCK limit 9.50 ATC account 2
            accepted 2 as SIM-O2
        10:00 submit 3 sell 20 STOCK limit 10 ATC account 3
            accepted 3 as SIM-O3
        10:01 replace 2 15 limit 9.60 ATC
            replaced 2: 15 @ 9.6 ATC
        10:02 submit 4 sell 10 STOCK limit 9.99 DAY account 4
            accepted 4 as SIM-O4
            filled 4 10 @ 9.99 by SIM-1
        16:55 wait
        16:56 submit 5 buy 10 STOCK limit 10.01 DAY account 5
            accepted 5 as SIM-O5
        16:57 submit 6 sell 10 STOCK limit 10 ATC account 6
            accepted 6 as SIM-O6
        16:58 submit 7 sell 10 STOCK limit 10 IOC
            rejected 7: market-closed: IOC needs continuous trading
        17:00 wait
            filled 3 10 @ 10 by SIM-2
            filled 1 10 @ 10 by SIM-3
            filled 3 10 @ 10 by SIM-4
            filled 5 10 @ 10 by SIM-5
            expired 2: ATC: the closing auction is over
            expired 6: ATC: the closing auction is over
        17:01 picture
            1 10 ATC live
            2 15 @ 9.6 ATC expired
            3 20 @ 10 ATC live
            4 10 @ 9.99 DAY live
            5 10 @ 10.01 DAY live
            6 10 @ 10 ATC expired
            7 10 @ 10 IOC rejected
            4 10 @ 9.99 by SIM-1
            3 10 @ 10 by SIM-2
            1 10 @ 10 by SIM-3
            3 10 @ 10 by SIM-4
            5 10 @ 10 by SIM-5
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_halted_security_has_no_auction_and_uncrosses_when_it_resumes() {
    let told = run_story(
        quiet(),
        "
        08:50 submit 1 buy 150 STOCK limit 10.01 DAY
        08:50 submit 2 buy 10 STOCK market ATO
        08:55 halt STOCK
        09:00 wait
        09:30 resume STOCK
        09:30 wait
        ",
    );
    expect![[r#"
        08:50 submit 1 buy 150 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
        08:50 submit 2 buy 10 STOCK market ATO
            accepted 2 as SIM-O2
        08:55 halt STOCK
            true
        09:00 wait
            expired 2: the auction it was for was not held
        09:30 resume STOCK
            true
        09:30 wait
            filled 1 100 @ 10.01 by SIM-1
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_exchange_without_auctions_has_no_orders_for_them() {
    let told = run_story(
        round_the_clock(),
        "
        10:00 submit 1 buy 10 STOCK market ATO
        10:00 submit 2 buy 10 STOCK market ATC
        23:59:59 submit 3 buy 10 STOCK limit 9 DAY
        +1 00:00 submit 4 buy 10 STOCK limit 9 DAY
        +1 23:59 wait
        +2 00:00 wait
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK market ATO
            rejected 1: tif: no auction here for ATO
        10:00 submit 2 buy 10 STOCK market ATC
            rejected 2: tif: no auction here for ATC
        23:59:59 submit 3 buy 10 STOCK limit 9 DAY
            accepted 3 as SIM-O1
        +1 00:00 submit 4 buy 10 STOCK limit 9 DAY
            expired 3: DAY: the exchange day is over
            accepted 4 as SIM-O2
        +1 23:59 wait
        +2 00:00 wait
            expired 4: DAY: the exchange day is over
    "#]]
    .assert_eq(&told);
}

#[test]
fn the_weekend_is_closed() {
    let told = run_story(
        quiet(),
        "
        +4 17:00 submit 1 buy 10 STOCK limit 10.01 DAY
        +5 12:00 submit 2 buy 10 STOCK market DAY
        +7 08:59 wait
        +7 09:00 wait
        ",
    );
    expect![[r#"
        +4 17:00 submit 1 buy 10 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
        +5 12:00 submit 2 buy 10 STOCK market DAY
            rejected 2: market-closed: a market order needs continuous trading
        +7 08:59 wait
        +7 09:00 wait
            filled 1 10 @ 10.01 by SIM-1
    "#]]
    .assert_eq(&told);
}
