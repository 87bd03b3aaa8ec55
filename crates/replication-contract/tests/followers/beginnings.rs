//! Logs that do not begin at the start of the journal: begun anew from a folder with history.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use replication_contract::sample_frames::INSTANCE;
use replication_contract::{FaultQueue, FaultyStore, MemoryLog, MemoryLogClient, StoreFault};
use storage::journal::{ChainAnchor, FOLDER};
use storage::replication::{
    CandidateId, Epoch, FollowError, KnownEpoch, LogFollower, LogRebuild, ReplicationStatus, UNFINISHED,
    begin_empty_log, beginning_of, epoch_of_rebuilt_log, is_member_folder, join_cluster, known_epoch,
};

use crate::member::{Log, Member, lead, read_all};
use crate::{record, wait_for};

/// A member that has led a log which is lost, with records up to `last`.
fn survivor(last: u64) -> Member {
    let mut member = Member::new(1);
    let mut leader = member.lead(&MemoryLog::default());
    record(&mut leader, 1..=last, "order");
    leader.end();
    member
}

fn end_of(member: &Member, sequence: u64) -> ChainAnchor {
    let frame = member.frames().into_iter().find(|frame| frame.last_sequence().unwrap() == sequence).unwrap();
    ChainAnchor { sequence, hash: frame.hash() }
}

/// Begins the log behind a record of the member's journal.
fn rebuild(log: &MemoryLog, member: &Member, after: u64) -> bool {
    rebuild_as(0xab, log, member, after)
}

fn rebuild_as(candidate: u8, log: &MemoryLog, member: &Member, after: u64) -> bool {
    let (journal, status) = (member.data_folder().join(FOLDER), ReplicationStatus::default());
    let rebuild = LogRebuild::new(log.client(), CandidateId([candidate; 16]), (&journal, INSTANCE));
    rebuild.begin((epoch_behind(member), end_of(member, after)), &status).unwrap()
}

fn epoch_behind(member: &Member) -> Epoch {
    let KnownEpoch::Last(known) = known_epoch(&member.data_folder()).unwrap() else { panic!("it was a member") };
    epoch_of_rebuilt_log(known)
}

/// What a backup that is restored as a member has.
fn copy_journal(from: &Path, to: &Path) {
    fs::create_dir_all(to.join(FOLDER)).unwrap();
    for file in fs::read_dir(from.join(FOLDER)).unwrap().map(Result::unwrap) {
        let name = file.file_name();
        if !name.to_string_lossy().starts_with("head") && !name.to_string_lossy().starts_with("next") {
            fs::copy(file.path(), to.join(FOLDER).join(name)).unwrap();
        }
    }
    join_cluster(to).unwrap();
}

#[test]
fn a_folder_with_history_does_not_begin_an_empty_log_by_itself() {
    let mut member = survivor(5);
    for is_known_as_member in [true, false] {
        if !is_known_as_member {
            fs::remove_file(member.data_folder().join("replication")).unwrap();
        }
        let mut follower = member.start(&MemoryLog::default()).unwrap();
        let refused = follower.follow(10).expect_err("the log may be lost");
        assert!(matches!(refused, FollowError::EmptyLog { ends: 5 }), "{refused}");
        assert!(refused.to_string().contains("rialto ha rebuild-log"), "{refused}");
        assert_eq!(is_member_folder(&member.data_folder()), is_known_as_member, "it is as it was before");
    }
}

#[test]
fn a_log_that_is_begun_anew_goes_on_with_every_member_that_has_its_beginning() {
    let (mut first, mut second, mut copied, mut empty) = (survivor(5), Member::new(2), Member::new(3), Member::new(4));
    copy_journal(&first.data_folder(), &second.data_folder());
    let log = MemoryLog::default();
    assert!(rebuild(&log, &first, 5));
    assert!(!rebuild_as(0xcd, &log, &first, 5), "a log that has entries is not begun again");
    let begun = beginning_of(&mut log.client()).unwrap().unwrap();
    assert_eq!((begun.epoch, begun.after), (Epoch(1_001), end_of(&first, 5)), "no epoch is led twice");

    // Its own noted place is one of the log that is gone.
    let (mut leader, end) = lead(first.follow(&log)).ok().unwrap();
    assert_eq!(end.epoch(), Epoch(1_002));
    record(&mut leader, 6..=9, "order");
    assert_eq!(read_all(&mut second.start(&log).unwrap()), 4);
    assert_eq!(second.segments(), first.segments());

    let refused = empty.start(&log).unwrap().follow(10).expect_err("it lacks what is before the log");
    assert!(matches!(refused, FollowError::Behind { begins: 5, ends: 0 }), "{refused}");
    assert!(refused.to_string().contains("restore it with --as-member"), "{refused}");
    copy_journal(&first.data_folder(), &copied.data_folder());
    copied.follow(&log);
    record(&mut leader, 10..=12, "order");
    copied.follow(&log);
    assert_eq!(copied.segments(), first.segments());
    leader.end();
    let mut leader = copied.lead(&log);
    record(&mut leader, 13..=13, "order");
    first.follow(&log);
    assert_eq!(copied.segments(), first.segments());
}

#[test]
fn records_behind_the_beginning_are_in_the_log_before_anybody_leads() {
    let (first, mut second) = (survivor(5), Member::new(2));
    copy_journal(&first.data_folder(), &second.data_folder());
    let log = MemoryLog::default();
    assert!(rebuild(&log, &first, 3));
    let mut leader = second.lead(&log);
    record(&mut leader, 6..=6, "order");
    assert_eq!(second.records(), ["order 1", "order 2", "order 3", "order 4", "order 5", "order 6"]);
}

#[test]
fn a_member_that_has_more_than_the_log_that_was_begun_anew_ends_and_keeps_it() {
    let (mut first, mut second) = (survivor(5), Member::new(2));
    copy_journal(&first.data_folder(), &second.data_folder());
    let log = MemoryLog::default();
    // The wrong folder was taken: one that lacks the last two.
    let mut shorter = survivor(3);
    assert!(rebuild(&log, &shorter, 3));
    let mut leader = shorter.lead(&log);
    record(&mut leader, 4..=4, "another order");
    let before = first.segments();
    let refused = first.start(&log).unwrap().follow(10).expect_err("what was acknowledged is not given up");
    assert!(refused.to_string().contains("the journal was acknowledged up to 5"), "{refused}");
    assert_eq!(first.segments(), before);
    // A copy does not know what was acknowledged: its end is cut and kept aside.
    second.follow(&log);
    assert!(second.records().contains(&"another order 4".to_owned()));
}

#[test]
fn of_several_members_that_find_a_log_empty_one_gives_it_its_identity() {
    let log = MemoryLog::default();
    let [one, other] = [[1; 16], [2; 16]].map(storage::journal::InstanceId);
    assert!(begin_empty_log(&mut log.client(), one));
    assert!(!begin_empty_log(&mut log.client(), other));
    let begun = beginning_of(&mut log.client()).unwrap().unwrap();
    assert_eq!((begun.instance, begun.epoch, begun.leader), (one, Epoch(0), None));
}

#[test]
fn whoever_reads_a_log_that_nobody_has_led_leads_its_first_epoch() {
    let (log, mut first, mut second) = (MemoryLog::default(), Member::new(1), Member::new(2));
    assert!(begin_empty_log(&mut log.client(), INSTANCE));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=3, "order");
    let follower = second.follow(&log);
    assert_eq!(follower.cursor().epoch(), Epoch(1));
    assert_eq!(second.segments(), first.segments());
}

/// Member 2 has followed a log that is lost, up to entry 9 in epoch 2, and has every record of member 1 but the last `lacks`.
fn follower_of_a_lost_log(lacks: u64) -> (Member, Member) {
    let (log, mut first, mut second) = (MemoryLog::default(), Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=3, "order");
    leader.end();
    let mut leader = first.lead(&log);
    record(&mut leader, 4..=7, "order");
    let follower = second.follow(&log);
    assert_eq!((follower.cursor().position().0, follower.cursor().epoch()), (9, Epoch(2)));
    drop(follower);
    record(&mut leader, 8..=7 + lacks, "order");
    leader.end();
    (first, second)
}

/// The log begins from a copy of the folder, such as from a backup, in an epoch that others have seen in the log that is lost.
fn rebuild_from_copy(from: &Member, after: u64) -> (MemoryLog, Member) {
    let (log, copied) = (MemoryLog::default(), Member::new(3));
    copy_journal(&from.data_folder(), &copied.data_folder());
    assert_eq!(known_epoch(&copied.data_folder()).unwrap(), KnownEpoch::Unknown);
    let (journal, status) = (copied.data_folder().join(FOLDER), ReplicationStatus::default());
    let rebuild = LogRebuild::new(log.client(), CandidateId([0xab; 16]), (&journal, INSTANCE));
    assert!(rebuild.begin((Epoch(1), end_of(&copied, after)), &status).unwrap());
    (log, copied)
}

#[test]
fn a_place_that_was_noted_in_another_log_is_not_taken_for_one_in_this_log() {
    // Before the new log reaches the noted position, with its last entry there, and behind it.
    for orders in [1, 6, 7, 20] {
        let (first, mut second) = follower_of_a_lost_log(0);
        let (log, mut copied) = rebuild_from_copy(&first, 7);
        let mut leader = copied.lead(&log);
        record(&mut leader, 8..=7 + orders, "order");
        let mut follower = second.start(&log).unwrap();
        assert_eq!(read_all(&mut follower) as u64, orders, "every order of the new log is read");
        record(&mut leader, 8 + orders..=30, "order");
        assert_eq!(read_all(&mut follower) as u64, 23 - orders);
        leader.end();
        let mut leader = lead(follower).ok().unwrap().0;
        record(&mut leader, 31..=31, "order");
        copied.follow(&log);
        assert_eq!(second.segments(), copied.segments());
    }
}

#[test]
fn a_member_that_lacks_the_beginning_of_a_new_log_is_behind_whatever_position_it_has_noted() {
    for orders in [1, 6, 7, 20] {
        let (first, mut second) = follower_of_a_lost_log(1);
        let (log, mut copied) = rebuild_from_copy(&first, 8);
        let mut leader = copied.lead(&log);
        record(&mut leader, 9..=8 + orders, "order");
        let before = second.segments();
        let refused = second.start(&log).unwrap().follow(10).expect_err("it lacks record 8");
        assert!(matches!(refused, FollowError::Behind { begins: 8, ends: 7 }), "{orders}: {refused}");
        assert_eq!(second.segments(), before);
        leader.end();
    }
}

/// The command is cut off when the log has so many of its entries.
fn cut_off(log: &MemoryLog, entries: usize, command: impl FnOnce(FaultyClient, &ReplicationStatus) -> bool + Send) {
    let (faults, status) = (FaultQueue::default(), ReplicationStatus::default());
    (0..entries).for_each(|_| faults.on_store(StoreFault::Twice));
    (0..1000).for_each(|_| faults.on_store(StoreFault::LOST_REQUEST));
    let client = FaultyStore::new(log.client(), faults);
    thread::scope(|scope| {
        let command = scope.spawn(|| command(client, &status));
        wait_for(|| status.state().waiting.is_some());
        status.stop();
        assert!(command.join().unwrap(), "it was cut off");
    });
}

type FaultyClient = FaultyStore<MemoryLogClient>;

/// Member 1 has recorded 8 and 9 for the log that begins behind 7, and the command was cut off. Member 2 lacks the two.
fn cut_off_rebuild(entries: usize) -> (MemoryLog, Member, Member) {
    let (first, second) = follower_of_a_lost_log(2);
    let log = MemoryLog::default();
    let (journal, begin) = (first.data_folder().join(FOLDER), (epoch_behind(&first), end_of(&first, 7)));
    cut_off(&log, entries, |client, status| {
        LogRebuild::new(client, CandidateId([0xaa; 16]), (&journal, INSTANCE)).begin(begin, status).is_err()
    });
    (log, first, second)
}

/// The command is given once more. False where the log is complete, or was begun otherwise.
fn finish(log: &MemoryLog, member: &Member) -> Result<bool, FollowError> {
    let (journal, status) = (member.data_folder().join(FOLDER), ReplicationStatus::default());
    let mut rebuild = LogRebuild::new(log.client(), CandidateId([0xcd; 16]), (&journal, INSTANCE));
    let beginning = beginning_of(&mut log.client())?.unwrap();
    match rebuild.unfinished_end(&beginning)? {
        Some(end) => Ok(rebuild.finish(&end, &status)?),
        None => Ok(false),
    }
}

fn refusal(follower: LogFollower<Log>) -> String {
    follower.lead(&Arc::default()).err().expect("it leads").to_string()
}

#[test]
fn a_rebuild_that_was_cut_off_is_completed_by_the_next_one_and_nobody_leads_before() {
    // Behind the epoch record, behind a record of the two, and before the mark.
    for entries in 1..=3 {
        let (log, first, mut second) = cut_off_rebuild(entries);
        assert!(refusal(second.follow(&log)).contains(UNFINISHED), "records may be missing");
        let follower = second.follow(&log);
        assert!(follower.is_unfinished(), "also when it has noted its place there");
        assert!(refusal(follower).contains(UNFINISHED));

        assert!(finish(&log, &first).unwrap(), "the rest is appended");
        assert!(!finish(&log, &first).unwrap(), "it is complete");
        drop(second.follow(&log));
        let mut leader = second.lead(&log);
        assert_eq!(second.records()[7..], ["order 8", "order 9"], "what the command has recorded");
        record(&mut leader, 10..=10, "order");
        assert!(!finish(&log, &first).unwrap(), "members go on in it");
    }
}

#[test]
fn a_rebuild_that_is_cut_off_again_and_again_is_completed_in_the_end() {
    let (log, mut first, mut second) = cut_off_rebuild(1);
    let journal = first.data_folder().join(FOLDER);
    for (entries, candidate) in [(1, 0xba), (2, 0xbb), (1, 0xbc)] {
        cut_off(&log, entries, |client, status| {
            let mut rebuild = LogRebuild::new(client, CandidateId([candidate; 16]), (&journal, INSTANCE));
            let beginning = beginning_of(&mut log.client()).unwrap().unwrap();
            let end = rebuild.unfinished_end(&beginning).unwrap().unwrap();
            rebuild.finish(&end, status).is_err()
        });
        assert!(refusal(second.follow(&log)).contains(UNFINISHED));
    }
    assert!(finish(&log, &first).unwrap());
    let mut leader = second.lead(&log);
    record(&mut leader, 10..=10, "order");
    first.follow(&log);
    assert_eq!(first.segments(), second.segments());
    assert_eq!(first.records().len(), 10);
}

#[test]
fn a_rebuild_is_completed_from_no_other_folder() {
    for entries in 1..=3 {
        let (log, _, second) = cut_off_rebuild(entries);
        let refused = finish(&log, &second).expect_err("it lacks what was recorded").to_string();
        assert!(refused.contains("give the command for the folder that it was given for"), "{refused}");
    }
}
