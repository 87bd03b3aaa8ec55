//! Loop of a follower: frames of the log in, answers to queries out. It ends when this process leads, and hands its engine over.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bus::inbox::{InboxReceiver, RequestPayload};
use crossbeam_channel::{Receiver, Select, Sender, TryRecvError};
use engine::Engine;
use storage::journal::{Journal, SealedFrame};

use super::follower_engine::{FollowerEngine, FollowerError};
use crate::live::EngineClock;
use crate::recovery::RecoveredState;

/// Queries that are answered before frames are looked at again.
const QUERIES_PER_TURN_MAX: usize = 128;
/// The longest sleep, where nothing comes.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// What the reader of the log tells the loop, in the log's order.
pub enum FollowerUpdate {
    /// The next frames, which are in the own journal and durable.
    Frames(Vec<SealedFrame>),
    /// Shall this process lead? Answered when every frame before is applied, and never by an engine that could not apply one: it must not lead.
    MayLead(Sender<()>),
    /// This process leads: its journal takes the next records.
    Lead(Box<Journal>),
}

pub struct FollowerLoop {
    pub engine: FollowerEngine,
    pub inbox: InboxReceiver,
    pub updates: Receiver<FollowerUpdate>,
    /// Shared with those who show how far it is.
    pub applied: Arc<AtomicU64>,
    pub data_folder: PathBuf,
    pub clock: EngineClock,
}

/// Why the loop ended.
pub enum FollowerExit {
    Leads(Box<LeadHandover>),
    /// Nobody reads the log any more.
    Stopped,
    Failed(FollowerError),
}

/// Everything that a live loop goes on with.
pub struct LeadHandover {
    pub engine: Engine,
    pub recovered: RecoveredState,
    pub journal: Journal,
    pub inbox: InboxReceiver,
}

impl FollowerLoop {
    pub fn run(mut self) -> FollowerExit {
        loop {
            self.wait();
            let update = match self.updates.try_recv() {
                Ok(FollowerUpdate::Lead(journal)) => return self.lead(*journal),
                Ok(FollowerUpdate::Frames(frames)) => frames.iter().try_for_each(|frame| self.engine.apply(frame)),
                Ok(FollowerUpdate::MayLead(reply)) => {
                    // Whoever asked may have stopped.
                    let _ = reply.send(());
                    Ok(())
                }
                Err(TryRecvError::Empty) => Ok(()),
                Err(TryRecvError::Disconnected) => {
                    self.engine.stop();
                    return FollowerExit::Stopped;
                }
            };
            if let Err(error) = update {
                return FollowerExit::Failed(error);
            }
            self.applied.store(self.engine.applied(), Ordering::Release);
            self.answer();
        }
    }

    fn wait(&self) {
        let mut wakers = Select::new();
        wakers.recv(&self.updates);
        wakers.recv(self.inbox.requests.wake());
        let sleep = if self.inbox.requests.is_empty() { SLEEP_MAX } else { Duration::ZERO };
        // Both are looked at afterwards.
        let _ = wakers.ready_timeout(sleep);
    }

    /// A command cannot be carried out here. Its caller is told that there is no answer; the interfaces refuse commands before.
    fn answer(&mut self) {
        let _ = self.inbox.requests.wake().try_recv();
        let now = (self.clock)();
        for request in self.inbox.requests.take_batch(QUERIES_PER_TURN_MAX, |_| true) {
            if let RequestPayload::Query(query) = &request.payload {
                request.reply_to.send(self.engine.answer(now, query));
            }
        }
    }

    fn lead(mut self, journal: Journal) -> FollowerExit {
        if let Err(error) = self.engine.apply_journal(&self.data_folder, journal.last_sequence()) {
            return FollowerExit::Failed(error);
        }
        self.applied.store(self.engine.applied(), Ordering::Release);
        let (engine, recovered) = self.engine.hand_over();
        FollowerExit::Leads(Box::new(LeadHandover { engine, recovered, journal, inbox: self.inbox }))
    }
}
