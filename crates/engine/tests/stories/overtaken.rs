//! Venue reports that are reordered, repeated, or about orders that have ended.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_fill_overtakes_the_confirmation_of_a_replace() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         modify 7 to 100 @ 10.60
         venue fills 7 100 @ 10.60 x1
         venue replaces 7 100 @ 10.60
         open",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            modify 7 to 100 @ 10.60
                7 PENDING_REPLACE
                to SIM-A: replace 7 with 100 @ 10.6
            venue fills 7 100 @ 10.60 x1
                fill 7 100 @ 10.6
                booked BUY 100 @ 10.6
                position 1 of 100 cost 1060 realised 0
                cash USD 98939.5
                7 PENDING_REPLACE filled 100
            venue replaces 7 100 @ 10.60
                7 EXECUTED filled 100
            open
                nothing
        "#]],
    );
}

#[test]
fn a_bust_overtakes_its_fill_which_is_never_booked() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue busts 7 x1
         venue fills 7 40 @ 10.50 x1
         venue corrects 7 x2 to 50 @ 10.30 x3
         venue fills 7 50 @ 10.40 x2
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue busts 7 x1
                Error unknown-execution: order 7: no execution x1 to undo
            venue fills 7 40 @ 10.50 x1
            venue corrects 7 x2 to 50 @ 10.30 x3
                Error unknown-execution: order 7: no execution x2 to undo
                fill 7 50 @ 10.3
                booked BUY 50 @ 10.3
                position 1 of 50 cost 515 realised 0
                cash USD 99484.75
                7 PARTIALLY_EXECUTED filled 50
            venue fills 7 50 @ 10.40 x2
            order 7
                7 PARTIALLY_EXECUTED 50 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_bust_that_names_another_order_touches_neither() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         place 8 buy 100 AAPL @ 10.50
         venue fills 7 40 @ 10.50 x1
         venue busts 8 x1
         order 7
         order 8",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            place 8 buy 100 AAPL @ 10.50
                8 OPEN
                to SIM-A: submit 8
            venue fills 7 40 @ 10.50 x1
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                7 PARTIALLY_EXECUTED filled 40
            venue busts 8 x1
                Error unknown-execution: order 8: no execution x1 to undo
            order 7
                7 PARTIALLY_EXECUTED 40 of 100 LimitOrder
            order 8
                8 OPEN 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_excess_that_is_taken_back_leaves_the_order_filled() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue fills 7 100 @ 10.50 x1
         venue fills 7 20 @ 10.50 x2
         venue busts 7 x2
         open",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue fills 7 100 @ 10.50 x1
                fill 7 100 @ 10.5
                booked BUY 100 @ 10.5
                position 1 of 100 cost 1050 realised 0
                cash USD 98949.5
                7 EXECUTED filled 100
            venue fills 7 20 @ 10.50 x2
                Error overfill: order 7: 120 filled of 100; the excess is booked
                fill 7 20 @ 10.5
                booked BUY 20 @ 10.5
                position 1 of 120 cost 1260 realised 0
                cash USD 98739.4
                7 EXECUTED filled 120
            venue busts 7 x2
                booked SELL -20 @ 10.5
                position 1 of 100 cost 1050 realised 0
                cash USD 98949.5
                7 EXECUTED filled 100
            open
                nothing
        "#]],
    );
}

#[test]
fn the_venue_ends_a_filled_order_whose_replace_it_never_answered() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         modify 7 to 200 @ 10.50
         venue fills 7 100 @ 10.50 x1
         venue cancels 7
         open",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            modify 7 to 200 @ 10.50
                7 PENDING_REPLACE
                to SIM-A: replace 7 with 200 @ 10.5
            venue fills 7 100 @ 10.50 x1
                fill 7 100 @ 10.5
                booked BUY 100 @ 10.5
                position 1 of 100 cost 1050 realised 0
                cash USD 98949.5
                7 PENDING_REPLACE filled 100
            venue cancels 7
                Error illegal-transition: order 7: Ended is not legal when Filled
                7 EXECUTED filled 100 (the order was finished already)
            open
                nothing
        "#]],
    );
}

/// What follows when a cancel has overtaken a replace that the venue has not answered.
fn after_both(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.run(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         modify 7 to 110 @ 10
         cancel 7",
    );
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_cancel_overtakes_a_replace_and_both_are_answered() {
    after_both(
        "venue replaces 7 110 @ 10\nvenue cancels 7\nopen",
        expect![[r#"
        venue replaces 7 110 @ 10
            7 PENDING_CANCEL
        venue cancels 7
            7 CANCELED
        open
            nothing
    "#]],
    );
    after_both(
        "venue refuses-replace 7\nvenue cancels 7\nopen",
        expect![[r#"
        venue refuses-replace 7
            7 PENDING_CANCEL (too late)
        venue cancels 7
            7 CANCELED
        open
            nothing
    "#]],
    );
    after_both(
        "venue cancels 7\nvenue refuses-replace 7\nopen",
        expect![[r#"
        venue cancels 7
            7 CANCELED
            7 CANCELED (too late: the order is finished)
        venue refuses-replace 7
        open
            nothing
    "#]],
    );
    after_both(
        "venue refuses-cancel 7\nvenue replaces 7 110 @ 10\nopen",
        expect![[r#"
        venue refuses-cancel 7
            7 PENDING_REPLACE (too late)
        venue replaces 7 110 @ 10
            7 SUBMITTED
        open
            7 SUBMITTED 0 of 110 LimitOrder
    "#]],
    );
    after_both(
        "venue rejects 7\nopen",
        expect![[r#"
        venue rejects 7
            7 REJECTED (not today)
            7 REJECTED (too late: the order is finished)
            7 REJECTED (too late: the order is finished)
        open
            nothing
    "#]],
    );
}

#[test]
fn the_connection_breaks_while_a_replace_waits_beneath_a_cancel() {
    let lost = |rest: &str| format!("venue disconnects\nvenue connects\n{rest}\nopen");
    after_both(
        &lost("venue shows 7:live"),
        expect![[r#"
        venue disconnects
            SIM-A DISCONNECTED
            7 PENDING_CANCEL (the connection was lost before the venue answered)
        venue connects
            SIM-A CONNECTED
        venue shows 7:live
            7 PENDING_CANCEL (the request was lost with the connection)
            7 PENDING_CANCEL
            to SIM-A: cancel 7
        open
            7 PENDING_CANCEL 0 of 100 LimitOrder
    "#]],
    );
    after_both(
        &lost("venue shows 7:canceled"),
        expect![[r#"
        venue disconnects
            SIM-A DISCONNECTED
            7 PENDING_CANCEL (the connection was lost before the venue answered)
        venue connects
            SIM-A CONNECTED
        venue shows 7:canceled
            7 CANCELED
            7 CANCELED (too late: the order is finished)
        open
            nothing
    "#]],
    );
    after_both(
        &lost("venue shows 7:live fill:7:100@10:x1"),
        expect![[r#"
        venue disconnects
            SIM-A DISCONNECTED
            7 PENDING_CANCEL (the connection was lost before the venue answered)
        venue connects
            SIM-A CONNECTED
        venue shows 7:live fill:7:100@10:x1
            fill 7 100 @ 10
            booked BUY 100 @ 10
            position 1 of 100 cost 1000 realised 0
            cash USD 98999.5
            7 PENDING_CANCEL filled 100
            7 PENDING_CANCEL filled 100 (the request was lost with the connection)
            7 EXECUTED filled 100 (the request was lost with the connection)
        open
            nothing
    "#]],
    );
}

#[test]
fn a_snapshot_keeps_what_waits_beneath_a_cancel() {
    let mut world = StoryEngine::open();
    world.run(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         modify 7 to 110 @ 10
         cancel 7",
    );
    let state = world.engine.encode_state();
    world.engine = engine::Engine::from_state(&state).unwrap();
    assert_eq!(world.engine.encode_state(), state);
    expect![[r#"
        venue replaces 7 110 @ 10
            7 PENDING_CANCEL
        venue cancels 7
            7 CANCELED
    "#]]
    .assert_eq(&world.run("venue replaces 7 110 @ 10\nvenue cancels 7"));
}

#[test]
fn a_snapshot_has_the_venues_id_of_an_order_that_was_only_filled() {
    let mut world = StoryEngine::open();
    world.run(
        "place 7 buy 100 AAPL @ 10.50
         venue fills 7 40 @ 10.50 x1
         venue disconnects
         venue connects
         venue shows 7:live fill:7:40@10.50:x1",
    );
    assert_eq!(world.order("7").unwrap().ext_id.as_deref(), Some("V7"));
}

#[test]
fn an_answer_to_a_request_that_is_not_pending_is_told_unless_the_order_ended() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue refuses-replace 7
         venue fills 7 100 @ 10.50 x1
         venue refuses-cancel 7
         place 8 buy 100 AAPL @ 10.50
         venue accepts 8
         cancel 8
         venue cancels 8
         venue refuses-cancel 8",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue refuses-replace 7
                Warn nothing-pending: order 7: ReplaceRejected without such a request
            venue fills 7 100 @ 10.50 x1
                fill 7 100 @ 10.5
                booked BUY 100 @ 10.5
                position 1 of 100 cost 1050 realised 0
                cash USD 98949.5
                7 EXECUTED filled 100
            venue refuses-cancel 7
                Warn nothing-pending: order 7: CancelRejected without such a request
            place 8 buy 100 AAPL @ 10.50
                8 OPEN
                to SIM-A: submit 8
            venue accepts 8
                8 SUBMITTED
            cancel 8
                8 PENDING_CANCEL
                to SIM-A: cancel 8
            venue cancels 8
                8 CANCELED
            venue refuses-cancel 8
        "#]],
    );
}
