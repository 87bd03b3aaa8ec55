//! A lab without threads, ports and a clock of its own: exchange, ledger and generic FIX 4.4 for a program that lets them run step by step,
//! such as a simulator.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use fix_net::{CallerStream, SessionStream};
use serde_json::Value;
use storage::lock::DataDirLock;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use crate::admin;
use crate::config::LabConfig;
use crate::faults::LabFaults;
use crate::faults::fault_request::FaultRequest;
use crate::fix_face::{self, FixFaceState, FixVersion, ReportedTrade, ReportedTrades};
use crate::lab::{FIX_FOLDER, LEDGER_FILE, LabError, market_indexes};
use crate::lab_clock::LabClock;
use crate::ledger::SpotLedger;
use crate::sequencer::{self, ExchangeThread};
use crate::sessions::Sessions;

const CONNECTIONS_WAITING_MAX: usize = 64;

pub struct SteppedLab {
    exchange: ExchangeThread,
    faults: Arc<LabFaults>,
    reported: ReportedTrades,
    connections: mpsc::Sender<CallerStream>,
    _stop: watch::Sender<bool>,
    _lock: DataDirLock,
}

impl SteppedLab {
    /// Goes on with what the folder has. The tasks of its sessions run on that runtime, and end with it.
    pub fn open(config: &LabConfig, folder: &Path, runtime: &Handle, clock: LabClock) -> Result<Self, LabError> {
        let lock = DataDirLock::acquire(folder).map_err(LabError::Storage)?;
        let path = folder.join(LEDGER_FILE);
        let opened = SpotLedger::open(&path, &config.setup, &config.genesis, clock.micros());
        let (ledger, exchange) = opened.map_err(LabError::Ledger)?;
        let (handle, exchange) = sequencer::by_hand(exchange, ledger, clock.clone());
        let faults = Arc::new(LabFaults::with_clock(clock.clone()));
        let reported = ReportedTrades::default();
        let state = FixFaceState {
            exchange: handle,
            faults: faults.clone(),
            sessions: Arc::new(Sessions::default()),
            markets: market_indexes(config),
            clock,
            reported: Some(reported.clone()),
        };
        let sessions = folder.join(FIX_FOLDER);
        fs::create_dir_all(&sessions).map_err(|error| LabError::Io("make the folder fix".to_owned(), error))?;
        let (connections, waiting) = mpsc::channel(CONNECTIONS_WAITING_MAX);
        let (stop, stopped) = watch::channel(false);
        let _entered = runtime.enter();
        if let Some(face) = config.fix_faces.iter().find(|face| face.version == FixVersion::Fix44) {
            fix_face::serve_streams(face, &state, &sessions, waiting, &stopped).map_err(LabError::Storage)?;
        }
        Ok(Self { exchange, faults, reported, connections, _stop: stop, _lock: lock })
    }

    /// A client connects; false where no more are taken.
    pub fn connect(&self, stream: Box<dyn SessionStream>) -> bool {
        let stream = fix_face::faulty(stream, &self.faults);
        self.connections.try_send((stream, IpAddr::V4(Ipv4Addr::LOCALHOST))).is_ok()
    }

    /// Requests that wait are executed, participants act that are due, and answers leave for their sessions.
    pub fn step(&mut self) -> Result<(), LabError> {
        self.exchange.step().map_err(LabError::Storage)
    }

    /// When its participants act next, in nanoseconds since 1970.
    pub fn due_nanos(&self) -> Option<i64> {
        self.exchange.due_micros().map(|micros| micros.saturating_mul(1_000))
    }

    /// Arms a fault by its name, for so many seconds or for the next matching request or event.
    pub fn arm(&self, fault: &str, seconds: Option<u32>) -> Result<(), String> {
        let fault = fault.to_owned();
        self.faults.arm(&FaultRequest { fault, from: 1, face: None, count: None, seconds, seed: None })
    }

    pub fn disarm_all(&self) {
        self.faults.disarm_all();
    }

    /// The faults that struck so far, a line each.
    pub fn transcript(&self) -> String {
        self.faults.transcript()
    }

    /// Trades that clients were told of and can ask for again, by their sequence numbers.
    pub fn reported_trades(&self) -> Vec<ReportedTrade> {
        self.reported.kept()
    }

    /// Trades that clients were told of and cannot ask for any more, because sequence numbers have begun anew since this was asked last.
    pub fn take_dropped_trades(&self) -> Vec<ReportedTrade> {
        self.reported.take_dropped()
    }

    /// Orders, trades and balances, as the admin port tells them.
    pub fn ledger(&self) -> Value {
        admin::encode_ledger(self.exchange.exchange())
    }
}

#[cfg(test)]
mod tests;
