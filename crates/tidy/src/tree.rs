//! The files of the repository, read once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Folders with generated files, at any depth.
const GENERATED_FOLDERS: [&str; 5] = ["target", "node_modules", ".git", "dist", "__pycache__"];

/// The data folder of a server that is started here; ignored by git at the root only.
const DATA_FOLDER: &str = "data";

/// A file of text; the path is relative to the root and uses `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    pub path: String,
    pub text: String,
}

impl TextFile {
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Lines with their numbers, counted from 1.
    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Every file and its text where it has one, in the order of paths.
#[derive(Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, Option<TextFile>>,
}

impl Tree {
    /// Reads a repository from disk; links are not followed.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// A tree made of texts, for the tests of the rules.
    pub fn from_texts(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.insert((*path).to_owned(), Some((*text).to_owned()));
        }
        tree
    }

    /// The files that are text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &TextFile> {
        self.files.values().flatten()
    }

    pub(crate) fn text(&self, path: &str) -> Option<&TextFile> {
        self.files.get(path)?.as_ref()
    }

    /// Whether a file or a folder of that name exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty() || self.files.contains_key(path) || self.files.keys().any(|known| known.starts_with(&inside))
    }

    /// The names of the crates: folders under `crates/` that have a manifest.
    pub(crate) fn crates(&self) -> impl Iterator<Item = &str> {
        self.files.keys().filter_map(|path| {
            let name = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
            (!name.contains('/')).then_some(name)
        })
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let kind = entry.file_type()?;
            let path = format!("{prefix}{name}");
            if kind.is_dir() && !is_skipped(&path, &name) {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                self.insert(path, String::from_utf8(fs::read(entry.path())?).ok());
            }
        }
        Ok(())
    }

    fn insert(&mut self, path: String, text: Option<String>) {
        let file = text.map(|text| TextFile { path: path.clone(), text });
        self.files.insert(path, file);
    }
}

fn is_skipped(path: &str, name: &str) -> bool {
    path == DATA_FOLDER || GENERATED_FOLDERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_with_a_manifest_are_crates() {
        let tree = Tree::from_texts(&[
            ("crates/bus/Cargo.toml", ""),
            ("crates/bus/fuzz/Cargo.toml", ""),
            ("crates/notes.md", ""),
        ]);
        assert_eq!(tree.crates().collect::<Vec<_>>(), ["bus"]);
    }

    #[test]
    fn a_folder_exists_when_it_contains_a_file() {
        let tree = Tree::from_texts(&[("docs/limits.md", "")]);
        assert!(tree.has("docs") && tree.has("docs/limits.md"));
        assert!(!tree.has("doc"));
    }

    #[test]
    fn the_data_folder_is_skipped_at_the_root_only() {
        assert!(is_skipped("data", "data"));
        assert!(!is_skipped("crates/domain/src/data", "data"));
        assert!(is_skipped("benches/matching/target", "target"));
    }
}
