//! What makes an execution or a request one and the same, whatever ids a venue uses twice.

use domain::risk::EngineSettings;
use domain::{Command, WireId};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_trade_id_that_repeats_across_securities_is_another_fill() {
    check(
        "place 1 buy 100 AAPL @ 10
         place 2 buy 1 ES @ 5000
         venue fills 1 100 @ 10 7001
         venue fills 2 1 @ 5000 7001
         venue fills 1 100 @ 10 7001",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1 ES @ 5000
                2 OPEN
                to SIM-A: submit 2
            venue fills 1 100 @ 10 7001
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
            venue fills 2 1 @ 5000 7001
                fill 2 1 @ 5000
                booked BUY 1 @ 5000
                position 2 of 1 cost 250000 realised 0
                2 EXECUTED filled 1
            venue fills 1 100 @ 10 7001
        "#]],
    );
}

#[test]
fn a_trade_id_that_a_venue_uses_again_after_its_restart_is_another_fill() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 1
         venue disconnects
         venue connects
         venue shows 1:live fill:1:100@10:1
         venue logs-on
         place 2 buy 50 AAPL @ 10
         venue fills 2 50 @ 10 1
         venue busts 2 1
         order 1
         order 2",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 100 @ 10 1
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows 1:live fill:1:100@10:1
            venue logs-on
                SIM-A LOGGED_ON
            place 2 buy 50 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue fills 2 50 @ 10 1
                fill 2 50 @ 10
                booked BUY 50 @ 10
                position 1 of 150 cost 1500 realised 0
                cash USD 98499.25
                2 EXECUTED filled 50
            venue busts 2 1
                booked SELL -50 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                2 SUBMITTED
            order 1
                1 EXECUTED 100 of 100 LimitOrder
            order 2
                2 SUBMITTED 0 of 50 LimitOrder
        "#]],
    );
}

#[test]
fn two_legs_of_one_order_may_use_one_trade_id_and_a_fill_without_a_leg_repeats_either() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 10 @ 10 1 of V1
         venue fills 1 10 @ 10 1 of V2
         venue fills 1 10 @ 10 1 of V2
         venue fills 1 20 @ 10 1 of V2
         venue fills 1 10 @ 10 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 10 @ 10 1 of V1
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 10 cost 100 realised 0
                cash USD 99899.95
                1 PARTIALLY_EXECUTED filled 10
            venue fills 1 10 @ 10 1 of V2
                fill 1 10 @ 10
                booked BUY 10 @ 10
                position 1 of 20 cost 200 realised 0
                cash USD 99799.9
                1 PARTIALLY_EXECUTED filled 20
            venue fills 1 10 @ 10 1 of V2
            venue fills 1 20 @ 10 1 of V2
                Error execution-differs: execution 1 of order number 1: 10 @ 10 is booked, and now it is 20 @ 10
                Warn break-found: B1: FILL at SIM-A: we have order 1, quantity 10, price 10, the venue has order 1, quantity 20, price 10
                B1 FILL OPEN: ours order 1, quantity 10, price 10, theirs order 1, quantity 20, price 10
            venue fills 1 10 @ 10 1
        "#]],
    );
}

#[test]
fn a_fill_of_an_order_that_is_no_longer_kept_is_known_only_if_it_is_the_very_same() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 x1
         day 2026-11-17
         day 2026-11-18
         day 2026-11-19
         venue fills #1 100 @ 10 x1
         venue fills #1 100.0 @ 10.00 x1
         venue fills #1 90 @ 10 x1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 100 @ 10 x1
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
            day 2026-11-17
            day 2026-11-18
            day 2026-11-19
            venue fills #1 100 @ 10 x1
            venue fills #1 100.0 @ 10.00 x1
            venue fills #1 90 @ 10 x1
                Error fill-not-booked: execution x1 of order number 1, 90 @ 10, is not known and comes days late: record it by hand
                Warn break-found: B1: FILL at SIM-A: we have nothing, the venue has quantity 90, price 10
                B1 FILL OPEN: ours nothing, theirs quantity 90, price 10
        "#]],
    );
}

/// The wire id of the newest request after each step.
fn wire_ids(story: &str) -> Vec<String> {
    let mut world = StoryEngine::open();
    let steps: Vec<&str> = story.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut ids = vec![];
    for step in steps {
        world.run(step);
        let order = world.order("1").unwrap();
        ids.push(format!("{step}: {}", WireId::newest(world.engine.settings().instance, &order)));
    }
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    ids
}

#[test]
fn every_request_on_an_order_has_a_number_of_its_own() {
    let told = wire_ids(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         modify 1 to 50 @ 10
         venue refuses-replace 1
         modify 1 to 60 @ 10
         cancel 1
         venue replaces 1
         venue refuses-cancel 1
         cancel 1",
    );
    let expected = [
        "place 1 buy 100 AAPL @ 10: R1-1-0",
        "venue accepts 1: R1-1-0",
        "modify 1 to 50 @ 10: R1-1-1",
        "venue refuses-replace 1: R1-1-1",
        "modify 1 to 60 @ 10: R1-1-2",
        "cancel 1: R1-1-3",
        "venue replaces 1: R1-1-3",
        "venue refuses-cancel 1: R1-1-3",
        "cancel 1: R1-1-4",
    ];
    assert_eq!(told, expected);
}

#[test]
fn an_order_that_is_sent_again_keeps_its_id_and_a_repeated_cancel_gets_a_new_one() {
    let told = wire_ids(
        "place 1 buy 100 AAPL @ 10
         venue disconnects
         venue connects
         venue shows
         venue logs-on
         venue accepts 1
         cancel 1
         venue disconnects
         venue connects
         venue shows 1:live",
    );
    let expected = [
        "place 1 buy 100 AAPL @ 10: R1-1-0",
        "venue disconnects: R1-1-0",
        "venue connects: R1-1-0",
        "venue shows: R1-1-0",
        "venue logs-on: R1-1-0",
        "venue accepts 1: R1-1-0",
        "cancel 1: R1-1-1",
        "venue disconnects: R1-1-1",
        "venue connects: R1-1-1",
        "venue shows 1:live: R1-1-2",
    ];
    assert_eq!(told, expected);
}

#[test]
fn an_order_whose_acknowledgement_was_lost_has_the_venues_id_of_its_first_fill() {
    let mut world = StoryEngine::open();
    let fills = "place 1 buy 100 AAPL @ 10
        venue fills 1 40 @ 10 7001 of V9
        venue fills 1 60 @ 10 7002 of V8";
    world.run(fills);
    assert_eq!(world.order("1").unwrap().ext_id.as_deref(), Some("V9"));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed);
    // A journal from before the rule replays as it was.
    let mut world = StoryEngine::open();
    let settings = EngineSettings { ids_by_fills: false, ..EngineSettings::default() };
    world.command(Command::Configure(settings)).unwrap();
    world.run(fills);
    assert_eq!(world.order("1").unwrap().ext_id, None);
}
