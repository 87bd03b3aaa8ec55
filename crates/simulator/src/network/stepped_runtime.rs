//! A runtime of one thread whose clock the simulator moves: that of a port, of the FIX adapter or of the lab.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::advance;

use crate::schedule::MILLI;

pub(crate) struct SteppedRuntime {
    runtime: Arc<Runtime>,
    /// Each lets every task run that is ready; what a task wakes then has its turn, too.
    rounds_per_step: usize,
    /// The simulated time at its beginning.
    begun: i64,
    /// The simulated time that it has come to.
    reached: i64,
    /// Whether a task was ready at the beginning of the last step.
    was_woken: bool,
}

impl SteppedRuntime {
    pub(crate) fn new(now: i64, rounds_per_step: usize) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = Arc::new(runtime.map_err(|error| error.to_string())?);
        Ok(Self { runtime, rounds_per_step, begun: now, reached: now, was_woken: false })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn shared(&self) -> Arc<Runtime> {
        self.runtime.clone()
    }

    /// Everything that is ready or due by now has its turn.
    pub(crate) fn step(&mut self, now: i64) {
        self.was_woken = self.is_woken();
        let passed = u64::try_from(now - self.reached).unwrap_or(0);
        self.reached = now;
        self.runtime.block_on(async {
            advance(Duration::from_nanos(passed)).await;
            for _ in 0..self.rounds_per_step {
                yield_now().await;
            }
        });
    }

    /// As [`Self::step`], which is left out where nothing is ready or due. A step with work may leave some for the next one, which is
    /// never left out.
    pub(crate) fn step_if_due(&mut self, now: i64) {
        if self.was_woken || self.is_woken() || self.has_ticked(now) {
            self.step(now);
        }
    }

    /// Whether a task was woken since the last step: what is outside of the runtime then puts it into the global queue.
    fn is_woken(&self) -> bool {
        self.runtime.metrics().global_queue_depth() > 0
    }

    /// Whether a timer may be due: the timers of the runtime go by whole milliseconds since it began.
    fn has_ticked(&self, now: i64) -> bool {
        (now - self.begun) / MILLI != (self.reached - self.begun) / MILLI
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;
    use tokio::time::sleep;

    use super::*;

    #[test]
    fn a_step_is_left_out_only_where_no_task_is_woken_and_no_timer_is_due() {
        let mut stepped = SteppedRuntime::new(7, 2).unwrap();
        let (wake, woken, slept) = (Arc::new(Notify::new()), Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (waiting, count) = (wake.clone(), woken.clone());
        stepped.runtime().spawn(async move {
            loop {
                waiting.notified().await;
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let count = slept.clone();
        stepped.runtime().spawn(async move {
            sleep(Duration::from_millis(2)).await;
            count.fetch_add(1, Ordering::Relaxed);
        });
        let counts = || (woken.load(Ordering::Relaxed), slept.load(Ordering::Relaxed));
        stepped.step_if_due(7);
        wake.notify_one();
        stepped.step_if_due(7);
        assert_eq!(counts(), (1, 0), "a task was woken from outside");
        stepped.step_if_due(8);
        stepped.step_if_due(9);
        assert_eq!(stepped.reached, 8, "the step behind one with work is taken, and then nothing is due");
        stepped.step_if_due(7 + 2 * MILLI - 1);
        assert_eq!(counts(), (1, 0));
        stepped.step_if_due(7 + 2 * MILLI);
        assert_eq!(counts(), (1, 1), "the timer is due");
    }
}
