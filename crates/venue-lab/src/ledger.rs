//! Ledger: the commands that changed the exchange, in order, appended and synced before any answer leaves.
//!
//! Each record has its time and the counts of orders and trades after it. A restart applies the commands again; where a
//! count comes out otherwise, the ledger belongs to another build and the start is refused. How many records were synced is
//! noted beside it: a record at the end that cannot be read is cut only where no client was told of it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use minicbor::{Decode, Encode};
use storage::append_log::AppendLog;
use storage::{StorageError, TornWrite};

use crate::exchange::{ExchangeSetup, SpotCommand, SpotExchange};

#[derive(Debug, Encode, Decode)]
enum SpotRecord {
    /// The first one: what the exchange began with.
    #[n(0)]
    Genesis {
        #[n(0)]
        configuration: String,
        #[n(1)]
        at_micros: i64,
    },
    #[n(1)]
    Command {
        #[n(0)]
        at_micros: i64,
        #[n(1)]
        command: Box<SpotCommand>,
        #[n(2)]
        orders: u64,
        #[n(3)]
        trades: u64,
    },
    /// Several commands that were synced together: one record, so that a power cut leaves all of them or none.
    #[n(2)]
    Batch {
        #[n(0)]
        records: Vec<SpotRecord>,
    },
}

pub(crate) struct SpotLedger {
    log: AppendLog,
    /// Commands since the last sync.
    pending: Vec<SpotRecord>,
    records: u64,
    /// Has the number of records that were synced. It is written without a sync: after a power cut it may be too small, which
    /// is safe.
    acknowledged: File,
}

/// Commands that are written before a sync asks for them.
const PENDING_MAX: usize = 1_000;
/// The name of the file with the number of synced records, behind that of the ledger.
const ACKNOWLEDGED: &str = "acknowledged";

/// Why a ledger cannot be used.
#[derive(Debug)]
pub enum LedgerError {
    Storage(StorageError),
    /// It was begun with another configuration.
    Configuration,
    /// Records that clients were told of cannot be read.
    Lost {
        readable: u64,
        acknowledged: u64,
    },
}

impl std::fmt::Display for LedgerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Storage(error) => error.fmt(f),
            Self::Lost { readable, acknowledged } => write!(
                f,
                "the ledger is damaged: {acknowledged} records were acknowledged, and only the first {readable} can be read"
            ),
            Self::Configuration => f.write_str(
                "the ledger was begun with other symbols, accounts, activity or seed: use another --data-dir, or the \
                 configuration from before",
            ),
        }
    }
}

impl std::error::Error for LedgerError {}

/// State that the replay builds.
struct Replay<'a> {
    setup: &'a ExchangeSetup,
    configuration: &'a str,
    exchange: Option<SpotExchange>,
    is_other_configuration: bool,
}

impl SpotLedger {
    /// Opens or creates the ledger and rebuilds the exchange from it.
    pub(crate) fn open(
        path: &Path,
        setup: &ExchangeSetup,
        configuration: &str,
        now_micros: i64,
    ) -> Result<(Self, SpotExchange), LedgerError> {
        check_acknowledged(path)?;
        let mut replay = Replay { setup, configuration, exchange: None, is_other_configuration: false };
        let opened = AppendLog::open_reserved(path, &mut |payload| replay.read(payload));
        if replay.is_other_configuration {
            return Err(LedgerError::Configuration);
        }
        let (found, mut log) = opened.map_err(LedgerError::Storage)?;
        // A client may be told of what was found: it is durable first.
        log.confirm_found().map_err(LedgerError::Storage)?;
        if let Some(TornWrite { .. }) = found.torn {
            tracing::warn!(path = %path.display(), "the last record was torn and never acknowledged: it was cut");
        }
        let acknowledged = open_acknowledged(path).map_err(|error| failed(&error))?;
        let mut ledger = Self { log, pending: Vec::new(), records: found.records, acknowledged };
        ledger.note_acknowledged().map_err(LedgerError::Storage)?;
        let exchange = match replay.exchange {
            Some(exchange) => exchange,
            None => ledger.begin(setup, configuration, now_micros)?,
        };
        tracing::info!(records = found.records, "ledger replayed");
        Ok((ledger, exchange))
    }

    fn begin(&mut self, setup: &ExchangeSetup, configuration: &str, at: i64) -> Result<SpotExchange, LedgerError> {
        let genesis = SpotRecord::Genesis { configuration: configuration.to_owned(), at_micros: at };
        self.pending.push(genesis);
        self.sync().map_err(LedgerError::Storage)?;
        Ok(SpotExchange::open(setup.clone(), at))
    }

    /// Notes a command; the next sync writes it.
    pub(crate) fn record(&mut self, command: Box<SpotCommand>, exchange: &SpotExchange) -> Result<(), StorageError> {
        let (orders, trades) = exchange.counts();
        self.pending.push(SpotRecord::Command { at_micros: exchange.now_micros, command, orders, trades });
        if self.pending.len() < PENDING_MAX { Ok(()) } else { self.sync() }
    }

    /// Everything that was noted is on disk when it returns.
    pub(crate) fn sync(&mut self) -> Result<(), StorageError> {
        let record = match self.pending.len() {
            0 => return Ok(()),
            1 => self.pending.remove(0),
            _ => SpotRecord::Batch { records: std::mem::take(&mut self.pending) },
        };
        self.log.append(&minicbor::to_vec(&record).expect("a vector takes all that is written"))?;
        self.log.sync()?;
        self.records += 1;
        self.note_acknowledged()
    }

    fn note_acknowledged(&mut self) -> Result<(), StorageError> {
        self.acknowledged
            .write_all_at(&self.records.to_be_bytes(), 0)
            .map_err(|error| StorageError::Failed { reason: format!("the ledger's count can't be written: {error}") })
    }
}

fn failed(error: &io::Error) -> LedgerError {
    LedgerError::Storage(StorageError::Failed { reason: format!("the ledger's count can't be used: {error}") })
}

fn open_acknowledged(ledger: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(ledger.with_extension(ACKNOWLEDGED))
}

/// Refuses a ledger of which a record that was acknowledged cannot be read, before anything is cut.
fn check_acknowledged(path: &Path) -> Result<(), LedgerError> {
    let noted = match fs::read(path.with_extension(ACKNOWLEDGED)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    let acknowledged = noted.try_into().map_or(0, u64::from_be_bytes);
    if acknowledged == 0 {
        return Ok(());
    }
    let readable =
        if path.exists() { AppendLog::read(path, &mut |_| Ok(())).map_err(LedgerError::Storage)? } else { 0 };
    if readable < acknowledged { Err(LedgerError::Lost { readable, acknowledged }) } else { Ok(()) }
}

impl Replay<'_> {
    fn read(&mut self, payload: &[u8]) -> Result<(), String> {
        match minicbor::decode(payload).map_err(|error| error.to_string())? {
            SpotRecord::Batch { records } => records.into_iter().try_for_each(|record| self.apply(record)),
            record => self.apply(record),
        }
    }

    fn apply(&mut self, record: SpotRecord) -> Result<(), String> {
        match (record, &mut self.exchange) {
            (SpotRecord::Genesis { configuration, at_micros }, None) => {
                if configuration != self.configuration {
                    self.is_other_configuration = true;
                    return Err("begun with another configuration".to_owned());
                }
                self.exchange = Some(SpotExchange::open(self.setup.clone(), at_micros));
                Ok(())
            }
            (SpotRecord::Command { at_micros, command, orders, trades }, Some(exchange)) => {
                let applied = exchange.apply(&command, at_micros);
                exchange.take_events();
                match applied {
                    Ok(_) if exchange.counts() == (orders, trades) => Ok(()),
                    Ok(_) => Err("applied again it gives other orders or trades".to_owned()),
                    Err(reject) => Err(format!("applied again it is rejected: {} {}", reject.code, reject.text)),
                }
            }
            (SpotRecord::Genesis { .. }, Some(_)) => Err("a second beginning".to_owned()),
            (SpotRecord::Command { .. }, None) => Err("a command before the beginning".to_owned()),
            (SpotRecord::Batch { .. }, _) => Err("a batch inside a batch".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LabConfig;
    use crate::exchange::{Applied, SpotExchange};

    const RECORDS_BEFORE: u64 = 1;

    fn open(path: &Path) -> Result<(SpotLedger, SpotExchange), LedgerError> {
        let config = LabConfig::load(None, true, &["activity=busy".to_owned()]).unwrap();
        SpotLedger::open(path, &config.setup, &config.genesis, 1)
    }

    /// The participants of the first symbol act so often, with one sync for all.
    fn act(ledger: &mut SpotLedger, exchange: &mut SpotExchange, times: i64) {
        for _ in 0..times {
            let command = SpotCommand::Act { symbol: 0 };
            let at = exchange.now_micros + 1_000_000;
            assert!(matches!(exchange.apply(&command, at), Ok(Applied::Acted)));
            ledger.record(Box::new(command), exchange).unwrap();
        }
        ledger.sync().unwrap();
    }

    #[test]
    fn commands_that_share_a_sync_are_one_record_and_come_back_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let (mut ledger, mut exchange) = open(&path).unwrap();
        act(&mut ledger, &mut exchange, 5);
        act(&mut ledger, &mut exchange, 1);
        drop(ledger);
        let (again, replayed) = open(&path).unwrap();
        assert_eq!(again.records, RECORDS_BEFORE + 2);
        assert_eq!((replayed.counts(), replayed.now_micros), (exchange.counts(), exchange.now_micros));
    }

    #[test]
    fn of_a_batch_that_a_power_cut_has_torn_nothing_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let (mut ledger, mut exchange) = open(&path).unwrap();
        act(&mut ledger, &mut exchange, 3);
        let acknowledged = fs::read(path.with_extension(ACKNOWLEDGED)).unwrap();
        let time = exchange.now_micros;
        act(&mut ledger, &mut exchange, 3);
        drop(ledger);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        // The power went before the count of the second batch was on the disk.
        fs::write(path.with_extension(ACKNOWLEDGED), acknowledged).unwrap();
        let (again, replayed) = open(&path).unwrap();
        assert_eq!((again.records, replayed.now_micros), (RECORDS_BEFORE + 1, time));
    }
}
