//! Configuration: the entries (`RawConfig`) become checked values (`Config`).
//!
//! Flags win over the environment, the environment over the file, the file over profiles, profiles over defaults.

mod arguments;
pub mod entry;
pub mod effective;
pub mod environment;
mod toml_file;
pub mod key;
pub mod keys;
mod limit_keys;
mod to_domain;
pub mod messaging;
pub mod names;
mod pegs;
pub mod profile;
mod simulated_keys;
mod venues;
pub mod raw;
pub mod strategies;
pub mod setting;
pub mod show;

#[cfg(test)]
mod tests;

pub use arguments::ConfigArgs;
pub use entry::RawConfig;
pub use key::Key;
pub use keys::{Config, all_keys};
pub use names::{FilePath, HostName, ListenPort, SessionFile, WebOrigin};
pub use pegs::Peg;
pub use raw::Sources;
pub use setting::{AnonymousRole, Fraction, JournalTicks, LogFormat, LogLevel, MarketActivity, ReferencePath};
pub use venues::ConfiguredVenue;

use crate::input_problem::Problems;
use effective::ConfigReader;

impl Config {
    pub fn load(sources: &Sources) -> Result<Self, Problems> {
        Self::from_raw(RawConfig::gather(sources))
    }

    pub fn from_raw(raw: RawConfig) -> Result<Self, Problems> {
        Self::read(ConfigReader::from_raw(raw, all_keys().collect()))
    }
}
