//! The folder of the results. A run writes aside and its files come into the folder when it is over, so that a run which is
//! refused or fails leaves what was there before as it was, and the results of two runs are never mixed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

pub(super) struct Output {
    folder: PathBuf,
    /// Within the folder and so on the same disk, wherever the folder is mounted from.
    aside: PathBuf,
    /// Folders that were not there before, the innermost first.
    made: Vec<PathBuf>,
}

impl Output {
    pub(super) fn open(folder: &Path) -> Result<Self, Failure> {
        let aside = folder.join(format!(".unfinished-{}", std::process::id()));
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        let output = Self { folder: folder.to_owned(), aside, made };
        fs::create_dir_all(&output.aside).map_err(|error| Failure::io("create", &output.aside, &error))?;
        Ok(output)
    }

    /// Where the run writes.
    pub(super) fn aside(&self) -> &Path {
        &self.aside
    }

    /// The run is over: its files replace those of the run before. Whatever else is in the folder stays.
    pub(super) fn publish(self) -> Result<(), Failure> {
        self.move_in().map_err(|error| Failure::io("write", &self.folder, &error))
    }

    fn move_in(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.aside)? {
            let entry = entry?;
            fs::rename(entry.path(), self.folder.join(entry.file_name()))?;
        }
        Ok(())
    }
}

impl Drop for Output {
    /// What was made for the run and not published goes; a folder that has something in it stays.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.aside);
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
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
        let output = Output::open(&home.path().join("of/mine")).unwrap();
        fs::write(output.aside().join("fills.csv"), "half").unwrap();
        drop(output);
        assert_eq!(names(home.path()), Vec::<String>::new());
    }

    #[test]
    fn a_run_that_ends_replaces_the_results_before_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("fills.csv"), "old").unwrap();
        fs::write(home.path().join("notes.txt"), "mine").unwrap();
        let output = Output::open(home.path()).unwrap();
        fs::write(output.aside().join("fills.csv"), "new").unwrap();
        assert_eq!(fs::read_to_string(home.path().join("fills.csv")).unwrap(), "old");
        output.publish().unwrap();
        assert_eq!(names(home.path()), ["fills.csv", "notes.txt"]);
        assert_eq!(fs::read_to_string(home.path().join("fills.csv")).unwrap(), "new");
    }
}
