//! Millions of prices pass a strategy in a simulation: a call must not cost memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::StrategyPhase;
use domain::{Event, PublishedEvent, Timestamp};
use strategy::{PriceHistory, samples};

use crate::script::{reference, runner, tick};

#[test]
fn a_tick_that_causes_no_order_allocates_nothing() {
    let written = BTreeMap::from([("security".to_owned(), "ONE".to_owned())]);
    let strategy = samples::registry().build("moving-average-cross", &written, &reference()).unwrap();
    let mut runner = runner(strategy);
    for phase in [StrategyPhase::Init, StrategyPhase::Prefeed, StrategyPhase::Start, StrategyPhase::Run] {
        runner.enter_phase(phase, Timestamp(0), &PriceHistory::default());
    }
    runner.commands().for_each(drop);
    let event = Event::Tick(Arc::new(tick(Timestamp(0), "1", "9", "11")));
    let published = PublishedEvent { sequence: 1, at: Timestamp(1), event };
    runner.on_published(&published);
    let cost = allocation_counter::measure(|| (0..1_000).for_each(|_| runner.on_published(&published)));
    assert_eq!(cost.count_total, 0);
}
