//! Adapter thread. The tests wait for events; none measures time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::JoinHandle;

use adapters::simulated::Settings;
use adapters::{Adapter, Backoff, Clock, Doors, Simulated, spawn};
use bus::Outlets;
use bus::inbox::Lanes;
use crossbeam_channel::{Sender, bounded};
use domain::command::MarketData;
use domain::report::{Said, SessionState};
use domain::{Instruction, OrderId, SecurityId};
use venue_sim::{Activity, VenueConfig};

use crate::desk::{adapter_name, order};
use crate::market::START;
use crate::puppet::{Puppet, picture, profile};
use crate::world::settings;

/// An adapter on its thread, with the clock given.
struct Running {
    lanes: Lanes,
    outlets: Outlets,
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

fn run(adapter: impl Adapter + 'static, clock: Clock) -> Running {
    let (inbox, lanes) = bus::inbox::inbox();
    let mut outlets = Outlets::default();
    let outlet = outlets.open(adapter_name());
    let (stop, stopped) = bounded(1);
    outlets.hand_over(&adapter_name(), Instruction::LogOn).unwrap();
    let doors = Doors { inbox, outlet, clock, stop: stopped };
    let thread = spawn(adapter_name(), adapter, doors, Backoff::default()).unwrap();
    Running { lanes, outlets, stop, thread }
}

impl Running {
    fn hear(&self, count: usize) -> Vec<Said> {
        self.lanes.reports.iter().take(count).map(|report| report.said).collect()
    }

    fn instruct(&mut self, instruction: Instruction) {
        self.outlets.hand_over(&adapter_name(), instruction).unwrap();
    }
}

/// A clock that stands still.
fn noon() -> Clock {
    Arc::new(|| START)
}

/// A clock that advances by a tenth of a second whenever it is read.
fn quick_clock() -> Clock {
    let reads = AtomicI64::new(0);
    Arc::new(move || START.plus_millis(100 * reads.fetch_add(1, Ordering::Relaxed)))
}

fn submit(id: u64) -> Instruction {
    Instruction::Submit(Arc::new(order(id, "10")))
}

fn log_on() -> [Said; 5] {
    [
        Said::Attached(profile()),
        Said::Session(SessionState::Connected),
        Said::Picture(picture()),
        Said::Session(SessionState::LoggedOn),
        Said::Session(SessionState::Subscribed),
    ]
}

#[test]
fn an_adapter_serves_until_it_is_stopped() {
    let puppet = Puppet::new();
    let mut running = run(puppet.clone(), noon());
    assert_eq!(running.hear(5), log_on());
    let said = Said::Canceled { order: OrderId(9), reason: None };
    puppet.strings().says = vec![said.clone()];
    puppet.ring();
    assert_eq!(running.hear(1), [said]);
    running.instruct(submit(1));
    running.instruct(submit(2));
    running.stop.send(()).unwrap();
    assert_eq!(running.hear(1), [Said::Session(SessionState::Disconnected)]);
    running.thread.join().unwrap();
    assert_eq!(puppet.asked(), ["connect", "submit 1", "submit 2", "disconnect"]);
}

#[test]
fn a_pause_before_the_next_try_does_not_delay_the_stop() {
    let puppet = Puppet::new();
    puppet.strings().unreachable = Some("no route");
    // The clock stands still, so the pause would never end.
    let running = run(puppet.clone(), noon());
    while puppet.asked().is_empty() {
        std::thread::yield_now();
    }
    drop(running.stop);
    running.thread.join().unwrap();
    assert_eq!(puppet.asked(), [""; 0]);
}

#[test]
fn an_adapter_whose_engine_has_stopped_logs_off() {
    let puppet = Puppet::new();
    let running = run(puppet.clone(), noon());
    assert_eq!(running.hear(5), log_on());
    drop(running.outlets);
    running.thread.join().unwrap();
    assert_eq!(puppet.asked(), ["connect", "disconnect"]);
}

#[test]
fn a_venue_with_participants_moves_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let Settings { ledger, venue } = settings(&folder);
    let venue = VenueConfig { activity: Activity::Busy, ..venue };
    let simulated = Simulated::open(Settings { ledger, venue }, START).unwrap();
    let mut running = run(simulated, quick_clock());
    running.instruct(Instruction::Subscribe(SecurityId(7)));
    let mut quotes: Vec<MarketData> = Vec::new();
    while quotes.len() < 20 {
        running.lanes.wake.recv().unwrap();
        quotes.extend(running.lanes.take_prices());
        quotes.dedup();
    }
    drop(running.stop);
    running.thread.join().unwrap();
}
