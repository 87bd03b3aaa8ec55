use std::sync::Arc;

use domain::command::{GenericEvent, Phase};
use domain::{
    Event, Fill, OrderStatus, Position, Published, Quantity, Refusal, SecurityId, StrategyId, Tick, Timestamp,
};
use strategy::{COMMANDS_PER_CALL_MAX, Desk, Past, Prices, Refused, Strategy, Timer};

use crate::script::{check_strategy, seat, tick};

const ONE: SecurityId = SecurityId(1);

/// Records every callback, and publishes it.
struct Diary;

impl Strategy for Diary {
    fn init(&mut self, desk: &mut Desk<'_>) {
        desk.subscribe(ONE, Prices::Ticks);
        desk.subscribe(ONE, Prices::Trades);
        desk.listen("hello");
        desk.buy(ONE, Quantity::from(1));
    }

    fn start(&mut self, desk: &mut Desk<'_>) {
        desk.set_timer("later", desk.now().plus_seconds(120));
        desk.publish("start", desk.name().to_owned());
    }

    fn run(&mut self, desk: &mut Desk<'_>) {
        desk.publish("run", "{}");
    }

    fn exit(&mut self, desk: &mut Desk<'_>) {
        desk.publish("exit", format!("holding {}", desk.position(ONE)));
        desk.unsubscribe(ONE);
    }

    fn on_tick(&mut self, tick: &Tick, desk: &mut Desk<'_>) {
        desk.publish("tick", tick.bid.unwrap_or_default().to_string());
        desk.buy(ONE, Quantity::from(3));
    }

    fn on_fill(&mut self, fill: &Fill, desk: &mut Desk<'_>) {
        desk.publish("filled", format!("{} @ {}", fill.int_id, fill.price));
    }

    fn on_order_status(&mut self, _: &OrderStatus, desk: &mut Desk<'_>) {
        desk.publish("status", "told");
    }

    fn on_timer(&mut self, timer: &Timer, desk: &mut Desk<'_>) {
        desk.publish("timer", timer.name.clone());
    }

    fn on_generic_event(&mut self, event: &GenericEvent, desk: &mut Desk<'_>) {
        desk.publish("heard", event.body.clone());
    }

    fn on_refusal(&mut self, refused: &Refused, desk: &mut Desk<'_>) {
        desk.publish("refused", refused.code.clone());
    }
}

#[test]
fn phases_come_in_order_orders_only_from_start_and_nothing_after_exit() {
    check_strategy(
        Box::new(Diary),
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

fn awake(strategy: impl Strategy + 'static) -> strategy::Seat {
    let mut seat = seat(Box::new(strategy));
    for phase in [Phase::Init, Phase::Prefeed, Phase::Start, Phase::Run] {
        seat.enter(phase, Timestamp(0), &Past::default());
    }
    seat.commands().for_each(drop);
    seat
}

fn said(seat: &mut strategy::Seat) -> Vec<String> {
    let texts = seat.commands().map(|command| match command {
        domain::Command::Publish(event) => format!("{} {}", event.name, event.body),
        other => format!("{other:?}"),
    });
    texts.collect()
}

#[test]
fn it_gets_the_generic_events_that_it_subscribes_to_and_never_its_own() {
    let mut seat = awake(Diary);
    for (strategy, name, body) in
        [(2, "hello", "one"), (2, "other", "two"), (7, "hello", "three"), (3, "hello", "four")]
    {
        let event = GenericEvent { strategy: StrategyId(strategy), name: name.into(), body: body.into() };
        seat.hear(&Published { sequence: 1, at: Timestamp(1), event: Event::Generic(Arc::new(event)) });
    }
    assert_eq!(said(&mut seat), ["heard one", "heard four"]);
}

#[test]
fn an_order_that_was_refused_is_no_longer_working() {
    let mut seat = awake(Diary);
    let event = Event::Tick(Arc::new(tick(Timestamp(1), "1", "7", "8")));
    seat.hear(&Published { sequence: 1, at: Timestamp(1), event });
    let place = seat.commands().last().expect("an order");
    assert_eq!(seat.picture().orders().count(), 1);
    seat.refuse(Timestamp(2), place, &Refusal::DateInThePast);
    assert_eq!(seat.picture().orders().count(), 0);
    assert_eq!(said(&mut seat), [format!("refused {}", Refusal::DateInThePast.code())]);
}

/// Sends commands without end.
struct Flood;

impl Strategy for Flood {
    fn run(&mut self, desk: &mut Desk<'_>) {
        (0..=COMMANDS_PER_CALL_MAX).for_each(|_| drop(desk.buy(ONE, Quantity::from(1))));
    }
}

#[test]
fn a_flood_in_one_call_is_bounded_and_noticed() {
    let mut seat = seat(Box::new(Flood));
    seat.enter(Phase::Run, Timestamp(0), &Past::default());
    assert!(seat.is_flooding());
    assert_eq!(seat.commands().count(), COMMANDS_PER_CALL_MAX);
}

/// Never takes no for an answer.
struct Stubborn;

impl Strategy for Stubborn {
    fn init(&mut self, desk: &mut Desk<'_>) {
        desk.buy(ONE, Quantity::from(1));
    }

    fn on_refusal(&mut self, _: &Refused, desk: &mut Desk<'_>) {
        desk.buy(ONE, Quantity::from(1));
    }
}

#[test]
fn insisting_on_an_order_before_start_ends() {
    let mut seat = seat(Box::new(Stubborn));
    seat.enter(Phase::Init, Timestamp(0), &Past::default());
    assert_eq!((seat.has_commands(), seat.picture().orders().count()), (false, 0));
}

/// Publishes its view at each callback of a fill.
struct Bookkeeper;

impl Bookkeeper {
    fn look(name: &'static str, desk: &mut Desk<'_>) {
        let working = if desk.is_working(ONE) { "working" } else { "done" };
        desk.publish(name, format!("holding {}, {working}", desk.position(ONE)));
    }
}

impl Strategy for Bookkeeper {
    fn init(&mut self, desk: &mut Desk<'_>) {
        desk.subscribe(ONE, Prices::Ticks);
    }

    fn on_tick(&mut self, _: &Tick, desk: &mut Desk<'_>) {
        if desk.position(ONE).is_zero() {
            desk.buy(ONE, Quantity::from(3));
        }
    }

    fn on_fill(&mut self, _: &Fill, desk: &mut Desk<'_>) {
        Self::look("fill", desk);
    }

    fn on_position(&mut self, _: &Position, desk: &mut Desk<'_>) {
        Self::look("position", desk);
    }

    fn on_order_status(&mut self, _: &OrderStatus, desk: &mut Desk<'_>) {
        Self::look("status", desk);
    }
}

#[test]
fn every_call_back_of_a_fill_finds_the_fill_in_position_and_order() {
    check_strategy(
        Box::new(Bookkeeper),
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
    let mut seat = awake(Bookkeeper);
    let fill = Event::Fill(Arc::new(crate::market::fill(&samples::order(1), 8.into())));
    seat.hear(&Published { sequence: 1, at: Timestamp(1), event: fill });
    assert_eq!(said(&mut seat), [""; 0]);
    seat.advance(Timestamp(2));
    assert_eq!(said(&mut seat), ["fill holding 0, done"]);
}
