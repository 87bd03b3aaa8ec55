use domain::OrderId;
use expect_test::expect;
use venue_sim::config::REQUESTS_UNDERWAY_MAX;
use venue_sim::{SelfTradeRule, VenueConfig};

use crate::venue_client::{VenueClient, at, quiet, run_story};

#[test]
fn a_limit_order_takes_what_it_reaches_and_the_rest_queues_behind_what_was_there() {
    let told = run_story(
        quiet(),
        "
        10:00 book STOCK
        10:00 submit 1 buy 150 STOCK limit 10.01 DAY
        10:00 book STOCK
        10:01 submit 2 buy 20 STOCK limit 9.99 DAY
        10:02 submit 3 sell 130 STOCK limit 9.99 DAY account 2
        10:03 submit 4 sell 40 STOCK limit 9.99 DAY account 2
        10:04 picture
        ",
    );
    expect![[r#"
        10:00 book STOCK
            tick 9.99 x 10.01 (100 x 100) last - (-) vol 0
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
        10:00 submit 1 buy 150 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            filled 1 100 @ 10.01 by SIM-1
        10:00 book STOCK
            tick 10.01 x 10.02 (50 x 200) last 10.01 (100) vol 100
            book bids 50 @ 10.01, 100 @ 9.99, 200 @ 9.98 (+7) asks 200 @ 10.02, 300 @ 10.03, 400 @ 10.04 (+6)
        10:01 submit 2 buy 20 STOCK limit 9.99 DAY
            accepted 2 as SIM-O2
        10:02 submit 3 sell 130 STOCK limit 9.99 DAY account 2
            accepted 3 as SIM-O3
            filled 1 50 @ 10.01 by SIM-2
            filled 3 50 @ 10.01 by SIM-3
            filled 3 80 @ 9.99 by SIM-4
        10:03 submit 4 sell 40 STOCK limit 9.99 DAY account 2
            accepted 4 as SIM-O4
            filled 4 20 @ 9.99 by SIM-5
            filled 2 20 @ 9.99 by SIM-6
            filled 4 20 @ 9.99 by SIM-7
        10:04 picture
            1 150 @ 10.01 DAY live
            2 20 @ 9.99 DAY live
            3 130 @ 9.99 DAY live
            4 40 @ 9.99 DAY live
            1 100 @ 10.01 by SIM-1
            1 50 @ 10.01 by SIM-2
            3 50 @ 10.01 by SIM-3
            3 80 @ 9.99 by SIM-4
            4 20 @ 9.99 by SIM-5
            2 20 @ 9.99 by SIM-6
            4 20 @ 9.99 by SIM-7
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_market_order_walks_through_the_levels_and_its_remainder_is_canceled() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 250 STOCK market DAY
        10:01 submit 2 sell 10000 STOCK market DAY
        10:02 submit 3 sell 1 STOCK market GTC
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 250 STOCK market DAY
            accepted 1 as SIM-O1
            filled 1 100 @ 10.01 by SIM-1
            filled 1 150 @ 10.02 by SIM-2
        10:01 submit 2 sell 10000 STOCK market DAY
            accepted 2 as SIM-O2
            filled 2 100 @ 9.99 by SIM-3
            filled 2 200 @ 9.98 by SIM-4
            filled 2 300 @ 9.97 by SIM-5
            filled 2 400 @ 9.96 by SIM-6
            filled 2 500 @ 9.95 by SIM-7
            filled 2 600 @ 9.94 by SIM-8
            filled 2 700 @ 9.93 by SIM-9
            filled 2 800 @ 9.92 by SIM-10
            filled 2 900 @ 9.91 by SIM-11
            filled 2 1000 @ 9.9 by SIM-12
            canceled 2: no-liquidity: no counterparty in the book
        10:02 submit 3 sell 1 STOCK market GTC
            accepted 3 as SIM-O3
            canceled 3: no-liquidity: no counterparty in the book
    "#]]
    .assert_eq(&told);
}

#[test]
fn ioc_takes_what_is_there_and_fok_all_or_nothing() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 150 STOCK limit 10.01 IOC
        10:01 submit 2 buy 201 STOCK limit 10.02 FOK
        10:02 submit 3 buy 200 STOCK limit 10.02 FOK
        10:03 submit 4 buy 5 STOCK limit 9.50 IOC
        10:04 submit 5 buy 5 STOCK market FOK
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 150 STOCK limit 10.01 IOC
            accepted 1 as SIM-O1
            filled 1 100 @ 10.01 by SIM-1
            expired 1: IOC: no more at its price
        10:01 submit 2 buy 201 STOCK limit 10.02 FOK
            accepted 2 as SIM-O2
            expired 2: FOK: not fillable in full at once
        10:02 submit 3 buy 200 STOCK limit 10.02 FOK
            accepted 3 as SIM-O3
            filled 3 200 @ 10.02 by SIM-2
        10:03 submit 4 buy 5 STOCK limit 9.50 IOC
            accepted 4 as SIM-O4
            expired 4: IOC: no more at its price
        10:04 submit 5 buy 5 STOCK market FOK
            accepted 5 as SIM-O5
            filled 5 5 @ 10.03 by SIM-3
    "#]]
    .assert_eq(&told);
}

#[test]
fn day_ends_with_the_day_gtd_at_its_instant_and_gtc_never() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00 submit 2 buy 10 STOCK limit 9 GTD 12:30
        10:00 submit 3 buy 10 STOCK limit 9 GTC
        10:00 submit 4 buy 10 STOCK limit 9 GTD 09:59
        12:29:59 wait
        12:30 wait
        16:59:59 wait
        17:00 wait
        18:00 submit 5 buy 10 STOCK limit 9 DAY
        +1 16:59:59 wait
        +1 17:00 wait
        +3 12:00 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 9 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 buy 10 STOCK limit 9 GTD 12:30
            accepted 2 as SIM-O2
        10:00 submit 3 buy 10 STOCK limit 9 GTC
            accepted 3 as SIM-O3
        10:00 submit 4 buy 10 STOCK limit 9 GTD 09:59
            rejected 4: tif: the date has passed
        12:29:59 wait
        12:30 wait
            expired 2: GTD: its time is over
        16:59:59 wait
        17:00 wait
            expired 1: DAY: the exchange day is over
        18:00 submit 5 buy 10 STOCK limit 9 DAY
            accepted 5 as SIM-O4
        +1 16:59:59 wait
        +1 17:00 wait
            expired 5: DAY: the exchange day is over
        +3 12:00 picture
            1 10 @ 9 DAY expired
            2 10 @ 9 GTD expired
            3 10 @ 9 GTC live
            4 10 @ 9 GTD rejected
            5 10 @ 9 DAY expired
    "#]]
    .assert_eq(&told);
}

#[test]
fn what_the_venue_cannot_trade_is_rejected_with_the_reason() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 NOWHERE limit 9 DAY
        10:00 submit 2 buy 10 INDEX limit 9 DAY
        10:00 submit 3 buy 0 STOCK limit 9 DAY
        10:00 submit 4 buy 0.5 STOCK limit 9 DAY
        10:00 submit 5 buy 10 STOCK limit 9.005 DAY
        10:00 submit 6 buy 10 STOCK stop 9.005 DAY
        10:00 submit 7 buy 10 STOCK stop 11 IOC
        10:00 submit 8 buy 10 STOCK limit 9 ATO
        10:00 submit 9223372036854775808 buy 10 STOCK limit 9 DAY
        10:00 submit 9 buy 99999999999999999999 STOCK limit 9 DAY
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 NOWHERE limit 9 DAY
            rejected 1: security: not listed here
        10:00 submit 2 buy 10 INDEX limit 9 DAY
            rejected 2: security: not tradeable
        10:00 submit 3 buy 0 STOCK limit 9 DAY
            rejected 3: quantity: not a positive whole number of lots
        10:00 submit 4 buy 0.5 STOCK limit 9 DAY
            rejected 4: quantity: not a positive whole number of lots
        10:00 submit 5 buy 10 STOCK limit 9.005 DAY
            rejected 5: limit: not on a tick
        10:00 submit 6 buy 10 STOCK stop 9.005 DAY
            rejected 6: stop: not on a tick
        10:00 submit 7 buy 10 STOCK stop 11 IOC
            rejected 7: tif: a stop cannot be IOC
        10:00 submit 8 buy 10 STOCK limit 9 ATO
            rejected 8: tif: the opening auction of the day is over
        10:00 submit 9223372036854775808 buy 10 STOCK limit 9 DAY
            rejected 9223372036854775808: order-id: does not fit 63 bits
        10:00 submit 9 buy 99999999999999999999 STOCK limit 9 DAY
            rejected 9: quantity: not a positive whole number of lots
    "#]]
    .assert_eq(&told);
}

#[test]
fn two_orders_of_one_account_never_trade_with_each_other() {
    let story = "
        10:00 submit 1 buy 10 STOCK limit 10 DAY
        10:01 submit 2 sell 30 STOCK limit 9.99 DAY
        10:02 submit 3 sell 10 STOCK limit 10 DAY account 2
        10:03 picture
        ";
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 10 DAY
            accepted 1 as SIM-O1
        10:01 submit 2 sell 30 STOCK limit 9.99 DAY
            accepted 2 as SIM-O2
            canceled 2: self-trade: it would have met an order of its own account
        10:02 submit 3 sell 10 STOCK limit 10 DAY account 2
            accepted 3 as SIM-O3
            filled 1 10 @ 10 by SIM-1
            filled 3 10 @ 10 by SIM-2
        10:03 picture
            1 10 @ 10 DAY live
            2 30 @ 9.99 DAY canceled
            3 10 @ 10 DAY live
            1 10 @ 10 by SIM-1
            3 10 @ 10 by SIM-2
    "#]]
    .assert_eq(&run_story(quiet(), story));
    let oldest = VenueConfig { self_trade: SelfTradeRule::CancelOldest, ..quiet() };
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 10 DAY
            accepted 1 as SIM-O1
        10:01 submit 2 sell 30 STOCK limit 9.99 DAY
            accepted 2 as SIM-O2
            canceled 1: self-trade: it would have met an order of its own account
            filled 2 30 @ 9.99 by SIM-1
        10:02 submit 3 sell 10 STOCK limit 10 DAY account 2
            accepted 3 as SIM-O3
        10:03 picture
            1 10 @ 10 DAY canceled
            2 30 @ 9.99 DAY live
            3 10 @ 10 DAY live
            2 30 @ 9.99 by SIM-1
    "#]]
    .assert_eq(&run_story(oldest, story));
}

#[test]
fn a_halted_security_takes_cancels_only() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00 submit 2 buy 10 STOCK limit 9 DAY
        10:01 halt STOCK
        10:01 halt NOWHERE
        10:02 submit 3 buy 10 STOCK limit 9 DAY
        10:02 replace 1 5 limit 9 DAY
        10:02 cancel 2
        10:02 submit 4 buy 1 FUTURE limit 100.25 DAY
        10:03 resume STOCK
        10:03 submit 5 buy 10 STOCK limit 10.01 DAY
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 9 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 buy 10 STOCK limit 9 DAY
            accepted 2 as SIM-O2
        10:01 halt STOCK
            true
        10:01 halt NOWHERE
            false
        10:02 submit 3 buy 10 STOCK limit 9 DAY
            rejected 3: halted: trading in the security is halted
        10:02 replace 1 5 limit 9 DAY
            replace of 1 refused: halted: trading in the security is halted
        10:02 cancel 2
            canceled 2
        10:02 submit 4 buy 1 FUTURE limit 100.25 DAY
            accepted 4 as SIM-O3
            filled 4 1 @ 100.25 by SIM-1
        10:03 resume STOCK
            true
        10:03 submit 5 buy 10 STOCK limit 10.01 DAY
            accepted 5 as SIM-O4
            filled 5 10 @ 10.01 by SIM-2
    "#]]
    .assert_eq(&told);
}

#[test]
fn orders_end_with_their_security_and_none_comes_after() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 1 FUTURE limit 90 GTC
        +1 16:59:59 submit 2 buy 1 FUTURE limit 90 GTC
        +1 17:00 wait
        +1 17:00 submit 3 buy 1 FUTURE limit 90 GTC
        +2 10:00 submit 4 buy 1 FUTURE market DAY
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 1 FUTURE limit 90 GTC
            accepted 1 as SIM-O1
        +1 16:59:59 submit 2 buy 1 FUTURE limit 90 GTC
            accepted 2 as SIM-O2
        +1 17:00 wait
            expired 1: its security has expired
            expired 2: its security has expired
        +1 17:00 submit 3 buy 1 FUTURE limit 90 GTC
            rejected 3: security: past its last trading day
        +2 10:00 submit 4 buy 1 FUTURE market DAY
            rejected 4: security: past its last trading day
    "#]]
    .assert_eq(&told);
}

#[test]
fn requests_take_their_time_to_the_book_and_keep_their_order() {
    let slow = VenueConfig { latency_nanos: 2_000_000_000, ..quiet() };
    let told = run_story(
        slow,
        "
        10:00:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00:01 cancel 1
        10:00:01 submit 1 buy 10 STOCK limit 9 DAY
        10:00:01 picture
        10:00:02 wait
        10:00:03 wait
        ",
    );
    expect![[r#"
        10:00:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00:01 cancel 1
        10:00:01 submit 1 buy 10 STOCK limit 9 DAY
        10:00:01 picture
            1 10 @ 9 DAY live
        10:00:02 wait
            accepted 1 as SIM-O1
        10:00:03 wait
            canceled 1
    "#]]
    .assert_eq(&told);
}

#[test]
fn more_requests_underway_than_the_venue_holds_are_refused_as_busy() {
    let slow = VenueConfig { latency_nanos: 2_000_000_000, ..quiet() };
    let mut desk = VenueClient::new(slow, at("10:00"));
    let mut out = Vec::new();
    for _ in 0..REQUESTS_UNDERWAY_MAX {
        desk.venue.cancel(at("10:00"), OrderId(1), &mut out);
    }
    assert!(out.is_empty());
    expect![[r#"
        10:00:00 submit 1 buy 10 STOCK limit 9 DAY
            rejected 1: busy: too many requests are underway
        10:00:01 replace 1 10 limit 9 DAY
            replace of 1 refused: busy: too many requests are underway
        10:00:01 cancel 1
            cancel of 1 refused: busy: too many requests are underway
        10:00:01 picture
            1 10 @ 9 DAY rejected
    "#]]
    .assert_eq(&desk.run(
        "
        10:00:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00:01 replace 1 10 limit 9 DAY
        10:00:01 cancel 1
        10:00:01 picture
        ",
    ));
}
