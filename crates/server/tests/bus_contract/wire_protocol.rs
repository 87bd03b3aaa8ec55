//! What only a network needs: both ends of one build, a command that is sent twice, a command that comes too late.

use domain::command::{CancelOrder, GenericEvent, ReferenceChange, StrategyPhase};
use domain::report::SessionState;
use domain::risk::{RiskScope, TradingState};
use domain::{AdapterName, Command, EventClass, Timestamp};
use runtime::strategies::protocol::{Resume, ServerMessage, StrategyRequestBody};

use crate::harness::BusHarness;
use crate::raw_client::{RawStrategyClient, hello, refused, request_command};
use crate::transports::OpenBroker;

#[test]
fn a_strategy_of_another_build_is_refused() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut writer = RawStrategyClient::at(&broker);
    writer.write(StrategyRequestBody::Hello { build: "0.0.1/1".into(), resume: None, takes_over: false });
    let ServerMessage::HelloRejected { code, text } = writer.answer() else { panic!("it was let in") };
    assert_eq!(&*code, "build-mismatch");
    assert!(text.contains("the strategy is build 0.0.1/1: build both alike"), "{text}");
}

#[test]
fn who_did_not_say_hello_is_refused() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut writer = RawStrategyClient::at(&broker);
    writer.write(StrategyRequestBody::Heartbeat { heard: 0 });
    assert_eq!(refused(&writer.answer()), Some("not-attached".into()));
}

#[test]
fn a_command_that_is_sent_twice_takes_effect_once_and_is_answered_twice() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut writer = RawStrategyClient::at(&broker);
    writer.hello();
    let mut said = server.bus.feed.subscribe(&[EventClass::Generic], 8);
    let later = (server.clock)().plus_seconds(60);
    for _ in 0..2 {
        writer.write(request_command(1, later));
        assert_eq!(refused(&writer.answer()), None);
    }
    writer.write(request_command(2, later));
    assert_eq!(refused(&writer.answer()), None);
    assert_eq!(std::iter::from_fn(|| said.try_recv()).count(), 2);
}

#[test]
fn a_command_after_its_deadline_has_no_effect() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut writer = RawStrategyClient::at(&broker);
    writer.hello();
    let mut said = server.bus.feed.subscribe(&[EventClass::Generic], 8);
    writer.write(request_command(1, Timestamp(1)));
    assert_eq!(refused(&writer.answer()), Some("deadline-passed".into()));
    assert!(said.try_recv().is_none());
}

#[test]
fn a_strategy_cannot_speak_for_another() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut writer = RawStrategyClient::at(&broker);
    writer.hello();
    let event = GenericEvent { strategy: crate::harness::OTHER, name: "forged".into(), body: "{}".into() };
    let later = (server.clock)().plus_seconds(60);
    // Of the second it does not say that the order is its own.
    let cancel = CancelOrder::new("theirs".parse().unwrap());
    for (key, command) in [(1, Command::Publish(event)), (2, Command::Cancel(cancel))] {
        writer.write(StrategyRequestBody::Command { key, expires: later, command: Box::new(command) });
        assert_eq!(refused(&writer.answer()), Some("foreign-strategy".into()));
    }
}

#[test]
fn a_lost_or_late_command_is_recorded_in_the_delivery_log() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut writer = RawStrategyClient::at(&broker);
    writer.hello();
    let later = (server.clock)().plus_seconds(60);
    // The second comes too late; the third and the fourth were given up on the way.
    for (key, expires) in [(1, later), (2, Timestamp(1)), (5, later)] {
        writer.write(request_command(key, expires));
        writer.answer();
    }
    assert_eq!(server.delivery_records.load(std::sync::atomic::Ordering::SeqCst), 3);
}

#[test]
fn a_process_writes_only_its_own_delivery_log() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut writer = RawStrategyClient::at(&broker);
    writer.hello();
    writer.write(StrategyRequestBody::DeliveryLog { key: 1, leaf: b"not mine".to_vec() });
    assert_eq!(refused(&writer.answer()), Some("foreign-strategy".into()));
    assert_eq!(server.delivery_records.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[test]
fn a_second_process_is_refused_while_the_first_is_well_and_hears_nothing_of_what_is_for_it() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut first = RawStrategyClient::at(&broker);
    first.hello();
    let mut second = RawStrategyClient::living_at(&broker, "elsewhere");
    second.write(hello(false));
    assert_eq!(refused(&second.answer()), Some("strategy-lives".into()));
    first.write(request_command(1, (server.clock)().plus_seconds(60)));
    assert_eq!(refused(&first.answer()), None);
    second.write(hello(true));
    assert!(matches!(second.answer(), ServerMessage::Welcome { is_resumed: false, .. }));
}

#[test]
fn one_that_is_cut_off_in_a_phase_comes_back_and_is_told_of_the_phase_again() {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut before = RawStrategyClient::at(&broker);
    before.write(hello(false));
    let ServerMessage::Welcome { run, .. } = before.answer() else { panic!("it was not let in") };
    let init = |writer: &mut RawStrategyClient| {
        writer.until(|message| matches!(message, ServerMessage::Enter { phase: StrategyPhase::Init, .. }))
    };
    init(&mut before);
    drop(before);
    let mut after = resumed(&broker, run);
    assert!(matches!(after.answer(), ServerMessage::Welcome { is_resumed: true, .. }));
    init(&mut after);
}

/// The process of a run that lost its connection, and has asked to go on.
fn resumed(broker: &OpenBroker, run: u64) -> RawStrategyClient {
    let mut after = RawStrategyClient::at(broker);
    after.epoch = 2;
    let StrategyRequestBody::Hello { build, takes_over, .. } = hello(false) else { panic!("a hello") };
    after.write(StrategyRequestBody::Hello { build, resume: Some(Resume { run, last_sequence: 0 }), takes_over });
    after
}

/// The welcome was written before the change, and history has events of orders alone.
fn comes_with_the_replay(class: EventClass, change: Command) {
    let server = BusHarness::open();
    let broker = OpenBroker::before(&server);
    let mut other = RawStrategyClient::of(&broker, "OTHER");
    other.hello();
    let mut before = RawStrategyClient::at(&broker);
    before.write(hello(false));
    let ServerMessage::Welcome { run, .. } = before.answer() else { panic!("it was not let in") };
    drop(before);
    let history = server.hold_history();
    let mut after = resumed(&broker, run);
    assert!(matches!(after.answer(), ServerMessage::Welcome { is_resumed: true, .. }));
    let changed = server.command(change).sequence;
    let is_change = |message: &ServerMessage| matches!(message, ServerMessage::Event { sequence, class: told, .. } if (*sequence, *told) == (changed, class as u8));
    // One that awaits nothing has it at once, so the server has it for both.
    other.until(is_change);
    drop(history);
    after.until(is_change);
}

#[test]
fn a_change_of_reference_data_while_a_process_awaits_its_replay_comes_with_it() {
    let change = ReferenceChange::Security(samples::stock(2, "TWO"));
    comes_with_the_replay(EventClass::Reference, Command::Reference(vec![change]));
}

#[test]
fn a_halt_while_a_process_awaits_its_replay_comes_with_it() {
    let (scope, state) = (RiskScope::Platform, TradingState::Halted);
    comes_with_the_replay(EventClass::TradingState, Command::SetTradingState { scope, state, reason: None });
}

#[test]
fn a_change_of_a_session_while_a_process_awaits_its_replay_comes_with_it() {
    let (adapter, state) = (AdapterName::new("SIM", None), SessionState::LoggedOn);
    comes_with_the_replay(EventClass::Session, Command::AnnounceSession { adapter, state });
}
