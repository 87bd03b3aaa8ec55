//! The reader of the log, on a thread of its own: it hands each proven frame to the engine, and leads when the leader is silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use access::AuditView;
use bus::cluster_overview::LeadCause;
use crossbeam_channel::{Sender, bounded};
use replication_nats::MemberLink;
use runtime::FollowerUpdate;
use storage::replication::{FollowError, Leading, LogError, LogEvent, LogFollower};
use tracing::info;

use super::cluster_state::ClusterState;
use super::log_connection::ClusterLog;
use crate::exit_failure::{Exit, ExitFailure};

/// Entries of one read, each of which is a request.
const ENTRIES_PER_READ: usize = 64;
/// Between two looks at the end of the log, where no entry is announced.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(50);
/// A follower that reads nothing says so often how far its journal is: reports may be lost.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Between two attempts to read a log that does not answer.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Batches of frames that may wait for the engine; then the reader waits.
pub(crate) const FRAME_BATCHES_MAX: usize = 64;

pub(crate) struct LogMember {
    follower: LogFollower<ClusterLog>,
    link: MemberLink,
    state: Arc<ClusterState>,
    /// When the leader was told last how far the own journal is.
    reported: Option<Instant>,
    /// When the last entry was read, which is later than when it was sent.
    last_entry: Instant,
    /// The leader has stopped in order: nothing goes to a venue in its name any more.
    has_resigned: bool,
}

/// What the thread needs beside the log.
pub(crate) struct MemberTask {
    pub(crate) updates: Sender<FollowerUpdate>,
    pub(crate) is_eligible: bool,
    pub(crate) stop: Arc<AtomicBool>,
    /// One that failed has to be completed before this member leads.
    pub(crate) audit: Arc<AuditView>,
}

impl MemberTask {
    /// An engine that cannot apply a frame, such as one with a record of a newer version, or that differs from the leader's, must not lead.
    /// One that would be silent after its epoch record does not lead now: another member would take over, and so on.
    fn may_lead(&self) -> Result<bool, ExitFailure> {
        if self.audit.has_failed() {
            return Ok(false);
        }
        let (reply, applied) = bounded(1);
        self.updates.send(FollowerUpdate::MayLead(reply)).map_err(|_| engine_has_ended())?;
        applied.recv().map_err(|_| engine_has_ended())
    }
}

/// What became of one look at the log.
enum Look {
    /// More may be there already.
    Read,
    /// As far as the leader has announced.
    ReadAnnounced,
    AtEnd,
    Unavailable,
}

impl LogMember {
    pub(crate) fn new(follower: LogFollower<ClusterLog>, link: MemberLink, state: Arc<ClusterState>) -> Self {
        let (reported, last_entry) = (None, Instant::now());
        let member = Self { follower, link, state, reported, last_entry, has_resigned: false };
        member.tell_leader();
        member
    }

    pub(crate) fn follower(&self) -> &LogFollower<ClusterLog> {
        &self.follower
    }

    /// Reads everything that the log has into the own journal, before an engine is recovered from it. False where a stop was asked for.
    pub(crate) fn catch_up(&mut self, is_stopped: impl Fn() -> bool) -> Result<bool, ExitFailure> {
        while !is_stopped() {
            match self.look(&mut |_| true)? {
                Look::AtEnd | Look::ReadAnnounced => return Ok(true),
                Look::Read => {}
                Look::Unavailable => thread::sleep(RETRY_PAUSE),
            }
        }
        Ok(false)
    }

    /// Until this process leads, or shall stop, or nobody applies frames any more.
    pub(crate) fn run(mut self, task: &MemberTask) -> Result<(), ExitFailure> {
        let mut hand_over = |frames| task.updates.send(FollowerUpdate::Frames(frames)).is_ok();
        while !task.stop.load(Ordering::Relaxed) {
            match self.look(&mut hand_over)? {
                Look::Read => {}
                Look::AtEnd if task.is_eligible && self.is_takeover_due() && task.may_lead()? => {
                    match self.lead(task)? {
                        Some(member) => self = member,
                        None => return Ok(()),
                    }
                }
                Look::AtEnd | Look::ReadAnnounced => self.link.wait_for_announcement(LOOK_AGAIN_AFTER),
                Look::Unavailable => thread::sleep(RETRY_PAUSE),
            }
        }
        Ok(())
    }

    /// Hands over what was read; false from there ends the thread with the engine.
    fn look(
        &mut self,
        hand_over: &mut dyn FnMut(Vec<storage::journal::SealedFrame>) -> bool,
    ) -> Result<Look, ExitFailure> {
        if let Some(reason) = self.state.replication.state().refused {
            return Err(ExitFailure::new(Exit::Refused, format!("the replicated log can't be used: {reason}")));
        }
        let events = match self.follower.follow(self.entries_to_read()) {
            Ok(events) => events,
            Err(FollowError::Log(error @ LogError::Unavailable { .. })) => {
                self.state.set_problem(error.to_string());
                return Ok(Look::Unavailable);
            }
            Err(error) => return Err(follow_failure(error)),
        };
        if events.is_empty() {
            self.note_end();
            self.report(REPORT_EVERY);
            return Ok(Look::AtEnd);
        }
        // Before anything else: the leader waits for it.
        self.report(Duration::ZERO);
        self.last_entry = Instant::now();
        self.state.set_entry(self.follower.cursor().position());
        events.iter().for_each(|event| self.note_resignation(event));
        // A member that begins behind a mark learns from it who leads.
        if events.iter().any(|event| matches!(event, LogEvent::Led { .. } | LogEvent::Marked { .. })) {
            self.tell_leader();
        }
        let frame = |event| match event {
            LogEvent::Frame { frame, .. } => Some(frame),
            LogEvent::Led { .. } | LogEvent::Marked { .. } | LogEvent::Dropped { .. } => None,
        };
        let frames: Vec<_> = events.into_iter().filter_map(frame).collect();
        match frames.is_empty() || hand_over(frames) {
            true if self.follower.cursor().position() == self.link.announced() => {
                self.note_end();
                Ok(Look::ReadAnnounced)
            }
            true => Ok(Look::Read),
            false => Err(engine_has_ended()),
        }
    }

    fn note_end(&self) {
        self.state.set_read_to_end(self.follower.cursor().chain().head().sequence);
    }

    /// Up to what was announced, so that the end of the log is not asked for while the leader waits for a report.
    fn entries_to_read(&self) -> usize {
        let behind = self.link.announced().0.saturating_sub(self.follower.cursor().position().0);
        match usize::try_from(behind) {
            Ok(behind @ 1..ENTRIES_PER_READ) => behind,
            _ => ENTRIES_PER_READ,
        }
    }

    /// Tells the leader how far the own journal is, unless that was less than `pause` ago.
    fn report(&mut self, pause: Duration) {
        if self.reported.is_some_and(|at| at.elapsed() < pause) {
            return;
        }
        if let Some(report) = self.follower.standby_report(self.state.member_id()) {
            self.link.report(report.encode());
            self.reported = Some(Instant::now());
        }
    }

    /// Whoever leads next has not resigned.
    fn note_resignation(&mut self, event: &LogEvent) {
        match event {
            LogEvent::Frame { frame, epoch, .. } => {
                self.has_resigned = runtime::resigned_epoch(frame) == Some(epoch.0);
            }
            LogEvent::Led { .. } => self.has_resigned = false,
            LogEvent::Marked { .. } | LogEvent::Dropped { .. } => {}
        }
    }

    fn tell_leader(&self) {
        let cursor = self.follower.cursor();
        self.state.set_leader(cursor.epoch(), cursor.leader());
    }

    /// A log that nobody leads has no leader to wait for.
    fn is_takeover_due(&self) -> bool {
        let leader = self.follower.cursor().leader().filter(|_| !self.has_resigned);
        leader.is_none() || self.last_entry.elapsed() >= self.state.takeover_after(leader)
    }

    /// Why this process would lead now.
    fn lead_cause(&self) -> LeadCause {
        match (self.follower.cursor().leader(), self.has_resigned) {
            (None, _) => LeadCause::First,
            (Some(_), true) => LeadCause::HandOver,
            (Some(_), false) => LeadCause::FailOver,
        }
    }

    /// None where it leads, or shall stop.
    fn lead(self, task: &MemberTask) -> Result<Option<Self>, ExitFailure> {
        let (cause, before) = (self.lead_cause(), self.follower.cursor().leader());
        let Self { follower, link, state, last_entry, .. } = self;
        info!(silent = ?last_entry.elapsed(), "no entry came from a leader: trying to lead");
        match follower.lead(&state.replication) {
            Ok(Leading::Leader { journal, end }) => {
                info!(epoch = %end.epoch(), "this server leads");
                state.set_leader(end.epoch(), end.leader());
                state.begin_lead(cause, before, last_entry);
                // An engine that has ended has told its own reason.
                drop(task.updates.send(FollowerUpdate::Lead(journal)));
                Ok(None)
            }
            Ok(Leading::Fenced(follower)) => {
                info!("another server was first");
                Ok(Some(Self::new(*follower, link, state)))
            }
            Err(_) if task.stop.load(Ordering::Relaxed) => Ok(None),
            Err(error) => Err(follow_failure(error)),
        }
    }
}

/// The engine has told its own reason.
fn engine_has_ended() -> ExitFailure {
    ExitFailure::new(Exit::Failed, "the follower's engine has ended")
}

pub(crate) fn follow_failure(error: FollowError) -> ExitFailure {
    match error {
        FollowError::Storage(error) => error.into(),
        FollowError::Log(error) => {
            ExitFailure::new(Exit::Damaged, format!("the replicated log can't be followed: {error}"))
        }
        // Nothing is wrong with the bytes: somebody has to choose.
        FollowError::Behind { .. } | FollowError::EmptyLog { .. } => ExitFailure::new(Exit::Refused, error.to_string()),
        FollowError::Cursor { .. } => ExitFailure::new(Exit::Damaged, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_member_whose_view_of_the_audit_has_failed_does_not_lead() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Arc::new(AuditView::open(folder.path()).unwrap());
        let (updates, engine) = bounded(1);
        let task = MemberTask { updates, is_eligible: true, stop: Arc::default(), audit: audit.clone() };
        let answer = |may_lead| {
            let Ok(FollowerUpdate::MayLead(reply)) = engine.recv() else { panic!("the engine is asked") };
            reply.send(may_lead).unwrap();
        };
        for may_lead in [true, false] {
            let asked = thread::scope(|scope| {
                scope.spawn(|| answer(may_lead));
                task.may_lead().unwrap()
            });
            assert_eq!(asked, may_lead);
        }
        audit.follow(channel().1).unwrap();
        while !audit.has_failed() {
            thread::yield_now();
        }
        assert!(!task.may_lead().unwrap());
    }
}
