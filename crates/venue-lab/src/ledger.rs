//! Ledger: the commands that changed the exchange, in order, appended and synced before any answer leaves.
//!
//! Each record has its time and the counts of orders and trades after it. A restart applies the commands again; where a
//! count comes out otherwise, the ledger belongs to another build and the start is refused.

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
}

pub(crate) struct SpotLedger {
    log: AppendLog,
    is_synced: bool,
}

/// Why a ledger cannot be used.
#[derive(Debug)]
pub enum LedgerError {
    Storage(StorageError),
    /// It was begun with another configuration.
    Configuration,
}

impl std::fmt::Display for LedgerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Storage(error) => error.fmt(f),
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
        let mut replay = Replay { setup, configuration, exchange: None, is_other_configuration: false };
        let opened = AppendLog::open(path, &mut |payload| replay.apply(payload));
        if replay.is_other_configuration {
            return Err(LedgerError::Configuration);
        }
        let (found, log) = opened.map_err(LedgerError::Storage)?;
        if let Some(TornWrite { .. }) = found.torn {
            tracing::warn!(path = %path.display(), "the last record was torn and never acknowledged: it was cut");
        }
        let mut ledger = Self { log, is_synced: true };
        let exchange = match replay.exchange {
            Some(exchange) => exchange,
            None => ledger.begin(setup, configuration, now_micros)?,
        };
        tracing::info!(records = found.records, "ledger replayed");
        Ok((ledger, exchange))
    }

    fn begin(&mut self, setup: &ExchangeSetup, configuration: &str, at: i64) -> Result<SpotExchange, LedgerError> {
        let genesis = SpotRecord::Genesis { configuration: configuration.to_owned(), at_micros: at };
        self.append(&genesis).and_then(|()| self.sync()).map_err(LedgerError::Storage)?;
        Ok(SpotExchange::open(setup.clone(), at))
    }

    pub(crate) fn record(&mut self, command: &SpotCommand, exchange: &SpotExchange) -> Result<(), StorageError> {
        let (orders, trades) = exchange.counts();
        let at_micros = exchange.now_micros;
        self.append(&SpotRecord::Command { at_micros, command: Box::new(command.clone()), orders, trades })
    }

    fn append(&mut self, record: &SpotRecord) -> Result<(), StorageError> {
        self.is_synced = false;
        self.log.append(&minicbor::to_vec(record).expect("a vector takes all that is written"))
    }

    pub(crate) fn sync(&mut self) -> Result<(), StorageError> {
        if !self.is_synced {
            self.log.sync()?;
            self.is_synced = true;
        }
        Ok(())
    }
}

impl Replay<'_> {
    fn apply(&mut self, payload: &[u8]) -> Result<(), String> {
        let record: SpotRecord = minicbor::decode(payload).map_err(|error| error.to_string())?;
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
        }
    }
}
