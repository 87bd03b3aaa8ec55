//! Snapshot writer: encodes and writes snapshots on its own thread, one at a time, so the engine waits neither for the
//! disk nor for the encoding. Where the loop is stepped by hand it has no thread. The thread stays: memory that a thread of its
//! own for each snapshot had used for the encoding would be kept for every one of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};
use domain::Timestamp;
use engine::StateSnapshot;
use storage::{LedgerStreams, SnapshotStore};
use tracing::{info, warn};

use crate::journal_records::{self, SnapshotParts};
use crate::simulation::RunDigest;

/// The content of a snapshot, as it was after the input of that sequence.
pub(crate) struct SnapshotJob {
    pub(crate) sequence: u64,
    pub(crate) engine: StateSnapshot,
    pub(crate) ledger: LedgerStreams,
    pub(crate) reserved: u64,
    pub(crate) digest: Option<RunDigest>,
    pub(crate) at: Timestamp,
}

pub(crate) struct SnapshotWriter {
    snapshots: Arc<SnapshotStore>,
    build: String,
    has_thread: bool,
    running: Option<SnapshotThread>,
}

/// The thread and the way to it. It writes one snapshot at a time, so one job waits at the most.
struct SnapshotThread {
    jobs: Sender<SnapshotJob>,
    is_busy: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl SnapshotWriter {
    pub(crate) fn new(snapshots: Arc<SnapshotStore>, build: String) -> Self {
        Self { snapshots, build, has_thread: true, running: None }
    }

    /// Writes on the thread of the caller.
    pub(crate) fn without_thread(self) -> Self {
        Self { has_thread: false, ..self }
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.running
            .as_ref()
            .is_some_and(|thread| !thread.handle.is_finished() && thread.is_busy.load(Ordering::Acquire))
    }

    pub(crate) fn start(&mut self, scene: SnapshotJob) {
        if !self.has_thread {
            return write(&self.snapshots, &scene, &self.build);
        }
        // One that panicked is replaced.
        let running = match self.running.take().filter(|thread| !thread.handle.is_finished()) {
            Some(running) => running,
            None => match SnapshotThread::spawn(self.snapshots.clone(), self.build.clone()) {
                Ok(running) => running,
                Err(problem) => {
                    warn!(%problem, "snapshot thread could not be started; the next start replays more of the journal");
                    return;
                }
            },
        };
        self.running.insert(running).write(scene);
    }

    /// An orderly stop waits for the current one and writes the last one, where anything is newer.
    pub(crate) fn finish(self, last: Option<&SnapshotJob>) {
        if let Some(SnapshotThread { jobs, handle, .. }) = self.running {
            drop(jobs);
            // A panic was logged; the last snapshot is written all the same.
            drop(handle.join());
        }
        if let Some(scene) = last {
            write(&self.snapshots, scene, &self.build);
        }
    }
}

impl SnapshotThread {
    fn spawn(snapshots: Arc<SnapshotStore>, build: String) -> std::io::Result<Self> {
        let (jobs, waiting): (_, Receiver<SnapshotJob>) = bounded(1);
        let is_busy = Arc::new(AtomicBool::new(false));
        let busy = is_busy.clone();
        let handle = thread::Builder::new().name("snapshot".into()).spawn(move || {
            for job in waiting {
                write(&snapshots, &job, &build);
                drop(job);
                busy.store(false, Ordering::Release);
            }
        })?;
        Ok(Self { jobs, is_busy, handle })
    }

    fn write(&self, job: SnapshotJob) {
        self.is_busy.store(true, Ordering::Release);
        if self.jobs.send(job).is_err() {
            warn!("snapshot thread has ended; the next start replays more of the journal");
        }
    }
}

fn write(snapshots: &SnapshotStore, scene: &SnapshotJob, build: &str) {
    let SnapshotJob { reserved, digest, at, .. } = scene;
    let (engine, ledger) = (&scene.engine.encode_state(), &scene.ledger.encode());
    let parts = SnapshotParts { engine, ledger, reserved: *reserved, digest: digest.clone(), at: *at };
    let state = journal_records::snapshot(&parts);
    match snapshots.write(scene.sequence, &state, build) {
        Ok(()) => info!(sequence = scene.sequence, bytes = state.len(), "snapshot written"),
        // The journal holds everything: without the snapshot the next start only takes longer.
        Err(problem) => {
            let sequence = scene.sequence;
            warn!(sequence, %problem, "snapshot could not be written; the next start replays more of the journal");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use engine::Engine;
    use storage::journal::InstanceId;
    use storage::lock::DataDirLock;

    use super::*;

    fn job(sequence: u64) -> SnapshotJob {
        let engine = Engine::default().snapshot();
        SnapshotJob { sequence, engine, ledger: LedgerStreams::default(), reserved: 0, digest: None, at: Timestamp(0) }
    }

    /// Threads of this process that write snapshots, now.
    fn snapshot_threads() -> BTreeSet<String> {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
        let is_ours = |task: &std::path::PathBuf| {
            std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "snapshot")
        };
        tasks.filter(is_ours).map(|task| task.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn one_thread_writes_all_snapshots() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DataDirLock::acquire(folder.path()).unwrap();
        let snapshots = Arc::new(SnapshotStore::open(&lock, InstanceId([7; 16])).unwrap());
        let mut writer = SnapshotWriter::new(snapshots.clone(), "test".to_owned());
        let mut threads = BTreeSet::new();
        for sequence in 1..=5 {
            writer.start(job(sequence));
            while writer.is_busy() {
                thread::yield_now();
            }
            threads.extend(snapshot_threads());
            assert_eq!(snapshots.latest_valid(None).unwrap().map(|found| found.sequence), Some(sequence));
        }
        assert_eq!(threads.len(), 1, "{threads:?}");
        writer.finish(Some(&job(6)));
        assert_eq!(snapshots.latest_valid(None).unwrap().map(|found| found.sequence), Some(6));
        assert_eq!(snapshot_threads(), BTreeSet::new());
    }
}
