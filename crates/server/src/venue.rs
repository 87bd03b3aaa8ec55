//! `rialto venue serve` runs the venue lab until a signal; `rialto venue certify` runs a client through its faults.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tokio::sync::oneshot;
use venue_lab::{CertifyRequest, LabConfig, LabError, LedgerError, RunningLab};

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
    print_line(&lab.ready_line())?;
    lab.run_until(stop).map_err(failure)
}

pub(crate) fn certify(request: &CertifyRequest) -> Result<(), ExitFailure> {
    let certificate = venue_lab::certify(request, &mut |line| {
        // Who closed the output reads the report.
        let _ = print_line(line);
    });
    let certificate = certificate.map_err(failure)?;
    print_line(&certificate.to_string())?;
    if certificate.failed == 0 {
        return Ok(());
    }
    let report = request.folder.join("report.html");
    Err(ExitFailure::new(Exit::Failed, format!("the client failed; {} names the differences", report.display())))
}

fn print_line(line: &str) -> Result<(), ExitFailure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("cannot write to standard output: {error}")))
}

fn failure(error: LabError) -> ExitFailure {
    match error {
        LabError::Storage(error) | LabError::Ledger(LedgerError::Storage(error)) => error.into(),
        LabError::Ledger(LedgerError::Lost { .. }) => ExitFailure::new(Exit::Damaged, error.to_string()),
        LabError::Config(_) | LabError::Ledger(LedgerError::Configuration) => {
            ExitFailure::new(Exit::Refused, error.to_string())
        }
        LabError::Io(..) | LabError::Exchange => ExitFailure::new(Exit::Failed, error.to_string()),
    }
}
