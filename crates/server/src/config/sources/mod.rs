//! Where the configuration comes from: profiles, file, environment, flags.

pub mod entry;
pub mod raw;
pub mod profile;
pub mod toml_file;
pub mod environment;
