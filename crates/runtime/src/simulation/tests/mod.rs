//! Simulation tests on virtual time: what a strategy gets, and when.

mod fixture;

use domain::{BarSize, Price, Quantity, SecurityId, Side};
use strategy::{COMMANDS_PER_CALL_MAX, PriceKind, order};

use super::SimulationError;
use fixture::{SimulationFixture, later};

const TEST: SecurityId = SecurityId(1);

#[test]
fn an_order_is_filled_at_the_quote_that_the_strategy_saw() {
    let world = SimulationFixture::ticks(&[(0, "10.00", "10.02"), (1, "10.10", "10.12"), (2, "10.20", "10.22")]);
    let delivery_log = world.run(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        act.on_tick(1, |context| drop(context.buy(TEST, Quantity::from(100))));
    });
    assert_eq!(
        delivery_log,
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
    let world = SimulationFixture::bars(&[
        (0, "10", "11", "9", "10.5"),
        (60, "10.6", "12", "10", "11"),
        (120, "11", "12", "10", "11"),
    ]);
    let delivery_log = world.run(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Bars(BarSize::Min1)));
        act.on_bar(0, |context| drop(context.buy(TEST, Quantity::from(100))));
    });
    assert_eq!(
        delivery_log,
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
    let mut world = SimulationFixture::ticks(&[
        (0, "10", "11"),
        (1, "20", "21"),
        (2, "30", "31"),
        (3, "40", "41"),
        (9, "50", "51"),
    ]);
    world.feed_latency_seconds = 1;
    world.order_latency_seconds = 2;
    let delivery_log = world.run(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        act.on_tick(0, |context| drop(context.buy(TEST, Quantity::from(1))));
    });
    let trading: Vec<_> = delivery_log.iter().filter(|line| line.contains("tick") || line.contains("fill")).collect();
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
    let mut world =
        SimulationFixture::bars(&[(0, "1", "1", "1", "1"), (60, "2", "2", "2", "2"), (120, "3", "3", "3", "3")]);
    world.from = Some(later(120));
    let delivery_log = world.run(|act| {
        act.on_init(|context| {
            context.subscribe(TEST, PriceKind::Bars(BarSize::Min1));
            context.request_history(TEST, BarSize::Min1, 1);
        });
    });
    assert_eq!(
        delivery_log,
        ["0 init", "120 prefeed 2", "120 start", "120 run", "180 bar 3 3 3 3", "180 exit", "181 end"]
    );
}

fn minutes() -> SimulationFixture {
    SimulationFixture::bars(&[(0, "1", "1", "1", "1"), (60, "2", "3", "2", "3"), (120, "4", "5", "4", "5")])
}

/// The bar of the second minute began before trading did: its open is history, its close comes in its time.
#[test]
fn trading_begins_at_its_configured_time_and_not_with_the_bar_that_spans_it() {
    let mut world = minutes();
    world.from = Some(later(90));
    let delivery_log = world.run(|act| {
        act.on_init(|context| {
            context.subscribe(TEST, PriceKind::Bars(BarSize::Min1));
            context.request_history(TEST, BarSize::Min1, 5);
        });
    });
    assert_eq!(
        delivery_log,
        ["0 init", "90 prefeed 1", "90 start", "90 run", "120 bar 2 3 2 3", "180 bar 4 5 4 5", "180 exit", "181 end",]
    );
}

#[test]
fn the_rest_of_a_bar_that_spans_the_end_is_not_known() {
    let bars_until = |until| {
        let mut world = minutes();
        world.until = Some(later(until));
        let delivery_log =
            world.run(|act| act.on_init(|context| context.subscribe(TEST, PriceKind::Bars(BarSize::Min1))));
        delivery_log.into_iter().skip(4).collect::<Vec<_>>()
    };
    assert_eq!(bars_until(150), ["60 bar 1 1 1 1", "120 bar 2 3 2 3", "120 exit", "121 end"]);
    assert_eq!(bars_until(180).len(), 5);
}

#[test]
fn a_run_within_one_bar_has_nothing_to_play_and_one_that_sees_its_close_has() {
    let ends = |until| {
        let mut world = SimulationFixture::bars(&[(0, "1", "1", "1", "1")]);
        (world.from, world.until) = (Some(later(20)), Some(later(until)));
        world.try_run(|_| ()).map(|ended| (ended.from, ended.to))
    };
    assert!(matches!(ends(40), Err(SimulationError::NoData)));
    assert_eq!(ends(60).unwrap(), (later(20), later(60)));
}

#[test]
fn ticks_before_the_start_warm_up_strategies_that_request_them() {
    let mut world = SimulationFixture::ticks(&[(0, "1", "2"), (1, "3", "4"), (2, "5", "6"), (3, "7", "8")]);
    world.from = Some(later(3));
    let delivery_log = world.run(|act| {
        act.on_init(|context| {
            context.subscribe(TEST, PriceKind::Ticks);
            context.request_prices(TEST, PriceKind::Ticks, 2);
        });
    });
    assert_eq!(delivery_log, ["0 init", "3 prefeed 3x4 5x6", "3 start", "3 run", "3 tick 7 x 8", "3 exit", "4 end"]);
}

#[test]
fn a_delayed_price_is_not_history_when_trading_begins() {
    let mut world = SimulationFixture::ticks(&[(0, "1", "2"), (2, "3", "4")]);
    (world.from, world.feed_latency_seconds) = (Some(later(3)), 2);
    let delivery_log = world.run(|act| {
        act.on_init(|context| {
            context.subscribe(TEST, PriceKind::Ticks);
            context.request_prices(TEST, PriceKind::Ticks, 9);
        });
    });
    assert_eq!(delivery_log, ["0 init", "3 prefeed 1x2", "3 start", "3 run", "4 tick 3 x 4", "4 exit", "5 end"]);
}

#[test]
fn bars_that_are_not_recorded_are_made_from_ticks() {
    let world = SimulationFixture::ticks(&[(0, "10", "12"), (30, "20", "22"), (59, "14", "16"), (61, "30", "32")]);
    let delivery_log = world.run(|act| act.on_init(|context| context.subscribe(TEST, PriceKind::Bars(BarSize::Min1))));
    let bars: Vec<_> = delivery_log.iter().filter(|line| line.contains("bar")).collect();
    assert_eq!(bars, ["61 bar 11 21 11 15"]);
}

#[test]
fn bars_that_are_not_recorded_are_made_from_shorter_ones() {
    let minutes: Vec<_> = (0..10).map(|number| (number * 60, "10", "12", "9", "11")).collect();
    let delivery_log = SimulationFixture::bars(&minutes)
        .run(|act| act.on_init(|context| context.subscribe(TEST, PriceKind::Bars(BarSize::Min5))));
    let bars: Vec<_> = delivery_log.iter().filter(|line| line.contains("bar")).collect();
    assert_eq!(bars, ["300 bar 10 12 9 11", "600 bar 10 12 9 11"]);
}

/// Requested at 130: the span from 120 on is incomplete, the one from 180 on is the first.
#[test]
fn a_bar_size_that_is_first_subscribed_while_prices_flow_is_built_from_then_on() {
    let quotes: Vec<_> = (0..30).map(|number| (number * 10, "10", "12")).collect();
    let delivery_log = SimulationFixture::ticks(&quotes).run(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        act.on_tick(13, |context| context.subscribe(TEST, PriceKind::Bars(BarSize::Min1)));
    });
    let bars: Vec<_> = delivery_log.iter().filter(|line| line.contains("bar")).collect();
    assert_eq!(bars, ["240 bar 11 11 11 11"]);
    let minutes: Vec<_> = (0..20).map(|number| (number * 60, "10", "12", "9", "11")).collect();
    let delivery_log = SimulationFixture::bars(&minutes).run(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Bars(BarSize::Min1)));
        act.on_bar(6, |context| context.subscribe(TEST, PriceKind::Bars(BarSize::Min5)));
    });
    let at_quarters: Vec<_> = delivery_log.iter().filter(|line| line.starts_with("900 bar")).collect();
    assert_eq!((at_quarters.len(), delivery_log.iter().filter(|line| line.starts_with("600 bar")).count()), (2, 1));
}

#[test]
fn a_longer_bar_is_delivered_and_fills_nothing_where_there_is_finer_data() {
    let five_minutes = [(0, "10", "12", "8", "11"), (300, "11", "12", "7", "11")];
    let told = |world: SimulationFixture| {
        let delivery_log = world.with_bars(BarSize::Min5, &five_minutes).run(|act| {
            act.on_init(|context| context.subscribe(TEST, PriceKind::Bars(BarSize::Min5)));
            act.on_bar(0, |context| drop(context.place(bid())));
        });
        let tells = |line: &&String| line.contains("bar") || line.contains("fill");
        delivery_log.iter().filter(tells).cloned().collect::<Vec<_>>()
    };
    let unfilled = ["300 bar 10 12 8 11", "600 bar 11 12 7 11"];
    assert_eq!(told(SimulationFixture::ticks(&[(0, "10", "11"), (400, "10", "11")])), unfilled);
    assert_eq!(told(SimulationFixture::bars(&[(0, "10", "11", "10", "11"), (360, "11", "12", "10", "11")])), unfilled);
    let nothing_finer = told(SimulationFixture::bars(&[]));
    assert_eq!(nothing_finer[1], "600 fill 1 @ 9 next-bar-open:REPLAY-1");
}

#[test]
fn timers_fire_at_their_instant_between_two_prices() {
    let world = SimulationFixture::ticks(&[(0, "10", "11"), (100, "20", "21")]);
    let delivery_log = world.run(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        act.on_tick(0, |context| context.set_timer("tea", later(40)));
    });
    let timers: Vec<_> = delivery_log.iter().filter(|line| line.contains("timer")).collect();
    assert_eq!(timers, ["40 timer tea"]);
}

#[test]
fn a_refused_order_is_reported_to_the_strategy_and_the_observer() {
    let world = SimulationFixture::ticks(&[(0, "10", "11"), (1, "10", "11")]);
    let delivery_log = world.run(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        act.on_tick(0, |context| drop(context.buy(TEST, "0.5".parse().unwrap())));
    });
    assert!(delivery_log.contains(&"0 refused not-a-multiple".to_owned()), "{delivery_log:?}");
}

#[test]
fn what_still_works_at_the_end_is_canceled() {
    let world = SimulationFixture::ticks(&[(0, "10", "11"), (1, "10", "11")]);
    let statuses = world.statuses(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        let bid = || order::limit(TEST, Side::Buy, Quantity::from(1), Price::from(9));
        act.on_tick(0, move |context| drop(context.place(bid())));
    });
    assert_eq!(statuses, ["OPEN", "SUBMITTED", "PENDING_CANCEL", "CANCELED"]);
}

#[test]
fn an_order_placed_in_start_is_reported_to_the_observer() {
    let statuses = three_ticks().statuses(|act| {
        act.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        act.on_start(|context| drop(context.place(bid())));
    });
    assert_eq!(statuses, ["OPEN", "SUBMITTED", "PENDING_CANCEL", "CANCELED"]);
}

fn three_ticks() -> SimulationFixture {
    SimulationFixture::ticks(&[(0, "10", "11"), (1, "10", "11"), (2, "10", "11")])
}

fn bid() -> domain::command::PlaceOrder {
    order::limit(TEST, Side::Buy, Quantity::from(1), Price::from(9))
}

/// The one that fails leaves no order, and the other one gets every price.
#[track_caller]
fn falls_alone(world: SimulationFixture, how: &str, act: impl FnOnce(&mut fixture::Script)) {
    let looker = world.observe(|script| {
        script.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        script.on_tick(0, |context| drop(context.place(bid())));
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
fn a_strategy_that_sends_too_many_commands_in_one_callback_fails_alone() {
    let how = "floods: one callback sent more than 1,024 commands";
    falls_alone(three_ticks(), how, |script| {
        script.on_tick(1, |context| (0..=COMMANDS_PER_CALL_MAX).for_each(|_| drop(context.place(bid()))));
    });
}

#[test]
fn a_strategy_that_exceeds_its_order_rate_is_stopped_by_the_risk_gate() {
    let mut world = three_ticks();
    world.orders_per_second = Some(5);
    falls_alone(world, "floods: the risk gate refuses its orders", |script| {
        script.on_tick(1, |context| (0..50).for_each(|_| drop(context.place(bid()))));
    });
}

#[test]
fn a_strategy_that_is_never_content_falls_alone() {
    let looker = three_ticks().observe(|script| {
        script.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        script.insist();
    });
    assert_eq!(looker.falls, ["DIARIST floods: it sends commands without end at one instant"]);
    assert_eq!(looker.beside, 3);
}

/// Decided on Thursday's close and bought at Friday's open of 20: 100 shares bring 0 on Friday, +100 by Monday's close and
/// -100 by Tuesday's. The weekend between is no day.
#[test]
fn the_close_of_a_daily_bar_is_the_worth_of_its_own_day() {
    let world = SimulationFixture::days(&[(1, "10"), (2, "20"), (5, "21"), (6, "19")]);
    let looker = world.observe(|script| {
        script.on_init(|context| context.subscribe(TEST, PriceKind::Bars(BarSize::Day1)));
        script.on_bar(0, |context| drop(context.buy(TEST, Quantity::from(100))));
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
    let days = ["2025-01-02", "2025-01-03", "2025-01-06", "2025-01-07"];
    assert_eq!(looker.days, days.map(|day| format!("{day}T23:59:59.999999999Z")));
}

/// Bought at 11 before midnight, and 20 is bid then. What the quote at midnight brings is of the day that it begins.
#[test]
fn a_price_at_midnight_counts_for_the_day_that_it_begins() {
    let world = SimulationFixture::ticks_of_days(&[(0, 80_000, "10", "11"), (1, 0, "20", "21")]);
    let looker = world.observe(|script| {
        script.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        script.on_tick(0, |context| drop(context.buy(TEST, Quantity::from(100))));
    });
    assert_eq!(looker.days, ["2025-01-01T23:59:59.999999999Z", "2025-01-02T00:00:00Z"]);
    assert_eq!(looker.values.last().unwrap(), "2025-01-02T00:00:00Z 900");
    let ended = SimulationFixture::ticks_of_days(&[(1, 0, "10", "11")]).try_run(|_| ()).unwrap();
    assert_eq!((ended.from, ended.to), (later(86_400), later(86_400)));
}

/// 100 bought at 11 and worth 10 on the last quote of the first day, which the engine has valued when the fill comes.
#[test]
fn a_fill_on_the_last_price_of_a_day_counts_for_that_day() {
    let world = SimulationFixture::ticks_of_days(&[
        (0, 0, "10", "11"),
        (0, 1, "10", "11"),
        (2, 0, "10", "11"),
        (2, 9, "10", "11"),
    ]);
    let looker = world.observe(|script| {
        script.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
        script.on_tick(1, |context| drop(context.buy(TEST, Quantity::from(100))));
    });
    assert_eq!(looker.values, ["2025-01-01T00:00:00Z 0", "2025-01-01T23:59:59.999999999Z -100"]);
}

#[test]
fn data_that_ends_before_trading_begins_is_no_simulation() {
    let mut world = SimulationFixture::ticks(&[(0, "10", "11")]);
    world.from = Some(later(5));
    assert!(matches!(world.try_run(|_| ()), Err(SimulationError::NoData)));
    assert!(matches!(SimulationFixture::ticks(&[]).try_run(|_| ()), Err(SimulationError::NoData)));
}

#[test]
fn every_run_gives_the_same_digest_and_another_price_another() {
    let run = |third: &'static str| {
        let world = SimulationFixture::ticks(&[(0, "10", "11"), (1, "12", "13"), (2, "10", third), (3, "10", "11")]);
        let ended = world.try_run(|act| {
            act.on_init(|context| context.subscribe(TEST, PriceKind::Ticks));
            act.on_tick(2, |context| drop(context.buy(TEST, Quantity::from(7))));
        });
        ended.unwrap()
    };
    let (once, again, otherwise) = (run("14"), run("14"), run("15"));
    assert_eq!(once, again);
    assert_ne!(once.digest, otherwise.digest);
    assert_eq!((once.events, once.orders, once.fills, once.digest.len()), (4, 1, 1, 64));
}
