use std::collections::BTreeMap;

use domain::command::StrategyPhase;
use domain::{Event, PublishedEvent, SecurityId, Timestamp};
use strategy::{PriceHistory, samples};

use crate::market::Market;
use crate::script::{check, reference, runner, tick};

#[test]
fn the_position_is_reversed_when_the_averages_cross_and_not_before_both_are_warm() {
    check(
        "moving-average-cross",
        &[("security", "ONE"), ("fast", "2"), ("slow", "3"), ("quantity", "100")],
        "
        INIT       => subscribe 1
        PREFEED
        START
        RUN
        tick 1 9 11
        tick 1 8 10
        tick 1 7 9
        tick 1 8 10
        tick 1 12 14 => buy 100 of 1
        tick 1 14 16
        tick 1 5 7   => sell 200 of 1
        tick 1 5 7
        tick 2 50 51
        EXIT
        ",
    );
}

#[test]
fn bars_move_the_averages_where_bars_are_chosen() {
    check(
        "moving-average-cross",
        &[("security", "1"), ("fast", "2"), ("slow", "3"), ("quantity", "5"), ("prices", "MIN_1")],
        "
        INIT       => subscribe 1
        PREFEED
        START
        RUN
        bar 1 10 10 10
        bar 1 9 9 9
        bar 1 8 8 8
        tick 1 90 91
        bar 1 20 20 20 => buy 5 of 1
        bar 1 1 1 1 => sell 10 of 1
        ",
    );
}

/// The three falling quotes of the first test came before trading began: the jump is the first tick that it gets, and
/// enough.
#[test]
fn ticks_of_the_past_warm_the_averages_up() {
    let settings = [("security", "ONE"), ("fast", "2"), ("slow", "3"), ("quantity", "100")];
    let written: BTreeMap<_, _> = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let mut market =
        Market::new(runner(samples::registry().build("moving-average-cross", &written, &reference()).unwrap()));
    let mut history = PriceHistory::default();
    let quotes = [("9", "11"), ("8", "10"), ("7", "9"), ("8", "10")];
    history.insert_ticks(SecurityId(1), quotes.map(|(bid, ask)| tick(Timestamp(0), "1", bid, ask)).into());
    for phase in [StrategyPhase::Init, StrategyPhase::Prefeed, StrategyPhase::Start, StrategyPhase::Run] {
        market.runner.enter_phase(phase, Timestamp(0), &history);
    }
    let wishes: Vec<_> =
        market.runner.price_history_requests().iter().map(|request| (request.security, request.count)).collect();
    assert_eq!(wishes, [(SecurityId(1), 9)]);
    market.obey();
    let event = Event::Tick(tick(Timestamp(1), "1", "12", "14").into());
    market.runner.on_published(&PublishedEvent { sequence: 1, at: Timestamp(1), event });
    market.obey();
    assert_eq!(market.said, ["subscribe 1", "buy 100 of 1"]);
}
