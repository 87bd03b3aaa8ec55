//! One backup while it is made.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use storage::bars;
use storage::journal::{self, BackupFolders, ChainHash, CopiedJournal};

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
    known: usize,
    files: Vec<ManifestFile>,
}

impl<'a> PointInProgress<'a> {
    pub(super) fn begin(backup: &'a BackupFolder, taken: Timestamp) -> Result<Self, ExitFailure> {
        let folder = backup.unfinished(taken);
        let tail = folder.join(journal::FOLDER);
        fs::create_dir_all(&tail).map_err(|error| ExitFailure::io("create", &tail, &error))?;
        Ok(Self { backup, taken, folder, journal: None, known: 0, files: Vec::new() })
    }

    pub(super) fn copy_journal(&mut self, data: &Path, limit: u64, checks_all: bool) -> Result<(), ExitFailure> {
        let known = if checks_all { Vec::new() } else { self.backup.known() };
        let (sealed, tail) = (self.backup.sealed(), self.folder.join(journal::FOLDER));
        let to = BackupFolders { sealed: &sealed, tail: &tail };
        let mut bar = ProgressReporter::new_for("copying the journal");
        let copied = journal::back_up(data, limit, &known, to, &mut |step| bar.show(step.read, step.total))?;
        self.known = known.len();
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
            if files::copy(&data.join(&name), &self.folder.join(&name))? {
                self.files.push(files::describe(&self.folder, &name)?);
            }
        }
        self.copy_old_users(data)
    }

    /// The file of an older version, until a server has imported it.
    fn copy_old_users(&mut self, data: &Path) -> Result<(), ExitFailure> {
        let path = self.folder.join(access::FILE);
        if !access::copy_old_file(data, &path)? {
            return Ok(());
        }
        files::sync(&path).map_err(|error| ExitFailure::io("sync", &path, &error))?;
        self.files.push(files::describe(&self.folder, access::FILE)?);
        Ok(())
    }

    /// From here on it is a backup.
    pub(super) fn finish(self, identity: &DataDirIdentity) -> Result<String, ExitFailure> {
        let segments = self.journal.as_ref().map(|journal| journal.segments.as_slice()).unwrap_or_default();
        let manifest = Manifest::new(identity, self.taken, segments, self.files.clone())
            .ok_or_else(|| ExitFailure::new(Exit::Failed, "nothing was copied"))?;
        manifest.write(&self.folder)?;
        let (unfinished, named) = self.backup.names_of(manifest.sequence, self.taken);
        let failed = |error| ExitFailure::io("complete", &named, &error);
        files::sync_folders(&unfinished).map_err(failed)?;
        fs::rename(&unfinished, &named).map_err(failed)?;
        named.parent().map_or(Ok(()), files::sync).map_err(failed)?;
        Ok(self.summary(&manifest, &named))
    }

    fn summary(&self, manifest: &Manifest, named: &Path) -> String {
        let Manifest { sequence, time, head, segments, files, .. } = manifest;
        let new: Vec<_> = segments.iter().skip(self.known).collect();
        let bytes: u64 = new.iter().map(|segment| segment.bytes).sum();
        format!(
            "backup         {}\nlast sequence  {sequence}\nlast record    {time}\nhead           {head}\n\
             segments       {}, {} new with {bytes} bytes\nother files    {}\n",
            named.display(),
            segments.len(),
            new.len(),
            files.len()
        )
    }
}
