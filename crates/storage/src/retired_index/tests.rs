//! The index against a set in memory, after damage, and its size.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use domain::lookup_map::fingerprint;
use tempfile::TempDir;

use super::*;

const INSTANCE: InstanceId = InstanceId([7; 16]);

fn key(number: u64) -> u128 {
    fingerprint(&[&number.to_le_bytes()])
}

fn keys(numbers: std::ops::Range<u64>) -> Vec<u128> {
    numbers.map(key).collect()
}

fn open(folder: &Path) -> RetiredIndex {
    RetiredIndex::open(&DataDirLock::acquire(folder).unwrap(), INSTANCE).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder.join(FOLDER)).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Days of 100 ids each and half as many other keys.
fn days(folder: &Path, days: std::ops::Range<u64>) -> RetiredIndex {
    let index = open(folder);
    for day in days {
        index.store(day + 1, keys(day * 100..day * 100 + 100), keys(day * 50..day * 50 + 50)).unwrap();
    }
    index
}

#[test]
fn what_was_stored_is_found_after_any_number_of_days_in_few_files() {
    let folder = TempDir::new().unwrap();
    let index = days(folder.path(), 0..100);
    drop(index);
    let index = open(folder.path());
    assert_eq!(index.through(), 100);
    let known: BTreeSet<u64> = (0..20_000).filter(|number| index.has_id(key(*number)).unwrap()).collect();
    assert_eq!(known, (0..10_000).collect());
    let known: BTreeSet<u64> = (0..20_000).filter(|number| index.has_other(key(*number)).unwrap()).collect();
    assert_eq!(known, (0..5_000).collect());
    assert!(files(folder.path()).len() <= 16, "{:?}", files(folder.path()));
}

#[test]
fn what_is_stored_twice_is_there_once() {
    let folder = TempDir::new().unwrap();
    let index = open(folder.path());
    index.store(1, keys(0..1_000), vec![]).unwrap();
    index.store(1, keys(5_000..6_000), vec![]).unwrap();
    assert!(!index.has_id(key(5_000)).unwrap(), "up to there the index was complete");
    index.store(2, keys(0..1_000), vec![]).unwrap();
    let length = fs::metadata(&files(folder.path())[0]).unwrap().len();
    assert!((16_000..18_000).contains(&length), "{length}");
}

#[test]
fn a_file_that_is_missing_damaged_or_foreign_ends_the_index_before_it() {
    for harm in ["missing", "damaged", "foreign"] {
        let folder = TempDir::new().unwrap();
        // Far fewer than before, so that they are not merged.
        let index = open(folder.path());
        index.store(1, keys(0..1_000), vec![]).unwrap();
        index.store(2, keys(1_000..1_100), vec![]).unwrap();
        index.store(3, keys(1_100..1_110), vec![]).unwrap();
        let ids: Vec<_> =
            files(folder.path()).into_iter().filter(|path| path.to_string_lossy().contains("ids-")).collect();
        assert_eq!(ids.len(), 3);
        drop(index);
        match harm {
            "missing" => fs::remove_file(&ids[1]).unwrap(),
            "damaged" => fs::write(&ids[1], &fs::read(&ids[1]).unwrap()[..500]).unwrap(),
            _ => {
                let mut bytes = fs::read(&ids[1]).unwrap();
                bytes[16] ^= 1;
                fs::write(&ids[1], bytes).unwrap();
            }
        }
        let index = open(folder.path());
        assert_eq!(index.through(), 1, "{harm}");
        assert_eq!((index.has_id(key(999)).unwrap(), index.has_id(key(1_105)).unwrap()), (true, false), "{harm}");
        // It is filled again from there.
        index.store(2, keys(1_000..1_100), vec![]).unwrap();
        index.store(3, keys(1_100..1_110), vec![]).unwrap();
        assert_eq!((index.through(), index.has_id(key(1_105)).unwrap()), (3, true), "{harm}");
    }
}

#[test]
fn a_damaged_file_beside_a_pruned_journal_is_refused_and_nothing_is_deleted() {
    let folder = TempDir::new().unwrap();
    let index = open(folder.path());
    index.store(1, keys(0..1_000), vec![]).unwrap();
    index.store(2, keys(1_000..1_100), vec![]).unwrap();
    drop(index);
    let before = files(folder.path());
    let damaged = before.iter().find(|path| path.to_string_lossy().contains("ids-")).unwrap();
    fs::write(damaged, &fs::read(damaged).unwrap()[..500]).unwrap();
    let journal = folder.path().join(crate::journal::FOLDER);
    fs::create_dir_all(&journal).unwrap();
    fs::create_dir_all(folder.path().join("archive")).unwrap();
    let floor = crate::journal::JournalFloor {
        instance: INSTANCE,
        segment: 3,
        sequence: 2,
        hash: crate::journal::ChainHash([5; 32]),
    };
    crate::journal::write_floor(&OsFileSystem, &journal, &floor).unwrap();
    let refused = RetiredIndex::open(&DataDirLock::acquire(folder.path()).unwrap(), INSTANCE).err().unwrap();
    assert!(refused.to_string().contains("the journal was pruned and cannot make it again"), "{refused}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_damaged_block_of_keys_is_an_error_with_file_and_offset() {
    let folder = TempDir::new().unwrap();
    let index = open(folder.path());
    index.store(1, keys(0..1_000), vec![]).unwrap();
    let path = files(folder.path()).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes[200] ^= 1;
    fs::write(&path, bytes).unwrap();
    let index = open(folder.path());
    let problems = (0..1_000).filter_map(|number| index.has_id(key(number)).err()).count();
    // The keys of the block, and the first one of the next, which may be in both.
    assert!((1..=257).contains(&problems), "{problems}");
    let problem = (0..1_000).find_map(|number| index.has_id(key(number)).err()).unwrap().to_string();
    assert!(problem.contains("ids-00000000000000000001.keys is damaged at offset 72"), "{problem}");
}

#[test]
fn ten_million_orders_take_less_than_ten_megabytes_of_memory() {
    // An order has an id, an account, a ClOrdID and an execution. Memory grows with the number of keys, so a part of it is enough.
    const PART: u64 = 50;
    let folder = TempDir::new().unwrap();
    let index = open(folder.path());
    let orders = 10_000_000 / PART;
    index.store(1, keys(0..orders), keys(0..3 * orders)).unwrap();
    let bytes = index.memory_bytes() as u64 * PART;
    println!("10,000,000 retired orders: {bytes} bytes of memory");
    assert!((1_000_000..10_000_000).contains(&bytes), "{bytes}");
}
