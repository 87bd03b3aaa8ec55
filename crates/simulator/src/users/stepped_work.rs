//! Work that waits for the journal, such as a change of a user. It has a thread of its own, which runs only while the simulator waits for
//! it and hands its turn back where it would wait: one of the two runs at a time, and everything follows from the seed.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use access::AccessWork;
use domain::PlantedBug;

use crate::invariants::panics::PanicRecord;

/// From the simulator to the thread.
enum Turn {
    Begin(AccessWork),
    GoOn,
}

/// From the thread to the simulator.
enum TurnEnd {
    Finished,
    /// It waits for the journal.
    Paused,
}

/// Work that has not begun.
#[derive(Default)]
pub(super) struct WorkQueue(Mutex<VecDeque<AccessWork>>);

impl WorkQueue {
    pub(super) fn push(&self, work: AccessWork) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(work);
    }

    fn pop(&self) -> Option<AccessWork> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// The thread's side.
pub(super) struct WorkTurns {
    turns: Mutex<Receiver<Turn>>,
    ends: Sender<TurnEnd>,
}

impl WorkTurns {
    /// Hands the turn back and waits for the next. Whether the process is still there.
    pub(super) fn pause(&self) -> bool {
        let is_told = self.ends.send(TurnEnd::Paused).is_ok();
        is_told && matches!(self.next(), Some(Turn::GoOn))
    }

    fn next(&self) -> Option<Turn> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }

    fn run(&self) {
        while let Some(Turn::Begin(work)) = self.next() {
            // Whoever waits for it learns that it is gone, as in the server. The run knows of the panic.
            drop(catch_unwind(AssertUnwindSafe(work)));
            if self.ends.send(TurnEnd::Finished).is_err() {
                return;
            }
        }
    }
}

/// The simulator's side. What has not ended is cut off with the process.
pub(super) struct SteppedWork {
    queue: Arc<WorkQueue>,
    /// Some until it is dropped.
    turns: Option<Sender<Turn>>,
    ends: Receiver<TurnEnd>,
    is_paused: bool,
    thread: Option<JoinHandle<()>>,
}

impl SteppedWork {
    pub(super) fn start(queue: Arc<WorkQueue>) -> Result<(Self, Arc<WorkTurns>), String> {
        let ((turns, next), (ended, ends)) = (channel(), channel());
        let side = Arc::new(WorkTurns { turns: Mutex::new(next), ends: ended });
        let (planted, panics, running) = (planted_bug(), PanicRecord::of_this_thread(), side.clone());
        let thread = std::thread::Builder::new().name("user work".to_owned()).spawn(move || {
            let _watch = panics.as_ref().map(PanicRecord::watch);
            plant(planted);
            running.run();
        });
        let thread = thread.map_err(|error| error.to_string())?;
        Ok((Self { queue, turns: Some(turns), ends, is_paused: false, thread: Some(thread) }, side))
    }

    /// What can go on goes on, one after the other. Whether anything ended.
    pub(super) fn step(&mut self) -> bool {
        let mut has_ended = false;
        while let Some(turn) = self.next_turn() {
            let turns = self.turns.as_ref().expect("it is there until it is dropped");
            turns.send(turn).expect("the thread waits for its turn");
            let end = self.ends.recv().expect("the thread is there until the simulator ends it");
            self.is_paused = matches!(end, TurnEnd::Paused);
            if self.is_paused {
                break;
            }
            has_ended = true;
        }
        has_ended
    }

    fn next_turn(&self) -> Option<Turn> {
        if self.is_paused { Some(Turn::GoOn) } else { self.queue.pop().map(Turn::Begin) }
    }
}

impl Drop for SteppedWork {
    /// Work that waits learns that the process is gone.
    fn drop(&mut self) {
        drop(self.turns.take());
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// Switches are those of a thread.
fn planted_bug() -> Option<PlantedBug> {
    PlantedBug::ALL.into_iter().find(|bug| bug.is_planted())
}

#[cfg(feature = "planted-bugs")]
fn plant(bug: Option<PlantedBug>) {
    domain::planted_bugs::plant(bug);
}

#[cfg(not(feature = "planted-bugs"))]
fn plant(_: Option<PlantedBug>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_ends_and_the_run_knows_it() {
        let panics = PanicRecord::default();
        let _watch = panics.watch();
        let queue = Arc::new(WorkQueue::default());
        let (mut work, _turns) = SteppedWork::start(queue.clone()).unwrap();
        queue.push(Box::new(|| panic!("a change of users failed")));
        assert!(work.step(), "whoever waits for it goes on");
        let broken = panics.nothing_panicked().unwrap_err().to_string();
        assert!(broken.starts_with("the platform panicked: a change of users failed"), "{broken}");
    }
}
