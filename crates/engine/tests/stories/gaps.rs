//! Orders that their venue is asked about after a gap of its reports or a log-on, and answers that settle nothing.

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
fn after_a_gap_every_open_order_is_asked_about_even_if_it_ends_meanwhile() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         place 2 buy 100 AAPL @ 9
         venue accepts 2
         wait 30
         venue gap
         venue cancels 1
         venue finds 1:canceled fill:1:40@10:x1
         venue finds 2:live
         wait 2
         clock
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 buy 100 AAPL @ 9
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            wait 30
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 2 open orders are asked about
                to SIM-A: ask about 1
                to SIM-A: ask about 2
            venue cancels 1
                1 CANCELED
            venue finds 1:canceled fill:1:40@10:x1
                Warn late-fill: order 1: filled after it was Canceled; the fill is booked
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 CANCELED filled 40
            venue finds 2:live
            wait 2
            clock
            positions
                position 1 of 40 cost 400 realised 0
        "#]],
    );
}

/// 250 open orders at a log-on, and how many questions each of the next seconds has.
fn questions_after_a_log_on(settings: EngineSettings) -> Vec<usize> {
    let mut world = StoryEngine::open();
    world.command(Command::Configure(settings)).unwrap();
    for order in 1..=250 {
        world.run(&format!("place {order} buy 1 AAPL @ 10\nvenue accepts {order}"));
    }
    world.run("venue disconnects\nwait 60\nvenue connects\nvenue shows partly\nvenue logs-on");
    (0..5)
        .map(|_| {
            let told = world.run("wait 1\nclock");
            for order in told.lines().filter_map(|line| line.trim().strip_prefix("to SIM-A: ask about ")) {
                world.run(&format!("venue finds {order}:live"));
            }
            told.matches("ask about").count()
        })
        .collect()
}

#[test]
fn after_a_log_on_so_many_open_orders_are_asked_about_in_a_second_and_no_more() {
    assert_eq!(questions_after_a_log_on(EngineSettings::default()), [100, 100, 50, 0, 0]);
}

#[test]
fn in_journals_of_before_all_open_orders_are_asked_about_at_once() {
    let before = EngineSettings { recovery_rules_2: false, ..EngineSettings::default() };
    assert_eq!(questions_after_a_log_on(before), [250, 0, 0, 0, 0]);
}

#[test]
fn while_the_line_is_down_nobody_is_asked_and_after_the_log_on_what_is_still_open() {
    check(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         venue disconnects
         wait 1
         clock
         wait 60
         clock
         venue connects
         venue shows partly
         venue logs-on
         wait 1
         clock
         venue finds 1:live
         wait 60
         clock
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            wait 1
            clock
                to SIM-A: ask about 1
            venue disconnects
                SIM-A DISCONNECTED
                1 OPEN (the connection was lost before the venue answered)
            wait 1
            clock
            wait 60
            clock
                Warn no-answer: order 1: the venue has not answered for 10 s; the order was in doubt before
            venue connects
                SIM-A CONNECTED
            venue shows partly
            venue logs-on
                SIM-A LOGGED_ON
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:live
                1 SUBMITTED
            wait 60
            clock
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_accepted_order_that_the_venue_no_longer_knows_stays_in_doubt_with_one_alarm() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         cancel 1
         wait 1
         clock
         venue misses 1
         wait 1
         clock
         venue misses 1
         order 1
         venue cancels 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            wait 1
            clock
                to SIM-A: ask about 1
            venue misses 1
                Error order-vanished: order 1: the venue does not know the order that it had accepted
                1 PENDING_CANCEL (the venue does not know the order that it had accepted)
                Warn break-found: B1: ORDER at SIM-A: we have status PENDING_CANCEL, quantity 100, limit 10, tif DAY, filled 0, the venue has nothing
                B1 ORDER OPEN: ours status PENDING_CANCEL, quantity 100, limit 10, tif DAY, filled 0, theirs nothing
            wait 1
            clock
                to SIM-A: ask about 1
            venue misses 1
            order 1
                1 PENDING_CANCEL 0 of 100 LimitOrder in doubt
            venue cancels 1
                1 CANCELED
        "#]],
    );
}

#[test]
fn an_answer_about_another_order_is_refused() {
    check(
        "place 1 buy 100 AAPL @ 10
         place 2 buy 100 AAPL @ 10
         wait 1
         clock
         venue finds 1:live fill:2:40@10:x1
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 100 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            wait 1
            clock
                to SIM-A: ask about 1
                to SIM-A: ask about 2
            venue finds 1:live fill:2:40@10:x1
                Error foreign-report: SIM-A was asked about order 1 and speaks of another
            open
                1 OPEN 0 of 100 LimitOrder
                2 OPEN 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn inquiries_survive_a_restart() {
    let mut world = StoryEngine::open();
    world.run(
        "place 1 buy 100 AAPL @ 10
         wait 1
         clock
         venue lost 1 for 5",
    );
    let state = world.engine.encode_state();
    let mut again =
        StoryEngine { engine: engine::Engine::from_state(&state).unwrap(), now: world.now, ..StoryEngine::open() };
    let rest = "wait 1
         clock
         venue misses 1
         wait 10
         clock
         venue misses 1";
    assert_eq!(again.run(rest), world.run(rest));
    assert_eq!(again.engine.encode_state(), world.engine.encode_state());
}

#[test]
fn an_execution_that_comes_again_with_other_numbers_is_an_alarm_and_not_booked() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         venue fills 1 40 @ 10 x1
         venue fills 1 50 @ 10 x1
         order 1",
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
            venue fills 1 40 @ 10 x1
            venue fills 1 50 @ 10 x1
                Error execution-differs: execution x1 of order number 1: 40 @ 10 is booked, and now it is 50 @ 10
                Warn break-found: B1: FILL at SIM-A: we have order 1, quantity 40, price 10, the venue has order 1, quantity 50, price 10
                B1 FILL OPEN: ours order 1, quantity 40, price 10, theirs order 1, quantity 50, price 10
            order 1
                1 PARTIALLY_EXECUTED 40 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_absence_that_proves_nothing_does_not_close_a_gap() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         wait 30
         venue gap
         venue misses 1 with-requests-for 5
         wait 1
         clock
         venue finds 1:canceled
         wait 60
         clock
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 30
            venue gap
                Warn report-gap: SIM-A: reports may be lost; 1 open orders are asked about
                to SIM-A: ask about 1
            venue misses 1 with-requests-for 5
            wait 1
            clock
                to SIM-A: ask about 1
            venue finds 1:canceled
                1 CANCELED
            wait 60
            clock
            order 1
                1 CANCELED 0 of 100 LimitOrder
        "#]],
    );
}
