//! Statements of venues: kept beside our books, never booked.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
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
    check(
        "venue-b disconnects\n venue-b connects\n venue-b shows\n venue-b logs-on",
        expect![[r#"
        venue-b disconnects
            SIM-B DISCONNECTED
        venue-b connects
            SIM-B CONNECTED
        venue-b shows
        venue-b logs-on
            SIM-B LOGGED_ON
            to SIM-B: ask for the statement of account 2
    "#]],
    );
}
