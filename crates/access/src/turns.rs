//! Serialises equal login attempts, so that a password is hashed once: a program that opens many connections with one
//! password waits for the first result.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::proven::Mark;

type Line = Arc<tokio::sync::Mutex<()>>;

#[derive(Default)]
pub(crate) struct Turns(Mutex<BTreeMap<Mark, Line>>);

/// Held by the attempt that is being processed.
pub(crate) type Turn = OwnedMutexGuard<()>;

impl Turns {
    pub(crate) async fn wait(&self, mark: Mark) -> Turn {
        self.line(mark).lock_owned().await
    }

    /// A lock without waiters is held by the map alone.
    fn line(&self, mark: Mark) -> Line {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.retain(|_, line| Arc::strong_count(line) > 1);
        lines.entry(mark).or_default().clone()
    }
}
