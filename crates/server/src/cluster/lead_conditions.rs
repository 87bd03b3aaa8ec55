//! Whether this member may lead now. What stands against it is shown to operators, and a candidate obeys the same.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bus::operations::ClusterRole;
use storage::replication::{CandidateId, UNFINISHED};

use super::candidate::{lease_of, takeover_min};
use super::cluster_state::ClusterState;
use super::follower_health::follower_problem::follower_problem;

/// A leader whose engine lacks more than this of what was read would be silent, and another member take over.
const ENGINE_BEHIND_MAX: Duration = Duration::from_secs(1);

impl ClusterState {
    /// Why this member would not lead if the leader were gone now; none where it would, and of a leader.
    pub(crate) fn why_not_lead(&self) -> Option<String> {
        let mut known = self.known();
        known.lag.confirm_end(self.applied.load(Ordering::Acquire));
        let (role, behind) = (known.role, known.lag.unapplied(Instant::now()));
        drop(known);
        let reason = if role == ClusterRole::Leader {
            return None;
        } else if !self.is_eligible {
            "its cluster file has eligible = false".to_owned()
        } else if self.audit.get().is_some_and(|audit| audit.has_failed()) {
            "its view of the audit has failed, and is completed from the journal".to_owned()
        } else if self.is_log_unfinished.load(Ordering::Acquire) {
            UNFINISHED.to_owned()
        } else if self.is_writing_snapshot.load(Ordering::Acquire) {
            "it writes a snapshot".to_owned()
        } else if let Some(behind) = behind.filter(|behind| *behind > ENGINE_BEHIND_MAX) {
            format!("its engine has not applied what was read {} ms ago", behind.as_millis())
        } else {
            return self.lease_wait().or_else(|| follower_problem(None, &self.replication.state()));
        };
        Some(reason)
    }

    /// So long after the last entry this member may lead: by its own file, later where the leader holds its lease for longer, and at once
    /// where no member leads.
    pub(crate) fn takeover_after(&self) -> Duration {
        let known = self.known();
        let leader = known.leader.filter(|_| !known.has_resigned);
        leader.map_or(Duration::ZERO, |leader| self.takeover_from(leader))
    }

    fn takeover_from(&self, leader: CandidateId) -> Duration {
        self.timing.takeover.max(takeover_min(lease_of(leader).unwrap_or_default()))
    }

    /// A takeover is due by the own file, and the leader may still send.
    fn lease_wait(&self) -> Option<String> {
        let (wait, silent) = (self.takeover_after(), self.known().lag.silent(Instant::now()));
        let waits = (self.timing.takeover..wait).contains(&silent);
        waits.then(|| format!("the silent leader may hold its lease: a takeover waits {} ms for it", wait.as_millis()))
    }

    /// Once for each leader.
    pub(super) fn warn_of_longer_lease(&self, leader: Option<CandidateId>) {
        let Some(new) = leader.filter(|_| self.known().leader != leader) else { return };
        let (wait, takeover) = (self.takeover_from(new), self.timing.takeover);
        if wait > takeover {
            tracing::warn!(
                ?wait,
                ?takeover,
                "the leader's lease is longer than this member's cluster file allows for: a takeover waits for it; give all members the same timing"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use access::AuditView;
    use storage::replication::{Epoch, LogPosition};

    use super::*;
    use crate::cluster::candidate::new_candidate;
    use crate::cluster::cluster_state::tests::state;

    #[test]
    fn a_takeover_waits_for_the_leaders_own_lease() {
        let own = state("a");
        let takeover_from = |leader| {
            own.set_leader(Epoch(3), leader);
            own.takeover_after()
        };
        assert_eq!((own.timing.lease, own.timing.takeover), (Duration::from_secs(2), Duration::from_secs(3)));
        let led_by = |lease| takeover_from(Some(new_candidate("b", lease).unwrap()));
        assert_eq!(led_by(Duration::from_secs(5)), Duration::from_millis(6_250), "before, it may still send");
        assert_eq!(led_by(Duration::from_secs(1)), own.timing.takeover);
        assert_eq!(takeover_from(Some(CandidateId([7; 16]))), own.timing.takeover, "of an older build");
        own.set_resigned(true);
        assert_eq!(own.takeover_after(), Duration::ZERO, "it has left its venues");
        assert_eq!(takeover_from(None), Duration::ZERO);
    }

    #[test]
    fn a_member_says_why_it_may_not_lead() {
        let (member, folder) = (state("a"), tempfile::tempdir().unwrap());
        let why = || member.why_not_lead().unwrap_or_default();
        assert_eq!(why(), "");
        member.is_writing_snapshot.store(true, Ordering::Release);
        assert_eq!(why(), "it writes a snapshot");
        member.is_log_unfinished.store(true, Ordering::Release);
        assert_eq!(why(), UNFINISHED);
        member.is_log_unfinished.store(false, Ordering::Release);
        let audit = Arc::new(AuditView::open(folder.path()).unwrap());
        assert!(member.audit.set(audit.clone()).is_ok());
        assert_eq!(why(), "it writes a snapshot", "its audit is whole");
        audit.follow(channel().1).unwrap();
        while !audit.has_failed() {
            thread::yield_now();
        }
        assert_eq!(why(), "its view of the audit has failed, and is completed from the journal");
        assert_eq!(member.view().may_not_lead, Some(why()));
        member.set_role(ClusterRole::Leader);
        assert_eq!(member.why_not_lead(), None, "it leads");
    }

    #[test]
    fn a_member_whose_engine_is_behind_what_it_read_may_not_lead() {
        let member = state("a");
        member.set_entry(LogPosition(8));
        member.set_read_to_end(7);
        assert_eq!(member.why_not_lead(), None, "it may take a moment");
        thread::sleep(ENGINE_BEHIND_MAX + Duration::from_millis(20));
        let why = member.why_not_lead().unwrap();
        assert!(why.starts_with("its engine has not applied what was read 1"), "{why}");
        member.applied.store(7, Ordering::Release);
        assert_eq!(member.why_not_lead(), None);
    }
}
