//! Raw configuration, by layer: profile, file, environment, flags of the command line. Only syntax is checked here.

use std::path::{Path, PathBuf};

use clap::Args;

use super::entry::{ConfigEntry, ConfigOrigin, RawConfig};
use super::environment::{self, VariableMeaning, meaning};
use super::profile::{ConfigProfile, DEFAULT_PROFILE, profile};
use super::toml_file;

/// The sources of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    pub file: Option<PathBuf>,
    pub profiles: Vec<String>,
    /// Name and value of every variable that begins with `RIALTO_`.
    pub environment: Vec<(String, String)>,
    /// `key=value`.
    pub set: Vec<String>,
    pub data_dir: Option<PathBuf>,
    pub ui_dir: Option<PathBuf>,
}

impl RawConfig {
    pub fn gather(sources: &Sources) -> Self {
        let mut raw = Self::default();
        raw.add_profiles(sources);
        if let Some(path) = &sources.file {
            raw.add_file(path);
        }
        for (variable, text) in &sources.environment {
            raw.add_variable(variable, text);
        }
        raw.add_flags(sources);
        raw
    }

    fn add_profiles(&mut self, sources: &Sources) {
        let mut names: Vec<&str> = sources.profiles.iter().map(String::as_str).collect();
        if names.is_empty() && sources.file.is_none() {
            names.push(DEFAULT_PROFILE);
        }
        for name in names {
            match profile(name) {
                Ok(profile) => self.add_profile(profile),
                Err(reason) => self.problems.add("--profile", reason),
            }
        }
    }

    fn add_profile(&mut self, profile: &'static ConfigProfile) {
        for (name, text) in profile.values {
            self.add(name, text, ConfigOrigin::Profile(profile.name));
        }
        self.profiles.push(profile);
    }

    fn add_file(&mut self, path: &Path) {
        match toml_file::read(path) {
            Ok(mut page) => {
                self.written.append(&mut page.written);
                self.problems.extend(page.problems);
            }
            Err(error) => self.problems.add(path.display(), format!("cannot be read: {error}")),
        }
    }

    fn add_variable(&mut self, variable: &str, text: &str) {
        match meaning(variable) {
            VariableMeaning::Name(name) => {
                self.add(&name, text, ConfigOrigin::Environment { variable: variable.to_owned() });
            }
            VariableMeaning::Misspelt(right) => {
                self.problems.add(variable, format!("unknown variable; did you mean '{right}'?"));
            }
            VariableMeaning::Foreign => {
                self.notices.push(format!("{variable} in the environment is no key and changes nothing"));
            }
            VariableMeaning::OfOurTools => {}
        }
    }

    fn add_flags(&mut self, sources: &Sources) {
        for assignment in &sources.set {
            match assignment.split_once('=') {
                Some((name, text)) => self.add(name.trim(), text.trim(), ConfigOrigin::Flag("--set")),
                None => self.problems.add("--set", format!("'{assignment}' is not KEY=VALUE")),
            }
        }
        if let Some(folder) = &sources.data_dir {
            self.add("data.dir", &folder.to_string_lossy(), ConfigOrigin::Flag("--data-dir"));
        }
        if let Some(folder) = &sources.ui_dir {
            self.add("ui.dir", &folder.to_string_lossy(), ConfigOrigin::Flag("--ui-dir"));
        }
    }

    fn add(&mut self, name: &str, text: &str, origin: ConfigOrigin) {
        self.written.push(ConfigEntry { name: name.to_owned(), text: text.to_owned(), origin });
    }
}

/// Where the configuration comes from.
#[derive(Debug, Default, Args)]
pub struct ConfigArgs {
    /// Configuration file (TOML).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Profile to switch on; may be repeated, later ones win [default without --config: demo].
    #[arg(long = "profile", value_name = "NAME")]
    profiles: Vec<String>,
    /// One key of the configuration; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where everything is kept [default: data].
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// Only a server serves the UI.
    #[arg(skip)]
    ui_dir: Option<PathBuf>,
}

impl ConfigArgs {
    /// With the environment of this process.
    pub fn into_sources(self) -> Sources {
        let Self { config, profiles, set, data_dir, ui_dir } = self;
        Sources { file: config, profiles, environment: environment::variables(), set, data_dir, ui_dir }
    }

    /// Sets the key strategies.distributed.
    pub fn with_processes(mut self, distributed: bool) -> Self {
        if distributed {
            self.set.push("strategies.distributed=true".to_owned());
        }
        self
    }

    pub fn with_screen(self, ui_dir: Option<PathBuf>) -> Self {
        Self { ui_dir, ..self }
    }
}
