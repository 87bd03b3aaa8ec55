//! Results folder, replaced as a whole at the end of a run. A run writes to a staging folder, so that a rejected or
//! failed run leaves the earlier results unchanged, and the results of two runs are never mixed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::exit_failure::ExitFailure;

pub(super) struct ResultsFolder {
    folder: PathBuf,
    temporary_files: Arc<TemporaryFiles>,
}

/// Temporary files, removed when a run ends early.
pub(super) struct TemporaryFiles {
    /// Within the results folder and so on the same file system.
    staging: PathBuf,
    /// Folders that were created for the run, the innermost first.
    made: Vec<PathBuf>,
    /// Held while files are moved or removed: an interrupt leaves all of the results or none.
    moving: Mutex<()>,
}

impl ResultsFolder {
    /// `tell` receives the temporary files before they are created, so that the interrupt handler can remove them.
    pub(super) fn open(
        folder: &Path,
        tell: impl FnOnce(Arc<TemporaryFiles>) -> io::Result<()>,
    ) -> Result<Self, ExitFailure> {
        let aside = folder.join(format!(".unfinished-{}", std::process::id()));
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        let traces = Arc::new(TemporaryFiles { staging: aside, made, moving: Mutex::new(()) });
        let output = Self { folder: folder.to_owned(), temporary_files: traces };
        let aside = output.staging();
        tell(output.temporary_files.clone())
            .and_then(|()| fs::create_dir_all(aside))
            .map_err(|error| ExitFailure::io("create", aside, &error))?;
        Ok(output)
    }

    /// The folder to which the run writes.
    pub(super) fn staging(&self) -> &Path {
        &self.temporary_files.staging
    }

    /// The run is over: its files replace those of the run before. Other files in the folder stay.
    pub(super) fn publish(self) -> Result<(), ExitFailure> {
        self.move_results().map_err(|error| ExitFailure::io("write", &self.folder, &error))
    }

    fn move_results(&self) -> io::Result<()> {
        let _moving = self.temporary_files.lock();
        for entry in fs::read_dir(self.staging())? {
            let entry = entry?;
            fs::rename(entry.path(), self.folder.join(entry.file_name()))?;
        }
        Ok(())
    }
}

impl TemporaryFiles {
    /// Removes what was created for the run and not published; a folder that is not empty stays. Nothing is published
    /// meanwhile, nor while `then` runs.
    pub(super) fn remove(&self, then: impl FnOnce()) {
        let _moving = self.lock();
        let _ = fs::remove_dir_all(&self.staging);
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
        then();
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ResultsFolder {
    fn drop(&mut self) {
        self.temporary_files.remove(|| ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_run_that_fails_leaves_no_trace() {
        let home = tempfile::tempdir().unwrap();
        let output = ResultsFolder::open(&home.path().join("of/mine"), |_| Ok(())).unwrap();
        fs::write(output.staging().join("fills.csv"), "half").unwrap();
        drop(output);
        assert_eq!(names(home.path()), Vec::<String>::new());
    }

    #[test]
    fn a_run_that_ends_replaces_the_results_before_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("fills.csv"), "old").unwrap();
        fs::write(home.path().join("notes.txt"), "mine").unwrap();
        let output = ResultsFolder::open(home.path(), |_| Ok(())).unwrap();
        fs::write(output.staging().join("fills.csv"), "new").unwrap();
        assert_eq!(fs::read_to_string(home.path().join("fills.csv")).unwrap(), "old");
        output.publish().unwrap();
        assert_eq!(names(home.path()), ["fills.csv", "notes.txt"]);
        assert_eq!(fs::read_to_string(home.path().join("fills.csv")).unwrap(), "new");
    }
}
