//! A venue that takes no cancels: a cancel is refused before it is accepted, nothing is begun that would need one, and where the
//! platform itself wants an order to end, that it stays is told once.

use domain::Refusal;
use domain::command::{Command, MassCancelRequest};
use domain::risk::SelfTradePrevention;
use domain::{RiskLimits, RiskScope};
use expect_test::{Expect, expect};

use crate::world::{StoryEngine, trader};

fn check(story: &str, told: Expect) {
    check_in(StoryEngine::without_cancels(), story, told);
}

fn check_in(mut world: StoryEngine, story: &str, told: Expect) {
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
    let restored = engine::Engine::from_state(&state).unwrap();
    assert_eq!(restored.encode_state(), state, "a snapshot gives another state");
}

#[test]
fn a_cancel_is_refused_before_it_is_accepted_and_the_order_stays_as_it_was() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         cancel 1
         venue disconnects
         cancel 1
         open",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            cancel 1
                refused venue-no-cancel: the venue of SIM-A would refuse it: it takes no cancels
            venue disconnects
                SIM-A DISCONNECTED
            cancel 1
                refused venue-no-cancel: the venue of SIM-A would refuse it: it takes no cancels
            open
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn a_kill_tells_which_orders_stay_and_does_not_try_them_when_the_venue_is_back() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         place 2 buy 100 SAP @ 10 account 2
         venue-b accepts 2
         kill
         venue disconnects
         venue connects
         venue shows 1:live
         venue logs-on
         venue fills 1 100 @ 10 x1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 buy 100 SAP @ 10 account 2
                2 OPEN
                to SIM-B: submit 2
            venue-b accepts 2
                2 SUBMITTED
            kill
                PLATFORM is HALTED
                2 PENDING_CANCEL
                Error venue-no-cancel: PLATFORM is HALTED, but the venue of SIM-A takes no cancels; these orders stay until it fills or ends them: 1
                to SIM-B: cancel 2
                killed, 1 cancels
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
            venue logs-on
                SIM-A LOGGED_ON
            venue fills 1 100 @ 10 x1
                fill 1 100 @ 10
                booked BUY 100 @ 10
                position 1 of 100 cost 1000 realised 0
                cash USD 98999.5
                1 EXECUTED filled 100
        "#]],
    );
}

#[test]
fn an_order_whose_time_is_over_stays_and_that_is_told_once() {
    check(
        "place 1 buy 100 AAPL @ 10 GTD-tomorrow
         venue accepts 1
         wait 86400
         clock
         wait 86400
         clock
         venue disconnects
         venue connects
         venue shows 1:live
         venue logs-on
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
                Error venue-no-cancel: their time is over, but the venue of SIM-A takes no cancels; these orders stay until it fills or ends them: 1
            wait 86400
            clock
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
            venue logs-on
                SIM-A LOGGED_ON
            wait 10
            clock
            open
                1 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn an_order_in_an_expired_security_stays_and_that_is_told_once_a_day() {
    check(
        "place 1 buy 1 ESX @ 10 GTC
         venue accepts 1
         day 2026-11-19
         venue disconnects
         venue connects
         venue shows 1:live
         venue logs-on
         day 2026-11-20",
        expect![[r#"
            place 1 buy 1 ESX @ 10 GTC
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            day 2026-11-19
                Error venue-no-cancel: their security has expired, but the venue of SIM-A takes no cancels; these orders stay until it fills or ends them: 1
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
            venue logs-on
                SIM-A LOGGED_ON
            day 2026-11-20
                Error venue-no-cancel: their security has expired, but the venue of SIM-A takes no cancels; these orders stay until it fills or ends them: 1
        "#]],
    );
}

#[test]
fn an_order_that_would_trade_with_one_that_stays_is_refused() {
    let mut world = StoryEngine::without_cancels();
    let limits = RiskLimits { self_trade: Some(SelfTradePrevention::CancelResting), ..RiskLimits::default() };
    world.limits(RiskScope::Platform, limits);
    check_in(
        world,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         place 2 sell 100 AAPL @ 10
         check sell 100 AAPL @ 10",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            place 2 sell 100 AAPL @ 10
                refused self-trade: would trade with the account's own order 1
            check sell 100 AAPL @ 10
                refused self-trade, notional 1000, fee 0.5
        "#]],
    );
}

#[test]
fn a_reduce_only_order_that_rests_is_refused_and_a_position_is_closed_beside_what_stays() {
    check(
        "place 1 buy 100 AAPL @ 10
         venue fills 1 100 @ 10 x1
         place 2 sell 100 AAPL @ 11 DAY reduce-only
         check sell 100 AAPL @ 11 DAY reduce-only
         place 3 sell 60 AAPL @ 11
         venue accepts 3
         close 1
         reduce 1 40
         place 4 sell 40 AAPL @ 9 IOC reduce-only",
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
            place 2 sell 100 AAPL @ 11 DAY reduce-only
                refused property-not-offered: the venue of SIM-A does not offer reduceOnly
            check sell 100 AAPL @ 11 DAY reduce-only
                refused property-not-offered, notional 1100, fee 0.5
            place 3 sell 60 AAPL @ 11
                3 OPEN
                to SIM-A: submit 3
            venue accepts 3
                3 SUBMITTED
            close 1
                A-1 OPEN
                to SIM-A: submit A-1
            reduce 1 40
                refused would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
            place 4 sell 40 AAPL @ 9 IOC reduce-only
                refused would-flip: may only reduce the position, of which 0 can be closed beside orders on their way
        "#]],
    );
}

#[test]
fn a_break_is_not_repaired_by_a_cancel() {
    check_in(
        StoryEngine::listing_without_cancels(),
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue rejects 1
         wait 60
         clock
         venue lists 1:live
         wait 60
         clock
         venue lists 1:live
         breaks
         repair B1",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue rejects 1
                1 REJECTED (not today)
            wait 60
            clock
                to SIM-A: list open orders
            venue lists 1:live
                Warn break-found: B1: ORDER at SIM-A: we have status REJECTED, quantity 100, limit 10, tif DAY, filled 0, the venue has status LIVE, quantity 100, limit 10, tif DAY
                B1 ORDER OPEN: ours status REJECTED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE, quantity 100, limit 10, tif DAY
            wait 60
            clock
                to SIM-A: list open orders
            venue lists 1:live
            breaks
                B1 ORDER OPEN: ours status REJECTED, quantity 100, limit 10, tif DAY, filled 0, theirs status LIVE, quantity 100, limit 10, tif DAY
            repair B1
                refused venue-no-cancel: the venue of SIM-A would refuse it: it takes no cancels
        "#]],
    );
}

#[test]
fn a_venue_that_takes_no_cancels_any_more_is_told_with_its_open_orders_and_what_was_pending_is_refused() {
    let mut world = StoryEngine::without_expiry();
    let mut told = world.run(
        "place 1 buy 100 AAPL @ 10 GTD-tomorrow
         venue accepts 1
         place 2 buy 100 AAPL @ 10
         venue accepts 2
         cancel 2",
    );
    told += &world.attach_without_cancels();
    told += &world.run(
        "venue connects
         venue shows 1:live 2:live
         venue logs-on
         wait 86400
         clock",
    );
    told += &world.attach_with_cancels();
    told += &world.run(
        "venue connects
         venue shows 1:live 2:live
         venue logs-on
         wait 10
         clock",
    );
    expect![[r#"
        place 1 buy 100 AAPL @ 10 GTD-tomorrow
            1 OPEN
            to SIM-A: submit 1
        venue accepts 1
            1 SUBMITTED
        place 2 buy 100 AAPL @ 10
            2 OPEN
            to SIM-A: submit 2
        venue accepts 2
            2 SUBMITTED
        cancel 2
            2 PENDING_CANCEL
            to SIM-A: cancel 2
            2 PENDING_CANCEL (the connection was lost before the venue answered)
            Error venue-no-cancel: orders are open, but the venue of SIM-A takes no cancels; these orders stay until it fills or ends them: 1, 2
            to SIM-A: log on
        venue connects
            SIM-A CONNECTED
        venue shows 1:live 2:live
            2 SUBMITTED (the request was lost with the connection)
        venue logs-on
            SIM-A LOGGED_ON
        wait 86400
        clock
            Error venue-no-cancel: their time is over, but the venue of SIM-A takes no cancels; these orders stay until it fills or ends them: 2, 1
            to SIM-A: log on
        venue connects
            SIM-A CONNECTED
        venue shows 1:live 2:live
        venue logs-on
            SIM-A LOGGED_ON
        wait 10
        clock
            1 PENDING_CANCEL
            to SIM-A: cancel 1
    "#]].assert_eq(&told);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_mass_cancel_counts_the_orders_that_stay_and_is_refused_where_it_reaches_none() {
    let mut world = StoryEngine::without_cancels();
    world.run("place 1 buy 100 AAPL @ 10\nvenue accepts 1");
    let mass_cancel = |world: &mut StoryEngine| {
        let ask = Command::MassCancel(MassCancelRequest { security: None, cl_ord_id: None });
        world.command_of(trader().source, ask).map_err(|refusal: Refusal| refusal.to_string())
    };
    expect![[r#"Err("the venue of SIM-A would refuse it: it takes no cancels")"#]]
        .assert_eq(&format!("{:?}", mass_cancel(&mut world)));
    world.run("place 2 buy 100 SAP @ 10 account 2\nvenue-b accepts 2");
    expect![[r#"
        Ok(Done)
        open
            1 SUBMITTED 0 of 100 LimitOrder
            2 PENDING_CANCEL 0 of 100 LimitOrder
    "#]]
    .assert_eq(&format!("{:?}\n{}", mass_cancel(&mut world), world.run("open")));
}
