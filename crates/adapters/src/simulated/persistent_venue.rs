//! Simulated venue with a durable ledger: records are synced before reports leave.

use std::fmt;
use std::path::Path;

use domain::report::VenueSnapshot;
use domain::{OrderId, PlantedBug, SecurityId, Timestamp};
use storage::append_log::AppendLog;
use storage::{FileSystem, StorageError};
use venue_sim::{ConfigError, Faults, ListedSecurity, VenueConfig, VenueOutput, VenueRecord, VenueSimulator};

use crate::venue::ReportSink;

pub(super) struct PersistentVenue {
    venue: VenueSimulator,
    ledger: Box<dyn VenueLedger>,
    /// Records are written at once, but a power cut could still undo them.
    synced: bool,
    /// Outputs that wait until the records before them are synced. They never outlive one turn of the host.
    outputs: Vec<VenueOutput>,
}

/// A record file, as far as the venue needs it.
pub(super) trait VenueLedger: Send {
    fn append(&mut self, record: &[u8]) -> Result<(), StorageError>;

    fn sync(&mut self) -> Result<(), StorageError>;
}

impl VenueLedger for AppendLog {
    fn append(&mut self, record: &[u8]) -> Result<(), StorageError> {
        AppendLog::append(self, record)
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        AppendLog::sync(self)
    }
}

/// Why a simulated venue does not start.
#[derive(Debug)]
pub enum OpenError {
    /// Its settings are wrong.
    Config(ConfigError),
    /// Its ledger cannot be read.
    Ledger(StorageError),
}

/// The highest order number in a venue's ledger; changes nothing, also where the venue runs.
pub fn newest_order(path: &Path) -> Result<Option<OrderId>, StorageError> {
    let mut newest = None;
    let mut visit = |payload: &[u8]| {
        let record: VenueRecord = minicbor::decode(payload).map_err(|error| error.to_string())?;
        newest = newest.max(record.orders().max());
        Ok(())
    };
    AppendLog::read(path, &mut visit)?;
    Ok(newest)
}

impl PersistentVenue {
    pub(super) fn open(
        disk: &dyn FileSystem,
        path: &Path,
        config: VenueConfig,
        at: Timestamp,
    ) -> Result<Self, OpenError> {
        let mut records = Vec::new();
        let mut replay = |payload: &[u8]| {
            records.push(minicbor::decode::<VenueRecord>(payload).map_err(|error| error.to_string())?);
            Ok(())
        };
        let (replayed, ledger) = AppendLog::open_on(disk, path, &mut replay).map_err(OpenError::Ledger)?;
        tracing::info!(venue = %config.name, records = replayed.records, "venue ledger replayed");
        let mut venue = VenueSimulator::new(config, at).map_err(OpenError::Config)?;
        venue.restore(records, at);
        Ok(Self { venue, ledger: Box::new(ledger), synced: true, outputs: Vec::new() })
    }

    /// Runs an action at the venue and writes its records.
    pub(super) fn apply(
        &mut self,
        deed: impl FnOnce(&mut VenueSimulator, &mut Vec<VenueOutput>),
    ) -> Result<(), StorageError> {
        let first = self.outputs.len();
        deed(&mut self.venue, &mut self.outputs);
        for output in &self.outputs[first..] {
            if let VenueOutput::Record(record) = output {
                self.ledger.append(&encode(record))?;
                self.synced = false;
            }
        }
        Ok(())
    }

    /// Continues without a session: the changes are in the next snapshot.
    pub(super) fn catch_up(&mut self, at: Timestamp) -> Result<(), StorageError> {
        let written = self.apply(|venue, out| venue.advance(at, out));
        self.clear_outputs();
        self.venue.start_session();
        written
    }

    /// Continues and delivers all outputs, in the venue's order.
    pub(super) fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), StorageError> {
        self.apply(|venue, out| venue.advance(at, out))?;
        self.sync_ledger()?;
        for output in self.outputs.drain(..) {
            match output {
                VenueOutput::Record(_) => {}
                VenueOutput::Report { said, at } => sink.on_report(Some(at), said),
                VenueOutput::Market(data) => sink.on_market_data(data),
            }
        }
        Ok(())
    }

    fn sync_ledger(&mut self) -> Result<(), StorageError> {
        if !self.synced && !PlantedBug::UnsyncedVenueLedger.is_planted() {
            self.ledger.sync()?;
            self.synced = true;
        }
        Ok(())
    }

    pub(super) fn clear_outputs(&mut self) {
        self.outputs.clear();
    }

    pub(super) fn snapshot(&mut self) -> Result<VenueSnapshot, StorageError> {
        self.sync_ledger()?;
        Ok(self.venue.snapshot())
    }

    pub(super) fn due(&self) -> Option<Timestamp> {
        self.venue.next_due()
    }

    pub(super) fn is_disconnected(&self) -> bool {
        self.venue.faults().disconnected
    }

    pub(super) fn set_faults(&mut self, faults: Faults) {
        self.venue.set_faults(faults);
    }

    /// Returns whether the security is new here.
    pub(super) fn list(&mut self, listing: &ListedSecurity) -> bool {
        let symbol = &listing.security.symbol;
        self.venue.list_security(listing).unwrap_or_else(|error| {
            tracing::warn!(%error, %symbol, "security was not listed at the simulated venue");
            false
        })
    }

    #[cfg(test)]
    pub(super) fn replace_ledger(&mut self, ledger: Box<dyn VenueLedger>) {
        self.ledger = ledger;
    }

    pub(super) fn unsubscribe(&mut self, security: SecurityId) {
        self.venue.unsubscribe(security);
    }
}

fn encode(record: &VenueRecord) -> Vec<u8> {
    minicbor::to_vec(record).expect("a vector takes all that is written")
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Ledger(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}
