//! Command line flags of the configuration sources.

use std::path::PathBuf;

use clap::Args;

use super::environment;
use super::raw::Sources;

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
