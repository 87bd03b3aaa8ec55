use expect_test::expect;

use venue_sim::VenueConfig;

use crate::venue_client::{quiet, run_story};

#[test]
fn every_nth_order_is_rejected() {
    let told = run_story(
        quiet(),
        "
        10:00 faults reject=2
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00 submit 2 buy 10 STOCK limit 9 DAY
        10:00 submit 3 buy 10 STOCK limit 9 DAY
        10:00 submit 4 buy 10 STOCK limit 9 DAY
        10:01 faults none
        10:01 submit 5 buy 10 STOCK limit 9 DAY
        10:01 submit 6 buy 10 STOCK limit 9 DAY
        ",
    );
    expect![[r#"
        10:00 faults reject=2
        10:00 submit 1 buy 10 STOCK limit 9 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 buy 10 STOCK limit 9 DAY
            rejected 2: fault: rejected on purpose
        10:00 submit 3 buy 10 STOCK limit 9 DAY
            accepted 3 as SIM-O2
        10:00 submit 4 buy 10 STOCK limit 9 DAY
            rejected 4: fault: rejected on purpose
        10:01 faults none
        10:01 submit 5 buy 10 STOCK limit 9 DAY
            accepted 5 as SIM-O3
        10:01 submit 6 buy 10 STOCK limit 9 DAY
            accepted 6 as SIM-O4
    "#]]
    .assert_eq(&told);
}

#[test]
fn delayed_reports_come_later_and_in_order() {
    let told = run_story(
        quiet(),
        "
        10:00:00 faults delay-seconds=5
        10:00:00 submit 1 buy 10 STOCK limit 10.01 DAY
        10:00:02 submit 2 buy 10 STOCK limit 9 DAY
        10:00:03 faults none
        10:00:04 cancel 2
        10:00:05 wait
        10:00:06 wait
        10:00:07 wait
        10:00:08 cancel 1
        ",
    );
    expect![[r#"
        10:00:00 faults delay-seconds=5
        10:00:00 submit 1 buy 10 STOCK limit 10.01 DAY
        10:00:02 submit 2 buy 10 STOCK limit 9 DAY
        10:00:03 faults none
        10:00:04 cancel 2
        10:00:05 wait
            accepted 1 as SIM-O1
            filled 1 10 @ 10.01 by SIM-1
        10:00:06 wait
        10:00:07 wait
            accepted 2 as SIM-O2
            canceled 2
        10:00:08 cancel 1
            cancel of 1 refused: order-done: it is filled, canceled, expired or rejected
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_duplicated_report_is_identical() {
    let told = run_story(
        quiet(),
        "
        10:00 faults duplicate
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
        ",
    );
    expect![[r#"
        10:00 faults duplicate
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            accepted 1 as SIM-O1
            filled 1 10 @ 10.01 by SIM-1
            filled 1 10 @ 10.01 by SIM-1
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_dropped_report_is_in_the_snapshot() {
    let told = run_story(
        quiet(),
        "
        10:00 faults drop
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
        10:01 picture
        ",
    );
    expect![[r#"
        10:00 faults drop
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
        10:01 picture
            1 10 @ 10.01 DAY live
            1 10 @ 10.01 by SIM-1
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_request_that_is_lost_or_late_is_not_there_when_the_venue_is_asked_before() {
    let slow = VenueConfig { request_life_nanos: 5_000_000_000, ..quiet() };
    let told = run_story(
        slow,
        "
        10:00:00 faults lose
        10:00:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00:00 faults late
        10:00:00 submit 2 buy 10 STOCK limit 9 DAY
        10:00:00 ask 2
        10:00:05 ask 2
        10:00:05 ask 1
        10:00:05 picture
        ",
    );
    expect![[r#"
        10:00:00 faults lose
        10:00:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00:00 faults late
        10:00:00 submit 2 buy 10 STOCK limit 9 DAY
        10:00:00 ask 2
            no order 2
        10:00:05 ask 2
            accepted 2 as SIM-O1
            order 2 is Live with 10 @ 9 DAY
        10:00:05 ask 1
            no order 1
        10:00:05 picture
            2 10 @ 9 DAY live
    "#]]
    .assert_eq(&told);
}

#[test]
fn some_reports_are_overtaken() {
    let told = run_story(
        quiet(),
        "
        10:00:00 faults reorder=2
        10:00:00 submit 1 buy 150 STOCK limit 10.01 DAY
        10:00:00 submit 2 sell 50 STOCK limit 10.01 DAY account 2
        10:00:01 wait
        ",
    );
    expect![[r#"
        10:00:00 faults reorder=2
        10:00:00 submit 1 buy 150 STOCK limit 10.01 DAY
            filled 1 100 @ 10.01 by SIM-1
        10:00:00 submit 2 sell 50 STOCK limit 10.01 DAY account 2
            accepted 2 as SIM-O2
            filled 2 50 @ 10.01 by SIM-3
        10:00:01 wait
            accepted 1 as SIM-O1
            filled 1 50 @ 10.01 by SIM-2
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_muted_venue_trades_without_reports_and_publishes_the_market_when_unmuted() {
    let told = run_story(
        quiet(),
        "
        10:00 subscribe STOCK
        10:00 faults mute
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
        10:01 faults none
        10:01 wait
        10:01 picture
        ",
    );
    expect![[r#"
        10:00 subscribe STOCK
            tick 9.99 x 10.01 (100 x 100) last - (-) vol 0
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
        10:00 faults mute
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
        10:01 faults none
        10:01 wait
            gap
            tick 9.99 x 10.01 (100 x 90) last 10.01 (10) vol 10
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 90 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
        10:01 picture
            1 10 @ 10.01 DAY live
            1 10 @ 10.01 by SIM-1
    "#]]
    .assert_eq(&told);
}

#[test]
fn nothing_passes_a_disconnect_but_the_market_continues() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00 faults disconnect
        10:00 submit 2 buy 10 STOCK limit 9 DAY
        10:00 cancel 1
        17:00 wait
        17:00 faults none
        17:01 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 9 DAY
            accepted 1 as SIM-O1
        10:00 faults disconnect
        10:00 submit 2 buy 10 STOCK limit 9 DAY
        10:00 cancel 1
        17:00 wait
        17:00 faults none
        17:01 picture
            1 10 @ 9 DAY expired
    "#]]
    .assert_eq(&told);
}

#[test]
fn lists_show_orders_of_somebody_else_whose_reports_were_lost() {
    let told = run_story(
        quiet(),
        "
        10:00 faults strangers=1 drop=1
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:01 submit 2 buy 10 STOCK limit 10.01 DAY
        10:02 faults none
        10:03 open
        10:04 fills
        10:05 fills 2
        ",
    );
    expect![[r#"
        10:00 faults strangers=1 drop=1
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:01 submit 2 buy 10 STOCK limit 10.01 DAY
            gap
        10:02 faults none
        10:03 open
            gap
            somebody else's SIM-O2 is Live with 10 @ 9 DAY
            open are 1 as SIM-O1 Live with 10 @ 9 DAY
        10:04 fills
            somebody else's SIM-O4 is Live with 10 @ 10.01 DAY, 10 filled
            fills from None to Some("2"): SIM-1 of 2
        10:05 fills 2
            fills from Some("2") to Some("2"): 
    "#]]
    .assert_eq(&told);
}
