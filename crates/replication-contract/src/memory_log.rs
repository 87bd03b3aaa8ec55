//! A log in memory that keeps an engine's promises: conditional append, message ids, positions that stay.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storage::replication::{CandidateId, LoadReply, LogPosition, LogStore, MessageId, ReplicatedLog, StoreReply};

use crate::faults::{FaultQueue, FaultyStore};
use crate::lab::{LogClient, LogLab};

/// The log itself; clients share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryLog(Arc<Mutex<MemoryState>>);

#[derive(Debug, Default)]
struct MemoryState {
    entries: BTreeMap<u64, Vec<u8>>,
    end: u64,
    first: u64,
    ids: BTreeMap<MessageId, u64>,
}

/// One client.
#[derive(Debug, Clone)]
pub struct MemoryLogClient(MemoryLog);

impl MemoryLog {
    pub fn client(&self) -> MemoryLogClient {
        MemoryLogClient(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends without a condition, as a program that knows nothing of the port does.
    pub fn store_raw(&self, entry: &[u8]) {
        self.state().push(entry);
    }

    /// The log forgets the message ids, as JetStream does after its window.
    pub fn forget_ids(&self) {
        self.state().ids.clear();
    }
}

impl MemoryState {
    fn push(&mut self, entry: &[u8]) -> u64 {
        self.end += 1;
        self.entries.insert(self.end, entry.to_vec());
        self.end
    }
}

impl LogStore for MemoryLogClient {
    fn store(&mut self, expected: LogPosition, id: &MessageId, entry: &[u8]) -> StoreReply {
        let mut log = self.0.state();
        if let Some(position) = log.ids.get(id) {
            return StoreReply::Duplicate { position: LogPosition(*position) };
        }
        if log.end != expected.0 {
            return StoreReply::OtherEnd { end: Some(LogPosition(log.end)) };
        }
        let position = log.push(entry);
        log.ids.insert(id.clone(), position);
        StoreReply::Stored { position: LogPosition(position) }
    }

    fn load(&mut self, position: LogPosition) -> LoadReply {
        let log = self.0.state();
        match log.entries.get(&position.0) {
            Some(entry) => LoadReply::Entry(entry.clone()),
            None if position.0 < log.first => LoadReply::Trimmed { first: LogPosition(log.first) },
            None => LoadReply::End,
        }
    }

    fn discard(&mut self, below: LogPosition) -> Result<(), String> {
        let mut log = self.0.state();
        log.entries = log.entries.split_off(&below.0);
        log.first = log.first.max(below.0);
        Ok(())
    }
}

/// Gives the rules clients of one log in memory.
#[derive(Debug, Default)]
pub struct MemoryLab {
    log: MemoryLog,
    clients: u8,
}

impl LogLab for MemoryLab {
    fn connect(&mut self) -> LogClient {
        self.clients += 1;
        let faults = FaultQueue::default();
        let store = FaultyStore::new(self.log.client(), faults.clone());
        LogClient::new(ReplicatedLog::new(store, CandidateId([self.clients; 16])), faults)
    }

    fn store_raw(&mut self, entry: &[u8]) {
        self.log.store_raw(entry);
    }

    fn forget_ids(&mut self) -> bool {
        self.log.forget_ids();
        true
    }
}
