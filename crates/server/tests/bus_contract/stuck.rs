//! One that takes nothing, or goes through no phase, or speaks late: the others go on.

use domain::command::Phase;
use domain::{Answer, Query, StrategyId};
use runtime::strategies::protocol::{Message, Request};
use runtime::strategies::{Ending, LifeId, Note, Progress};
use scenarios::patience::wait_for;

use crate::desk::{Desk, NAME, OTHER, STRATEGY};
use crate::roads::OpenBroker;
use crate::writer::{Writer, hello, refused, say_as};

/// More than the broker's queue takes, and more than may wait for a strategy: each booking is several events.
const BOOKINGS: i64 = 9_000;

fn phase_of(desk: &Desk, strategy: StrategyId) -> Option<Phase> {
    let reply = desk.bus.inbox.query(Query::Phases).unwrap().reply_blocking().unwrap();
    let Ok(Answer::Phases(phases)) = reply.outcome else { panic!("phases") };
    phases.into_iter().find(|(known, ..)| *known == strategy).map(|(_, phase, _)| phase)
}

fn until_phase(desk: &Desk, strategy: StrategyId, phase: Phase) {
    wait_for("the phase", || (phase_of(desk, strategy) == Some(phase)).then_some(()));
}

#[test]
fn one_that_takes_nothing_is_lost_alone() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut stuck = Writer::taking_nothing(&broker, NAME, "nowhere");
    stuck.write(hello(false));
    until_phase(&desk, STRATEGY, Phase::Init);
    let mut other = Writer::of(&broker, "OTHER");
    other.hello();
    for dollars in 1..=BOOKINGS {
        desk.credit(STRATEGY, dollars);
        desk.quote(dollars);
    }
    other.write(say_as(OTHER, 1, (desk.clock)().plus_seconds(60)));
    assert_eq!(refused(&other.answer()), None);
    until_phase(&desk, STRATEGY, Phase::Exit);
    assert_eq!(phase_of(&desk, OTHER), Some(Phase::Init));
}

/// It was let in later and never says that it has gone through INIT; the other one does not wait for it.
#[test]
fn one_that_stays_in_a_phase_holds_nobody_up() {
    let desk = Desk::open();
    let broker = OpenBroker::before(&desk);
    let mut other = Writer::of(&broker, "OTHER");
    other.hello();
    let mut stuck = Writer::at(&broker);
    stuck.hello();
    until_phase(&desk, STRATEGY, Phase::Init);
    for (through, next) in [(Phase::Init, Phase::Prefeed), (Phase::Prefeed, Phase::Start), (Phase::Start, Phase::Run)] {
        other.write(Request::Entered { phase: through, wishes: vec![] });
        other.until(|message| matches!(message, Message::Enter { phase, .. } if *phase == next));
    }
    assert_eq!((phase_of(&desk, STRATEGY), phase_of(&desk, OTHER)), (Some(Phase::Init), Some(Phase::Run)));
}

#[test]
fn a_late_word_of_an_earlier_life_says_nothing_of_the_next() {
    let desk = Desk::open();
    let controls = desk.host.controls();
    let first = controls.attach(NAME, None, false).unwrap();
    let second = controls.attach(NAME, None, true).unwrap();
    let life = |run| LifeId { strategy: STRATEGY, run };
    first.notes.send(Note::Ended(life(first.who.run), Ending::Lost("late".into()))).unwrap();
    let through = Progress { phase: Phase::Init, wishes: vec![] };
    second.notes.send(Note::Entered(life(second.who.run), through)).unwrap();
    until_phase(&desk, STRATEGY, Phase::Prefeed);
}
