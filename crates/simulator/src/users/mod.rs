//! Users, tokens and log-ins: the real store and authentication over the simulated journal, an administrator who changes users over HTTP,
//! and clients who log in, use tokens and sessions, and try what must not work.

mod stepped_work;
mod service;
mod known_users;
mod administrator;
mod attempt;
mod client;
mod audit_claims;
mod traffic;

pub(crate) use known_users::AdminRecords;
pub(crate) use service::{SeededSecrets, UserService};
pub(crate) use traffic::{AnswerMoment, UserCounts, UserTraffic};
