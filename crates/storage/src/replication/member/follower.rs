//! Follower: a process that reads the log into its own journal, frame by frame, and may lead.
//!
//! ```text
//! log ▸ LogCursor (chain, epoch) ▸ own journal, synced ▸ cursor file ▸ engine
//! ```
//!
//! Frames at the end of its own journal that the log has not shown are unproven: this process wrote them as a leader, before a
//! majority had them. They are the log's next frames, or the log shows others there and they are cut.

use std::sync::Arc;
use std::time::Instant;

use super::cursor_file::{self, CursorFile};
use super::follow_error::FollowError;
use super::log_place::{LogPlace, OwnJournal, find_place};
use super::log_replicator::{LogReplicator, settle_outcome};
use super::standbys::StandbyReport;
use super::status::ReplicationStatus;
use super::unproven_frames::UnprovenFrames;
use crate::StorageError;
use crate::journal::{
    ChainAnchor, FOLDER, Journal, JournalMonitor, JournalOptions, SealedFrame, SealedJournal, chain_at, cut_fork,
};
use crate::lock::DataDirLock;
use crate::replication::cursor::LogCursor;
use crate::replication::entry::LogPayload;
use crate::replication::event::LogEvent;
use crate::replication::port::{LogError, LogOutcome, QuorumLog};
use crate::replication::types::{CandidateId, LogPosition, MemberId};

/// Why nobody leads behind a rebuild that is not complete.
pub const UNFINISHED: &str = "rialto ha rebuild-log has not finished: where it was cut off, stop every member and give it again for the same folder";

pub struct LogFollower<L> {
    log: L,
    candidate: CandidateId,
    lock: DataDirLock,
    options: JournalOptions,
    cursor: LogCursor,
    /// The last frame that the log and the journal have.
    proven: ChainAnchor,
    /// None for the moment in which the journal is cut.
    journal: Option<SealedJournal>,
    unproven: UnprovenFrames,
    /// The first sequence that was checked when the journal was opened, where older segments were left out.
    checked_from: Option<u64>,
    /// None before it has found its place in the log: a folder that is refused there is not that of a member yet.
    file: Option<CursorFile>,
    /// What was read last comes from a rebuild of the log, whose closing mark was not read.
    is_unfinished: bool,
}

/// What became of an attempt to lead.
pub enum Leading<L> {
    /// Frames that are appended to this journal go to the log.
    Leader { journal: Box<Journal>, end: LogCursor },
    /// Another entry came first: read on.
    Fenced(Box<LogFollower<L>>),
}

impl<L: QuorumLog> LogFollower<L> {
    /// Opens the journal of a locked data folder, and finds where its log goes on. `candidate` is that of the log's handle.
    pub fn open(
        log: L,
        candidate: CandidateId,
        lock: &DataDirLock,
        options: &JournalOptions,
    ) -> Result<Self, FollowError> {
        let inspected = Journal::inspect(lock, options, &mut |_| {})?;
        let checked_from = inspected.checked_from();
        let (_, journal) = inspected.open_sealed()?;
        let cursor = saved_cursor(lock, options)?;
        let proven = cursor.chain().head();
        let unproven = UnprovenFrames::behind(&lock.folder().join(FOLDER), proven.sequence)?;
        let (lock, options, journal) = (lock.clone(), options.clone(), Some(journal));
        let (file, is_unfinished) = (None, false);
        Ok(Self { log, candidate, lock, options, cursor, proven, journal, unproven, checked_from, file, is_unfinished })
    }

    /// Where it stands in the log. What its journal has behind that is unproven, and must not be applied.
    pub fn cursor(&self) -> &LogCursor {
        &self.cursor
    }

    /// The first sequence of its journal that was checked at the start, where older segments were left to
    /// [`verify_older`](crate::journal::verify_older).
    pub fn checked_from(&self) -> Option<u64> {
        self.checked_from
    }

    /// What this follower may tell its leader: the log proved it, and the own journal has it, synced. None before the first leader.
    pub fn standby_report(&self, member: MemberId) -> Option<StandbyReport> {
        let (leader, epoch, position) = (self.cursor.leader()?, self.cursor.epoch(), self.cursor.position());
        Some(StandbyReport { member, leader, epoch, position, sequence: self.proven.sequence })
    }

    /// Whether the log was begun anew, and the records that the rebuild has written for it may be missing: nobody leads before they are
    /// there.
    pub fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// How far its journal is. After the journal was cut, that of before no longer changes.
    pub fn monitor(&self) -> Option<JournalMonitor> {
        self.journal.as_ref().map(SealedJournal::monitor)
    }

    /// Reads what comes next; it is in the journal and durable when this returns. Nothing where there is nothing yet.
    pub fn follow(&mut self, entries_max: usize) -> Result<Vec<LogEvent>, FollowError> {
        if self.file.is_none() {
            self.place()?;
        }
        let mut read = self.cursor.clone();
        let events = match self.log.read(&mut read, entries_max) {
            Err(LogError::Trimmed { .. }) => {
                // The journal may still go on where the log begins now; else this says what to do.
                self.place()?;
                read = self.cursor.clone();
                self.log.read(&mut read, entries_max)?
            }
            events => events?,
        };
        if events.is_empty() {
            return Ok(events);
        }
        if let Err(error) = self.take_all(&events) {
            // A part of it may be written: nothing is read behind it.
            self.journal = None;
            return Err(error.into());
        }
        self.cursor = read;
        self.note_rebuild(&events);
        if let Some(file) = &mut self.file {
            file.note(&self.cursor);
        }
        Ok(events)
    }

    /// Finds the own place in the log, where what is known of it does not fit.
    fn place(&mut self) -> Result<(), FollowError> {
        let folder = self.lock.folder().join(FOLDER);
        let last_sequence = self.journal()?.chain().head().sequence;
        let own = OwnJournal { folder: &folder, instance: self.options.instance, last_sequence };
        match find_place(&mut self.log, &self.cursor, &own)? {
            LogPlace::Known(last) => {
                let is_rebuilding = self.cursor.leader().is_some_and(CandidateId::is_of_rebuild);
                self.is_unfinished = is_rebuilding && !matches!(last, Some(LogPayload::Mark { .. }));
            }
            LogPlace::AtBeginning(cursor) => {
                let (from, to) = (self.cursor.position(), cursor.position());
                tracing::info!(%from, %to, "this member has another place in the log than it had noted");
                self.proven = cursor.chain().head();
                self.unproven = UnprovenFrames::behind(&folder, self.proven.sequence)?;
                (self.cursor, self.is_unfinished) = (cursor, false);
            }
        }
        self.file = Some(CursorFile::open(self.lock.folder())?);
        Ok(())
    }

    fn note_rebuild(&mut self, events: &[LogEvent]) {
        for event in events {
            match event {
                LogEvent::Led { candidate, .. } => self.is_unfinished = candidate.is_of_rebuild(),
                LogEvent::Marked { .. } => self.is_unfinished = false,
                LogEvent::Frame { .. } | LogEvent::Dropped { .. } => {}
            }
        }
    }

    /// The frames are durable when it returns.
    fn take_all(&mut self, events: &[LogEvent]) -> Result<(), StorageError> {
        for event in events {
            if let LogEvent::Frame { frame, .. } = event {
                self.take(frame)?;
            }
        }
        self.journal()?.sync()
    }

    fn journal(&mut self) -> Result<&mut SealedJournal, StorageError> {
        let closed = || StorageError::Failed { reason: "the journal failed before".to_owned() };
        self.journal.as_mut().ok_or_else(closed)
    }

    fn take(&mut self, frame: &SealedFrame) -> Result<(), StorageError> {
        match self.unproven.take()? {
            Some(own) if own == *frame => {}
            own => {
                if own.is_some() {
                    self.cut_unproven()?;
                }
                self.journal()?.append(frame)?;
            }
        }
        self.proven = ChainAnchor { sequence: frame.last_sequence()?, hash: frame.hash() };
        Ok(())
    }

    /// The log went on with another frame: it never had ours, so nobody was told of them.
    fn cut_unproven(&mut self) -> Result<(), StorageError> {
        let ChainAnchor { sequence, .. } = self.proven;
        let aside = self.lock.folder().join(format!("fork-{}-{sequence}", self.cursor.epoch()));
        tracing::warn!(
            last = sequence,
            kept = %aside.display(),
            "frames at the end of the journal are not in the log: they were never acknowledged, and are cut"
        );
        // Its thread has to end before the files are changed.
        if let Some(mut journal) = self.journal.take() {
            journal.sync()?;
        }
        cut_fork(&self.lock, self.options.instance, self.proven, &aside)?;
        self.unproven = UnprovenFrames::default();
        let (_, journal) = Journal::inspect(&self.lock, &self.options, &mut |_| {})?.open_sealed()?;
        self.journal = Some(journal);
        Ok(())
    }
}

impl<L: QuorumLog + Send + 'static> LogFollower<L> {
    /// Leads the next epoch, if nothing has come behind what was read. Waits for a majority until the status says stop. Unproven frames
    /// of the own journal become the first of the epoch. Without a majority the journal waits too, also when it is closed: the status
    /// must be told to stop before.
    pub fn lead(mut self, status: &Arc<ReplicationStatus>) -> Result<Leading<L>, FollowError> {
        let failed = |reason: &str| StorageError::Failed { reason: reason.to_owned() };
        if self.is_unfinished {
            return Err(failed(UNFINISHED).into());
        }
        let epoch = self.cursor.epoch().next().ok_or_else(|| failed("there is no epoch after the last"))?;
        let sent = Instant::now();
        let outcome = self.log.lead(epoch, &self.cursor);
        let at = self.cursor.clone();
        let again = |log: &mut L| log.lead(epoch, &at);
        match settle_outcome(&mut self.log, outcome, status, again) {
            Ok(LogOutcome::Accepted { position }) => {
                status.accept(position, sent);
                self.cursor.lead(epoch, self.candidate);
            }
            Ok(_) => {
                status.end_wait();
                return Ok(Leading::Fenced(Box::new(self)));
            }
            Err(reason) => return Err(StorageError::Failed { reason }.into()),
        }
        self.begin_epoch(status)
    }

    fn begin_epoch(mut self, status: &Arc<ReplicationStatus>) -> Result<Leading<L>, FollowError> {
        let Some(mut journal) = self.journal.take() else {
            return Err(StorageError::Failed { reason: "the journal is not open".to_owned() }.into());
        };
        journal.sync()?;
        let mut file = self.file.take().map_or_else(|| CursorFile::open(self.lock.folder()), Ok)?;
        file.note(&self.cursor);
        let start = LogReplicator::start(self.log, (self.cursor.clone(), file), status.clone());
        let mut replicator = start.map_err(StorageError::io("start a thread for", self.lock.folder()))?;
        while let Some(own) = self.unproven.take()? {
            replicator.copy(own.clone()).map_err(|reason| StorageError::Failed { reason })?;
            self.cursor.append(&own);
        }
        let gate = status.needs_standbys().then(|| journal.hold_back());
        status.begin_lead(self.cursor.epoch(), self.candidate, gate);
        let journal = journal.lead(Box::new(replicator))?;
        Ok(Leading::Leader { journal: Box::new(journal), end: self.cursor })
    }
}

/// What the cursor file says, held against the journal.
fn saved_cursor(lock: &DataDirLock, options: &JournalOptions) -> Result<LogCursor, FollowError> {
    let saved = cursor_file::read(lock.folder())?.filter(|saved| saved.position > LogPosition::START);
    let Some(saved) = saved else { return Ok(LogCursor::start(options.instance)) };
    if saved.instance != options.instance {
        let reason = format!("it belongs to the journal of instance {}, not {}", saved.instance, options.instance);
        return Err(FollowError::Cursor { reason });
    }
    let Some(chain) = chain_at(&lock.folder().join(FOLDER), saved.instance, saved.end)? else {
        let reason = format!("the journal lacks the frame that ends at sequence {}", saved.end.sequence);
        return Err(FollowError::Cursor { reason });
    };
    Ok(LogCursor::resume(saved.position, (saved.epoch, saved.leader), chain))
}
