//! Users and tokens: names, roles, their store, and the file of older versions.

pub(crate) mod name;
pub(crate) mod role;
pub(crate) mod principal;
pub(crate) mod user_store;
pub(crate) mod user_directory;
pub(crate) mod settings;
pub(crate) mod old_schema;
pub(crate) mod old_file;
