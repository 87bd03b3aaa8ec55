//! Thread on which the second way logs on and takes its snapshot: a venue that does not answer holds up no order.

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use domain::Timestamp;
use domain::report::VenueSnapshot;
use std::time::Duration;

use crate::venue::{Adapter, SessionLost};

/// What is to be done: the adapter goes to the thread and comes back with the outcome.
struct LogOnTask {
    adapter: Box<dyn Adapter>,
    at: Timestamp,
    is_up: bool,
    wants_snapshot: bool,
}

/// The adapter is back; where the log-on failed it has no session.
pub(super) struct LogOnOutcome {
    pub(super) adapter: Box<dyn Adapter>,
    pub(super) snapshot: Result<Option<VenueSnapshot>, SessionLost>,
}

pub(super) struct LogOnThread {
    tasks: Sender<LogOnTask>,
    outcomes: Receiver<LogOnOutcome>,
}

impl LogOnThread {
    /// It ends with this value; `wake` is used when an outcome is there.
    pub(super) fn start(wake: Sender<()>) -> Self {
        let (tasks, queued) = bounded::<LogOnTask>(1);
        let (done, outcomes) = bounded(1);
        std::thread::spawn(move || {
            for task in queued {
                if done.send(task.run()).is_err() {
                    return;
                }
                // A full waker wakes already.
                let _ = wake.try_send(());
            }
        });
        Self { tasks, outcomes }
    }

    /// One at a time: there is one adapter. It is returned where the thread has gone.
    pub(super) fn log_on(
        &self,
        adapter: Box<dyn Adapter>,
        at: Timestamp,
        is_up: bool,
        wants_snapshot: bool,
    ) -> Result<(), Box<dyn Adapter>> {
        let task = LogOnTask { adapter, at, is_up, wants_snapshot };
        self.tasks.send(task).map_err(|refused| refused.0.adapter)
    }

    /// The outcome, where it comes in this time; an error where it never comes.
    pub(super) fn outcome(&self, wait: Duration) -> Result<Option<LogOnOutcome>, SessionLost> {
        match self.outcomes.recv_timeout(wait) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(SessionLost("its thread has ended; restart the server to use it again".into()))
            }
        }
    }
}

impl LogOnTask {
    fn run(mut self) -> LogOnOutcome {
        let snapshot = self.log_on();
        LogOnOutcome { adapter: self.adapter, snapshot }
    }

    fn log_on(&mut self) -> Result<Option<VenueSnapshot>, SessionLost> {
        if !self.is_up {
            self.adapter.connect(self.at)?;
        }
        if !self.wants_snapshot {
            return Ok(None);
        }
        let taken = self.adapter.snapshot(self.at);
        if taken.is_err() {
            self.adapter.disconnect(self.at);
        }
        taken.map(Some)
    }
}
