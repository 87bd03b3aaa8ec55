//! Dictionary cache: sessions with the same setting share one dictionary.

use fix::{Dictionary, DictionaryChoice};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Default)]
pub struct DictionaryCache {
    /// The folder of the settings file.
    folder: PathBuf,
    files: BTreeMap<String, Arc<Dictionary>>,
}

impl DictionaryCache {
    /// A path is relative to the current folder, as in QuickFIX; where that file does not exist, to the settings file.
    pub fn for_settings_file(settings_file: &Path) -> Self {
        let folder = settings_file.parent().unwrap_or(Path::new("")).to_owned();
        Self { folder, ..Self::default() }
    }

    pub fn get(&mut self, choice: &DictionaryChoice) -> Result<Option<Arc<Dictionary>>, String> {
        match choice {
            DictionaryChoice::None => Ok(None),
            DictionaryChoice::BuiltIn => Ok(Some(Dictionary::shared_fix44_with_extensions())),
            DictionaryChoice::File(path) => self.file(path).map(Some),
        }
    }

    fn file(&mut self, path: &str) -> Result<Arc<Dictionary>, String> {
        if let Some(known) = self.files.get(path) {
            return Ok(known.clone());
        }
        let read = |path: &Path| std::fs::read_to_string(path);
        let text = read(Path::new(path)).or_else(|error| read(&self.folder.join(path)).map_err(|_| error));
        let text = text.map_err(|error| format!("DataDictionary {path}: {error}"))?;
        let read = Dictionary::from_quickfix_xml(&text).map_err(|error| format!("DataDictionary {path}: {error}"))?;
        Ok(self.files.entry(path.to_owned()).or_insert(Arc::new(read)).clone())
    }
}
