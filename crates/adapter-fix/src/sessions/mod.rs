//! Sessions with a venue: the order session, those beside it, their numbers and their log-on.

use std::path::PathBuf;

pub(crate) mod logon_fields;
mod lost_reports;
pub(crate) mod number_store;
pub(crate) mod request_rate;
pub(crate) mod session;
pub(crate) mod session_runtime;
pub(crate) mod side_session;
pub(crate) mod report_confirmation;
pub(crate) mod drop_copy;

/// Where the sequence numbers of each session are.
pub(crate) struct SessionFiles {
    pub(crate) orders: PathBuf,
    pub(crate) prices: PathBuf,
    pub(crate) drop_copy: PathBuf,
}
