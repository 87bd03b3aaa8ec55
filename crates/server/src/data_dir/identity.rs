//! The identity of a data folder: random, made at first start, kept in the file `instance`.
//!
//! A folder that was restored from a backup has an identity of its own, so that no two folders give the same ids. Its journal goes
//! on under the identity that its segments have, which a second line of the file says. Beside the journal it has a copy of the file:
//! without the file the segments would tell the first identity.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use storage::journal::{self, InstanceId};
use storage::lock::DataDirLock;

use crate::exit_failure::{Exit, ExitFailure};

const FILE: &str = "instance";

/// Begins the line with the identity of the journal, where that is another one.
const JOURNAL_LINE: &str = "journal ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataDirIdentity {
    own: [u8; 16],
    journal: [u8; 16],
}

impl DataDirIdentity {
    /// Reads the identity of a folder that we hold, or gives it one.
    pub fn load(lock: &DataDirLock) -> Result<Self, ExitFailure> {
        let (own, copy) = (lock.folder().join(FILE), lock.folder().join(journal::FOLDER).join(FILE));
        let instance = match read(&own)? {
            Some(instance) => instance,
            None => match read(&copy)? {
                Some(instance) => instance.written(lock)?,
                None => Self::create(lock)?,
            },
        };
        // Folders that earlier builds restored have no copy.
        if instance.is_restored() && !copy.exists() {
            instance.written(lock)?;
        }
        Ok(instance)
    }

    /// The identity of a folder that somebody else may hold, where it has one.
    pub fn known(data_folder: &Path) -> Option<Self> {
        let read = |folder: &Path| fs::read_to_string(folder.join(FILE)).ok().and_then(|text| parse(&text));
        let written = read(data_folder).or_else(|| read(&data_folder.join(journal::FOLDER)));
        let in_journal = || journal::instance_of(&data_folder.join(journal::FOLDER)).ok().flatten();
        written.or_else(|| in_journal().map(|InstanceId(bytes)| Self::of(bytes)))
    }

    /// A journal without the file remembers whose it is; a folder without a journal becomes a new one.
    fn create(lock: &DataDirLock) -> Result<Self, ExitFailure> {
        let known = journal::instance_of(&lock.folder().join(journal::FOLDER)).map_err(ExitFailure::from)?;
        let instance = match known {
            Some(InstanceId(bytes)) => Self::of(bytes),
            None => Self::of(random()?),
        };
        instance.written(lock)
    }

    fn written(self, lock: &DataDirLock) -> Result<Self, ExitFailure> {
        let path = lock.folder().join(FILE);
        self.write_to(lock.folder()).map_err(|error| ExitFailure::io("write", &path, &error))?;
        Ok(self)
    }

    /// Whether it goes on with the journal of another folder.
    pub(crate) fn is_restored(self) -> bool {
        self.own != self.journal
    }

    fn of(bytes: [u8; 16]) -> Self {
        Self { own: bytes, journal: bytes }
    }

    /// For a folder without a journal that becomes a copy of one.
    pub(crate) fn adopt(lock: &DataDirLock, InstanceId(journal): InstanceId) -> Result<Self, ExitFailure> {
        Self::of(journal).written(lock)
    }

    /// A new one, for a folder that goes on with the journal of another.
    pub fn new_for_journal(InstanceId(journal): InstanceId) -> Result<Self, ExitFailure> {
        Ok(Self { own: random()?, journal })
    }

    /// As it was written by `Display`.
    pub fn parse(text: &str) -> Option<Self> {
        parse(text)
    }

    /// The copy comes first: a crash in between leaves the folder as it was.
    pub(crate) fn write_to(self, folder: &Path) -> io::Result<()> {
        if self.is_restored() {
            let beside = folder.join(journal::FOLDER);
            fs::create_dir_all(&beside)?;
            self.write_file(&beside)?;
        }
        self.write_file(folder)
    }

    /// Whole or not at all: a crash must not leave half an identity.
    fn write_file(self, folder: &Path) -> io::Result<()> {
        let draft = folder.join("instance.new");
        let mut file = File::create(&draft)?;
        writeln!(file, "{self}")?;
        file.sync_all()?;
        fs::rename(&draft, folder.join(FILE))?;
        File::open(folder)?.sync_all()
    }

    /// For the journal's segments.
    pub fn journal_id(self) -> InstanceId {
        InstanceId(self.journal)
    }

    /// For what two folders that were restored from one backup must not share.
    pub fn own_id(self) -> InstanceId {
        InstanceId(self.own)
    }

    /// For pages of the journal. A restored folder goes on with the journal of another, and from there on has its own; in a cluster
    /// all have that of the log.
    pub(crate) fn page_journal(self, is_in_cluster: bool) -> InstanceId {
        if is_in_cluster { self.journal_id() } else { self.own_id() }
    }

    /// For the engine, which puts it into the ids that it mints.
    pub fn number(self) -> u64 {
        u64::from_be_bytes(self.own[..8].try_into().expect("eight of sixteen bytes"))
    }
}

impl std::fmt::Display for DataDirIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.own))?;
        if self.journal != self.own {
            write!(f, "\n{JOURNAL_LINE}{:032x}", u128::from_be_bytes(self.journal))?;
        }
        Ok(())
    }
}

/// The identity in a file, where there is one.
fn read(path: &Path) -> Result<Option<DataDirIdentity>, ExitFailure> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text).map(Some).ok_or_else(|| {
            let reason = format!("{} does not hold 32 hexadecimal digits", path.display());
            ExitFailure::new(Exit::Damaged, reason)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ExitFailure::io("read", path, &error)),
    }
}

fn parse(text: &str) -> Option<DataDirIdentity> {
    let mut lines = text.trim().lines();
    let own = parse_number(lines.next()?)?;
    let journal = match lines.next() {
        Some(line) => parse_number(line.strip_prefix(JOURNAL_LINE)?)?,
        None => own,
    };
    lines.next().is_none().then_some(DataDirIdentity { own, journal })
}

fn parse_number(text: &str) -> Option<[u8; 16]> {
    let hexadecimal = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u128::from_str_radix(text, 16).ok().filter(|_| hexadecimal).map(u128::to_be_bytes)
}

const RANDOM: &str = "/dev/urandom";

fn random() -> Result<[u8; 16], ExitFailure> {
    let mut bytes = [0; 16];
    let read = File::open(RANDOM).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| ExitFailure::io("read", Path::new(RANDOM), &error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_identity_and_no_two_folders_share_one() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (one, other) = (DataDirLock::acquire(one.path()).unwrap(), DataDirLock::acquire(other.path()).unwrap());
        let first = DataDirIdentity::load(&one).unwrap();
        assert_eq!(DataDirIdentity::load(&one).unwrap(), first);
        assert_ne!(DataDirIdentity::load(&other).unwrap(), first);
    }

    #[test]
    fn a_lost_file_is_written_again_from_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DataDirLock::acquire(folder.path()).unwrap();
        let first = DataDirIdentity::load(&lock).unwrap();
        let options =
            journal::JournalOptions { segment_bytes: 1 << 16, ..journal::JournalOptions::new(first.journal_id()) };
        let (_, mut journal) = journal::Journal::open(&lock, &options, &mut |_| {}).unwrap();
        let record = journal::JournalRecord { sequence: 1, kind: 0, payload: vec![1] };
        journal.append(journal::JournalBatch { time: 0, records: vec![record] }).unwrap();
        journal.close().unwrap();
        fs::remove_file(folder.path().join(FILE)).unwrap();
        assert_eq!(DataDirIdentity::load(&lock).unwrap(), first);
    }

    #[test]
    fn a_file_that_is_no_identity_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DataDirLock::acquire(folder.path()).unwrap();
        for bad in ["", "12", "+0000000000000000000000000000001", "zz000000000000000000000000000000"] {
            fs::write(folder.path().join(FILE), bad).unwrap();
            let refused = DataDirIdentity::load(&lock).unwrap_err().to_string();
            let expected = format!("{} does not hold 32 hexadecimal digits", folder.path().join(FILE).display());
            assert_eq!(refused, expected, "{bad}");
        }
    }

    #[test]
    fn a_restored_folder_has_its_own_name_and_the_journal_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DataDirLock::acquire(folder.path()).unwrap();
        let journal = InstanceId([7; 16]);
        let restored = DataDirIdentity::new_for_journal(journal).unwrap();
        restored.write_to(folder.path()).unwrap();
        assert_eq!(DataDirIdentity::load(&lock).unwrap(), restored);
        assert_eq!((restored.journal_id(), DataDirIdentity::known(folder.path())), (journal, Some(restored)));
        assert_ne!(restored.number(), DataDirIdentity::of(journal.0).number());
        assert_ne!(restored.own_id(), journal);
        let written = fs::read_to_string(folder.path().join(FILE)).unwrap();
        for bad in [format!("{written}{written}"), written.replace("journal ", "journal"), format!("{written}x")] {
            assert_eq!(parse(&bad), None, "{bad}");
        }
    }

    #[test]
    fn a_restored_folder_that_loses_the_file_keeps_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DataDirLock::acquire(folder.path()).unwrap();
        let restored = DataDirIdentity::new_for_journal(InstanceId([7; 16])).unwrap();
        restored.write_to(folder.path()).unwrap();
        for file in [folder.path().join(FILE), folder.path().join(journal::FOLDER).join(FILE)] {
            fs::remove_file(file).unwrap();
            assert_eq!(DataDirIdentity::known(folder.path()), Some(restored));
            assert_eq!(
                DataDirIdentity::load(&lock).unwrap(),
                restored,
                "either file is enough, and both are written again"
            );
        }
    }

    #[test]
    fn the_engine_s_number_is_the_first_half() {
        let instance = parse("0123456789abcdef0000000000000001").unwrap();
        assert_eq!(instance.number(), 0x0123_4567_89ab_cdef);
        assert_eq!(instance.to_string(), "0123456789abcdef0000000000000001");
    }
}
