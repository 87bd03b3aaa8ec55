//! `rialto venue serve` runs the venue lab until a signal; `rialto venue certify` runs a client through its faults.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use tokio::sync::oneshot;
use venue_lab::{CertifyRequest, LabConfig, LabError, LedgerError, RunningLab};

use crate::config::{Config, Sources};
use crate::data_dir::private;
use crate::exit_failure::{Exit, ExitFailure};
use crate::{logging, signals};

#[derive(Debug, Subcommand)]
pub enum VenueCommand {
    /// Run the venue lab: an exchange that speaks the protocols of real venues
    ///
    /// When it serves, it prints one line of JSON with the addresses of its interfaces on standard output. Logs go to standard
    /// error. SIGTERM or Ctrl-C stops it in order. Its ledger is in the data folder; a restart goes on from there.
    #[command(verbatim_doc_comment)]
    Serve {
        /// Configuration file (TOML) with symbols and accounts
        #[arg(value_name = "CONFIG")]
        config: Option<PathBuf>,
        /// Two accounts with keys of every kind, five symbols, and any free ports
        #[arg(long)]
        demo: bool,
        /// Where ledger and keys are kept
        #[arg(long, value_name = "DIR", default_value = "venue-data")]
        data_dir: PathBuf,
        /// One key of the configuration; may be repeated
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// Run a client through the faults of the venue lab and compare its books with the ledger
    ///
    /// The client is started once for each fault, with a lab of its own. The environment names its files: RIALTO_VENUE_READY (the
    /// lab's ready line), RIALTO_VENUE_PLAN (what to trade) and RIALTO_VENUE_BOOKS (to be written: orders, trades, balances).
    /// The last line is N passed, M failed, K not shown; report.json and report.html name the first difference of each.
    #[command(verbatim_doc_comment)]
    Certify {
        /// Command line of the client, for the shell
        #[arg(long, value_name = "COMMAND")]
        client: String,
        /// Names of faults with commas between them, or all
        #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
        faults: Vec<String>,
        /// Chooses the requests and events that are struck
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        seed: u64,
        /// Seconds after which a client is ended
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        timeout: u64,
        /// Folder for the reports and the files of each fault
        #[arg(long, value_name = "DIR", default_value = "venue-certificate")]
        report: PathBuf,
    },
}

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
