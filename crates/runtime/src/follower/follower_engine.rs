//! Engine of a follower: it applies each frame that the log proves, by the code of a recovery, and keeps snapshots, read model and
//! event feed up to date. What the own journal has beyond the log is never applied.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bus::reply::Reply;
use bus::{Catalogue, EventFeed};
use domain::command::MarketData;
use domain::query::Answer;
use domain::{Event, Input, PriceGap, PublishedEvent, Query, ReferenceData, Sequenced, Timestamp};
use engine::{Engine, Outbox};
use storage::journal::{self, JournalEntry, JournalReader, SealedFrame};
use storage::{JournalLedger, RetiredIndex, SnapshotStore};

use crate::journal_records::{self, UnreadableRecord};
use crate::live::EventSink;
use crate::live::snapshots::schedule::{SnapshotSchedule, UnsavedInputs};
use crate::live::snapshots::writer::{SnapshotJob, SnapshotWriter};
use crate::recovery::{RecoveredState, RecoveryError, RecoveryReplay};

/// What the engine stands on, and who hears of its events.
pub struct FollowerParts {
    pub ledger: Arc<JournalLedger>,
    pub retired: Option<Arc<RetiredIndex>>,
    pub snapshots: Arc<SnapshotStore>,
    pub feed: EventFeed,
    pub catalogue: Catalogue,
    /// The last record at which the leader's digest was compared and equal; shared with those who show it.
    pub digest_compared: Arc<AtomicU64>,
    /// Feeds the read model.
    pub event_sink: EventSink,
    pub snapshot_schedule: SnapshotSchedule,
    pub build: String,
    /// Whether the journal has prices.
    pub journal_ticks: bool,
}

pub struct FollowerEngine {
    engine: Engine,
    recovered: RecoveredState,
    parts: FollowerParts,
    unsaved: UnsavedInputs,
    snapshot_writer: SnapshotWriter,
    /// Whether its bars are those of the leader: the journal has every price.
    has_bars: bool,
}

/// Why a follower's engine cannot go on.
#[derive(Debug)]
pub enum FollowerError {
    Recovery(RecoveryError),
    /// The leader's state before this record was another one: one of the two is wrong, and the follower must not be believed.
    Diverged {
        sequence: u64,
        leader: String,
        own: String,
    },
}

impl FollowerEngine {
    /// Goes on with an engine that was recovered up to what the log had proven.
    pub fn new((engine, recovered): (Engine, RecoveredState), parts: FollowerParts) -> Self {
        parts.catalogue.replace(engine.reference().clone());
        let snapshot_writer = SnapshotWriter::new(parts.snapshots.clone(), parts.build.clone());
        let unsaved = UnsavedInputs::new(recovered.replayed, recovered.at);
        let has_bars = parts.journal_ticks;
        let mut follower = Self { engine, recovered, parts, unsaved, snapshot_writer, has_bars };
        follower.tell_applied();
        follower
    }

    /// The sequence of the last record that was applied.
    pub fn applied(&self) -> u64 {
        self.recovered.last_sequence
    }

    /// Applies a frame that the log has proven. After an error nothing more may be applied.
    pub fn apply(&mut self, frame: &SealedFrame) -> Result<(), FollowerError> {
        let mut compared = None;
        self.replay(|replay| {
            frame.records().try_for_each(|entry| {
                compared = apply_record(replay, &entry)?.or(compared);
                Ok(())
            })
        })?;
        compared.into_iter().for_each(|sequence| self.parts.digest_compared.store(sequence, Ordering::Release));
        let sizes: Vec<usize> = frame.records().map(|entry| entry.payload.len()).collect();
        self.unsaved.add(self.recovered.at, sizes.into_iter());
        self.tell_applied();
        self.write_snapshot_if_due();
        Ok(())
    }

    /// Applies what the own journal has up to a sequence, once that is proven: it was unproven, and became the first of an own epoch.
    pub fn apply_journal(&mut self, data_folder: &Path, end: u64) -> Result<(), FollowerError> {
        let applied = self.applied();
        let source = JournalReader::open(&data_folder.join(journal::FOLDER), applied + 1);
        let mut source = source.map_err(RecoveryError::from)?;
        self.replay(|replay| {
            while let Some(entry) = source.read_to(end).map_err(RecoveryError::from)? {
                apply_record(replay, &entry)?;
            }
            Ok(())
        })
    }

    /// Records without events count for history too.
    fn tell_applied(&mut self) {
        (self.parts.event_sink)(self.recovered.last_sequence, &[]);
    }

    /// By the code of a recovery. What happens is told as it is applied: all of it is durable.
    fn replay(
        &mut self,
        visit: impl FnOnce(&mut RecoveryReplay<'_>) -> Result<(), FollowerError>,
    ) -> Result<(), FollowerError> {
        let FollowerParts { ledger, retired, feed, catalogue, event_sink, .. } = &mut self.parts;
        let mut tell = |through: u64, events: &[PublishedEvent]| {
            events.iter().for_each(|published| publish(feed, catalogue, published));
            event_sink(through, events);
        };
        let state = (std::mem::take(&mut self.engine), std::mem::take(&mut self.recovered));
        let mut replay = RecoveryReplay::resume(state, (ledger, retired.as_deref()), &mut tell);
        let outcome = visit(&mut replay);
        (self.engine, self.recovered) = replay.into_engine();
        outcome
    }

    /// A price of the leader. It changes nothing of trading, and the log does not have it. Bars are not made here: they would have only
    /// what came while somebody wanted the prices.
    pub fn apply_price(&mut self, at: Timestamp, data: MarketData) {
        let mut out = Outbox::default();
        // The leader's own prices may be stale too: with their values, and why.
        let gap = match &data {
            MarketData::Tick(tick) => tick.stale.map(|cause| (tick.security, tick.feed.clone(), cause)),
            _ => None,
        };
        let gap = gap.map(|(security, feed, cause)| MarketData::Gap(PriceGap { security, feed, cause }));
        let sequence = self.applied();
        for data in [Some(data), gap].into_iter().flatten() {
            // A price has no reply: its output is events.
            let _ = self.engine.apply(&Sequenced { sequence, at, payload: Input::Market(data) }, &mut out);
        }
        for event in out.events.into_iter().filter(|event| !matches!(event, Event::Bar(_))) {
            self.parts.feed.publish(&PublishedEvent { sequence, at, event });
        }
    }

    /// The digest of its state; none where the journal began under a build that did not keep it.
    pub fn digest(&self) -> Option<String> {
        let digest = self.recovered.digest.clone()?;
        Some(digest.finish(&self.engine, self.recovered.at, self.applied()))
    }

    pub(crate) fn reference(&self) -> &Arc<ReferenceData> {
        self.engine.reference()
    }

    pub fn answer(&self, now: Timestamp, query: &Query) -> Reply {
        let sequence = self.applied();
        let outcome = match query {
            Query::Bars(..) if !self.has_bars => Ok(Answer::Bars(vec![])),
            _ => self.engine.answer(now, sequence, query),
        };
        Reply { sequence, outcome }
    }

    fn write_snapshot_if_due(&mut self) {
        let orders = self.engine.orders_kept() as u64;
        let is_due = self.unsaved.is_due(&self.parts.snapshot_schedule, orders, self.recovered.at);
        if is_due && !self.snapshot_writer.is_busy() {
            let job = self.snapshot_job();
            self.snapshot_writer.start(job);
            self.recovered.replayed = 0;
            self.unsaved.clear();
        }
    }

    pub(crate) fn is_writing_snapshot(&self) -> bool {
        self.snapshot_writer.is_busy()
    }

    fn snapshot_job(&self) -> SnapshotJob {
        SnapshotJob {
            sequence: self.applied(),
            engine: self.engine.snapshot(),
            ledger: self.parts.ledger.snapshot(),
            reserved: self.recovered.reserved,
            digest: self.recovered.digest.clone(),
            at: self.recovered.at,
        }
    }

    /// For a leader: the state, as a recovery would have it.
    pub fn hand_over(self) -> (Engine, RecoveredState) {
        self.snapshot_writer.finish(None);
        (self.engine, self.recovered)
    }

    /// An orderly stop: the next start replays nothing.
    pub fn stop(self) {
        let last = (self.recovered.replayed > 0).then(|| self.snapshot_job());
        self.snapshot_writer.finish(last.as_ref());
    }
}

/// Its sequence where it has the leader's digest, which is equal.
fn apply_record(replay: &mut RecoveryReplay<'_>, entry: &JournalEntry<'_>) -> Result<Option<u64>, FollowerError> {
    let compared = if entry.kind == journal_records::PULSE { compare_digest(replay, entry)? } else { None };
    replay.on_record(entry).map_err(FollowerError::Recovery)?;
    Ok(compared)
}

/// The leader's digest is of everything before its record.
fn compare_digest(replay: &RecoveryReplay<'_>, entry: &JournalEntry<'_>) -> Result<Option<u64>, FollowerError> {
    let sequence = entry.sequence;
    let pulse = journal_records::decode_pulse(entry.payload)
        .map_err(|UnreadableRecord(reason)| RecoveryError::Unreadable { sequence, reason })?;
    let Some(leader) = pulse.digest else { return Ok(None) };
    match replay.digest() {
        Some(own) if own != leader => Err(FollowerError::Diverged { sequence, leader, own }),
        Some(_) => Ok(Some(sequence)),
        None => Ok(None),
    }
}

fn publish(feed: &EventFeed, catalogue: &Catalogue, published: &PublishedEvent) {
    if let Event::Reference(update) = &published.event {
        catalogue.replace(update.data.clone());
    }
    feed.publish(published);
}

impl From<RecoveryError> for FollowerError {
    fn from(problem: RecoveryError) -> Self {
        Self::Recovery(problem)
    }
}

impl fmt::Display for FollowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recovery(problem) => problem.fmt(f),
            Self::Diverged { sequence, leader, own } => write!(
                f,
                "the state before record {sequence} differs from the leader's: its digest is {leader}, here it is {own}. \
                 Where the members are of different builds, the rules of their engines may differ: run the same build on all"
            ),
        }
    }
}
