//! A runtime of one thread whose clock the simulator moves: that of a port, of the FIX adapter or of the lab.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::advance;

pub(crate) struct SteppedRuntime {
    runtime: Arc<Runtime>,
    /// Each lets every task run that is ready; what a task wakes then has its turn, too.
    rounds_per_step: usize,
    /// The simulated time that it has come to.
    reached: i64,
}

impl SteppedRuntime {
    pub(crate) fn new(now: i64, rounds_per_step: usize) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        Ok(Self { runtime: Arc::new(runtime.map_err(|error| error.to_string())?), rounds_per_step, reached: now })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
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
            for _ in 0..self.rounds_per_step {
                yield_now().await;
            }
        });
    }
}
