//! The folder of the backups of one data folder.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use storage::journal::{CopiedSegment, JournalFloor};
use storage::lock::DataDirLock;

use super::arguments::PointInTime;
use super::files::UNFINISHED;
use super::manifest::Manifest;
use crate::data_dir::identity::DataDirIdentity;
use crate::exit_failure::{Exit, ExitFailure};

const SEALED: &str = "journal";
const POINTS: &str = "points";

pub(super) struct BackupFolder {
    /// One backup at a time; absent where it is only read.
    _lock: Option<DataDirLock>,
    folder: PathBuf,
    /// Oldest first.
    points: Vec<BackupPoint>,
}

pub(super) struct BackupPoint {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
}

impl BackupFolder {
    /// To add a backup of that data folder. What a backup that was cut off has left is removed.
    pub(super) fn open(folder: &Path, identity: &DataDirIdentity) -> Result<Self, ExitFailure> {
        let lock = DataDirLock::acquire(folder)?;
        let opened = Self { _lock: Some(lock), folder: folder.to_owned(), points: Vec::new() };
        for inner in [opened.sealed(), opened.points_folder()] {
            fs::create_dir_all(&inner).map_err(|error| ExitFailure::io("create", &inner, &error))?;
            remove_unfinished(&inner)?;
        }
        let opened = opened.with_points()?;
        match opened.points.iter().find(|point| point.manifest.instance != identity.to_string()) {
            None => Ok(opened),
            Some(foreign) => {
                let text = format!("{} is a backup of another data folder", foreign.folder.display());
                Err(ExitFailure::new(Exit::Refused, format!("{text}: take another folder for this one")))
            }
        }
    }

    /// To read from.
    pub(super) fn look(folder: &Path) -> Result<Self, ExitFailure> {
        let found = Self { _lock: None, folder: folder.to_owned(), points: Vec::new() };
        if !found.points_folder().is_dir() {
            return Err(ExitFailure::new(Exit::Refused, format!("there is no backup in {}", folder.display())));
        }
        found.with_points()
    }

    fn with_points(mut self) -> Result<Self, ExitFailure> {
        for folder in entries(&self.points_folder())? {
            let is_named = folder.is_dir() && !is_unfinished(&folder);
            if is_named {
                let manifest = Manifest::read(&folder)?;
                self.points.push(BackupPoint { folder, manifest });
            }
        }
        Ok(self)
    }

    pub(super) fn sealed(&self) -> PathBuf {
        self.folder.join(SEALED)
    }

    fn points_folder(&self) -> PathBuf {
        self.folder.join(POINTS)
    }

    /// Where a point is made, and what it is called when it is complete.
    pub(super) fn names_of(&self, sequence: u64, taken: Timestamp) -> (PathBuf, PathBuf) {
        let name = format!("{sequence:020}-{}", taken.0);
        (self.unfinished(taken), self.points_folder().join(name))
    }

    pub(super) fn unfinished(&self, taken: Timestamp) -> PathBuf {
        self.points_folder().join(format!("{}{UNFINISHED}", taken.0))
    }

    /// Where they begin; none where they are all.
    pub(super) fn known_floor(&self) -> Option<JournalFloor> {
        self.points.last().and_then(|point| point.manifest.floor())
    }

    /// The newest backup.
    pub(super) fn newest(&self) -> Option<&BackupPoint> {
        self.points.last()
    }

    /// The files of sealed segments, as the newest backup knows them.
    pub(super) fn copies(&self) -> Vec<(PathBuf, CopiedSegment)> {
        let sealed = self.sealed();
        self.known().into_iter().map(|segment| (sealed.join(&segment.file), segment)).collect()
    }

    /// The segments that it has already.
    pub(super) fn known(&self) -> Vec<CopiedSegment> {
        let mut known = self.points.last().and_then(|point| point.manifest.copied()).unwrap_or_default();
        // The last one was still written to.
        known.pop();
        known
    }

    pub(super) fn newest_sequence(&self) -> u64 {
        self.points.iter().map(|point| point.manifest.sequence).max().unwrap_or(0)
    }

    /// The oldest point that has all up to there.
    pub(super) fn find(&self, to: Option<PointInTime>) -> Result<&BackupPoint, ExitFailure> {
        let refused = |text: String| Err(ExitFailure::new(Exit::Refused, text));
        let Some(newest) = self.points.last() else {
            return refused(format!("there is no backup in {}", self.folder.display()));
        };
        let has = |point: &&BackupPoint| match to {
            None => false,
            Some(PointInTime::Sequence(sequence)) => point.manifest.sequence >= sequence,
            Some(PointInTime::Instant(at)) => point.manifest.at().is_some_and(|last| last >= at),
        };
        match (to, self.points.iter().find(has)) {
            (None, _) => Ok(newest),
            (Some(_), Some(found)) => Ok(found),
            (Some(_), None) => {
                let Manifest { sequence, time, .. } = &newest.manifest;
                refused(format!("--to is after the newest backup, which ends with record {sequence} of {time}"))
            }
        }
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ExitFailure> {
    let failed = |error: std::io::Error| ExitFailure::io("list", folder, &error);
    let listed = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        listed.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

fn is_unfinished(path: &Path) -> bool {
    path.to_string_lossy().ends_with(UNFINISHED)
}

fn remove_unfinished(folder: &Path) -> Result<(), ExitFailure> {
    for path in entries(folder)?.into_iter().filter(|path| is_unfinished(path)) {
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(|error| ExitFailure::io("remove", &path, &error))?;
    }
    Ok(())
}
