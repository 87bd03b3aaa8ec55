//! Access tests: a real file, and a clock that is set by hand.

#![allow(clippy::unwrap_used, reason = "a failing step ends the test")]

mod access_fixture;

/// Anonymous access.
mod anonymous;
/// The audit trail.
mod audit;
/// The file itself: two processes, bad files, names.
mod file;
/// Grants of open connections.
mod passes;
/// Passwords: right, wrong, cached, guessed.
mod passwords;
/// Sessions and their end.
mod sessions;
/// User settings.
mod settings;
/// Tokens and their end.
mod tokens;
