//! The whole cluster as one member knows it, for people: nothing is decided by it.

use std::time::Duration;

use domain::Timestamp;

/// The cluster, as one member knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterOverview {
    /// The name of the leader; none where none is known.
    pub leader: Option<String>,
    /// Whether the leader acknowledges orders now.
    pub gate: LeaderGate,
    /// How the present lead began; none where its leader has not told it.
    pub lead: Option<LeadBeginning>,
    /// The servers of the replicated log; none before they were asked.
    pub log: Option<LogServersView>,
    /// All members of the cluster file, by name.
    pub members: Vec<ClusterMember>,
}

/// Whether a leader acknowledges orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaderGate {
    /// It does.
    Open,
    /// It does not, for this reason.
    Shut(String),
    /// The leader was not heard of lately, as this says.
    Unknown(String),
}

/// Why a member began to lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadCause {
    /// No member had led before.
    First,
    /// The leader before stopped in order.
    HandOver,
    /// The leader before was silent for too long.
    FailOver,
}

impl LeadCause {
    /// Every cause.
    pub const ALL: [Self; 3] = [Self::First, Self::HandOver, Self::FailOver];

    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "FIRST",
            Self::HandOver => "HAND_OVER",
            Self::FailOver => "FAIL_OVER",
        }
    }
}

/// How a lead began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeadBeginning {
    /// The epoch that it began.
    pub epoch: u64,
    /// When its epoch record was accepted, by the clock of the new leader.
    pub at: Timestamp,
    /// Why it began.
    pub cause: LeadCause,
    /// The name of the leader before; none where there was none, or the cluster file does not name it.
    pub before: Option<String>,
    /// From the last entry of the leader before, as the new one has read it, until the new one served; none while it does not yet.
    pub open_after: Option<Duration>,
}

/// The servers that hold copies of the replicated log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogServersView {
    /// How many hold a copy; 0 where they did not answer.
    pub servers: usize,
    /// Those of them whose copy is up to date.
    pub current: usize,
    /// The server that leads the log; none where there is none.
    pub leader: Option<String>,
    /// How long ago they were asked.
    pub age: Duration,
    /// Why they gave no answer.
    pub problem: Option<String>,
}

impl LogServersView {
    /// Whether enough of them are up to date for an entry to be accepted.
    pub fn has_majority(&self) -> bool {
        self.leader.is_some() && self.current * 2 > self.servers
    }
}

/// A member of the cluster file, as it has told of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterMember {
    /// Its name.
    pub name: String,
    /// Where clients reach it.
    pub address: String,
    /// Whether it is the member that was asked.
    pub is_own: bool,
    /// What it said last; none where it was never heard of.
    pub status: Option<ClusterMemberStatus>,
}

/// What a member says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterMemberStatus {
    /// How long ago it said so.
    pub age: Duration,
    /// Whether it led.
    pub is_leader: bool,
    /// Whether it may lead.
    pub is_eligible: bool,
    /// The epoch that it knew.
    pub epoch: u64,
    /// The last entry of the log that it had read, or as a leader appended.
    pub entry: u64,
    /// For how long a follower had not been at the end of the log; none where it never was. Nothing of a leader.
    pub lag: Option<Duration>,
    /// Whether it might send to venues.
    pub has_lease: bool,
    /// Why it could not do its part.
    pub problem: Option<String>,
    /// Why it would not lead if the leader were gone.
    pub may_not_lead: Option<String>,
    /// The last record at which a follower had the same state as the leader, and for how long it knew; none of a leader.
    pub digest: Option<(u64, Duration)>,
    /// Of a leader: how many followers must have a record, and how many follow.
    pub standbys: Option<(usize, usize)>,
}
