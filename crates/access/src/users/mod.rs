//! Users and tokens: names, roles, and the file that stores them.

pub(crate) mod name;
pub(crate) mod role;
pub(crate) mod schema;
pub(crate) mod user_store;
pub(crate) mod user_directory;
pub(crate) mod settings;
