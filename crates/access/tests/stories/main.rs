//! Stories about who may come in: a real file, a clock that is turned by hand.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// A desk with a file and a clock of its own.
mod desk;

/// Who is nobody in particular, and what he may do.
mod anonymous;
/// What is written down.
mod audit;
/// The file itself: two processes, bad files, names.
mod file;
/// Whether those who were let in may stay.
mod passes;
/// Passwords: right, wrong, remembered, guessed.
mod passwords;
/// Sessions and their end.
mod sessions;
/// What each keeps of his own.
mod settings;
/// Tokens and their end.
mod tokens;
