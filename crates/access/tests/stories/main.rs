//! Access tests: real files, and a clock that is set by hand.

#![allow(clippy::unwrap_used, reason = "a failing step ends the test")]

mod access_fixture;
mod recording_log;

/// Anonymous access.
mod anonymous;
/// The audit trail.
mod audit;
/// An environment of its own.
mod environment;
/// The file of older versions.
mod old_file;
/// Grants of open connections.
mod passes;
/// Passwords: right, wrong, cached, guessed.
mod passwords;
/// Sessions and their end.
mod sessions;
/// User settings.
mod settings;
/// The store: names, admins, restarts.
mod store;
/// Tokens and their end.
mod tokens;
