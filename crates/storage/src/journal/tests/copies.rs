//! A copy of a journal has all that was durable, and nothing that happens to the journal later changes it.

use super::*;

const RECORDS: u64 = 24;

/// A journal of several segments that is still open, and a place for its backups.
struct Traded {
    bench: JournalFixture,
    backups: TempDir,
    journal: Option<Journal>,
}

impl Traded {
    fn new() -> Self {
        let bench = JournalFixture::new();
        let (_, journal) = bench.open();
        let mut traded = Self { bench, backups: tempfile::tempdir().unwrap(), journal: Some(journal) };
        ["sealed", "tail", "tail-2"].iter().for_each(|name| fs::create_dir(traded.backups.path().join(name)).unwrap());
        traded.trade(1..=RECORDS);
        traded
    }

    /// Two records to a batch, so that a cut may fall between them.
    fn trade(&mut self, sequences: std::ops::RangeInclusive<u64>) {
        let journal = self.journal.as_mut().unwrap();
        for sequence in sequences.step_by(2) {
            let records = vec![record(sequence, &text(sequence)), record(sequence + 1, &text(sequence + 1))];
            journal.append(JournalBatch { time: time(sequence), records }).unwrap();
            wait_durable(journal, sequence + 1);
        }
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.backups.path().join(name)
    }

    fn back_up(&self, limit: u64, known: &[CopiedSegment], tail: &str) -> Result<CopiedJournal, StorageError> {
        let (sealed, tail) = (self.folder("sealed"), self.folder(tail));
        let known = EarlierCopies { segments: known, ..EarlierCopies::default() };
        back_up(self.bench.folder.path(), limit, known, BackupFolders { sealed: &sealed, tail: &tail }, &mut |_| {})
    }

    fn restore(
        &self,
        copied: &CopiedJournal,
        tail: &str,
        limit: CopyLimit,
    ) -> Result<(TempDir, CopiedJournal), StorageError> {
        let last = copied.segments.len() - 1;
        let place = |(index, segment): (usize, &CopiedSegment)| {
            let folder = self.folder(if index == last { tail } else { "sealed" });
            (folder.join(&segment.file), segment.clone())
        };
        let segments: Vec<_> = copied.segments.iter().enumerate().map(place).collect();
        let target = tempfile::tempdir().unwrap();
        let restored = restore(&segments, copied.floor, limit, target.path(), &mut |_| {})?;
        Ok((target, restored))
    }
}

fn text(sequence: u64) -> String {
    format!("order {sequence} {}", "RBLK".repeat(10))
}

fn time(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap() * 1000
}

fn lines(up_to: u64) -> Vec<String> {
    let stamp = |sequence: u64| sequence - (sequence + 1) % 2;
    let line =
        |sequence: u64| format!("{sequence} at {} kind {}: {}", stamp(sequence) * 1000, sequence % 3, text(sequence));
    (1..=up_to).map(line).collect()
}

#[test]
fn a_backup_of_a_journal_in_use_has_what_is_durable_and_the_next_one_adds_to_it() {
    let mut traded = Traded::new();
    let head = durable_head(traded.bench.folder.path()).unwrap().unwrap();
    let first = traded.back_up(head.sequence, &[], "tail").unwrap();
    let end = first.end().unwrap();
    assert_eq!((end.last, end.head), (RECORDS, traded.bench.report().good.head));
    traded.trade(RECORDS + 1..=2 * RECORDS);
    let mut progress = Vec::new();
    let known = &first.segments[..first.segments.len() - 1];
    let (sealed, tail) = (traded.folder("sealed"), traded.folder("tail-2"));
    let to = BackupFolders { sealed: &sealed, tail: &tail };
    let earlier = EarlierCopies { segments: known, ..EarlierCopies::default() };
    let second =
        back_up(traded.bench.folder.path(), 2 * RECORDS, earlier, to, &mut |step| progress.push(step)).unwrap();
    let total = progress.last().unwrap().total;
    let new = (second.segments.len() - known.len()) as u64;
    assert!(!known.is_empty() && total == new * 1024, "{total} bytes are looked at for {new} new segments");
    for (copied, tail, up_to) in [(&first, "tail", RECORDS), (&second, "tail-2", 2 * RECORDS)] {
        let (target, restored) = traded.restore(copied, tail, CopyLimit::NONE).unwrap();
        assert_eq!(read_from(&target.path().join(FOLDER), 0).unwrap(), lines(up_to));
        assert_eq!(&restored, copied);
    }
}

#[test]
fn a_restored_journal_ends_with_any_record_and_goes_on_from_there() {
    let traded = Traded::new();
    let copied = traded.back_up(RECORDS, &[], "tail").unwrap();
    for end in 1..=RECORDS {
        let (target, restored) = traded.restore(&copied, "tail", CopyLimit::at_sequence(end)).unwrap();
        let lock = DataDirLock::acquire(target.path()).unwrap();
        let (found, mut journal) = Journal::open(&lock, &traded.bench.options, &mut |_| {}).unwrap();
        let last = restored.end().unwrap();
        assert_eq!((found.last_sequence, found.head, found.torn), (end, last.head, None));
        append_durable(&mut journal, end + 1, "goes on");
        journal.close().unwrap();
        let read = read_from(&target.path().join(FOLDER), 0).unwrap();
        assert_eq!(read, [lines(end), vec![line(end + 1, "goes on")]].concat());
    }
}

#[test]
fn a_restored_journal_ends_with_the_last_record_of_an_instant() {
    let traded = Traded::new();
    let copied = traded.back_up(RECORDS, &[], "tail").unwrap();
    for (at, last) in [(time(1), 2), (time(7) - 1, 6), (time(7), 8), (time(RECORDS), RECORDS)] {
        let limit = CopyLimit { time: at, ..CopyLimit::NONE };
        let (target, _) = traded.restore(&copied, "tail", limit).unwrap();
        assert_eq!(read_from(&target.path().join(FOLDER), 0).unwrap(), lines(last), "{at}");
    }
    let refused = traded.restore(&copied, "tail", CopyLimit::at_sequence(0)).unwrap_err();
    assert_eq!(refused.to_string(), "--to: the backup has no record up to there");
}

#[test]
fn a_shared_segment_is_never_written_again() {
    let mut traded = Traded::new();
    let copied = traded.back_up(RECORDS, &[], "tail").unwrap();
    traded.journal.take().unwrap().close().unwrap();
    let segments = traded.bench.segments();
    let (lost, stays) = segments.split_at(1);
    stays.iter().for_each(|path| fs::remove_file(path).unwrap());
    let shared = fs::read(traded.folder("sealed").join(lost[0].file_name().unwrap())).unwrap();
    let end = traded.bench.report().good.last_sequence;
    let lock = DataDirLock::acquire(traded.bench.folder.path()).unwrap();
    let aside = traded.bench.folder.path().join("lost");
    accept_loss(&lock, INSTANCE, end, RECORDS, &aside).unwrap();
    let (_, mut journal) = Journal::open_after_loss(&lock, &traded.bench.options).unwrap();
    append_durable(&mut journal, 1000, "after the loss");
    journal.close().unwrap();
    assert!(fs::read(traded.folder("sealed").join(lost[0].file_name().unwrap())).unwrap() == shared);
    let (target, _) = traded.restore(&copied, "tail", CopyLimit::NONE).unwrap();
    assert_eq!(read_from(&target.path().join(FOLDER), 0).unwrap(), lines(RECORDS));
}

#[test]
fn damage_is_refused_by_name_on_both_ways() {
    let traded = Traded::new();
    let copied = traded.back_up(RECORDS, &[], "tail").unwrap();
    let shared = traded.folder("sealed").join(&copied.segments[0].file);
    let good = fs::read(&shared).unwrap();
    let mut bytes = good.clone();
    bytes[300] ^= 1;
    fs::remove_file(&shared).unwrap();
    fs::write(&shared, &bytes).unwrap();
    let refused = traded.restore(&copied, "tail", CopyLimit::NONE).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("{} is damaged at offset ", shared.display())), "{refused}");
    fs::write(&shared, &good).unwrap();
    let first = traded.bench.segments().remove(0);
    fs::write(&first, &bytes).unwrap();
    let refused = traded.back_up(RECORDS, &[], "tail-2").unwrap_err().to_string();
    assert!(refused.starts_with(&format!("{} is damaged at offset ", first.display())), "{refused}");
    assert!(fs::read(&shared).unwrap() == good, "the good copy stays");
    let known = &copied.segments[..copied.segments.len() - 1];
    assert_eq!(traded.back_up(RECORDS, known, "tail-2").unwrap(), copied, "what was checked is not read again");
}
