//! Heartbeat of a strategy process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use domain::ReferenceData;
use strategy::Who;

use super::inside::Inside;
use super::runner::Note;

/// What the bridge gets for a strategy process that connected.
pub struct Attached {
    pub who: Who,
    pub reference: Arc<ReferenceData>,
    pub link: Inside,
    pub notes: Sender<Note>,
    pub pulse: Pulse,
    /// The earlier run continues.
    pub is_resumed: bool,
}

/// When a strategy process was last heard, and what it had acknowledged by then.
#[derive(Clone)]
pub struct Pulse(Arc<Mutex<Beat>>);

#[derive(Debug, Clone, Copy)]
struct Beat {
    at: Instant,
    heard: u64,
}

impl Default for Pulse {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Beat { at: Instant::now(), heard: 0 })))
    }
}

impl Pulse {
    /// Records a heartbeat.
    pub fn beat(&self) {
        self.lock().at = Instant::now();
    }

    /// Records a heartbeat and what it has acknowledged.
    pub fn heard(&self, sequence: u64) {
        let mut beat = self.lock();
        *beat = Beat { at: Instant::now(), heard: beat.heard.max(sequence) };
    }

    pub(super) fn last_heard(&self) -> u64 {
        self.lock().heard
    }

    pub(super) fn silent_for(&self) -> Duration {
        self.lock().at.elapsed()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Beat> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
