//! Records of administration of a folder that no server holds: appended to its journal, without its engine.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use access::{AdminLog, AdminLogError, UserStore, import_old_file, look_at_old_file};
use domain::Timestamp;
use domain::admin::{AdminRecord, AdminState};
use runtime::AdminAt;
use storage::journal::{DurabilityEvent, Inspected, InstanceId, Journal, JournalOptions};
use storage::lock::DataDirLock;
use storage::{SnapshotStore, StorageError};

use crate::cluster::member_folder;
use crate::config::Config;
use crate::data_dir::identity::DataDirIdentity;
use crate::data_dir::private;
use crate::data_dir::traces::Traces;
use crate::exit_failure::{Exit, ExitFailure};

pub(crate) struct OfflineAdminLog {
    at: Timestamp,
    open: Mutex<OpenJournal>,
}

struct OpenJournal {
    /// Until the first record is appended: a command that only reads changes nothing.
    inspected: Option<Inspected>,
    journal: Option<Journal>,
    known: AdminAt,
}

impl OfflineAdminLog {
    /// The journal of a folder that we hold. What remembers more than it is asked first, as at a start.
    pub(crate) fn open(config: &Config, lock: &DataDirLock, at: Timestamp) -> Result<Self, ExitFailure> {
        private::close(lock.folder())?;
        member_folder::refuse_alone(lock.folder())?;
        let instance = DataDirIdentity::load(lock)?.journal_id();
        let witnesses = Traces::read(lock.folder(), instance)?.witnesses(lock.folder());
        let anchor = SnapshotStore::look(lock.folder(), instance).newest_anchor()?;
        let options = JournalOptions { witnesses, anchor, ..config.journal_options(instance) };
        Self::open_with(lock, &options, instance, at)
    }

    fn open_with(
        lock: &DataDirLock,
        options: &JournalOptions,
        instance: InstanceId,
        at: Timestamp,
    ) -> Result<Self, ExitFailure> {
        let inspected = Journal::inspect(lock, options, &mut |_| {})?;
        let end = inspected.found().last_sequence;
        let known = runtime::admin_at(lock.folder(), instance, end)
            .map_err(|problem| ExitFailure::new(Exit::Damaged, problem.to_string()))?;
        Ok(Self { at, open: Mutex::new(OpenJournal { inspected: Some(inspected), journal: None, known }) })
    }

    /// Everything is durable when it returns.
    pub(crate) fn close(&self) -> Result<(), StorageError> {
        let journal = self.open.lock().unwrap_or_else(PoisonError::into_inner).journal.take();
        journal.map_or(Ok(()), Journal::close)
    }
}

impl OpenJournal {
    fn append(&mut self, record: AdminRecord, at: Timestamp) -> Result<u64, AdminLogError> {
        let sequence = self.known.next_sequence;
        let journal = self.journal()?;
        let taken = journal.append(runtime::admin_batch(sequence, record.clone(), at));
        taken.map_err(|refused| AdminLogError(refused.reason.to_string()))?;
        while journal.durable() < sequence {
            let told = journal.durability_events().recv().map_err(|gone| AdminLogError(gone.to_string()))?;
            if let DurabilityEvent::Failed { error } = told {
                return Err(AdminLogError(error));
            }
        }
        Arc::make_mut(&mut self.known.state).apply(sequence, &record);
        self.known.next_sequence = sequence + 1;
        Ok(sequence)
    }

    fn journal(&mut self) -> Result<&mut Journal, AdminLogError> {
        if let Some(inspected) = self.inspected.take() {
            let (_, journal) = inspected.open().map_err(|error| AdminLogError(error.to_string()))?;
            self.journal = Some(journal);
        }
        self.journal.as_mut().ok_or_else(|| AdminLogError("the journal is closed".to_owned()))
    }
}

impl AdminLog for OfflineAdminLog {
    fn state(&self) -> Arc<AdminState> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).known.state.clone()
    }

    fn append(&self, record: AdminRecord) -> Result<u64, AdminLogError> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).append(record, self.at)
    }
}

/// Runs work on the users of a folder that we hold. The file of an older version is imported first.
pub(crate) fn with_users<T>(
    config: &Config,
    lock: &DataDirLock,
    at: Timestamp,
    work: impl FnOnce(&UserStore) -> Result<T, ExitFailure>,
) -> Result<T, ExitFailure> {
    // Before anything is changed: it may be damaged, or newer.
    look_at_old_file(lock.folder())?;
    let log = Arc::new(OfflineAdminLog::open(config, lock, at)?);
    import_old_file(lock.folder(), &*log)?;
    let done = work(&UserStore::new(log.clone(), None));
    log.close()?;
    done
}

/// Adds a row to the audit of a folder that no server holds.
pub(crate) fn note(
    config: &Config,
    folder: &Path,
    actor: &access::Actor,
    detail: String,
    at: Timestamp,
) -> Result<(), ExitFailure> {
    let lock = DataDirLock::acquire(folder)?;
    with_users(config, &lock, at, |users| Ok(users.note(actor, detail, at)?))
}
