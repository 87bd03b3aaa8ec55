//! Orders that their venue is asked about: without an answer, in doubt, or after a gap of its reports.

use domain::command::Command;
use domain::risk::EngineSettings;
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn an_order_without_an_answer_is_asked_about_and_settled_by_what_the_venue_knows() {
    check(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         venue finds 1:live fill:1:40@10:x1
         wait 1
         clock
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live fill:1:40@10:x1
                1 SUBMITTED
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
            wait 1
            clock
            order 1
                1 PARTIALLY_EXECUTED 40 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn questions_are_repeated_at_growing_pauses_until_the_venue_answers() {
    check(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         wait 1
         clock
         wait 1
         clock
         wait 1
         clock
         wait 4
         clock
         wait 2
         clock
         wait 6
         clock
         wait 16
         clock
         wait 32
         clock
         wait 60
         clock
         venue accepts 1
         wait 60
         clock",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            wait 1
            clock
                to SIM-A: ask about 1
            wait 1
            clock
                to SIM-A: ask about 1
            wait 1
            clock
            wait 1
            clock
                to SIM-A: ask about 1
            wait 4
            clock
                to SIM-A: ask about 1
            wait 2
            clock
                Warn no-answer: order 1: the venue has not answered for 10 s
                1 OPEN (the venue has not answered for 10 s)
            wait 6
            clock
                to SIM-A: ask about 1
            wait 16
            clock
                to SIM-A: ask about 1
            wait 32
            clock
                to SIM-A: ask about 1
            wait 60
            clock
                to SIM-A: ask about 1
            venue accepts 1
                1 SUBMITTED
            wait 60
            clock
        "#]],
    );
}

#[test]
fn an_order_that_the_venue_does_not_have_ends_only_when_nothing_can_arrive_any_more() {
    check(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         venue misses 1 with-requests-for 4
         venue misses 1 with-requests-for ever
         order 1
         wait 5
         clock
         venue misses 1
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            wait 1
            clock
                to SIM-A: ask about 1
            venue misses 1 with-requests-for 4
            venue misses 1 with-requests-for ever
            order 1
                1 OPEN 0 of 100 LimitOrder
            wait 5
            clock
                to SIM-A: ask about 1
            venue misses 1
                1 REJECTED (the order never reached the venue)
            order 1
                1 REJECTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_unknown_outcome_names_the_instant_after_which_absence_counts() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue lost 1 for 5
         wait 1
         clock
         venue misses 1
         wait 3
         clock
         venue misses 1
         wait 2
         clock
         venue misses 1
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue lost 1 for 5
                1 OPEN (time-out)
            wait 1
            clock
                to SIM-A: ask about 1
            venue misses 1
            wait 3
            clock
                to SIM-A: ask about 1
            venue misses 1
            wait 2
            clock
                to SIM-A: ask about 1
            venue misses 1
                1 REJECTED (the order never reached the venue)
            order 1
                1 REJECTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn cancels_that_are_refused_do_not_keep_an_order_open_that_never_arrived() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue lost 1
         cancel 1
         venue refuses-cancel 1
         open
         wait 1
         clock
         cancel 1
         wait 1
         venue refuses-cancel 1
         venue missed 1 ago 1
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue lost 1
                1 OPEN (time-out)
            cancel 1
                1 PENDING_CANCEL (time-out)
                to SIM-A: cancel 1
            venue refuses-cancel 1
                1 OPEN (too late)
            open
                1 OPEN 0 of 100 LimitOrder in doubt
            wait 1
            clock
                to SIM-A: ask about 1
            cancel 1
                1 PENDING_CANCEL (too late)
                to SIM-A: cancel 1
            wait 1
            venue refuses-cancel 1
                1 OPEN (too late)
            venue missed 1 ago 1
                1 REJECTED (the order never reached the venue)
            order 1
                1 REJECTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_is_never_sent_again_by_an_inquiry_and_a_late_arrival_is_an_alarm() {
    check(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         venue misses 1
         venue accepts 1
         venue fills 1 100 @ 10 x1
         order 1
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            wait 1
            clock
                to SIM-A: ask about 1
            venue misses 1
                1 REJECTED (the order never reached the venue)
            venue accepts 1
                Error late-arrival: order 1: the order never reached the venue, and now the venue has accepted it
                Warn break-found: B1: ORDER at SIM-A: we have status REJECTED, quantity 100, limit 10, tif DAY, filled 0, the venue has status LIVE
                B1 ORDER OPEN: ours status REJECTED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE
            venue fills 1 100 @ 10 x1
                Warn late-fill: order 1: filled after it was Rejected; the fill is booked
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 REJECTED filled 100 (the order never reached the venue)
            order 1
                1 REJECTED 100 of 100 LimitOrder
            positions
                position 1 of 100 cost 1000 realised 0
        "#]],
    );
}

#[test]
fn a_cancel_that_never_arrived_is_sent_again_and_a_replace_is_refused() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         place 2 buy 100 AAPL @ 9
         venue accepts 2
         cancel 1
         modify 2 to 50 @ 9.5
         wait 1
         clock
         venue finds 1:live with-requests-for 3
         venue finds 2:live with-requests-for 3
         wait 5
         clock
         venue finds 1:live
         venue finds 2:live
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
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            modify 2 to 50 @ 9.5
                2 PENDING_REPLACE
                to SIM-A: replace 2 with 50 @ 9.5
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: ask about 2
            venue finds 1:live with-requests-for 3
            venue finds 2:live with-requests-for 3
            wait 5
            clock
                to SIM-A: ask about 1
                to SIM-A: ask about 2
            venue finds 1:live
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue finds 2:live
                2 SUBMITTED (the request never reached the venue)
            open
                1 PENDING_CANCEL 0 of 100 LimitOrder
                2 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_answer_that_is_older_than_the_last_report_brings_only_its_fills() {
    check(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         venue accepts 1
         modify 1 to 50 @ 9.5
         wait 1
         venue replaces 1
         venue found 1 ago 1:canceled fill:1:40@10:x1
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            wait 1
            clock
                to SIM-A: ask about 1
            venue accepts 1
                1 SUBMITTED
            modify 1 to 50 @ 9.5
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 50 @ 9.5
            wait 1
            venue replaces 1
                1 SUBMITTED
            venue found 1 ago 1:canceled fill:1:40@10:x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
            order 1
                1 PARTIALLY_EXECUTED 40 of 50 LimitOrder
        "#]],
    );
}

/// At a venue that answers no questions every open order is in doubt after a log-on.
#[test]
fn requests_that_stay_unanswered_are_one_alarm_also_where_the_order_is_in_doubt_already() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue disconnects
         venue connects
         venue shows partly
         venue logs-on
         modify 1 to 50 @ 10
         wait 4
         clock
         cancel 1
         wait 6
         clock
         wait 4
         clock
         wait 60
         clock
         venue refuses-cancel 1
         cancel 1
         venue cancels 1
         wait 60
         clock",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows partly
                1 SUBMITTED (the venue did not mention the order)
            venue logs-on
                SIM-A LOGGED_ON
            modify 1 to 50 @ 10
                1 PENDING_REPLACE (the venue did not mention the order)
                to SIM-A: replace 1 with 50 @ 10
            wait 4
            clock
                to SIM-A: ask about 1
            cancel 1
                1 PENDING_CANCEL (the venue did not mention the order)
                to SIM-A: cancel 1
            wait 6
            clock
                to SIM-A: ask about 1
            wait 4
            clock
                Warn no-answer: order 1: the venue has not answered for 10 s; the order was in doubt before
                to SIM-A: ask about 1
            wait 60
            clock
                to SIM-A: ask about 1
            venue refuses-cancel 1
                1 PENDING_REPLACE (too late)
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
                1 CANCELED (too late: the order is finished)
            wait 60
            clock
        "#]],
    );
}

#[test]
fn in_journals_of_earlier_builds_an_order_in_doubt_raises_no_second_alarm() {
    let mut world = StoryEngine::open();
    let settings = EngineSettings { alarms_in_doubt: false, ..EngineSettings::default() };
    world.command(Command::Configure(settings)).unwrap();
    let told = world.run(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue lost 1
         cancel 1
         wait 10
         clock
         wait 60
         clock",
    );
    assert!(!told.contains("no-answer"), "{told}");
}
