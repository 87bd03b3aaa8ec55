//! Snapshots that waited behind a disk that hangs: what is older than a change of an order proves nothing of it.

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

/// Snapshots of several log-ons wait behind a disk that hangs: all are older than what the first one caused.
#[test]
fn a_snapshot_from_before_an_order_was_sent_again_proves_nothing_of_it() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue disconnects
         wait 1
         venue connects
         venue showed 0 ago
         venue logs-on
         wait 1
         venue disconnects
         venue connects
         venue showed 2 ago
         venue logs-on
         wait 1
         venue misses 1
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue disconnects
                SIM-A DISCONNECTED
                1 OPEN (the connection was lost before the venue answered)
            wait 1
            venue connects
                SIM-A CONNECTED
            venue showed 0 ago
                1 OPEN
                Warn order-sent-again: order 1: never reached the venue and is sent again
                to SIM-A: submit 1
            venue logs-on
                SIM-A LOGGED_ON
            wait 1
            venue disconnects
                SIM-A DISCONNECTED
                1 OPEN (the connection was lost before the venue answered)
            venue connects
                SIM-A CONNECTED
            venue showed 2 ago
            venue logs-on
                SIM-A LOGGED_ON
            wait 1
            venue misses 1
                1 REJECTED (the order never reached the venue)
            order 1
                1 REJECTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_snapshot_from_before_a_request_proves_nothing_of_it() {
    check(
        "place 1 buy 100 AAPL @ 10
         place 2 buy 100 AAPL @ 10
         venue accepts 1
         venue accepts 2
         wait 2
         modify 1 to 100 @ 11
         cancel 2
         venue disconnects
         venue connects
         venue showed 1 ago 1:live 2:live
         venue logs-on
         venue replaces 1
         wait 1
         venue finds 2:live
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 100 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue accepts 1
                1 SUBMITTED
            venue accepts 2
                2 SUBMITTED
            wait 2
            modify 1 to 100 @ 11
                1 PENDING_REPLACE
                to SIM-A: replace 1 with 100 @ 11
            cancel 2
                2 PENDING_CANCEL
                to SIM-A: cancel 2
            venue disconnects
                SIM-A DISCONNECTED
                1 PENDING_REPLACE (the connection was lost before the venue answered)
                2 PENDING_CANCEL (the connection was lost before the venue answered)
            venue connects
                SIM-A CONNECTED
            venue showed 1 ago 1:live 2:live
            venue logs-on
                SIM-A LOGGED_ON
            venue replaces 1
                1 SUBMITTED
            wait 1
            venue finds 2:live
                2 PENDING_CANCEL
                to SIM-A: cancel 2
            open
                1 SUBMITTED 0 of 100 LimitOrder
                2 PENDING_CANCEL 0 of 100 LimitOrder
        "#]],
    );
}

/// So a replay of what they decided gives what they told.
#[test]
fn in_journals_of_before_a_snapshot_proves_whatever_its_age() {
    let mut world = StoryEngine::open();
    let settings = EngineSettings { dates_snapshots: false, ..EngineSettings::default() };
    world.command(Command::Configure(settings)).unwrap();
    let told = world.run(
        "place 1 buy 100 AAPL @ 10
         wait 2
         venue disconnects
         venue connects
         venue showed 1 ago",
    );
    assert!(told.contains("order-sent-again"), "{told}");
}
