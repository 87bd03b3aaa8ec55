//! Servers that are away: what is sent meanwhile is lost.

use std::time::{Duration, Instant};

use replication_nats::{JetStreamSettings, JetStreamStore};
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
    wait_for("the first entry", || match store.store(LogPosition(0), &message_id(1), b"first") {
        StoreReply::Stored { .. } | StoreReply::Duplicate { .. } => Some(()),
        _ => None,
    });
    (0..cluster.len()).for_each(|number| cluster.end(number, Signal::KILL));
    wait_for("the loss of the connection", || cannot_be_reached(&mut store));
    let sent: Vec<_> = (2..12).map(|number| store.store(LogPosition(1), &message_id(number), b"late")).collect();
    assert!(sent.iter().all(|reply| *reply == StoreReply::NoAnswer), "it is not known to be lost: {sent:?}");
    (0..cluster.len()).for_each(|number| cluster.run(number));
    assert_eq!(load(&mut store, 2), LoadReply::End, "what was sent meanwhile came late");
    assert_eq!(load(&mut store, 1), LoadReply::Entry(b"first".to_vec()));
}
