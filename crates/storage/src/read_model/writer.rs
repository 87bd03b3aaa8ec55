//! Read model writer thread: one transaction for all waiting events, so it is the faster the more there is to do. A store
//! that does not answer is tried again after a pause that doubles up to a limit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::progress::ApplyProgress;
use super::queue::EventQueue;
use super::store::{EventBatch, RowStore, StoreProblem};

/// Inputs without events are noted no more often than this: a start may have to replay that much more.
const APPLIED_SAVE_INTERVAL: Duration = Duration::from_secs(1);
/// Pause before the first new attempt to reach a store; it doubles with every further one.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two attempts to reach a store.
pub const STORE_RECONNECT_PAUSE_MAX: Duration = Duration::from_secs(10);

pub(crate) struct ReadModelWriter {
    store: Box<dyn RowStore>,
    queue: Arc<EventQueue>,
    progress: Arc<ApplyProgress>,
    is_connected: bool,
    /// The sequence that the store has.
    saved: u64,
    /// Whether inputs were applied that the store does not know of.
    is_save_due: bool,
    saved_at: Instant,
    /// Before the next attempt to connect; a write that succeeds makes it short again.
    pause: Duration,
}

impl ReadModelWriter {
    /// `is_connected`: the store was opened before, and the queue begins at its sequence.
    pub(crate) fn new(
        store: Box<dyn RowStore>,
        queue: Arc<EventQueue>,
        progress: Arc<ApplyProgress>,
        is_connected: bool,
    ) -> Self {
        Self {
            store,
            queue,
            saved: progress.applied(),
            progress,
            is_connected,
            is_save_due: false,
            saved_at: Instant::now(),
            pause: RECONNECT_PAUSE,
        }
    }

    pub(crate) fn run(mut self) {
        loop {
            match self.run_until_problem() {
                Ok(()) => return,
                Err(StoreProblem::Unavailable(reason)) => self.disconnect(reason),
                Err(StoreProblem::Failed(reason)) => {
                    tracing::error!(%reason, "read model failed; history is stale until the next start");
                    return self.progress.fail(reason);
                }
            }
        }
    }

    /// Returns when the queue is closed.
    fn run_until_problem(&mut self) -> Result<(), StoreProblem> {
        if !self.is_connected && !self.connect()? {
            return Ok(());
        }
        while let Some(taken) = self.queue.take_batch(APPLIED_SAVE_INTERVAL) {
            self.apply(&taken)?;
            self.progress.advance(taken.through, self.saved);
        }
        if self.queue.is_overdue() {
            tracing::warn!(
                applied = self.progress.applied(),
                "the store of the read model is slow; the journal has what it lacks"
            );
            return Ok(());
        }
        self.save_applied(self.progress.applied())?;
        self.store.maintain(true)
    }

    /// Tries until the store answers. False where the queue was closed before.
    fn connect(&mut self) -> Result<bool, StoreProblem> {
        let mut known = None;
        while !self.queue.is_closed() {
            match self.store.connect() {
                Ok(applied) => {
                    tracing::info!(applied, "the store of the read model is connected");
                    self.on_connected(applied);
                    return Ok(true);
                }
                Err(StoreProblem::Unavailable(reason)) => {
                    // Once for each reason: an outage may last for hours.
                    if known.as_ref() != Some(&reason) {
                        tracing::warn!(%reason, "the store of the read model is not available and is tried again");
                    }
                    self.progress.interrupt(reason.clone());
                    known = Some(reason);
                }
                Err(failed) => return Err(failed),
            }
            self.wait_to_retry();
        }
        Ok(false)
    }

    fn wait_to_retry(&mut self) {
        self.queue.wait_closed(self.pause);
        self.pause = (self.pause * 2).min(STORE_RECONNECT_PAUSE_MAX);
    }

    fn on_connected(&mut self, applied: u64) {
        (self.is_connected, self.is_save_due, self.saved) = (true, false, applied);
        self.progress.resume(applied);
        self.queue.attach(applied);
    }

    /// What waits is dropped: the journal has it, and how far the store came is known when it answers again.
    fn disconnect(&mut self, reason: String) {
        tracing::warn!(
            %reason, applied = self.progress.applied(),
            "the store of the read model is not available; trading goes on, and the journal has what is missing"
        );
        self.is_connected = false;
        self.progress.interrupt(reason);
        self.queue.detach();
        self.wait_to_retry();
    }

    fn apply(&mut self, taken: &EventBatch) -> Result<(), StoreProblem> {
        self.is_save_due |= taken.through > self.progress.applied();
        if !taken.events.is_empty() {
            self.store.write(taken)?;
            self.on_saved(taken.through);
        } else if self.saved_at.elapsed() >= APPLIED_SAVE_INTERVAL {
            self.save_applied(taken.through)?;
        }
        self.store.maintain(false)
    }

    fn save_applied(&mut self, applied: u64) -> Result<(), StoreProblem> {
        if self.is_save_due {
            self.store.save_applied(applied)?;
            self.on_saved(applied);
        }
        Ok(())
    }

    fn on_saved(&mut self, applied: u64) {
        self.saved = applied;
        (self.is_save_due, self.saved_at, self.pause) = (false, Instant::now(), RECONNECT_PAUSE);
    }
}

impl Drop for ReadModelWriter {
    /// Also after a failure or a panic: no producer may wait for a queue that is not emptied any more.
    fn drop(&mut self) {
        self.queue.close();
    }
}
