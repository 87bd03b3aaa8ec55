//! Answers and requests that are lost or late on a line that stays up: every order is settled by asking, and none is sent twice.

use simulator::schedule::{Fault, Step, StepKind, VenueLineFault};
use simulator::{CheckedPlans, Plan};

/// Simulated minutes in which things go wrong; more than two of rest follow, without a new log-on.
const MINUTES: u32 = 3;
/// Unless `RIALTO_LOST_ANSWER_SEEDS` says how many; each test runs a half of them.
const SEEDS: u64 = 100;
const FAULTS: [VenueLineFault; 4] =
    [VenueLineFault::Lose, VenueLineFault::Late, VenueLineFault::Drop, VenueLineFault::Mute];

/// The schedule of the seed, with a fault of the line wherever something goes wrong.
fn plan(seed: u64) -> Plan {
    let plan = Plan::of_seed(seed, MINUTES);
    let fault = |place: usize| Fault::Venue {
        venue: place / 2 % 2,
        fault: FAULTS[(place + usize::from(seed.is_multiple_of(2))) % 4],
        seconds: 25,
    };
    let step = |(place, step): (usize, Step)| match step.what {
        // Who listens has no part in it.
        StepKind::Fault(Fault::StompLink { .. } | Fault::StompPortHangs { .. }) => step,
        StepKind::Fault(_) => Step { what: StepKind::Fault(fault(place)), ..step },
        _ => step,
    };
    let steps = plan.steps.into_iter().enumerate().map(step).collect();
    Plan { steps, has_late_requests: true, ..plan }
}

fn seeds() -> u64 {
    match std::env::var("RIALTO_LOST_ANSWER_SEEDS") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("RIALTO_LOST_ANSWER_SEEDS must be a number, not {text:?}")),
        Err(_) => SEEDS,
    }
}

fn check_seeds(seeds: std::ops::RangeInclusive<u64>) {
    CheckedPlans::run(seeds.map(plan)).expect("a temporary folder can be written").expect_kept();
}

#[test]
fn the_first_half_of_the_seeds_settles_every_order_while_the_line_stays_up() {
    check_seeds(1..=seeds() / 2);
}

#[test]
fn the_second_half_of_the_seeds_settles_every_order_while_the_line_stays_up() {
    check_seeds(seeds() / 2 + 1..=seeds());
}
