//! A leader that waits for standbys: nothing counts before their own journals have it.

use std::time::Duration;

use replication_contract::MemoryLog;
use storage::replication::{CandidateId, Epoch, LogFollower, MemberId, StandbyReport};

use crate::member::{Leader, Log, Member, lead_with, read_all};

fn report(follower: &LogFollower<Log>, number: u8) -> StandbyReport {
    let report = follower.standby_report(MemberId([number; 8])).unwrap();
    StandbyReport::decode(&report.encode()).unwrap()
}

fn leader_with(member: &mut Member, log: &MemoryLog, standbys: usize) -> Leader {
    lead_with(member.follow(log), standbys).ok().expect("nobody else leads").0
}

#[test]
fn a_record_counts_when_a_standby_has_it_on_its_own_disk() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = leader_with(&mut first, &log, 1);
    leader.record(1, "order 1");
    leader.wait_committed(1);
    assert_eq!((leader.journal.durable(), leader.status.standby_state().records_waiting), (0, 1));
    assert!(!leader.status.standby_state().is_open);

    let mut standby = second.follow(&log);
    assert_eq!(second.records(), ["order 1"], "before it says so");
    assert!(leader.status.confirm(&report(&standby, 2)));
    assert_eq!(leader.journal.durable(), 1);
    assert!(leader.status.standby_state().is_open);

    // A report of before does not count for what comes behind it, however often it is sent.
    let old = report(&standby, 2);
    leader.record(2, "order 2");
    leader.wait_committed(2);
    assert!(leader.status.confirm(&old));
    assert_eq!(leader.journal.durable(), 1);
    read_all(&mut standby);
    assert!(leader.status.confirm(&report(&standby, 2)));
    assert_eq!((leader.journal.durable(), leader.status.standby_state().records_waiting), (2, 0));
}

#[test]
fn a_standby_that_is_ahead_of_the_leaders_own_disk_does_not_open_the_gate_for_it() {
    let log = MemoryLog::default();
    let (mut first, mut second) = (Member::new(1), Member::new(2));
    let mut leader = leader_with(&mut first, &log, 1);
    let standby = second.follow(&log);
    let ahead = StandbyReport { sequence: 2, ..report(&standby, 2) };
    assert!(leader.status.confirm(&ahead));
    assert_eq!(leader.journal.durable(), 0, "this disk has nothing yet");
    leader.record(1, "order 1");
    leader.wait_durable(1);
    leader.record(2, "order 2");
    leader.wait_durable(2);
    leader.record(3, "order 3");
    leader.wait_committed(3);
    assert_eq!(leader.journal.durable(), 2);
}

#[test]
fn an_old_leader_believes_no_report_of_a_new_epoch() {
    let log = MemoryLog::default();
    let (mut first, mut second, mut third) = (Member::new(1), Member::new(2), Member::new(3));
    let mut old = leader_with(&mut first, &log, 1);
    let mut standby = third.follow(&log);
    old.record(1, "order 1");
    old.wait_committed(1);
    let mut new = leader_with(&mut second, &log, 1);
    read_all(&mut standby);
    let of_new_epoch = report(&standby, 3);
    assert_eq!(of_new_epoch.epoch, Epoch(2));
    assert!(!old.status.confirm(&of_new_epoch));
    assert!(!old.status.confirm(&StandbyReport { epoch: Epoch(1), ..of_new_epoch }), "it follows another process");
    assert_eq!(old.journal.durable(), 0);
    assert!(new.status.confirm(&of_new_epoch));
    new.record(2, "order 2");
    new.wait_committed(2);
    read_all(&mut standby);
    assert!(new.status.confirm(&report(&standby, 3)));
    assert_eq!(new.journal.durable(), 2);

    // The old one is fenced, and nothing is released to it afterwards.
    let of_old_epoch = StandbyReport { sequence: 9, ..old_report(&old, &of_new_epoch) };
    old.record(2, "of the old leader");
    old.wait_failed();
    old.status.confirm(&of_old_epoch);
    assert_eq!(old.journal.durable(), 0);
}

/// As if a standby still followed the old leader.
fn old_report(old: &Leader, of_new_epoch: &StandbyReport) -> StandbyReport {
    let leader = CandidateId([17; 16]);
    let report = StandbyReport { epoch: Epoch(1), leader, sequence: 0, ..*of_new_epoch };
    assert!(old.status.confirm(&report), "it is of the old lead");
    report
}

#[test]
fn as_many_standbys_as_are_required_are_waited_for() {
    let log = MemoryLog::default();
    let (mut first, mut second, mut third) = (Member::new(1), Member::new(2), Member::new(3));
    let mut leader = leader_with(&mut first, &log, 2);
    leader.record(1, "order 1");
    leader.wait_committed(1);
    let standby = second.follow(&log);
    leader.status.confirm(&report(&standby, 2));
    assert_eq!((leader.journal.durable(), leader.status.standby_state().following), (0, 1));
    leader.status.confirm(&report(&third.follow(&log), 3));
    assert_eq!((leader.journal.durable(), leader.status.standby_state().following), (1, 2));
}

#[test]
fn the_head_knows_what_leader_and_log_have_whether_a_standby_has_it_or_not() {
    let log = MemoryLog::default();
    let mut first = Member::new(1);
    let mut leader = leader_with(&mut first, &log, 1);
    leader.record(1, "order 1");
    leader.wait_committed(1);
    assert_eq!(leader.journal.durable(), 0);
    leader.end();
    assert_eq!(storage::journal::head_sequence(&first.data_folder()), Some(1));
    // It leads again and goes on behind it: the log has it, so nobody can lead without it.
    let mut leader = leader_with(&mut first, &log, 0);
    leader.record_durably(2, "order 2");
    let mut second = Member::new(2);
    second.follow(&log);
    assert_eq!(second.records(), ["order 1", "order 2"]);
}

#[test]
fn a_stop_without_a_standby_ends_the_journal_and_says_why() {
    let log = MemoryLog::default();
    let mut first = Member::new(1);
    let mut leader = leader_with(&mut first, &log, 1);
    assert!(!leader.status.give_up_on_standbys(Duration::ZERO), "nothing waits");
    leader.record(1, "order 1");
    leader.wait_committed(1);
    assert!(!leader.status.give_up_on_standbys(Duration::from_secs(3600)), "it may still come");
    assert!(leader.status.give_up_on_standbys(Duration::ZERO));
    assert_eq!(leader.wait_failed(), "stopped before a standby had the last record");
    assert_eq!(leader.journal.durable(), 0);
}
