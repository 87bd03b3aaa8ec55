use expect_test::expect;

use crate::venue_client::{quiet, run_story};

#[test]
fn a_subscription_begins_with_tick_and_book_and_continues_with_changes() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
        10:00 subscribe STOCK
        10:01 submit 2 buy 150 STOCK limit 10.02 DAY
        10:02 submit 3 buy 10 STOCK limit 10.01 DAY
        10:03 submit 4 buy 10 STOCK limit 5 DAY
        10:04 wait
        10:05 submit 5 sell 10 FUTURE limit 100 DAY
        10:06 unsubscribe STOCK
        10:07 submit 6 buy 10 STOCK limit 10.02 DAY
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            filled 1 10 @ 10.01 by SIM-1
        10:00 subscribe STOCK
            tick 9.99 x 10.01 (100 x 90) last 10.01 (10) vol 10
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 90 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
        10:01 submit 2 buy 150 STOCK limit 10.02 DAY
            accepted 2 as SIM-O2
            filled 2 90 @ 10.01 by SIM-2
            filled 2 60 @ 10.02 by SIM-3
            trade 90 @ 10.01 Some(Buy)
            trade 60 @ 10.02 Some(Buy)
            tick 9.99 x 10.02 (100 x 140) last 10.02 (60) vol 160
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 140 @ 10.02, 300 @ 10.03, 400 @ 10.04 (+6)
        10:02 submit 3 buy 10 STOCK limit 10.01 DAY
            accepted 3 as SIM-O3
            tick 10.01 x 10.02 (10 x 140) last 10.02 (60) vol 160
            book bids 10 @ 10.01, 100 @ 9.99, 200 @ 9.98 (+7) asks 140 @ 10.02, 300 @ 10.03, 400 @ 10.04 (+6)
        10:03 submit 4 buy 10 STOCK limit 5 DAY
            accepted 4 as SIM-O4
        10:04 wait
        10:05 submit 5 sell 10 FUTURE limit 100 DAY
            accepted 5 as SIM-O5
        10:06 unsubscribe STOCK
        10:07 submit 6 buy 10 STOCK limit 10.02 DAY
            accepted 6 as SIM-O6
            filled 6 10 @ 10.02 by SIM-4
    "#]]
    .assert_eq(&told);
}

#[test]
fn before_an_auction_the_crossed_orders_show_as_the_price_they_would_make() {
    let told = run_story(
        quiet(),
        "
        08:50 subscribe STOCK
        08:51 submit 1 buy 250 STOCK limit 10.02 DAY
        08:52 submit 2 sell 50 STOCK limit 9.98 DAY account 2
        09:00 wait
        17:00 wait
        +1 08:49 wait
        +1 08:50 wait
        ",
    );
    expect![[r#"
        08:50 subscribe STOCK
            tick 9.99 x 10.01 (100 x 100) last - (-) vol 0
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
        08:51 submit 1 buy 250 STOCK limit 10.02 DAY
            accepted 1 as SIM-O1
            tick 10.02 x 10.02 (250 x 250) last - (-) vol 0
            book bids 250 @ 10.02, 100 @ 9.99, 200 @ 9.98 (+7) asks 250 @ 10.02, 300 @ 10.03, 400 @ 10.04 (+6)
        08:52 submit 2 sell 50 STOCK limit 9.98 DAY account 2
            accepted 2 as SIM-O2
        09:00 wait
            filled 2 50 @ 10.02 by SIM-1
            filled 1 50 @ 10.02 by SIM-2
            filled 1 100 @ 10.02 by SIM-3
            filled 1 100 @ 10.02 by SIM-4
            trade 50 @ 10.02 None
            trade 100 @ 10.02 None
            trade 100 @ 10.02 None
            tick 9.99 x 10.02 (100 x 100) last 10.02 (100) vol 250
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 100 @ 10.02, 300 @ 10.03, 400 @ 10.04 (+6)
        17:00 wait
        +1 08:49 wait
        +1 08:50 wait
            tick 9.99 x 10.02 (100 x 100) last 10.02 (100) vol 0
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_index_has_a_price_and_no_market() {
    let told = run_story(
        quiet(),
        "
        10:00 subscribe INDEX
        10:00 subscribe NOWHERE
        ",
    );
    expect![[r#"
        10:00 subscribe INDEX
            tick - x - (- x -) last 5000 (-) vol -
            book bids  (+0) asks  (+0)
        10:00 subscribe NOWHERE
    "#]]
    .assert_eq(&told);
}
