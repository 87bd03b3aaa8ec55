//! Stories on virtual time: what a strategy hears, and when.

/// A small world with one security, and a strategy that keeps a diary.
mod world;

use domain::{BarSize, Price, Quantity, SecurityId, Side};
use strategy::{COMMANDS_PER_CALL_MAX, Prices, order};

use super::SimulationError;
use world::{World, later};

const TEST: SecurityId = SecurityId(1);

#[test]
fn an_order_is_filled_at_the_quote_that_the_strategy_saw() {
    let world = World::ticks(&[(0, "10.00", "10.02"), (1, "10.10", "10.12"), (2, "10.20", "10.22")]);
    let diary = world.run(|act| {
        act.on_init(|desk| desk.subscribe(TEST, Prices::Ticks));
        act.on_tick(1, |desk| drop(desk.buy(TEST, Quantity::from(100))));
    });
    assert_eq!(
        diary,
        [
            "0 init",
            "0 prefeed",
            "0 start",
            "0 run",
            "0 tick 10 x 10.02",
            "1 tick 10.1 x 10.12",
            "1 status OPEN",
            "1 status SUBMITTED",
            "1 fill 100 @ 10.12 touch:REPLAY-1",
            "1 status EXECUTED",
            "2 tick 10.2 x 10.22",
            "2 exit",
            "3 end",
        ]
    );
}

#[test]
fn what_is_decided_at_the_close_of_a_bar_trades_at_the_open_of_the_next() {
    let world =
        World::bars(&[(0, "10", "11", "9", "10.5"), (60, "10.6", "12", "10", "11"), (120, "11", "12", "10", "11")]);
    let diary = world.run(|act| {
        act.on_init(|desk| desk.subscribe(TEST, Prices::Bars(BarSize::Min1)));
        act.on_bar(0, |desk| drop(desk.buy(TEST, Quantity::from(100))));
    });
    assert_eq!(
        diary,
        [
            "0 init",
            "0 prefeed",
            "0 start",
            "0 run",
            "60 bar 10 11 9 10.5",
            "60 status OPEN",
            "60 status SUBMITTED",
            "60 fill 100 @ 10.6 next-bar-open:REPLAY-1",
            "60 status EXECUTED",
            "120 bar 10.6 12 10 11",
            "180 bar 11 12 10 11",
            "180 exit",
            "181 end",
        ]
    );
}

#[test]
fn prices_and_orders_take_their_time() {
    let mut world =
        World::ticks(&[(0, "10", "11"), (1, "20", "21"), (2, "30", "31"), (3, "40", "41"), (9, "50", "51")]);
    world.feed_latency_seconds = 1;
    world.order_latency_seconds = 2;
    let diary = world.run(|act| {
        act.on_init(|desk| desk.subscribe(TEST, Prices::Ticks));
        act.on_tick(0, |desk| drop(desk.buy(TEST, Quantity::from(1))));
    });
    let trading: Vec<_> = diary.iter().filter(|line| line.contains("tick") || line.contains("fill")).collect();
    // Seen at 1, sent then, at the venue at 3 just before the quote of 40, and known at 5.
    assert_eq!(
        trading,
        [
            "1 tick 10 x 11",
            "2 tick 20 x 21",
            "3 tick 30 x 31",
            "4 tick 40 x 41",
            "5 fill 1 @ 31 touch:REPLAY-1",
            "10 tick 50 x 51",
        ]
    );
}

#[test]
fn data_before_the_beginning_warms_up_and_trades_nothing() {
    let mut world = World::bars(&[(0, "1", "1", "1", "1"), (60, "2", "2", "2", "2"), (120, "3", "3", "3", "3")]);
    world.from = Some(later(120));
    let diary = world.run(|act| {
        act.on_init(|desk| {
            desk.subscribe(TEST, Prices::Bars(BarSize::Min1));
            desk.want_history(TEST, BarSize::Min1, 1);
        });
    });
    assert_eq!(diary, ["0 init", "120 prefeed 2", "120 start", "120 run", "180 bar 3 3 3 3", "180 exit", "181 end"]);
}

#[test]
fn bars_that_are_not_recorded_are_made_from_ticks() {
    let world = World::ticks(&[(0, "10", "12"), (30, "20", "22"), (59, "14", "16"), (61, "30", "32")]);
    let diary = world.run(|act| act.on_init(|desk| desk.subscribe(TEST, Prices::Bars(BarSize::Min1))));
    let bars: Vec<_> = diary.iter().filter(|line| line.contains("bar")).collect();
    assert_eq!(bars, ["61 bar 11 21 11 15"]);
}

#[test]
fn bars_that_are_not_recorded_are_made_from_shorter_ones() {
    let minutes: Vec<_> = (0..10).map(|number| (number * 60, "10", "12", "9", "11")).collect();
    let diary = World::bars(&minutes).run(|act| act.on_init(|desk| desk.subscribe(TEST, Prices::Bars(BarSize::Min5))));
    let bars: Vec<_> = diary.iter().filter(|line| line.contains("bar")).collect();
    assert_eq!(bars, ["300 bar 10 12 9 11", "600 bar 10 12 9 11"]);
}

#[test]
fn timers_fire_at_their_instant_between_two_prices() {
    let world = World::ticks(&[(0, "10", "11"), (100, "20", "21")]);
    let diary = world.run(|act| {
        act.on_init(|desk| desk.subscribe(TEST, Prices::Ticks));
        act.on_tick(0, |desk| desk.set_timer("tea", later(40)));
    });
    let timers: Vec<_> = diary.iter().filter(|line| line.contains("timer")).collect();
    assert_eq!(timers, ["40 timer tea"]);
}

#[test]
fn a_refused_order_is_told_to_the_strategy_and_to_whoever_looks_on() {
    let world = World::ticks(&[(0, "10", "11"), (1, "10", "11")]);
    let diary = world.run(|act| {
        act.on_init(|desk| desk.subscribe(TEST, Prices::Ticks));
        act.on_tick(0, |desk| drop(desk.buy(TEST, "0.5".parse().unwrap())));
    });
    assert!(diary.contains(&"0 refused not-a-multiple".to_owned()), "{diary:?}");
}

#[test]
fn what_still_works_at_the_end_is_canceled() {
    let world = World::ticks(&[(0, "10", "11"), (1, "10", "11")]);
    let statuses = world.statuses(|act| {
        act.on_init(|desk| desk.subscribe(TEST, Prices::Ticks));
        let bid = || order::limit(TEST, Side::Buy, Quantity::from(1), Price::from(9));
        act.on_tick(0, move |desk| drop(desk.place(bid())));
    });
    assert_eq!(statuses, ["OPEN", "SUBMITTED", "PENDING_CANCEL", "CANCELED"]);
}

fn three_ticks() -> World {
    World::ticks(&[(0, "10", "11"), (1, "10", "11"), (2, "10", "11")])
}

fn bid() -> domain::command::PlaceOrder {
    order::limit(TEST, Side::Buy, Quantity::from(1), Price::from(9))
}

/// The one that fails leaves no order, and the other one hears every price.
#[track_caller]
fn falls_alone(world: World, how: &str, act: impl FnOnce(&mut world::Script)) {
    let looker = world.look(|script| {
        script.on_init(|desk| desk.subscribe(TEST, Prices::Ticks));
        script.on_tick(0, |desk| drop(desk.place(bid())));
        act(script);
    });
    assert_eq!((looker.falls, looker.beside), (vec![format!("DIARIST {how}")], 3));
    let count = |status: &str| looker.statuses.iter().filter(|told| *told == status).count();
    assert_eq!(count("OPEN"), count("CANCELED"));
}

#[test]
fn a_strategy_that_panics_falls_alone_and_leaves_no_order() {
    falls_alone(three_ticks(), "panicked: on purpose", |script| script.on_tick(1, |_| panic!("on purpose")));
}

#[test]
fn a_strategy_that_asks_for_too_much_in_one_call_falls_alone() {
    let how = "floods: one call-back asks for more than anybody could carry out";
    falls_alone(three_ticks(), how, |script| {
        script.on_tick(1, |desk| (0..=COMMANDS_PER_CALL_MAX).for_each(|_| drop(desk.place(bid()))));
    });
}

#[test]
fn a_strategy_that_goes_on_beyond_its_rate_is_stopped_by_the_risk_gate() {
    let mut world = three_ticks();
    world.orders_per_second = Some(5);
    falls_alone(world, "floods: the risk gate refuses its orders", |script| {
        script.on_tick(1, |desk| (0..50).for_each(|_| drop(desk.place(bid()))));
    });
}

#[test]
fn a_strategy_that_is_never_content_falls_alone() {
    let looker = three_ticks().look(|script| {
        script.on_init(|desk| desk.subscribe(TEST, Prices::Ticks));
        script.insist();
    });
    assert_eq!(looker.falls, ["DIARIST floods: it asks again and again at one instant"]);
    assert_eq!(looker.beside, 3);
}

/// Decided on Thursday's close and bought at Friday's open of 20: 100 shares bring 0 on Friday, +100 by Monday's close and
/// -100 by Tuesday's. The weekend between is no day.
#[test]
fn the_close_of_a_daily_bar_is_the_worth_of_its_own_day() {
    let world = World::days(&[(1, "10"), (2, "20"), (5, "21"), (6, "19")]);
    let looker = world.look(|script| {
        script.on_init(|desk| desk.subscribe(TEST, Prices::Bars(BarSize::Day1)));
        script.on_bar(0, |desk| drop(desk.buy(TEST, Quantity::from(100))));
    });
    assert_eq!(
        looker.values,
        [
            "2025-01-02T23:59:59.999999999Z 0",
            "2025-01-03T23:59:59.999999999Z 0",
            "2025-01-06T23:59:59.999999999Z 100",
            "2025-01-07T23:59:59.999999999Z -100",
        ]
    );
    let days = ["2025-01-02", "2025-01-03", "2025-01-06", "2025-01-07", "2025-01-07"];
    assert_eq!(looker.days, days.map(|day| format!("{day}T23:59:59.999999999Z")));
}

#[test]
fn data_that_ends_before_trading_begins_is_no_simulation() {
    let mut world = World::ticks(&[(0, "10", "11")]);
    world.from = Some(later(5));
    assert!(matches!(world.try_run(|_| ()), Err(SimulationError::NoData)));
    assert!(matches!(World::ticks(&[]).try_run(|_| ()), Err(SimulationError::NoData)));
}

#[test]
fn every_run_gives_the_same_digest_and_another_price_another() {
    let run = |third: &'static str| {
        let world = World::ticks(&[(0, "10", "11"), (1, "12", "13"), (2, "10", third), (3, "10", "11")]);
        let ended = world.try_run(|act| {
            act.on_init(|desk| desk.subscribe(TEST, Prices::Ticks));
            act.on_tick(2, |desk| drop(desk.buy(TEST, Quantity::from(7))));
        });
        ended.unwrap()
    };
    let (once, again, otherwise) = (run("14"), run("14"), run("15"));
    assert_eq!(once, again);
    assert_ne!(once.digest, otherwise.digest);
    assert_eq!((once.events, once.orders, once.fills, once.digest.len()), (4, 1, 1, 64));
}
