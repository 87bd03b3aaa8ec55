//! File modes: the data folder can be read by its owner alone, because it holds orders, positions and keys.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::Mode;

use crate::exit_failure::ExitFailure;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const ANYONE_ELSE: u32 = 0o077;

/// Files that this process creates can be read by their owner alone.
pub fn create_for_owner_only() {
    rustix::process::umask(Mode::from_raw_mode(ANYONE_ELSE));
}

/// Closes files that an older build or another program left readable for others.
pub fn close(folder: &Path) -> Result<(), ExitFailure> {
    close_all(folder).map_err(|error| ExitFailure::io("close to others", folder, &error))
}

fn close_all(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let wanted = match found.file_type() {
        kind if kind.is_dir() => FOLDER_MODE,
        kind if kind.is_file() => FILE_MODE,
        _ => return Ok(()),
    };
    // Files of another user that are closed already may stay as they are.
    if found.permissions().mode() & ANYONE_ELSE != 0 {
        fs::set_permissions(path, Permissions::from_mode(wanted)).or_else(|error| tolerate(error, path))?;
    }
    if wanted == FOLDER_MODE {
        close_entries(path).or_else(|error| tolerate(error, path))?;
    }
    Ok(())
}

fn close_entries(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        close_all(&path).or_else(|error| tolerate(error, &path))?;
    }
    Ok(())
}

/// SQLite deletes its own files at any time. What belongs to another user (`lost+found`, a file that an administrator put
/// there) cannot be closed, and must not keep the server from starting.
fn tolerate(error: io::Error, path: &Path) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        io::ErrorKind::PermissionDenied => {
            tracing::warn!(path = %path.display(), %error, "cannot be closed to other users: it belongs to one of them");
            Ok(())
        }
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_stood_open_is_closed_with_all_that_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let [inner, file, link] = ["journal", "journal/head", "elsewhere"].map(|name| folder.path().join(name));
        fs::create_dir(&inner).unwrap();
        fs::write(&file, "head").unwrap();
        std::os::unix::fs::symlink("/", &link).unwrap();
        for (path, mode) in [(folder.path(), 0o755), (inner.as_path(), 0o755), (file.as_path(), 0o644)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        close(folder.path()).unwrap();
        let modes = [folder.path(), &inner, &file].map(|path| fs::metadata(path).unwrap().permissions().mode() & 0o777);
        assert_eq!(modes, [0o700, 0o700, 0o600]);
    }
}
