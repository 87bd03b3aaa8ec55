//! A runtime of one thread whose clock the simulator moves.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::advance;

/// Each lets every task run that is ready; what a task wakes then has its turn, too.
const ROUNDS_PER_STEP: usize = 8;

pub(crate) struct SteppedRuntime {
    runtime: Arc<Runtime>,
    /// The simulated time that it has come to.
    reached: i64,
}

impl SteppedRuntime {
    pub(crate) fn new(now: i64) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        Ok(Self { runtime: Arc::new(runtime.map_err(|error| error.to_string())?), reached: now })
    }

    pub(crate) fn shared(&self) -> Arc<Runtime> {
        self.runtime.clone()
    }

    /// Everything that is ready or due by now has its turn.
    pub(crate) fn step(&mut self, now: i64) {
        let passed = u64::try_from(now - self.reached).unwrap_or(0);
        self.reached = now;
        self.runtime.block_on(async {
            advance(Duration::from_nanos(passed)).await;
            for _ in 0..ROUNDS_PER_STEP {
                yield_now().await;
            }
        });
    }
}
