//! Millions of prices pass a strategy in a simulation: a call must not cost memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::Phase;
use domain::{Event, Published, Timestamp};
use strategy::{Past, samples};

use crate::script::{reference, seat, tick};

#[test]
fn a_tick_that_causes_no_order_allocates_nothing() {
    let written = BTreeMap::from([("security".to_owned(), "ONE".to_owned())]);
    let strategy = samples::registry().build("moving-average-cross", &written, &reference()).unwrap();
    let mut seat = seat(strategy);
    for phase in [Phase::Init, Phase::Prefeed, Phase::Start, Phase::Run] {
        seat.enter(phase, Timestamp(0), &Past::default());
    }
    seat.commands().for_each(drop);
    let event = Event::Tick(Arc::new(tick(Timestamp(0), "1", "9", "11")));
    let published = Published { sequence: 1, at: Timestamp(1), event };
    seat.hear(&published);
    let cost = allocation_counter::measure(|| (0..1_000).for_each(|_| seat.hear(&published)));
    assert_eq!(cost.count_total, 0);
}
