//! Orders for a day, or until an instant, at a venue that does not know such orders: the platform ends them.

use domain::command::Command;
use domain::risk::{EngineSettings, SelfTradePrevention};
use domain::{RiskLimits, RiskScope};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::without_expiry();
    let limits = RiskLimits { self_trade: Some(SelfTradePrevention::CancelResting), ..RiskLimits::default() };
    world.limits(RiskScope::Platform, limits);
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn an_order_that_ends_while_the_venue_is_away_is_cancelled_when_it_is_back() {
    check(
        "place 1 buy 100 AAPL @ 10 GTD-tomorrow
         venue accepts 1
         venue disconnects
         wait 86400
         clock
         wait 3600
         venue connects
         venue shows 1:live
         venue logs-on
         wait 10
         clock
         venue cancels 1
         wait 10
         clock
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10 GTD-tomorrow
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue disconnects
                SIM-A DISCONNECTED
            wait 86400
            clock
            wait 3600
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
            venue logs-on
                SIM-A LOGGED_ON
            wait 10
            clock
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
            wait 10
            clock
            open
                nothing
        "#]],
    );
}

#[test]
fn an_end_that_the_venue_refuses_or_does_not_answer_is_asked_for_again() {
    check(
        "place 1 buy 100 AAPL @ 10 GTD-tomorrow
         venue accepts 1
         wait 86400
         clock
         venue refuses-cancel 1
         wait 9
         clock
         wait 1
         clock
         venue cancels 1
         wait 10
         clock
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10 GTD-tomorrow
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 86400
            clock
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue refuses-cancel 1
                1 SUBMITTED (too late)
            wait 9
            clock
                to SIM-A: ask about 1
            wait 1
            clock
                1 PENDING_CANCEL
                to SIM-A: cancel 1
                to SIM-A: ask about 1
            venue cancels 1
                1 CANCELED
            wait 10
            clock
                to SIM-A: ask about 1
            open
                nothing
        "#]],
    );
}

#[test]
fn a_refused_end_is_asked_for_at_growing_pauses() {
    check(
        "place 1 buy 100 AAPL @ 10 GTD-tomorrow
         venue accepts 1
         wait 86400
         clock
         venue refuses-cancel 1
         wait 1
         clock
         venue finds 1:live
         wait 9
         clock
         venue refuses-cancel 1
         wait 1
         clock
         venue finds 1:live
         wait 9
         clock
         wait 10
         clock
         venue cancels 1
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10 GTD-tomorrow
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 86400
            clock
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue refuses-cancel 1
                1 SUBMITTED (too late)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live
            wait 9
            clock
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue refuses-cancel 1
                1 SUBMITTED (too late)
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live
            wait 9
            clock
            wait 10
            clock
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
            open
                nothing
        "#]],
    );
}

#[test]
fn the_end_of_an_order_that_the_venue_no_longer_knows_is_not_asked_for() {
    check(
        "place 1 buy 100 AAPL @ 10 GTD-tomorrow
         venue accepts 1
         wait 86400
         clock
         venue refuses-cancel 1
         wait 1
         clock
         venue misses 1
         wait 60
         clock
         wait 3600
         clock
         venue finds 1:live
         wait 10
         clock
         venue cancels 1
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10 GTD-tomorrow
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 86400
            clock
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue refuses-cancel 1
                1 SUBMITTED (too late)
            wait 1
            clock
                to SIM-A: ask about 1
            venue misses 1
                Error order-vanished: order 1: the venue does not know the order that it had accepted
                1 SUBMITTED (the venue does not know the order that it had accepted)
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 10, tif GTD, filled 0, the venue has nothing
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif GTD, filled 0, theirs nothing
            wait 60
            clock
                to SIM-A: ask about 1
            wait 3600
            clock
                to SIM-A: ask about 1
            venue finds 1:live
                1 SUBMITTED
            wait 10
            clock
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED
            open
                nothing
        "#]],
    );
}

#[test]
fn an_order_whose_time_is_over_and_that_no_venue_cancels_is_cancelled_every_five_minutes_in_the_end() {
    let mut world = StoryEngine::without_expiry();
    world.run("place 1 buy 100 AAPL @ 10 GTD-tomorrow\nvenue accepts 1\nwait 86400");
    let mut asked = Vec::new();
    for seconds in (0..1_800).step_by(10) {
        if world.run("clock").contains("to SIM-A: cancel 1") {
            asked.push(seconds);
            world.run("venue refuses-cancel 1");
        }
        world.run("venue finds 1:live\nwait 10");
    }
    assert_eq!(asked, [0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510]);
}

#[test]
fn an_order_that_waits_for_the_cancel_of_another_ends_in_time_although_the_venue_is_away() {
    check(
        "place 1 buy 1 AAPL @ 10 GTC
         venue accepts 1
         wait 86398
         clock
         place 2 sell 5 AAPL @ 10 GTD-tomorrow
         venue disconnects
         wait 2
         clock
         venue connects
         venue shows 1:canceled
         venue logs-on
         open",
        expect![[r#"
            place 1 buy 1 AAPL @ 10 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 86398
            clock
            place 2 sell 5 AAPL @ 10 GTD-tomorrow
                2 OPEN (waits for the venue to cancel order 1)
                1 PENDING_CANCEL (self-trade: order 2 of the same account meets it)
                to SIM-A: cancel 1
            venue disconnects
                SIM-A DISCONNECTED
                1 PENDING_CANCEL (the connection was lost before the venue answered)
            wait 2
            clock
                2 PENDING_CANCEL
                2 CANCELED
            venue connects
                SIM-A CONNECTED
            venue shows 1:canceled
                1 CANCELED (self-trade: order 2 of the same account meets it)
            venue logs-on
                SIM-A LOGGED_ON
            open
                nothing
        "#]],
    );
}

#[test]
fn in_journals_of_earlier_builds_an_order_whose_time_is_over_is_cancelled_once_even_while_its_venue_is_away() {
    let mut world = StoryEngine::without_expiry();
    let settings = EngineSettings { repeats_expiry: false, ..EngineSettings::default() };
    world.command(Command::Configure(settings)).unwrap();
    let told = world.run(
        "place 1 buy 100 AAPL @ 10 GTD-tomorrow
         venue accepts 1
         venue disconnects
         wait 86400
         clock
         wait 3600
         clock",
    );
    assert_eq!(told.matches("to SIM-A: cancel 1").count(), 1, "{told}");
}
