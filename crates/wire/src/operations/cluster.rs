//! The whole cluster, as one of its members knows it.

use crate::json::Millis;
use crate::value_object::value_object;

const CLUSTER_ROLES: &[&str] = &["alone", "leader", "follower"];
const MEMBER_ROLES: &[&str] = &["leader", "follower"];
const GATES: &[&str] = &["OPEN", "SHUT", "UNKNOWN"];
const LEAD_CAUSES: &[&str] = &["FIRST", "HAND_OVER", "FAIL_OVER"];

value_object! {
    /// The cluster as the member knows it that was asked. A server alone has no members.
    pub struct ClusterOverviewVO<'a> ("ClusterOverviewVO", golden) {
        // The member that was asked.
        member: Option<&'a str>,
        role: &'static str [OneOf(CLUSTER_ROLES)],
        epoch: Option<u64>,
        // Its name.
        leader: Option<&'a str>,
        // Whether the leader acknowledges orders; UNKNOWN where it was not heard of lately.
        gate: &'static str [OneOf(GATES)],
        gateReason: Option<&'a str>,
        lead: Option<ClusterLeadVO<'a>>,
        log: Option<ClusterLogVO<'a>>,
        members: Vec<ClusterMemberVO<'a>>,
    }
}

value_object! {
    /// How the present lead began.
    pub struct ClusterLeadVO<'a> ("ClusterLeadVO") {
        epoch: u64 [Whole],
        since: Millis,
        cause: &'static str [OneOf(LEAD_CAUSES)],
        before: Option<&'a str>,
        // From the last entry of the leader before until the new one served; null while it does not yet.
        openAfterMillis: Option<usize>,
    }
}

value_object! {
    /// The servers that hold copies of the replicated log.
    pub struct ClusterLogVO<'a> ("ClusterLogVO") {
        servers: usize,
        current: usize,
        majority: bool,
        leader: Option<&'a str>,
        ageMillis: usize,
        problem: Option<&'a str>,
    }
}

value_object! {
    /// A member of the cluster file, as it has told of itself; null where it was never heard of.
    pub struct ClusterMemberVO<'a> ("ClusterMemberVO") {
        name: &'a str,
        address: &'a str,
        // Whether it is the one that was asked.
        own: bool,
        // How long ago it told this.
        ageMillis: Option<usize>,
        role: Option<&'static str> [Maybe(&OneOf(MEMBER_ROLES))],
        eligible: Option<bool>,
        epoch: Option<u64>,
        entry: Option<u64>,
        lagMillis: Option<usize>,
        lease: Option<bool>,
        problem: Option<&'a str>,
        // Why it would not lead if the leader were gone.
        mayNotLead: Option<&'a str>,
        // The last record at which a follower had the leader's state, and how long ago it compared them.
        digestSequence: Option<u64>,
        digestAgeMillis: Option<usize>,
        standbysRequired: Option<usize>,
        standbys: Option<usize>,
    }
}

impl ClusterOverviewVO<'_> {
    /// Of a server that is no member of a cluster: everything that a leader does, it does.
    pub const ALONE: Self = Self {
        member: None,
        role: "alone",
        epoch: None,
        leader: None,
        gate: "OPEN",
        gateReason: None,
        lead: None,
        log: None,
        members: Vec::new(),
    };
}
