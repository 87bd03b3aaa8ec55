//! Authentication and authorisation: users, tokens, sessions, login throttling, audit. One SQLite file (`access.sqlite`
//! in the data folder), shared by the server and the command line. Every interface calls [`Access::authenticate`].

mod users;
mod login;
mod error;
mod audit;
mod audit_writer;
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
pub use login::password::{InvalidPassword, PASSWORD_BYTES_MAX, PASSWORD_LENGTH_MIN, Password};
pub use login::secret::Secret;
pub use login::sessions::{SESSION_HOURS_MAX, SESSION_IDLE_MINUTES_MAX};
pub use secrecy::{ExposeSecret, SecretString};
pub use users::name::{InvalidName, PrincipalName};
pub use users::role::{InvalidRole, UserRole};
pub use users::settings::UserSettings;
pub use users::user_store::{AccessToken, FILE, NewToken, TOKEN_DAYS_MAX, User, UserStore, UserStoreError};
