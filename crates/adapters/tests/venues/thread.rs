//! Adapter thread. The tests wait for events; none measures time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::JoinHandle;

use adapters::simulated::SimulatedVenueSettings;
use adapters::{Adapter, AdapterClock, AdapterIo, OverlapRecord, SimulatedAdapter, VenueBackoff, spawn};
use bus::InstructionRouter;
use bus::inbox::InboxReceiver;
use crossbeam_channel::{Sender, bounded};
use domain::command::MarketData;
use domain::report::{ReportKind, SessionState, VenueSnapshot};
use domain::{Instruction, OrderId, SecurityId};
use venue_sim::{ParticipantActivity, VenueConfig};

use crate::fixture::{adapter_name, order};
use crate::harness::settings;
use crate::market::START;
use crate::scripted_adapter::{ScriptedAdapter, capabilities, snapshot};

/// An adapter on its thread, with the clock given.
struct ThreadFixture {
    lanes: InboxReceiver,
    outlets: InstructionRouter,
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

fn run(adapter: impl Adapter + 'static, clock: AdapterClock) -> ThreadFixture {
    let (inbox, lanes) = bus::inbox::inbox();
    let mut outlets = InstructionRouter::default();
    let outlet = outlets.open(adapter_name());
    let (stop, stopped) = bounded(1);
    outlets.send(&adapter_name(), Instruction::LogOn).unwrap();
    let io = AdapterIo {
        inbox,
        instructions: outlet,
        clock,
        stop: stopped,
        lease: None,
        overlap: OverlapRecord::default(),
        log_on_failed: Arc::default(),
    };
    let thread = spawn(adapter_name(), Box::new(adapter), io, VenueBackoff::default()).unwrap();
    ThreadFixture { lanes, outlets, stop, thread }
}

impl ThreadFixture {
    fn hear(&self, count: usize) -> Vec<ReportKind> {
        self.lanes.reports.iter().take(count).map(|report| report.kind).collect()
    }

    fn instruct(&mut self, instruction: Instruction) {
        self.outlets.send(&adapter_name(), instruction).unwrap();
    }
}

/// A clock that stands still.
fn noon() -> AdapterClock {
    Arc::new(|| START)
}

/// A clock that advances by a tenth of a second whenever it is read.
fn quick_clock() -> AdapterClock {
    let reads = AtomicI64::new(0);
    Arc::new(move || START.plus_millis(100 * reads.fetch_add(1, Ordering::Relaxed)))
}

fn submit(id: u64) -> Instruction {
    Instruction::Submit(Arc::new(order(id, "10")))
}

fn log_on() -> [ReportKind; 5] {
    [
        ReportKind::Attached(capabilities()),
        ReportKind::Session(SessionState::Connected),
        ReportKind::Snapshot(VenueSnapshot { dead_after: Some(START), ..snapshot() }),
        ReportKind::Session(SessionState::LoggedOn),
        ReportKind::Session(SessionState::Subscribed),
    ]
}

#[test]
fn an_adapter_serves_until_it_is_stopped() {
    let puppet = ScriptedAdapter::new();
    let mut running = run(puppet.clone(), noon());
    assert_eq!(running.hear(5), log_on());
    let said = ReportKind::Canceled { order: OrderId(9), reason: None };
    puppet.state().says = vec![said.clone()];
    puppet.wake();
    assert_eq!(running.hear(1), [said]);
    running.instruct(submit(1));
    running.instruct(submit(2));
    running.stop.send(()).unwrap();
    assert_eq!(running.hear(1), [ReportKind::Session(SessionState::Disconnected)]);
    running.thread.join().unwrap();
    assert_eq!(puppet.requests(), ["connect", "submit 1", "submit 2", "disconnect"]);
}

#[test]
fn a_pause_before_the_next_try_does_not_delay_the_stop() {
    let puppet = ScriptedAdapter::new();
    puppet.state().unreachable = Some("no route");
    // The clock stands still, so the pause would never end.
    let running = run(puppet.clone(), noon());
    while puppet.requests().is_empty() {
        std::thread::yield_now();
    }
    drop(running.stop);
    running.thread.join().unwrap();
    assert_eq!(puppet.requests(), [""; 0]);
}

#[test]
fn an_adapter_whose_engine_has_stopped_logs_off() {
    let puppet = ScriptedAdapter::new();
    let running = run(puppet.clone(), noon());
    assert_eq!(running.hear(5), log_on());
    drop(running.outlets);
    running.thread.join().unwrap();
    assert_eq!(puppet.requests(), ["connect", "disconnect"]);
}

#[test]
fn a_venue_with_participants_moves_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let SimulatedVenueSettings { ledger, venue, compact_at_bytes } = settings(&folder);
    let venue = VenueConfig { activity: ParticipantActivity::Busy, ..venue };
    let simulated = SimulatedAdapter::open(SimulatedVenueSettings { ledger, venue, compact_at_bytes }, START).unwrap();
    let mut running = run(simulated, quick_clock());
    running.instruct(Instruction::Subscribe(SecurityId(7)));
    let mut quotes: Vec<MarketData> = Vec::new();
    while quotes.len() < 20 {
        running.lanes.wake.recv().unwrap();
        quotes.extend(running.lanes.drain_prices());
        quotes.dedup();
    }
    drop(running.stop);
    running.thread.join().unwrap();
}
