//! Orders that were not placed here: adopted, updated, cancelled, claimed.

use domain::command::{Command, ReferenceChange};
use domain::{StrategyId, StrategyRecord};
use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn an_order_from_elsewhere_is_adopted_once_and_followed_to_its_end() {
    check(
        "venue external E1 buy 100 AAPL @ 10 live
         venue external E1 buy 100 AAPL @ 10 live
         venue external E1 buy 100 AAPL @ 9.9 live
         venue external E1 buy 100 AAPL @ 9.9 live 40@9.9:t1
         venue external E1 buy 100 AAPL @ 9.9 live 40@9.9:t1
         venue external E1 buy 100 AAPL @ 9.9 canceled 40@9.9:t1 10@9.9:t2
         venue external E1 buy 100 AAPL @ 9.9 live 40@9.9:t1
         venue external E1 buy 100 AAPL @ 9.9 canceled 50@9.9:t1
         order A-1
         positions
         cash",
        expect![[r#"
            venue external E1 buy 100 AAPL @ 10 live
                Warn external-order: order A-1: SIM-A has it as E1, and nobody placed it here
                A-1 SUBMITTED
            venue external E1 buy 100 AAPL @ 10 live
            venue external E1 buy 100 AAPL @ 9.9 live
                A-1 SUBMITTED
            venue external E1 buy 100 AAPL @ 9.9 live 40@9.9:t1
                fill A-1 40 @ 9.9
                booked BUY 40 @ 9.9
                position 1 of 40 cost 396 realised 0
                cash USD -396.2
                A-1 PARTIALLY_EXECUTED filled 40
            venue external E1 buy 100 AAPL @ 9.9 live 40@9.9:t1
            venue external E1 buy 100 AAPL @ 9.9 canceled 40@9.9:t1 10@9.9:t2
                fill A-1 10 @ 9.9
                booked BUY 10 @ 9.9
                position 1 of 50 cost 495 realised 0
                cash USD -495.25
                A-1 PARTIALLY_EXECUTED filled 50
                A-1 CANCELED filled 50
            venue external E1 buy 100 AAPL @ 9.9 live 40@9.9:t1
            venue external E1 buy 100 AAPL @ 9.9 canceled 50@9.9:t1
                Error execution-differs: execution t1 of order number 1: 40 @ 9.9 is booked, and now it is 50 @ 9.9
                Warn break-found: B1: FILL at SIM-A: we have order 1, quantity 40, price 9.9, the venue has order 1, quantity 50, price 9.9
                B1 FILL OPEN: ours order 1, quantity 40, price 9.9, theirs order 1, quantity 50, price 9.9
            order A-1
                A-1 CANCELED 50 of 100 LimitOrder
            positions
                position 1 of 50 cost 495 realised 0
            cash
                1/1 100000 USD
                1/2 100000 USD
                999999999999999/1 -495.25 USD
        "#]],
    );
}

#[test]
fn a_snapshot_adopts_what_was_placed_while_nobody_listened_and_misses_what_is_gone() {
    check(
        "venue disconnects
         venue connects
         venue shows ext:E1:live ext:E2:canceled
         venue logs-on
         open
         venue disconnects
         venue connects
         venue shows ext:E1:live
         venue logs-on
         venue disconnects
         venue connects
         venue shows
         venue logs-on
         open",
        expect![[r#"
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows ext:E1:live ext:E2:canceled
                Warn external-order: order A-1: SIM-A has it as E1, and nobody placed it here
                A-1 SUBMITTED
            venue logs-on
                SIM-A LOGGED_ON
            open
                A-1 SUBMITTED 0 of 100 LimitOrder
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows ext:E1:live
            venue logs-on
                SIM-A LOGGED_ON
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows
                Error order-vanished: order A-1: the venue no longer knows it
                A-1 CANCELED (the venue no longer knows the order)
                Warn break-found: B1: ORDER at SIM-A: we have status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, the venue has nothing
                B1 ORDER OPEN: ours status SUBMITTED, quantity 100, limit 10, tif DAY, filled 0, theirs nothing
            venue logs-on
                SIM-A LOGGED_ON
            open
                nothing
        "#]],
    );
}

#[test]
fn an_order_from_elsewhere_can_be_cancelled_and_killed_but_not_changed_and_nobody_orders_as_external() {
    check(
        "venue external E1 buy 100 AAPL @ 10 live
         modify A-1 to 50 @ 10
         check modify A-1 to 50 @ 10
         cancel A-1
         venue external E1 buy 100 AAPL @ 10 canceled
         venue external E2 buy 100 AAPL @ 10 live
         kill ACCOUNT-1
         venue external E2 buy 100 AAPL @ 10 canceled
         place 7 buy 1 AAPL @ 10 strategy 999999999999999
         open",
        expect![[r#"
            venue external E1 buy 100 AAPL @ 10 live
                Warn external-order: order A-1: SIM-A has it as E1, and nobody placed it here
                A-1 SUBMITTED
            modify A-1 to 50 @ 10
                refused external-order: order A-1 was not placed here: it can be cancelled and claimed, not changed
            check modify A-1 to 50 @ 10
                refused external-order, notional 500, fee 0.25
            cancel A-1
                A-1 PENDING_CANCEL
                to SIM-A: cancel A-1
            venue external E1 buy 100 AAPL @ 10 canceled
                A-1 CANCELED
            venue external E2 buy 100 AAPL @ 10 live
                Warn external-order: order A-2: SIM-A has it as E2, and nobody placed it here
                A-2 SUBMITTED
            kill ACCOUNT-1
                ACCOUNT-1 is HALTED
                A-2 PENDING_CANCEL
                to SIM-A: cancel A-2
                killed, 1 cancels
            venue external E2 buy 100 AAPL @ 10 canceled
                A-2 CANCELED
            place 7 buy 1 AAPL @ 10 strategy 999999999999999
                refused reserved-strategy: the strategy EXTERNAL has only orders that were not placed here; claim them to close a position
            open
                nothing
        "#]],
    );
}

#[test]
fn a_claim_moves_the_order_and_its_fills_and_the_sum_stays() {
    check(
        "venue external E1 buy 100 AAPL @ 10 live 40@10:t1
         venue external E2 buy 10 AAPL @ 11 live 10@11:t2
         cash
         positions
         claim A-1 for 2
         cash
         positions
         venue external E1 buy 100 AAPL @ 10 live 40@10:t1 60@10:t3
         cash
         positions",
        expect![[r#"
            venue external E1 buy 100 AAPL @ 10 live 40@10:t1
                Warn external-order: order A-1: SIM-A has it as E1, and nobody placed it here
                A-1 SUBMITTED
                fill A-1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD -400.2
                A-1 PARTIALLY_EXECUTED filled 40
            venue external E2 buy 10 AAPL @ 11 live 10@11:t2
                Warn external-order: order A-2: SIM-A has it as E2, and nobody placed it here
                A-2 SUBMITTED
                fill A-2 10 @ 11
                booked BUY 10 @ 11
                position 1 of 50 cost 510 realised 0
                cash USD -510.25
                A-2 EXECUTED filled 10
            cash
                1/1 100000 USD
                1/2 100000 USD
                999999999999999/1 -510.25 USD
            positions
                position 1 of 50 cost 510 realised 0
            claim A-1 for 2
                booked SELL -40 @ 10
                position 1 of 10 cost 102 realised -8
                cash USD -110.05
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD -400.2
                Warn order-claimed: order A-1: ann claims it for the strategy TREND
            cash
                1/1 100000 USD
                1/2 100000 USD
                999999999999999/1 -110.05 USD
                2/1 -400.2 USD
            positions
                position 1 of 10 cost 102 realised -8
                position 1 of 40 cost 400 realised 0
            venue external E1 buy 100 AAPL @ 10 live 40@10:t1 60@10:t3
                fill A-1 60 @ 10
                booked BUY 60 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD -1000.5
                A-1 EXECUTED filled 100
            cash
                1/1 100000 USD
                1/2 100000 USD
                999999999999999/1 -110.05 USD
                2/1 -1000.5 USD
            positions
                position 1 of 10 cost 102 realised -8
                position 1 of 100 cost 1000 realised 0
        "#]],
    );
}

#[test]
fn a_claim_is_refused_where_it_cannot_be_carried_out() {
    check(
        "venue external E1 buy 100 AAPL @ 10 live 40@10:t1
         venue external E2 buy 10 AAPL @ 11 live 10@11:t2
         claim A-1 for 2
         claim A-1 for 2
         claim A-2 for 999999999999999
         claim A-9 for 2
         claim A-2 for 9",
        expect![[r#"
            venue external E1 buy 100 AAPL @ 10 live 40@10:t1
                Warn external-order: order A-1: SIM-A has it as E1, and nobody placed it here
                A-1 SUBMITTED
                fill A-1 40 @ 10
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD -400.2
                A-1 PARTIALLY_EXECUTED filled 40
            venue external E2 buy 10 AAPL @ 11 live 10@11:t2
                Warn external-order: order A-2: SIM-A has it as E2, and nobody placed it here
                A-2 SUBMITTED
                fill A-2 10 @ 11
                booked BUY 10 @ 11
                position 1 of 50 cost 510 realised 0
                cash USD -510.25
                A-2 EXECUTED filled 10
            claim A-1 for 2
                booked SELL -40 @ 10
                position 1 of 10 cost 102 realised -8
                cash USD -110.05
                booked BUY 40 @ 10
                position 1 of 40 cost 400 realised 0
                cash USD -400.2
                Warn order-claimed: order A-1: ann claims it for the strategy TREND
            claim A-1 for 2
                refused not-external: order A-1 belongs to a strategy already
            claim A-2 for 999999999999999
                refused reserved-strategy: the strategy EXTERNAL has only orders that were not placed here; claim them to close a position
            claim A-9 for 2
                refused unknown-order: order A-9 is neither open nor of today or yesterday
            claim A-2 for 9
                refused unknown-strategy: strategy 9 is not known
        "#]],
    );
}

#[test]
fn a_claim_takes_charges_in_other_currencies_along() {
    check(
        "venue external E1 buy 40 AAPL @ 10 live 40@10:t1:FEE:0.0002:BNB
         claim A-1 for 2
         cash
         positions",
        expect![[r#"
            venue external E1 buy 40 AAPL @ 10 live 40@10:t1:FEE:0.0002:BNB
                Warn external-order: order A-1: SIM-A has it as E1, and nobody placed it here
                A-1 SUBMITTED
                fill A-1 40 @ 10
                booked BUY 40 @ 10, FEE 0.0002 BNB
                position 1 of 40 cost 400 realised 0
                cash USD -400.2
                booked FEES -1 @ 0.0002 BNB of order A-1
                cash BNB -0.0002
                Warn no-rate: BNB has no rate to USD: values in USD are not known
                A-1 EXECUTED filled 40
            claim A-1 for 2
                booked SELL -40 @ 10, FEE -0.0002 BNB
                position 1 of 0 cost 0 realised 0
                cash USD 0
                booked REFUND 1 @ 0.0002 BNB of order A-1
                cash BNB 0
                booked BUY 40 @ 10, FEE 0.0002 BNB
                position 1 of 40 cost 400 realised 0
                cash USD -400.2
                booked FEES -1 @ 0.0002 BNB of order A-1
                cash BNB -0.0002
                Warn order-claimed: order A-1: ann claims it for the strategy TREND
            cash
                1/1 100000 USD
                1/2 100000 USD
                999999999999999/1 0 USD
                999999999999999/1 0 BNB
                2/1 -400.2 USD
                2/1 -0.0002 BNB
            positions
                position 1 of 0 cost 0 realised 0
                position 1 of 40 cost 400 realised 0
        "#]],
    );
}

#[test]
fn what_cannot_be_adopted_is_told_once_and_what_ended_without_a_fill_is_left_out() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         venue external V1 buy 1 AAPL @ 10 live
         venue external V1 buy 1 AAPL @ 10 live
         venue external E1 buy 1 AAPL @ 10 live by R1-1-0
         venue external E2 buy 1 AAPL @ 10 live by R2-1-0
         venue external E3 buy 1 UNLISTED @ 10 live
         venue-b external E4 buy 1 AAPL @ 10 live
         venue external E5 buy 1 AAPL @ 10 canceled
         venue external E6 buy 1 AAPL @ 10 rejected
         venue external E7 buy 1 AAPL @ 10 expired 1@10:t1
         open",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue external V1 buy 1 AAPL @ 10 live
                Error external-not-adopted: SIM-A: order V1 that nobody placed here is not adopted: it is our own order 1
            venue external V1 buy 1 AAPL @ 10 live
            venue external E1 buy 1 AAPL @ 10 live by R1-1-0
                Error external-not-adopted: SIM-A: order E1 that nobody placed here is not adopted: it is our own order 1
            venue external E2 buy 1 AAPL @ 10 live by R2-1-0
                Warn external-order: order A-1: SIM-A has it as E2, and nobody placed it here
                A-1 SUBMITTED
            venue external E3 buy 1 UNLISTED @ 10 live
                Error external-not-adopted: SIM-A: order E3 that nobody placed here is not adopted: security 99 is not known
            venue-b external E4 buy 1 AAPL @ 10 live
                Error external-not-adopted: SIM-B: order E4 that nobody placed here is not adopted: account 1 is at SIM-A
            venue external E5 buy 1 AAPL @ 10 canceled
            venue external E6 buy 1 AAPL @ 10 rejected
            venue external E7 buy 1 AAPL @ 10 expired 1@10:t1
                Warn external-order: order A-2: SIM-A has it as E7, and nobody placed it here
                A-2 SUBMITTED
                fill A-2 1 @ 10
                booked BUY 1 @ 10
                position 1 of 1 cost 10 realised 0
                cash USD -10.005
                A-2 EXECUTED filled 1
            open
                1 SUBMITTED 0 of 1 LimitOrder
                A-1 SUBMITTED 0 of 1 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_from_elsewhere_that_is_no_longer_kept_is_not_adopted_again() {
    check(
        "venue external E1 buy 1 AAPL @ 10 canceled 1@10:t1
         day 2026-11-17
         day 2026-11-18
         day 2026-11-19
         venue external E1 buy 1 AAPL @ 10 canceled 1@10:t1
         order A-1
         positions",
        expect![[r#"
            venue external E1 buy 1 AAPL @ 10 canceled 1@10:t1
                Warn external-order: order A-1: SIM-A has it as E1, and nobody placed it here
                A-1 SUBMITTED
                fill A-1 1 @ 10
                booked BUY 1 @ 10
                position 1 of 1 cost 10 realised 0
                cash USD -10.005
                A-1 EXECUTED filled 1
            day 2026-11-17
            day 2026-11-18
            day 2026-11-19
            venue external E1 buy 1 AAPL @ 10 canceled 1@10:t1
            order A-1
                Err(UnknownOrder("A-1"))
            positions
                position 1 of 1 cost 10 realised 0
        "#]],
    );
}

#[test]
fn name_and_id_of_external_are_reserved() {
    let mut world = StoryEngine::open();
    let strategies = [(3, "EXTERNAL"), (StrategyId::EXTERNAL.0, "MINE")];
    for (id, name) in strategies {
        let strategy = StrategyRecord { id: StrategyId(id), name: name.into(), auto_activate: false };
        let refused = world.command(Command::Reference(vec![ReferenceChange::Strategy(strategy)]));
        assert_eq!(refused.map_err(|refusal| refusal.code()), Err("reserved-strategy"));
    }
}

#[test]
fn an_order_of_ours_that_ended_and_is_listed_under_another_client_id_is_not_adopted() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue fills 1 40 @ 10 x1
         cancel 1
         venue cancels 1
         venue external V1 buy 100 AAPL @ 10 canceled 40@10:x1 by its-cancel
         venue external AAPL:V1 buy 100 AAPL @ 10 canceled 40@10:x1 by a-phone
         venue external V1 sell 100 AAPL @ 10 canceled 40@10:x1 by another
         positions",
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
            cancel 1
                1 PENDING_CANCEL filled 40
                to SIM-A: cancel 1
            venue cancels 1
                1 CANCELED filled 40
            venue external V1 buy 100 AAPL @ 10 canceled 40@10:x1 by its-cancel
                Error external-not-adopted: SIM-A: order V1 that nobody placed here is not adopted: it is our own order 1
            venue external AAPL:V1 buy 100 AAPL @ 10 canceled 40@10:x1 by a-phone
                Error external-not-adopted: SIM-A: order AAPL:V1 that nobody placed here is not adopted: it is our own order 1
            venue external V1 sell 100 AAPL @ 10 canceled 40@10:x1 by another
                Warn external-order: order A-1: SIM-A has it as V1, and nobody placed it here
                A-1 SUBMITTED
                fill A-1 40 @ 10
                booked SELL -40 @ 10
                position 1 of -40 cost -400 realised 0
                cash USD 399.8
                A-1 PARTIALLY_EXECUTED filled 40
                A-1 CANCELED filled 40
            positions
                position 1 of 40 cost 400 realised 0
                position 1 of -40 cost -400 realised 0
        "#]],
    );
}
