//! A run goes on at the next server: the one that was started again, or the member of a cluster that leads then.

use std::sync::Arc;
use std::time::Duration;

use bus::EventReceiver;
use domain::command::{CancelOrder, RestatedFields, StrategyPhase};
use domain::{Answer, Command, EventClass, Query};
use runtime::strategies::protocol::{Resume, ServerMessage, StrategyRequestBody};
use runtime::strategies::{HostSettings, OnFailure, StrategyHost};
use scenarios::wait::wait_for;

use crate::harness::{BusHarness, STRATEGY};
use crate::raw_client::{RawStrategyClient, hello, refused, request_command};
use crate::transports::OpenBroker;

/// A server whose journal has what every server before it had.
fn next_server(server: &mut BusHarness, logs_deliveries: bool) {
    let settings = HostSettings {
        instances: vec![],
        hang_after: Duration::from_secs(600),
        reconnect_timeout: Duration::from_secs(600),
        on_failure: OnFailure::Cancel,
        orders_per_second: 100,
        logs_deliveries,
        // Nothing is stored in a folder that does not exist.
        bars: Arc::new(storage::BarFiles::open("/nonexistent".into(), 0)),
    };
    let (bus, clock) = (server.bus.clone(), server.clock.clone());
    let host = StrategyHost::open(bus, clock, strategy::StrategyRegistry::default(), settings).unwrap();
    std::mem::replace(&mut server.host, host).close_and_leave_processes();
    server.host.start_all();
}

fn server() -> BusHarness {
    let mut server = BusHarness::open();
    next_server(&mut server, false);
    server
}

/// The process of a run that has come to this phase.
fn process_in(broker: &OpenBroker, last: StrategyPhase) -> (RawStrategyClient, u64) {
    let mut process = RawStrategyClient::at(broker);
    process.write(hello(false));
    let ServerMessage::Welcome { run, is_resumed: false, .. } = process.answer() else { panic!("it was not let in") };
    for phase in StrategyPhase::ALL.into_iter().take_while(|phase| *phase <= last) {
        process.until(|message| matches!(message, ServerMessage::Enter { phase: told, .. } if *told == phase));
        if phase != last {
            process.write(StrategyRequestBody::Entered { phase, wishes: vec![] });
        }
    }
    (process, run)
}

/// It comes back to the next server, and asks to go on.
fn again(broker: &OpenBroker, run: u64, last_sequence: u64) -> (RawStrategyClient, ServerMessage) {
    let mut process = RawStrategyClient::at(broker);
    process.epoch = 2;
    let StrategyRequestBody::Hello { build, takes_over, .. } = hello(false) else { panic!("a hello") };
    process.write(StrategyRequestBody::Hello { build, resume: Some(Resume { run, last_sequence }), takes_over });
    let welcome = process.answer();
    (process, welcome)
}

fn published(said: &mut EventReceiver) -> usize {
    std::iter::from_fn(|| said.try_recv()).count()
}

fn cancel(key: u64, expires: domain::Timestamp) -> StrategyRequestBody {
    let restated = RestatedFields { strategy: Some(STRATEGY), ..RestatedFields::default() };
    let cancel = CancelOrder { restated, ..CancelOrder::new("ONE-1".parse().unwrap()) };
    StrategyRequestBody::Command { key, expires, command: Box::new(Command::Cancel(cancel)) }
}

/// The phase of the strategy, and why it was stopped.
fn phase(server: &BusHarness) -> (StrategyPhase, Option<String>) {
    let reply = server.bus.inbox.query(Query::Phases).unwrap().recv_blocking().unwrap();
    let Ok(Answer::Phases(phases)) = reply.outcome else { panic!("phases") };
    let (_, phase, failure) = phases.into_iter().find(|(strategy, ..)| *strategy == STRATEGY).unwrap();
    (phase, failure.map(|failure| failure.text.to_string()))
}

#[test]
fn a_run_goes_on_and_requests_that_are_sent_again_are_answered_as_before_and_take_effect_once() {
    let mut server = server();
    let broker = OpenBroker::before(&server);
    let (mut before, run) = process_in(&broker, StrategyPhase::Run);
    let mut said = server.bus.feed.subscribe(&[EventClass::Generic], 8);
    let later = (server.clock)().plus_seconds(60);
    let requests = [request_command(1, later), cancel(2, later), request_command(3, later)];
    let answers = requests.clone().map(|request| {
        before.write(request);
        refused(&before.answer())
    });
    assert_eq!((answers.clone(), published(&mut said)), ([None, Some("unknown-order".into()), None], 2));

    next_server(&mut server, false);
    let broker = OpenBroker::before(&server);
    let (mut after, welcome) = again(&broker, run, 0);
    assert!(
        matches!(welcome, ServerMessage::Welcome { is_resumed: true, run: told, .. } if told == run),
        "{welcome:?}"
    );
    // It may not have heard of it.
    after.until(|message| matches!(message, ServerMessage::Enter { phase: StrategyPhase::Run, .. }));
    // The last ones have come too late: of what was carried out before, the deadline says nothing.
    let too_late = domain::Timestamp(1);
    let requests =
        [request_command(1, too_late), cancel(2, later), request_command(3, too_late), request_command(4, later)];
    let again = requests.map(|request| {
        after.write(request);
        refused(&after.answer())
    });
    assert_eq!(again[..3], answers);
    assert_eq!((again[3].clone(), published(&mut said)), (None, 1));
}

#[test]
fn what_happened_between_two_servers_is_told_once_by_the_second() {
    let mut server = server();
    let broker = OpenBroker::before(&server);
    let (before, run) = process_in(&broker, StrategyPhase::Run);
    let heard = server.credit(STRATEGY, 1);
    drop(before);
    let missed = server.credit(STRATEGY, 2);
    next_server(&mut server, false);
    let broker = OpenBroker::before(&server);
    let (mut after, _) = again(&broker, run, heard + 1);
    let new = server.credit(STRATEGY, 3);
    let mut bookings = vec![];
    while bookings.last() != Some(&new) {
        let booking = after.until(
            |message| matches!(message, ServerMessage::Event { class, .. } if *class == EventClass::Transaction as u8),
        );
        let ServerMessage::Event { sequence, .. } = booking else { panic!("a booking") };
        bookings.push(sequence);
    }
    assert_eq!(bookings, [missed, new]);
}

/// Whether the run goes on; else with the reason that the platform keeps.
fn goes_on(last: StrategyPhase, ask: impl Fn(u64) -> u64, logs_deliveries: bool) -> (bool, bool) {
    let mut server = server();
    let broker = OpenBroker::before(&server);
    let (_before, run) = process_in(&broker, last);
    next_server(&mut server, logs_deliveries);
    let mut alarms = server.bus.feed.subscribe(&[EventClass::Alarm], 8);
    let (_after, welcome) = again(&OpenBroker::before(&server), ask(run), 0);
    let ServerMessage::Welcome { is_resumed, run: now, .. } = welcome else { panic!("{welcome:?}") };
    assert_eq!(is_resumed, now == run);
    let has_alarm = !is_resumed && wait_for("the alarm", || alarms.try_recv()).event.class() == EventClass::Alarm;
    (is_resumed, has_alarm)
}

#[test]
fn a_run_that_cannot_go_on_ends_with_an_alarm_and_a_new_one_begins() {
    let cases = [
        goes_on(StrategyPhase::Run, |run| run, false),
        goes_on(StrategyPhase::Start, |run| run, false),
        goes_on(StrategyPhase::Run, |run| run + 1, false),
        goes_on(StrategyPhase::Run, |_| Resume::NO_RUN, false),
        // What was delivered is journalled, and the last of it may be lost.
        goes_on(StrategyPhase::Run, |run| run, true),
    ];
    assert_eq!(cases, [(true, false), (false, true), (false, true), (false, true), (false, true)]);
}

#[test]
fn a_run_that_has_left_does_not_go_on() {
    let mut server = server();
    let broker = OpenBroker::before(&server);
    let (mut before, run) = process_in(&broker, StrategyPhase::Run);
    before.write(StrategyRequestBody::Exit);
    before.until(|message| matches!(message, ServerMessage::Enter { phase: StrategyPhase::Exit, .. }));
    before.write(StrategyRequestBody::Entered { phase: StrategyPhase::Exit, wishes: vec![] });
    next_server(&mut server, false);
    let (_after, welcome) = again(&OpenBroker::before(&server), run, 0);
    assert!(matches!(welcome, ServerMessage::Welcome { is_resumed: false, .. }), "{welcome:?}");
    wait_for("the new run", || (phase(&server) == (StrategyPhase::Init, None)).then_some(()));
}
