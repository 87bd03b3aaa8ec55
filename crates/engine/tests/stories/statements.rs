//! Statements of venues: kept beside our books, compared with them, never booked.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

/// The same where statements are compared.
pub(crate) fn check_stating(read_lag_millis: Option<u32>, story: &str, told: Expect) {
    let mut world = StoryEngine::stating(read_lag_millis);
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    let read = engine::Engine::from_state(&state).unwrap();
    assert_eq!(read.encode_state(), state, "a snapshot is another state");
}

#[test]
fn a_statement_stands_beside_the_balances_of_its_account() {
    check(
        "venue states 1 0 ago USD:99000:locked:50.5 ES:2
         cash
         place 1 buy 10 AAPL @ 10.02
         venue accepts 1
         venue fills 1 10 @ 10 x1
         wait 60
         venue states 1 0 ago USD:99000:locked:50.5
         venue states 1 30 ago USD:7:locked:7
         cash",
        expect![[r#"
            venue states 1 0 ago USD:99000:locked:50.5 ES:2
                cash USD 100000, at the venue 99000, locked 50.5
            cash
                1/1 100000 USD, at the venue 99000, locked 50.5
                1/2 100000 USD
            place 1 buy 10 AAPL @ 10.02
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 10 @ 10 x1
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 10 cost 100 realised 0
                cash USD 99899.95, at the venue 99000, locked 50.5
                1 EXECUTED filled 10
            wait 60
            venue states 1 0 ago USD:99000:locked:50.5
            venue states 1 30 ago USD:7:locked:7
            cash
                1/1 99899.95 USD, at the venue 99000, locked 50.5
                1/2 100000 USD
        "#]],
    );
}

#[test]
fn what_a_complete_statement_leaves_out_is_nothing_and_what_a_part_leaves_out_is_unknown() {
    check(
        "venue states 1 0 ago EUR:5:locked:0
         venue states 1 0 ago partly EUR:5:locked:0
         cash",
        expect![[r#"
            venue states 1 0 ago EUR:5:locked:0
                cash USD 100000, at the venue 0, locked 0
            venue states 1 0 ago partly EUR:5:locked:0
                cash USD 100000
            cash
                1/1 100000 USD
                1/2 100000 USD
        "#]],
    );
}

#[test]
fn a_statement_of_an_account_elsewhere_is_an_error() {
    check(
        "venue states 2 0 ago USD:1:locked:0\n venue states 9 0 ago USD:1:locked:0\n cash",
        expect![[r#"
        venue states 2 0 ago USD:1:locked:0
            Error foreign-statement: SIM-A gives a statement of account 2, which does not trade there
        venue states 9 0 ago USD:1:locked:0
            Error foreign-statement: SIM-A gives a statement of account 9, which does not trade there
        cash
            1/1 100000 USD
            1/2 100000 USD
    "#]],
    );
}

#[test]
fn after_each_log_on_the_venue_is_asked_for_statements() {
    check_stating(
        None,
        "venue disconnects\n venue connects\n venue shows\n venue logs-on",
        expect![[r#"
        venue disconnects
            SIM-A DISCONNECTED
        venue connects
            SIM-A CONNECTED
        venue shows
        venue logs-on
            SIM-A LOGGED_ON
            to SIM-A: ask for the statement of account 1
    "#]],
    );
}

#[test]
fn a_difference_of_two_statements_in_a_row_is_a_break_and_explains_itself() {
    check_stating(
        None,
        "venue states 1 0 ago USD:100000:locked:0
         wait 60
         clock
         venue states 1 0 ago USD:99000:locked:25
         breaks
         wait 60
         clock
         venue states 1 0 ago USD:99000:locked:25
         wait 60
         clock
         venue states 1 0 ago USD:99000:locked:25
         wait 60
         clock
         venue states 1 0 ago USD:98500:locked:0
         breaks
         wait 60
         clock
         venue states 1 0 ago USD:98500:locked:0
         wait 60
         clock
         venue states 1 0 ago USD:100000:locked:0
         breaks",
        expect![[r#"
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99000:locked:25
                cash USD 100000, at the venue 99000, locked 25
            breaks
                nothing
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99000:locked:25
                Warn break-found: B1: CASH at SIM-A: we have total 100000, the venue has total 99000, locked 25
                B1 CASH OPEN: ours total 100000, theirs total 99000, locked 25
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99000:locked:25
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98500:locked:0
                cash USD 100000, at the venue 98500, locked 0
            breaks
                B1 CASH OPEN: ours total 100000, theirs total 99000, locked 25
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98500:locked:0
                Warn break-found: B1: CASH at SIM-A: we have total 100000, the venue has total 98500, locked 0
                B1 CASH OPEN: ours total 100000, theirs total 98500, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
                B1 CASH EXPLAINED: ours total 100000, theirs total 98500, locked 0; both sides agree again
            breaks
                B1 CASH EXPLAINED: ours total 100000, theirs total 98500, locked 0; both sides agree again
        "#]],
    );
}

const OVERTAKING_FILLS: &str = "venue states 1 0 ago USD:100000:locked:0
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         wait 60
         clock
         venue fills 1 40 @ 10 x1
         venue fills 1 10 @ 10 x2
         venue states 1 0 ago USD:99599.8:locked:0 AAPL:40
         wait 60
         clock
         venue states 1 0 ago USD:99099.55:locked:0 AAPL:90
         venue fills 1 40 @ 10 x3
         wait 60
         clock
         venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
         venue fills 1 10 @ 10 x4
         wait 60
         clock
         venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
         breaks";

#[test]
fn a_statement_that_a_fill_overtakes_is_no_difference() {
    check_stating(
        None,
        OVERTAKING_FILLS,
        expect![[r#"
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue fills 1 40 @ 10 x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8, at the venue 100000, locked 0
                1 PARTIALLY_EXECUTED filled 40
            venue fills 1 10 @ 10 x2
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 50 cost 500 realised 0
                cash USD 99499.75, at the venue 100000, locked 0
                1 PARTIALLY_EXECUTED filled 50
            venue states 1 0 ago USD:99599.8:locked:0 AAPL:40
                cash USD 99499.75, at the venue 99599.8, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99099.55:locked:0 AAPL:90
                cash USD 99499.75, at the venue 99099.55, locked 0
            venue fills 1 40 @ 10 x3
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 90 cost 900 realised 0
                cash USD 99099.55, at the venue 99099.55, locked 0
                1 PARTIALLY_EXECUTED filled 90
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
                cash USD 99099.55, at the venue 98999.5, locked 0
            venue fills 1 10 @ 10 x4
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5, at the venue 98999.5, locked 0
                1 EXECUTED filled 100
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
            breaks
                nothing
        "#]],
    );
}

#[test]
fn what_is_missing_while_we_trade_on_is_found() {
    check_stating(
        None,
        "venue states 1 0 ago USD:100000:locked:0
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         wait 60
         clock
         venue fills 1 40 @ 10 x1
         venue states 1 0 ago USD:99599.8:locked:0 AAPL:45
         wait 60
         clock
         venue fills 1 30 @ 10 x2
         venue states 1 0 ago USD:99299.65:locked:0 AAPL:75
         breaks",
        expect![[r#"
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue fills 1 40 @ 10 x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8, at the venue 100000, locked 0
                1 PARTIALLY_EXECUTED filled 40
            venue states 1 0 ago USD:99599.8:locked:0 AAPL:45
                cash USD 99599.8, at the venue 99599.8, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue fills 1 30 @ 10 x2
                fill 1 30 @ 10
                booked BUY 30 @ 10
                position 1 of 70 cost 700 realised 0
                cash USD 99299.65, at the venue 99599.8, locked 0
                1 PARTIALLY_EXECUTED filled 70
            venue states 1 0 ago USD:99299.65:locked:0 AAPL:75
                cash USD 99299.65, at the venue 99299.65, locked 0
                Warn break-found: B1: POSITION at SIM-A: we have quantity 70, the venue has quantity 75
                B1 POSITION OPEN: ours quantity 70, theirs quantity 75
            breaks
                B1 POSITION OPEN: ours quantity 70, theirs quantity 75
        "#]],
    );
}

#[test]
fn an_order_in_doubt_may_explain_a_difference() {
    check_stating(
        None,
        "venue states 1 0 ago USD:100000:locked:0
         place 1 buy 100 AAPL @ 10
         venue lost 1 for 600
         wait 60
         clock
         venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
         wait 60
         clock
         venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
         breaks
         venue finds 1:filled fill:1:100@10:x1
         wait 60
         clock
         venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
         breaks",
        expect![[r#"
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue lost 1 for 600
                1 OPEN (time-out)
            wait 60
            clock
                Warn no-answer: order 1: the venue has not answered for 10 s; the order was in doubt before
                to SIM-A: ask about 1
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
                cash USD 100000, at the venue 98999.5, locked 0
            wait 60
            clock
                to SIM-A: ask about 1
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
            breaks
                nothing
            venue finds 1:filled fill:1:100@10:x1
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5, at the venue 98999.5, locked 0
                1 EXECUTED filled 100
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98999.5:locked:0 AAPL:100
            breaks
                nothing
        "#]],
    );
}

#[test]
fn a_difference_of_an_execution_is_not_told_twice() {
    check_stating(
        None,
        "venue states 1 0 ago USD:100000:locked:0
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         venue fills 1 30 @ 9.5 x1
         wait 60
         clock
         venue states 1 0 ago USD:99714.85:locked:0 AAPL:30
         wait 60
         clock
         venue states 1 0 ago USD:99714.85:locked:0 AAPL:30
         repair B1
         wait 60
         clock
         venue states 1 0 ago USD:99714.85:locked:0 AAPL:30
         breaks",
        expect![[r#"
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 40 @ 10 x1
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8, at the venue 100000, locked 0
                1 PARTIALLY_EXECUTED filled 40
            venue fills 1 30 @ 9.5 x1
                Error execution-differs: execution x1 of order number 1: 40 @ 10 is booked, and now it is 30 @ 9.5
                Warn break-found: B1: FILL at SIM-A: we have order 1, quantity 40, price 10, the venue has order 1, quantity 30, price 9.5
                B1 FILL OPEN: ours order 1, quantity 40, price 10, theirs order 1, quantity 30, price 9.5
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99714.85:locked:0 AAPL:30
                cash USD 99599.8, at the venue 99714.85, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99714.85:locked:0 AAPL:30
            repair B1
                booked SELL -40 @ 10
                position 1 of 0 cost 0 realised 0
                cash USD 100000, at the venue 99714.85, locked 0
                fill 1 30 @ 9.5
                booked BUY 30 @ 9.5
                position 1 of 30 cost 285 realised 0
                cash USD 99714.85, at the venue 99714.85, locked 0
                1 PARTIALLY_EXECUTED filled 30 (corrected by x1)
                B1 FILL REPAIRED: ours order 1, quantity 40, price 10, theirs order 1, quantity 30, price 9.5;  by ann
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99714.85:locked:0 AAPL:30
            breaks
                B1 FILL REPAIRED: ours order 1, quantity 40, price 10, theirs order 1, quantity 30, price 9.5;  by ann
        "#]],
    );
}
