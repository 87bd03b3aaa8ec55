//! The engine in memory, on one core: orders on their way from place to fill, and ticks.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::{Input, Sequenced, Text, Timestamp};
use engine::{Engine, Outbox};

use crate::machine::Meter;
use crate::table::{Row, percentile, thousands};
use crate::workload;

const ROUNDS: usize = 3;
/// The numbers before it are those of the opening.
const FIRST_SEQUENCE: u64 = 1_000;
/// What the runtime takes at a time when it is busy.
const BATCH: usize = 100;

const ORDERS: u64 = 200_000;
/// The demo lets 1,000 orders a second through; the inputs are stamped so far apart that all of them pass.
const ORDERS_PER_SECOND: u32 = 1_000;
const NANOS_BETWEEN_ORDERS: u64 = 1_000_000;
/// An order is accepted when so many others were placed after it, and filled later: ten thousand are open at a time.
const ACCEPTED_AFTER: u64 = 100;
const FILLED_AFTER: u64 = 10_000;

const TICKS: u64 = 5_000_000;
/// More of them than fit into the nearest cache, each with a price of its own.
const DIFFERENT_TICKS: u64 = 4_096;
/// So far apart that every security closes a bar every second.
const NANOS_BETWEEN_TICKS: u64 = 200;

const YARDSTICK_ENTRIES: u64 = 100_000;
const YARDSTICK_STEPS: u64 = 1_000_000;

const ORDERS_AIM: f64 = 1_000_000.0;
const APPLY_AIM: Duration = Duration::from_micros(10);
const TICKS_AIM: f64 = 5_000_000.0;

/// One round, timed.
#[derive(Default)]
struct Round {
    inputs: usize,
    meter: Meter,
    /// Of each batch, per input, shortest first.
    batches: Vec<Duration>,
}

pub(crate) fn orders() -> [Row; 3] {
    let yardstick = (0..ROUNDS).map(|_| yardstick()).min().expect("at least one round");
    let round = best((0..ROUNDS).map(|_| apply_orders(&mut opened())));
    let (p50, p99) = (percentile(&round.batches, 50), percentile(&round.batches, 99));
    let times = round.meter.wall.as_secs_f64() / round.inputs as f64 / yardstick.as_secs_f64();
    [
        Row::yardstick(
            "one entry put into and out of a map",
            yardstick,
            format!("an ordered one of {YARDSTICK_ENTRIES}"),
        ),
        Row::rate(
            "order commands, engine in memory",
            round.per_second(),
            ORDERS_AIM,
            format!("{times:.1} times that map's entry; {}", round.cost()),
        ),
        Row::time(
            "apply, p99 of batches of 100",
            p99,
            APPLY_AIM,
            format!("p50 {p50:.1?}, quietest tenth {:.1?}", percentile(&round.batches, 10)),
        ),
    ]
}

pub(crate) fn ticks() -> Row {
    let mut engine = opened();
    let feed = Text::from("bench");
    let mut inputs: Vec<_> = (0..DIFFERENT_TICKS)
        .map(|number| Sequenced {
            sequence: 0,
            at: workload::OPENING,
            payload: Input::Market(workload::tick(number, &feed)),
        })
        .collect();
    let round = best((0..ROUNDS).map(|round| apply_ticks(&mut engine, &mut inputs, round as u64 * TICKS)));
    Row::rate("ticks of 1,000 securities, in memory", round.per_second(), TICKS_AIM, round.cost())
}

/// What this core does at this moment, for comparison: the pace of a shared machine changes from minute to minute.
fn yardstick() -> Duration {
    let key = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut map: BTreeMap<u64, u64> = (0..YARDSTICK_ENTRIES).map(|number| (key(number), number)).collect();
    let mut meter = Meter::default();
    meter.measure(|| {
        for number in YARDSTICK_ENTRIES..YARDSTICK_ENTRIES + YARDSTICK_STEPS {
            map.insert(key(number), number);
            map.remove(&key(number - YARDSTICK_ENTRIES));
        }
    });
    meter.wall / u32::try_from(YARDSTICK_STEPS).expect("a million")
}

pub(crate) fn opened() -> Engine {
    let mut engine = Engine::default();
    let commands = workload::opening(ORDERS_PER_SECOND).into_iter().map(|envelope| Input::Command(Box::new(envelope)));
    let reports = workload::logon().into_iter().map(Input::Report);
    let inputs = commands.chain([Input::Marks(workload::marks())]).chain(reports);
    for (what, sequence) in inputs.zip(1..) {
        let input = Sequenced { sequence, at: workload::OPENING, payload: what };
        engine.apply(&input, &mut Outbox::default()).expect("the desk is taken");
    }
    engine
}

/// Inputs are made batch by batch, as in a live server, so that each is still in the cache when it is applied.
fn apply_orders(engine: &mut Engine) -> Round {
    let mut round = Round::default();
    let mut out = Outbox::default();
    let mut sequences = FIRST_SEQUENCE..;
    let mut steps = (0..ORDERS + FILLED_AFTER).flat_map(|turn| inputs_of_turn(turn).map(move |what| (turn, what)));
    loop {
        let stamp =
            |((turn, what), sequence)| Sequenced { sequence, at: instant(turn, NANOS_BETWEEN_ORDERS), payload: what };
        let batch: Vec<_> = steps.by_ref().zip(sequences.by_ref()).take(BATCH).map(stamp).collect();
        if batch.is_empty() {
            round.batches.sort_unstable();
            return round;
        }
        let taken = round.meter.measure(|| apply(engine, &batch, &mut out));
        round.batches.push(taken / u32::try_from(batch.len()).expect("a hundred"));
        round.inputs += batch.len();
    }
}

/// What one turn brings: an order, a confirmation and a fill, each of another order.
fn inputs_of_turn(turn: u64) -> impl Iterator<Item = Input> {
    let earlier = |turns: u64| turn.checked_sub(turns).filter(|number| *number < ORDERS);
    let placed = earlier(0).map(|number| Input::Command(Box::new(workload::order(number))));
    let accepted = earlier(ACCEPTED_AFTER).map(|number| Input::Report(workload::accepted(workload::id(number))));
    let filled = earlier(FILLED_AFTER).map(|number| Input::Report(workload::filled(number)));
    [placed, accepted, filled].into_iter().flatten()
}

fn apply(engine: &mut Engine, inputs: &[Sequenced<Input>], out: &mut Outbox) {
    for input in inputs {
        engine.apply(input, out).expect("everything is let through");
        out.events.clear();
        out.instructions.clear();
    }
}

fn apply_ticks(engine: &mut Engine, inputs: &mut [Sequenced<Input>], first_turn: u64) -> Round {
    let mut round = Round::default();
    let mut out = Outbox::default();
    for turn in (first_turn..first_turn + TICKS).step_by(inputs.len()) {
        for (input, number) in inputs.iter_mut().zip(turn..) {
            (input.sequence, input.at) = (FIRST_SEQUENCE + number, instant(number, NANOS_BETWEEN_TICKS));
        }
        round.meter.measure(|| apply(engine, inputs, &mut out));
        round.inputs += inputs.len();
    }
    round
}

fn instant(turn: u64, nanos_between: u64) -> Timestamp {
    Timestamp(workload::OPENING.0 + i64::try_from(turn * nanos_between).expect("some minutes"))
}

/// What the machine does when it is left alone.
fn best(rounds: impl Iterator<Item = Round>) -> Round {
    rounds.min_by_key(|round| round.meter.wall).expect("at least one round")
}

impl Round {
    fn per_second(&self) -> f64 {
        self.inputs as f64 / self.meter.wall.as_secs_f64()
    }

    fn cost(&self) -> String {
        let cpu_nanos = self.meter.cpu.as_secs_f64() * 1e9 / self.inputs as f64;
        format!("{} ns of CPU each; best of {ROUNDS} rounds of {}", thousands(cpu_nanos), thousands(self.inputs as f64))
    }
}
