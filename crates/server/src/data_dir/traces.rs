//! What else in a data folder remembers how far its journal was: snapshots, the read model, the ledgers of simulated venues. A
//! journal that has less lost its end.

use std::fs;
use std::path::{Path, PathBuf};

use adapters::simulated::newest_order;
use domain::OrderId;
use storage::journal::{InstanceId, KnownSequence, head_sequence};
use storage::read_model::{self, Remembered, remembered};
use storage::{Loss, SnapshotStore, StorageError};

/// The folder of the venues' own ledgers inside the data folder.
pub const VENUES: &str = "venues";
/// Where `accept-loss` keeps what it put aside, inside the data folder.
pub const LOST: &str = "lost";
pub const LEDGER_EXTENSION: &str = "ledger";

/// The highest numbers that are known outside the journal's segments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Traces {
    head: Option<u64>,
    snapshot: Option<(u64, PathBuf)>,
    read_model: Option<Remembered>,
    ledgers: Vec<(PathBuf, OrderId)>,
    /// Of read models and snapshots that an accepted loss has put aside.
    aside: HighestNumbers,
}

/// What no new record may repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct HighestNumbers {
    sequence: u64,
    order: u64,
    transaction: u64,
}

impl Traces {
    /// Changes nothing; a server may run on the folder.
    pub fn read(data_folder: &Path, instance: InstanceId) -> Result<Self, StorageError> {
        Ok(Self {
            head: head_sequence(data_folder),
            snapshot: SnapshotStore::look(data_folder, instance).newest_claim()?,
            read_model: remembered(data_folder, instance),
            ledgers: ledgers(&data_folder.join(VENUES)),
            aside: HighestNumbers::default(),
        })
    }

    /// Also what an interrupted `accept-loss` has put aside: nothing else may remember these numbers.
    pub fn read_with_lost(data_folder: &Path, instance: InstanceId) -> Result<Self, StorageError> {
        let mut traces = Self::read(data_folder, instance)?;
        for folder in subfolders(&data_folder.join(LOST)) {
            let kept = Self::read(&folder, instance)?;
            traces.aside = traces.aside.max(kept.highest());
        }
        Ok(traces)
    }

    /// For the journal, which looks at its head file itself.
    pub fn witnesses(&self, data_folder: &Path) -> Vec<KnownSequence> {
        let snapshot = self.snapshot.as_ref().map(|(sequence, path)| KnownSequence {
            sequence: *sequence,
            says: format!("the snapshot {} is of {sequence}", path.display()),
        });
        let read_model = self.read_model.map(|known| KnownSequence {
            sequence: known.event,
            says: read_model::has_event(data_folder, known.event),
        });
        snapshot.into_iter().chain(read_model).collect()
    }

    /// Venues number by orders, so they are compared with the state that follows from the journal.
    pub fn check_orders(&self, data_folder: &Path, end: u64, last: OrderId) -> Result<(), StorageError> {
        let known = self.orders_beyond(last);
        if known.is_empty() {
            return Ok(());
        }
        Err(StorageError::Lost(Loss { folder: data_folder.to_owned(), end, known }))
    }

    pub fn orders_beyond(&self, last: OrderId) -> Vec<String> {
        let beyond = self.ledgers.iter().filter(|(_, order)| *order > last);
        let say = |(path, order): &(PathBuf, OrderId)| {
            format!("the venue's ledger {} has order number {order}, and the journal's last is {last}", path.display())
        };
        beyond.map(say).collect()
    }

    pub fn has_orders(&self) -> bool {
        !self.ledgers.is_empty()
    }

    /// The highest sequence that anything knows.
    pub fn sequence(&self) -> u64 {
        self.highest().sequence
    }

    /// The highest number of an order that anything knows.
    pub fn order(&self) -> u64 {
        self.highest().order
    }

    pub fn transaction(&self) -> u64 {
        self.highest().transaction
    }

    fn highest(&self) -> HighestNumbers {
        let snapshot = self.snapshot.as_ref().map_or(0, |(sequence, _)| *sequence);
        let model = self.read_model.unwrap_or_default();
        let ledgers = self.ledgers.iter().map(|(_, order)| order.0).max().unwrap_or(0);
        let known = HighestNumbers {
            sequence: self.head.unwrap_or(0).max(snapshot).max(model.event).max(model.applied),
            order: ledgers.max(model.order),
            transaction: model.transaction,
        };
        known.max(self.aside)
    }
}

impl HighestNumbers {
    fn max(self, other: Self) -> Self {
        Self {
            sequence: self.sequence.max(other.sequence),
            order: self.order.max(other.order),
            transaction: self.transaction.max(other.transaction),
        }
    }
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.is_dir()).collect()
}

/// The newest order of each ledger that has one. One that cannot be read is refused when its venue opens it.
fn ledgers(folder: &Path) -> Vec<(PathBuf, OrderId)> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == LEDGER_EXTENSION)).collect();
    paths.sort();
    let newest = |path: PathBuf| newest_order(&path).ok().flatten().map(|order| (path, order));
    paths.into_iter().filter_map(newest).collect()
}

#[cfg(test)]
mod tests {
    use storage::lock::DataDirLock;
    use tempfile::TempDir;

    use super::*;

    const INSTANCE: InstanceId = InstanceId([7; 16]);

    fn keep_snapshot(data_folder: &Path, sequence: u64) {
        fs::create_dir_all(data_folder).unwrap();
        let lock = DataDirLock::acquire(data_folder).unwrap();
        SnapshotStore::open(&lock, INSTANCE).unwrap().write(sequence, b"state", "test").unwrap();
    }

    #[test]
    fn numbers_that_an_interrupted_accept_loss_put_aside_are_not_forgotten() {
        let folder = TempDir::new().unwrap();
        keep_snapshot(folder.path(), 5);
        keep_snapshot(&folder.path().join(LOST).join("1"), 9_000_000_000);
        keep_snapshot(&folder.path().join(LOST).join("2"), 40);
        let start = Traces::read(folder.path(), INSTANCE).unwrap();
        assert_eq!((start.sequence(), start.witnesses(folder.path()).len()), (5, 1));
        let goes_on = Traces::read_with_lost(folder.path(), INSTANCE).unwrap();
        assert_eq!(
            (goes_on.sequence(), goes_on.witnesses(folder.path())),
            (9_000_000_000, start.witnesses(folder.path()))
        );
    }
}
