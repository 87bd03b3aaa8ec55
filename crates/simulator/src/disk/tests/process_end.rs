//! A process that ends at an operation of its disk: after a kill all is there that was written, and nothing is done after the end.

use std::path::PathBuf;

use storage::FileSystem;

use crate::disk::SimulatedDisk;
use crate::schedule::Fault;

/// Each file is written, synced, renamed, written and removed.
const OPERATIONS: u32 = 6;
const SEEDS: u64 = 40;

struct DiskUse {
    folder: tempfile::TempDir,
    disk: SimulatedDisk,
    /// Operations that the process believes to be done.
    done: u32,
}

impl DiskUse {
    fn new(seed: u64) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), disk: SimulatedDisk::new(seed), done: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Goes on behind an error, as a process of several threads does.
    fn use_all(&mut self) {
        let (new, named, old) = (self.path("new"), self.path("named"), self.path("old"));
        let created = self.disk.create(&new);
        self.count(created.is_ok());
        if let Ok(file) = created {
            let written = file.write_at(b"first", 0);
            self.count(written.is_ok());
            let synced = file.sync();
            self.count(synced.is_ok());
            let renamed = self.disk.rename(&new, &named);
            self.count(renamed.is_ok());
            let written = file.write_at(b"second", 5);
            self.count(written.is_ok());
        }
        let removed = self.disk.remove(&old);
        self.count(removed.is_ok());
    }

    fn count(&mut self, is_done: bool) {
        self.done += u32::from(is_done);
    }

    /// What is there: the content under each name, and whether the old file is there.
    fn found(&self) -> (Option<String>, Option<String>, bool) {
        let read = |name| std::fs::read_to_string(self.path(name)).ok();
        (read("new"), read("named"), self.path("old").exists())
    }
}

/// What is there after so many operations.
fn after(operations: u32) -> (Option<String>, Option<String>, bool) {
    let text = |text: &str| Some(text.to_owned());
    match operations {
        0 => (None, None, true),
        1 => (text(""), None, true),
        2 | 3 => (text("first"), None, true),
        4 => (None, text("first"), true),
        5 => (None, text("firstsecond"), true),
        _ => (None, text("firstsecond"), false),
    }
}

#[test]
fn a_kill_at_an_operation_keeps_what_was_written_and_nothing_is_done_after_it() {
    let mut ends = std::collections::BTreeSet::new();
    for seed in 0..SEEDS {
        for operation in 1..=OPERATIONS {
            let mut used = DiskUse::new(seed);
            used.disk.put(&used.path("old"), b"old").unwrap();
            used.disk.end_at(operation, Fault::KillAtDisk { file: None, operation });
            used.use_all();
            assert!(used.disk.has_ended() && !used.disk.has_lost_power());
            let is_last_done = used.done == operation;
            assert!(is_last_done || used.done == operation - 1, "seed {seed}: {} of {operation}", used.done);
            assert_eq!(used.found(), after(used.done), "seed {seed}, operation {operation}");
            ends.insert((operation, is_last_done));
            used.disk.survive_kill();
            assert!(used.disk.open(&used.path("old")).is_ok() == used.path("old").exists(), "the next process uses it");
        }
    }
    assert_eq!(ends.len(), 2 * OPERATIONS as usize, "each operation is the last one, done and not done");
}

#[test]
fn nothing_is_done_once_the_power_went() {
    for seed in 0..SEEDS {
        let used = DiskUse::new(seed);
        used.disk.put(&used.path("old"), b"old").unwrap();
        let (new, named) = (used.path("new"), used.path("named"));
        let file = used.disk.create(&new).unwrap();
        file.write_at(b"first", 0).unwrap();
        file.sync().unwrap();
        used.disk.sync_folder(used.folder.path()).unwrap();
        used.disk.end_at(1, Fault::PowerCut { operation: 1 });
        assert!(file.sync().is_err());
        assert!(file.write_at(b"second", 5).is_err());
        assert!(used.disk.rename(&new, &named).is_err());
        assert!(used.disk.remove(&used.path("old")).is_err());
        used.disk.power_cut().unwrap();
        assert_eq!(used.found(), (Some("first".to_owned()), None, true), "seed {seed}");
    }
}
