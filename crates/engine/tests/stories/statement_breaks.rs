//! What people do with differences between a statement and our books, and the risk control that follows from them.

use expect_test::expect;

use crate::statements::check_stating;
use crate::world::StoryEngine;

const UNEQUAL_FUTURES: &str = "venue states 1 0 ago USD:100000:locked:0
         place 1 buy 3 ES @ 5000
         venue accepts 1
         venue fills 1 3 @ 4990 x1
         wait 60
         clock
         venue states 1 0 ago USD:100250.5:locked:0 ES:1 EUR:5:locked:0
         wait 60
         clock
         venue states 1 0 ago USD:100250.5:locked:0 ES:1 EUR:5:locked:0
         repair B1
         repair B2
         repair B3
         wait 60
         clock
         venue states 1 0 ago USD:100250.5:locked:0 ES:1 EUR:5:locked:0
         cash
         positions
         breaks";

#[test]
fn a_repair_books_the_difference_and_a_future_settles_no_cash() {
    check_stating(
        None,
        UNEQUAL_FUTURES,
        expect![[r#"
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
            place 1 buy 3 ES @ 5000
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 3 @ 4990 x1
                fill 1 3 @ 4990
                booked BUY 3 @ 4990
                position 2 of 3 cost 748500 realised 0
                1 EXECUTED filled 3
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:100250.5:locked:0 ES:1 EUR:5:locked:0
                cash USD 100000, at the venue 100250.5, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:100250.5:locked:0 ES:1 EUR:5:locked:0
                Warn break-found: B1: CASH at SIM-A: we have total 0, the venue has total 5, locked 0
                B1 CASH OPEN: ours total 0, theirs total 5, locked 0
                Warn break-found: B2: CASH at SIM-A: we have total 100000, the venue has total 100250.5, locked 0
                B2 CASH OPEN: ours total 100000, theirs total 100250.5, locked 0
                Warn break-found: B3: POSITION at SIM-A: we have quantity 3, the venue has quantity 1
                B3 POSITION OPEN: ours quantity 3, theirs quantity 1
            repair B1
                booked REFUND 1 @ 5 EUR, CORRECTION - of strategy 1
                cash EUR 5, at the venue 5, locked 0
                B1 CASH REPAIRED: ours total 0, theirs total 5, locked 0;  by ann
            repair B2
                booked REFUND 1 @ 250.5 USD, CORRECTION - of strategy 1
                cash USD 100250.5, at the venue 100250.5, locked 0
                B2 CASH REPAIRED: ours total 100000, theirs total 100250.5, locked 0;  by ann
            repair B3
                booked TRANSFER -2 @ 4990 USD, CORRECTION - of strategy 1
                position 2 of 1 cost 249500 realised 0
                B3 POSITION REPAIRED: ours quantity 3, theirs quantity 1;  by ann
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:100250.5:locked:0 ES:1 EUR:5:locked:0
            cash
                1/1 100250.5 USD, at the venue 100250.5, locked 0
                1/2 100000 USD
                1/1 5 EUR, at the venue 5, locked 0
            positions
                position 2 of 1 cost 249500 realised 0
            breaks
                B1 CASH REPAIRED: ours total 0, theirs total 5, locked 0;  by ann
                B2 CASH REPAIRED: ours total 100000, theirs total 100250.5, locked 0;  by ann
                B3 POSITION REPAIRED: ours quantity 3, theirs quantity 1;  by ann
        "#]],
    );
}

#[test]
fn an_accepted_difference_is_not_found_again_and_a_larger_one_is() {
    check_stating(
        None,
        "venue states 1 0 ago USD:99990:locked:0
         wait 60
         clock
         venue states 1 0 ago USD:99990:locked:0
         accept B1 rounding
         day 2026-11-17
         venue states 1 0 ago USD:99990:locked:0
         day 2026-11-18
         venue states 1 0 ago USD:99990:locked:0
         day 2026-11-19
         venue states 1 0 ago USD:99990:locked:0
         breaks
         wait 60
         clock
         venue states 1 0 ago USD:99980:locked:0
         wait 60
         clock
         venue states 1 0 ago USD:99980:locked:0
         breaks",
        expect![[r#"
            venue states 1 0 ago USD:99990:locked:0
                cash USD 100000, at the venue 99990, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99990:locked:0
                Warn break-found: B1: CASH at SIM-A: we have total 100000, the venue has total 99990, locked 0
                B1 CASH OPEN: ours total 100000, theirs total 99990, locked 0
            accept B1 rounding
                B1 CASH ACCEPTED: ours total 100000, theirs total 99990, locked 0; rounding by ann
            day 2026-11-17
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99990:locked:0
            day 2026-11-18
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99990:locked:0
            day 2026-11-19
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99990:locked:0
            breaks
                B1 CASH ACCEPTED: ours total 100000, theirs total 99990, locked 0; rounding by ann
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99980:locked:0
                cash USD 100000, at the venue 99980, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:99980:locked:0
                Warn break-found: B2: CASH at SIM-A: we have total 100000, the venue has total 99980, locked 0
                B2 CASH OPEN: ours total 100000, theirs total 99980, locked 0
            breaks
                B1 CASH ACCEPTED: ours total 100000, theirs total 99990, locked 0; rounding by ann
                B2 CASH OPEN: ours total 100000, theirs total 99980, locked 0
        "#]],
    );
}

#[test]
fn what_a_currency_pair_holds_is_cash_of_its_base() {
    check_stating(
        None,
        "venue states 1 0 ago USD:100000:locked:0
         place 1 buy 1000 EUR.USD @ 1.1
         venue accepts 1
         venue fills 1 1000 @ 1.1 x1 charging FEE 1 EUR
         wait 60
         clock
         venue states 1 0 ago USD:98900:locked:0 EUR:999:locked:0
         wait 60
         clock
         venue states 1 0 ago USD:98900:locked:0 EUR:998:locked:0
         wait 60
         clock
         venue states 1 0 ago USD:98900:locked:0 EUR:998:locked:0
         repair B1
         wait 60
         clock
         venue states 1 0 ago USD:98900:locked:0 EUR:998:locked:0
         cash",
        expect![[r#"
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
            place 1 buy 1000 EUR.USD @ 1.1
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 1000 @ 1.1 x1 charging FEE 1 EUR
                fill 1 1000 @ 1.1
                booked BUY 1000 @ 1.1, FEE 1 EUR
                position 3 of 1000 cost 1100 realised 0
                cash USD 98900, at the venue 100000, locked 0
                booked FEES -1 @ 1 EUR of order 1
                cash EUR -1, at the venue 0, locked 0
                1 EXECUTED filled 1000
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98900:locked:0 EUR:999:locked:0
                cash USD 98900, at the venue 98900, locked 0
                cash EUR -1, at the venue 999, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98900:locked:0 EUR:998:locked:0
                cash EUR -1, at the venue 998, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98900:locked:0 EUR:998:locked:0
                Warn break-found: B1: CASH at SIM-A: we have total 999, the venue has total 998, locked 0
                B1 CASH OPEN: ours total 999, theirs total 998, locked 0
            repair B1
                booked FEES -1 @ 1 EUR, CORRECTION - of strategy 1
                cash EUR -2, at the venue 998, locked 0
                B1 CASH REPAIRED: ours total 999, theirs total 998, locked 0;  by ann
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:98900:locked:0 EUR:998:locked:0
            cash
                1/1 98900 USD, at the venue 98900, locked 0
                1/2 100000 USD
                1/1 -2 EUR, at the venue 998, locked 0
        "#]],
    );
}

const LATE_STATEMENTS: &str = "venue states 1 0 ago USD:100000:locked:0
         wait 60
         clock
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 10 @ 10 x1
         wait 2
         clock
         venue states 1 0 ago USD:100000:locked:0
         wait 60
         clock
         wait 2
         clock
         venue fails-to-list statement
         wait 10
         clock
         wait 2
         clock
         venue states 1 60 ago USD:1:locked:0
         venue states 1 14 ago USD:2:locked:0
         breaks
         wait 9
         clock
         wait 1
         clock
         wait 2
         clock
         venue states 1 0 ago partly AAPL:10
         breaks";

#[test]
fn a_statement_that_fails_or_is_late_is_asked_for_again() {
    check_stating(
        Some(2_000),
        LATE_STATEMENTS,
        expect![[r#"
            venue states 1 0 ago USD:100000:locked:0
                cash USD 100000, at the venue 100000, locked 0
            wait 60
            clock
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 10 @ 10 x1
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 10 cost 100 realised 0
                cash USD 99899.95, at the venue 100000, locked 0
                1 PARTIALLY_EXECUTED filled 10
            wait 2
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:100000:locked:0
            wait 60
            clock
            wait 2
            clock
                to SIM-A: ask for the statement of account 1
            venue fails-to-list statement
                Warn listing-failed: SIM-A: statement of account 1: status 503
            wait 10
            clock
            wait 2
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 60 ago USD:1:locked:0
                cash USD 99899.95, at the venue 1, locked 0
            venue states 1 14 ago USD:2:locked:0
                cash USD 99899.95, at the venue 2, locked 0
            breaks
                nothing
            wait 9
            clock
            wait 1
            clock
            wait 2
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago partly AAPL:10
                cash USD 99899.95
            breaks
                nothing
        "#]],
    );
}

/// With a limit of 100 for a break; 50 AAPL are held, and the venue states another number.
fn limited(stated: u32, story: &str) -> String {
    let limits = domain::RiskLimits { break_limit: Some(100.into()), ..domain::RiskLimits::default() };
    let mut world = StoryEngine::stating(None);
    world.limits(domain::RiskScope::Platform, limits);
    let statement = format!("wait 60\n clock\n venue states 1 0 ago USD:99499.75:locked:0 AAPL:{stated}\n");
    world.run("place 1 buy 100 AAPL @ 10\n venue accepts 1\n venue fills 1 50 @ 10 x1");
    world.run(&statement.repeat(2));
    let told = world.run(story);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    told
}

#[test]
fn a_break_below_the_limit_is_only_told() {
    let told = limited(45, "breaks\n place 2 buy 1 AAPL @ 10");
    expect![[r#"
        breaks
            B1 POSITION OPEN: ours quantity 50, theirs quantity 45
        place 2 buy 1 AAPL @ 10
            2 OPEN
            to SIM-A: submit 2
    "#]]
    .assert_eq(&told);
}

#[test]
fn no_position_is_opened_while_a_break_is_above_the_limit() {
    let told = limited(
        30,
        "breaks
         place 3 buy 1 AAPL @ 10
         check buy 1 AAPL @ 10
         modify 1 to 120 @ 10
         place 4 sell 5 AAPL @ 11
         cancel 1
         place 5 buy 1 ES @ 5000
         place 6 buy 1 SAP @ 10 account 2
         repair B1
         place 7 buy 1 AAPL @ 10",
    );
    expect![[r#"
        breaks
            B1 POSITION OPEN: ours quantity 50, theirs quantity 30
        place 3 buy 1 AAPL @ 10
            refused break-open: break B1 is above the limit of 100 for PLATFORM: only orders that reduce a position pass
        check buy 1 AAPL @ 10
            refused break-open, notional 10, fee 0.005
        modify 1 to 120 @ 10
            refused break-open: break B1 is above the limit of 100 for PLATFORM: only orders that reduce a position pass
        place 4 sell 5 AAPL @ 11
            4 OPEN
            to SIM-A: submit 4
        cancel 1
            1 PENDING_CANCEL filled 50
            to SIM-A: cancel 1
        place 5 buy 1 ES @ 5000
            5 OPEN
            to SIM-A: submit 5
        place 6 buy 1 SAP @ 10 account 2
            6 OPEN
            to SIM-B: submit 6
        repair B1
            booked TRANSFER -20 @ 10 USD, CORRECTION - of strategy 1
            position 1 of 30 cost 300 realised 0
            B1 POSITION REPAIRED: ours quantity 50, theirs quantity 30;  by ann
        place 7 buy 1 AAPL @ 10
            7 OPEN
            to SIM-A: submit 7
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_difference_is_not_booked_when_something_was_booked_since_the_statement() {
    check_stating(
        None,
        "place 1 buy 3 ES @ 5000
         venue accepts 1
         venue states 1 0 ago USD:100000:locked:0 ES:3
         wait 60
         clock
         venue states 1 0 ago USD:100000:locked:0 ES:3
         venue fills 1 3 @ 4990 x1
         repair B1
         wait 60
         clock
         venue states 1 0 ago USD:100000:locked:0 ES:3
         repair B1
         positions
         breaks",
        expect![[r#"
            place 1 buy 3 ES @ 5000
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue states 1 0 ago USD:100000:locked:0 ES:3
                cash USD 100000, at the venue 100000, locked 0
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:100000:locked:0 ES:3
                Warn break-found: B1: POSITION at SIM-A: we have quantity 0, the venue has quantity 3
                B1 POSITION OPEN: ours quantity 0, theirs quantity 3
            venue fills 1 3 @ 4990 x1
                fill 1 3 @ 4990
                booked BUY 3 @ 4990
                position 2 of 3 cost 748500 realised 0
                1 EXECUTED filled 3
            repair B1
                refused break-outdated: break B1: the books have changed since the venue's statement; wait for the next one
            wait 60
            clock
                to SIM-A: ask for the statement of account 1
            venue states 1 0 ago USD:100000:locked:0 ES:3
                B1 POSITION EXPLAINED: ours quantity 0, theirs quantity 3; both sides agree again
            repair B1
                refused break-outdated: break B1: the books have changed since the venue's statement; wait for the next one
            positions
                position 2 of 3 cost 748500 realised 0
            breaks
                B1 POSITION EXPLAINED: ours quantity 0, theirs quantity 3; both sides agree again
        "#]],
    );
}
