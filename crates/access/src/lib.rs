//! Who is it, which role, may it. One file (`access.sqlite` in the data folder) holds users, tokens, settings and the audit; the
//! server and the command line may both have it open. Every door asks [`Access::authenticate`], and nobody else.

/// Names of users and tokens.
mod name;
/// What somebody may do.
mod role;

/// Passwords at rest.
mod password;
/// Tokens and the secrets of sessions.
mod secret;

/// Why the file could not do what was asked.
mod error;
/// Tables, step by step.
mod schema;
/// Users and tokens in the file.
mod register;
/// What each user keeps of his own.
mod settings;
/// What was refused, and what was done with power.
mod audit;
/// How often somebody was turned away.
mod refusals;
/// Entries of the audit on their way to the file, many in one commit.
mod recorder;

/// Users and tokens at a glance, as new as it must be.
mod picture;
/// Passwords that were right a moment ago.
mod proven;
/// Equal attempts take turns.
mod turns;
/// Whoever guesses waits.
mod slowdown;
/// Who is logged in.
mod sessions;
/// What let somebody in, for connections that stay.
mod pass;

/// The one question: who is it?
mod access;
/// Credentials, identities, and why somebody is turned away.
mod identity;
/// By which names we may be called, and whose pages may act.
mod hosts;

pub use access::{Access, Anonymous, Clock, Settings};
pub use audit::{AUDIT_PAGE_MAX, Actor, DONE, Door, Entry, Recorded, Visit};
pub use error::AccessError;
pub use hosts::OurHosts;
pub use identity::{Credentials, Denied, Identity};
pub use name::{Name, NotAName};
pub use pass::Pass;
pub use password::{NotAPassword, PASSWORD_BYTES_MAX, PASSWORD_LENGTH_MIN, Password};
pub use register::{FILE, NewToken, Refused, Register, TOKEN_DAYS_MAX, Token, User};
pub use role::{NotARole, Role};
pub use secrecy::{ExposeSecret, SecretString};
pub use secret::Secret;
pub use sessions::{SESSION_HOURS_MAX, SESSION_IDLE_MINUTES_MAX};
pub use settings::UserSettings;
