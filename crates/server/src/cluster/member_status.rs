//! What members of a cluster tell each other of themselves, once a second, so that each of them can show all. Nothing is decided by it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bus::cluster_overview::{ClusterMemberStatus, LeadBeginning, LeadCause};
use domain::Timestamp;
use minicbor::{Decode, Encode};

/// Between two messages of a member.
pub(crate) const STATUS_EVERY: Duration = Duration::from_secs(1);
/// A leader that was not heard of for longer may be gone: whether it acknowledges orders is not known.
pub(crate) const HEARD_WITHIN: Duration = Duration::from_secs(4);

/// A member as it sees itself, on its way to the others.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct StatusMessage {
    #[n(0)]
    pub(crate) member: String,
    #[n(1)]
    pub(crate) is_leader: bool,
    #[n(2)]
    pub(crate) is_eligible: bool,
    #[n(3)]
    pub(crate) epoch: u64,
    #[n(4)]
    pub(crate) entry: u64,
    #[n(5)]
    pub(crate) lag_millis: Option<u64>,
    #[n(6)]
    pub(crate) has_lease: bool,
    #[n(7)]
    pub(crate) problem: Option<String>,
    /// Of a follower: the last record with the leader's digest, and milliseconds since then.
    #[n(8)]
    pub(crate) digest: Option<(u64, u64)>,
    /// Of a leader: how many followers must have a record, and how many follow.
    #[n(9)]
    pub(crate) standbys: Option<(u64, u64)>,
    /// Of a leader: why it acknowledges nothing.
    #[n(10)]
    pub(crate) shut: Option<String>,
    /// Of a leader.
    #[n(11)]
    pub(crate) lead: Option<LeadMessage>,
    /// Of a follower: why it would not lead if the leader were gone. Nothing of an older build.
    #[n(12)]
    pub(crate) may_not_lead: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct LeadMessage {
    /// Unix time in nanoseconds.
    #[n(0)]
    at: i64,
    /// The name of the cause.
    #[n(1)]
    cause: String,
    #[n(2)]
    before: Option<String>,
    #[n(3)]
    open_after_millis: Option<u64>,
}

impl LeadMessage {
    pub(crate) fn new(lead: &LeadBeginning) -> Self {
        let (at, cause) = (lead.at.0, lead.cause.name().to_owned());
        Self { at, cause, before: lead.before.clone(), open_after_millis: lead.open_after.map(millis) }
    }

    /// None where a later version knows more causes.
    fn beginning(&self, epoch: u64) -> Option<LeadBeginning> {
        let cause = LeadCause::ALL.into_iter().find(|cause| cause.name() == self.cause)?;
        let open_after = self.open_after_millis.map(Duration::from_millis);
        Some(LeadBeginning { epoch, at: Timestamp(self.at), cause, before: self.before.clone(), open_after })
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl StatusMessage {
    /// What a member said so long ago.
    pub(crate) fn shown(&self, age: Duration) -> ClusterMemberStatus {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        ClusterMemberStatus {
            age,
            is_leader: self.is_leader,
            is_eligible: self.is_eligible,
            epoch: self.epoch,
            entry: self.entry,
            lag: self.lag_millis.map(Duration::from_millis),
            has_lease: self.has_lease,
            problem: self.problem.clone(),
            may_not_lead: self.may_not_lead.clone(),
            digest: self.digest.map(|(at, ago)| (at, Duration::from_millis(ago).saturating_add(age))),
            standbys: self.standbys.map(|(required, following)| (count(required), count(following))),
        }
    }

    pub(crate) fn lead_beginning(&self) -> Option<LeadBeginning> {
        self.lead.as_ref().and_then(|lead| lead.beginning(self.epoch))
    }
}

/// What was heard of each member last.
#[derive(Default)]
pub(crate) struct HeardMembers(Mutex<BTreeMap<String, HeardStatus>>);

#[derive(Debug, Clone)]
pub(crate) struct HeardStatus {
    at: Instant,
    pub(crate) status: StatusMessage,
}

impl HeardStatus {
    pub(crate) fn age(&self) -> Duration {
        self.at.elapsed()
    }
}

impl HeardMembers {
    pub(crate) fn set(&self, status: StatusMessage) {
        self.lock().insert(status.member.clone(), HeardStatus { at: Instant::now(), status });
    }

    pub(crate) fn of(&self, member: &str) -> Option<HeardStatus> {
        self.lock().get(member).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, HeardStatus>> {
        // Whole between any two statements that hold the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_member_said_has_its_age_and_its_lead_is_read_as_it_was_written() {
        let lead = LeadBeginning {
            epoch: 3,
            at: Timestamp(7),
            cause: LeadCause::FailOver,
            before: Some("a".into()),
            open_after: Some(Duration::from_millis(4_200)),
        };
        let status = StatusMessage {
            member: "b".into(),
            is_leader: false,
            is_eligible: true,
            epoch: 3,
            entry: 41,
            lag_millis: Some(40),
            has_lease: false,
            problem: None,
            digest: Some((1_234, 500)),
            standbys: None,
            shut: None,
            lead: Some(LeadMessage::new(&lead)),
            may_not_lead: Some("it writes a snapshot".into()),
        };
        let read: StatusMessage = minicbor::decode(&minicbor::to_vec(&status).unwrap()).unwrap();
        assert_eq!((&read, read.lead_beginning()), (&status, Some(lead)));
        let shown = read.shown(Duration::from_secs(2));
        assert_eq!((shown.age, shown.lag), (Duration::from_secs(2), Some(Duration::from_millis(40))));
        assert_eq!(shown.digest, Some((1_234, Duration::from_millis(2_500))));
        assert_eq!(shown.may_not_lead.as_deref(), Some("it writes a snapshot"));
    }

    #[test]
    fn a_cause_that_this_version_does_not_know_is_left_out() {
        let message = LeadMessage { at: 7, cause: "VOTE".into(), before: None, open_after_millis: None };
        assert_eq!(message.beginning(3), None);
    }
}
