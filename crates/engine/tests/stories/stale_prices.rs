//! Prices that are old, or that their feed has lost: nothing is opened on them.

use domain::risk::{RiskLimits, RiskScope};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(limits: RiskLimits, story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    world.limits(RiskScope::Platform, limits);
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

fn stale_after(seconds: u32) -> RiskLimits {
    RiskLimits { stale_after_seconds: Some(seconds), ..RiskLimits::default() }
}

#[test]
fn a_stale_price_refuses_the_order() {
    check(
        stale_after(5),
        "place 1 buy 1 AAPL market
         wait 6
         place 2 buy 1 AAPL market
         mark AAPL 10 10.02
         place 3 buy 1 AAPL market
         place 4 buy 1 ES @ 10",
        expect![[r#"
            place 1 buy 1 AAPL market
                1 OPEN
                to SIM-A: submit 1
            wait 6
            place 2 buy 1 AAPL market
                refused stale-price: the newest price of security 1 is 6 s old, more than 5 s
            mark AAPL 10 10.02
            place 3 buy 1 AAPL market
                3 OPEN
                to SIM-A: submit 3
            place 4 buy 1 ES @ 10
                refused stale-price: the newest price of security 2 is 6 s old, more than 5 s
        "#]],
    );
}

#[test]
fn a_price_that_its_feed_has_lost_refuses_only_what_opens_a_position_and_not_in_closed_hours() {
    check(
        RiskLimits::default(),
        "place 1 buy 10 AAPL @ 10
         venue accepts 1
         venue fills 1 10 @ 10 x1
         stale AAPL 10 10.02 DISCONNECTED
         place 2 buy 1 AAPL @ 10
         check sell 11 AAPL @ 9.5
         place 3 sell 10 AAPL @ 9.5
         stale SAP 10 10.02 SILENT
         place 4 buy 1 SAP @ 10 GTC
         mark AAPL 10 10.02
         place 5 buy 1 AAPL @ 10",
        expect![[r#"
            place 1 buy 10 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 10 @ 10 x1
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 10 cost 100 realised 0
                cash USD 99899.95
                1 EXECUTED filled 10
            stale AAPL 10 10.02 DISCONNECTED
            place 2 buy 1 AAPL @ 10
                refused stale-price: the price of security 1 is stale: the connection to the feed was lost
            check sell 11 AAPL @ 9.5
                refused stale-price, notional 104.5, fee 0.055
            place 3 sell 10 AAPL @ 9.5
                3 OPEN
                to SIM-A: submit 3
            stale SAP 10 10.02 SILENT
            place 4 buy 1 SAP @ 10 GTC
                4 OPEN
                to SIM-B: submit 4
            mark AAPL 10 10.02
            place 5 buy 1 AAPL @ 10
                5 OPEN
                to SIM-A: submit 5
        "#]],
    );
}

#[test]
fn an_old_price_refuses_only_what_opens_a_position_and_closed_hours_are_not_stale() {
    check(
        stale_after(5),
        "mark SAP 10 10.02
         place 1 buy 10 AAPL @ 10
         venue accepts 1
         venue fills 1 10 @ 10 x1
         wait 60
         place 2 buy 1 AAPL @ 10
         check sell 11 AAPL @ 9.5
         place 3 sell 10 AAPL @ 9.5
         place 4 buy 1 SAP @ 10 GTC",
        expect![[r#"
            mark SAP 10 10.02
            place 1 buy 10 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue fills 1 10 @ 10 x1
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 10 cost 100 realised 0
                cash USD 99899.95
                1 EXECUTED filled 10
            wait 60
            place 2 buy 1 AAPL @ 10
                refused stale-price: the newest price of security 1 is 60 s old, more than 5 s
            check sell 11 AAPL @ 9.5
                refused stale-price, notional 104.5, fee 0.055
            place 3 sell 10 AAPL @ 9.5
                3 OPEN
                to SIM-A: submit 3
            place 4 buy 1 SAP @ 10 GTC
                4 OPEN
                to SIM-B: submit 4
        "#]],
    );
}
