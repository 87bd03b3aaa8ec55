//! State of the cluster as this member knows it, shared by the reader of the log and everybody who shows it.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use access::AuditView;
use bus::cluster_overview::{LeadBeginning, LeadCause};
use bus::operations::{ClusterRole, ClusterView, HealthCheck};
use crossbeam_channel::Receiver;
use replication_nats::LogServers;
use storage::replication::{CandidateId, Epoch, LogPosition, MemberId, ReplicationStatus, StandbyReport, TrimSettings};

use super::candidate::{MEMBER_BYTES, member_bytes, new_candidate};
use super::cluster_file::{ClusterConfig, ClusterTiming, LogLimits};
use super::follower_health::follower_lag::FollowerLag;
use super::follower_health::follower_problem::follower_problem;
use super::member_status::HeardMembers;
use super::price_feed::SharedCounters;
use crate::clock::ServerClock;
use crate::exit_failure::{Exit, ExitFailure};

/// A follower whose lag is longer is not ready.
pub const FOLLOWER_LAG_MAX: Duration = Duration::from_secs(5);
/// A stop waits for a majority and for standbys for so long. Then what they do not have is not acknowledged.
pub const STOP_WITHOUT_MAJORITY_AFTER: Duration = Duration::from_secs(5);

/// A record that a standby has not confirmed for so long, when a stop has waited already, is given up.
const STANDBY_GIVEN_UP_AFTER: Duration = Duration::from_secs(1);

/// So often a new leader looks whether standbys follow it.
const LOOK_FOR_STANDBYS_EVERY: Duration = Duration::from_millis(20);
/// So often it is looked whether a stop was asked for, while a leader starts.
const LOOK_FOR_STOP_EVERY: Duration = Duration::from_millis(200);

pub struct ClusterState {
    member: String,
    pub(super) is_eligible: bool,
    /// Names and addresses.
    members: BTreeMap<[u8; MEMBER_BYTES], (String, String)>,
    pub(crate) candidate: CandidateId,
    pub(crate) timing: ClusterTiming,
    /// Of this process, as a leader.
    pub(crate) replication: Arc<ReplicationStatus>,
    /// Of prices between members.
    pub(crate) prices: SharedCounters,
    /// What the other members have told of themselves.
    pub(crate) heard: HeardMembers,
    /// The last record at which a follower's engine had the leader's digest; 0 where there was none yet.
    pub(crate) digest_compared: Arc<AtomicU64>,
    /// The last record that a follower's engine has applied.
    pub(crate) applied: Arc<AtomicU64>,
    /// Whether a follower's engine writes a snapshot.
    pub(crate) is_writing_snapshot: Arc<AtomicBool>,
    /// The log was begun anew, and may lack records of its rebuild.
    pub(crate) is_log_unfinished: AtomicBool,
    /// A follower's view of the audit, once it is open.
    pub(crate) audit: OnceLock<Arc<AuditView>>,
    wall: ServerClock,
    known: Mutex<KnownCluster>,
}

pub(super) struct KnownCluster {
    pub(super) role: ClusterRole,
    epoch: Epoch,
    pub(super) leader: Option<CandidateId>,
    /// That leader has stopped in order: nothing goes to a venue in its name any more.
    pub(super) has_resigned: bool,
    pub(super) lag: FollowerLag,
    /// The last entry that was read.
    entry: LogPosition,
    /// Changes of the lead that were seen.
    leads_seen: u64,
    /// Why the log cannot be read.
    problem: Option<String>,
    /// How the own lead began.
    lead: Option<OwnLead>,
    /// The record of the last equal digest, and when that was seen.
    digest: Option<(u64, Instant)>,
    /// The servers of the log, as they said last.
    log: Option<LogServers>,
    /// Those that acknowledge entries, and whose monitoring does not say whether they sync.
    unverified: Vec<String>,
}

/// The lead of this process.
struct OwnLead {
    beginning: LeadBeginning,
    /// When the last entry of the leader before was read.
    silent_since: Instant,
}

impl ClusterState {
    /// `wall` stamps what people see.
    pub fn new(config: &ClusterConfig, wall: ServerClock) -> Result<Arc<Self>, ExitFailure> {
        let named = |(name, address): (&String, &String)| (member_bytes(name), (name.clone(), address.clone()));
        Ok(Arc::new(Self {
            member: config.member.clone(),
            is_eligible: config.eligible,
            members: config.members.iter().map(named).collect(),
            candidate: new_candidate(&config.member, config.timing.lease)?,
            timing: config.timing,
            replication: Arc::new(
                ReplicationStatus::with_standbys(config.standby).with_trimming(trim_settings(config)),
            ),
            prices: SharedCounters::default(),
            heard: HeardMembers::default(),
            digest_compared: Arc::default(),
            applied: Arc::default(),
            is_writing_snapshot: Arc::default(),
            is_log_unfinished: AtomicBool::default(),
            audit: OnceLock::new(),
            wall,
            known: Mutex::new(KnownCluster::begin()),
        }))
    }

    pub fn view(&self) -> ClusterView {
        let (replication, standbys) = (self.replication.state(), self.replication.standby_state());
        let may_not_lead = self.why_not_lead();
        let mut known = self.known();
        let is_leader = known.role == ClusterRole::Leader;
        known.lag.confirm_end(self.applied.load(Ordering::Acquire));
        let lag = known.lag.at(Instant::now(), self.timing.pulse, known.leader.is_some());
        ClusterView {
            member: self.member.clone(),
            role: known.role,
            is_eligible: self.is_eligible,
            epoch: known.epoch.0,
            leader: known.leader.and_then(|leader| self.address_of(leader)),
            lag: lag.filter(|_| !is_leader),
            entry: if is_leader { replication.accepted.0 } else { known.entry.0 },
            has_lease: is_leader && self.holds_lease(),
            problem: match is_leader {
                true => replication.waiting.or(standbys.problem),
                false => follower_problem(known.problem.as_ref(), &replication),
            },
            may_not_lead,
            log_warning: log_warning(&known.unverified),
            standbys_required: standbys.required,
            standbys: standbys.following,
            records_waiting: standbys.records_waiting,
            leads_seen: known.leads_seen,
        }
    }

    /// This member, through all its lives.
    pub(crate) fn member_id(&self) -> MemberId {
        MemberId(member_bytes(&self.member))
    }

    /// What a member says of its own journal. Only members of the file count, and this one is no standby of itself.
    pub(crate) fn on_standby_report(&self, message: &[u8]) {
        let is_other =
            |report: &StandbyReport| report.member != self.member_id() && self.members.contains_key(&report.member.0);
        if let Some(report) = StandbyReport::decode(message).filter(is_other) {
            self.replication.confirm(&report);
        }
    }

    /// A new leader serves nobody before enough standbys follow it: until then its interfaces of before say why. Returns also where
    /// the start is over, by a stop or a failure.
    pub(crate) fn wait_for_standbys(&self, is_over: impl Fn() -> bool) {
        while !self.replication.standby_state().is_open && !is_over() {
            thread::sleep(LOOK_FOR_STANDBYS_EVERY);
        }
    }

    fn address_of(&self, candidate: CandidateId) -> Option<String> {
        self.member_of(candidate).map(|(_, address)| address.clone())
    }

    fn member_of(&self, CandidateId(bytes): CandidateId) -> Option<&(String, String)> {
        self.members.get(bytes.first_chunk::<MEMBER_BYTES>()?)
    }

    pub(crate) fn name(&self) -> &str {
        &self.member
    }

    /// Names and addresses of all members, by name.
    pub(crate) fn member_addresses(&self) -> impl Iterator<Item = (&String, &String)> {
        let by_name: BTreeMap<_, _> = self.members.values().map(|(name, address)| (name, address)).collect();
        by_name.into_iter()
    }

    /// None where none is known, or the file does not name it.
    pub(crate) fn leader_name(&self) -> Option<String> {
        let (_, leader) = self.leader()?;
        self.member_of(leader).map(|(name, _)| name.clone())
    }

    /// The process that leads, as far as this one has read.
    pub(crate) fn leader(&self) -> Option<(Epoch, CandidateId)> {
        let known = self.known();
        known.leader.map(|leader| (known.epoch, leader))
    }

    /// These acknowledge entries, and have not said for long whether they sync every write.
    pub(crate) fn set_unverified_servers(&self, servers: Vec<String>) {
        let mut known = self.known();
        if let Some(warning) = log_warning(&servers).filter(|_| known.unverified != servers) {
            tracing::warn!(%warning, "the replicated log may lose acknowledged entries in a power cut; make its monitoring address answer");
        }
        known.unverified = servers;
    }

    pub(crate) fn unverified_servers(&self) -> usize {
        self.known().unverified.len()
    }

    /// As the log says.
    pub(crate) fn set_leader(&self, epoch: Epoch, leader: Option<CandidateId>) {
        self.warn_of_longer_lease(leader);
        let mut known = self.known();
        known.leads_seen += u64::from(known.epoch != epoch);
        (known.epoch, known.leader) = (epoch, leader);
    }

    pub(crate) fn set_resigned(&self, has_resigned: bool) {
        self.known().has_resigned = has_resigned;
    }

    /// This process leads the epoch that it knows. The last entry of `before` was read at `silent_since`.
    pub(crate) fn begin_lead(&self, cause: LeadCause, before: Option<CandidateId>, silent_since: Instant) {
        let (at, before) =
            ((self.wall)(), before.and_then(|before| self.member_of(before)).map(|(name, _)| name.clone()));
        let mut known = self.known();
        let beginning = LeadBeginning { epoch: known.epoch.0, at, cause, before, open_after: None };
        known.lead = Some(OwnLead { beginning, silent_since });
    }

    /// The interfaces of the leader are open. Its venues may not be there yet: an order for one of those is refused, and not acknowledged.
    pub(crate) fn begin_serving(&self) {
        if let Some(OwnLead { beginning, silent_since }) = &mut self.known().lead {
            beginning.open_after = Some(silent_since.elapsed());
        }
    }

    pub(crate) fn own_lead(&self) -> Option<LeadBeginning> {
        self.known().lead.as_ref().map(|lead| lead.beginning.clone())
    }

    /// Why this leader acknowledges nothing; none where it does.
    pub(crate) fn why_shut(&self) -> Option<String> {
        let (is_well, detail) = self.leader_check();
        let is_open = self.own_lead().is_some_and(|lead| lead.open_after.is_some());
        match (is_well, is_open) {
            (false, _) => Some(detail),
            (true, false) => Some("it begins to lead, and its interfaces are not open yet".to_owned()),
            (true, true) => None,
        }
    }

    /// The last record with the leader's digest, and for how long that is known.
    pub(crate) fn digest_compared(&self) -> Option<(u64, Duration)> {
        let newest = self.digest_compared.load(Ordering::Acquire);
        let mut known = self.known();
        if newest > 0 && known.digest.is_none_or(|(sequence, _)| sequence != newest) {
            known.digest = Some((newest, Instant::now()));
        }
        known.digest.map(|(sequence, at)| (sequence, at.elapsed()))
    }

    pub(crate) fn set_log_servers(&self, servers: Option<LogServers>) {
        self.known().log = servers;
    }

    pub(crate) fn log_servers(&self) -> Option<LogServers> {
        self.known().log.clone()
    }

    pub(crate) fn set_entry(&self, entry: LogPosition) {
        let mut known = self.known();
        known.entry = entry;
        known.lag.note_entry(Instant::now());
    }

    pub(crate) fn set_role(&self, role: ClusterRole) {
        self.known().role = role;
    }

    /// Everything that the log has was read, up to this record.
    pub(crate) fn set_read_to_end(&self, sequence: u64) {
        let mut known = self.known();
        known.problem = None;
        known.lag.note_end(sequence, self.applied.load(Ordering::Acquire), Instant::now());
    }

    pub(crate) fn set_problem(&self, reason: String) {
        let mut known = self.known();
        if known.problem.is_none() {
            tracing::warn!(%reason, "the replicated log cannot be read now");
        }
        known.problem = Some(reason);
    }

    /// Entries that the log has as far as a leader knows, and whether a follower keeps it longer than its limits. Zeros of a follower.
    pub(crate) fn log_size(&self) -> (u64, bool) {
        let replication = self.replication.state();
        let entries = (replication.accepted.0 + 1).saturating_sub(replication.begins.0);
        (if replication.begins.0 == 0 { 0 } else { entries }, replication.trim_held_by.is_some())
    }

    /// Whether this process may send to venues.
    pub(crate) fn holds_lease(&self) -> bool {
        self.replication.holds_lease(Instant::now(), self.timing.lease)
    }

    /// Whether the cluster goes on, for `/health/ready`.
    pub(crate) fn check(&self) -> HealthCheck {
        let view = self.view();
        let (ok, detail) = match view.role {
            ClusterRole::Leader => self.leader_check(),
            ClusterRole::Follower => self.follower_check(view.lag),
        };
        let warning = view.log_warning.map_or(String::new(), |warning| format!("; {warning}"));
        HealthCheck { name: "cluster".to_owned(), ok, detail: format!("{}, {detail}{warning}", view.role.name()) }
    }

    fn leader_check(&self) -> (bool, String) {
        let (replication, standby_problem) = (self.replication.state(), self.replication.standby_state().problem);
        match (replication.is_fenced, replication.waiting) {
            (true, _) => (false, "another server leads".to_owned()),
            (false, Some(reason)) => (false, format!("no majority has the last frame: {reason}")),
            (false, None) if standby_problem.is_some() => (false, standby_problem.unwrap_or_default()),
            (false, None) if !self.holds_lease() => (false, "its lease has run out".to_owned()),
            (false, None) => (true, format!("epoch {}, entry {}", self.known().epoch, replication.accepted)),
        }
    }

    fn follower_check(&self, lag: Option<Duration>) -> (bool, String) {
        let replication = self.replication.state();
        let (problem, epoch) = {
            let known = self.known();
            (follower_problem(known.problem.as_ref(), &replication), known.epoch)
        };
        match (problem, lag) {
            (Some(reason), _) => (false, reason),
            (None, None) => (false, "it has not read the log to its end yet".to_owned()),
            (None, Some(lag)) if lag > FOLLOWER_LAG_MAX => {
                let reason = "it is not at the end of the log, or no leader writes to it";
                (false, format!("{reason}: lag {} ms", lag.as_millis()))
            }
            (None, Some(lag)) => (true, format!("epoch {epoch}, lag {} ms", lag.as_millis())),
        }
    }

    /// A stop begins: a majority or standbys that are not there are not waited for for ever.
    pub(crate) fn limit_stop(&self) {
        let replication = self.replication.clone();
        let give_up = move || {
            thread::sleep(STOP_WITHOUT_MAJORITY_AFTER);
            replication.stop();
            while !replication.give_up_on_standbys(STANDBY_GIVEN_UP_AFTER) {
                thread::sleep(LOOK_FOR_STOP_EVERY);
            }
        };
        if thread::Builder::new().name("cluster-stop".into()).spawn(give_up).is_err() {
            self.replication.stop();
        }
    }

    /// A start that waits for a majority must end too where a stop is asked for.
    pub(crate) fn watch_stop(self: &Arc<Self>, stopped: Receiver<()>) -> io::Result<()> {
        let cluster = self.clone();
        let watch = move || {
            while stopped.is_empty() {
                thread::sleep(LOOK_FOR_STOP_EVERY);
            }
            cluster.limit_stop();
        };
        thread::Builder::new().name("cluster-watch".into()).spawn(watch).map(drop)
    }

    /// Why a leader ended, where that was the cluster's doing.
    pub(crate) fn explain_end(&self, failure: ExitFailure) -> ExitFailure {
        match self.replication.state().is_fenced {
            true => ExitFailure::new(Exit::Fenced, format!("another server of the cluster leads; {failure}")),
            false => failure,
        }
    }

    pub(super) fn known(&self) -> MutexGuard<'_, KnownCluster> {
        // Whole between any two statements that hold the lock.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownCluster {
    fn begin() -> Self {
        Self {
            role: ClusterRole::Follower,
            epoch: Epoch(0),
            leader: None,
            has_resigned: false,
            lag: FollowerLag::new(Instant::now()),
            entry: LogPosition(0),
            leads_seen: 0,
            problem: None,
            lead: None,
            digest: None,
            log: None,
            unverified: vec![],
        }
    }
}

/// It is no reason to stop trading: a majority of the others may sync.
fn log_warning(unverified: &[String]) -> Option<String> {
    let names = unverified.join(", ");
    (!unverified.is_empty()).then(|| {
        format!(
            "NATS server {names} holds the log, and does not say whether it syncs every write: its monitoring is silent"
        )
    })
}

/// Every other member of the file is waited for.
fn trim_settings(config: &ClusterConfig) -> Option<TrimSettings> {
    let LogLimits { entries, bytes, age, absent_after } = config.trim?;
    let others = config.members.keys().filter(|name| **name != config.member);
    let followers = others.map(|name| MemberId(member_bytes(name))).collect();
    Some(TrimSettings { keep_entries: entries, keep_bytes: bytes, keep_for: age, followers, absent_after })
}

#[cfg(test)]
pub(crate) mod tests {
    use domain::Timestamp;

    use super::*;
    use crate::cluster::cluster_file::SAMPLE;

    pub(crate) fn state(member: &str) -> Arc<ClusterState> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cluster.toml");
        std::fs::write(&path, SAMPLE.replace("member = \"a\"", &format!("member = \"{member}\""))).unwrap();
        ClusterState::new(&ClusterConfig::read(&path).unwrap(), Arc::new(|| Timestamp(0))).unwrap()
    }

    #[test]
    fn a_leader_is_known_by_its_candidate_and_no_two_processes_share_one() {
        let (own, other, again) = (state("a"), state("b"), state("b"));
        assert_ne!(other.candidate, again.candidate);
        for leader in [other.candidate, again.candidate] {
            own.set_leader(Epoch(3), Some(leader));
            let view = own.view();
            assert_eq!((view.epoch, view.leader.as_deref()), (3, Some("http://10.0.0.2:9090")));
        }
        own.set_leader(Epoch(4), Some(CandidateId([9; 16])));
        assert_eq!(own.view().leader, None, "a member that the file does not name");
    }

    #[test]
    fn a_follower_is_ready_when_it_was_at_the_end_of_the_log() {
        let state = state("a");
        let check = || (state.check().ok, state.check().detail);
        assert_eq!(check(), (false, "follower, it has not read the log to its end yet".to_owned()));
        state.set_read_to_end(0);
        assert!(check().0, "{}", check().1);
        assert!(state.view().lag.is_some_and(|lag| lag < FOLLOWER_LAG_MAX));
        state.set_problem("nobody answers".to_owned());
        assert_eq!(check(), (false, "follower, nobody answers".to_owned()));
    }

    #[test]
    fn a_server_of_the_log_that_does_not_say_whether_it_syncs_is_shown_and_nothing_stops() {
        let state = state("a");
        state.set_read_to_end(0);
        state.set_unverified_servers(vec!["n2".to_owned()]);
        let expected =
            "NATS server n2 holds the log, and does not say whether it syncs every write: its monitoring is silent";
        let (check, view) = (state.check(), state.view());
        assert!(check.ok && check.detail.ends_with(expected), "{}", check.detail);
        assert_eq!((view.log_warning.as_deref(), view.problem, view.may_not_lead), (Some(expected), None, None));
        assert_eq!(state.unverified_servers(), 1);
        state.set_unverified_servers(vec![]);
        assert_eq!(state.view().log_warning, None);
    }

    #[test]
    fn a_leader_without_its_lease_is_not_ready_and_may_not_send() {
        let state = state("a");
        state.set_role(ClusterRole::Leader);
        assert_eq!((state.check().ok, state.holds_lease()), (false, false));
        assert_eq!(state.check().detail, "leader, its lease has run out");
        let failure = || ExitFailure::new(Exit::Failed, "the journal failed");
        assert_eq!(state.explain_end(failure()).exit, Exit::Failed, "no other process led");
    }
}
