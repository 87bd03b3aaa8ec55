use std::sync::Arc;

use domain::command::{GenericEvent, StrategyPhase};
use domain::order::BaseState;
use domain::{
    Event, Fill, Order, OrderStatus, Position, PublishedEvent, Quantity, Refusal, SecurityId, StrategyId, Tick,
    Timestamp,
};
use strategy::{COMMANDS_PER_CALL_MAX, CommandRejection, Context, PriceHistory, PriceKind, Strategy, Timer};

use crate::script::{check_strategy, runner, tick};

const ONE: SecurityId = SecurityId(1);

/// Records every callback, and publishes it.
struct CallbackLog;

impl Strategy for CallbackLog {
    fn init(&mut self, context: &mut Context<'_>) {
        context.subscribe(ONE, PriceKind::Ticks);
        context.subscribe(ONE, PriceKind::Trades);
        context.subscribe_events("hello");
        context.buy(ONE, Quantity::from(1));
    }

    fn start(&mut self, context: &mut Context<'_>) {
        context.set_timer("later", context.now().plus_seconds(120));
        context.publish("start", context.name().to_owned());
    }

    fn run(&mut self, context: &mut Context<'_>) {
        context.publish("run", "{}");
    }

    fn exit(&mut self, context: &mut Context<'_>) {
        context.publish("exit", format!("holding {}", context.position(ONE)));
        context.unsubscribe(ONE);
    }

    fn on_tick(&mut self, tick: &Tick, context: &mut Context<'_>) {
        context.publish("tick", tick.bid.unwrap_or_default().to_string());
        context.buy(ONE, Quantity::from(3));
    }

    fn on_price_gap(&mut self, tick: &Tick, context: &mut Context<'_>) {
        let cause = tick.stale.map_or("none", domain::StaleCause::name);
        let known = context.tick(ONE).and_then(|known| known.bid).unwrap_or_default();
        context.publish("gap", format!("{cause} at {known}"));
    }

    fn on_fill(&mut self, fill: &Fill, context: &mut Context<'_>) {
        context.publish("filled", format!("{} @ {}", fill.int_id, fill.price));
    }

    fn on_order_status(&mut self, _: &OrderStatus, context: &mut Context<'_>) {
        context.publish("status", "told");
    }

    fn on_timer(&mut self, timer: &Timer, context: &mut Context<'_>) {
        context.publish("timer", timer.name.clone());
    }

    fn on_generic_event(&mut self, event: &GenericEvent, context: &mut Context<'_>) {
        context.publish("heard", event.body.clone());
    }

    fn on_refusal(&mut self, refused: &CommandRejection, context: &mut Context<'_>) {
        context.publish("refused", refused.code.clone());
    }
}

#[test]
fn phases_come_in_order_orders_only_from_start_and_nothing_after_exit() {
    check_strategy(
        Box::new(CallbackLog),
        "
        INIT        => subscribe 1, say refused phase-order
        tick 1 4 6
        PREFEED
        tick 1 5 6
        START       => say start TEST
        tick 1 7 8  => say tick 7, buy 3 of 1, say filled TEST-1-2 @ 8, say status told
        RUN         => say run {}, say timer later
        tick 2 7 8
        wait
        EXIT        => say exit holding 3, unsubscribe 1
        tick 1 7 8
        wait
        ",
    );
}

#[test]
fn a_price_gap_is_told_once_and_nothing_in_it_is_a_tick() {
    check_strategy(
        Box::new(CallbackLog),
        "
        INIT        => subscribe 1, say refused phase-order
        PREFEED
        START       => say start TEST
        tick 1 7 8  => say tick 7, buy 3 of 1, say filled TEST-1-2 @ 8, say status told
        RUN         => say run {}, say timer later
        gap 1 7 8 MISSED_UPDATES => say gap MISSED_UPDATES at 7
        gap 1 6 8 MISSED_UPDATES
        gap 1 6 8 DISCONNECTED => say gap DISCONNECTED at 6
        gap 2 7 8 SILENT
        tick 1 7 8  => say tick 7, buy 3 of 1, say filled TEST-1-3 @ 8, say status told
        gap 1 7 8 SILENT => say gap SILENT at 7
        EXIT        => say exit holding 6, unsubscribe 1
        gap 1 7 8 REFUSED
        ",
    );
}

fn awake(strategy: impl Strategy + 'static) -> strategy::StrategyRunner {
    let mut runner = runner(Box::new(strategy));
    for phase in [StrategyPhase::Init, StrategyPhase::Prefeed, StrategyPhase::Start, StrategyPhase::Run] {
        runner.enter_phase(phase, Timestamp(0), &PriceHistory::default());
    }
    runner.commands().for_each(drop);
    runner
}

fn said(runner: &mut strategy::StrategyRunner) -> Vec<String> {
    let texts = runner.commands().map(|command| match command {
        domain::Command::Publish(event) => format!("{} {}", event.name, event.body),
        other => format!("{other:?}"),
    });
    texts.collect()
}

#[test]
fn it_gets_the_generic_events_that_it_subscribes_to_and_never_its_own() {
    let mut runner = awake(CallbackLog);
    for (strategy, name, body) in
        [(2, "hello", "one"), (2, "other", "two"), (7, "hello", "three"), (3, "hello", "four")]
    {
        let event = GenericEvent { strategy: StrategyId(strategy), name: name.into(), body: body.into() };
        runner.on_published(&PublishedEvent { sequence: 1, at: Timestamp(1), event: Event::Generic(Arc::new(event)) });
    }
    assert_eq!(said(&mut runner), ["heard one", "heard four"]);
}

#[test]
fn an_order_that_was_refused_is_no_longer_working() {
    let mut runner = awake(CallbackLog);
    let event = Event::Tick(Arc::new(tick(Timestamp(1), "1", "7", "8")));
    runner.on_published(&PublishedEvent { sequence: 1, at: Timestamp(1), event });
    let place = runner.commands().last().expect("an order");
    assert_eq!(runner.view().orders().count(), 1);
    runner.on_refusal(Timestamp(2), place, &Refusal::DateInThePast);
    assert_eq!(runner.view().orders().count(), 0);
    assert_eq!(said(&mut runner), [format!("refused {}", Refusal::DateInThePast.code())]);
}

/// As it comes to a strategy that was cut off meanwhile: history has each status, and no whole order.
#[test]
fn an_order_whose_end_is_told_by_its_status_alone_is_no_longer_working() {
    let mut runner = awake(CallbackLog);
    let order = samples::order(1);
    let order = Order { strategy: crate::market::STRATEGY, state: BaseState::New, ..order };
    let working = |runner: &strategy::StrategyRunner| runner.view().orders().count();
    let mut counts = vec![];
    runner.on_event(Timestamp(1), &Event::Order(Arc::new(order.clone())));
    counts.push(working(&runner));
    for state in [BaseState::PartiallyFilled, BaseState::Canceled] {
        let order = Order { state, ..order.clone() };
        runner.on_event(Timestamp(2), &Event::OrderStatus(Arc::new(crate::market::status(&order, 8.into()))));
        counts.push(working(&runner));
    }
    assert_eq!(counts, [1, 1, 0]);
}

/// Sends commands without end.
struct Flood;

impl Strategy for Flood {
    fn run(&mut self, context: &mut Context<'_>) {
        (0..=COMMANDS_PER_CALL_MAX).for_each(|_| drop(context.buy(ONE, Quantity::from(1))));
    }
}

#[test]
fn a_flood_in_one_call_is_bounded_and_noticed() {
    let mut runner = runner(Box::new(Flood));
    runner.enter_phase(StrategyPhase::Run, Timestamp(0), &PriceHistory::default());
    assert!(runner.is_flooding());
    assert_eq!(runner.commands().count(), COMMANDS_PER_CALL_MAX);
}

/// Never takes no for an answer.
struct RetryingStrategy;

impl Strategy for RetryingStrategy {
    fn init(&mut self, context: &mut Context<'_>) {
        context.buy(ONE, Quantity::from(1));
    }

    fn on_refusal(&mut self, _: &CommandRejection, context: &mut Context<'_>) {
        context.buy(ONE, Quantity::from(1));
    }
}

#[test]
fn insisting_on_an_order_before_start_ends() {
    let mut runner = runner(Box::new(RetryingStrategy));
    runner.enter_phase(StrategyPhase::Init, Timestamp(0), &PriceHistory::default());
    assert_eq!((runner.has_commands(), runner.view().orders().count()), (false, 0));
}

/// Publishes its view at each callback of a fill.
struct PositionLog;

impl PositionLog {
    fn look(name: &'static str, context: &mut Context<'_>) {
        let working = if context.is_working(ONE) { "working" } else { "done" };
        context.publish(name, format!("holding {}, {working}", context.position(ONE)));
    }
}

impl Strategy for PositionLog {
    fn init(&mut self, context: &mut Context<'_>) {
        context.subscribe(ONE, PriceKind::Ticks);
    }

    fn on_tick(&mut self, _: &Tick, context: &mut Context<'_>) {
        if context.position(ONE).is_zero() {
            context.buy(ONE, Quantity::from(3));
        }
    }

    fn on_fill(&mut self, _: &Fill, context: &mut Context<'_>) {
        Self::look("fill", context);
    }

    fn on_position(&mut self, _: &Position, context: &mut Context<'_>) {
        Self::look("position", context);
    }

    fn on_order_status(&mut self, _: &OrderStatus, context: &mut Context<'_>) {
        Self::look("status", context);
    }
}

#[test]
fn every_call_back_of_a_fill_finds_the_fill_in_position_and_order() {
    check_strategy(
        Box::new(PositionLog),
        "
        INIT        => subscribe 1
        PREFEED
        START
        tick 1 7 8  => buy 3 of 1, say fill holding 3, done, say position holding 3, done, say status holding 3, done
        tick 1 7 8
        ",
    );
}

#[test]
fn an_interrupted_fill_is_delivered_with_the_next_event() {
    let mut runner = awake(PositionLog);
    let fill = Event::Fill(Arc::new(crate::market::fill(&samples::order(1), 8.into())));
    runner.on_published(&PublishedEvent { sequence: 1, at: Timestamp(1), event: fill });
    assert_eq!(said(&mut runner), [""; 0]);
    runner.advance(Timestamp(2));
    assert_eq!(said(&mut runner), ["fill holding 0, done"]);
}
