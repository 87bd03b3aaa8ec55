//! The log as a venue's ledger: reported records are there after any crash.

use std::fs;

use super::*;
use crate::Damage;
use tempfile::TempDir;

struct LogFixture {
    folder: TempDir,
}

impl LogFixture {
    /// Three fills; the log is closed.
    fn with_three_fills() -> Self {
        let book = Self { folder: tempfile::tempdir().unwrap() };
        let (_, _, mut log) = book.open().unwrap();
        for fill in ["fill 100 @ 10.50", "", "fill 50 @ 10.55"] {
            log.append(fill.as_bytes()).unwrap();
        }
        log.sync().unwrap();
        book
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("venue.log")
    }

    fn open(&self) -> Result<(Vec<String>, Option<TornWrite>, AppendLog), StorageError> {
        let mut fills = Vec::new();
        let (replayed, log) = AppendLog::open(&self.path(), &mut |payload| {
            fills.push(String::from_utf8(payload.to_vec()).map_err(|error| error.to_string())?);
            Ok(())
        })?;
        assert_eq!(replayed.records, fills.len() as u64);
        Ok((fills, replayed.torn, log))
    }

    fn damage(&self) -> Damage {
        match self.open() {
            Err(StorageError::Damaged(damage)) => damage,
            Err(other) => panic!("{other}"),
            Ok((fills, ..)) => panic!("opened with {fills:?}"),
        }
    }
}

const FILLS: [&str; 3] = ["fill 100 @ 10.50", "", "fill 50 @ 10.55"];
/// Where the records end: 12 bytes of beginning, 12 of head for each.
const ENDS: [usize; 4] = [12, 40, 52, 79];

#[test]
fn what_was_appended_is_replayed_in_order_over_restarts() {
    let book = LogFixture::with_three_fills();
    let (fills, torn, mut log) = book.open().unwrap();
    assert_eq!((fills, torn), (FILLS.map(str::to_owned).to_vec(), None));
    log.append(b"bust").unwrap();
    drop(log);
    assert_eq!(book.open().unwrap().0, [FILLS[0], FILLS[1], FILLS[2], "bust"]);
}

#[test]
fn after_every_truncation_the_complete_records_are_there_and_the_log_continues() {
    let book = LogFixture::with_three_fills();
    let good = fs::read(book.path()).unwrap();
    assert_eq!(good.len(), ENDS[3]);
    for length in ENDS[0]..good.len() {
        fs::write(book.path(), &good[..length]).unwrap();
        let kept = ENDS[1..].iter().filter(|end| **end <= length).count();
        let (fills, torn, mut log) = book.open().unwrap();
        assert_eq!(fills, FILLS[..kept], "{length}");
        let cut = (length > ENDS[kept]).then_some((ENDS[kept] as u64, (length - ENDS[kept]) as u64));
        assert_eq!(torn.map(|torn| (torn.offset, torn.bytes)), cut, "{length}");
        log.append(b"next").unwrap();
        let (fills, torn, _) = book.open().unwrap();
        assert_eq!(
            (fills, torn),
            ([&FILLS[..kept], &["next"]].concat().iter().map(ToString::to_string).collect(), None)
        );
    }
}

#[test]
fn a_flipped_bit_is_refused_unless_it_is_in_the_last_record() {
    let book = LogFixture::with_three_fills();
    let good = fs::read(book.path()).unwrap();
    for (at, bit) in (0..good.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << bit;
        fs::write(book.path(), bytes).unwrap();
        match book.open() {
            Ok((fills, torn, _)) => {
                assert!(at >= ENDS[2] && torn.is_some(), "{at}");
                assert_eq!(fills, FILLS[..2]);
            }
            Err(StorageError::Damaged(damage)) => {
                let record = ENDS.iter().rfind(|end| **end <= at).map_or(0, |start| *start as u64);
                assert_eq!((damage.file, damage.offset), (book.path(), record), "{at}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn damage_names_the_place_and_the_reason() {
    let book = LogFixture::with_three_fills();
    let good = fs::read(book.path()).unwrap();
    let mut bytes = good.clone();
    bytes[30] ^= 1;
    fs::write(book.path(), &bytes).unwrap();
    let damage = book.damage();
    let reason = "the checksum does not match, but a good record follows at offset 40";
    assert_eq!((damage.offset, damage.reason.as_str()), (12, reason));

    fs::write(book.path(), b"something else entirely").unwrap();
    assert_eq!(book.damage().reason, "it does not begin like an append log");
    assert_eq!(fs::read(book.path()).unwrap(), b"something else entirely", "and left as it was");
}

#[test]
fn a_payload_that_its_owner_cannot_read_is_refused_with_its_place() {
    let book = LogFixture::with_three_fills();
    let (_, _, mut log) = book.open().unwrap();
    log.append(&[0xff]).unwrap();
    assert_eq!(book.damage().offset, 79);
}

#[test]
fn zeros_behind_the_end_are_cut_like_any_torn_write() {
    let book = LogFixture::with_three_fills();
    let good = fs::read(book.path()).unwrap();
    fs::write(book.path(), [good.as_slice(), &[0; 100]].concat()).unwrap();
    let (fills, torn, _) = book.open().unwrap();
    assert_eq!((fills.len(), torn.map(|torn| torn.bytes)), (3, Some(100)));
    assert_eq!(fs::read(book.path()).unwrap(), good);
}

/// More than the length from which zeros are written ahead.
fn long_reserved_log(book: &LogFixture) -> AppendLog {
    let (_, mut log) = AppendLog::open_reserved(&book.path(), &mut |_| Ok(())).unwrap();
    for fill in 0..1_000_u32 {
        log.append(format!("{fill:0100}").as_bytes()).unwrap();
    }
    log.sync().unwrap();
    log
}

fn count_reserved(book: &LogFixture) -> (u64, Option<u64>, u64) {
    let (found, log) = AppendLog::open_reserved(&book.path(), &mut |_| Ok(())).unwrap();
    (found.records, found.torn.map(|torn| torn.offset), log.bytes())
}

#[test]
fn a_log_with_zeros_ahead_keeps_its_length_while_it_is_written_and_over_restarts() {
    let book = LogFixture { folder: tempfile::tempdir().unwrap() };
    let mut log = long_reserved_log(&book);
    let length = || fs::metadata(book.path()).unwrap().len();
    let (before, used) = (length(), log.bytes());
    assert!(before > used, "{before} bytes, {used} used");
    log.append(b"next").unwrap();
    log.sync().unwrap();
    let used = log.bytes();
    drop(log);
    assert_eq!(length(), before);
    assert_eq!(count_reserved(&book), (1_001, None, used));
    assert_eq!(length(), before, "zeros that were written ahead stay");
    assert_eq!(AppendLog::read(&book.path(), &mut |_| Ok(())).unwrap(), 1_001);
}

#[test]
fn the_remains_of_a_cut_write_into_zeros_ahead_are_cut_and_the_log_continues() {
    let book = LogFixture { folder: tempfile::tempdir().unwrap() };
    let used = long_reserved_log(&book).bytes();
    let mut bytes = fs::read(book.path()).unwrap();
    let at = usize::try_from(used).unwrap();
    bytes[at..at + 4].copy_from_slice(b"RBLK");
    fs::write(book.path(), bytes).unwrap();
    assert_eq!(count_reserved(&book), (1_000, Some(used), used));
    let (_, mut log) = AppendLog::open_reserved(&book.path(), &mut |_| Ok(())).unwrap();
    log.append(b"next").unwrap();
    drop(log);
    assert_eq!(count_reserved(&book).0, 1_001);
}

#[test]
fn a_short_log_has_no_zeros_ahead() {
    let book = LogFixture::with_three_fills();
    let (_, mut log) = AppendLog::open_reserved(&book.path(), &mut |_| Ok(())).unwrap();
    log.append(b"next").unwrap();
    assert_eq!(fs::metadata(book.path()).unwrap().len(), log.bytes());
}

#[test]
fn a_payload_above_the_limit_is_refused_and_the_log_continues() {
    let book = LogFixture::with_three_fills();
    let (_, _, mut log) = book.open().unwrap();
    let refused = log.append(&vec![0; PAYLOAD_LIMIT_BYTES + 1]).unwrap_err().to_string();
    assert_eq!(refused, "payload: 16777205 bytes, the limit is 16777204");
    log.append(b"small").unwrap();
    assert_eq!(book.open().unwrap().0.len(), 4);
}

struct BrokenDisk;

struct BrokenMedium;

impl WritableFile for BrokenMedium {
    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(28))
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl FileSystem for BrokenDisk {
    fn create(&self, _: &Path) -> io::Result<Box<dyn WritableFile>> {
        Ok(Box::new(BrokenMedium))
    }

    fn open(&self, _: &Path) -> io::Result<Box<dyn WritableFile>> {
        Ok(Box::new(BrokenMedium))
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&self, _: &Path, _: u64) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn after_a_failed_write_nothing_more_is_taken() {
    let book = LogFixture::with_three_fills();
    let (_, mut log) = AppendLog::open_on(&BrokenDisk, &book.path(), &mut |_| Ok(())).unwrap();
    let full =
        format!("the disk is full: cannot write {}: No space left on device (os error 28)", book.path().display());
    assert_eq!(log.append(b"lost").unwrap_err().to_string(), full);
    let after = format!("refused after an earlier failure: {full}");
    assert_eq!(log.append(b"also lost").unwrap_err().to_string(), after);
    assert_eq!(log.sync().unwrap_err().to_string(), after);
}
