//! Authentication and authorisation: users, tokens, sessions, login throttling, audit. One SQLite file (`access.sqlite`
//! in the data folder), shared by the server and the command line. Every interface calls [`Access::authenticate`].

mod name;
mod role;
mod password;
mod secret;
mod error;
mod schema;
mod register;
mod settings;
mod audit;
mod refusals;
mod recorder;
mod picture;
mod proven;
mod turns;
mod slowdown;
mod sessions;
mod pass;
mod access;
mod identity;
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
