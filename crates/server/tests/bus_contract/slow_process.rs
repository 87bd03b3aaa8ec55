//! One that takes nothing, or goes through no phase, or speaks late: the others go on.

use domain::command::StrategyPhase;
use domain::{Answer, Query, StrategyId};
use runtime::strategies::protocol::{ServerMessage, StrategyRequestBody};
use runtime::strategies::{PhaseCompleted, RunId, RunnerEvent, RunnerExit};
use scenarios::wait::wait_for;

use crate::harness::{BusHarness, NAME, OTHER, STRATEGY};
use crate::raw_client::{RawStrategyClient, hello, refused, request_command_as};
use crate::transports::OpenBroker;

/// More than the broker's queue takes, and more than may wait for a strategy: each booking is several events.
const BOOKINGS: i64 = 9_000;

fn phase_of(server: &BusHarness, strategy: StrategyId) -> Option<StrategyPhase> {
    let reply = server.bus.inbox.query(Query::Phases).unwrap().recv_blocking().unwrap();
    let Ok(Answer::Phases(phases)) = reply.outcome else { panic!("phases") };
    phases.into_iter().find(|(known, ..)| *known == strategy).map(|(_, phase, _)| phase)
}

fn until_phase(server: &BusHarness, strategy: StrategyId, phase: StrategyPhase) {
    wait_for("the phase", || (phase_of(server, strategy) == Some(phase)).then_some(()));
}

#[test]
fn one_that_takes_nothing_is_lost_alone() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut stuck = RawStrategyClient::taking_nothing(&broker, NAME, "nowhere");
    stuck.write(hello(false));
    until_phase(&server, STRATEGY, StrategyPhase::Init);
    let mut other = RawStrategyClient::of(&broker, "OTHER");
    other.hello();
    for dollars in 1..=BOOKINGS {
        server.credit(STRATEGY, dollars);
        server.quote(dollars);
    }
    other.write(request_command_as(OTHER, 1, (server.clock)().plus_seconds(60)));
    assert_eq!(refused(&other.answer()), None);
    until_phase(&server, STRATEGY, StrategyPhase::Exit);
    assert_eq!(phase_of(&server, OTHER), Some(StrategyPhase::Init));
}

/// It was let in later and never says that it has gone through INIT; the other one does not wait for it.
#[test]
fn one_that_stays_in_a_phase_holds_nobody_up() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut other = RawStrategyClient::of(&broker, "OTHER");
    other.hello();
    let mut stuck = RawStrategyClient::at(&broker);
    stuck.hello();
    until_phase(&server, STRATEGY, StrategyPhase::Init);
    for (through, next) in [
        (StrategyPhase::Init, StrategyPhase::Prefeed),
        (StrategyPhase::Prefeed, StrategyPhase::Start),
        (StrategyPhase::Start, StrategyPhase::Run),
    ] {
        other.write(StrategyRequestBody::Entered { phase: through, wishes: vec![] });
        other.until(|message| matches!(message, ServerMessage::Enter { phase, .. } if *phase == next));
    }
    assert_eq!(
        (phase_of(&server, STRATEGY), phase_of(&server, OTHER)),
        (Some(StrategyPhase::Init), Some(StrategyPhase::Run))
    );
}

#[test]
fn a_late_word_of_an_earlier_life_says_nothing_of_the_next() {
    let server = BusHarness::open();
    let controls = server.host.handle();
    let first = controls.attach(NAME, None, false).unwrap();
    let second = controls.attach(NAME, None, true).unwrap();
    let life = |run| RunId { strategy: STRATEGY, run };
    first.events.send(RunnerEvent::Ended(life(first.identity.run), RunnerExit::Disconnected("late".into()))).unwrap();
    let through = PhaseCompleted { phase: StrategyPhase::Init, history_requests: vec![] };
    second.events.send(RunnerEvent::Entered(life(second.identity.run), through)).unwrap();
    until_phase(&server, STRATEGY, StrategyPhase::Prefeed);
}
