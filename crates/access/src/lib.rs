//! Authentication and authorisation: users, tokens, sessions, login throttling, audit. One SQLite file (`access.sqlite`
//! in the data folder), shared by the server and the command line. Every interface calls [`Access::authenticate`].

mod name;
mod role;
mod password;
mod secret;
mod error;
mod schema;
mod user_store;
mod settings;
mod audit;
mod refusal_counts;
mod audit_writer;
mod user_directory;
mod password_cache;
mod attempt_locks;
mod login_throttle;
mod sessions;
mod grant;
mod access;
mod identity;
mod hosts;

pub use access::{Access, AccessClock, AccessSettings, AnonymousPolicy};
pub use audit::{AUDIT_PAGE_MAX, AccessChannel, AccessRequest, Actor, AuditEntry, AuditRow, DONE};
pub use error::AccessError;
pub use grant::AccessGrant;
pub use hosts::HostPolicy;
pub use identity::{AccessCredentials, AccessDenied, Identity};
pub use name::{InvalidName, PrincipalName};
pub use password::{InvalidPassword, PASSWORD_BYTES_MAX, PASSWORD_LENGTH_MIN, Password};
pub use role::{InvalidRole, UserRole};
pub use secrecy::{ExposeSecret, SecretString};
pub use secret::Secret;
pub use sessions::{SESSION_HOURS_MAX, SESSION_IDLE_MINUTES_MAX};
pub use settings::UserSettings;
pub use user_store::{AccessToken, FILE, NewToken, TOKEN_DAYS_MAX, User, UserStore, UserStoreError};
