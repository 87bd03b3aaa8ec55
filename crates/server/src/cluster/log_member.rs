//! The reader of the log, on a thread of its own: it hands each proven frame to the engine, and leads when the leader is silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

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
    /// Why this member did not take over when that was due.
    refused: Option<String>,
}

/// What the thread needs beside the log.
pub(crate) struct MemberTask {
    pub(crate) updates: Sender<FollowerUpdate>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl MemberTask {
    /// An engine that cannot apply a frame, such as one with a record of a newer version, or that differs from the leader's, must not lead.
    /// One that would be silent after its epoch record does not lead now: another member would take over, and so on.
    fn why_not_lead(&self, state: &ClusterState) -> Result<Option<String>, ExitFailure> {
        if let Some(reason) = state.why_not_lead() {
            return Ok(Some(reason));
        }
        let (reply, applied) = bounded(1);
        self.updates.send(FollowerUpdate::Applied(reply)).map_err(|_| engine_has_ended())?;
        applied.recv().map_err(|_| engine_has_ended())?;
        // The last frame may have begun a snapshot.
        Ok(state.why_not_lead())
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
        let member = Self { follower, link, state, reported, last_entry, has_resigned: false, refused: None };
        member.state.set_resigned(false);
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
                Look::AtEnd if self.is_takeover_due() && self.may_lead(task)? => match self.lead(task)? {
                    Some(member) => self = member,
                    None => return Ok(()),
                },
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
        self.state.is_log_unfinished.store(self.follower.is_unfinished(), Ordering::Release);
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
        self.state.set_resigned(self.has_resigned);
        self.refused = None;
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
        self.last_entry.elapsed() >= self.state.takeover_after()
    }

    /// Tells once why it may not.
    fn may_lead(&mut self, task: &MemberTask) -> Result<bool, ExitFailure> {
        let reason = task.why_not_lead(&self.state)?;
        if let Some(reason) = reason.as_ref().filter(|_| self.refused.is_none()) {
            info!(%reason, "no entry came from a leader, and this member may not lead");
        }
        self.refused = reason;
        Ok(self.refused.is_none())
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
    use super::*;
    use crate::cluster::cluster_state::tests::state;

    #[test]
    fn a_member_whose_engine_begins_a_snapshot_with_the_last_frame_does_not_lead() {
        let (updates, engine) = bounded(1);
        let (member, task) = (state("a"), MemberTask { updates, stop: Arc::default() });
        let answer = |is_writing| {
            let Ok(FollowerUpdate::Applied(reply)) = engine.recv() else { panic!("the engine is asked") };
            member.is_writing_snapshot.store(is_writing, Ordering::Release);
            reply.send(()).unwrap();
        };
        for (is_writing, expected) in [(false, None), (true, Some("it writes a snapshot".to_owned()))] {
            let why_not = thread::scope(|scope| {
                scope.spawn(|| answer(is_writing));
                task.why_not_lead(&member).unwrap()
            });
            assert_eq!(why_not, expected);
        }
        // What is known beforehand is not asked for.
        assert_eq!(task.why_not_lead(&member).unwrap().as_deref(), Some("it writes a snapshot"));
        member.is_writing_snapshot.store(false, Ordering::Release);
        drop(engine);
        assert!(task.why_not_lead(&member).is_err(), "an engine that has ended does not lead");
    }
}
