//! The venue's machine: the lab on a disk of its own, and the network between it and the platform. It runs on while the platform does not, and
//! is killed and started by itself.

use std::path::{Path, PathBuf};

use domain::SeededRng;
use fix::{FixDecoder, Framer};
use serde_json::Value;
use venue_lab::{LabClock, LabConfig, SteppedLab};

use super::lab_counts::{LabCounts, StruckFaults, add_struck, struck_by};
use super::lab_listener::LabListener;
use super::lab_setup::{ROUNDS_PER_STEP, lab_config};
use super::lost_trades::{LostTrades, first_unconfirmed};
use crate::clock::SimulatedClock;
use crate::machine::Machine;
use crate::market::Market;
use crate::network::{ClientInput, ClientNetwork, NetworkEnd, SteppedRuntime};
use crate::schedule::{ConnectionFault, SECOND};

/// Of a Reject (3): the number that it refuses, and why.
const REF_SEQ_NUM: i32 = 45;
const REJECT_REASON: i32 = 373;
const INACCURATE_TIME: u64 = 10;
/// Timers of its sessions are looked at so often.
const IDLE: i64 = 250_000_000;

pub(crate) struct LabMachine {
    pub(crate) venue: usize,
    config: LabConfig,
    folder: PathBuf,
    clock: SimulatedClock,
    /// The venue's time at the beginning.
    opened: i64,
    pub(crate) listener: LabListener,
    network: ClientNetwork,
    /// The lab's end of the connection.
    connection: Option<NetworkEnd>,
    /// None while it is down.
    running: Option<LabOnRuntime>,
    start_at: i64,
    /// As it was when it was killed.
    ledger_before: Option<Value>,
    turn_at: i64,
    connections: u64,
    /// Of the labs that were killed.
    struck_before: StruckFaults,
    lost: LostTrades,
    /// What the platform sends on this connection.
    heard: Framer,
    /// Of the platform's session: which reports its journal has.
    numbers: PathBuf,
}

struct LabOnRuntime {
    lab: SteppedLab,
    runtime: SteppedRuntime,
}

impl LabMachine {
    /// Where a venue of the run is the lab; its disk is beside that of the platform.
    pub(crate) fn of_run(machine: &Machine, beside: &Path) -> Result<Option<Self>, String> {
        let Some(venue) = machine.traits.lab_venue else { return Ok(None) };
        let numbers = machine.folder.join("venues").join(format!("{}.numbers", machine.market.adapter(venue)));
        let made = Self::new((venue, machine.seed), &machine.market, (&beside.join("lab"), &machine.clock));
        let mut made = Self { listener: machine.lab_listener.clone(), numbers, ..made? };
        made.start()?;
        Ok(Some(made))
    }

    fn new(
        (venue, seed): (usize, u64),
        market: &Market,
        (folder, clock): (&Path, &SimulatedClock),
    ) -> Result<Self, String> {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        Ok(Self {
            venue,
            config: lab_config(market, seed)?,
            folder: folder.to_owned(),
            clock: clock.clone(),
            opened: clock.wall(),
            listener: LabListener::default(),
            network: ClientNetwork::new(SeededRng::new(seed, 981)),
            connection: None,
            running: None,
            start_at: i64::MAX,
            ledger_before: None,
            turn_at: 0,
            connections: 0,
            struck_before: StruckFaults::new(),
            lost: LostTrades::default(),
            heard: Framer::new(),
            numbers: PathBuf::new(),
        })
    }

    /// The exchange goes by a clock that nobody sets; its messages are stamped by one that is right where the platform's is.
    fn start(&mut self) -> Result<(), String> {
        let runtime = SteppedRuntime::new(self.clock.steady(), ROUNDS_PER_STEP)?;
        let (steady, wall, opened) = (self.clock.clone(), self.clock.clone(), self.opened);
        let clock = LabClock::new(move || opened + steady.steady()).with_wall(move || wall.wall());
        let opened = SteppedLab::open(&self.config, &self.folder, runtime.shared().handle(), clock);
        let lab = opened.map_err(|error| error.to_string())?;
        self.start_at = i64::MAX;
        self.listener.set_down(false);
        if let Some(before) = self.ledger_before.take()
            && before != lab.ledger()
        {
            return Err("the lab's ledger is another one after a restart".to_owned());
        }
        self.running = Some(LabOnRuntime { lab, runtime });
        Ok(())
    }

    /// The lab is killed, and comes back after a while; where it is down that is no news.
    pub(crate) fn kill(&mut self, now: i64, seconds: i64) {
        let Some(running) = self.running.take() else { return };
        let ledger = running.lab.ledger();
        self.lost.on_kill(&running.lab, &ledger);
        self.ledger_before = Some(ledger);
        add_struck(&mut self.struck_before, &struck_by(&running.lab.transcript()));
        self.start_at = now + seconds * SECOND;
        self.listener.set_down(true);
        self.network.close();
        self.connection = None;
    }

    /// Whether the platform will never be told of this execution by itself.
    pub(crate) fn has_lost(&self, exec_id: &str) -> bool {
        self.lost.has(exec_id)
    }

    /// Orders, trades and balances, as they are or were when it was killed.
    pub(crate) fn ledger(&self) -> Value {
        let running = self.running.as_ref().map(|running| running.lab.ledger());
        running.or_else(|| self.ledger_before.clone()).unwrap_or_default()
    }

    pub(crate) fn counts(&self, inferred: u64) -> LabCounts {
        let (connections, struck) = (self.connections, self.struck());
        LabCounts { runs: 1, connections, struck, inferred, ..LabCounts::default() }.of_ledger(&self.ledger())
    }

    /// Faults that met a request or a report.
    pub(crate) fn struck(&self) -> StruckFaults {
        let mut struck = self.struck_before.clone();
        self.running.iter().for_each(|running| add_struck(&mut struck, &struck_by(&running.lab.transcript())));
        struck
    }

    pub(crate) fn set_line_fault(&mut self, fault: ConnectionFault, until: i64) {
        self.network.set_fault(fault, until);
    }

    /// Where it is down nobody is there to do wrong.
    pub(crate) fn arm(&self, fault: &str, seconds: Option<u32>) -> Result<(), String> {
        self.running.as_ref().map_or(Ok(()), |running| running.lab.arm(fault, seconds))
    }

    /// Nothing goes wrong from now on, and it is there.
    pub(crate) fn heal(&mut self, now: i64) {
        self.network.heal();
        match &self.running {
            Some(running) => running.lab.disarm_all(),
            None => self.start_at = now,
        }
    }

    pub(crate) fn end_of_process(&mut self, now: i64, has_power: bool) {
        // A call that the process made and nobody took is gone with it.
        self.listener.accept();
        self.network.end_of_process(now, has_power);
    }

    pub(crate) fn wake(&mut self, at: i64) {
        self.turn_at = self.turn_at.min(at);
    }

    pub(crate) fn due(&self) -> i64 {
        self.turn_at.min(self.network.next_due()).min(self.start_at)
    }

    /// Bytes arrive at both ends.
    pub(crate) fn deliver(&mut self, now: i64) -> Result<(), String> {
        if now >= self.start_at {
            self.start()?;
        }
        self.turn_at = now + IDLE;
        self.network.deliver_to_platform(now);
        for input in self.network.receive(now) {
            match input {
                ClientInput::Bytes(bytes) => {
                    self.hear(&bytes);
                    self.connection.iter().for_each(|connection| connection.deliver(&bytes));
                }
                ClientInput::Closed => self.connection.take().iter().for_each(NetworkEnd::end),
            }
        }
        Ok(())
    }

    /// A clock was set while a message of the lab was under way: the platform refuses it for its SendingTime (52), and counts its number.
    fn hear(&mut self, bytes: &[u8]) {
        self.heard.buffer().extend_from_slice(bytes);
        let mut decoder = FixDecoder::new();
        while let Ok(Some(frame)) = self.heard.next_frame() {
            let Ok(message) = decoder.decode(frame) else { continue };
            let is_refusal = message.msg_type() == b"3" && message.number(REJECT_REASON) == Some(INACCURATE_TIME);
            if let (true, Some(number), Some(running)) = (is_refusal, message.number(REF_SEQ_NUM), &self.running) {
                self.lost.on_refused(running.lab.reported_trades(), number);
            }
        }
    }

    /// The platform has had its turn: its calls are taken, and what it wrote is under way. The lab works, and what it wrote is under way.
    pub(crate) fn step(&mut self, now: i64) -> Result<(), String> {
        self.network.collect_from_platform(now);
        self.accept();
        let Some(LabOnRuntime { lab, runtime }) = &mut self.running else { return Ok(()) };
        runtime.step_if_due(now);
        lab.step().map_err(|error| error.to_string())?;
        runtime.step_if_due(now);
        self.lost.on_reset(lab.take_dropped_trades(), || first_unconfirmed(&self.numbers));
        let due = lab.due_nanos().map_or(i64::MAX, |due| due - self.opened);
        self.turn_at = self.turn_at.min(due.max(now + 1));
        if let Some(connection) = &self.connection {
            let written = connection.take_written();
            if !written.is_empty() {
                self.network.send(now, written);
            }
            if connection.is_closed() {
                self.connection = None;
                self.network.close_behind(now);
            }
        }
        Ok(())
    }

    fn accept(&mut self) {
        let (Some(call), Some(running)) = (self.listener.accept(), &self.running) else { return };
        // The platform has left the one before; the lab is told, unless nothing arrives there.
        if let Some(before) = self.connection.take().filter(|_| !self.network.is_dead()) {
            before.end();
        }
        let end = NetworkEnd::default();
        self.heard = Framer::new();
        if running.lab.connect(Box::new(end.platform_end())) {
            self.connections += 1;
            self.network.adopt(call);
            self.connection = Some(end);
        }
    }
}
