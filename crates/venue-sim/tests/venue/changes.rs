use expect_test::expect;
use venue_sim::VenueConfig;

use crate::venue_client::{quiet, run_story};

#[test]
fn less_keeps_the_place_in_the_queue_and_any_other_change_loses_it() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 50 STOCK limit 10 DAY
        10:00 submit 2 buy 50 STOCK limit 10 DAY
        10:00 submit 3 buy 50 STOCK limit 10 DAY
        10:01 replace 1 40 limit 10 DAY
        10:01 replace 2 60 limit 10 GTC
        10:02 submit 9 sell 145 STOCK limit 10 DAY account 2
        10:03 replace 2 60 limit 9.98 GTC
        10:03 submit 10 sell 5 STOCK limit 9.99 IOC account 2
        10:04 replace 2 60 limit 10.01 GTC
        10:05 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 50 STOCK limit 10 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 buy 50 STOCK limit 10 DAY
            accepted 2 as SIM-O2
        10:00 submit 3 buy 50 STOCK limit 10 DAY
            accepted 3 as SIM-O3
        10:01 replace 1 40 limit 10 DAY
            replaced 1: 40 @ 10 DAY
        10:01 replace 2 60 limit 10 GTC
            replaced 2: 60 @ 10 GTC
        10:02 submit 9 sell 145 STOCK limit 10 DAY account 2
            accepted 9 as SIM-O4
            filled 1 40 @ 10 by SIM-1
            filled 9 40 @ 10 by SIM-2
            filled 3 50 @ 10 by SIM-3
            filled 9 50 @ 10 by SIM-4
            filled 2 55 @ 10 by SIM-5
            filled 9 55 @ 10 by SIM-6
        10:03 replace 2 60 limit 9.98 GTC
            replaced 2: 60 @ 9.98 GTC
        10:03 submit 10 sell 5 STOCK limit 9.99 IOC account 2
            accepted 10 as SIM-O5
            filled 10 5 @ 9.99 by SIM-7
        10:04 replace 2 60 limit 10.01 GTC
            replaced 2: 60 @ 10.01 GTC
            filled 2 5 @ 10.01 by SIM-8
        10:05 picture
            1 40 @ 10 DAY live
            2 60 @ 10.01 GTC live
            3 50 @ 10 DAY live
            9 145 @ 10 DAY live
            10 5 @ 9.99 IOC live
            1 40 @ 10 by SIM-1
            9 40 @ 10 by SIM-2
            3 50 @ 10 by SIM-3
            9 50 @ 10 by SIM-4
            2 55 @ 10 by SIM-5
            9 55 @ 10 by SIM-6
            10 5 @ 9.99 by SIM-7
            2 5 @ 10.01 by SIM-8
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_replace_below_what_is_filled_amends_to_it_and_ends_the_order() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 150 STOCK limit 10.01 DAY
        10:01 replace 1 60 limit 10.01 DAY
        10:02 replace 1 200 limit 10.01 DAY
        10:03 cancel 1
        10:04 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 150 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            filled 1 100 @ 10.01 by SIM-1
        10:01 replace 1 60 limit 10.01 DAY
            replaced 1: 100 @ 10.01 DAY
        10:02 replace 1 200 limit 10.01 DAY
            replace of 1 refused: order-done: it is filled, canceled, expired or rejected
        10:03 cancel 1
            cancel of 1 refused: order-done: it is filled, canceled, expired or rejected
        10:04 picture
            1 100 @ 10.01 DAY live
            1 100 @ 10.01 by SIM-1
    "#]]
    .assert_eq(&told);
}

#[test]
fn what_cannot_be_replaced_or_canceled_stays_as_it_is() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:01 replace 1 0 limit 9 DAY
        10:01 replace 1 10 limit 9.001 DAY
        10:01 replace 1 10 market DAY
        10:01 replace 1 10 limit 9 IOC
        10:01 replace 1 10 limit 9 GTD 09:00
        10:02 replace 7 10 limit 9 DAY
        10:02 cancel 7
        10:03 cancel 1
        10:04 cancel 1
        10:04 replace 1 10 limit 9 DAY
        10:05 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 9 DAY
            accepted 1 as SIM-O1
        10:01 replace 1 0 limit 9 DAY
            replace of 1 refused: quantity: not a positive whole number of lots
        10:01 replace 1 10 limit 9.001 DAY
            replace of 1 refused: limit: not on a tick
        10:01 replace 1 10 market DAY
            replace of 1 refused: type: a replace cannot change it
        10:01 replace 1 10 limit 9 IOC
            replace of 1 refused: tif: a replace can change it among DAY, GTC and GTD only
        10:01 replace 1 10 limit 9 GTD 09:00
            replace of 1 refused: tif: the date has passed
        10:02 replace 7 10 limit 9 DAY
            replace of 7 refused: unknown-order
        10:02 cancel 7
            cancel of 7 refused: unknown-order
        10:03 cancel 1
            canceled 1
        10:04 cancel 1
            cancel of 1 refused: order-done: it is filled, canceled, expired or rejected
        10:04 replace 1 10 limit 9 DAY
            replace of 1 refused: order-done: it is filled, canceled, expired or rejected
        10:05 picture
            1 10 @ 9 DAY canceled
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_id_that_is_known_never_makes_a_second_order() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00 submit 1 buy 99 STOCK limit 10.01 DAY
        10:01 submit 2 buy 10 STOCK limit 9.005 DAY
        10:01 submit 2 buy 10 STOCK limit 10.01 DAY
        10:02 cancel 1
        10:02 submit 1 buy 10 STOCK limit 9 DAY
        10:03 submit 3 buy 10 STOCK market DAY
        10:03 submit 3 buy 10 STOCK market DAY
        10:04 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 9 DAY
            accepted 1 as SIM-O1
        10:00 submit 1 buy 99 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
        10:01 submit 2 buy 10 STOCK limit 9.005 DAY
            rejected 2: limit: not on a tick
        10:01 submit 2 buy 10 STOCK limit 10.01 DAY
            rejected 2: limit: not on a tick
        10:02 cancel 1
            canceled 1
        10:02 submit 1 buy 10 STOCK limit 9 DAY
            canceled 1
        10:03 submit 3 buy 10 STOCK market DAY
            accepted 3 as SIM-O2
            filled 3 10 @ 10.01 by SIM-1
        10:03 submit 3 buy 10 STOCK market DAY
            accepted 3 as SIM-O2
        10:04 picture
            1 10 @ 9 DAY canceled
            2 10 @ 9.005 DAY rejected
            3 10 DAY live
            3 10 @ 10.01 by SIM-1
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_cancel_that_follows_a_replace_on_its_way_leaves_both_with_an_answer() {
    let slow = VenueConfig { latency_nanos: 2_000_000_000, ..quiet() };
    let told = run_story(
        slow,
        "
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:01 replace 1 20 limit 9 DAY
        10:01 cancel 1
        10:02 submit 2 buy 10 STOCK limit 9 DAY
        10:03 cancel 2
        10:03 replace 2 20 limit 9 DAY
        10:04 submit 3 buy 10 STOCK limit 9.001 DAY
        10:04 replace 3 20 limit 9 DAY
        10:04 cancel 3
        10:05 wait
        10:05 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:01 replace 1 20 limit 9 DAY
            accepted 1 as SIM-O1
        10:01 cancel 1
        10:02 submit 2 buy 10 STOCK limit 9 DAY
            replaced 1: 20 @ 9 DAY
            canceled 1
        10:03 cancel 2
            accepted 2 as SIM-O2
        10:03 replace 2 20 limit 9 DAY
        10:04 submit 3 buy 10 STOCK limit 9.001 DAY
            canceled 2
            replace of 2 refused: order-done: it is filled, canceled, expired or rejected
        10:04 replace 3 20 limit 9 DAY
        10:04 cancel 3
        10:05 wait
            rejected 3: limit: not on a tick
            replace of 3 refused: order-done: it is filled, canceled, expired or rejected
            cancel of 3 refused: order-done: it is filled, canceled, expired or rejected
        10:05 picture
            1 20 @ 9 DAY canceled
            2 10 @ 9 DAY canceled
            3 10 @ 9.001 DAY rejected
    "#]]
    .assert_eq(&told);
}
