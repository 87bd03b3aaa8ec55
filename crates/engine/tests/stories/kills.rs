//! Kills that a venue does not hear: they are carried out when it is back.

use engine::Engine;
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_kill_pulled_while_the_venue_is_away_is_carried_out_when_it_is_back_and_once() {
    check(
        "place 1 buy 100 AAPL @ 10
         place 2 buy 100 AAPL @ 10
         venue accepts 1
         venue accepts 2
         venue disconnects
         kill
         venue refuses-cancel 1
         venue refuses-cancel 2
         venue connects
         venue shows 1:live 2:canceled
         venue logs-on
         venue cancels 1
         venue disconnects
         venue connects
         venue shows 1:canceled 2:canceled
         venue logs-on
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 100 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue accepts 1
                1 SUBMITTED
            venue accepts 2
                2 SUBMITTED
            venue disconnects
                SIM-A DISCONNECTED
            kill
                PLATFORM is HALTED
                1 PENDING_CANCEL
                2 PENDING_CANCEL
                to SIM-A: cancel 1
                to SIM-A: cancel 2
                killed, 2 cancels
            venue refuses-cancel 1
                1 SUBMITTED (too late)
            venue refuses-cancel 2
                2 SUBMITTED (too late)
            venue connects
                SIM-A CONNECTED
            venue shows 1:live 2:canceled
                2 CANCELED
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue logs-on
                SIM-A LOGGED_ON
            venue cancels 1
                1 CANCELED
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows 1:canceled 2:canceled
            venue logs-on
                SIM-A LOGGED_ON
            open
                nothing
        "#]],
    );
}

#[test]
fn a_killed_order_that_never_arrived_is_not_sent_again() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue disconnects
         kill
         venue refuses-cancel 1
         venue connects
         venue shows
         venue logs-on
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue disconnects
                SIM-A DISCONNECTED
                1 OPEN (the connection was lost before the venue answered)
            kill
                PLATFORM is HALTED
                1 PENDING_CANCEL (the connection was lost before the venue answered)
                to SIM-A: cancel 1
                killed, 1 cancels
            venue refuses-cancel 1
                1 OPEN (too late)
            venue connects
                SIM-A CONNECTED
            venue shows
                1 REJECTED (the order never reached the venue)
            venue logs-on
                SIM-A LOGGED_ON
            open
                nothing
        "#]],
    );
}

#[test]
fn a_kill_that_was_not_carried_out_survives_a_restart() {
    let mut world = StoryEngine::open();
    world.run(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue disconnects
         kill
         venue refuses-cancel 1",
    );
    world.engine = Engine::from_state(&world.engine.encode_state()).unwrap();
    let told = world.run(
        "venue connects
         venue shows 1:live
         venue logs-on
         venue refuses-cancel 1
         venue fills 1 100 @ 10 x1
         venue disconnects
         venue connects
         venue shows 1:live fill:1:100@10:x1
         venue logs-on",
    );
    expect![[r#"
        venue connects
            SIM-A CONNECTED
        venue shows 1:live
            1 PENDING_CANCEL
            to SIM-A: cancel 1
        venue logs-on
            SIM-A LOGGED_ON
        venue refuses-cancel 1
            1 SUBMITTED (too late)
        venue fills 1 100 @ 10 x1
            fill 1 100 @ 10
            booked BUY 100 @ 10
            position 1 of 100 cost 1000 realised 0
            cash USD 98999.5
            1 EXECUTED filled 100 (too late)
        venue disconnects
            SIM-A DISCONNECTED
        venue connects
            SIM-A CONNECTED
        venue shows 1:live fill:1:100@10:x1
        venue logs-on
            SIM-A LOGGED_ON
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_cancel_of_a_kill_that_is_on_its_way_is_repeated_by_the_reconciliation_alone() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         kill
         venue disconnects
         venue connects
         venue shows 1:live
         venue logs-on",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            kill
                PLATFORM is HALTED
                1 PENDING_CANCEL
                to SIM-A: cancel 1
                killed, 1 cancels
            venue disconnects
                SIM-A DISCONNECTED
                1 PENDING_CANCEL (the connection was lost before the venue answered)
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue logs-on
                SIM-A LOGGED_ON
        "#]],
    );
}

#[test]
fn the_last_report_on_an_order_that_an_inquiry_has_settled_is_no_news() {
    check(
        "place 1 buy 100 AAPL @ 10
         place 2 buy 100 AAPL @ 10
         venue finds 1:canceled
         venue accepts 1
         venue cancels 1
         venue expires 1
         venue finds 2:rejected
         venue rejects 2
         venue cancels 2
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 100 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue finds 1:canceled
                1 SUBMITTED
                1 CANCELED
            venue accepts 1
            venue cancels 1
            venue expires 1
            venue finds 2:rejected
                2 REJECTED (rejected by the venue)
            venue rejects 2
            venue cancels 2
                Error illegal-transition: order 2: Ended is not legal when Rejected
            open
                nothing
        "#]],
    );
}
