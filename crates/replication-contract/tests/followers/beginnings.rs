//! Logs that do not begin at the start of the journal: begun anew from a folder with history.

use std::fs;
use std::path::Path;

use replication_contract::MemoryLog;
use replication_contract::sample_frames::INSTANCE;
use storage::journal::{ChainAnchor, FOLDER};
use storage::replication::{
    CandidateId, Epoch, FollowError, ReplicatedLog, ReplicationStatus, begin_empty_log, beginning_of,
    epoch_of_rebuilt_log, is_member_folder, join_cluster, last_epoch_of, rebuild_log,
};

use crate::member::{Member, lead, read_all};
use crate::record;

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
    let folder = member.data_folder();
    let epoch = epoch_of_rebuilt_log(last_epoch_of(&folder).unwrap());
    let mut handle = ReplicatedLog::new(log.client(), CandidateId([candidate; 16]));
    let (journal, status) = (folder.join(FOLDER), ReplicationStatus::default());
    rebuild_log(&mut handle, (&journal, INSTANCE), (epoch, end_of(member, after)), &status).unwrap()
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
