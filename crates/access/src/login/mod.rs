//! Login: passwords, secrets, sessions, and the delay after failed attempts.

pub(crate) mod password;
pub(crate) mod password_cache;
pub(crate) mod secret;
pub(crate) mod sessions;
pub(crate) mod login_throttle;
