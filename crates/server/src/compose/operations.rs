//! What an operator may do with the running program: see its parameters, metrics and log, read reference data, stop it.

use std::collections::BTreeMap;
use std::path::Path;

use bus::ServerAdmin;
use bus::operations::{LogLine, ReferenceError};
use crossbeam_channel::Sender;

use super::metrics::ProgramMetrics;
use super::reference_import::ReferenceImporter;
use crate::logging;

pub(super) struct ServerOperations {
    pub(super) parameters: BTreeMap<String, String>,
    pub(super) importer: ReferenceImporter,
    pub(super) metrics: ProgramMetrics,
    pub(super) stop: Sender<()>,
}

impl ServerAdmin for ServerOperations {
    fn parameters(&self) -> BTreeMap<String, String> {
        self.parameters.clone()
    }

    fn shutdown(&self) {
        // A stop that was asked for already is as good.
        self.stop.try_send(()).unwrap_or(());
    }

    fn load_reference(&self, folder: Option<&Path>) -> Result<usize, ReferenceError> {
        self.importer.read(folder)
    }

    fn write_metrics(&self, text: &mut String) {
        self.metrics.write(text);
    }

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        logging::recent_lines()
    }
}
