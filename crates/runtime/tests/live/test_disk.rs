//! A disk for tests: real files without real syncs, which hang, fail or have no space on demand.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use storage::file_system::{FileSystem, OsFileSystem, WritableFile};

/// Nothing here takes long; a test that waits this long hangs.
const HANG: Duration = Duration::from_secs(60);

const IO_ERROR: i32 = 5;
const NO_SPACE: i32 = 28;

#[derive(Default)]
pub(crate) struct TestDisk(Arc<Faults>);

#[derive(Default)]
struct Faults {
    syncs_fail: AtomicBool,
    writes_fail: AtomicBool,
    /// New files cannot be filled.
    is_full: AtomicBool,
    hold: Mutex<Option<SyncHold>>,
}

/// While it is set, a sync of a segment signals that it has begun and waits for a permit.
#[derive(Clone)]
struct SyncHold {
    begun: Sender<()>,
    permits: Receiver<()>,
}

/// Syncs of the journal that hang. Dropped, it permits them all.
pub(crate) struct HeldSyncs {
    begun: Receiver<()>,
    permits: Sender<()>,
}

impl HeldSyncs {
    pub(crate) fn wait_begun(&self) {
        self.begun.recv_timeout(HANG).expect("the journal is synced");
    }

    /// The sync that hangs returns; the next one hangs again.
    pub(crate) fn permit_one(&self) {
        self.permits.send_timeout((), HANG).expect("a sync hangs");
    }
}

impl TestDisk {
    /// From now on each sync of the journal hangs until it is permitted.
    pub(crate) fn hold_syncs(&self) -> HeldSyncs {
        let ((begun, has_begun), (permit, permits)) = (unbounded(), bounded(0));
        *self.0.hold.lock().unwrap() = Some(SyncHold { begun, permits });
        HeldSyncs { begun: has_begun, permits: permit }
    }

    pub(crate) fn fail_syncs(&self) {
        self.0.syncs_fail.store(true, Ordering::SeqCst);
    }

    pub(crate) fn fail_writes(&self) {
        self.0.writes_fail.store(true, Ordering::SeqCst);
    }

    pub(crate) fn fill_up(&self) {
        self.0.is_full.store(true, Ordering::SeqCst);
    }

    fn wrap(&self, inner: Box<dyn WritableFile>, is_new: bool) -> Box<dyn WritableFile> {
        Box::new(TestFile { inner, is_new, faults: self.0.clone() })
    }
}

impl FileSystem for TestDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        Ok(self.wrap(OsFileSystem.create(path)?, true))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        Ok(self.wrap(OsFileSystem.open(path)?, false))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        OsFileSystem.truncate(path, length)
    }
}

struct TestFile {
    inner: Box<dyn WritableFile>,
    is_new: bool,
    faults: Arc<Faults>,
}

impl WritableFile for TestFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if self.is_new && self.faults.is_full.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(NO_SPACE));
        }
        if !self.is_new && self.faults.writes_fail.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(IO_ERROR));
        }
        self.inner.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        let hold = self.faults.hold.lock().unwrap().clone().filter(|_| !self.is_new);
        if let Some(SyncHold { begun, permits }) = hold {
            let _ = begun.send(());
            let _ = permits.recv();
        }
        match self.faults.syncs_fail.load(Ordering::SeqCst) {
            true => Err(io::Error::from_raw_os_error(IO_ERROR)),
            false => Ok(()),
        }
    }
}
