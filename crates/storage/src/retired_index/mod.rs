//! Index of keys of retired orders: which ids, ClOrdIDs and executions were there once, for years, in little memory. It is
//! made from the journal: what is missing or damaged is made again at the next start.

mod key_file;
mod key_filter;
mod key_set;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::key_set::KeySet;
use crate::StorageError;
use crate::file_system::{FileSystem, OsFileSystem, create_folder};
use crate::journal::InstanceId;
use crate::lock::DataDirLock;

/// The folder of the index inside a data folder.
pub const FOLDER: &str = "retired";

pub struct RetiredIndex {
    /// Looked for with every order whose client chose its id, so most that are not there are known without the disk.
    ids: KeySet,
    /// ClOrdIDs, executions and accounts: looked for seldom.
    others: KeySet,
}

impl RetiredIndex {
    pub fn open(lock: &DataDirLock, instance: InstanceId) -> Result<Self, StorageError> {
        Self::open_on(Arc::new(OsFileSystem), lock, instance)
    }

    /// As [`Self::open`], on another file system.
    pub fn open_on(disk: Arc<dyn FileSystem>, lock: &DataDirLock, instance: InstanceId) -> Result<Self, StorageError> {
        let folder = lock.folder().join(FOLDER);
        create_folder(disk.as_ref(), lock.folder(), &folder)?;
        let ids = KeySet::open(disk.clone(), &folder, "ids", instance, true)?;
        let others = KeySet::open(disk, &folder, "others", instance, false)?;
        Ok(Self { ids, others })
    }

    /// Every key that was retired up to this sequence is here.
    pub fn through(&self) -> u64 {
        self.ids.through().min(self.others.through())
    }

    /// Returns when all keys are durable.
    pub fn store(&self, through: u64, ids: Vec<u128>, others: Vec<u128>) -> Result<(), StorageError> {
        self.others.store(through, others)?;
        self.ids.store(through, ids)
    }

    /// The index of a folder that was restored up to a sequence: it may be newer than that. Keys of later orders stay, and refuse their ids,
    /// but the next ones are stored behind `end`.
    pub fn limit_to(&self, end: u64) -> Result<(), StorageError> {
        self.others.limit_to(end)?;
        self.ids.limit_to(end)
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.others.is_empty()
    }

    /// Whether it has the fingerprint of an order id.
    pub fn has_id(&self, key: u128) -> Result<bool, StorageError> {
        self.ids.contains(key)
    }

    /// Whether it has another key.
    pub fn has_other(&self, key: u128) -> Result<bool, StorageError> {
        self.others.contains(key)
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(&self) -> usize {
        self.ids.memory_bytes() + self.others.memory_bytes()
    }
}
