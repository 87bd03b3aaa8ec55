//! The file of `--cluster`: where the log is, who the members are, and how long they wait for each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use replication_nats::JetStreamSettings;
use serde::Deserialize;

use super::candidate::takeover_min;
use crate::exit_failure::{Exit, ExitFailure};
use crate::input_problem::Problems;
use crate::nats_tables::{self, LoginTable, TlsTable};

/// A file to begin with.
pub const SAMPLE: &str = include_str!("sample.toml");

/// A longer name of a member is refused.
const NAME_CHARACTERS_MAX: usize = 32;

/// Of a smaller log a follower that was away for a minute could not read on.
const KEEP_ENTRIES_MIN: u64 = 100;
const MEGABYTES_MAX: u64 = 1 << 30;
/// Ten years.
const HOURS_MAX: u64 = 87_600;

#[derive(Debug, Clone)]
pub struct ClusterConfig {
    /// The name of this member.
    pub member: String,
    /// Where each member is reached, by its name.
    pub members: BTreeMap<String, String>,
    /// Whether this member may lead.
    pub eligible: bool,
    /// So many followers must have a record in their own journals before it counts.
    pub standby: usize,
    pub log: JetStreamSettings,
    /// What the leader keeps of the log; none where it is never trimmed.
    pub trim: Option<LogLimits>,
    pub timing: ClusterTiming,
}

/// What stays of the log. An entry stays as long as one of them keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogLimits {
    pub entries: Option<u64>,
    pub bytes: Option<u64>,
    pub age: Option<Duration>,
    /// A member that was not heard of for longer holds nothing of the log.
    pub absent_after: Option<Duration>,
}

/// How long the members wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterTiming {
    /// An idle leader proves so often that it leads.
    pub pulse: Duration,
    /// So often its state is compared with those of the followers.
    pub digest: Duration,
    /// For so long after the last proof it sends to venues.
    pub lease: Duration,
    /// A follower leads when it has read nothing for so long.
    pub takeover: Duration,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClusterFile {
    member: String,
    stream: String,
    servers: Vec<String>,
    monitors: Vec<String>,
    #[serde(default = "yes")]
    eligible: bool,
    #[serde(default = "one")]
    standby: usize,
    members: BTreeMap<String, String>,
    login: Option<LoginTable>,
    tls: Option<TlsTable>,
    trim: Option<TrimTable>,
    #[serde(default)]
    timing: TimingTable,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TrimTable {
    keep_entries: Option<u64>,
    keep_megabytes: Option<u64>,
    keep_hours: Option<u64>,
    absent_hours: Option<u64>,
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct TimingTable {
    pulse_millis: u64,
    digest_millis: u64,
    lease_millis: u64,
    takeover_millis: u64,
}

impl Default for TimingTable {
    fn default() -> Self {
        Self { pulse_millis: 500, digest_millis: 10_000, lease_millis: 2_000, takeover_millis: 3_000 }
    }
}

impl ClusterConfig {
    pub fn read(path: &Path) -> Result<Self, ExitFailure> {
        let text = fs::read_to_string(path).map_err(|error| ExitFailure::io("read", path, &error))?;
        Self::parse(&text).map_err(|problems| {
            let lines = problems.to_string().replace('\n', "\n  ");
            ExitFailure::new(Exit::Refused, format!("the cluster file {} can't be used:\n  {lines}", path.display()))
        })
    }

    fn parse(text: &str) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let file: ClusterFile = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                problems.add(nats_tables::place(text, &error), error.message());
                return Err(problems);
            }
        };
        check_members(&file, &mut problems);
        check_addresses(&file, &mut problems);
        file.timing.check(&mut problems);
        let mut log = JetStreamSettings::new(file.servers, file.monitors, &file.stream);
        log.login = file.login.and_then(|login| login.read(&mut problems));
        log.tls = file.tls.map(|tls| tls.check(&mut problems));
        let trim = file.trim.map(|trim| trim.check(&mut problems));
        let (member, members, eligible, standby) = (file.member, file.members, file.eligible, file.standby);
        problems.none_or(Self { member, members, eligible, standby, log, trim, timing: file.timing.durations() })
    }
}

fn check_members(file: &ClusterFile, problems: &mut Problems) {
    let is_fit = |name: &str| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        (1..=NAME_CHARACTERS_MAX).contains(&name.len()) && name.chars().all(is_letter)
    };
    if file.members.len() < 2 {
        problems.add("members", "there must be two or more, one that leads and one that follows");
    }
    if !file.members.contains_key(&file.member) {
        problems.add("member", format!("'{}' is not one of members", file.member));
    }
    let others = file.members.len().saturating_sub(1);
    if file.standby > others {
        problems.add("standby", format!("{} is more than the {others} other members", file.standby));
    }
    let mut addresses = BTreeSet::new();
    for (name, address) in &file.members {
        if !is_fit(name) {
            let reason = format!("a name has 1 to {NAME_CHARACTERS_MAX} letters, digits and -");
            problems.add(format!("members.{name}"), reason);
        }
        if !["http://", "https://"].iter().any(|scheme| address.strip_prefix(scheme).is_some_and(has_host)) {
            problems.add(format!("members.{name}"), format!("'{address}' is no address such as http://10.0.0.1:9090"));
        }
        if !addresses.insert(address) {
            problems.add(format!("members.{name}"), format!("'{address}' is the address of another member too"));
        }
    }
}

fn has_host(rest: &str) -> bool {
    !rest.is_empty() && !rest.contains('/')
}

fn check_addresses(file: &ClusterFile, problems: &mut Problems) {
    for (key, addresses) in [("servers", &file.servers), ("monitors", &file.monitors)] {
        nats_tables::check_addresses(key, addresses, problems);
    }
}

impl TrimTable {
    fn check(&self, problems: &mut Problems) -> LogLimits {
        let ranges = [
            ("keepEntries", self.keep_entries, KEEP_ENTRIES_MIN, u64::MAX),
            ("keepMegabytes", self.keep_megabytes, 1, MEGABYTES_MAX),
            ("keepHours", self.keep_hours, 1, HOURS_MAX),
            ("absentHours", self.absent_hours, 1, HOURS_MAX),
        ];
        for (key, value, least, most) in ranges {
            if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
                problems.add(format!("trim.{key}"), format!("{value} is not from {least} to {most}"));
            }
        }
        if ranges[..3].iter().all(|(_, value, ..)| value.is_none()) {
            problems.add("trim", "one of keepEntries, keepMegabytes and keepHours must say what stays");
        }
        let hours = |hours: Option<u64>| hours.map(|hours| Duration::from_secs(hours.saturating_mul(3_600)));
        LogLimits {
            entries: self.keep_entries,
            bytes: self.keep_megabytes.map(|megabytes| megabytes.saturating_mul(1 << 20)),
            age: hours(self.keep_hours),
            absent_after: hours(self.absent_hours),
        }
    }
}

impl TimingTable {
    fn check(&self, problems: &mut Problems) {
        let ranges = [
            ("pulseMillis", self.pulse_millis, 50, 10_000),
            ("digestMillis", self.digest_millis, 1_000, 3_600_000),
            ("leaseMillis", self.lease_millis, 100, 60_000),
            ("takeoverMillis", self.takeover_millis, 200, 600_000),
        ];
        for (key, value, least, most) in
            ranges.iter().filter(|(_, value, least, most)| !(least..=most).contains(&value))
        {
            problems.add(format!("timing.{key}"), format!("{value} is not from {least} to {most}"));
        }
        let pulse = self.pulse_millis.saturating_mul(2);
        if self.lease_millis < pulse {
            let reason =
                format!("{} must be at least two pulses ({pulse}), or an idle leader loses it", self.lease_millis);
            problems.add("timing.leaseMillis", reason);
        }
        let least = takeover_min(Duration::from_millis(self.lease_millis)).as_millis();
        if u128::from(self.takeover_millis) < least {
            let reason = format!("{} must be {least} or more, a quarter above leaseMillis", self.takeover_millis);
            problems.add("timing.takeoverMillis", reason + ": before, the old leader may still send");
        }
    }

    fn durations(&self) -> ClusterTiming {
        ClusterTiming {
            pulse: Duration::from_millis(self.pulse_millis),
            digest: Duration::from_millis(self.digest_millis),
            lease: Duration::from_millis(self.lease_millis),
            takeover: Duration::from_millis(self.takeover_millis),
        }
    }
}

#[cfg(test)]
mod tests {
    use replication_nats::{NatsLogin, NatsTls};

    use super::*;

    fn problems(text: &str) -> String {
        ClusterConfig::parse(text).err().unwrap().to_string()
    }

    #[test]
    fn the_sample_is_a_file_with_every_key_at_its_default() {
        let sample = ClusterConfig::parse(SAMPLE).unwrap();
        assert_eq!((sample.member.as_str(), sample.members.len(), sample.eligible), ("a", 3, true));
        assert_eq!(sample.standby, 1);
        assert_eq!(ClusterConfig::parse(&SAMPLE.replace("standby = 1\n", "")).unwrap().standby, 1, "the default");
        assert_eq!(ClusterConfig::parse(&SAMPLE.replace("standby = 1", "standby = 0")).unwrap().standby, 0);
        assert_eq!((sample.log.servers.len(), sample.log.monitors.len()), (3, 3));
        let bare: String =
            SAMPLE.lines().take_while(|line| !line.starts_with("[timing]")).collect::<Vec<_>>().join("\n");
        assert_eq!(ClusterConfig::parse(&bare).unwrap().timing, sample.timing, "what it writes are the defaults");
    }

    #[test]
    fn every_problem_is_named_with_its_field_and_its_reason() {
        let text = SAMPLE
            .replace("member = \"a\"", "member = \"x\"")
            .replace("standby = 1", "standby = 3")
            .replace("\"10.0.0.1:4222\"", "\"10.0.0.1\"")
            .replace("http://10.0.0.2:9090", "http://10.0.0.1:9090")
            .replace("http://10.0.0.3:9090", "10.0.0.3:9090")
            .replace("leaseMillis = 2000", "leaseMillis = 700")
            .replace("takeoverMillis = 3000", "takeoverMillis = 800");
        let expected = "member: 'x' is not one of members\n\
            standby: 3 is more than the 2 other members\n\
            members.b: 'http://10.0.0.1:9090' is the address of another member too\n\
            members.c: '10.0.0.3:9090' is no address such as http://10.0.0.1:9090\n\
            servers: '10.0.0.1' is not host:port\n\
            timing.leaseMillis: 700 must be at least two pulses (1000), or an idle leader loses it\n\
            timing.takeoverMillis: 800 must be 875 or more, a quarter above leaseMillis: before, the old leader may still send";
        assert_eq!(problems(&text), expected);
    }

    #[test]
    fn a_login_and_tls_are_read_from_files_that_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("password"), "secret\n").unwrap();
        fs::write(path("ca.pem"), "").unwrap();
        let tables = |password: &str| {
            let (password, ca, key) = (path(password), path("ca.pem"), path("key.pem"));
            format!(
                "[login]\nuser = \"rialto\"\npasswordFile = {password:?}\n[tls]\ncaFile = {ca:?}\nkeyFile = {key:?}\n"
            )
        };
        let expected = format!(
            "login.passwordFile: {} can't be read: No such file or directory (os error 2)\n\
             tls.keyFile: {} is not a file\n\
             tls.certificateFile: certificateFile and keyFile belong together",
            path("none"),
            path("key.pem")
        );
        assert_eq!(problems(&format!("{SAMPLE}{}", tables("none"))), expected);
        let good =
            tables("password").lines().filter(|line| !line.starts_with("keyFile")).collect::<Vec<_>>().join("\n");
        let log = ClusterConfig::parse(&format!("{SAMPLE}{good}")).unwrap().log;
        assert_eq!(log.login, Some(NatsLogin::Password { user: "rialto".into(), password: "secret".into() }));
        assert_eq!(log.tls, Some(NatsTls { ca_file: Some(path("ca.pem").into()), own: None }));
        assert!(!format!("{log:?}").contains("secret"));
    }

    #[test]
    fn a_login_is_a_password_or_a_credentials_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.creds").display().to_string();
        fs::write(&path, "SUAKEY234\n").unwrap();
        let login =
            |table: &str| ClusterConfig::parse(&format!("{SAMPLE}[login]\n{table}\n")).map(|config| config.log.login);
        let good = login(&format!("credentialsFile = {path:?}")).ok().flatten();
        assert_eq!(good, Some(NatsLogin::NkeySeed("SUAKEY234".into())));
        let both = format!("user = \"rialto\"\ncredentialsFile = {path:?}");
        let expected = "login: it has user and passwordFile, or credentialsFile";
        assert_eq!(login(&both).err().unwrap().to_string(), expected);
        fs::write(&path, "my secret\n").unwrap();
        let refused = login(&format!("credentialsFile = {path:?}")).err().unwrap().to_string();
        let expected =
            format!("login.credentialsFile: {path}: it has neither a JWT of a user nor the seed of a user's key");
        assert_eq!(refused, expected, "and what it has is not shown");
    }

    #[test]
    fn the_log_is_trimmed_by_named_limits_only() {
        let trim = |table: &str| ClusterConfig::parse(&format!("{SAMPLE}[trim]\n{table}")).map(|config| config.trim);
        assert_eq!(ClusterConfig::parse(SAMPLE).unwrap().trim, None, "never, where nothing is said");
        let hour = Duration::from_secs(3_600);
        let limits = LogLimits { entries: Some(5_000), bytes: Some(7 << 20), age: Some(hour), absent_after: None };
        assert_eq!(trim("keepEntries = 5000\nkeepMegabytes = 7\nkeepHours = 1").ok(), Some(Some(limits)));
        let refused = |table: &str| trim(table).err().unwrap().to_string();
        let nothing = "trim: one of keepEntries, keepMegabytes and keepHours must say what stays";
        assert_eq!(refused("absentHours = 24"), nothing);
        let small = "trim.keepEntries: 99 is not from 100 to 18446744073709551615";
        assert_eq!(refused("keepEntries = 99"), small);
    }

    #[test]
    fn a_key_that_is_not_known_or_missing_is_named_with_its_line() {
        assert!(problems(&SAMPLE.replace("eligible", "elegible")).contains("unknown field `elegible`"));
        assert!(problems(&SAMPLE.replace("stream = \"rialto\"\n", "")).contains("missing field `stream`"));
        let text = SAMPLE.replace("pulseMillis = 500", "pulseMillis = \"soon\"");
        let line = 1 + SAMPLE.lines().position(|line| line.starts_with("pulseMillis")).unwrap();
        assert!(problems(&text).starts_with(&format!("line {line}: ")), "{}", problems(&text));
    }
}
