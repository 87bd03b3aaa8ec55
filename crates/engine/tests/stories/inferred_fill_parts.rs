//! What is told late of a fill that was inferred: its executions, corrections and busts; and the price of what is missing.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_correction_of_an_execution_inside_an_inferred_fill_books_nothing_and_the_venue_is_asked() {
    check(
        "place 1 buy 200 AAPL @ 10.5
         venue accepts 1
         venue fills 1 40 @ 10.5 x1 at 12:00:00
         wait 30
         venue reports-lost
         venue finds 1:live total:100@10.44/12:00:20
         wait 1
         clock
         venue finds 1:live total:100@10.44/12:00:20
         venue corrects 1 x2 to 20 @ 10.4 x9 at 12:00:40
         venue corrects 1 x2 to 20 @ 10.4 x9 at 12:00:40
         venue fills 1 20 @ 10.4 x9 at 12:00:40
         wait 1
         clock
         venue finds 1:live total:105@10.43/12:00:41
         wait 1
         clock
         venue finds 1:live total:105@10.43/12:00:41",
        expect![[r#"
            place 1 buy 200 AAPL @ 10.5
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10.5 x1 at 12:00:00
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
                1 PARTIALLY_EXECUTED filled 100
                Error fill-inferred: order 1: 60 @ 10.4 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue corrects 1 x2 to 20 @ 10.4 x9 at 12:00:40
                Error fill-inferred-undone: order 1: the venue takes back execution x2, which is not booked by itself; it can be part of INFERRED-1-1: nothing is booked, and the venue is asked; compare with its statement
                1 PARTIALLY_EXECUTED filled 100 (the venue takes back execution x2, which is not booked by itself)
            venue corrects 1 x2 to 20 @ 10.4 x9 at 12:00:40
                Error fill-inferred-undone: order 1: the venue takes back execution x2, which is not booked by itself; it can be part of INFERRED-1-1: nothing is booked, and the venue is asked; compare with its statement
            venue fills 1 20 @ 10.4 x9 at 12:00:40
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:105@10.43/12:00:41
                Error fills-missing: order 1: the venue has filled 105, but only 100 were reported; the venue is asked again
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:105@10.43/12:00:41
                Warn break-found: B1: FILL at SIM-A: we have filled 100, the venue has filled 105, averagePrice 10.43
                B1 FILL OPEN: ours filled 100, theirs filled 105, averagePrice 10.43
        "#]],
    );
}

#[test]
fn a_bust_of_an_execution_inside_an_inferred_fill_books_nothing_and_the_venue_is_asked() {
    check(
        "place 1 buy 200 AAPL @ 10.5
         venue accepts 1
         venue fills 1 40 @ 10.5 x1 at 12:00:00
         wait 30
         venue reports-lost
         venue finds 1:live total:100@10.44/12:00:20
         wait 1
         clock
         venue finds 1:live total:100@10.44/12:00:20
         venue fills 1 25 @ 10.4 x2 at 12:00:10
         venue busts 1 x2
         venue fills 1 25 @ 10.4 x2 at 12:00:10
         venue busts 1 x1
         wait 1
         clock
         positions",
        expect![[r#"
            place 1 buy 200 AAPL @ 10.5
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10.5 x1 at 12:00:00
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
                1 PARTIALLY_EXECUTED filled 100
                Error fill-inferred: order 1: 60 @ 10.4 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue fills 1 25 @ 10.4 x2 at 12:00:10
                Warn fill-inferred-before: order 1: execution x2, 25 @ 10.4, is part of INFERRED-1-1; it is not booked again
            venue busts 1 x2
                Error fill-inferred-undone: order 1: the venue takes back execution x2, which is not booked by itself; it can be part of INFERRED-1-1: nothing is booked, and the venue is asked; compare with its statement
                1 PARTIALLY_EXECUTED filled 100 (the venue takes back execution x2, which is not booked by itself)
            venue fills 1 25 @ 10.4 x2 at 12:00:10
            venue busts 1 x1
                booked SELL -40 @ 10.5
                position 1 of 60 cost 626.4 realised 2.4
                cash USD 99375.7
                1 PARTIALLY_EXECUTED filled 60
            wait 1
            clock
                to SIM-A: ask about 1
            positions
                position 1 of 60 cost 626.4 realised 2.4
        "#]],
    );
}

#[test]
fn a_fill_that_is_mistaken_for_part_of_an_inferred_one_is_found_by_the_next_total() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue gap
         venue finds 1:live total:30@10/12:00:00
         wait 1
         clock
         venue finds 1:live total:30@10/12:00:01
         venue fills 1 20 @ 10 x7 at 12:00:01
         wait 1
         clock
         venue finds 1:live total:50@10/12:00:02
         wait 1
         clock
         venue finds 1:live total:50@10/12:00:03
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
            venue finds 1:live total:30@10/12:00:00
                Error fills-missing: order 1: the venue has filled 30, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 30, but only 0 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:30@10/12:00:01
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
                Error fill-inferred: order 1: 30 @ 10 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue fills 1 20 @ 10 x7 at 12:00:01
                Warn fill-inferred-before: order 1: execution x7, 20 @ 10, is part of INFERRED-1-1; it is not booked again
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:50@10/12:00:02
                Error fills-missing: order 1: the venue has filled 50, but only 30 were reported; the venue is asked again
                1 PARTIALLY_EXECUTED filled 30 (the venue has filled 50, but only 30 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:50@10/12:00:03
                fill 1 20 @ 10
                booked BUY 20 @ 10
                position 1 of 50 cost 500 realised 0
                cash USD 99499.75
                1 PARTIALLY_EXECUTED filled 50
                Error fill-inferred: order 1: 20 @ 10 is booked as one inferred fill (INFERRED-1-2): the venue has filled it and does not tell its executions; compare with its statement
            positions
                position 1 of 50 cost 500 realised 0
        "#]],
    );
}

#[test]
fn after_a_part_of_an_inferred_fill_the_venue_is_asked_once_across_a_log_on() {
    check(
        "place 1 buy 30 AAPL @ 10
         venue accepts 1
         venue gap
         venue finds 1:live total:30@10/12:00:00
         wait 1
         clock
         venue finds 1:live total:30@10/12:00:01
         venue fills 1 20 @ 10 x7 at 12:00:01
         venue disconnects
         wait 5
         venue connects
         venue shows partly
         venue logs-on
         wait 1
         clock
         venue finds 1:live total:30@10/12:00:02
         wait 60
         clock
         positions",
        expect![[r#"
            place 1 buy 30 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:30@10/12:00:00
                Error fills-missing: order 1: the venue has filled 30, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 30, but only 0 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:30@10/12:00:01
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 EXECUTED filled 30
                Error fill-inferred: order 1: 30 @ 10 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue fills 1 20 @ 10 x7 at 12:00:01
                Warn fill-inferred-before: order 1: execution x7, 20 @ 10, is part of INFERRED-1-1; it is not booked again
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
            venue finds 1:live total:30@10/12:00:02
            wait 60
            clock
            positions
                position 1 of 30 cost 300 realised 0
        "#]],
    );
}

#[test]
fn a_fill_without_a_time_is_no_part_of_an_inferred_one_and_the_venue_is_asked() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue gap
         venue finds 1:live total:30@10/12:00:00
         wait 1
         clock
         venue finds 1:live total:30@10/12:00:01
         venue fills 1 20 @ 10 x7
         wait 1
         clock
         venue finds 1:live total:50@10/12:00:02
         wait 60
         clock
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
            venue finds 1:live total:30@10/12:00:00
                Error fills-missing: order 1: the venue has filled 30, but only 0 were reported; the venue is asked again
                1 SUBMITTED (the venue has filled 30, but only 0 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:30@10/12:00:01
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 30 cost 300 realised 0
                cash USD 99699.85
                1 PARTIALLY_EXECUTED filled 30
                Error fill-inferred: order 1: 30 @ 10 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue fills 1 20 @ 10 x7
                fill 1 20 @ 10
                booked BUY 20 @ 10
                position 1 of 50 cost 500 realised 0
                cash USD 99499.75
                1 PARTIALLY_EXECUTED filled 50
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:50@10/12:00:02
            wait 60
            clock
            positions
                position 1 of 50 cost 500 realised 0
        "#]],
    );
}

#[test]
fn an_average_of_which_zeros_were_dropped_gives_the_exact_price() {
    check(
        "place 1 buy 100 AAPL @ 10.5
         venue accepts 1
         venue fills 1 40 @ 10.5 x1
         venue gap
         venue finds 1:live total:100@10
         wait 1
         clock
         venue finds 1:live total:100@10
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
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue finds 1:live total:100@10
                Error fills-missing: order 1: the venue has filled 100, but only 40 were reported; the venue is asked again
                1 PARTIALLY_EXECUTED filled 40 (the venue has filled 100, but only 40 were reported)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live total:100@10
                fill 1 60 @ 9.666666666667
                booked BUY 60 @ 9.666666666667
                position 1 of 100 cost 1000.00000000002 realised 0
                cash USD 98999.49999999998
                1 EXECUTED filled 100
                Error fill-inferred: order 1: 60 @ 9.666666666667 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            positions
                position 1 of 100 cost 1000.00000000002 realised 0
        "#]],
    );
}

#[test]
fn a_correction_of_an_execution_that_is_booked_by_itself_is_no_part_of_an_inferred_fill() {
    check(
        "place 1 buy 200 AAPL @ 10.5
         venue accepts 1
         venue fills 1 40 @ 10.5 x1 at 12:00:00
         wait 30
         venue reports-lost
         venue finds 1:live total:100@10.44/12:00:20
         wait 1
         clock
         venue finds 1:live total:100@10.44/12:00:20
         venue corrects 1 x1 to 40 @ 10.6 x9 at 12:00:10
         venue corrects 1 x1 to 40 @ 10.6 x9 at 12:00:10
         positions",
        expect![[r#"
            place 1 buy 200 AAPL @ 10.5
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10.5 x1 at 12:00:00
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
                1 PARTIALLY_EXECUTED filled 100
                Error fill-inferred: order 1: 60 @ 10.4 is booked as one inferred fill (INFERRED-1-1): the venue has filled it and does not tell its executions; compare with its statement
            venue corrects 1 x1 to 40 @ 10.6 x9 at 12:00:10
                booked SELL -40 @ 10.5
                position 1 of 60 cost 626.4 realised 2.4
                cash USD 99375.7
                fill 1 40 @ 10.6
                booked BUY 40 @ 10.6
                position 1 of 100 cost 1050.4 realised 2.4
                cash USD 98951.5
                1 PARTIALLY_EXECUTED filled 100 (corrected by x9)
            venue corrects 1 x1 to 40 @ 10.6 x9 at 12:00:10
                Error unknown-execution: order 1: no execution x1 to undo
            positions
                position 1 of 100 cost 1050.4 realised 2.4
        "#]],
    );
}
