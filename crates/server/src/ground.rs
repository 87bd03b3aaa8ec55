//! What a server stands on before its engine runs: the folder, its identity, the clock, the desk.

use std::path::Path;
use std::sync::Arc;

use storage::StorageError;
use storage::lock::FolderLock;

use crate::clock::SystemClock;
use crate::config::{Config, ReferencePath};
use crate::failure::{Exit, Failure};
use crate::instance::Instance;
use crate::private;
use crate::reference::{self, Desk};

pub struct Ground {
    pub lock: FolderLock,
    pub instance: Instance,
    pub clock: Arc<SystemClock>,
    /// What `reference.path` says, empty where it is not set: its reference data counts at first start only, its
    /// opening quotes whenever a simulated market begins. For an import, what the folder says.
    pub desk: Desk,
}

impl Ground {
    pub fn prepare(config: &Config) -> Result<Self, Failure> {
        // Files are read before the folder is touched: a mistake in them leaves no trace.
        let desk = config.reference_path.as_ref().map(read).transpose()?.unwrap_or_default();
        Self::on(FolderLock::take(&config.data_dir)?, config, desk)
    }

    /// For `rialto import`: with the desk of that folder.
    pub fn prepare_import(config: &Config, folder: &Path) -> Result<Self, Failure> {
        let desk = read(&ReferencePath::Folder(folder.to_owned()))?;
        tracing::info!("read {}: {desk}", folder.display());
        Self::on(FolderLock::take(&config.data_dir).map_err(say_how_to_import)?, config, desk)
    }

    fn on(lock: FolderLock, config: &Config, desk: Desk) -> Result<Self, Failure> {
        private::close(lock.folder())?;
        let instance = Instance::of(&lock)?;
        Ok(Self { lock, instance, clock: Arc::new(SystemClock::new(config.clock_offset.0)), desk })
    }
}

fn read(path: &ReferencePath) -> Result<Desk, Failure> {
    reference::read(path).map_err(|problems| Failure::reference(&problems))
}

fn say_how_to_import(error: StorageError) -> Failure {
    match error {
        StorageError::Locked { .. } => {
            let advice = "a server holds it and serves no HTTP yet, so wait for it or stop it, and import again";
            Failure::new(Exit::InUse, format!("{error}: {advice}"))
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
        let first = Ground::prepare(&config).unwrap();
        assert_eq!(first.desk, reference::demo());
        let instance = first.instance;
        drop(first);
        assert_eq!(Ground::prepare(&config).unwrap().instance, instance);
    }

    #[test]
    fn a_second_server_on_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let config = config_in(folder.path(), &[]);
        let _first = Ground::prepare(&config).unwrap();
        let refused = Ground::prepare(&config).err().unwrap();
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
        let _running = Ground::prepare(&config).unwrap();
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/reference");
        let refused = Ground::prepare_import(&config, &demo).err().unwrap();
        assert_eq!(refused.exit, Exit::InUse);
        let advice = ": a server holds it and serves no HTTP yet, so wait for it or stop it, and import again";
        assert!(refused.to_string().ends_with(advice), "{refused}");
    }

    #[test]
    fn wrong_reference_data_leaves_the_folder_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let config = config_in(&data, &["reference.path=nowhere"]);
        assert_eq!(Ground::prepare(&config).err().unwrap().exit, Exit::Refused);
        assert!(!data.exists());
    }
}
