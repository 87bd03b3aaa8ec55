//! Reference data files: a folder, or the built-in demo.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use crate::config::ReferencePath;
use crate::input_problem::Problems;

/// The files with the demo's own texts, so that the program works from any folder.
const DEMO: [(&str, &str); 8] = [
    ("exchanges.csv", include_str!("../../../../demo/reference/exchanges.csv")),
    ("trading-hours.csv", include_str!("../../../../demo/reference/trading-hours.csv")),
    ("holidays.csv", include_str!("../../../../demo/reference/holidays.csv")),
    ("families.csv", include_str!("../../../../demo/reference/families.csv")),
    ("securities.csv", include_str!("../../../../demo/reference/securities.csv")),
    ("accounts.csv", include_str!("../../../../demo/reference/accounts.csv")),
    ("strategies.csv", include_str!("../../../../demo/reference/strategies.csv")),
    (OPENING, include_str!("../../../../demo/reference/opening.csv")),
];

/// Only simulated venues need it.
const OPENING: &str = "opening.csv";
/// A larger file is rejected before it is read.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// The texts of all files.
pub(super) struct ReferenceFiles(BTreeMap<&'static str, String>);

impl ReferenceFiles {
    pub(super) fn load(path: &ReferencePath) -> Result<Self, Problems> {
        match path {
            ReferencePath::Demo => Ok(Self(DEMO.into_iter().map(|(name, text)| (name, text.to_owned())).collect())),
            ReferencePath::Folder(folder) => Self::load_folder(folder),
        }
    }

    fn load_folder(folder: &Path) -> Result<Self, Problems> {
        let (mut texts, mut problems) = (BTreeMap::new(), Problems::default());
        for (name, _) in DEMO {
            match text_of(&folder.join(name)) {
                Ok(text) => drop(texts.insert(name, text)),
                Err(error) if name == OPENING && error.kind() == ErrorKind::NotFound => {}
                Err(error) => problems.add(folder.join(name).display(), format!("cannot be read: {error}")),
            }
        }
        problems.none_or(Self(texts))
    }

    /// The text of a file that is always present.
    pub(super) fn text(&self, name: &str) -> &str {
        self.optional(name).unwrap_or_default()
    }

    pub(super) fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

fn text_of(path: &Path) -> std::io::Result<String> {
    if std::fs::metadata(path)?.len() > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!("larger than {FILE_BYTES_MAX} bytes")));
    }
    std::fs::read_to_string(path)
}
