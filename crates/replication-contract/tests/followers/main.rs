//! Leaders and followers with journals of their own, over a log in memory with injected faults.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod beginnings;
mod bit_flips;
mod lease;
mod member;
mod standbys;
mod trimming;
mod venue;

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use member::{Member, lead, read_all};
use replication_contract::sample_frames::INSTANCE;
use replication_contract::{MemoryLog, StoreFault};
use storage::journal::{FOLDER, Journal, JournalOptions, SealedFrame, SyncMode, archive, verify};
use storage::lock::DataDirLock;
use storage::replication::{FollowError, Leading, ReplicationStatus, beginning_of};

/// Orders of one leader, each in a frame of its own.
pub(crate) fn record(leader: &mut member::Leader, sequences: std::ops::RangeInclusive<u64>, name: &str) {
    for sequence in sequences {
        leader.record_durably(sequence, &format!("{name} {sequence}"));
    }
}

fn wait_for(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not come");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_follower_has_the_journal_of_the_leader_byte_for_byte() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    // Its own segments would be larger.
    second.segment_bytes = 4096;
    let mut leader = first.lead(&log);
    let mut follower = second.follow(&log);
    record(&mut leader, 1..=20, "order");
    assert_eq!(read_all(&mut follower), 20);
    assert!(first.segments().len() > 2, "the segments are small");
    assert_eq!(second.segments(), first.segments());
    // Also while the last segment is not full.
    record(&mut leader, 21..=21, "order");
    assert_eq!(read_all(&mut follower), 1);
    leader.end();
    assert_eq!(second.segments(), first.segments());
}

#[test]
fn what_one_member_has_archived_is_equal_by_its_hashes_and_the_rest_byte_for_byte() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    let mut follower = second.follow(&log);
    record(&mut leader, 1..=80, "order");
    assert_eq!(read_all(&mut follower), 80);
    let archived = |member: &Member, keep| archive(&member.data_folder(), 80, keep, &mut |_| {}).unwrap().segments;
    let (of_leader, of_follower) = (archived(&first, 2), archived(&second, 4));
    assert_eq!((of_leader, of_follower > 0), (of_follower + 2, true));
    record(&mut leader, 81..=85, "order");
    assert_eq!(read_all(&mut follower), 5);
    let (in_both, of_second) = (first.segments(), second.segments());
    assert_eq!(of_second.len(), in_both.len() + 2);
    assert!(in_both.iter().all(|(name, bytes)| of_second.get(name) == Some(bytes)), "what neither has archived");
    let verified = |member: &Member| verify(&member.data_folder().join(FOLDER), &mut |_| {}).unwrap();
    // The head is the hash of everything before it.
    assert_eq!(verified(&second), verified(&first));
    assert_eq!((verified(&first).good.last_sequence, verified(&first).damage), (85, None));
    assert_eq!(second.frames(), first.frames());
}

#[test]
fn a_frame_does_not_count_before_the_log_has_it() {
    let log = MemoryLog::default();
    let mut member = Member::new(1);
    let mut leader = member.lead(&log);
    record(&mut leader, 1..=3, "order");
    (0..4).for_each(|_| member.faults.on_store(StoreFault::LOST_REQUEST));
    leader.record(4, "order 4");
    leader.wait_until_it_waits();
    // The disk has it long before it counts.
    leader.wait_durable(4);
    assert_eq!(leader.status.state().waiting, None);
    let mut other = Member::new(2);
    other.follow(&log);
    assert_eq!(other.records(), ["order 1", "order 2", "order 3", "order 4"]);
}

#[test]
fn an_answer_that_is_lost_doubles_nothing() {
    let log = MemoryLog::default();
    let mut member = Member::new(1);
    let mut leader = member.lead(&log);
    for sequence in 1..=6 {
        member.faults.on_store(if sequence % 2 == 0 { StoreFault::LOST_ANSWER } else { StoreFault::Twice });
        leader.record_durably(sequence, &format!("order {sequence}"));
    }
    let mut other = Member::new(2);
    other.follow(&log);
    assert_eq!(other.frames(), member.frames());
    assert_eq!(other.records().len(), 6);
}

#[test]
fn a_log_that_takes_nothing_for_a_while_is_tried_again() {
    let log = MemoryLog::default();
    let mut member = Member::new(1);
    let mut leader = member.lead(&log);
    (0..3).for_each(|_| member.faults.on_store(StoreFault::rejection()));
    record(&mut leader, 1..=1, "order");
    assert_eq!(leader.journal.durable(), 1);
}

#[test]
fn of_two_candidates_one_leads_and_the_other_reads_on() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let (one, two) = (first.follow(&log), second.follow(&log));
    let (mut leader, end) = lead(one).ok().unwrap();
    assert_eq!(end.epoch().0, 1);
    let mut two = lead(two).err().expect("the log has an entry that it has not read");
    record(&mut leader, 1..=2, "order");
    assert_eq!(read_all(&mut two), 2);
    assert_eq!(second.records(), ["order 1", "order 2"]);
}

#[test]
fn a_candidate_whose_outcome_is_unknown_says_why_until_another_one_leads() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let (one, two) = (first.follow(&log), second.follow(&log));
    (0..4).for_each(|_| second.faults.on_store(StoreFault::LOST_REQUEST));
    let status = Arc::new(ReplicationStatus::default());
    thread::scope(|scope| {
        let candidate = scope.spawn(|| two.lead(&status).unwrap());
        wait_for(|| status.state().waiting.as_deref() == Some("no answer came in time"));
        let leader = lead(one).ok().expect("the request of the other one was lost").0;
        assert!(matches!(candidate.join().unwrap(), Leading::Fenced(_)));
        leader.end();
    });
    assert_eq!(status.state().waiting, None);
}

#[test]
fn a_leader_that_was_replaced_counts_nothing_more() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut old = first.lead(&log);
    record(&mut old, 1..=2, "order");
    let mut new = second.lead(&log);
    old.record(3, "of the old leader");
    let error = old.wait_failed();
    assert!(error.contains("another process leads"), "{error}");
    assert_eq!((old.journal.durable(), old.status.state().is_fenced), (2, true));
    assert!(!old.status.holds_lease(Instant::now(), Duration::from_secs(3600)));
    record(&mut new, 3..=4, "order");
    assert_eq!(second.records(), ["order 1", "order 2", "order 3", "order 4"]);
}

#[test]
fn the_end_that_only_an_old_leader_has_is_cut_when_the_log_shows_another_one() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut old = first.lead(&log);
    record(&mut old, 1..=5, "order");
    let mut new = second.lead(&log);
    old.record(6, "of the old leader");
    old.wait_failed();
    old.end();
    assert_eq!(first.records()[5], "of the old leader");
    // The log has shown a new leader, but not yet what it recorded.
    let mut back = first.follow(&log);
    assert_eq!(first.records()[5], "of the old leader");
    record(&mut new, 6..=12, "order");
    assert_eq!(read_all(&mut back), 7);
    assert_eq!(first.segments(), second.segments());
    let aside: Vec<_> = fs::read_dir(first.data_folder()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(aside.iter().any(|name| name.to_string_lossy().starts_with("fork-")), "{aside:?}");
    // And it can lead again.
    new.end();
    drop(back);
    let mut again = first.lead(&log);
    record(&mut again, 13..=13, "order");
}

#[test]
fn a_fork_at_the_first_frame_of_all_is_cut() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut old = first.lead(&log);
    let mut new = second.lead(&log);
    old.record(1, "of the old leader");
    old.wait_failed();
    old.end();
    record(&mut new, 1..=3, "order");
    first.follow(&log);
    assert_eq!(first.segments(), second.segments());
    // And at the next start nothing is in the way.
    first.follow(&log);
}

#[test]
fn what_was_acknowledged_is_never_cut_whatever_the_log_says() {
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = first.lead(&MemoryLog::default());
    record(&mut leader, 1..=5, "order");
    leader.end();
    // Another log of the same instance, which has lost everything.
    let emptied = MemoryLog::default();
    let mut leader = second.lead(&emptied);
    record(&mut leader, 1..=5, "another order");
    fs::remove_file(first.data_folder().join("replication")).unwrap();
    let before = first.segments();
    let mut follower = first.start(&emptied).unwrap();
    let Err(FollowError::Storage(error)) = follower.follow(10) else { panic!("it was cut") };
    assert!(error.to_string().contains("the journal was acknowledged up to 5"), "{error}");
    assert!(follower.follow(10).is_err(), "it goes on behind what it could not take");
    drop(follower);
    assert_eq!(first.segments(), before);
}

#[test]
fn a_leader_that_comes_back_first_hands_in_what_the_log_lacks() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=3, "order");
    (0..1000).for_each(|_| first.faults.on_store(StoreFault::LOST_REQUEST));
    leader.record(4, "on one disk alone");
    leader.wait_until_it_waits();
    assert_eq!(leader.journal.durable(), 3);
    leader.end();
    let mut leader = first.lead(&log);
    record(&mut leader, 5..=5, "order");
    second.follow(&log);
    assert_eq!(second.records(), ["order 1", "order 2", "order 3", "on one disk alone", "order 5"]);
    assert_eq!(second.segments(), first.segments());
}

#[test]
fn a_leader_that_was_replaced_while_it_hands_in_what_the_log_lacks_is_fenced() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=3, "order");
    (0..1000).for_each(|_| first.faults.on_store(StoreFault::LOST_REQUEST));
    leader.record(4, "on one disk alone");
    leader.wait_until_it_waits();
    leader.end();
    let back = first.follow(&log);
    // The epoch record arrives, and the frame behind it does not.
    first.faults.on_store(StoreFault::Twice);
    (0..5).for_each(|_| first.faults.on_store(StoreFault::LOST_REQUEST));
    let status = Arc::new(ReplicationStatus::default());
    thread::scope(|scope| {
        let leading = scope.spawn(|| back.lead(&status).err().expect("another one leads"));
        wait_for(|| status.state().waiting.is_some());
        second.lead(&log).end();
        let error = leading.join().unwrap().to_string();
        assert!(error.contains("another process leads"), "{error}");
    });
    assert!(status.state().is_fenced, "so the server says that it was replaced");
}

#[test]
fn a_follower_that_was_away_goes_on_from_its_place() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=4, "order");
    drop(second.follow(&log));
    record(&mut leader, 5..=9, "order");
    let mut follower = second.start(&log).unwrap();
    assert_eq!(follower.cursor().chain().head().sequence, 4);
    assert_eq!(read_all(&mut follower), 5);
    drop(follower);
    // Without the file it reads the log from its beginning, and knows its own frames again.
    fs::remove_file(second.data_folder().join("replication")).unwrap();
    let mut follower = second.start(&log).unwrap();
    assert_eq!(read_all(&mut follower), 9);
    assert_eq!(second.segments(), first.segments());
}

#[test]
fn a_leader_that_ends_and_comes_back_as_a_follower_reads_only_what_is_new() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=9, "order");
    leader.end();
    let mut new = second.lead(&log);
    record(&mut new, 10..=11, "order");
    let mut back = first.start(&log).unwrap();
    assert!(back.cursor().chain().head().sequence >= 8, "{:?}", back.cursor());
    read_all(&mut back);
    assert_eq!(first.segments(), second.segments());
}

#[test]
fn a_journal_that_lacks_what_was_read_is_refused() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=4, "order");
    drop(second.follow(&log));
    fs::remove_dir_all(second.data_folder().join("journal")).unwrap();
    let refused = second.start(&log).err().expect("the journal is gone");
    assert!(matches!(refused, FollowError::Cursor { .. }), "{refused}");
    assert!(refused.to_string().contains("the journal lacks the frame that ends at sequence 4"), "{refused}");
}

#[test]
fn a_follower_syncs_always() {
    let folder = tempfile::tempdir().unwrap();
    let lock = DataDirLock::acquire(folder.path()).unwrap();
    let instance = INSTANCE;
    let options = JournalOptions { sync: SyncMode::Os, ..JournalOptions::new(instance) };
    let opened = Journal::inspect(&lock, &options, &mut |_| {}).unwrap().open_sealed();
    let refused = opened.err().expect("it must sync").to_string();
    assert!(refused.contains("journal.sync"), "{refused}");
}

#[test]
fn a_process_without_a_journal_learns_from_the_log_whose_it_is() {
    let log = MemoryLog::default();
    assert_eq!(beginning_of(&mut log.client()), Ok(None));
    let mut member = Member::new(1);
    member.lead(&log).end();
    let found = beginning_of(&mut log.client()).unwrap();
    assert_eq!(found.map(|beginning| beginning.instance), Some(INSTANCE));
}

#[test]
fn a_frame_shows_its_records() {
    let log = MemoryLog::default();
    let mut member = Member::new(1);
    let mut leader = member.lead(&log);
    record(&mut leader, 1..=2, "order");
    leader.end();
    let frames = member.frames();
    let shown: Vec<_> = frames
        .iter()
        .flat_map(SealedFrame::records)
        .map(|record| (record.sequence, record.kind, record.payload))
        .collect();
    assert_eq!(shown, [(1, 1, b"order 1".as_slice()), (2, 1, b"order 2")]);
}
