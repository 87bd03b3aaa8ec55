use expect_test::expect;

use crate::venue_client::{quiet, run_story};

#[test]
fn a_stop_waits_for_a_trade_at_its_price_and_then_takes_what_is_there() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
        10:01 submit 2 buy 20 STOCK stop 10.03 DAY
        10:02 submit 3 buy 190 STOCK limit 10.02 DAY
        10:03 submit 4 buy 150 STOCK limit 10.03 DAY
        10:04 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 10.01 DAY
            accepted 1 as SIM-O1
            filled 1 10 @ 10.01 by SIM-1
        10:01 submit 2 buy 20 STOCK stop 10.03 DAY
            accepted 2 as SIM-O2
        10:02 submit 3 buy 190 STOCK limit 10.02 DAY
            accepted 3 as SIM-O3
            filled 3 90 @ 10.01 by SIM-2
            filled 3 100 @ 10.02 by SIM-3
        10:03 submit 4 buy 150 STOCK limit 10.03 DAY
            accepted 4 as SIM-O4
            filled 4 100 @ 10.02 by SIM-4
            filled 4 50 @ 10.03 by SIM-5
            filled 2 20 @ 10.03 by SIM-6
        10:04 picture
            1 10 @ 10.01 DAY live
            2 20 stop 10.03 DAY live
            3 190 @ 10.02 DAY live
            4 150 @ 10.03 DAY live
            1 10 @ 10.01 by SIM-1
            3 90 @ 10.01 by SIM-2
            3 100 @ 10.02 by SIM-3
            4 100 @ 10.02 by SIM-4
            4 50 @ 10.03 by SIM-5
            2 20 @ 10.03 by SIM-6
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_triggered_stop_limit_rests_at_its_limit() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 sell 100 STOCK stop-limit 9.98 10 DAY
        10:01 submit 2 sell 150 STOCK market DAY
        10:02 submit 3 buy 40 STOCK limit 10 DAY account 2
        10:03 replace 1 90 stop-limit 9.98 9.99 DAY
        10:04 submit 4 buy 10 STOCK limit 10 DAY account 2
        10:05 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 sell 100 STOCK stop-limit 9.98 10 DAY
            accepted 1 as SIM-O1
        10:01 submit 2 sell 150 STOCK market DAY
            accepted 2 as SIM-O2
            filled 2 100 @ 9.99 by SIM-1
            filled 2 50 @ 9.98 by SIM-2
        10:02 submit 3 buy 40 STOCK limit 10 DAY account 2
            accepted 3 as SIM-O3
            filled 1 40 @ 10 by SIM-3
            filled 3 40 @ 10 by SIM-4
        10:03 replace 1 90 stop-limit 9.98 9.99 DAY
            replaced 1: 90 @ 9.99 stop 9.98 DAY
        10:04 submit 4 buy 10 STOCK limit 10 DAY account 2
            accepted 4 as SIM-O4
            filled 1 10 @ 9.99 by SIM-5
            filled 4 10 @ 9.99 by SIM-6
        10:05 picture
            1 90 @ 9.99 stop 9.98 DAY live
            2 150 DAY live
            3 40 @ 10 DAY live
            4 10 @ 10 DAY live
            2 100 @ 9.99 by SIM-1
            2 50 @ 9.98 by SIM-2
            1 40 @ 10 by SIM-3
            3 40 @ 10 by SIM-4
            1 10 @ 9.99 by SIM-5
            4 10 @ 9.99 by SIM-6
    "#]]
    .assert_eq(&told);
}

#[test]
fn before_the_first_trade_the_quote_triggers() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK stop 10.02 DAY
        10:00 submit 2 sell 10 STOCK stop 9.98 DAY
        10:01 submit 3 buy 10 STOCK stop 10.01 DAY account 2
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK stop 10.02 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 sell 10 STOCK stop 9.98 DAY
            accepted 2 as SIM-O2
        10:01 submit 3 buy 10 STOCK stop 10.01 DAY account 2
            accepted 3 as SIM-O3
            filled 3 10 @ 10.01 by SIM-1
    "#]]
    .assert_eq(&told);
}

#[test]
fn one_stop_may_trigger_the_next() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 sell 200 STOCK stop 9.98 DAY
        10:00 submit 2 sell 10 STOCK stop 9.97 DAY
        10:00 submit 3 sell 10 STOCK stop 9.95 DAY
        10:01 submit 4 sell 150 STOCK market DAY
        ",
    );
    expect![[r#"
        10:00 submit 1 sell 200 STOCK stop 9.98 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 sell 10 STOCK stop 9.97 DAY
            accepted 2 as SIM-O2
        10:00 submit 3 sell 10 STOCK stop 9.95 DAY
            accepted 3 as SIM-O3
        10:01 submit 4 sell 150 STOCK market DAY
            accepted 4 as SIM-O4
            filled 4 100 @ 9.99 by SIM-1
            filled 4 50 @ 9.98 by SIM-2
            filled 1 150 @ 9.98 by SIM-3
            filled 1 50 @ 9.97 by SIM-4
            filled 2 10 @ 9.97 by SIM-5
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_stop_can_be_moved_and_withdrawn_and_ends_with_its_day() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK stop 10.50 DAY
        10:00 submit 2 buy 10 STOCK stop 10.50 DAY
        10:00 submit 3 buy 10 STOCK stop 10.50 DAY
        10:01 replace 1 20 stop 10.01 DAY
        10:02 cancel 2
        17:00 wait
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK stop 10.50 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 buy 10 STOCK stop 10.50 DAY
            accepted 2 as SIM-O2
        10:00 submit 3 buy 10 STOCK stop 10.50 DAY
            accepted 3 as SIM-O3
        10:01 replace 1 20 stop 10.01 DAY
            replaced 1: 20 stop 10.01 DAY
            filled 1 20 @ 10.01 by SIM-1
        10:02 cancel 2
            canceled 2
        17:00 wait
            expired 3: DAY: the exchange day is over
    "#]]
    .assert_eq(&told);
}

#[test]
fn stops_sleep_outside_continuous_trading() {
    let told = run_story(
        quiet(),
        "
        08:00 submit 1 buy 10 STOCK stop 10.01 GTC
        08:55 submit 2 sell 10 STOCK stop 10.05 GTC
        08:59 wait
        09:00 wait
        ",
    );
    expect![[r#"
        08:00 submit 1 buy 10 STOCK stop 10.01 GTC
            accepted 1 as SIM-O1
        08:55 submit 2 sell 10 STOCK stop 10.05 GTC
            accepted 2 as SIM-O2
        08:59 wait
        09:00 wait
            filled 1 10 @ 10.01 by SIM-1
            filled 2 10 @ 9.99 by SIM-2
    "#]]
    .assert_eq(&told);
}
