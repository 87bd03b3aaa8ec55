//! Loop of a follower: frames of the log in, answers to queries out. It ends when this process leads, and hands its engine over.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bus::inbox::{EngineRequest, InboxReceiver, RequestPayload};
use bus::reply::Reply;
use crossbeam_channel::{Receiver, Select, Sender, TryRecvError};
use domain::{Query, Timestamp};
use engine::Engine;
use storage::journal::{Journal, SealedFrame};

use super::follower_engine::{FollowerEngine, FollowerError};
use super::price_demand::{PriceDemand, PriceKnowledge};
use crate::live::EngineClock;
use crate::recovery::RecoveredState;

/// Queries that are answered before frames are looked at again.
const QUERIES_PER_TURN_MAX: usize = 128;
/// The longest sleep, where nothing comes.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// The longest sleep while a question waits for prices.
const SLEEP_WHILE_HELD: Duration = Duration::from_millis(5);
/// So long a question waits for prices; then it is answered with what is known, and with the state of that and of what is not.
const HOLD_MAX: Duration = Duration::from_secs(1);
/// Questions that wait for prices; one more is answered at once.
const HELD_MAX: usize = 1_024;

/// What the reader of the log tells the loop, in the log's order.
pub enum FollowerUpdate {
    /// The next frames, which are in the own journal and durable.
    Frames(Vec<SealedFrame>),
    /// Answered when every frame before is applied, and never by an engine that could not apply one: it must not lead.
    Applied(Sender<()>),
    /// This process leads: its journal takes the next records.
    Lead(Box<Journal>),
}

pub struct FollowerLoop {
    pub engine: FollowerEngine,
    pub inbox: InboxReceiver,
    pub updates: Receiver<FollowerUpdate>,
    /// Shared with those who show how far it is.
    pub applied: Arc<AtomicU64>,
    /// Whether it writes a snapshot: it must not lead meanwhile, because the hand-over would wait for that, and the new leader be silent.
    pub is_writing_snapshot: Arc<AtomicBool>,
    pub data_folder: PathBuf,
    pub clock: EngineClock,
    /// Shared with whoever gets the prices of the leader.
    pub demand: Arc<PriceDemand>,
}

/// A question that waits for prices.
struct HeldQuery {
    until: Instant,
    request: EngineRequest,
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
        let mut held = Vec::new();
        loop {
            self.wait(!held.is_empty());
            let update = match self.updates.try_recv() {
                Ok(FollowerUpdate::Lead(journal)) => {
                    self.answer_all(held.drain(..).map(|held: HeldQuery| held.request), &self.demand.known());
                    return self.lead(*journal);
                }
                Ok(FollowerUpdate::Frames(frames)) => frames.iter().try_for_each(|frame| self.engine.apply(frame)),
                Ok(FollowerUpdate::Applied(reply)) => {
                    self.tell_snapshot();
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
            self.tell_snapshot();
            self.answer(&mut held);
        }
    }

    fn tell_snapshot(&self) {
        self.is_writing_snapshot.store(self.engine.is_writing_snapshot(), Ordering::Release);
    }

    fn wait(&self, has_held: bool) {
        let mut wakers = Select::new();
        wakers.recv(&self.updates);
        wakers.recv(self.inbox.requests.wake());
        wakers.recv(&self.inbox.wake);
        let sleep = if has_held { SLEEP_WHILE_HELD } else { SLEEP_MAX };
        let sleep = if self.inbox.requests.is_empty() { sleep } else { Duration::ZERO };
        // All are looked at afterwards.
        let _ = wakers.ready_timeout(sleep);
    }

    /// A command cannot be carried out here. Its caller is told that there is no answer; the interfaces refuse commands before.
    fn answer(&mut self, held: &mut Vec<HeldQuery>) {
        let _ = self.inbox.requests.wake().try_recv();
        // Who may be answered, and of what, is known before the prices are taken: those that it waited for are among them.
        let due = self.due_queries(held);
        let known = if due.is_empty() { PriceKnowledge::default() } else { self.demand.known() };
        self.apply_prices();
        self.answer_all(due.into_iter(), &known);
    }

    fn answer_all(&self, requests: impl Iterator<Item = EngineRequest>, known: &PriceKnowledge) {
        let now = (self.clock)();
        for request in requests {
            if let RequestPayload::Query(query) = &request.payload {
                request.reply_to.send(self.reply(now, query, known));
            }
        }
    }

    fn reply(&self, now: Timestamp, query: &Query, known: &PriceKnowledge) -> Reply {
        let Reply { sequence, outcome } = self.engine.answer(now, query);
        let reference = self.engine.reference();
        Reply { sequence, outcome: outcome.and_then(|answer| known.complete(query, answer, reference, now)) }
    }

    fn due_queries(&self, held: &mut Vec<HeldQuery>) -> Vec<EngineRequest> {
        let (now, demand) = (Instant::now(), &self.demand);
        let is_due = |held: &mut HeldQuery| {
            let RequestPayload::Query(query) = &held.request.payload else { return true };
            held.until <= now || !demand.is_awaited(query, now)
        };
        let mut due: Vec<_> = held.extract_if(.., is_due).map(|held| held.request).collect();
        for request in self.inbox.requests.take_batch(QUERIES_PER_TURN_MAX, |_| true) {
            let waits = matches!(&request.payload, RequestPayload::Query(query) if self.demand.note(query, now));
            match waits && held.len() < HELD_MAX {
                true => held.push(HeldQuery { until: now + HOLD_MAX, request }),
                false => due.push(request),
            }
        }
        due
    }

    fn apply_prices(&mut self) {
        let _ = self.inbox.wake.try_recv();
        let now = (self.clock)();
        for data in self.inbox.drain_prices() {
            self.engine.apply_price(now, data);
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
