//! A journal that lost what was durable is never opened as if it had not, and there is one named way back.

use super::*;
use crate::Loss;
use expect_test::expect;

const RECORDS: u64 = 16;

/// A journal of three segments whose process was killed: nothing was tidied up, the head file is as the last sync left it.
struct Killed {
    bench: JournalFixture,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Killed {
    fn new() -> Self {
        let bench = JournalFixture::new();
        let (_, mut journal) = bench.open();
        for sequence in 1..=RECORDS {
            append_durable(&mut journal, sequence, &format!("order {sequence} {}", "RBLK".repeat(10)));
        }
        drop(journal);
        let paths = bench.segments().into_iter().chain([bench.journal_folder().join(head::FILE)]);
        let files = paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        Self { bench, files }
    }

    fn restore(&self) {
        for (path, bytes) in &self.files {
            fs::write(path, bytes).unwrap();
        }
    }

    fn newest_segment(&self) -> (&Path, &[u8]) {
        let (path, bytes) = &self.files[self.files.len() - 2];
        (path, bytes)
    }

    fn end(&self) -> usize {
        let (_, bytes) = self.newest_segment();
        bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1
    }

    /// How an opening and a check end, in one word each.
    fn outcomes(&self) -> (&'static str, &'static str) {
        let opened = match self.bench.try_open() {
            Ok((found, _)) if found.last_sequence == RECORDS => "whole",
            Ok(_) => "short",
            Err(StorageError::Lost(_)) => "lost",
            Err(StorageError::Damaged(_)) => "damaged",
            Err(other) => panic!("{other}"),
        };
        let report = self.bench.report();
        let verified = match report.damage {
            Some(_) => "damaged",
            None if !report.known.is_empty() => "lost",
            None if report.good.last_sequence == RECORDS => "whole",
            None => "short",
        };
        (opened, verified)
    }
}

#[test]
fn zeroed_cut_and_deleted_ends_are_refused_and_nothing_is_changed() {
    let killed = Killed::new();
    let (path, good) = killed.newest_segment();
    let mut told = String::new();
    let mut tell = |what: &str| {
        let before = fs::read(path).unwrap_or_default();
        let refused = killed.bench.text(&killed.bench.try_open().err().unwrap());
        assert!(fs::read(path).unwrap_or_default() == before, "{what}: nothing was repaired");
        assert_eq!(killed.outcomes().0, killed.outcomes().1, "{what}");
        told.push_str(&format!(
            "{what}:\n    {}\n",
            refused.replace(&format!("{}", killed.bench.folder.path().display()), "DATA")
        ));
        killed.restore();
    };
    let mut bytes = good.to_vec();
    bytes[killed.end() - 1] ^= 1;
    fs::write(path, &bytes).unwrap();
    tell("flipped");
    fs::write(path, &good[..killed.end() - 200]).unwrap();
    tell("cut");
    bytes[segment::HEADER_BYTES..].fill(0);
    fs::write(path, &bytes).unwrap();
    tell("zeroed");
    fs::remove_file(path).unwrap();
    tell("newest deleted");
    killed.bench.segments().iter().for_each(|path| fs::remove_file(path).unwrap());
    tell("all deleted");
    let other = Head { instance: INSTANCE, sequence: 15, hash: ChainHash([7; 32]) };
    let mut head = HeadFile::open(&OsFileSystem, &killed.bench.journal_folder(), INSTANCE).unwrap();
    head.note(other.sequence, other.hash);
    tell("another history");
    fs::write(killed.bench.journal_folder().join(head::FILE), "something else").unwrap();
    tell("damaged head");
    expect![[r#"
        flipped:
            journal/00000000000000000013.journal is damaged at offset 530: a bit at offset 663 has flipped in the last frame, which was written as a whole
        cut:
            the journal in DATA lost its end: it ends at 14, but the head file journal/head knows of 16. Bring the missing files back from a copy. Where they are gone for good, rialto journal accept-loss --data-dir DATA --up-to 14 goes on without them
        zeroed:
            the journal in DATA lost its end: it ends at 12, but the head file journal/head knows of 16. Bring the missing files back from a copy. Where they are gone for good, rialto journal accept-loss --data-dir DATA --up-to 12 goes on without them
        newest deleted:
            the journal in DATA lost its end: it ends at 12, but the head file journal/head knows of 16. Bring the missing files back from a copy. Where they are gone for good, rialto journal accept-loss --data-dir DATA --up-to 12 goes on without them
        all deleted:
            the journal in DATA lost its end: it ends at 0, but the head file journal/head knows of 16. Bring the missing files back from a copy. Where they are gone for good, rialto journal accept-loss --data-dir DATA --up-to 0 goes on without them
        another history:
            the journal in DATA lost its end: it ends at 16, but the head file journal/head knows another record 15. Bring the missing files back from a copy. Where they are gone for good, rialto journal accept-loss --data-dir DATA --up-to 16 goes on without them
        damaged head:
            journal/head is damaged at offset 0: it is no head of a journal; if nothing else of the journal is damaged, delete it
    "#]]
    .assert_eq(&told);
}

#[test]
fn whoever_else_remembers_more_is_believed() {
    let mut killed = Killed::new();
    let witness = |sequence| KnownSequence { sequence, says: format!("the read model has event {sequence}") };
    killed.bench.options.witnesses = vec![witness(RECORDS)];
    assert_eq!(killed.outcomes().0, "whole");
    killed.bench.options.witnesses = vec![witness(RECORDS), witness(RECORDS + 1), witness(RECORDS + 2)];
    let Err(StorageError::Lost(loss)) = killed.bench.try_open() else { panic!("it is refused") };
    let known = ["the read model has event 17", "the read model has event 18"].map(str::to_owned).to_vec();
    assert_eq!(loss, Loss { folder: killed.bench.folder.path().to_owned(), end: RECORDS, known });
}

#[test]
fn a_folder_without_a_head_file_opens_and_gets_one() {
    let killed = Killed::new();
    fs::remove_file(killed.bench.journal_folder().join(head::FILE)).unwrap();
    assert_eq!(killed.outcomes(), ("whole", "whole"));
    assert_eq!(head::read(&killed.bench.journal_folder()).unwrap().unwrap().sequence, RECORDS);
}

#[test]
fn a_write_that_was_under_way_is_still_cut() {
    let killed = Killed::new();
    let (path, good) = killed.newest_segment();
    let mut bytes = good.to_vec();
    let end = killed.end();
    bytes.copy_within(segment::HEADER_BYTES..segment::HEADER_BYTES + 60, end);
    fs::write(path, &bytes).unwrap();
    assert_eq!(killed.bench.report().good.torn.map(|torn| (torn.offset, torn.bytes)), Some((end as u64, 60)));
    assert_eq!(killed.outcomes(), ("whole", "whole"));
}

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Flips, zeros or cuts anywhere in the segments, or deletes some of them; says what it did.
fn harm(killed: &Killed, dice: &mut Dice) -> String {
    let segments = &killed.files[..killed.files.len() - 1];
    let (path, good) = &segments[dice.below(segments.len())];
    let mut bytes = good.clone();
    let at = dice.below(bytes.len());
    let length = 1 + dice.below(400).min(bytes.len() - at - 1);
    let kind = dice.below(5);
    match kind {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at..at + length].fill(0),
        2 => bytes.truncate(at),
        3 => bytes[at..].fill(0),
        _ => {
            segments.iter().skip(dice.below(segments.len())).for_each(|(path, _)| fs::remove_file(path).unwrap());
            return "deleted".to_owned();
        }
    }
    fs::write(path, &bytes).unwrap();
    format!("kind {kind} at {at}, {length} bytes, of {}", path.display())
}

#[test]
fn of_two_thousand_random_damages_none_loses_anything_in_silence() {
    let killed = Killed::new();
    let mut dice = Dice(20_261_115);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..2_000 {
        let done = harm(&killed, &mut dice);
        let (opened, verified) = killed.outcomes();
        assert_ne!(opened, "short", "{done}");
        // What was opened is repaired where something stood behind its end, so it was looked at afterwards.
        assert_eq!(opened, verified, "{done}");
        *counts.entry(opened).or_insert(0) += 1;
        killed.restore();
    }
    assert_eq!(counts.values().sum::<i32>(), 2_000);
    assert!(["whole", "lost", "damaged"].iter().all(|kind| counts[kind] > 100), "{counts:?}");
}

fn after_loss(bench: &JournalFixture) -> (JournalSummary, Journal) {
    Journal::open_after_loss(&DataDirLock::acquire(bench.folder.path()).unwrap(), &bench.options).unwrap()
}

#[test]
fn an_accepted_loss_keeps_what_is_good_and_the_rest_beside_it() {
    let killed = Killed::new();
    let (path, good) = killed.newest_segment();
    let bench = &killed.bench;
    let accept = |up_to| {
        let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
        accept_loss(&lock, INSTANCE, up_to, RECORDS, &bench.folder.path().join("lost"))
    };
    let mut bytes = good.to_vec();
    bytes[segment::HEADER_BYTES + 300] ^= 1;
    fs::write(path, &bytes).unwrap();
    assert_eq!(killed.outcomes(), ("damaged", "damaged"));
    let refused = accept(16).unwrap_err().to_string();
    assert_eq!(refused, "--up-to: the journal is good up to 14, so 14 is the number to give, not 16");
    assert_eq!(killed.outcomes(), ("damaged", "damaged"), "nothing was changed");
    let left = accept(14).unwrap();
    assert_eq!((left.end, left.damage.is_some()), (14, true));
    let kept = bench.folder.path().join("lost/journal");
    assert_eq!(fs::read(kept.join(path.file_name().unwrap())).unwrap(), bytes);
    assert!(kept.join(head::FILE).exists());
    assert_eq!(killed.outcomes().0, "lost", "until a record above all that was known stands there");
    let (found, mut journal) = after_loss(bench);
    assert_eq!((found.last_sequence, found.torn), (14, None));
    append_durable(&mut journal, 1_000, "life goes on");
    journal.close().unwrap();
    assert_eq!(bench.read().last(), Some(&line(1_000, "life goes on")));
    assert_eq!((bench.report().damage, bench.report().known), (None, vec![]));
}

#[test]
fn an_accepted_loss_of_a_whole_segment_keeps_the_segments_before_it() {
    let killed = Killed::new();
    let (path, good) = killed.newest_segment();
    let mut bytes = good.to_vec();
    bytes[segment::HEADER_BYTES..].fill(0);
    fs::write(path, &bytes).unwrap();
    let lock = DataDirLock::acquire(killed.bench.folder.path()).unwrap();
    let aside = killed.bench.folder.path().join("lost");
    assert_eq!(accept_loss(&lock, INSTANCE, 12, RECORDS, &aside).unwrap().end, 12);
    drop(lock);
    let (found, mut journal) = after_loss(&killed.bench);
    assert_eq!((found.last_sequence, found.torn), (12, None));
    append_durable(&mut journal, 1_000, "life goes on");
    journal.close().unwrap();
    let sequences: Vec<_> = killed.bench.read().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    let expected: Vec<_> = (1..=12).chain([1_000]).map(|sequence: u64| sequence.to_string()).collect();
    assert_eq!(sequences, expected);
    assert_eq!((killed.bench.report().damage, killed.bench.report().known), (None, vec![]));
}

#[test]
fn a_loss_of_everything_can_be_accepted_too() {
    let killed = Killed::new();
    killed.bench.segments().iter().take(1).for_each(|path| fs::remove_file(path).unwrap());
    let lock = DataDirLock::acquire(killed.bench.folder.path()).unwrap();
    let aside = killed.bench.folder.path().join("lost");
    assert_eq!(accept_loss(&lock, INSTANCE, 0, RECORDS, &aside).unwrap().end, 0);
    drop(lock);
    let (found, mut journal) = after_loss(&killed.bench);
    assert_eq!((found.last_sequence, found.segments), (0, 0));
    append_durable(&mut journal, 1_000, "life goes on");
    journal.close().unwrap();
    assert_eq!(killed.bench.read(), [line(1_000, "life goes on")]);
}
