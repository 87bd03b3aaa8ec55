//! Reports that contradict themselves or what is known of their order: nothing of them is applied, and the venue is asked.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_report_that_contradicts_itself_is_an_alarm_and_a_question_also_about_an_order_that_ended() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue contradicts 1 39 against 14
         venue contradicts 1 39 against 14
         wait 1
         clock
         venue finds 1:live
         venue fills 1 100 @ 10 x1
         venue contradicts 1 a bust of nothing known
         wait 1
         clock
         venue contradicts 1 a bust of nothing known
         wait 2
         clock
         wait 2
         clock
         venue finds 1:live x1:100@10
         wait 60
         clock",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue contradicts 1 39 against 14
                Error unclear-report: order 1: 39 against 14; the venue is asked
                1 SUBMITTED (39 against 14)
            venue contradicts 1 39 against 14
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live
                1 SUBMITTED
            venue fills 1 100 @ 10 x1
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
            venue contradicts 1 a bust of nothing known
                Error unclear-report: order 1: a bust of nothing known; the venue is asked
            wait 1
            clock
                to SIM-A: ask about 1
            venue contradicts 1 a bust of nothing known
            wait 2
            clock
                to SIM-A: ask about 1
            wait 2
            clock
                to SIM-A: ask about 1
            venue finds 1:live x1:100@10
            wait 60
            clock
        "#]],
    );
}

/// After a start the adapter does not know what was reported before it.
#[test]
fn an_end_with_more_filled_than_is_booked_is_an_alarm_and_the_ended_order_is_asked_about() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         venue cancels 1
         venue filled-in-all 1 60
         venue filled-in-all 1 60
         wait 1
         clock
         venue finds 1:canceled fill:1:40@10:x1 fill:1:20@10:x2
         place 2 buy 100 AAPL @ 10
         venue fills 2 40 @ 10 x3
         venue filled-in-all 2 40
         venue cancels 2
         venue filled-in-all 2 40
         wait 60
         clock",
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
            venue cancels 1
                1 CANCELED filled 40
            venue filled-in-all 1 60
                Error unclear-report: order 1: the venue has filled 60, but only 40 were reported; the venue is asked
            venue filled-in-all 1 60
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:canceled fill:1:40@10:x1 fill:1:20@10:x2
                Warn late-fill: order 1: filled after it was Canceled; the fill is booked
                fill 1 20 @ 10
                booked BUY 20 @ 10
                position 1 of 60 cost 600 realised 0
                cash USD 99399.7
                1 CANCELED filled 60
            place 2 buy 100 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue fills 2 40 @ 10 x3
                fill 2 40 @ 10
                booked BUY 40 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                2 PARTIALLY_EXECUTED filled 40
            venue filled-in-all 2 40
            venue cancels 2
                2 CANCELED filled 40
            venue filled-in-all 2 40
            wait 60
            clock
        "#]],
    );
}
