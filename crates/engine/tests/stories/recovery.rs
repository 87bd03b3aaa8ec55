//! Lost connections, and the state after reconciliation.

use domain::command::{AcceptedLoss, Command};
use domain::query::Answer;
use domain::{AccountId, Caller, CommandEnvelope, Input, OrderId, Sequenced, Timestamp};
use engine::{Engine, Outbox};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn what_happened_while_away_is_applied_before_new_orders() {
    check(
        "place 1 buy 100 AAPL @ 10
         place 2 buy 100 AAPL @ 10
         venue accepts 1
         venue accepts 2
         venue disconnects
         venue connects
         venue shows 1:live 2:canceled fill:1:40@10:x1 fill:2:5@10:x2
         venue logs-on
         open
         order 2",
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
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows 1:live 2:canceled fill:1:40@10:x1 fill:2:5@10:x2
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD 99599.8
                1 PARTIALLY_EXECUTED filled 40
                fill 2 5 @ 10
                booked BUY 5 @ 10
                position 1 of 45 cost 450 realised 0
                cash USD 99549.775
                2 PARTIALLY_EXECUTED filled 5
                2 CANCELED filled 5
            venue logs-on
                SIM-A LOGGED_ON
            open
                1 PARTIALLY_EXECUTED 40 of 100 LimitOrder
            order 2
                2 CANCELED 5 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_that_never_arrived_is_sent_again_while_it_is_fresh() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue disconnects
         open
         venue connects
         venue shows
         venue logs-on
         venue accepts 1
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue disconnects
                SIM-A DISCONNECTED
                1 OPEN (the connection was lost before the venue answered)
            open
                1 OPEN 0 of 100 LimitOrder in doubt
            venue connects
                SIM-A CONNECTED
            venue shows
                1 OPEN
                Warn order-sent-again: order 1: never reached the venue and is sent again
                to SIM-A: submit 1
            venue logs-on
                SIM-A LOGGED_ON
            venue accepts 1
                1 SUBMITTED
            open
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_that_never_arrived_is_rejected_when_it_is_stale() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue disconnects
         wait 60
         venue connects
         venue shows
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue disconnects
                SIM-A DISCONNECTED
                1 OPEN (the connection was lost before the venue answered)
            wait 60
            venue connects
                SIM-A CONNECTED
            venue shows
                1 REJECTED (the order never reached the venue)
            order 1
                1 REJECTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn without_a_complete_snapshot_the_order_stays_in_doubt() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue lost 1
         venue disconnects
         venue connects
         venue shows partly
         order 1
         venue accepts 1
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue lost 1
                1 OPEN (time-out)
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows partly
            order 1
                1 OPEN 0 of 100 LimitOrder in doubt
            venue accepts 1
                1 SUBMITTED
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_cancel_that_was_lost_with_the_connection_is_sent_again() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         cancel 1
         venue disconnects
         venue connects
         venue shows 1:live
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            venue disconnects
                SIM-A DISCONNECTED
                1 PENDING_CANCEL (the connection was lost before the venue answered)
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
                1 PENDING_CANCEL
                to SIM-A: cancel 1
            order 1
                1 PENDING_CANCEL 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_that_vanished_raises_an_alarm() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue disconnects
         venue connects
         venue shows
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows
                Error order-vanished: order 1: the venue no longer knows it
                1 CANCELED (the venue no longer knows the order)
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, the venue has nothing
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs nothing
            order 1
                1 CANCELED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_run_continues_from_a_snapshot() {
    let mut world = StoryEngine::open();
    world.run(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         place 2 buy 5 AAPL @ 9",
    );
    let state = world.engine.encode_state();
    let mut again = StoryEngine { engine: Engine::from_state(&state).unwrap(), ..StoryEngine::open() };
    assert_eq!(again.engine.encode_state(), state);
    let rest = "venue fills 1 60 @ 10 x2
         venue fills 1 60 @ 10 x2
         place 1 buy 1 AAPL @ 10
         place 3 buy 9000 AAPL @ 10
         place 4 buy 9000 AAPL @ 10";
    assert_eq!(again.run(rest), world.run(rest));
    assert_eq!(again.engine.encode_state(), world.engine.encode_state());
}

#[test]
fn a_late_fill_of_yesterday_is_booked_and_older_orders_are_dropped_but_not_their_ids() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 60 @ 10 x1
         cancel 1
         venue cancels 1
         place 2 buy 1 AAPL @ 10 GTC
         wait 86400
         clock
         venue fills 1 40 @ 10 x2
         wait 172800
         clock
         venue fills #1 40 @ 10 x2
         venue fills #1 5 @ 10 x3
         venue-b fills 2 1 @ 10 y1
         order 1
         open
         place 1 buy 1 AAPL @ 10
         positions",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue fills 1 60 @ 10 x1
                fill 1 60 @ 10
                booked BUY 60 @ 10
                position 1 of 60 cost 600 realised 0
                cash USD 99399.7
                1 PARTIALLY_EXECUTED filled 60
            cancel 1
                1 PENDING_CANCEL filled 60
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED filled 60
            place 2 buy 1 AAPL @ 10 GTC
                2 OPEN
                to SIM-A: submit 2
            wait 86400
            clock
                Warn no-answer: order 2: the venue has not answered for 10 s
                2 OPEN (the venue has not answered for 10 s)
                to SIM-A: ask about 2
            venue fills 1 40 @ 10 x2
                Warn late-fill: order 1: filled after it was Canceled; the fill is booked
                fill 1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 CANCELED filled 100
            wait 172800
            clock
                to SIM-A: ask about 2
            venue fills #1 40 @ 10 x2
            venue fills #1 5 @ 10 x3
                Error fill-not-booked: execution x3 of order number 1, 5 @ 10, is not known and comes days late: record it by hand
                Warn break-found: B1: FILL at SIM-A: we have nothing, the venue has quantity 5, price 10
                B1 FILL OPEN: ours nothing, theirs quantity 5, price 10
            venue-b fills 2 1 @ 10 y1
                Error foreign-report: SIM-B reports on order 2, which is at SIM-A
            order 1
                Err(UnknownOrder("1"))
            open
                2 OPEN 0 of 1 LimitOrder in doubt
            place 1 buy 1 AAPL @ 10
                refused duplicate-order: an order with the id 1 exists already and was not touched
            positions
                position 1 of 100 cost 1000 realised 0
        "#]],
    );
}

#[test]
fn a_venue_that_stays_silent_puts_the_order_in_doubt() {
    check(
        "place 1 buy 100 AAPL @ 10
         place 2 buy 100 AAPL @ 10
         venue accepts 2
         wait 9
         clock
         wait 1
         clock
         order 1
         order 2
         cancel 2
         wait 10
         clock
         venue accepts 1
         venue cancels 2
         order 1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 100 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue accepts 2
                2 SUBMITTED
            wait 9
            clock
                to SIM-A: ask about 1
            wait 1
            clock
                Warn no-answer: order 1: the venue has not answered for 10 s
                1 OPEN (the venue has not answered for 10 s)
                to SIM-A: ask about 1
            order 1
                1 OPEN 0 of 100 LimitOrder in doubt
            order 2
                2 SUBMITTED 0 of 100 LimitOrder
            cancel 2
                2 PENDING_CANCEL
                to SIM-A: cancel 2
            wait 10
            clock
                Warn no-answer: order 2: the venue has not answered for 10 s
                2 PENDING_CANCEL (the venue has not answered for 10 s)
                to SIM-A: ask about 1
                to SIM-A: ask about 2
            venue accepts 1
                1 SUBMITTED
            venue cancels 2
                2 CANCELED
            order 1
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_that_the_venue_has_and_nobody_here_knows_halts_its_account_once() {
    check(
        "venue disconnects
         venue connects
         venue shows #21:live fill:#22:700@10:x1
         venue logs-on
         place 1 buy 1 AAPL @ 10
         set ACCOUNT-1 ACTIVE
         venue disconnects
         venue connects
         venue shows #21:live fill:#22:700@10:x1
         venue logs-on
         place 2 buy 1 AAPL @ 10
         venue accepts #23
         place 3 buy 1 AAPL @ 10",
        expect![[r#"
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows #21:live fill:#22:700@10:x1
                Error unknown-order-at-venue: SIM-A has order number 21, which is not known here
                Error trading-restricted: ACCOUNT-1 is HALTED: SIM-A has order number 21, which is not known here
                ACCOUNT-1 is HALTED
                Error unknown-order-at-venue: SIM-A has order number 22, which is not known here
                Error unknown-order: a venue reports on order number 21, which is not known
                Error unknown-order: a venue reports on order number 22, which is not known
                Warn break-found: B1: EXTERNAL at SIM-A: we have nothing, the venue has order 21
                B1 EXTERNAL OPEN: ours nothing, theirs order 21
                Warn break-found: B2: EXTERNAL at SIM-A: we have nothing, the venue has order 22
                B2 EXTERNAL OPEN: ours nothing, theirs order 22
            venue logs-on
                SIM-A LOGGED_ON
            place 1 buy 1 AAPL @ 10
                refused trading-halted: trading is HALTED for ACCOUNT-1
            set ACCOUNT-1 ACTIVE
                ACCOUNT-1 is ACTIVE
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows #21:live fill:#22:700@10:x1
                Error unknown-order: a venue reports on order number 21, which is not known
                Error unknown-order: a venue reports on order number 22, which is not known
            venue logs-on
                SIM-A LOGGED_ON
            place 2 buy 1 AAPL @ 10
                2 OPEN
                to SIM-A: submit 2
            venue accepts #23
                Error unknown-order-at-venue: SIM-A has order number 23, which is not known here
                Error trading-restricted: ACCOUNT-1 is HALTED: SIM-A has order number 23, which is not known here
                ACCOUNT-1 is HALTED
                Error unknown-order: a venue reports on order number 23, which is not known
                Warn break-found: B3: EXTERNAL at SIM-A: we have nothing, the venue has order 23
                B3 EXTERNAL OPEN: ours nothing, theirs order 23
            place 3 buy 1 AAPL @ 10
                refused trading-halted: trading is HALTED for ACCOUNT-1
        "#]],
    );
}

#[test]
fn after_an_accepted_loss_no_number_is_given_again() {
    let mut world = StoryEngine::open();
    world.run("place 1 buy 1 AAPL @ 10\nnext-id");
    let loss = AcceptedLoss { end: 42, order: 7, transaction: 9 };
    world.command(Command::AcceptLoss(loss)).unwrap();
    let last = world.engine.last_order();
    let mut minted = |account| match world.engine.apply(&ask_for_id(account), &mut Outbox::default()) {
        Ok(Answer::OrderId(id)) => id.to_string(),
        other => panic!("{other:?}"),
    };
    let ids = [1, 2].map(&mut minted);
    assert_eq!((last, ids), (OrderId(1_000_007), ["A-1000008", "B-1000008"].map(str::to_owned)));
}

fn ask_for_id(account: u64) -> Sequenced<Input> {
    let command = Command::NextOrderId(AccountId(account));
    let what = Input::Command(Box::new(CommandEnvelope { caller: Caller::platform(), command }));
    Sequenced { sequence: 1_000_000_000, at: Timestamp(1_794_830_400_000_000_000), payload: what }
}
