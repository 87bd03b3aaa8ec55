//! Authentication and authorisation: users, tokens, sessions, login throttling, audit. Users, tokens, settings and audit are records
//! of the journal, behind the port [`AdminLog`]. Every interface calls [`Access::authenticate`].

mod users;
mod login;
mod error;
mod environment;
mod admin_log;
mod audit;
mod grant;
mod access;
mod identity;
mod hosts;

pub use access::{Access, AccessClock, AccessSettings, AnonymousPolicy};
pub use admin_log::{AdminLog, AdminLogError, DurableAdminRecord, MemoryAdminLog};
pub use audit::entry::{AUDIT_PAGE_MAX, AccessChannel, AccessRequest, Actor, AuditEntry, AuditRow, DONE};
pub use audit::view::{AUDIT_FILE, AuditView};
pub use environment::{AccessEnvironment, AccessWork, PasswordCost, RandomError};
pub use error::AccessError;
pub use grant::AccessGrant;
pub use hosts::HostPolicy;
pub use identity::{AccessCredentials, AccessDenied, Identity};
pub use login::password::{InvalidPassword, PASSWORD_BYTES_MAX, PASSWORD_LENGTH_MIN, Password, PasswordDigest};
pub use login::secret::Secret;
pub use login::sessions::{SESSION_HOURS_MAX, SESSION_IDLE_MINUTES_MAX, SESSIONS_MAX};
pub use secrecy::{ExposeSecret, SecretString};
pub use users::name::{InvalidName, PrincipalName};
pub use users::old_file::{FILE, ImportedFile, OldFileSummary, copy_old_file, import_old_file, look_at_old_file};
pub use users::principal::{AccessToken, User};
pub use users::role::{InvalidRole, UserRole};
pub use users::settings::UserSettings;
pub use users::user_store::{NewToken, TOKEN_DAYS_MAX, UserStore, UserStoreError};
