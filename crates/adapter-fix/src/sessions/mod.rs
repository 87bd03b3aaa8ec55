//! Sessions with a venue: the order session, those beside it, their numbers and their log-on.

use std::path::PathBuf;
use std::sync::Arc;

use adapters::AdapterRecords;

use number_store::number_disk::{NumberDisk, OsNumberDisk};

pub(crate) mod logon_fields;
mod lost_reports;
mod session_numbers;
mod number_reservation;
pub(crate) mod number_store;
pub(crate) mod request_rate;
pub(crate) mod session;
pub(crate) mod session_runtime;
pub(crate) mod side_session;
pub(crate) mod report_confirmation;
pub(crate) mod drop_copy;

/// Where the sequence numbers of each session are.
pub(crate) struct SessionFiles {
    pub(crate) orders: NumberPlace,
    pub(crate) prices: NumberPlace,
    pub(crate) drop_copy: NumberPlace,
}

/// Where the sequence numbers of a session are.
#[derive(Clone)]
pub(crate) struct NumberPlace {
    pub(crate) file: PathBuf,
    /// In the journal of a cluster, under the name that the file has.
    pub(crate) records: Option<AdapterRecords>,
    pub(crate) disk: Arc<dyn NumberDisk>,
}

impl NumberPlace {
    pub(crate) fn file(file: PathBuf) -> Self {
        Self { file, records: None, disk: Arc::new(OsNumberDisk) }
    }
}
