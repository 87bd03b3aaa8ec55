//! Open orders and fills that a venue lists while the session is up.

use domain::report::FillsScope;
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    check_with(FillsScope::All, story, told);
}

pub(crate) fn check_with(scope: FillsScope, story: &str, told: Expect) {
    let mut world = StoryEngine::listing_fills(scope);
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    let read = engine::Engine::from_state(&state).unwrap();
    assert_eq!(read.encode_state(), state, "a snapshot is another state");
    assert_eq!(read.next_deadline(), world.engine.next_deadline(), "a snapshot is due at another time");
}

#[test]
fn everything_is_listed_after_the_log_on_and_then_again_and_again() {
    check(
        "clock
         venue lists
         venue lists-fills from - to 7
         wait 30
         clock
         venue lists
         wait 30
         clock
         venue disconnects
         wait 60
         clock
         venue connects
         venue shows
         venue logs-on
         clock",
        expect![[r#"
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists
            venue lists-fills from - to 7
            wait 30
            clock
                to SIM-A: list open orders
            venue lists
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after 7
            venue disconnects
                SIM-A DISCONNECTED
            wait 60
            clock
            venue connects
                SIM-A CONNECTED
            venue shows
            venue logs-on
                SIM-A LOGGED_ON
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after 7
        "#]],
    );
}

#[test]
fn a_fill_that_no_report_told_is_found_in_the_list_and_booked_once() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         clock
         venue lists-fills from - to 2 fill:1:40@10:x1 fill:1:60@10:x2
         wait 60
         clock
         venue lists-fills from 2 to 2
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10 x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists-fills from - to 2 fill:1:40@10:x1 fill:1:60@10:x2
                fill 1 60 @ 10
                booked BUY 60 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
            wait 60
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after 2
            venue lists-fills from 2 to 2
            positions
                position 1 of 100 cost 1000 realised 0
        "#]],
    );
}

#[test]
fn an_open_order_that_is_not_listed_is_asked_about_and_ends_as_the_venue_says() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         place 2 buy 100 AAPL @ 9
         venue accepts 2
         wait 30
         clock
         venue lists 2:live
         venue finds 1:canceled fill:1:40@10:x1
         wait 30
         clock
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 buy 100 AAPL @ 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists 2:live
                to SIM-A: ask about 1
            venue finds 1:canceled fill:1:40@10:x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
                1 CANCELED filled 40
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            open
                2 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn half_a_list_an_old_one_and_a_failed_one_prove_nothing() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         wait 30
         clock
         venue page 0
         venue end 2
         wait 10
         clock
         venue page 0
         venue fails-to-list orders
         wait 10
         clock
         venue page 0
         venue page 1
         venue listed 60 ago
         wait 10
         clock
         venue page 0
         venue page 1 1:live
         venue end 2
         venue fails-to-list fills
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue page 0
            venue end 2
                Warn listing-failed: SIM-A: open orders: page 2 does not continue the list
            wait 10
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue page 0
            venue fails-to-list orders
                Warn listing-failed: SIM-A: open orders: status 503
            wait 10
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue page 0
            venue page 1
            venue listed 60 ago
            wait 10
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue page 0
            venue page 1 1:live
            venue end 2
            venue fails-to-list fills
                Warn listing-failed: SIM-A: fills: status 503
            open
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn what_happened_after_the_question_is_newer_than_the_list() {
    check(
        "clock
         wait 10
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue listed 5 ago
         place 2 buy 100 AAPL @ 9
         venue accepts 2
         wait 30
         clock
         cancel 2
         venue cancels 2
         venue listed 1 ago 1:live 2:live
         open",
        expect![[r#"
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            wait 10
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue listed 5 ago
            place 2 buy 100 AAPL @ 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            wait 30
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            cancel 2
                2 PENDING_CANCEL
                to SIM-A: cancel 2
            venue cancels 2
                2 CANCELED
            venue listed 1 ago 1:live 2:live
            open
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_list_settles_an_order_in_doubt_and_answers_a_replace() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue lost 1
         place 2 buy 100 AAPL @ 9
         venue accepts 2
         modify 2 to 50 @ 9
         wait 1
         clock
         venue lists 1:live 2:live
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue lost 1
                1 OPEN (time-out)
            place 2 buy 100 AAPL @ 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            modify 2 to 50 @ 9
                2 PENDING_REPLACE
                to SIM-A: replace 2 with 50 @ 9
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: ask about 2
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists 1:live 2:live
                1 SUBMITTED
                2 SUBMITTED (the request never reached the venue)
            open
                1 SUBMITTED 0 of 100 LimitOrder
                2 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn fills_are_listed_after_a_gap_and_after_an_order_ended_with_a_rest() {
    check(
        "clock
         venue lists
         venue lists-fills from - to 1
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue cancels 1
         wait 5
         clock
         venue lists-fills from 1 to 2 fill:1:40@10:x1
         venue gap
         clock",
        expect![[r#"
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists
            venue lists-fills from - to 1
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue cancels 1
                1 CANCELED
            wait 5
            clock
                to SIM-A: list fills after 1
            venue lists-fills from 1 to 2 fill:1:40@10:x1
                Warn late-fill: order 1: filled after it was Canceled; the fill is booked
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 CANCELED filled 40
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 0 open orders are asked about
            clock
                to SIM-A: list fills after 2
        "#]],
    );
}

#[test]
fn a_long_list_of_fills_is_read_page_by_page_and_one_that_does_not_go_on_is_told() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         clock
         venue lists-fills from - to 1 fill:1:10@10:x1 more
         wait 1
         clock
         venue lists-fills from 1 to 2 fill:1:10@10:x2 more
         wait 1
         clock
         venue lists-fills from 2 to 2 more
         wait 10
         clock
         venue lists-fills from - to 9 fill:1:10@10:x9
         venue lists-fills from 1 to 5 fill:1:10@10:x5",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists-fills from - to 1 fill:1:10@10:x1 more
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 10 cost 100 realised 0
                cash USD 99899.95
                1 PARTIALLY_EXECUTED filled 10
            wait 1
            clock
                to SIM-A: list fills after 1
            venue lists-fills from 1 to 2 fill:1:10@10:x2 more
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 20 cost 200 realised 0
                cash USD 99799.9
                1 PARTIALLY_EXECUTED filled 20
            wait 1
            clock
                to SIM-A: list fills after 2
            venue lists-fills from 2 to 2 more
                Warn listing-failed: SIM-A: fills: more are announced after 2, and none came
            wait 10
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after 2
            venue lists-fills from - to 9 fill:1:10@10:x9
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
                Warn fills-not-listed: SIM-A: fills after the last cursor are no longer listed; the list begins with x9
            venue lists-fills from 1 to 5 fill:1:10@10:x5
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
        "#]],
    );
}

#[test]
fn once_a_day_the_fills_of_the_day_are_listed_again() {
    check(
        "clock
         venue lists
         venue lists-fills from - to 7
         day 2026-11-17
         clock
         venue lists-fills from - to 9
         day 2026-11-18
         clock",
        expect![[r#"
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists
            venue lists-fills from - to 7
            day 2026-11-17
                to SIM-A: list open orders
                to SIM-A: list fills after 7
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after the beginning
            venue lists-fills from - to 9
            day 2026-11-18
                to SIM-A: list open orders
                to SIM-A: list fills after 9
            clock
                to SIM-A: list open orders
                to SIM-A: list fills after 7
        "#]],
    );
}
