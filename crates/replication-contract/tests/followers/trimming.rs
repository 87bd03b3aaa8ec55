//! A log that its leader trims, and followers that lose their place.

use std::collections::BTreeSet;
use std::fs;

use replication_contract::MemoryLog;
use storage::replication::{
    FollowError, LogFollower, LogPosition, MemberId, ReplicationStatus, TrimSettings, beginning_of,
};

use crate::member::{Leader, Log, Member, lead_as, read_all};
use crate::record;

const FOLLOWER: MemberId = MemberId([2; 8]);

/// A leader that keeps sixteen entries, and what one follower lacks.
fn trimming_leader(member: &mut Member, log: &MemoryLog) -> Leader {
    let trim =
        TrimSettings { keep_entries: Some(16), followers: BTreeSet::from([FOLLOWER]), ..TrimSettings::default() };
    let status = ReplicationStatus::default().with_trimming(Some(trim));
    lead_as(member.follow(log), status).ok().unwrap().0
}

fn read_and_report(follower: &mut LogFollower<Log>, leader: &Leader) {
    read_all(follower);
    assert!(leader.status.confirm(&follower.standby_report(FOLLOWER).unwrap()));
}

fn begins(log: &MemoryLog) -> u64 {
    beginning_of(&mut log.client()).unwrap().unwrap().position.0
}

#[test]
fn a_follower_that_reads_lets_the_log_be_trimmed_and_one_that_does_not_holds_it() {
    let (log, mut first, mut second) = (MemoryLog::default(), Member::new(1), Member::new(2));
    let mut leader = trimming_leader(&mut first, &log);
    record(&mut leader, 1..=60, "order");
    assert_eq!(begins(&log), 1, "the follower was not heard of yet");
    assert_eq!(leader.status.state().trim_held_by, Some(FOLLOWER));
    let mut follower = second.follow(&log);
    read_and_report(&mut follower, &leader);
    record(&mut leader, 61..=61, "order");
    let accepted = leader.status.state().accepted.0;
    let kept = accepted - begins(&log);
    assert!((16..=24).contains(&kept), "{kept} of {accepted}");
    assert_eq!(leader.status.state().trim_held_by, None);
    assert_eq!(leader.status.state().begins, LogPosition(begins(&log)));
    // It reads nothing more, so everything behind what it has stays.
    let read = follower.cursor().position().0;
    record(&mut leader, 62..=200, "order");
    assert!(begins(&log) <= read + 1, "{} is behind {read}", begins(&log));
    assert_eq!(read_all(&mut follower), 140);
    assert_eq!(second.segments(), first.segments());
}

#[test]
fn a_follower_whose_noted_place_was_trimmed_finds_it_by_the_mark() {
    let (log, mut first, mut second) = (MemoryLog::default(), Member::new(1), Member::new(2));
    let mut leader = trimming_leader(&mut first, &log);
    record(&mut leader, 1..=3, "order");
    let mut follower = second.follow(&log);
    // What a power cut may leave of the file: an old one, or none.
    let old = fs::read(second.data_folder().join("replication")).unwrap();
    for (round, left) in [Some(old), None].into_iter().enumerate() {
        let from = 4 + 80 * round as u64;
        record(&mut leader, from..=from + 78, "order");
        read_and_report(&mut follower, &leader);
        record(&mut leader, from + 79..=from + 79, "order");
        assert!(begins(&log) > 40, "{}", begins(&log));
        drop(follower);
        let path = second.data_folder().join("replication");
        left.map_or_else(|| fs::remove_file(&path), |old| fs::write(&path, old)).unwrap();
        follower = second.follow(&log);
        assert_eq!(second.segments(), first.segments());
    }
    // The leader, too, comes back without its file.
    leader.end();
    fs::remove_file(first.data_folder().join("replication")).unwrap();
    drop(follower);
    let mut leader = second.lead(&log);
    record(&mut leader, 164..=165, "order");
    first.follow(&log);
    assert_eq!(second.segments(), first.segments());
}

#[test]
fn a_follower_that_lacks_what_was_trimmed_says_so_and_what_to_do() {
    let (log, mut first, mut second, mut third) =
        (MemoryLog::default(), Member::new(1), Member::new(2), Member::new(3));
    let mut leader = trimming_leader(&mut first, &log);
    record(&mut leader, 1..=3, "order");
    let mut late = third.follow(&log);
    record(&mut leader, 4..=60, "order");
    read_and_report(&mut second.follow(&log), &leader);
    record(&mut leader, 61..=61, "order");
    assert!(begins(&log) > 30);
    for error in [late.follow(10).err(), {
        drop(late);
        third.start(&log).unwrap().follow(10).err()
    }] {
        let refused = error.expect("it was not waited for");
        assert!(matches!(refused, FollowError::Behind { ends: 3, .. }), "{refused}");
        let advice = "Take a backup of a member that has it, and restore it with --as-member";
        assert!(refused.to_string().contains(advice), "{refused}");
    }
    assert_eq!(third.records().len(), 3, "and nothing was changed");
}
