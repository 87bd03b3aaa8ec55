//! A log in memory that keeps every record as bytes, so that a second one can be filled from it; it may fail on purpose.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use access::{AdminLog, AdminLogError, AuditView, MemoryAdminLog, UserStore};
use domain::admin::{AdminRecord, AdminState};

pub(crate) struct RecordingLog {
    log: MemoryAdminLog,
    records: Mutex<Vec<Vec<u8>>>,
    /// Records that it still takes.
    room: AtomicUsize,
    /// Another process makes the records: what is appended here is in no journal.
    follows: AtomicBool,
}

impl RecordingLog {
    pub(crate) fn new() -> Arc<Self> {
        Self::with_room(usize::MAX)
    }

    /// The disk is gone after so many records.
    pub(crate) fn with_room(records: usize) -> Arc<Self> {
        let (log, room) = (MemoryAdminLog::default(), AtomicUsize::new(records));
        Arc::new(Self { log, records: Mutex::default(), room, follows: AtomicBool::new(false) })
    }

    /// From now on, or not any more.
    pub(crate) fn set_following(&self, follows: bool) {
        self.follows.store(follows, Ordering::Relaxed);
    }

    /// What a new process knows: everything that was durable.
    pub(crate) fn replayed(&self) -> Arc<Self> {
        let replayed = Self::new();
        for bytes in &*self.records.lock().unwrap() {
            replayed.append(minicbor::decode(bytes).unwrap()).unwrap();
        }
        replayed
    }

    pub(crate) fn len(&self) -> usize {
        self.records.lock().unwrap().len()
    }

    /// A store on this log, with a view that is made from its records.
    pub(crate) fn store(self: &Arc<Self>, folder: &Path) -> UserStore {
        let view = Arc::new(AuditView::open(folder).unwrap());
        let records: Vec<AdminRecord> =
            self.records.lock().unwrap().iter().map(|bytes| minicbor::decode(bytes).unwrap()).collect();
        let missing: Vec<_> = (1..).zip(records).filter(|(sequence, _)| *sequence > view.applied()).collect();
        view.apply(&missing).unwrap();
        view.follow(self.log.follow()).unwrap();
        UserStore::new(self.clone(), Some(view))
    }
}

impl AdminLog for RecordingLog {
    fn state(&self) -> Arc<AdminState> {
        self.log.state()
    }

    fn append(&self, record: AdminRecord) -> Result<u64, AdminLogError> {
        if !self.keeps_audit() {
            return Ok(self.state().last_sequence);
        }
        let left = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(1));
        left.map_err(|_| AdminLogError("the disk is gone".into()))?;
        self.records.lock().unwrap().push(minicbor::to_vec(&record).unwrap());
        self.log.append(record)
    }

    fn keeps_audit(&self) -> bool {
        !self.follows.load(Ordering::Relaxed)
    }
}
