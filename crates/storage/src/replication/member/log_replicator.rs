//! Log replicator: copies the frames of a leader's journal to the replicated log, on a thread of its own.
//!
//! Without a majority it waits and tries again, however long that takes: the frame stays the same one, and nothing counts meanwhile.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::cursor_file::CursorFile;
use super::status::ReplicationStatus;
use super::trimming::LogTrimmer;
use crate::journal::{FrameReplicator, SealedFrame};
use crate::replication::cursor::LogCursor;
use crate::replication::port::{LogOutcome, LogRefusal, QuorumLog};
use crate::replication::types::LogPosition;

/// Between two attempts at one frame: the first pause, which doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_LONGEST: Duration = Duration::from_secs(1);

/// The thread, as the journal's writer sees it.
pub(crate) struct LogReplicator {
    frames: Option<Sender<SealedFrame>>,
    outcomes: Receiver<Result<(), String>>,
    status: Arc<ReplicationStatus>,
    thread: Option<JoinHandle<()>>,
}

impl LogReplicator {
    /// `log` leads, and its last entry is where the cursor stands. The status tells others how it goes, and stops it.
    pub(crate) fn start(
        log: impl QuorumLog + Send + 'static,
        (cursor, file): (LogCursor, CursorFile),
        status: Arc<ReplicationStatus>,
    ) -> io::Result<Self> {
        // One frame is on its way at a time, so neither side ever waits to send.
        let (frames, begun) = bounded(1);
        let (finished, outcomes) = bounded(1);
        let trimmer = status.trim_settings().map(|trim| LogTrimmer::new(trim, cursor.position(), Instant::now()));
        let worker = Worker { log, cursor, file, status: status.clone(), trimmer };
        let serve = move || worker.serve(&begun, &finished);
        let thread = thread::Builder::new().name("replication".to_owned()).spawn(serve)?;
        Ok(Self { frames: Some(frames), outcomes, status, thread: Some(thread) })
    }

    /// Copies a frame that is in the journal already.
    pub(crate) fn copy(&mut self, frame: SealedFrame) -> Result<(), String> {
        self.begin(frame);
        self.finish()
    }
}

impl FrameReplicator for LogReplicator {
    fn begin(&mut self, frame: SealedFrame) {
        if let Some(frames) = &self.frames {
            // A thread that is gone shows in `finish`.
            let _ = frames.send(frame);
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        self.outcomes.recv().unwrap_or_else(|_| Err("the replication thread is gone".to_owned()))
    }
}

impl Drop for LogReplicator {
    fn drop(&mut self) {
        self.frames = None;
        self.status.stop();
        if let Some(thread) = self.thread.take() {
            // Its panic has shown in `finish`.
            let _ = thread.join();
        }
    }
}

struct Worker<L> {
    log: L,
    /// Behind the last entry that was accepted.
    cursor: LogCursor,
    file: CursorFile,
    status: Arc<ReplicationStatus>,
    /// None where the log is never trimmed.
    trimmer: Option<LogTrimmer>,
}

impl<L: QuorumLog> Worker<L> {
    fn serve(mut self, begun: &Receiver<SealedFrame>, finished: &Sender<Result<(), String>>) {
        if let Ok(Some(beginning)) = self.log.beginning() {
            self.status.set_beginning(beginning.position);
        }
        for frame in begun {
            let outcome = self.replicate(&frame);
            let is_over = outcome.is_err();
            if finished.send(outcome).is_err() || is_over {
                return;
            }
        }
    }

    fn replicate(&mut self, frame: &SealedFrame) -> Result<(), String> {
        // The journal begins a frame when it has synced the one before, so up to here the cursor is never too new.
        self.file.note(&self.cursor);
        if let Some(reason) = self.status.state().refused {
            return Err(format!("the log must not be used any more: {reason}"));
        }
        self.keep_short()?;
        // A repeated frame may have been accepted the first time, so only the first sending proves that this process led.
        let sent = Instant::now();
        let outcome = self.log.append(frame);
        match settle_outcome(&mut self.log, outcome, &self.status, |log| log.append(frame))? {
            LogOutcome::Accepted { position } => {
                self.cursor.append(frame);
                self.status.accept(position, sent);
                if let Some(trimmer) = &mut self.trimmer {
                    trimmer.add_entry(frame.len());
                }
                Ok(())
            }
            _ => self.fenced(),
        }
    }

    fn fenced(&self) -> Result<(), String> {
        self.status.fence();
        Err("another process leads: the log has its entry where this frame should be".to_owned())
    }

    /// Writes a mark where one is due, and trims the log. Everything up to here is in the own journal, synced, so that this
    /// process, too, finds its place at the mark.
    fn keep_short(&mut self) -> Result<(), String> {
        let Some(trimmer) = &mut self.trimmer else { return Ok(()) };
        let now = Instant::now();
        if trimmer.is_mark_due(self.cursor.position(), now) {
            let outcome = self.log.mark();
            match settle_outcome(&mut self.log, outcome, &self.status, L::mark)? {
                LogOutcome::Accepted { position } => {
                    self.cursor.mark();
                    self.status.accept(position, now);
                    trimmer.add_mark(position, now);
                }
                _ => return self.fenced(),
            }
        }
        let slowest = self.status.slowest_follower(trimmer.settings());
        let (due, holder) = trimmer.due(self.cursor.position(), slowest, now);
        self.status.set_trim_holder(holder);
        if let Some(below) = due {
            self.trim(below, now);
        }
        Ok(())
    }

    /// A log that cannot be trimmed is only longer than it should be.
    fn trim(&mut self, below: LogPosition, now: Instant) {
        let outcome = self.log.trim(below);
        match &outcome {
            Ok(()) => {
                tracing::debug!(begins = %below, "the replicated log was trimmed");
                self.status.set_beginning(below);
            }
            Err(error) => tracing::warn!(%error, %below, "the replicated log could not be trimmed; trying again later"),
        }
        if let Some(trimmer) = &mut self.trimmer {
            trimmer.set_outcome(below, outcome.is_ok(), now);
        }
    }
}

/// Waits until an entry is accepted or fenced. What is certainly not in the log is sent `again`, what may be is settled. An error where
/// neither can come, or where the status says stop.
pub(crate) fn settle_outcome<L: QuorumLog>(
    log: &mut L,
    mut outcome: LogOutcome,
    status: &ReplicationStatus,
    again: impl Fn(&mut L) -> LogOutcome,
) -> Result<LogOutcome, String> {
    let mut pause = PAUSE_FIRST;
    loop {
        let is_unknown = matches!(outcome, LogOutcome::Unknown { .. });
        match outcome {
            LogOutcome::Accepted { .. } | LogOutcome::Fenced { .. } => return Ok(outcome),
            LogOutcome::Unknown { cause } => status.wait_for(cause.to_string()),
            LogOutcome::Refused { reason: LogRefusal::Rejected { reason } } => status.wait_for(reason),
            LogOutcome::Refused { reason } => return Err(reason.to_string()),
        }
        if status.wait_stopped(pause) {
            return Err("stopped before a majority had the last entry".to_owned());
        }
        pause = (pause * 2).min(PAUSE_LONGEST);
        outcome = if is_unknown { log.settle() } else { again(log) };
    }
}
