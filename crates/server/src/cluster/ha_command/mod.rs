//! `rialto ha …` on the command line: who leads a cluster, the lead handed on, a member that goes on alone, and a log that begins anew.

/// How the command line asks a member.
mod member_question;
/// A log that begins anew.
mod rebuild_log;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde::{Deserialize, Deserializer};
use storage::journal;
use storage::lock::DataDirLock;
use storage::replication::{is_member_folder, leave_cluster};

use self::member_question::{NoStatus, TrustedRoots};
use self::rebuild_log::GivenEnd;
use super::cluster_file::ClusterConfig;
use super::cluster_state::FOLLOWER_LAG_MAX;
use super::member_folder;
use crate::clock::SystemClock;
use crate::config::{Config, ConfigArgs};
use crate::control;
use crate::exit_failure::{Exit, ExitFailure};
use crate::users::execute::actor;
use crate::users::offline_log;

/// A new leader has to appear by then.
const LEAD_WAIT: Duration = Duration::from_secs(60);
/// No cluster comes near it, and as many epochs are left behind it.
const EPOCH_GIVEN_MAX: u64 = 1_000_000_000_000;
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(200);

#[derive(Debug, Subcommand)]
pub enum HaCommand {
    /// Show every member: its role, epoch, lag and lease; the exit code is 1 where not exactly one leads with its lease.
    Status {
        /// The cluster file, as for rialto serve --cluster
        #[arg(value_name = "FILE")]
        cluster: PathBuf,
        #[command(flatten)]
        trust: MemberTrust,
    },
    /// Stop the leader on this data folder in order; a follower leads at once
    ///
    /// Refused where no follower is ready to lead. What was acknowledged is in the log before the leader ends. Started again, it
    /// follows.
    #[command(verbatim_doc_comment)]
    HandOver {
        /// The cluster file of the leader
        #[arg(value_name = "FILE")]
        cluster: PathBuf,
        #[command(flatten)]
        trust: MemberTrust,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Make the folder of a stopped member an ordinary data folder, for rialto serve without --cluster
    ///
    /// For the case that the other members and the log are lost for good. Refused while any member answers: two servers must
    /// never trade under one name. The other members' folders must not be used again.
    #[command(verbatim_doc_comment)]
    GoAlone {
        /// The cluster file of the member
        #[arg(value_name = "FILE")]
        cluster: PathBuf,
        #[command(flatten)]
        trust: MemberTrust,
        #[command(flatten)]
        config: ConfigArgs,
        /// Confirms that no other member will ever be started again on its folder
        #[arg(long)]
        others_are_gone: bool,
    },
    /// Begin an empty log from the data folder of a stopped server: of a single server, or of a member whose log is lost
    ///
    /// Refused while any member answers, and where the log has entries. The log begins behind the last record of the folder; members
    /// whose journals have this record follow when they are started, the others need a backup of this folder, restored with
    /// --as-member. The folder of a member may lack what was acknowledged: use the one with the most records. Where the command was cut
    /// off, give it again for the same folder: no member leads before it has finished.
    #[command(verbatim_doc_comment)]
    RebuildLog {
        /// The cluster file of the member that this folder belongs to
        #[arg(value_name = "FILE")]
        cluster: PathBuf,
        #[command(flatten)]
        trust: MemberTrust,
        #[command(flatten)]
        config: ConfigArgs,
        /// The last record of this folder, after you have seen that no other member has more; needed for the folder of a member
        #[arg(long, value_name = "SEQUENCE")]
        up_to: Option<u64>,
        /// A number that no epoch of this cluster was above; needed where the folder of a member does not say
        #[arg(long, value_name = "EPOCH", value_parser = clap::value_parser!(u64).range(1..=EPOCH_GIVEN_MAX))]
        above_epoch: Option<u64>,
    },
}

/// What a member says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemberStatus {
    role: String,
    eligible: bool,
    #[serde(deserialize_with = "or_zero")]
    epoch: u64,
    lag_millis: Option<u64>,
    #[serde(deserialize_with = "or_zero")]
    entry: u64,
    lease: bool,
    problem: Option<String>,
    /// Nothing in the answer of an older build, as in the two behind it.
    may_not_lead: Option<String>,
    log_warning: Option<String>,
    #[serde(default)]
    standbys_required: u64,
    standbys: Option<u64>,
}

/// Nothing was read yet.
fn or_zero<'de, D: Deserializer<'de>>(told: D) -> Result<u64, D::Error> {
    Option::deserialize(told).map(Option::unwrap_or_default)
}

type AskedMember = (String, Result<MemberStatus, NoStatus>);

/// Which certificates members with addresses of https:// must have.
#[derive(Debug, Args)]
pub struct MemberTrust {
    /// Trust members whose certificate comes from this PEM file, and no others; without it those that the operating system trusts
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

/// The members of a cluster, and how they are asked.
struct ClusterMembers<'a> {
    file: &'a ClusterConfig,
    trusted: TrustedRoots,
}

impl<'a> ClusterMembers<'a> {
    fn of(file: &'a ClusterConfig, trust: &MemberTrust) -> Result<Self, ExitFailure> {
        Ok(Self { file, trusted: TrustedRoots::read(trust.ca_file.as_deref())? })
    }

    fn ask_all(&self) -> Vec<AskedMember> {
        self.file.members.iter().map(|(name, address)| (name.clone(), ask(address, &self.trusted))).collect()
    }
}

/// What is printed.
pub fn execute(command: HaCommand) -> Result<String, ExitFailure> {
    match command {
        HaCommand::Status { cluster, trust } => {
            let file = ClusterConfig::read(&cluster)?;
            status(&ClusterMembers::of(&file, &trust)?.ask_all())
        }
        HaCommand::HandOver { cluster, trust, config } => {
            let file = ClusterConfig::read(&cluster)?;
            hand_over(&ClusterMembers::of(&file, &trust)?, &load(config)?.data_dir)
        }
        HaCommand::GoAlone { cluster, trust, config, others_are_gone } => {
            let file = ClusterConfig::read(&cluster)?;
            go_alone(&ClusterMembers::of(&file, &trust)?, &load(config)?, others_are_gone)
        }
        HaCommand::RebuildLog { cluster, trust, config, up_to, above_epoch } => {
            let file = ClusterConfig::read(&cluster)?;
            refuse_while_one_answers(&ClusterMembers::of(&file, &trust)?)?;
            rebuild_log::rebuild(&file, &load(config)?, GivenEnd { up_to, above_epoch })
        }
    }
}

fn load(arguments: ConfigArgs) -> Result<Config, ExitFailure> {
    Config::load(&arguments.into_sources()).map_err(|problems| ExitFailure::configuration(&problems))
}

fn ask(address: &str, trusted: &TrustedRoots) -> Result<MemberStatus, NoStatus> {
    let text = member_question::ask(address, "/health/cluster", trusted)?;
    serde_json::from_str(&text).map_err(|error| NoStatus::Unclear(format!("its answer can't be read: {error}")))
}

/// Exactly one leader, of the newest epoch that any member knows, which may send to venues.
fn leader(members: &[AskedMember]) -> Option<(&str, &MemberStatus)> {
    let answered = || members.iter().filter_map(|(name, told)| Some((name.as_str(), told.as_ref().ok()?)));
    let newest = answered().map(|(_, told)| told.epoch).max()?;
    let mut leaders = answered().filter(|(_, told)| told.role == "leader" && told.epoch == newest);
    leaders.next().filter(|(_, told)| told.lease && leaders.next().is_none())
}

fn status(members: &[AskedMember]) -> Result<String, ExitFailure> {
    let text = table(members);
    match leader(members) {
        Some(_) => Ok(text),
        None => Err(ExitFailure::new(Exit::Failed, format!("no member leads with its lease\n{text}"))),
    }
}

fn table(members: &[AskedMember]) -> String {
    let head = ["ROLE", "EPOCH", "ENTRY", "LAG MS", "STANDBY"];
    let mut text = format!("{:<16} {} NOTE\n", "MEMBER", columns(head));
    for (name, told) in members {
        let line = match told {
            Ok(told) => told.line(),
            Err(NoStatus::Silent(reason)) => format!("{} {reason}", columns(["silent", "", "", "", ""])),
            Err(NoStatus::Unclear(reason)) => format!("{} {reason}", columns(["unclear", "", "", "", ""])),
        };
        writeln!(text, "{name:<16} {line}").expect("a string takes every text");
    }
    text
}

fn columns([role, epoch, entry, lag, standby]: [&str; 5]) -> String {
    format!("{role:<9} {epoch:>6} {entry:>10} {lag:>8} {standby:>8}")
}

impl MemberStatus {
    fn line(&self) -> String {
        let lag = self.lag_millis.map_or(String::new(), |lag| lag.to_string());
        let note = match (&self.problem, self.role.as_str(), self.lease) {
            (Some(reason), ..) => reason.clone(),
            (None, "leader", false) => "without its lease: it sends nothing to venues".to_owned(),
            (None, "follower", _) => self.why_not_ready().map_or(String::new(), |why| format!("may not lead: {why}")),
            _ => String::new(),
        };
        let notes = [Some(note).filter(|note| !note.is_empty()), self.log_warning.clone()];
        let note = notes.into_iter().flatten().collect::<Vec<_>>().join("; ");
        // Those that follow, of those that must have a record before it counts.
        let standby =
            self.standbys.map_or(String::new(), |following| format!("{following}/{}", self.standbys_required));
        let (epoch, entry) = (self.epoch.to_string(), self.entry.to_string());
        format!("{} {note}", columns([&self.role, &epoch, &entry, &lag, &standby])).trim_end().to_owned()
    }

    /// Why it would not lead at once if the leader stopped now.
    fn why_not_ready(&self) -> Option<String> {
        let lag = self.lag_millis.map(Duration::from_millis);
        match (&self.problem, &self.may_not_lead, lag) {
            _ if self.role != "follower" => Some("it does not follow".to_owned()),
            (Some(reason), ..) | (None, Some(reason), _) => Some(reason.clone()),
            _ if !self.eligible => Some("it is not eligible".to_owned()),
            (None, None, None) => Some("it has not read the log to its end yet".to_owned()),
            (None, None, Some(lag)) if lag > FOLLOWER_LAG_MAX => {
                Some(format!("it was at the end of the log {} s ago", lag.as_secs()))
            }
            (None, None, Some(_)) => None,
        }
    }
}

fn hand_over(cluster: &ClusterMembers<'_>, data_dir: &Path) -> Result<String, ExitFailure> {
    let (members, own_name) = (cluster.ask_all(), &cluster.file.member);
    let own = members.iter().find(|(name, _)| name == own_name).and_then(|(_, told)| told.as_ref().ok());
    let Some((epoch, required)) =
        own.filter(|told| told.role == "leader").map(|told| (told.epoch, told.standbys_required))
    else {
        let reason = format!("{own_name} does not lead; call it beside the leader\n{}", table(&members));
        return Err(ExitFailure::new(Exit::Refused, reason));
    };
    let is_ready = |(_, told): &&AskedMember| told.as_ref().is_ok_and(|told| told.why_not_ready().is_none());
    let ready = members.iter().filter(is_ready).count() as u64;
    if ready == 0 {
        let reason = format!("no follower is ready to lead, so nothing was stopped\n{}", table(&members));
        return Err(ExitFailure::new(Exit::Refused, reason));
    }
    control::client::hand_over(data_dir)?;
    // One of them leads, and the others are its standbys.
    if ready.saturating_sub(1) < required {
        return Ok(
            "the leader has stopped; the next one acknowledges orders when this member follows it: start it again\n"
                .to_owned(),
        );
    }
    wait_for_leader(cluster, epoch)
}

fn wait_for_leader(cluster: &ClusterMembers<'_>, before: u64) -> Result<String, ExitFailure> {
    let begun = Instant::now();
    while begun.elapsed() < LEAD_WAIT {
        let members = cluster.ask_all();
        if let Some((name, told)) = leader(&members).filter(|(_, told)| told.epoch > before) {
            return Ok(format!("{name} leads epoch {}\n", told.epoch));
        }
        std::thread::sleep(ASK_AGAIN_AFTER);
    }
    let reason = format!(
        "the leader has stopped, but none leads after {} s\n{}",
        LEAD_WAIT.as_secs(),
        table(&cluster.ask_all())
    );
    Err(ExitFailure::new(Exit::Failed, reason))
}

fn go_alone(cluster: &ClusterMembers<'_>, config: &Config, others_are_gone: bool) -> Result<String, ExitFailure> {
    let refused = |reason: String| Err(ExitFailure::new(Exit::Refused, reason));
    if !others_are_gone {
        return refused("say --others-are-gone: two servers that trade under one name double orders".to_owned());
    }
    refuse_while_one_answers(cluster)?;
    let lock = DataDirLock::acquire(&config.data_dir)?;
    if !is_member_folder(lock.folder()) {
        return refused(format!("{} is no folder of a member: nothing was changed", lock.folder().display()));
    }
    leave(config, &lock)
}

fn refuse_while_one_answers(cluster: &ClusterMembers<'_>) -> Result<(), ExitFailure> {
    let members = cluster.ask_all();
    let is_there = |told: &Result<MemberStatus, NoStatus>| !matches!(told, Err(NoStatus::Silent(_)));
    match members.iter().find(|(_, told)| is_there(told)) {
        Some((name, _)) => {
            let reason = format!("{name} answers: stop every member first\n{}", table(&members));
            Err(ExitFailure::new(Exit::Refused, reason))
        }
        None => Ok(()),
    }
}

fn leave(config: &Config, lock: &DataDirLock) -> Result<String, ExitFailure> {
    let now = SystemClock::new(config.clock_offset.0).now();
    let end = member_folder::accept_unknown_end(config, lock, now)?;
    let kept = leave_cluster(lock)?.unwrap_or_default();
    let detail = format!("the folder has left its cluster after record {end}");
    offline_log::with_users(config, lock, now, |users| Ok(users.note(&actor("ha go-alone"), detail, now)?))?;
    journal::sync_head(lock.folder())?;
    Ok(format!(
        "{} is an ordinary data folder now, up to record {end}; what it knew of the log is in {kept}\n",
        lock.folder().display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, role: &str, epoch: u64) -> AskedMember {
        let lag_millis = (role == "follower").then_some(40);
        let (eligible, lease) = (true, role == "leader");
        (
            name.into(),
            Ok(MemberStatus {
                role: role.into(),
                eligible,
                epoch,
                lag_millis,
                entry: 7,
                lease,
                problem: None,
                may_not_lead: None,
                log_warning: None,
                standbys_required: 1,
                standbys: (role == "leader").then_some(2),
            }),
        )
    }

    #[test]
    fn the_members_are_a_table_and_a_silent_one_is_in_it() {
        let silent = ("c".to_owned(), Err(NoStatus::Silent("connection refused".to_owned())));
        let members = [member("a", "leader", 3), member("b", "follower", 3), silent];
        let expected = "\
MEMBER           ROLE       EPOCH      ENTRY   LAG MS  STANDBY NOTE
a                leader         3          7               2/1
b                follower       3          7       40
c                silent                                        connection refused
";
        assert_eq!(status(&members).unwrap(), expected);
    }

    #[test]
    fn who_takes_a_connection_and_says_nothing_clear_is_not_gone() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", server.local_addr().unwrap());
        let answer = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            std::io::Write::write_all(&mut stream, b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n")
                .unwrap();
        });
        let trusted = TrustedRoots::read(None).unwrap();
        assert!(matches!(ask(&address, &trusted), Err(NoStatus::Unclear(_))));
        answer.join().unwrap();
        assert!(matches!(ask(&address, &trusted), Err(NoStatus::Silent(_))), "nothing listens there any more");
    }

    #[test]
    fn a_cluster_has_one_leader_of_the_newest_epoch_with_its_lease() {
        let led = |members: &[AskedMember]| leader(members).map(|(name, _)| name.to_owned());
        assert_eq!(led(&[member("a", "leader", 3), member("b", "follower", 3)]).as_deref(), Some("a"));
        assert_eq!(led(&[member("a", "leader", 3), member("b", "follower", 4)]), None, "a was fenced");
        assert_eq!(led(&[member("a", "leader", 3), member("b", "leader", 4)]).as_deref(), Some("b"));
        assert_eq!(led(&[member("a", "follower", 3), member("b", "follower", 3)]), None);
        let mut late = member("a", "leader", 3);
        late.1.as_mut().unwrap().lease = false;
        let failure = status(&[late, member("b", "follower", 3)]).unwrap_err();
        assert_eq!(failure.exit, Exit::Failed);
        assert!(failure.to_string().contains("without its lease: it sends nothing to venues"), "{failure}");
    }

    #[test]
    fn the_lead_is_handed_to_a_follower_that_would_lead_at_once_and_no_other() {
        let why_not = |change: &dyn Fn(&mut MemberStatus)| {
            let mut told = member("b", "follower", 3).1.unwrap();
            change(&mut told);
            told.why_not_ready().unwrap_or_default()
        };
        assert_eq!(why_not(&|_| {}), "");
        assert_eq!(why_not(&|told| told.lag_millis = Some(5_000)), "", "a moment ago");
        assert_eq!(why_not(&|told| told.lag_millis = Some(5_001)), "it was at the end of the log 5 s ago");
        assert_eq!(why_not(&|told| told.lag_millis = None), "it has not read the log to its end yet");
        assert_eq!(why_not(&|told| told.may_not_lead = Some("it writes a snapshot".into())), "it writes a snapshot");
        assert_eq!(why_not(&|told| told.problem = Some("no answer".into())), "no answer");
        assert_eq!(why_not(&|told| told.eligible = false), "it is not eligible", "of an older build");
        assert_eq!(why_not(&|told| told.role = "leader".into()), "it does not follow");
    }

    #[test]
    fn a_member_that_may_not_lead_says_why_in_the_table() {
        let mut writing = member("b", "follower", 3);
        let told = writing.1.as_mut().unwrap();
        told.may_not_lead = Some("it writes a snapshot".into());
        let text = status(&[member("a", "leader", 3), writing.clone()]).unwrap();
        assert!(text.contains("       40          may not lead: it writes a snapshot\n"), "{text}");
        writing.1.as_mut().unwrap().log_warning = Some("NATS server n2 is silent".into());
        let text = status(&[member("a", "leader", 3), writing]).unwrap();
        assert!(text.contains("it writes a snapshot; NATS server n2 is silent\n"), "{text}");
    }
}
