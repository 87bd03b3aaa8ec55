//! Entries of a configuration, unchecked, each with its origin.

use std::fmt;
use std::path::PathBuf;

use super::profile::ConfigProfile;
use crate::input_problem::Problems;

/// An entry: a text for a key, both unchecked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEntry {
    pub name: String,
    pub text: String,
    pub origin: ConfigOrigin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigOrigin {
    Default,
    Profile(&'static str),
    File {
        path: PathBuf,
        line: usize,
    },
    Environment {
        variable: String,
    },
    Flag(&'static str),
    /// A setting of a venue that follows from a key.
    Derived {
        key: &'static str,
        from: Box<ConfigOrigin>,
    },
}

impl fmt::Display for ConfigOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(f, "default"),
            Self::Profile(name) => write!(f, "profile {name}"),
            Self::File { path, line } => write!(f, "{} line {line}", path.display()),
            Self::Environment { variable } => write!(f, "{variable}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Derived { key, from } => write!(f, "{key}, {from}"),
        }
    }
}

/// All entries; of two for a key the later one wins.
#[derive(Debug, Default)]
pub struct RawConfig {
    pub written: Vec<ConfigEntry>,
    pub profiles: Vec<&'static ConfigProfile>,
    pub notices: Vec<String>,
    /// Syntax problems.
    pub problems: Problems,
}
