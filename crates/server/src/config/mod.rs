//! Configuration: the entries ([`RawConfig`]) become checked values ([`Config`]).
//!
//! Flags win over the environment, the environment over the file, the file over profiles, profiles over defaults.

mod arguments;
pub mod effective;
pub mod environment;
mod file;
pub mod faults;
pub mod keys;
mod meaning;
pub mod messaging;
pub mod names;
pub mod profile;
pub mod raw;
pub mod strategies;
pub mod setting;
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
