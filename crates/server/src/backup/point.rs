//! One backup while it is made.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use storage::bars;
use storage::file_system::{OsFileSystem, complete_folder};
use storage::journal::{self, BackupFolders, ChainHash, CopiedJournal, EarlierCopies, InstanceId};
use storage::{SnapshotStore, retired_index};

use super::files;
use super::folder::BackupFolder;
use super::manifest::{Manifest, ManifestFile};
use crate::data_dir::identity::DataDirIdentity;
use crate::data_dir::traces::VENUES;
use crate::exit_failure::{Exit, ExitFailure};
use crate::progress::ProgressReporter;

/// The session file of FIX.
const FIX_SESSIONS: &str = "fix/sessions.cfg";

pub(super) struct PointInProgress<'a> {
    backup: &'a BackupFolder,
    taken: Timestamp,
    /// Where it is made.
    folder: PathBuf,
    journal: Option<CopiedJournal>,
    /// Segments of earlier backups, and whether they were read again.
    known: usize,
    reads_known: bool,
    files: Vec<ManifestFile>,
}

impl<'a> PointInProgress<'a> {
    pub(super) fn begin(backup: &'a BackupFolder, taken: Timestamp) -> Result<Self, ExitFailure> {
        let folder = backup.unfinished(taken);
        let tail = folder.join(journal::FOLDER);
        fs::create_dir_all(&tail).map_err(|error| ExitFailure::io("create", &tail, &error))?;
        Ok(Self { backup, taken, folder, journal: None, known: 0, reads_known: false, files: Vec::new() })
    }

    pub(super) fn copy_journal(&mut self, data: &Path, limit: u64, checks_all: bool) -> Result<(), ExitFailure> {
        let known = self.backup.known();
        let floor = self.backup.known_floor();
        let earlier = EarlierCopies { segments: &known, floor, is_read_again: checks_all };
        let (sealed, tail) = (self.backup.sealed(), self.folder.join(journal::FOLDER));
        let to = BackupFolders { sealed: &sealed, tail: &tail };
        let mut bar = ProgressReporter::new_for("copying the journal");
        let copied = journal::back_up(data, limit, earlier, to, &mut |step| bar.show(step.read, step.total))?;
        (self.known, self.reads_known) = (known.len(), checks_all);
        self.journal = Some(copied);
        Ok(())
    }

    /// The last sequence of the copy, and its hash.
    pub(super) fn end(&self) -> (u64, ChainHash) {
        let end = self.journal.as_ref().and_then(CopiedJournal::end);
        end.map_or((0, ChainHash([0; 32])), |end| (end.last, end.head))
    }

    /// After the journal: a venue's ledger has every fill that the journal has. What it has more is taken out by a restore.
    pub(super) fn copy_files(&mut self, data: &Path) -> Result<(), ExitFailure> {
        let mut names = files::names_below(data, VENUES)?;
        names.extend(files::names_below(data, bars::FOLDER)?);
        names.push(FIX_SESSIONS.to_owned());
        for name in names {
            self.copy_file(data, &name)?;
        }
        self.copy_base(data)?;
        self.copy_old_users(data)
    }

    /// Whether it was there.
    fn copy_file(&mut self, root: &Path, name: &str) -> Result<bool, ExitFailure> {
        let is_there = files::copy(&root.join(name), &self.folder.join(name))?;
        if is_there {
            self.files.push(files::describe(&self.folder, name)?);
        }
        Ok(is_there)
    }

    /// A journal without its beginning is replayed from a snapshot, and ids of retired orders are in their index alone.
    fn copy_base(&mut self, data: &Path) -> Result<(), ExitFailure> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let (Some(floor), end, instance) = (journal.floor, self.end().0, journal.instance) else { return Ok(()) };
        // The one of the backup before reaches further back.
        let earlier = self.backup.newest().filter(|point| point.manifest.floor() == Some(floor));
        let (root, name) = match earlier.and_then(|point| Some((point.folder.clone(), point.manifest.base()?))) {
            Some(known) => known,
            None => (data.to_owned(), base_of(data, instance, floor.sequence, end)?),
        };
        let mut is_whole = self.copy_file(&root, &name)?;
        for name in files::names_below(data, retired_index::FOLDER)? {
            is_whole &= name.ends_with(files::UNFINISHED) || self.copy_file(data, &name)?;
        }
        if is_whole {
            return Ok(());
        }
        Err(ExitFailure::new(Exit::Failed, "the server replaced files while they were copied: take the backup again"))
    }

    /// The file of an older version, until a server has imported it.
    fn copy_old_users(&mut self, data: &Path) -> Result<(), ExitFailure> {
        let path = self.folder.join(access::FILE);
        if !access::copy_old_file(data, &path)? {
            return Ok(());
        }
        self.files.push(files::describe(&self.folder, access::FILE)?);
        Ok(())
    }

    /// From here on it is a backup.
    pub(super) fn finish(self, identity: &DataDirIdentity) -> Result<String, ExitFailure> {
        let manifest = self.journal.as_ref();
        let manifest = manifest.and_then(|journal| Manifest::new(identity, self.taken, journal, self.files.clone()));
        let manifest = manifest.ok_or_else(|| ExitFailure::new(Exit::Failed, "nothing was copied"))?;
        manifest.write(&self.folder)?;
        let (unfinished, named) = self.backup.names_of(manifest.sequence, self.taken);
        let failed = |error| ExitFailure::io("complete", &named, &error);
        complete_folder(&OsFileSystem, &unfinished, &named).map_err(failed)?;
        Ok(self.summary(&manifest, &named))
    }

    fn summary(&self, manifest: &Manifest, named: &Path) -> String {
        let Manifest { sequence, time, head, segments, files, .. } = manifest;
        let new: Vec<_> = segments.iter().skip(self.known).collect();
        let bytes: u64 = new.iter().map(|segment| segment.bytes).sum();
        let again =
            if self.reads_known { format!(", {} read again", segments.len() - new.len()) } else { String::new() };
        format!(
            "backup         {}\nlast sequence  {sequence}\nlast record    {time}\nhead           {head}\n\
             segments       {}, {} new with {bytes} bytes{again}\nother files    {}\n",
            named.display(),
            segments.len(),
            new.len(),
            files.len()
        )
    }
}

/// The file of the oldest snapshot that a copy up to `end` can be replayed from.
fn base_of(data: &Path, instance: InstanceId, floor: u64, end: u64) -> Result<String, ExitFailure> {
    let snapshots = SnapshotStore::look(data, instance);
    let found = snapshots.oldest_valid(floor)?.map(|snapshot| snapshot.sequence);
    let sequence = found.filter(|sequence| snapshots.needs_journal_to(*sequence) <= end);
    let text = format!("the journal begins after {floor}, and no snapshot up to {end} stands in for what is before");
    sequence.map(SnapshotStore::file_of).ok_or_else(|| ExitFailure::new(Exit::Failed, text))
}
