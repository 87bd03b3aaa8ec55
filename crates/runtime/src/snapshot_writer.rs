//! Snapshot writer: encodes and writes snapshots on its own thread, one at a time, so the engine waits neither for the
//! disk nor for the encoding. Where the loop is stepped by hand it has no thread.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use domain::Timestamp;
use engine::StateSnapshot;
use storage::{LedgerSnapshot, SnapshotStore};
use tracing::{info, warn};

use crate::journal_records::{self, SnapshotParts};
use crate::simulation::RunDigest;

/// The content of a snapshot, as it was after the input of that sequence.
pub(crate) struct SnapshotJob {
    pub(crate) sequence: u64,
    pub(crate) engine: StateSnapshot,
    pub(crate) ledger: LedgerSnapshot,
    pub(crate) reserved: u64,
    pub(crate) digest: Option<RunDigest>,
    pub(crate) at: Timestamp,
}

pub(crate) struct SnapshotWriter {
    snapshots: Arc<SnapshotStore>,
    build: String,
    has_thread: bool,
    running: Option<JoinHandle<()>>,
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
        self.running.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    pub(crate) fn start(&mut self, scene: SnapshotJob) {
        if !self.has_thread {
            return write(&self.snapshots, &scene, &self.build);
        }
        let (snapshots, build) = (self.snapshots.clone(), self.build.clone());
        let thread = thread::Builder::new().name("snapshot".into());
        match thread.spawn(move || write(&snapshots, &scene, &build)) {
            Ok(running) => self.running = Some(running),
            Err(problem) => {
                warn!(%problem, "snapshot thread could not be started; the next start replays more of the journal");
            }
        }
    }

    /// An orderly stop waits for the current one and writes the last one, where anything is newer.
    pub(crate) fn finish(self, last: Option<&SnapshotJob>) {
        if let Some(thread) = self.running {
            // A panic was logged; the last snapshot is written all the same.
            drop(thread.join());
        }
        if let Some(scene) = last {
            write(&self.snapshots, scene, &self.build);
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
