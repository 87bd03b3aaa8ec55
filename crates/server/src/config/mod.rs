//! Configuration: what was written ([`RawConfig`]) becomes what it means ([`Config`]).
//!
//! Flags win over the environment, the environment over the file, the file over profiles, profiles over defaults.

/// Flags that say where it comes from.
mod arguments;
/// The texts that win, with their origin.
pub mod effective;
/// Variables of the environment.
pub mod environment;
/// TOML files.
mod file;
/// Faults of simulated venues.
pub mod faults;
/// The one table of keys, and the configuration made of it.
pub mod keys;
/// The configuration in the words of the engine and the venues.
mod meaning;
/// Rates and destinations of topics.
pub mod messaging;
/// Ports, files, hosts, origins and venues by name.
pub mod names;
/// Named sets of values.
pub mod profile;
/// What was written, layer upon layer.
pub mod raw;
/// Strategies that run in the server.
pub mod strategies;
/// What a key can hold.
pub mod setting;
/// The configuration for readers: check-config, config-params, the sample file.
pub mod show;

#[cfg(test)]
mod tests;

pub use arguments::ConfigArgs;
pub use faults::{Fault, VenueFault};
pub use keys::{Config, KEYS, Key};
pub use meaning::{SIMULATED, Venue};
pub use names::{FilePath, Host, Port, Served, SessionFile, SimulatedVenue, WebOrigin};
pub use raw::{RawConfig, Sources};
pub use setting::{Activity, AnonymousRole, Fraction, JournalTicks, LogFormat, LogLevel, ReferencePath};

use crate::problem::Problems;
use effective::Reading;

impl Config {
    pub fn load(sources: &Sources) -> Result<Self, Problems> {
        Self::from_raw(RawConfig::gather(sources))
    }

    pub fn from_raw(raw: RawConfig) -> Result<Self, Problems> {
        Self::read(Reading::of(raw))
    }
}
