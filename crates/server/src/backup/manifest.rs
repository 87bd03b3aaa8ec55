//! The manifest of a backup: what it has, and by which hashes that is known.

use std::fs;
use std::path::Path;

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use storage::file_system::{OsFileSystem, write_durable};
use storage::journal::{ChainHash, CopiedJournal, CopiedSegment, JournalFloor};
use storage::snapshot;

use crate::data_dir::identity::DataDirIdentity;
use crate::exit_failure::{Exit, ExitFailure};

pub(super) const FILE: &str = "manifest.json";
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// The version that took it.
    pub(super) rialto: String,
    /// As in the file `instance` of the data folder.
    pub(super) instance: String,
    pub(super) taken: String,
    /// Of the last record.
    pub(super) sequence: u64,
    pub(super) time: String,
    /// The hash of the last frame: it proves the whole journal.
    pub(super) head: String,
    /// Where the journal begins, if what is before was deleted from the archive and no earlier backup had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) floor: Option<ManifestFloor>,
    /// In order; the last is in this backup's own folder, the others are shared.
    pub(super) segments: Vec<ManifestSegment>,
    pub(super) files: Vec<ManifestFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestSegment {
    pub(super) file: String,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) bytes: u64,
    pub(super) head: String,
}

/// The last frame that was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestFloor {
    /// The number of its segment.
    pub(super) segment: u64,
    pub(super) sequence: u64,
    pub(super) head: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestFile {
    /// Below the folder of the backup, and of the data folder.
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) blake3: String,
}

impl Manifest {
    pub(super) fn new(
        identity: &DataDirIdentity,
        taken: Timestamp,
        journal: &CopiedJournal,
        files: Vec<ManifestFile>,
    ) -> Option<Self> {
        let end = journal.end()?;
        Some(Self {
            format: FORMAT,
            rialto: env!("CARGO_PKG_VERSION").to_owned(),
            instance: identity.to_string(),
            taken: taken.to_string(),
            sequence: end.last,
            time: Timestamp(end.time).to_string(),
            head: end.head.to_string(),
            floor: journal.floor.as_ref().map(ManifestFloor::of),
            segments: journal.segments.iter().map(ManifestSegment::of).collect(),
            files,
        })
    }

    pub(super) fn read(folder: &Path) -> Result<Self, ExitFailure> {
        let path = folder.join(FILE);
        let damaged = |reason: &dyn std::fmt::Display| {
            ExitFailure::new(Exit::Damaged, format!("{} cannot be used: {reason}", path.display()))
        };
        let text = fs::read_to_string(&path).map_err(|error| ExitFailure::io("read", &path, &error))?;
        let manifest: Self = serde_json::from_str(&text).map_err(|error| damaged(&error))?;
        if manifest.format != FORMAT {
            return Err(damaged(&format!("format {} is not known, this program reads {FORMAT}", manifest.format)));
        }
        let is_floor_good = manifest.floor.is_none() || manifest.floor().is_some();
        if !is_floor_good || manifest.identity().is_none() || manifest.copied().is_none() || manifest.at().is_none() {
            return Err(damaged(&"an identity, a hash or a time in it is wrong"));
        }
        Ok(manifest)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), ExitFailure> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self).expect("texts and numbers are always JSON");
        write_durable(&OsFileSystem, &path, format!("{text}\n").as_bytes())
            .map_err(|error| ExitFailure::io("write", &path, &error))
    }

    pub(super) fn identity(&self) -> Option<DataDirIdentity> {
        DataDirIdentity::parse(&self.instance)
    }

    /// The time of its last record.
    pub(super) fn at(&self) -> Option<Timestamp> {
        self.time.parse().ok()
    }

    /// The file of the snapshot that stands in for what is before the floor.
    pub(super) fn base(&self) -> Option<String> {
        let mut names = self.files.iter().map(|listed| &listed.file);
        names.find(|name| Path::new(name).starts_with(snapshot::FOLDER)).cloned()
    }

    pub(super) fn floor(&self) -> Option<JournalFloor> {
        let ManifestFloor { segment, sequence, head } = self.floor.as_ref()?;
        let (instance, hash) = (self.identity()?.journal_id(), head.parse().ok()?);
        Some(JournalFloor { instance, segment: *segment, sequence: *sequence, hash })
    }

    pub(super) fn copied(&self) -> Option<Vec<CopiedSegment>> {
        self.segments.iter().map(ManifestSegment::copied).collect()
    }
}

impl ManifestFloor {
    fn of(floor: &JournalFloor) -> Self {
        Self { segment: floor.segment, sequence: floor.sequence, head: floor.hash.to_string() }
    }
}

impl ManifestSegment {
    fn of(segment: &CopiedSegment) -> Self {
        let CopiedSegment { file, first, last, bytes, head, .. } = segment;
        Self { file: file.clone(), first: *first, last: *last, bytes: *bytes, head: head.to_string() }
    }

    fn copied(&self) -> Option<CopiedSegment> {
        let head: ChainHash = self.head.parse().ok()?;
        let Self { file, first, last, bytes, .. } = self.clone();
        Some(CopiedSegment { file, first, last, time: 0, bytes, head })
    }
}
