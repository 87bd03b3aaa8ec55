//! Servers that are away, and one that never comes back.

use std::time::{Duration, Instant};

use replication_nats::{JetStreamSettings, JetStreamStore, LogOpenError};
use rustix::process::Signal;
use storage::replication::{CandidateId, Epoch, LoadReply, LogPosition, LogStore, MessageId, StoreReply};

use crate::PATIENCE;
use crate::nats_cluster::{NatsCluster, open_patiently};

/// Looks again until there is a value.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// An id that no other entry of the test has.
fn message_id(number: u64) -> MessageId {
    MessageId::of_epoch_record(Epoch(number), CandidateId([7; 16]), LogPosition(number))
}

/// Asks again while the stream has no leader.
fn load(store: &mut JetStreamStore, position: u64) -> LoadReply {
    wait_for("an answer", || match store.load(LogPosition(position)) {
        LoadReply::Unavailable { .. } => None,
        reply => Some(reply),
    })
}

/// Sends the same entry again until it is there.
fn store_patiently(store: &mut JetStreamStore, after: u64, entry: &[u8]) {
    wait_for("an entry", || match store.store(LogPosition(after), &message_id(after + 1), entry) {
        StoreReply::Stored { .. } | StoreReply::Duplicate { .. } => Some(()),
        _ => None,
    });
}

fn cannot_be_reached(store: &mut JetStreamStore) -> Option<()> {
    match store.load(LogPosition(2)) {
        LoadReply::Unavailable { reason } => reason.contains("can't be reached").then_some(()),
        _ => None,
    }
}

#[test]
fn what_is_sent_while_no_server_is_there_is_not_kept_for_later() {
    let mut cluster = NatsCluster::three();
    drop(cluster.open("outage"));
    let settings = JetStreamSettings { answer_wait: Duration::from_millis(500), ..cluster.settings("outage") };
    let mut store = open_patiently(&settings).unwrap_or_else(|error| panic!("{error}"));
    store_patiently(&mut store, 0, b"first");
    (0..cluster.len()).for_each(|number| cluster.end(number, Signal::KILL));
    wait_for("the loss of the connection", || cannot_be_reached(&mut store));
    let sent: Vec<_> = (2..12).map(|number| store.store(LogPosition(1), &message_id(number), b"late")).collect();
    assert!(sent.iter().all(|reply| *reply == StoreReply::NoAnswer), "it is not known to be lost: {sent:?}");
    (0..cluster.len()).for_each(|number| cluster.run(number));
    assert_eq!(load(&mut store, 2), LoadReply::End, "what was sent meanwhile came late");
    assert_eq!(load(&mut store, 1), LoadReply::Entry(b"first".to_vec()));
}

/// JetStream goes on naming the dead one as a holder until its copy is moved.
#[test]
fn a_dead_server_is_replaced_by_one_with_another_name_while_a_member_runs() {
    let mut cluster = NatsCluster::three();
    let mut store = cluster.open("renamed");
    cluster.wait_for_copies("renamed");
    let dead = cluster.holders("renamed")[0]["name"].as_str().unwrap().to_owned();
    let (number, mut watch) = (cluster.number_of(&dead), store.server_watch());
    let mut check = move || match watch.check() {
        Err(error @ LogOpenError::Refused { .. }) => panic!("the member would end: {error}"),
        outcome => outcome.is_ok(),
    };
    store_patiently(&mut store, 0, b"with the dead one");
    cluster.end(number, Signal::KILL);
    wait_for("the word of the stream's leader", || {
        check();
        let holders = cluster.holders("renamed");
        let gone = holders.iter().find(|holder| holder["name"] == dead.as_str())?;
        (gone["offline"] == true || gone["active"].as_u64()? >= 10_000_000_000).then_some(())
    });
    cluster.run_renamed(number, "another");
    store_patiently(&mut store, 1, b"without it");
    wait_for("a place for the copy", || {
        check();
        cluster.moves_copy("renamed", &dead).then_some(())
    });
    cluster.wait_for_copies("renamed");
    wait_for("a check of all servers", || check().then_some(()));
    store_patiently(&mut store, 2, b"with the other one");
    let names: Vec<_> = cluster.holders("renamed").iter().map(|holder| holder["name"].to_string()).collect();
    assert!(names.contains(&"\"another\"".to_owned()) || cluster.stream_leader("renamed") == "another", "{names:?}");
    let entries = [1, 2, 3].map(|position| load(&mut store, position));
    assert_eq!(
        entries,
        [&b"with the dead one"[..], b"without it", b"with the other one"].map(|entry| LoadReply::Entry(entry.to_vec()))
    );
}
