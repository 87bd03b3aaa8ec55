//! `rialto venue …` on the command line.

use std::path::PathBuf;

use clap::Subcommand;

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
