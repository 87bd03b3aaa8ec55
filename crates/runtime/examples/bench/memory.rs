//! The engine in memory, on one core: orders on their way from place to fill, and ticks.

use std::time::Duration;

use domain::{Input, Stamped, Text, Timestamp};
use engine::{Engine, Outbox};

use crate::desk;
use crate::machine::Meter;
use crate::table::{Row, percentile, thousands};

const ROUNDS: usize = 3;
/// What the runtime takes at a time when it is busy.
const BATCH: usize = 100;

const ORDERS: u64 = 200_000;
/// The demo lets 1,000 orders a second through; the inputs are stamped so far apart that all of them pass.
const ORDERS_PER_SECOND: u32 = 1_000;
const NANOS_BETWEEN_ORDERS: u64 = 1_000_000;
/// An order is accepted when so many others were placed after it, and filled later: ten thousand are open at a time.
const ACCEPTED_AFTER: u64 = 100;
const FILLED_AFTER: u64 = 10_000;

const TICKS: usize = 5_000_000;
/// More of them than fit into the nearest cache, each with a price of its own.
const DIFFERENT_TICKS: u64 = 4_096;
/// So far apart that every security closes a bar every second.
const NANOS_BETWEEN_TICKS: u64 = 200;

const ORDERS_AIM: f64 = 1_000_000.0;
const APPLY_AIM: Duration = Duration::from_micros(10);
const TICKS_AIM: f64 = 5_000_000.0;

/// One round, timed.
struct Round {
    inputs: usize,
    wall: Duration,
    cpu: Duration,
    /// Of each batch, per input, shortest first.
    batches: Vec<Duration>,
}

pub(crate) fn orders() -> [Row; 2] {
    let inputs = order_inputs();
    let round = best((0..ROUNDS).map(|_| apply_all(&mut opened(), &inputs)));
    let (p50, p99) = (percentile(&round.batches, 50), percentile(&round.batches, 99));
    [
        Row::rate("order commands, engine in memory", round.per_second(), ORDERS_AIM, round.cost()),
        Row::time("apply, p99 of batches of 100", p99, APPLY_AIM, format!("p50 {p50:.1?}")),
    ]
}

pub(crate) fn ticks() -> Row {
    let mut engine = opened();
    let feed = Text::from("bench");
    let mut inputs: Vec<_> = (0..DIFFERENT_TICKS)
        .map(|number| Stamped { sequence: 0, at: desk::OPENING, what: Input::Market(desk::tick(number, &feed)) })
        .collect();
    let round = best((0..ROUNDS).map(|round| apply_ticks(&mut engine, &mut inputs, round)));
    Row::rate("ticks of 1,000 securities, in memory", round.per_second(), TICKS_AIM, round.cost())
}

fn opened() -> Engine {
    let mut engine = Engine::default();
    for (input, sequence) in desk::opening(ORDERS_PER_SECOND).into_iter().zip(1..) {
        let input = Stamped { sequence, at: desk::OPENING, what: input };
        engine.apply(&input, &mut Outbox::default()).expect("the desk is taken");
    }
    engine
}

/// Places, confirmations and fills, in the order in which a busy venue would send them.
fn order_inputs() -> Vec<Stamped<Input>> {
    let mut inputs = Vec::new();
    for number in 0..ORDERS + FILLED_AFTER {
        let at = Timestamp(desk::OPENING.0 + i64::try_from(number * NANOS_BETWEEN_ORDERS).expect("some minutes"));
        let mut stamp = |what| inputs.push(Stamped { sequence: 100 + inputs.len() as u64, at, what });
        if number < ORDERS {
            stamp(desk::command(desk::order(number)));
        }
        if let Some(number) = number.checked_sub(ACCEPTED_AFTER).filter(|number| *number < ORDERS) {
            stamp(Input::Report(desk::accepted(number)));
        }
        if let Some(number) = number.checked_sub(FILLED_AFTER) {
            stamp(Input::Report(desk::filled(number)));
        }
    }
    inputs
}

fn apply_all(engine: &mut Engine, inputs: &[Stamped<Input>]) -> Round {
    let mut out = Outbox::default();
    let mut batches = Vec::with_capacity(inputs.len() / BATCH + 1);
    let meter = Meter::start();
    for batch in inputs.chunks(BATCH) {
        let begun = meter.wall();
        for input in batch {
            engine.apply(input, &mut out).expect("every order is let through");
            out.events.clear();
            out.instructions.clear();
        }
        batches.push((meter.wall() - begun) / u32::try_from(batch.len()).expect("a hundred"));
    }
    Round::over(inputs.len(), &meter, batches)
}

fn apply_ticks(engine: &mut Engine, inputs: &mut [Stamped<Input>], round: usize) -> Round {
    let mut out = Outbox::default();
    let places = (0..inputs.len()).cycle();
    let meter = Meter::start();
    for (sequence, place) in (round * TICKS..(round + 1) * TICKS).zip(places) {
        let input = &mut inputs[place];
        input.sequence = sequence as u64;
        input.at = Timestamp(desk::OPENING.0 + i64::try_from(input.sequence * NANOS_BETWEEN_TICKS).expect("seconds"));
        engine.apply(input, &mut out).expect("ticks are not refused");
        if sequence % BATCH == BATCH - 1 {
            out.events.clear();
        }
    }
    Round::over(TICKS, &meter, vec![])
}

/// What the machine does when it is left alone.
fn best(rounds: impl Iterator<Item = Round>) -> Round {
    rounds.min_by_key(|round| round.wall).expect("at least one round")
}

impl Round {
    fn over(inputs: usize, meter: &Meter, mut batches: Vec<Duration>) -> Self {
        let (wall, cpu) = (meter.wall(), meter.cpu());
        batches.sort_unstable();
        Self { inputs, wall, cpu, batches }
    }

    fn per_second(&self) -> f64 {
        self.inputs as f64 / self.wall.as_secs_f64()
    }

    fn cost(&self) -> String {
        let cpu_nanos = self.cpu.as_secs_f64() * 1e9 / self.inputs as f64;
        format!("{} ns of CPU each; best of {ROUNDS} rounds of {}", thousands(cpu_nanos), thousands(self.inputs as f64))
    }
}
