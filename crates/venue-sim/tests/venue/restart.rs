use domain::{OrderId, Timestamp};
use expect_test::expect;
use venue_sim::{VenueConfig, VenueSimulator};

use crate::venue_client::{VenueClient, at, quiet, record_line, run_story, snapshot_lines};

#[test]
fn the_ledger_has_every_step_before_the_client_is_told() {
    let mut desk = VenueClient::new(quiet(), at("10:00"));
    desk.run(
        "
        10:00 submit 1 buy 150 STOCK limit 10.01 DAY
        10:01 submit 2 sell 30 STOCK limit 10.01 IOC account 2
        10:02 replace 1 200 limit 9 DAY
        10:03 submit 3 buy 10 STOCK stop 10.01 DAY account 2
        10:04 submit 4 buy 10 STOCK limit 9.005 DAY
        10:05 cancel 1
        10:06 submit 5 buy 10 STOCK limit 8 DAY
        17:00 wait
        ",
    );
    let ledger: Vec<_> = desk.ledger.iter().map(record_line).collect();
    expect![[r#"
        submitted 1 150 @ 10.01 DAY
        accepted 1 as SIM-O1
        traded 100 @ 10.01: 1 by SIM-1
        submitted 2 30 @ 10.01 IOC
        accepted 2 as SIM-O2
        traded 30 @ 10.01: 1 by SIM-2, 2 by SIM-3
        replaced 1: 200 @ 9 DAY
        submitted 3 10 stop 10.01 DAY
        accepted 3 as SIM-O3
        activated 3
        traded 10 @ 10.02: 3 by SIM-4
        submitted 4 10 @ 9.005 DAY
        rejected 4: limit: not on a tick
        canceled 1
        submitted 5 10 @ 8 DAY
        accepted 5 as SIM-O4
        expired 5: DAY: the exchange day is over"#]]
    .assert_eq(&ledger.join("\n"));
}

#[test]
fn after_a_restart_orders_stand_in_their_old_order_and_quotes_come_back() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 50 STOCK limit 10 GTC
        10:00 submit 2 buy 50 STOCK limit 10 DAY
        10:00 submit 3 buy 10 STOCK stop 10.02 DAY
        10:00 submit 4 buy 10 STOCK market ATC
        10:01 replace 1 60 limit 10 GTC
        10:02 submit 5 sell 20 STOCK limit 10 DAY account 2
        10:03 picture
        10:04 restart
        10:04 picture
        10:05 submit 6 sell 60 STOCK limit 10 DAY account 2
        10:06 submit 7 buy 101 STOCK limit 10.02 DAY account 2
        16:55 restart
        17:00 wait
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 50 STOCK limit 10 GTC
            accepted 1 as SIM-O1
        10:00 submit 2 buy 50 STOCK limit 10 DAY
            accepted 2 as SIM-O2
        10:00 submit 3 buy 10 STOCK stop 10.02 DAY
            accepted 3 as SIM-O3
        10:00 submit 4 buy 10 STOCK market ATC
            accepted 4 as SIM-O4
        10:01 replace 1 60 limit 10 GTC
            replaced 1: 60 @ 10 GTC
        10:02 submit 5 sell 20 STOCK limit 10 DAY account 2
            accepted 5 as SIM-O5
            filled 2 20 @ 10 by SIM-1
            filled 5 20 @ 10 by SIM-2
        10:03 picture
            1 60 @ 10 GTC live
            2 50 @ 10 DAY live
            3 10 stop 10.02 DAY live
            4 10 ATC live
            5 20 @ 10 DAY live
            2 20 @ 10 by SIM-1
            5 20 @ 10 by SIM-2
        10:04 restart
        10:04 picture
            1 60 @ 10 GTC live
            2 50 @ 10 DAY live
            3 10 stop 10.02 DAY live
            4 10 ATC live
            5 20 @ 10 DAY live
            2 20 @ 10 by SIM-1
            5 20 @ 10 by SIM-2
        10:05 submit 6 sell 60 STOCK limit 10 DAY account 2
            accepted 6 as SIM-O6
            filled 2 30 @ 10 by SIM-3
            filled 6 30 @ 10 by SIM-4
            filled 1 30 @ 10 by SIM-5
            filled 6 30 @ 10 by SIM-6
        10:06 submit 7 buy 101 STOCK limit 10.02 DAY account 2
            accepted 7 as SIM-O7
            filled 7 100 @ 10.01 by SIM-7
            filled 7 1 @ 10.02 by SIM-8
            filled 3 10 @ 10.02 by SIM-9
        16:55 restart
        17:00 wait
            filled 4 10 @ 10.01 by SIM-10
    "#]]
    .assert_eq(&told);
}

#[test]
fn what_ended_while_the_venue_was_down_ends_when_it_is_back() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00 submit 2 buy 10 STOCK limit 9 GTD 15:00
        10:00 submit 3 buy 10 STOCK limit 9 GTC
        10:00 submit 4 buy 10 STOCK limit 9 ATC
        10:00 submit 5 buy 1 FUTURE limit 90 GTC
        +2 12:00 restart
        +2 12:00 wait
        +2 12:00 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 10 STOCK limit 9 DAY
            accepted 1 as SIM-O1
        10:00 submit 2 buy 10 STOCK limit 9 GTD 15:00
            accepted 2 as SIM-O2
        10:00 submit 3 buy 10 STOCK limit 9 GTC
            accepted 3 as SIM-O3
        10:00 submit 4 buy 10 STOCK limit 9 ATC
            accepted 4 as SIM-O4
        10:00 submit 5 buy 1 FUTURE limit 90 GTC
            accepted 5 as SIM-O5
        +2 12:00 restart
        +2 12:00 wait
            expired 2: GTD: its time is over
            expired 1: DAY: the exchange day is over
            expired 4: the auction it was for was not held
            expired 5: its security has expired
        +2 12:00 picture
            1 10 @ 9 DAY expired
            2 10 @ 9 GTD expired
            3 10 @ 9 GTC live
            4 10 @ 9 ATC expired
            5 1 @ 90 GTC expired
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_auction_that_the_venue_slept_through_is_held_when_it_is_back() {
    let told = run_story(
        quiet(),
        "
        08:50 submit 1 buy 10 STOCK limit 10.10 GTC
        08:50 submit 2 sell 10 STOCK limit 9.90 GTC account 2
        10:00 restart
        10:00 wait
        10:01 book STOCK
        ",
    );
    expect![[r#"
        08:50 submit 1 buy 10 STOCK limit 10.10 GTC
            accepted 1 as SIM-O1
        08:50 submit 2 sell 10 STOCK limit 9.90 GTC account 2
            accepted 2 as SIM-O2
        10:00 restart
        10:00 wait
            filled 2 10 @ 10 by SIM-1
            filled 1 10 @ 10 by SIM-2
        10:01 book STOCK
            tick 9.99 x 10.01 (100 x 100) last 10 (10) vol 10
            book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
    "#]]
    .assert_eq(&told);
}

#[test]
fn the_start_of_the_venue_trades_through_no_order() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 6000 STOCK limit 10.20 GTC
        10:01 book STOCK
        10:02 restart
        10:02 wait
        10:02 book STOCK
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 6000 STOCK limit 10.20 GTC
            accepted 1 as SIM-O1
            filled 1 100 @ 10.01 by SIM-1
            filled 1 200 @ 10.02 by SIM-2
            filled 1 300 @ 10.03 by SIM-3
            filled 1 400 @ 10.04 by SIM-4
            filled 1 500 @ 10.05 by SIM-5
            filled 1 600 @ 10.06 by SIM-6
            filled 1 700 @ 10.07 by SIM-7
            filled 1 800 @ 10.08 by SIM-8
            filled 1 900 @ 10.09 by SIM-9
            filled 1 1000 @ 10.1 by SIM-10
        10:01 book STOCK
            tick 10.2 x - (500 x -) last 10.1 (1000) vol 5500
            book bids 500 @ 10.2, 100 @ 9.99, 200 @ 9.98 (+7) asks  (+0)
        10:02 restart
        10:02 wait
        10:02 book STOCK
            tick 10.2 x 10.21 (500 x 100) last - (-) vol 0
            book bids 500 @ 10.2, 100 @ 10.19, 200 @ 10.18 (+7) asks 100 @ 10.21, 200 @ 10.22, 300 @ 10.23 (+7)
    "#]]
    .assert_eq(&told);
}

#[test]
fn no_stop_is_triggered_by_the_mere_start_of_the_venue() {
    let told = run_story(
        quiet(),
        "
        10:00 submit 1 buy 1500 STOCK market DAY
        10:01 submit 2 sell 10 STOCK stop 10.03 GTC
        10:01 submit 3 buy 10 STOCK limit 10.04 GTC
        10:02 restart
        10:02 wait
        10:02 book STOCK
        10:03 submit 4 sell 140 STOCK market DAY account 2
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 1500 STOCK market DAY
            accepted 1 as SIM-O1
            filled 1 100 @ 10.01 by SIM-1
            filled 1 200 @ 10.02 by SIM-2
            filled 1 300 @ 10.03 by SIM-3
            filled 1 400 @ 10.04 by SIM-4
            filled 1 500 @ 10.05 by SIM-5
        10:01 submit 2 sell 10 STOCK stop 10.03 GTC
            accepted 2 as SIM-O2
        10:01 submit 3 buy 10 STOCK limit 10.04 GTC
            accepted 3 as SIM-O3
        10:02 restart
        10:02 wait
        10:02 book STOCK
            tick 10.04 x 10.06 (110 x 100) last - (-) vol 0
            book bids 110 @ 10.04, 200 @ 10.03, 300 @ 10.02 (+7) asks 100 @ 10.06, 200 @ 10.07, 300 @ 10.08 (+7)
        10:03 submit 4 sell 140 STOCK market DAY account 2
            accepted 4 as SIM-O4
            filled 3 10 @ 10.04 by SIM-6
            filled 4 10 @ 10.04 by SIM-7
            filled 4 100 @ 10.04 by SIM-8
            filled 4 30 @ 10.03 by SIM-9
            filled 2 10 @ 10.03 by SIM-10
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_order_on_its_way_when_the_venue_crashes_still_arrives() {
    let slow = VenueConfig { latency_nanos: 2_000_000_000, ..quiet() };
    let told = run_story(
        slow,
        "
        10:00:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00:01 restart
        10:00:01 wait
        ",
    );
    expect![[r#"
        10:00:00 submit 1 buy 10 STOCK limit 9 DAY
        10:00:01 restart
        10:00:01 wait
            accepted 1 as SIM-O1
    "#]]
    .assert_eq(&told);
}

#[test]
fn every_prefix_of_a_ledger_is_a_valid_state() {
    let mut desk = VenueClient::new(quiet(), at("10:00"));
    desk.run(
        "
        10:00 submit 1 buy 150 STOCK limit 10.02 IOC
        10:01 submit 2 sell 50 STOCK limit 10 DAY account 2
        10:02 submit 3 buy 60 STOCK market DAY
        10:03 submit 4 buy 10 STOCK stop 10 DAY
        10:04 submit 5 buy 500 STOCK limit 10.01 FOK
        ",
    );
    let mut told = String::new();
    for length in 1..=desk.ledger.len() {
        let mut venue = VenueSimulator::new(quiet(), at("10:10")).unwrap();
        venue.restore(desk.ledger[..length].iter().cloned(), at("10:10"));
        let mut out = Vec::new();
        venue.advance(at("10:10"), &mut out);
        let after = desk.ledger[..length].last().map(record_line).unwrap();
        told += &format!("{after}\n    {}\n", snapshot_lines(&venue.snapshot()).join("; "));
    }
    expect![[r#"
        submitted 1 150 @ 10.02 IOC
            1 150 @ 10.02 IOC live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2
        accepted 1 as SIM-O1
            1 150 @ 10.02 IOC expired
        traded 100 @ 10.01: 1 by SIM-1
            1 150 @ 10.02 IOC expired; 1 100 @ 10.01 by SIM-1
        traded 50 @ 10.02: 1 by SIM-2
            1 150 @ 10.02 IOC live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2
        submitted 2 50 @ 10 DAY
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2
        accepted 2 as SIM-O2
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2
        submitted 3 60 DAY
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.01 by SIM-5
        accepted 3 as SIM-O3
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10.01 by SIM-3; 3 50 @ 10.01 by SIM-4; 3 10 @ 10.01 by SIM-5
        traded 50 @ 10: 2 by SIM-3, 3 by SIM-4
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.01 by SIM-5
        traded 10 @ 10.02: 3 by SIM-5
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.02 by SIM-5
        submitted 4 10 stop 10 DAY
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 4 10 stop 10 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.02 by SIM-5; 4 10 @ 10.01 by SIM-6
        accepted 4 as SIM-O4
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 4 10 stop 10 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.02 by SIM-5
        activated 4
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 4 10 stop 10 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.02 by SIM-5; 4 10 @ 10.01 by SIM-6
        traded 10 @ 10.02: 4 by SIM-6
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 4 10 stop 10 DAY live; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.02 by SIM-5; 4 10 @ 10.02 by SIM-6
        submitted 5 500 @ 10.01 FOK
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 4 10 stop 10 DAY live; 5 500 @ 10.01 FOK expired; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.02 by SIM-5; 4 10 @ 10.02 by SIM-6
        accepted 5 as SIM-O5
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 4 10 stop 10 DAY live; 5 500 @ 10.01 FOK expired; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.02 by SIM-5; 4 10 @ 10.02 by SIM-6
        expired 5: FOK: not fillable in full at once
            1 150 @ 10.02 IOC live; 2 50 @ 10 DAY live; 3 60 DAY live; 4 10 stop 10 DAY live; 5 500 @ 10.01 FOK expired; 1 100 @ 10.01 by SIM-1; 1 50 @ 10.02 by SIM-2; 2 50 @ 10 by SIM-3; 3 50 @ 10 by SIM-4; 3 10 @ 10.02 by SIM-5; 4 10 @ 10.02 by SIM-6
    "#]]
    .assert_eq(&told);
}

#[test]
fn orders_for_what_is_no_longer_listed_end() {
    let mut desk = VenueClient::new(quiet(), at("10:00"));
    desk.run("10:00 submit 1 buy 1 FUTURE limit 90 GTC");
    desk.config.listings.truncate(1);
    expect![[r#"
        10:01 restart
        10:01 wait
            expired 1: unlisted: its security does not trade here any more
        10:02 submit 2 buy 1 FUTURE limit 90 GTC
            rejected 2: security: not listed here
    "#]]
    .assert_eq(&desk.run(
        "
        10:01 restart
        10:01 wait
        10:02 submit 2 buy 1 FUTURE limit 90 GTC
        ",
    ));
}

#[test]
fn orders_finished_long_ago_leave_the_snapshot_and_are_still_never_accepted_twice() {
    let mut desk = VenueClient::new(quiet(), at("10:00"));
    for id in 1..=10_001 {
        desk.run(&format!("10:00 submit {id} buy 1 STOCK limit 9.999 DAY"));
    }
    let picture = desk.venue.snapshot();
    assert_eq!((picture.orders.len(), picture.orders[0].order), (10_000, OrderId(2)));
    assert_eq!(desk.run("10:01 submit 1 buy 1 STOCK limit 9 DAY"), "10:01 submit 1 buy 1 STOCK limit 9 DAY\n");
}

#[test]
#[should_panic(expected = "record 1 of the ledger: order 1 is unknown")]
fn a_ledger_with_a_part_missing_is_not_taken_up() {
    let mut desk = VenueClient::new(quiet(), at("10:00"));
    desk.run("10:00 submit 1 buy 1 STOCK limit 9 GTC");
    let mut venue = VenueSimulator::new(quiet(), Timestamp(0)).unwrap();
    venue.restore(desk.ledger.split_off(1), Timestamp(0));
}
