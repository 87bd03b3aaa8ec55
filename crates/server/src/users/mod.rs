//! Users and tokens are records of the journal. A running server appends them through its engine; the command line asks it to, or
//! appends them itself where no server runs.

pub(crate) mod journal_log;
pub(crate) mod follower_log;
pub(crate) mod offline_log;
pub mod requests;
pub(crate) mod execute;
pub(crate) mod audit_view;
pub(crate) mod audit_watch;
