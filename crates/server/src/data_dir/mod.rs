//! Data directory: what a server needs before its engine runs: the folder, its identity, the clock, the reference data.

pub mod identity;
pub mod private;
pub mod server_file;
pub mod traces;

use std::path::Path;
use std::sync::Arc;

use storage::StorageError;
use storage::lock::DataDirLock;

use crate::clock::SystemClock;
use crate::config::{Config, ReferencePath};
use crate::exit_failure::{Exit, ExitFailure};
use crate::reference::{self, ReferenceSet};
use identity::DataDirIdentity;

pub struct DataDir {
    pub lock: DataDirLock,
    pub instance: DataDirIdentity,
    pub clock: Arc<SystemClock>,
    /// What `reference.path` says, empty where it is not set: its reference data counts at first start only, its
    /// opening quotes whenever a simulated market begins. For an import, what the folder says.
    pub reference: ReferenceSet,
}

impl DataDir {
    pub fn open(config: &Config) -> Result<Self, ExitFailure> {
        // Files are read before the folder is touched: a mistake in them leaves no trace.
        let reference = config.reference_path.as_ref().map(read).transpose()?.unwrap_or_default();
        Self::with_lock(DataDirLock::acquire(&config.data_dir)?, config, reference)
    }

    /// For `rialto import`: with the reference data of that folder.
    pub fn open_for_import(config: &Config, folder: &Path) -> Result<Self, ExitFailure> {
        let reference = read(&ReferencePath::Folder(folder.to_owned()))?;
        tracing::info!("read {}: {reference}", folder.display());
        Self::with_lock(DataDirLock::acquire(&config.data_dir).map_err(explain_locked)?, config, reference)
    }

    fn with_lock(lock: DataDirLock, config: &Config, reference: ReferenceSet) -> Result<Self, ExitFailure> {
        private::close(lock.folder())?;
        let instance = DataDirIdentity::load(&lock)?;
        Ok(Self { lock, instance, clock: Arc::new(SystemClock::new(config.clock_offset.0)), reference })
    }
}

fn read(path: &ReferencePath) -> Result<ReferenceSet, ExitFailure> {
    reference::read(path).map_err(|problems| ExitFailure::reference(&problems))
}

fn explain_locked(error: StorageError) -> ExitFailure {
    match error {
        StorageError::Locked { .. } => {
            let advice = "a server holds it and serves no HTTP yet, so wait for it or stop it, and import again";
            ExitFailure::new(Exit::InUse, format!("{error}: {advice}"))
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;

    fn config_in(folder: &Path, set: &[&str]) -> Config {
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        Config::load(&Sources { data_dir: Some(folder.to_owned()), set, ..Sources::default() }).unwrap()
    }

    #[test]
    fn the_demo_stands_on_an_empty_folder() {
        let folder = tempfile::tempdir().unwrap();
        let config = config_in(&folder.path().join("data"), &[]);
        let first = DataDir::open(&config).unwrap();
        assert_eq!(first.reference, reference::demo());
        let instance = first.instance;
        drop(first);
        assert_eq!(DataDir::open(&config).unwrap().instance, instance);
    }

    #[test]
    fn a_second_server_on_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let config = config_in(folder.path(), &[]);
        let _first = DataDir::open(&config).unwrap();
        let refused = DataDir::open(&config).err().unwrap();
        let expected = format!(
            "the data folder {} is in use by another process (pid {})",
            folder.path().display(),
            std::process::id()
        );
        assert_eq!((refused.exit, refused.to_string()), (Exit::InUse, expected));
    }

    #[test]
    fn an_import_beside_a_server_that_does_not_serve_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let config = config_in(folder.path(), &[]);
        let _running = DataDir::open(&config).unwrap();
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/reference");
        let refused = DataDir::open_for_import(&config, &demo).err().unwrap();
        assert_eq!(refused.exit, Exit::InUse);
        let advice = ": a server holds it and serves no HTTP yet, so wait for it or stop it, and import again";
        assert!(refused.to_string().ends_with(advice), "{refused}");
    }

    #[test]
    fn wrong_reference_data_leaves_the_folder_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let config = config_in(&data, &["reference.path=nowhere"]);
        assert_eq!(DataDir::open(&config).err().unwrap().exit, Exit::Refused);
        assert!(!data.exists());
    }
}
