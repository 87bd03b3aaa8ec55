//! Configuration: the entries (`RawConfig`) become checked values (`Config`).
//!
//! Flags win over the environment, the environment over the file, the file over profiles, profiles over defaults.

pub mod sources;
pub mod effective;
pub mod values;
pub mod keys;
mod to_domain;
mod venues;
pub mod show;

#[cfg(test)]
mod tests;

pub use keys::key::Key;
pub use keys::{Config, all_keys};
pub use sources::entry::RawConfig;
pub use sources::raw::{ConfigArgs, Sources};
pub use values::history_store::HistoryStore;
pub use values::names::{FilePath, HostName, ListenPort, SessionFile, WebOrigin};
pub use values::pegs::Peg;
pub use values::setting::{AnonymousRole, Fraction, JournalTicks, LogFormat, LogLevel, MarketActivity, ReferencePath};
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
