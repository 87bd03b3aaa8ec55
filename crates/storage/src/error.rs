//! Storage errors, with file and offset.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum StorageError {
    /// The system refused an operation.
    Io { doing: &'static str, path: PathBuf, error: io::Error },
    /// SQLite refused an operation.
    Sqlite { doing: &'static str, path: PathBuf, error: rusqlite::Error },
    /// Bytes on disk are not what was written, and it is not the torn end of the last write.
    Damaged(Damage),
    /// Something else remembers what the journal no longer has.
    Lost(Loss),
    /// Records up to and with `floor` were verified and deleted.
    Pruned { floor: u64 },
    /// Another process owns the data folder.
    Locked { folder: PathBuf, owner: String },
    /// A setting that cannot work.
    Setting { name: &'static str, reason: String },
    /// An earlier write or sync failed; nothing is accepted after it.
    Failed { reason: String },
}

/// The first place where the bytes on disk are wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub file: PathBuf,
    pub offset: u64,
    pub reason: String,
}

/// The end of a journal that is gone, and who knows of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The data folder.
    pub folder: PathBuf,
    /// The last sequence that the journal has.
    pub end: u64,
    /// Never empty: what knows more, and how much.
    pub known: Vec<String>,
}

/// The remains of a write that a crash cut off, at the very end of the last file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornWrite {
    pub file: PathBuf,
    pub offset: u64,
    pub bytes: u64,
}

impl StorageError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { doing, path: path.to_owned(), error }
    }

    pub(crate) fn sqlite(doing: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        move |error| Self::Sqlite { doing, path: path.to_owned(), error }
    }

    pub(crate) fn damaged(file: &Path, offset: u64, reason: impl Into<String>) -> Self {
        Self::Damaged(Damage { file: file.to_owned(), offset, reason: reason.into() })
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, error } => {
                let full = if error.kind() == io::ErrorKind::StorageFull { "the disk is full: " } else { "" };
                write!(f, "{full}cannot {doing} {}: {error}", path.display())
            }
            Self::Sqlite { doing, path, error } => write!(f, "cannot {doing} {}: {error}", path.display()),
            Self::Damaged(damage) => damage.fmt(f),
            Self::Lost(loss) => loss.fmt(f),
            Self::Pruned { floor } => write!(
                f,
                "records up to {floor} were deleted from the archive (rialto journal prune), and no snapshot stands in for them; \
                 a backup from before has them"
            ),
            Self::Locked { folder, owner } => {
                write!(f, "the data folder {} is in use by another process ({owner})", folder.display())
            }
            Self::Setting { name, reason } => write!(f, "{name}: {reason}"),
            Self::Failed { reason } => write!(f, "refused after an earlier failure: {reason}"),
        }
    }
}

impl std::error::Error for StorageError {}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged at offset {}: {}", self.file.display(), self.offset, self.reason)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (folder, end) = (self.folder.display(), self.end);
        write!(f, "the journal in {folder} lost its end: it ends at {end}, but {}. ", self.known.join(", and "))?;
        write!(f, "Bring the missing files back from a copy. Where they are gone for good, ")?;
        write!(f, "rialto journal accept-loss --data-dir {folder} --up-to {end} goes on without them")
    }
}

impl fmt::Display for TornWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has a torn end at offset {}, {} bytes", self.file.display(), self.offset, self.bytes)
    }
}
