//! Files beside the journal, copied with their hashes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use storage::file_system::{FileSystem, OsFileSystem};

use super::manifest::ManifestFile;
use crate::exit_failure::{Exit, ExitFailure};

/// What is being written has this end.
pub(super) const UNFINISHED: &str = ".new";

/// The files below a folder, as names below `root`, in order; none where it does not exist.
pub(super) fn names_below(root: &Path, folder: &str) -> Result<Vec<String>, ExitFailure> {
    let mut names = Vec::new();
    let start = root.join(folder);
    if start.is_dir() {
        collect(&start, folder, &mut names).map_err(|error| ExitFailure::io("list", &start, &error))?;
    }
    names.sort();
    Ok(names)
}

fn collect(folder: &Path, name: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), &name, names)?;
        } else if kind.is_file() {
            names.push(name);
        }
    }
    Ok(())
}

/// A copy whose bytes are on the disk; none where the file went away meanwhile, as a file that is being replaced does.
pub(super) fn copy(from: &Path, to: &Path) -> Result<bool, ExitFailure> {
    let failed = |error: io::Error| ExitFailure::io("copy", from, &error);
    create_parent(to).map_err(failed)?;
    // With its permissions: a file may hold passwords.
    match fs::copy(from, to) {
        Ok(_) => OsFileSystem.sync_file(to).map(|()| true).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

pub(super) fn describe(root: &Path, name: &str) -> Result<ManifestFile, ExitFailure> {
    let path = root.join(name);
    let failed = |error: io::Error| ExitFailure::io("read", &path, &error);
    let bytes = fs::metadata(&path).map_err(failed)?.len();
    let blake3 = storage::file_system::digest(&path).map_err(failed)?;
    Ok(ManifestFile { file: name.to_owned(), bytes, blake3 })
}

/// The file of a backup, if it still is what the manifest says.
pub(super) fn checked(root: &Path, listed: &ManifestFile) -> Result<PathBuf, ExitFailure> {
    let path = root.join(&listed.file);
    let is_below = !Path::new(&listed.file).components().any(|part| !matches!(part, std::path::Component::Normal(_)));
    if is_below && path.is_file() && describe(root, &listed.file)? == *listed {
        return Ok(path);
    }
    let text = format!("{} is not what its backup says: it is missing or was changed", path.display());
    Err(ExitFailure::new(Exit::Damaged, text))
}

pub(super) fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}
