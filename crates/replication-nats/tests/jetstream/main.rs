//! The replicated log on real JetStream servers.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod bit_flips;
mod nats_cluster;
mod server_failures;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nats_cluster::{NatsCluster, ServerOptions, open_patiently, request};
use replication_contract::sample_frames::{INSTANCE, frames};
use replication_contract::{FaultQueue, FaultyStore, LogClient, LogLab, violations};
use replication_nats::{JetStreamSettings, JetStreamStore, LogOpenError, NatsLogin, NatsTls};
use rustix::process::Signal;
use storage::journal::{Journal, JournalBatch, JournalOptions, JournalRecord, SealedFrame};
use storage::lock::DataDirLock;
use storage::replication::{
    CandidateId, Epoch, FollowError, Leading, LoadReply, LogCursor, LogError, LogEvent, LogFollower, LogOutcome,
    LogPosition, LogStore, QuorumLog, ReplicatedLog, ReplicationStatus,
};

/// An election of JetStream takes up to nine seconds; what takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(90);

struct JetStreamLab {
    settings: JetStreamSettings,
    clients: u8,
}

impl LogLab for JetStreamLab {
    fn connect(&mut self) -> LogClient {
        self.clients += 1;
        let faults = FaultQueue::default();
        let store = open_patiently(&self.settings).unwrap_or_else(|error| panic!("{error}"));
        let log = ReplicatedLog::new(FaultyStore::new(store, faults.clone()), CandidateId([self.clients; 16]));
        LogClient::new(log, faults)
    }

    fn store_raw(&mut self, entry: &[u8]) {
        let answer = request(&self.settings, &self.settings.stream, entry.to_vec());
        assert!(answer["seq"].as_u64().is_some(), "{answer}");
    }

    /// Only time does that, and more of it than a test has.
    fn forget_ids(&mut self) -> bool {
        false
    }
}

#[test]
fn jetstream_keeps_every_rule_of_the_contract() {
    let cluster = NatsCluster::three();
    let mut number = 0;
    let broken = violations(|| {
        number += 1;
        let stream = format!("rule-{number}");
        drop(cluster.open(&stream));
        let settings = cluster.settings(&stream);
        Box::new(JetStreamLab { settings, clients: 0 })
    });
    assert_eq!(broken, []);
}

fn log(store: JetStreamStore, candidate: u8) -> ReplicatedLog<JetStreamStore> {
    ReplicatedLog::new(store, CandidateId([candidate; 16]))
}

/// Settles until the outcome is known.
fn settled(log: &mut dyn QuorumLog, first: LogOutcome) -> LogOutcome {
    let (begun, mut outcome) = (Instant::now(), first);
    while let LogOutcome::Unknown { cause } = &outcome {
        assert!(begun.elapsed() < PATIENCE, "{cause}");
        outcome = log.settle();
    }
    outcome
}

/// Appends the frames behind those that are there.
fn append(log: &mut dyn QuorumLog, frames: &[SealedFrame], mut position: u64) {
    for frame in frames {
        position += 1;
        let begun = Instant::now();
        let outcome = loop {
            let first = log.append(frame);
            match settled(log, first) {
                // No server has taken it, for certain.
                LogOutcome::Refused { .. } if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                outcome => break outcome,
            }
        };
        assert_eq!(outcome, LogOutcome::Accepted { position: LogPosition(position) });
    }
}

/// Frames up to the end or the first fault. A server that does not answer is asked again.
fn read(log: &mut dyn QuorumLog) -> (Vec<SealedFrame>, LogCursor, Option<LogError>) {
    let (begun, mut cursor, mut found) = (Instant::now(), LogCursor::start(INSTANCE), Vec::new());
    loop {
        match log.read(&mut cursor, 10) {
            Ok(events) if events.is_empty() => return (found, cursor, None),
            Ok(events) => found.extend(events.into_iter().filter_map(|event| match event {
                LogEvent::Frame { frame, .. } => Some(frame),
                LogEvent::Led { .. } | LogEvent::Marked { .. } | LogEvent::Dropped { .. } => None,
            })),
            Err(LogError::Unavailable { .. }) if begun.elapsed() < PATIENCE => {}
            Err(error) => return (found, cursor, Some(error)),
        }
    }
}

#[test]
fn the_leader_of_the_stream_is_killed_under_append_and_no_frame_is_lost_or_doubled() {
    let mut cluster = NatsCluster::three();
    let mut leader = log(cluster.open("kill"), 1);
    let first = leader.lead(Epoch(1), &LogCursor::start(INSTANCE));
    assert_eq!(settled(&mut leader, first), LogOutcome::Accepted { position: LogPosition(1) });
    append(&mut leader, &frames()[..8], 1);
    let killed = cluster.number_of(&cluster.stream_leader("kill"));
    cluster.end(killed, Signal::KILL);
    append(&mut leader, &frames()[8..16], 9);
    cluster.run(killed);
    append(&mut leader, &frames()[16..], 17);
    let (found, _, error) = read(&mut log(cluster.open("kill"), 2));
    assert_eq!(error, None);
    assert!(found == frames(), "{} frames", found.len());
}

/// Entries that a reader at the end of the log asks for before they are there.
const APPENDED_UNDER_THE_READER: u64 = 300;

/// Appends them one by one, as a leader does.
fn append_raw(settings: &JetStreamSettings) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(settings.servers.as_slice()).await.unwrap();
        for number in 1..=APPENDED_UNDER_THE_READER {
            client.request(settings.stream.clone(), number.to_le_bytes().to_vec().into()).await.unwrap();
        }
    });
}

#[test]
fn an_entry_that_is_appended_while_a_reader_looks_for_it_is_no_damaged_one() {
    let cluster = NatsCluster::three();
    let mut reader = cluster.open("look");
    let settings = cluster.settings("look");
    let writer = std::thread::spawn(move || append_raw(&settings));
    let mut unexpected = Vec::new();
    for number in 1..=APPENDED_UNDER_THE_READER {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < PATIENCE, "entry {number} is not there");
            match reader.load(LogPosition(number)) {
                LoadReply::Entry(entry) => break assert_eq!(entry, number.to_le_bytes()),
                LoadReply::End => {}
                reply => unexpected.push(reply),
            }
        }
    }
    writer.join().unwrap();
    assert_eq!(unexpected, []);
}

/// Requests for single messages, and all others, that the servers have answered.
fn api_requests(settings: &JetStreamSettings) -> u64 {
    let answered = |monitor: &String| {
        let mut connection = TcpStream::connect(monitor.trim_start_matches("http://")).unwrap();
        connection.write_all(b"GET /jsz HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str::<serde_json::Value>(body).unwrap()["api"]["total"].as_u64().unwrap()
    };
    settings.monitors.iter().map(answered).sum()
}

#[test]
fn a_reader_that_is_far_behind_asks_for_many_entries_at_once() {
    let cluster = NatsCluster::three();
    let settings = cluster.settings("behind");
    let mut reader = cluster.open("behind");
    append_raw(&settings);
    let before = api_requests(&settings);
    let read: Vec<_> = (1..=APPENDED_UNDER_THE_READER + 1).map(|number| reader.load(LogPosition(number))).collect();
    let asked = api_requests(&settings) - before;
    let entries = (1..=APPENDED_UNDER_THE_READER).map(|number| LoadReply::Entry(number.to_le_bytes().to_vec()));
    assert!(read.iter().eq(entries.chain([LoadReply::End]).collect::<Vec<_>>().iter()), "{read:?}");
    assert!(asked < APPENDED_UNDER_THE_READER / 10, "{asked} requests one by one");
}

/// A process with a journal of its own.
fn follower(cluster: &NatsCluster, folder: &Path, candidate: u8) -> LogFollower<ReplicatedLog<JetStreamStore>> {
    let lock = DataDirLock::acquire(folder).unwrap();
    let options = JournalOptions { segment_bytes: 2048, ..JournalOptions::new(INSTANCE) };
    let candidate = CandidateId([candidate; 16]);
    let log = ReplicatedLog::new(cluster.open("journal"), candidate);
    LogFollower::open(log, candidate, &lock, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn follow_to(follower: &mut LogFollower<ReplicatedLog<JetStreamStore>>, sequence: u64) {
    let begun = Instant::now();
    while follower.cursor().chain().head().sequence < sequence {
        match follower.follow(100) {
            Ok(_) | Err(FollowError::Log(LogError::Unavailable { .. })) => {}
            Err(error) => panic!("{error}"),
        }
        assert!(begun.elapsed() < PATIENCE, "{:?}", follower.cursor());
    }
}

fn record_orders(journal: &mut Journal, sequences: std::ops::RangeInclusive<u64>) {
    let begun = Instant::now();
    for sequence in sequences {
        let record = JournalRecord { sequence, kind: 1, payload: format!("order {sequence}").into_bytes() };
        journal.append(JournalBatch { time: 1, records: vec![record] }).unwrap();
        while journal.durable() < sequence {
            assert!(begun.elapsed() < PATIENCE, "{:?}", journal.monitor().failure());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn segments(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder.join(storage::journal::FOLDER)).unwrap().map(Result::unwrap);
    let mut named: Vec<_> = files
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .filter(|(name, _)| !name.starts_with("head") && !name.starts_with("next"))
        .collect();
    named.sort();
    named
}

#[test]
fn journals_are_equal_byte_for_byte_while_a_server_of_the_log_dies_and_the_lead_changes() {
    let mut cluster = NatsCluster::three();
    let [first, second] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let status = Arc::new(ReplicationStatus::default());
    let leading = follower(&cluster, first.path(), 1).lead(&status).unwrap();
    let Leading::Leader { mut journal, .. } = leading else { panic!("nobody else is there") };
    record_orders(&mut journal, 1..=20);
    let mut standby = follower(&cluster, second.path(), 2);
    let stream_leader = cluster.number_of(&cluster.stream_leader("journal"));
    cluster.end(stream_leader, Signal::TERM);
    record_orders(&mut journal, 21..=40);
    follow_to(&mut standby, 40);
    assert_eq!(segments(second.path()), segments(first.path()));
    // With one server away a process can still start, read and lead.
    status.stop();
    drop(journal);
    let status = Arc::new(ReplicationStatus::default());
    let leading = standby.lead(&status).unwrap();
    let Leading::Leader { mut journal, end } = leading else { panic!("nobody else wants to lead") };
    assert_eq!(end.epoch(), Epoch(2));
    record_orders(&mut journal, 41..=50);
    let mut back = follower(&cluster, first.path(), 3);
    follow_to(&mut back, 50);
    assert_eq!(segments(first.path()), segments(second.path()));
    // The server that was away is asked again whether it syncs.
    let mut watch = cluster.open("journal").server_watch();
    assert_eq!(watch.silent().len(), 1);
    cluster.run(stream_leader);
    let begun = Instant::now();
    while !watch.silent().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{:?}", watch.silent());
        watch.check().unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_server_that_is_replaced_by_one_that_does_not_sync_is_refused_by_name() {
    let mut cluster = NatsCluster::three();
    let mut watch = cluster.open("replaced").server_watch();
    assert_eq!((watch.check(), watch.silent()), (Ok(()), &[][..]), "every server is as it must be");
    cluster.replace(1, "");
    let begun = Instant::now();
    let refused = loop {
        assert!(begun.elapsed() < PATIENCE, "nobody has noticed");
        match watch.check() {
            Err(error @ LogOpenError::Refused { .. }) => break error,
            Ok(()) | Err(LogOpenError::Unavailable { .. }) => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    assert_eq!(refused.to_string(), "sync_interval: server n1 must have sync_interval: always in its jetstream block");
}

#[test]
fn a_server_that_does_not_sync_every_write_is_refused_by_name() {
    let cluster =
        NatsCluster::start(&ServerOptions { nodes: 1, sync: "sync_interval: 1s", ..ServerOptions::default() });
    let error = open_patiently(&cluster.settings("sync")).unwrap_err();
    assert_eq!(error.to_string(), "sync_interval: server n0 must have sync_interval: always in its jetstream block");
}

/// Servers with a user, and with a certificate that nobody else has signed.
fn guarded_servers(folder: &Path) -> (NatsCluster, PathBuf) {
    let pair = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (folder.join("server.pem"), folder.join("server.key"));
    fs::write(&certificate, pair.cert.pem()).unwrap();
    fs::write(&key, pair.signing_key.serialize_pem()).unwrap();
    let further = format!(
        "authorization {{ user: rialto, password: \"right\" }}\ntls {{ cert_file: {certificate:?}, key_file: {key:?} }}\n"
    );
    (NatsCluster::start(&ServerOptions { further, ..ServerOptions::default() }), certificate)
}

#[test]
fn servers_with_a_user_and_tls_let_in_who_knows_the_password_and_trusts_the_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let (cluster, certificate) = guarded_servers(folder.path());
    let login = |password: &str| Some(NatsLogin::Password { user: "rialto".into(), password: password.into() });
    let trusted = Some(NatsTls { ca_file: Some(certificate), own: None });
    let settings = JetStreamSettings { login: login("right"), tls: trusted.clone(), ..cluster.settings("guarded") };
    open_patiently(&settings).unwrap_or_else(|error| panic!("{error}"));

    let wrong = JetStreamSettings { login: login("wrong"), ..settings.clone() };
    let error = open_patiently(&wrong).unwrap_err().to_string();
    assert!(error.starts_with("login: the NATS servers do not let the member in: authorization violation"), "{error}");
    let nobody = JetStreamSettings { login: None, ..settings.clone() };
    assert!(open_patiently(&nobody).unwrap_err().to_string().starts_with("login: "));
    let distrustful = JetStreamSettings { tls: Some(NatsTls::default()), ..settings };
    let error = JetStreamStore::open(distrustful).unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
}

#[test]
fn servers_that_know_a_key_let_in_who_has_its_seed() {
    // A key for this test alone, and another one.
    let [known, other] = [nkeys::KeyPair::new_user(), nkeys::KeyPair::new_user()];
    let further = format!("authorization {{ users = [{{ nkey: {} }}] }}\n", known.public_key());
    let cluster = NatsCluster::start(&ServerOptions { further, ..ServerOptions::default() });
    let login = |key: &nkeys::KeyPair| Some(NatsLogin::from_credentials(&key.seed().unwrap()).unwrap());
    let settings = JetStreamSettings { login: login(&known), ..cluster.settings("key") };
    open_patiently(&settings).unwrap_or_else(|error| panic!("{error}"));
    let error = open_patiently(&JetStreamSettings { login: login(&other), ..settings }).unwrap_err().to_string();
    assert!(error.starts_with("login: the NATS servers do not let the member in"), "{error}");
    assert!(!error.contains(&other.seed().unwrap()), "{error}");
}

#[test]
fn servers_that_cannot_take_the_largest_frame_are_refused() {
    let options = ServerOptions { nodes: 1, max_payload: 1 << 20, ..ServerOptions::default() };
    let cluster = NatsCluster::start(&options);
    let error = open_patiently(&cluster.settings("payload")).unwrap_err().to_string();
    assert!(error.starts_with("max_payload: server ") && error.contains(" takes 1048576 bytes"), "{error}");
}

#[test]
fn a_stream_that_could_drop_entries_is_refused() {
    let cluster = NatsCluster::three();
    drop(cluster.open("own"));
    let settings = cluster.settings("foreign");
    let made = serde_json::json!({ "name": "foreign", "subjects": ["foreign"], "num_replicas": 3, "storage": "file",
        "retention": "limits", "discard": "new", "max_age": 3_600_000_000_000_u64, "deny_delete": true });
    let answer = request(&settings, "$JS.API.STREAM.CREATE.foreign", made.to_string().into_bytes());
    assert_eq!(answer["error"], serde_json::Value::Null);
    let error = open_patiently(&settings).unwrap_err().to_string();
    assert_eq!(error, "stream: max_age of foreign must be off, it is 3600000000000");
    let mut settings = cluster.settings("own");
    settings.monitors.pop();
    let error = open_patiently(&settings).unwrap_err().to_string();
    assert_eq!(error, "monitors: server n2 holds a copy of the stream, but no monitoring address of it is given");
}
