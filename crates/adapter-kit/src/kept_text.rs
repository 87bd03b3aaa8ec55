//! Short text that an adapter keeps over restarts: in a file, and in a cluster in the journal too, so that the member that takes over
//! has it.

use std::fs;
use std::io;
use std::path::PathBuf;

use adapters::AdapterRecords;

use crate::file_write::write_durably;

pub struct KeptText {
    path: PathBuf,
    /// With the name of the record, which is the file's ending. None where no other member can take over.
    records: Option<(AdapterRecords, String)>,
}

impl KeptText {
    /// In this file alone.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), records: None }
    }

    /// In this file, and in the journal where there are records.
    pub fn new(path: impl Into<PathBuf>, records: Option<AdapterRecords>) -> Self {
        let path = path.into();
        let name = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        Self { records: records.map(|records| (records, name)), path }
    }

    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// The journal wins: the file may be older, because another member has led since. What only the file has, from before there was
    /// a cluster, goes into the journal now.
    pub fn read(&self) -> io::Result<Option<String>> {
        let recorded = self.records.as_ref().and_then(|(records, name)| records.read(name));
        if recorded.is_some() {
            return Ok(recorded);
        }
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        self.record(&text)?;
        Ok(Some(text))
    }

    /// Returns when it is on the disk. In the journal it is in front of everything that the adapter reports from now on.
    pub fn write(&self, text: &str) -> io::Result<()> {
        write_durably(&self.path, text.as_bytes())?;
        self.record(text)
    }

    fn record(&self, text: &str) -> io::Result<()> {
        let Some((records, name)) = &self.records else { return Ok(()) };
        records.write(name, text).map(drop).map_err(|error| io::Error::other(error.to_string()))
    }
}
