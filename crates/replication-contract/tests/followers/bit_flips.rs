//! Bits that flip in the journal of a follower: each is named when it starts, and nothing is read or written behind it. One before its newest
//! snapshot is named by the check of older segments, while it follows.

use std::fs;
use std::path::{Path, PathBuf};

use domain::SeededRng;
use replication_contract::MemoryLog;
use replication_contract::sample_frames::INSTANCE;
use storage::SnapshotStore;
use storage::journal::{FOLDER, verify_older};
use storage::lock::DataDirLock;
use storage::replication::FollowError;

use crate::member::{Member, read_all};
use crate::record;

/// How many; `make flip-bits` sets more.
const FLIPS: &str = "BIT_FLIPS";
const FLIPS_IN_TESTS: u64 = 3;
const SEED: &str = "RIALTO_SEED";

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The segments of a journal, and how far each is written.
fn segments(folder: &Path) -> Vec<(PathBuf, usize)> {
    let files = fs::read_dir(folder.join(FOLDER)).unwrap().map(|file| file.unwrap().path());
    let is_segment = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        !name.starts_with("head") && !name.starts_with("next")
    };
    let mut found: Vec<_> = files.filter(is_segment).collect();
    found.sort();
    let written =
        |path: &PathBuf| fs::read(path).unwrap().iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    found.into_iter().map(|path| (path.clone(), written(&path))).collect()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn a_bit_that_flips_in_the_journal_of_a_follower_is_named_and_nothing_is_read_behind_it() {
    let (flips, seed) = (number(FLIPS, FLIPS_IN_TESTS), number(SEED, 1));
    let mut random = SeededRng::from_seed(seed);
    let (log, mut first, mut second) = (MemoryLog::default(), Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=40, "order");
    drop(second.follow(&log));
    for flip in 0..flips {
        let mut harmed = Member::new(3);
        copy_folder(&second.data_folder(), &harmed.data_folder());
        let files = segments(&harmed.data_folder());
        let (path, written) = random.pick(&files).unwrap();
        let bit = usize::try_from(random.below(*written as u64 * 8)).unwrap();
        let mut content = fs::read(path).unwrap();
        content[bit / 8] ^= 1 << (bit % 8);
        fs::write(path, &content).unwrap();
        let named = harmed.start(&log).err();
        let what = format!("flip {flip}, seed {seed}: bit {bit} of {}", path.display());
        println!("{what}: {}", named.as_ref().map_or("not named".to_owned(), ToString::to_string));
        assert!(matches!(named, Some(FollowError::Storage(_))), "{what}");
        assert_eq!(fs::read(path).unwrap(), content, "{what}: the file was changed");
    }
    // An empty folder has everything again.
    let mut empty = Member::new(4);
    empty.follow(&log);
    assert_eq!(empty.segments(), first.segments());
}

/// As a follower writes one of what it has applied.
fn take_snapshot(member: &Member, sequence: u64) {
    let lock = DataDirLock::acquire(&member.data_folder()).unwrap();
    SnapshotStore::open(&lock, INSTANCE).unwrap().write(sequence, b"the state", "test").unwrap();
}

#[test]
fn a_bit_that_flips_before_the_snapshot_of_a_follower_is_named_while_it_follows() {
    let (log, mut first, mut second) = (MemoryLog::default(), Member::new(1), Member::new(2));
    let mut leader = first.lead(&log);
    record(&mut leader, 1..=40, "order");
    let follower = second.follow(&log);
    assert_eq!(follower.checked_from(), None, "without a snapshot everything is checked at the start");
    drop(follower);
    take_snapshot(&second, 40);
    let (oldest, written) = segments(&second.data_folder()).swap_remove(0);
    let mut content = fs::read(&oldest).unwrap();
    content[written / 2] ^= 1;
    fs::write(&oldest, content).unwrap();

    record(&mut leader, 41..=45, "order");
    let mut follower = second.start(&log).unwrap();
    assert_eq!(read_all(&mut follower), 5, "it follows: nothing that it applies stands on the old record");
    let checked_from = follower.checked_from().expect("older segments were left out");
    assert!(checked_from > 1 && checked_from <= 40, "{checked_from}");
    let named = verify_older(&second.data_folder().join(FOLDER), checked_from).unwrap_err().to_string();
    assert!(named.contains(&format!("{} is damaged at offset ", oldest.display())), "{named}");
}
