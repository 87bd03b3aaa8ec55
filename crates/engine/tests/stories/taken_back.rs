//! Fills that lists and answers of a venue show as busted or corrected: the reports that said so were lost, or came before.

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
fn a_correction_in_a_list_takes_back_what_it_replaces_and_counts_once() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 40 @ 10.50 x1
         venue takes-back 7 x1 for 30 @ 10.40 x2
         venue lists-fills from - to 7 fill:7:30@10.40:x2
         venue takes-back 7 x1 for 30 @ 10.40 x2
         venue corrects 7 x1 to 30 @ 10.40 x2
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10.50 x1
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                7 PARTIALLY_EXECUTED filled 40
            venue takes-back 7 x1 for 30 @ 10.40 x2
                booked SELL -40 @ 10.5
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                fill 7 30 @ 10.4
                booked BUY 30 @ 10.4
                position 1 of 30 cost 312 realised 0
                cash USD 99687.85
                7 PARTIALLY_EXECUTED filled 30 (corrected by x2)
            venue lists-fills from - to 7 fill:7:30@10.40:x2
            venue takes-back 7 x1 for 30 @ 10.40 x2
            venue corrects 7 x1 to 30 @ 10.40 x2
                Error unknown-execution: order 7: no execution x1 to undo
            order 7
                7 PARTIALLY_EXECUTED 30 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_bust_in_a_list_takes_its_fill_back_once() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 40 @ 10.50 x1
         venue takes-back 7 x1
         venue takes-back 7 x1
         venue fills 7 40 @ 10.50 x1
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10.50 x1
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                7 PARTIALLY_EXECUTED filled 40
            venue takes-back 7 x1
                booked SELL -40 @ 10.5
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                7 SUBMITTED
            venue takes-back 7 x1
            venue fills 7 40 @ 10.50 x1
            order 7
                7 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

const REPORTED: &str = "venue corrects 7 x1 to 30 @ 10.40 x2\nvenue corrects 7 x1 to 20 @ 10.30 x3";
const LISTED: &str = "venue takes-back 7 x1 for 30 @ 10.40 x2\n\
                      venue lists-fills from - to 7 fill:7:30@10.40:x2\n\
                      venue takes-back 7 x1 for 20 @ 10.30 x3\n\
                      venue lists-fills from 7 to 8 fill:7:20@10.30:x3";
/// What was reported first is told again.
const BOTH: &str = "venue corrects 7 x1 to 30 @ 10.40 x2\n\
                    venue takes-back 7 x1 for 20 @ 10.30 x3\n\
                    venue takes-back 7 x1 for 30 @ 10.40 x2\n\
                    venue corrects 7 x1 to 20 @ 10.30 x3";

/// A fill of 40 and these corrections: what is filled then.
fn filled_after(settings: EngineSettings, begins: &str, corrections: &str) -> String {
    let mut world = StoryEngine::open();
    world.command(Command::Configure(settings)).unwrap();
    world.run("place 7 buy 100 AAPL @ 10.50\nvenue accepts 7");
    world.run(begins);
    world.run(corrections);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    world.order("7").unwrap().filled.to_string()
}

/// Whether the fill was reported, or is not told any more because it does not count.
#[test]
fn corrections_that_each_name_the_first_execution_correct_one_another() {
    for corrections in [REPORTED, LISTED, BOTH] {
        for begins in ["venue fills 7 40 @ 10.50 x1", ""] {
            let filled = filled_after(EngineSettings::default(), begins, corrections);
            assert_eq!(filled, "20", "{begins:?}, {corrections}");
        }
    }
}

#[test]
fn in_journals_of_before_a_second_correction_of_an_execution_is_booked_beside_the_first() {
    let before = EngineSettings { recovery_rules_2: false, ..EngineSettings::default() };
    for corrections in [REPORTED, LISTED] {
        assert_eq!(filled_after(before.clone(), "venue fills 7 40 @ 10.50 x1", corrections), "50");
    }
}

/// The bust names the first one, too. A list that takes it back once more says nothing of its correction.
#[test]
fn a_bust_of_what_was_corrected_takes_the_correction_back() {
    let begins = "venue fills 7 40 @ 10.50 x1\nvenue corrects 7 x1 to 30 @ 10.40 x2";
    for (told, filled) in [("venue takes-back 7 x1", "30"), ("venue busts 7 x1", "0")] {
        assert_eq!(filled_after(EngineSettings::default(), begins, told), filled, "{told}");
    }
}

/// A bust of a fill that was lost too is no alarm, and the fill is not booked when it comes after all.
#[test]
fn what_was_never_booked_is_not_booked_later() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue takes-back 7 x1
         venue takes-back 7 x2 for 30 @ 10.40 x3
         venue lists-fills from - to 7 fill:7:30@10.40:x3
         venue fills 7 40 @ 10.50 x1
         venue fills 7 40 @ 10.50 x2
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue takes-back 7 x1
            venue takes-back 7 x2 for 30 @ 10.40 x3
            venue lists-fills from - to 7 fill:7:30@10.40:x3
                fill 7 30 @ 10.4
                booked BUY 30 @ 10.4
                position 1 of 30 cost 312 realised 0
                cash USD 99687.85
                7 PARTIALLY_EXECUTED filled 30
            venue fills 7 40 @ 10.50 x1
            venue fills 7 40 @ 10.50 x2
            order 7
                7 PARTIALLY_EXECUTED 30 of 100 LimitOrder
        "#]],
    );
}

/// As where the correction was listed before its venue said what it replaces.
#[test]
fn a_correction_that_is_booked_beside_what_it_replaces_takes_it_back() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 40 @ 10.50 x1
         venue fills 7 30 @ 10.40 x2
         venue takes-back 7 x1 for 30 @ 10.40 x2
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10.50 x1
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                7 PARTIALLY_EXECUTED filled 40
            venue fills 7 30 @ 10.40 x2
                fill 7 30 @ 10.4
                booked BUY 30 @ 10.4
                position 1 of 70 cost 732 realised 0
                cash USD 99267.65
                7 PARTIALLY_EXECUTED filled 70
            venue takes-back 7 x1 for 30 @ 10.40 x2
                booked SELL -40 @ 10.5
                position 1 of 30 cost 313.714285714286 realised 1.714285714286
                cash USD 99687.85
                7 PARTIALLY_EXECUTED filled 30
            order 7
                7 PARTIALLY_EXECUTED 30 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_correction_that_keeps_the_id_of_its_fill_counts_once() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 40 @ 10.50 x1
         venue takes-back 7 x1 for 30 @ 10.40 x1
         venue takes-back 7 x1 for 30 @ 10.40 x1
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10.50 x1
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                7 PARTIALLY_EXECUTED filled 40
            venue takes-back 7 x1 for 30 @ 10.40 x1
                booked SELL -40 @ 10.5
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                fill 7 30 @ 10.4
                booked BUY 30 @ 10.4
                position 1 of 30 cost 312 realised 0
                cash USD 99687.85
                7 PARTIALLY_EXECUTED filled 30 (corrected by x1)
            venue takes-back 7 x1 for 30 @ 10.40 x1
            order 7
                7 PARTIALLY_EXECUTED 30 of 100 LimitOrder
        "#]],
    );
}

/// Its share of the inferred fill is not known: it is told once, and a person compares.
#[test]
fn what_is_taken_back_of_an_inferred_fill_is_told_once() {
    check(
        "place 1 buy 100 AAPL @ 10.50
         venue accepts 1
         wait 10
         venue reports-lost
         wait 1
         clock
         venue finds 1:live total:40@10.45
         wait 1
         clock
         venue finds 1:live total:40@10.45
         venue takes-back 1 x1 for 30 @ 10.40 x2
         venue takes-back 1 x1 for 30 @ 10.40 x2
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10.50
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 10
            venue reports-lost
                Error reports-lost: SIM-A: the venue has begun its session anew, and what it reported before may be lost; 1 open orders and 0 that ended are asked about
                to SIM-A: ask about 1
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:40@10.45
                Error fills-missing: order 1: the venue has filled 40, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 40, but only 0 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:40@10.45
                fill 1 40 @ 10.45
                booked BUY 40 @ 10.45
                position 1 of 40 cost 418 realised 0
                cash USD 99581.8
                1 PARTIALLY_EXECUTED filled 40
                Error fill-inferred: order 1: 40 @ 10.45 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue takes-back 1 x1 for 30 @ 10.40 x2
                Error fill-inferred-undone: order 1: the venue takes back execution x1, which is not booked by itself; it can be part of INFERRED-1-1: nothing is booked, and the venue is asked; compare with its statement
                1 PARTIALLY_EXECUTED filled 40 (the venue takes back execution x1, which is not booked by itself)
            venue takes-back 1 x1 for 30 @ 10.40 x2
            order 1
                1 PARTIALLY_EXECUTED 40 of 100 LimitOrder in doubt
        "#]],
    );
}

/// The answer was asked for before the correction was booked: what it says of the end counts when it is said again.
#[test]
fn an_answer_that_takes_something_back_is_asked_for_again() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 40 @ 10.50 x1
         venue lost 7
         wait 1
         clock
         wait 1
         venue takes-back 7 x1 for 30 @ 10.40 x2
         venue found 1 ago 7:canceled fill:7:30@10.40:x2
         open
         wait 1
         clock
         venue takes-back 7 x1 for 30 @ 10.40 x2
         venue finds 7:canceled fill:7:30@10.40:x2
         wait 60
         clock
         open",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10.50 x1
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                7 PARTIALLY_EXECUTED filled 40
            venue lost 7
                7 PARTIALLY_EXECUTED filled 40 (time-out)
            wait 1
            clock
                to SIM-A: ask about 7
            wait 1
            venue takes-back 7 x1 for 30 @ 10.40 x2
                booked SELL -40 @ 10.5
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                fill 7 30 @ 10.4
                booked BUY 30 @ 10.4
                position 1 of 30 cost 312 realised 0
                cash USD 99687.85
                7 PARTIALLY_EXECUTED filled 30
            venue found 1 ago 7:canceled fill:7:30@10.40:x2
            open
                7 PARTIALLY_EXECUTED 30 of 100 LimitOrder
            wait 1
            clock
                to SIM-A: ask about 7
            venue takes-back 7 x1 for 30 @ 10.40 x2
            venue finds 7:canceled fill:7:30@10.40:x2
                7 CANCELED filled 30
            wait 60
            clock
            open
                nothing
        "#]],
    );
}

/// A question answers for an order that is open; one that has ended changes no more.
#[test]
fn an_order_that_has_ended_is_not_asked_about_when_something_is_taken_back() {
    check(
        "place 7 buy 100 AAPL @ 10.50
         venue accepts 7
         venue fills 7 40 @ 10.50 x1
         venue cancels 7
         venue takes-back 7 x1
         wait 60
         clock",
        expect![[r#"
            place 7 buy 100 AAPL @ 10.50
                7 OPEN
                to SIM-A: submit 7
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10.50 x1
                fill 7 40 @ 10.5
                booked BUY 40 @ 10.5
                position 1 of 40 cost 420 realised 0
                cash USD 99579.8
                7 PARTIALLY_EXECUTED filled 40
            venue cancels 7
                7 CANCELED filled 40
            venue takes-back 7 x1
                booked SELL -40 @ 10.5
                position 1 of 0 cost 0 realised 0
                cash USD 100000
                7 CANCELED
            wait 60
            clock
        "#]],
    );
}
