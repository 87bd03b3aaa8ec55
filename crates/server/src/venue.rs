//! `rialto venue serve`: runs the venue lab until a signal.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tokio::sync::oneshot;
use venue_lab::{LabConfig, LabError, LedgerError, RunningLab};

use crate::config::{Config, Sources};
use crate::exit_failure::{Exit, ExitFailure};
use crate::{logging, private, signals};

pub(crate) fn serve(file: Option<&Path>, is_demo: bool, folder: &Path, settings: &[String]) -> Result<(), ExitFailure> {
    let server = Config::load(&Sources::default()).map_err(|problems| ExitFailure::configuration(&problems))?;
    logging::start(&server);
    let text = file.map(|path| fs::read_to_string(path).map_err(|error| ExitFailure::io("read", path, &error)));
    let config = LabConfig::load(text.transpose()?.as_deref(), is_demo, settings)
        .map_err(|error| failure(LabError::Config(error)))?;
    let (sender, stop) = oneshot::channel();
    let begin = move || {
        // A lab that has ended by itself does not wait for a signal.
        let _ = sender.send(());
    };
    signals::on_stop(begin)
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("cannot wait for signals: {error}")))?;
    let lab = RunningLab::start(config, folder).map_err(failure)?;
    private::close(folder)?;
    print_ready(&lab.ready_line())?;
    lab.run_until(stop).map_err(failure)
}

fn print_ready(line: &str) -> Result<(), ExitFailure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("cannot write to standard output: {error}")))
}

fn failure(error: LabError) -> ExitFailure {
    match error {
        LabError::Storage(error) | LabError::Ledger(LedgerError::Storage(error)) => error.into(),
        LabError::Config(_) | LabError::Ledger(LedgerError::Configuration) => {
            ExitFailure::new(Exit::Refused, error.to_string())
        }
        LabError::Io(..) | LabError::Exchange => ExitFailure::new(Exit::Failed, error.to_string()),
    }
}
