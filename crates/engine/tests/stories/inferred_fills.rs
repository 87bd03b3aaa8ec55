//! Fills that a venue has and never reported: after it has begun its session anew, and where it cannot tell the single executions.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn what_the_venue_has_filled_twice_in_a_row_is_booked_as_one_fill_and_its_executions_are_not_booked_again() {
    check(
        "place 1 buy 100 AAPL @ 10.5
         venue accepts 1
         venue fills 1 40 @ 10.5 x1
         wait 30
         venue reports-lost
         venue finds 1:live total:100@10.44/12:00:20
         wait 1
         clock
         venue finds 1:live total:100@10.44/12:00:20
         positions
         venue fills 1 35 @ 10.4 x2 at 12:00:15
         venue fills 1 25 @ 10.4 x3 at 12:00:20
         venue fills 1 25 @ 10.4 x3 at 12:00:20
         daily
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10.5
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10.5 x1
                fill 1 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                1 PARTIALLY_EXECUTED filled 40
            wait 30
            venue reports-lost
                Error reports-lost: SIM-A: the venue has begun its session anew, and what it reported before may be lost; 1 open orders and 0 that ended are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:100@10.44/12:00:20
                Error fills-missing: order 1: the venue has filled 100, but only 40 were reported; the venue is asked again
                1 PARTIALLY_EXECUTED filled 40 (the venue has filled 100, but only 40 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:100@10.44/12:00:20
                fill 1 60 @ 10.4
                booked BUY 60 @ 10.4
                position 1 of 100 cost 1044 realised 0
                cash USD 98955.5
                1 EXECUTED filled 100
                Error fill-inferred: order 1: 60 @ 10.4 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            positions
                position 1 of 100 cost 1044 realised 0
            venue fills 1 35 @ 10.4 x2 at 12:00:15
                Warn fill-inferred-before: order 1: execution x2, 35 @ 10.4, is part of INFERRED-1-1; it is not booked again
            venue fills 1 25 @ 10.4 x3 at 12:00:20
                Warn fill-inferred-before: order 1: execution x3, 25 @ 10.4, is part of INFERRED-1-1; it is not booked again
            venue fills 1 25 @ 10.4 x3 at 12:00:20
            daily
                4 BUY at 2026-11-16T12:00:31Z
                3 BUY at 2026-11-16T12:00:00Z
                2 CREDIT at 2026-11-16T12:00:00Z
                1 CREDIT at 2026-11-16T12:00:00Z
            positions
                position 1 of 100 cost 1044 realised 0
        "#]],
    );
}

#[test]
fn an_order_that_was_cancelled_is_asked_about_across_a_log_on_and_gets_the_fill_that_crossed_its_cancel() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         cancel 1
         venue cancels 1
         wait 30
         venue reports-lost
         venue disconnects
         wait 5
         venue connects
         venue shows partly
         venue logs-on
         wait 1
         clock
         venue finds 1:canceled total:30@10
         wait 1
         clock
         venue finds 1:canceled total:30@10
         wait 60
         clock
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
            wait 30
            venue reports-lost
                Error reports-lost: SIM-A: the venue has begun its session anew, and what it reported before may be lost; 0 open orders and 1 that ended are asked about
                to SIM-A: ask about 1
            venue disconnects
                SIM-A DISCONNECTED
            wait 5
            venue connects
                SIM-A CONNECTED
            venue shows partly
            venue logs-on
                SIM-A LOGGED_ON
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:canceled total:30@10
                Error fills-missing: order 1: the venue has filled 30, but only 0 were reported; the venue is asked again
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:canceled total:30@10
                Warn late-fill: order 1: filled after it was Canceled; the fill is booked
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 CANCELED filled 30
                Error fill-inferred: order 1: 30 @ 10 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            wait 60
            clock
            positions
                position 1 of 30 cost 300 realised 0
        "#]],
    );
}

#[test]
fn a_report_that_comes_after_all_leaves_nothing_to_infer() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue gap
         venue finds 1:live total:30@10
         venue fills 1 30 @ 10 x1
         wait 1
         clock
         venue finds 1:live total:30@10
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:30@10
                Error fills-missing: order 1: the venue has filled 30, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 30, but only 0 were reported)
            venue fills 1 30 @ 10 x1
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:30@10
            positions
                position 1 of 30 cost 300 realised 0
        "#]],
    );
}

#[test]
fn nothing_is_inferred_of_an_order_of_which_an_execution_was_taken_back() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 30 @ 10 x1
         venue busts 1 x1
         venue gap
         venue finds 1:live total:30@10
         wait 1
         clock
         venue finds 1:live total:30@10
         wait 2
         clock
         venue finds 1:live total:30@10
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 30 @ 10 x1
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
            venue busts 1 x1
                booked SELL -30 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                1 SUBMITTED
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:30@10
                Error fills-missing: order 1: the venue has filled 30, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 30, but only 0 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:30@10
                Warn break-found: B1: FILL at SIM-A: we have filled 0, the venue has filled 30, averagePrice 10
                B1 FILL OPEN: ours filled 0, theirs filled 30, averagePrice 10
            wait 2
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:30@10
            positions
                position 1 of 0 cost 0 realised 0
        "#]],
    );
}

#[test]
fn a_fill_after_what_was_inferred_is_another_one() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue gap
         venue finds 1:live total:30@10
         wait 1
         clock
         venue finds 1:live total:30@10/12:00:00
         venue fills 1 40 @ 10 x7 at 12:00:01
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:30@10
                Error fills-missing: order 1: the venue has filled 30, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 30, but only 0 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:30@10/12:00:00
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
                Error fill-inferred: order 1: 30 @ 10 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue fills 1 40 @ 10 x7 at 12:00:01
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 70 cost 700 realised 0
                cash USD 99299.65
                1 PARTIALLY_EXECUTED filled 70
            positions
                position 1 of 70 cost 700 realised 0
        "#]],
    );
}

#[test]
fn of_the_orders_that_ended_before_the_venue_began_anew_the_newest_thousand_are_asked_about() {
    let mut world = StoryEngine::open();
    for id in 1..=1_001 {
        world.run(&format!(
            "place {id} buy 1 AAPL @ 10
             venue accepts {id}
             cancel {id}
             venue cancels {id}
             wait 1"
        ));
    }
    let mut told = world.run("venue reports-lost");
    assert!(told.contains("0 open orders and 1000 that ended are asked about"), "{told}");
    for _ in 0..9 {
        told += &world.run("wait 1\nclock");
    }
    let is_asked = |id: u32| told.lines().any(|line| line.trim() == format!("to SIM-A: ask about {id}"));
    assert_eq!((1..=1_001).filter(|id| !is_asked(*id)).collect::<Vec<_>>(), [1]);
}

#[test]
fn an_order_that_was_taken_for_never_arrived_is_asked_about_after_the_venue_has_begun_anew() {
    let mut world = StoryEngine::open();
    let told = world.run(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         venue misses 1
         place 2 buy 100 AAPL @ 10
         venue rejects 2
         venue reports-lost",
    );
    assert!(told.contains("0 open orders and 1 that ended are asked about"), "{told}");
}
