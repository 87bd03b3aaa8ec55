//! A start from an anchor reads the end of a journal; older segments are checked apart, and nothing is trusted that a snapshot does
//! not prove.

use super::*;
use crate::SnapshotStore;

/// A journal with a snapshot of `before` records, and some records after it. Its process was killed.
struct Anchored {
    bench: JournalFixture,
    anchor: StartAnchor,
    end: u64,
}

impl Anchored {
    fn after(before: u64) -> Self {
        let bench = JournalFixture::new();
        let (_, mut journal) = bench.open();
        let append = |journal: &mut Journal, sequence: u64| append_durable(journal, sequence, &"order ".repeat(8));
        (1..=before).for_each(|sequence| append(&mut journal, sequence));
        let anchor = take_snapshot(&bench, before);
        let end = before + 20;
        (before + 1..=end).for_each(|sequence| append(&mut journal, sequence));
        drop(journal);
        Self { bench, anchor, end }
    }

    /// What a start finds, and how many bytes it has to look at.
    fn start(&self, anchor: Option<&StartAnchor>) -> Result<(u64, u64), StorageError> {
        let lock = DataDirLock::acquire(self.bench.folder.path())?;
        let options = JournalOptions { anchor: anchor.cloned(), ..self.bench.options.clone() };
        let mut bytes = 0;
        let found = Journal::inspect(&lock, &options, &mut |step| bytes = step.total)?;
        Ok((found.found().last_sequence, bytes))
    }

    fn refused(&self) -> String {
        self.bench.text(&self.start(Some(&self.anchor)).unwrap_err())
    }

    fn flip(&self, segment: &Path) {
        let mut bytes = fs::read(segment).unwrap();
        bytes[300] ^= 1;
        fs::write(segment, bytes).unwrap();
    }
}

/// As a server that runs: the lock is its own.
fn take_snapshot(bench: &JournalFixture, sequence: u64) -> StartAnchor {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir(elsewhere.path().join(FOLDER)).unwrap();
    let head = |folder: &Path| folder.join(FOLDER).join(head::FILE);
    fs::copy(head(bench.folder.path()), head(elsewhere.path())).unwrap();
    let lock = DataDirLock::acquire(elsewhere.path()).unwrap();
    let snapshots = SnapshotStore::open(&lock, INSTANCE).unwrap();
    snapshots.write(sequence, b"the state", "test").unwrap();
    let anchor = snapshots.newest_anchor().unwrap().expect("the head file was there");
    assert_eq!((anchor.snapshot, anchor.head.sequence), (sequence, sequence));
    assert_eq!(snapshots.latest_valid(None).unwrap().unwrap().build, "test");
    StartAnchor { says: "the snapshot knows another record".to_owned(), ..anchor }
}

#[test]
fn what_a_start_reads_does_not_grow_with_the_journal() {
    let [small, large] = [60, 1_200].map(Anchored::after);
    let reads = |of: &Anchored, with: bool| {
        let (end, bytes) = of.start(with.then_some(&of.anchor)).unwrap();
        assert_eq!(end, of.end);
        bytes
    };
    assert!(reads(&large, false) > 15 * reads(&small, false), "the whole journal");
    let (small, large) = (reads(&small, true), reads(&large, true));
    assert!(large <= small + 1024 && small <= large + 1024, "{small} bytes of the small one, {large} of the large one");
}

#[test]
fn a_journal_that_was_checked_from_an_anchor_goes_on() {
    let anchored = Anchored::after(60);
    let lock = DataDirLock::acquire(anchored.bench.folder.path()).unwrap();
    let options = JournalOptions { anchor: Some(anchored.anchor.clone()), ..anchored.bench.options.clone() };
    let inspected = Journal::inspect(&lock, &options, &mut |_| {}).unwrap();
    let checked_from = inspected.checked_from().unwrap();
    assert!(checked_from > 1 && checked_from <= 60, "{checked_from}");
    let (_, mut journal) = inspected.open().unwrap();
    append_durable(&mut journal, anchored.end + 1, "goes on");
    journal.close().unwrap();
    verify_older(&anchored.bench.journal_folder(), checked_from).unwrap();
    let report = anchored.bench.report();
    assert_eq!((report.good.last_sequence, report.damage, report.known), (anchored.end + 1, None, vec![]));
}

#[test]
fn damage_before_the_anchor_is_found_apart_and_a_missing_segment_at_once() {
    let anchored = Anchored::after(60);
    let segments = anchored.bench.segments();
    anchored.flip(&segments[1]);
    assert_eq!(anchored.start(Some(&anchored.anchor)).unwrap().0, anchored.end);
    let found = anchored.bench.text(&verify_older(&anchored.bench.journal_folder(), 60).unwrap_err());
    let verified = anchored.bench.report().damage.expect("it is damaged");
    assert_eq!(found, anchored.bench.text(&verified));
    assert!(found.starts_with("journal/") && found.contains(" is damaged at offset "), "{found}");
    fs::remove_file(&segments[1]).unwrap();
    assert!(
        anchored.refused().ends_with("it is segment 3, but segment 2 is missing before it"),
        "{}",
        anchored.refused()
    );
}

#[test]
fn damage_and_loss_behind_the_anchor_are_refused_as_ever() {
    let anchored = Anchored::after(60);
    let segments = anchored.bench.segments();
    let [before_last, last] = &segments[segments.len() - 2..] else { panic!("there are several") };
    let good = fs::read(before_last).unwrap();
    anchored.flip(before_last);
    assert!(anchored.refused().contains(" is damaged at offset "), "{}", anchored.refused());
    fs::write(before_last, good).unwrap();
    fs::remove_file(last).unwrap();
    assert!(anchored.refused().contains("the head file journal/head knows of 80"), "{}", anchored.refused());
}

#[test]
fn a_journal_of_another_past_is_refused() {
    let [anchored, other] = [Anchored::after(60), Anchored::after(60)];
    assert_eq!(anchored.start(Some(&other.anchor)).unwrap().0, anchored.end, "the same records give the same hash");
    let mut foreign = anchored.anchor.clone();
    foreign.head.hash.0[0] ^= 1;
    let refused = anchored.bench.text(&anchored.start(Some(&foreign)).unwrap_err());
    assert!(refused.contains("it ends at 80, but the snapshot knows another record. "), "{refused}");
}

#[test]
fn a_head_file_that_a_power_cut_left_behind_the_anchor_hides_nothing() {
    let anchored = Anchored::after(60);
    let path = anchored.bench.journal_folder().join(head::FILE);
    let old = Head { instance: INSTANCE, sequence: 3, hash: ChainHash([3; 32]) };
    fs::write(&path, old.encode()).unwrap();
    assert_eq!(anchored.start(Some(&anchored.anchor)).unwrap().0, anchored.end);
    assert!(anchored.start(None).is_err(), "without an anchor it is compared");
}

#[test]
fn a_loss_that_was_accepted_takes_snapshots_with_it_that_know_more() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(FOLDER)).unwrap();
    let lock = DataDirLock::acquire(folder.path()).unwrap();
    let snapshots = SnapshotStore::open(&lock, INSTANCE).unwrap();
    for (sequence, head) in [(5, 7), (6, 12)] {
        let head = Head { instance: INSTANCE, sequence: head, hash: ChainHash([9; 32]) };
        fs::write(folder.path().join(FOLDER).join(head::FILE), head.encode()).unwrap();
        snapshots.write(sequence, b"the state", "test").unwrap();
    }
    assert_eq!(snapshots.keep_aside(10, &folder.path().join("lost")).unwrap(), 1);
    let left = snapshots.newest_anchor().unwrap().unwrap();
    assert_eq!((left.snapshot, left.head.sequence), (5, 7));
}
