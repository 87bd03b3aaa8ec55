//! The sequence numbers of the FIX adapter's sessions on the simulated disk.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use adapter_fix::{NumberDisk, NumberFile};
use storage::{FileSystem, WritableFile};

use crate::disk::SimulatedDisk;

pub(super) struct SimulatedNumberDisk(Arc<dyn FileSystem>);

struct SimulatedNumberFile {
    file: Box<dyn WritableFile>,
    length: u64,
}

impl SimulatedNumberDisk {
    pub(super) fn of(disk: &SimulatedDisk) -> Arc<dyn NumberDisk> {
        Arc::new(Self(disk.shared()))
    }
}

impl NumberDisk for SimulatedNumberDisk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn NumberFile>> {
        let file = if path.exists() { self.0.open(path)? } else { self.0.create(path)? };
        Ok(Box::new(SimulatedNumberFile { file, length: std::fs::metadata(path)?.len() }))
    }

    fn replace(&self, path: &Path, line: &str) -> io::Result<Box<dyn NumberFile>> {
        let beside = path.with_extension("numbers.new");
        let mut made = SimulatedNumberFile { file: self.0.create(&beside)?, length: 0 };
        made.append(line)?;
        made.sync()?;
        self.0.rename(&beside, path)?;
        Ok(Box::new(made))
    }
}

impl NumberFile for SimulatedNumberFile {
    fn append(&mut self, line: &str) -> io::Result<()> {
        // The simulated disk takes all of it or nothing.
        self.file.write_at(line.as_bytes(), self.length)?;
        self.length += line.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    /// By a clock that is not simulated.
    fn written(&self) -> Option<SystemTime> {
        None
    }
}
