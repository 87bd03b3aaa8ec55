//! Users: login, tokens, roles, settings, audit.

pub(crate) mod login;
pub(crate) mod user;
pub(crate) mod token;
pub(crate) mod settings;
pub(crate) mod audit;
