//! Simulated venue with a durable ledger: records are synced before reports leave.
//!
//! All records between two syncs are one write. So a power cut leaves all of them or none, and never a torn record in front
//! of a good one. A ledger that has grown is compacted: replaced in one step by the orders that are kept.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::report::VenueSnapshot;
use domain::{OrderId, PlantedBug, SecurityId, Timestamp};
use storage::append_log::AppendLog;
use storage::{FileSystem, StorageError};
use venue_sim::{ConfigError, Faults, ListedSecurity, VenueOutput, VenueRecord, VenueSimulator};

use super::controls::SimulatedVenueSettings;
use crate::venue::ReportSink;

/// So many bytes of records are written together; more than this are synced in several steps.
const BATCH_BYTES: usize = 1 << 20;

pub(super) struct PersistentVenue {
    venue: VenueSimulator,
    disk: Arc<dyn FileSystem>,
    path: PathBuf,
    ledger: Box<dyn VenueLedger>,
    /// Records that are not written yet.
    batch: Vec<u8>,
    /// The ledger is compacted when it is longer.
    compact_at: LedgerSize,
    /// Outputs that wait until the records before them are synced. They never outlive one turn of the host.
    outputs: Vec<VenueOutput>,
}

/// A record file, as far as the venue needs it.
pub(super) trait VenueLedger: Send {
    fn append(&mut self, record: &[u8]) -> Result<(), StorageError>;

    fn sync(&mut self) -> Result<(), StorageError>;

    fn bytes(&self) -> u64;
}

/// When a ledger is compacted.
#[derive(Debug, Clone, Copy)]
struct LedgerSize {
    /// Never when it is shorter.
    least_bytes: u64,
    next_bytes: u64,
}

impl VenueLedger for AppendLog {
    fn append(&mut self, record: &[u8]) -> Result<(), StorageError> {
        AppendLog::append(self, record)
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        AppendLog::sync(self)
    }

    fn bytes(&self) -> u64 {
        AppendLog::bytes(self)
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
        let records = VenueRecord::decode_batch(payload)?;
        newest = newest.max(records.iter().filter_map(VenueRecord::newest_order).max());
        Ok(())
    };
    AppendLog::read(path, &mut visit)?;
    Ok(newest)
}

/// Copies a ledger up to the first record of an order above `last`: as it was before that order came. False, and no file, where
/// that order is part of a compacted ledger, from which nothing can be taken out.
pub fn copy_ledger_up_to(path: &Path, to: &Path, last: OrderId) -> Result<bool, StorageError> {
    let (mut payloads, mut beyond) = (Vec::new(), None);
    let mut visit = |payload: &[u8]| {
        if beyond.is_some() {
            return Ok(());
        }
        let mut records = VenueRecord::decode_batch(payload)?;
        let end = records.iter().position(|record| record.orders().any(|order| order > last));
        beyond = end.map(|end| records.swap_remove(end));
        match end {
            None => payloads.push(payload.to_vec()),
            Some(end) => payloads.extend(batches(VenueRecord::decode_batch(payload)?.into_iter().take(end))),
        }
        Ok(())
    };
    AppendLog::read(path, &mut visit)?;
    if matches!(beyond, Some(VenueRecord::Compacted(_) | VenueRecord::Kept(_))) {
        return Ok(false);
    }
    let kept = payloads.into_iter().filter(|payload| !payload.is_empty());
    AppendLog::replace_on(&storage::OsFileSystem, to, kept).map(|_| true)
}

impl PersistentVenue {
    pub(super) fn open(
        disk: &Arc<dyn FileSystem>,
        settings: &SimulatedVenueSettings,
        at: Timestamp,
    ) -> Result<Self, OpenError> {
        let SimulatedVenueSettings { ledger: path, venue: config, compact_at_bytes } = settings.clone();
        let mut records = Vec::new();
        let mut replay = |payload: &[u8]| {
            records.extend(VenueRecord::decode_batch(payload)?);
            Ok(())
        };
        let (replayed, mut ledger) =
            AppendLog::open_on(disk.as_ref(), &path, &mut replay).map_err(OpenError::Ledger)?;
        ledger.confirm_found().map_err(OpenError::Ledger)?;
        tracing::info!(venue = %config.name, writes = replayed.records, records = records.len(), "venue ledger replayed");
        let mut venue = VenueSimulator::new(config, at).map_err(OpenError::Config)?;
        let is_new = records.is_empty();
        venue.restore(records, at);
        let compact_at = LedgerSize { least_bytes: compact_at_bytes, next_bytes: compact_at_bytes };
        let (disk, ledger) = (disk.clone(), Box::new(ledger));
        let mut opened = Self { venue, disk, path, ledger, batch: Vec::new(), compact_at, outputs: Vec::new() };
        if is_new {
            let recorded = opened.apply(|venue, out| venue.open_accounts(at, out)).and_then(|()| opened.sync_ledger());
            recorded.map_err(OpenError::Ledger)?;
        }
        opened.compact_if_due().map_err(OpenError::Ledger)?;
        Ok(opened)
    }

    /// Runs an action at the venue and keeps its records for the next sync.
    pub(super) fn apply(
        &mut self,
        deed: impl FnOnce(&mut VenueSimulator, &mut Vec<VenueOutput>),
    ) -> Result<(), StorageError> {
        let first = self.outputs.len();
        deed(&mut self.venue, &mut self.outputs);
        for output in &self.outputs[first..] {
            if let VenueOutput::Record(record) = output {
                encode(record, &mut self.batch);
            }
        }
        if self.batch.len() > BATCH_BYTES { self.sync_ledger() } else { Ok(()) }
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
        if self.batch.is_empty() {
            return Ok(());
        }
        self.ledger.append(&self.batch)?;
        self.batch.clear();
        if !PlantedBug::UnsyncedVenueLedger.is_planted() {
            self.ledger.sync()?;
        }
        self.compact_if_due()
    }

    /// Replaces a long ledger by the orders that are kept, where that saves something: a venue that has just been compacted is
    /// not again when it starts. Everything before is durable already.
    fn compact_if_due(&mut self) -> Result<(), StorageError> {
        if self.ledger.bytes() < self.compact_at.next_bytes {
            return Ok(());
        }
        let payloads = batches(self.venue.compacted_ledger());
        let compacted: u64 = payloads.iter().map(|payload| payload.len() as u64).sum();
        let before = self.ledger.bytes();
        self.compact_at.next_bytes = self.compact_at.least_bytes.max(2 * compacted);
        if 16 * compacted > 15 * before {
            return Ok(());
        }
        self.ledger = Box::new(AppendLog::replace_on(self.disk.as_ref(), &self.path, payloads)?);
        let (ledger, bytes) = (self.path.display(), self.ledger.bytes());
        tracing::info!(%ledger, before, bytes, "venue ledger compacted");
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

    pub(super) fn forget_prices(&mut self) {
        self.venue.forget_prices();
    }

    pub(super) fn knows(&self, order: OrderId) -> bool {
        self.venue.knows(order)
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

fn encode(record: &VenueRecord, batch: &mut Vec<u8>) {
    minicbor::encode(record, batch).expect("a vector takes all that is written");
}

/// Many records in a write, so that a large ledger is few writes.
fn batches(records: impl Iterator<Item = VenueRecord>) -> Vec<Vec<u8>> {
    let mut batches = vec![Vec::new()];
    for record in records {
        if batches.last().is_some_and(|batch| batch.len() > BATCH_BYTES) {
            batches.push(Vec::new());
        }
        batches.iter_mut().next_back().into_iter().for_each(|batch| encode(&record, batch));
    }
    batches
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
