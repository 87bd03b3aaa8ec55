//! Command line and its help.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::backup::arguments::{BackupArgs, RestoreArgs};
use crate::cli::fix_command::FixCommand;
use crate::cli::strategy_commands::StrategyCommand;
use crate::cli::user_admin::{RightsArgs, RoleArgs};
use crate::cluster::ha_command::HaCommand;
use crate::config::ConfigArgs;
use crate::simulate::arguments::SimulateArgs;
use crate::venues::venue_command::VenueCommand;
use crate::venues::venues_command::VenuesCommand;

/// Rialto, an open trading platform
///
/// Orders come in by any interface, pass one risk gate and one sequenced engine, are safe on disk before they are
/// published, and go to the venue of their account. Out of the box the venues are simulated: nothing to sign up for,
/// nothing to set up.
#[derive(Debug, Parser)]
#[command(name = "rialto", version, after_help = AFTER_HELP, arg_required_else_help = true, verbatim_doc_comment)]
pub struct Cli {
    #[command(subcommand)]
    pub command: CliCommand,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Run the server; without flags it opens a demo desk
    ///
    /// When it serves, it prints one line of JSON with its addresses on standard output. Logs go to standard error.
    /// SIGTERM or Ctrl-C stops it in order, a second one at once.
    #[command(verbatim_doc_comment)]
    Serve {
        #[command(flatten)]
        config: ConfigArgs,
        /// Take the trading screen from this folder, where it was built, and not from the program
        #[arg(long, value_name = "FOLDER")]
        ui_dir: Option<PathBuf>,
        /// Let strategies in processes of their own in: rialto strategy run
        #[arg(long)]
        distributed: bool,
        /// Be a member of a cluster, as this file says: rialto sample-cluster
        #[arg(long, value_name = "FILE")]
        cluster: Option<PathBuf>,
    },
    /// Read reference data from a folder of CSV files into the data folder
    ///
    /// Exchanges, families, securities, accounts and strategies. Only what differs is changed; a security that is
    /// missing in the files is removed, or made not tradeable where orders, positions or transactions refer to it.
    /// All errors in the files are listed, with file, line and column. A server that runs on
    /// the data folder is asked to do it; where users are configured, RIALTO_TOKEN holds the token of an admin.
    #[command(verbatim_doc_comment)]
    Import {
        /// Folder with exchanges.csv, trading-hours.csv, holidays.csv, families.csv, securities.csv, accounts.csv,
        /// strategies.csv and, for simulated venues, opening.csv.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Check the configuration and show what every key means and where it was set.
    CheckConfig(ConfigArgs),
    /// Print a commented configuration file with every key and its default.
    SampleConfig,
    /// Print a commented cluster file, for rialto serve --cluster.
    SampleCluster,
    /// Look at a journal, or go on after a loss.
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Back up a data folder, also while a server trades on it
    ///
    /// Copies what is durable and new since the last backup there, checks it, and prints the hash that proves it.
    #[command(verbatim_doc_comment)]
    Backup(BackupArgs),
    /// Make a data folder from a backup, up to any record or instant
    ///
    /// Writes nothing over: --data-dir must be new or empty. What comes out is a new instance, so that its ids never meet
    /// those of the first folder.
    #[command(verbatim_doc_comment)]
    Restore(RestoreArgs),
    /// Halt trading and cancel what is open, without a network
    ///
    /// Asks the server that runs on the data folder over its control socket, and returns when the kill is durable. Where that
    /// fails, SIGUSR1 to the server and a file named kill in the data folder kill everything too.
    // The help shows its text as it is.
    #[allow(rustdoc::invalid_html_tags)]
    #[command(verbatim_doc_comment)]
    Kill {
        /// What is to stop: PLATFORM, ACCOUNT-<id>, STRATEGY-<id> or SECURITY-<id>
        #[arg(long, value_name = "SCOPE")]
        scope: String,
        /// Why, for those who read it later
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Say how the server on a data folder is, without a network; the exit code is 1 where it is not ready.
    Status(ConfigArgs),
    /// Run strategies over prices of the past, on virtual time
    ///
    /// Writes a report (report.html, results.json, equity.csv, fills.csv, orders.csv, trades.csv) and prints a summary whose
    /// last line is the digest over orders, fills, positions and cash: the same on every run. `simulate generate` makes up
    /// prices. With --from-journal a live session is replayed instead, to the same digest.
    #[command(verbatim_doc_comment)]
    Simulate(Box<SimulateArgs>),
    /// What strategies there are, and a crate for one of your own.
    #[command(subcommand)]
    Strategy(StrategyCommand),
    /// The members of a cluster: who leads, and who shall.
    #[command(subcommand)]
    Ha(HaCommand),
    /// Manage users; a change counts at once, also where a server runs.
    #[command(subcommand)]
    User(UserCommand),
    /// Give programs a key of their own; a change counts at once, also where a server runs.
    #[command(subcommand)]
    Token(TokenCommand),
    /// An exchange in its own process, to try clients against.
    #[command(subcommand)]
    Venue(VenueCommand),
    /// The venues of the configuration.
    #[command(subcommand)]
    Venues(VenuesCommand),
    /// FIX: dialects of venues, a certification for clients, the sessions of a running server.
    #[command(subcommand)]
    Fix(FixCommand),
}

#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// Check every frame, checksum and link of a journal, and print the hash that proves all of it.
    ///
    /// Changes nothing, and may be called while a server runs.
    Verify(ConfigArgs),
    /// Pack full segments and move them to the folder archive of the data folder; they stay part of the journal.
    ///
    /// May be called while a server runs. A segment is removed when its packed copy was read back and is good.
    Archive {
        /// So many full segments stay as they are, the newest.
        #[arg(long, value_name = "SEGMENTS", default_value_t = 4)]
        keep: usize,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Delete the oldest segments of the archive, as archive.keepDays and archive.keepMegabytes say
    ///
    /// May be called while a server runs. Each segment is checked once more, frame by frame. A segment stays, and all after it,
    /// where no snapshot stands in for it, or where the backup does not have the same one. The journal then begins behind
    /// the last one that was deleted: journal verify says where, and points before the oldest snapshot can be restored only from
    /// the backup.
    #[command(verbatim_doc_comment, group = clap::ArgGroup::new("copies").required(true))]
    Prune {
        /// The folder of the backups, which must have what is deleted.
        #[arg(long, value_name = "BACKUP", group = "copies")]
        backup: Option<PathBuf>,
        /// Delete what no backup has, too: it is gone for good.
        #[arg(long, group = "copies")]
        without_backup: bool,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Go on without records that are lost for good
    ///
    /// A start is refused (exit code 4) where the journal is damaged, or where its head file, a snapshot, the read model or a
    /// simulated venue remembers more than it has. Bring the files back from a copy if there is one. If there is none, this
    /// cuts the journal behind its last good record, keeps the rest in the folder lost/ of the data folder, leaves out every
    /// number that may have been given since, and notes it in the audit. Accounts are halted whose venue has orders that are
    /// not known any more.
    #[command(verbatim_doc_comment)]
    AcceptLoss {
        /// The last sequence that is left, as the refusal names it: it confirms that the loss is known.
        #[arg(long, value_name = "SEQUENCE")]
        up_to: u64,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add a user
    ///
    /// The password is typed unseen, or read from standard input where that is no terminal. Once there is a user,
    /// every caller must log in unless auth.anonymousRole allows otherwise.
    #[command(verbatim_doc_comment)]
    Add {
        /// 1 to 64 letters, digits or any of . _ @ -
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        role: RoleArgs,
        /// Give an existing user a new password and role; open sessions end.
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Set what a user may trade; without options everything. Open sessions end.
    Rights {
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        rights: RightsArgs,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// List the users.
    List(ConfigArgs),
    /// Remove a user; open sessions end.
    Remove {
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token and print it, this once
    ///
    /// A program sends it as Authorization: Bearer TOKEN, or in the place of a password.
    #[command(verbatim_doc_comment)]
    New {
        /// 1 to 64 letters, digits or any of . _ @ -
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        role: RoleArgs,
        /// How long it is valid.
        #[arg(long, value_name = "DAYS", default_value_t = 90)]
        days: u32,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Set what a token may trade; without options everything. Its connections end.
    Rights {
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        rights: RightsArgs,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// List the tokens, without their secrets.
    List(ConfigArgs),
    /// Make a token worthless.
    Revoke {
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

const AFTER_HELP: &str = "\
Examples:
  rialto serve                                  a demo desk on http://localhost:9090
  rialto serve --set http.port=0                the same on any free port
  rialto serve --config desk.toml --data-dir /var/lib/rialto
  rialto sample-config > desk.toml              every key with its default, to begin with
  rialto check-config --config desk.toml        look before you leap
  rialto import reference/ --data-dir data      your own exchanges, securities and accounts
  rialto journal verify --data-dir data         prove that nothing was lost or changed
  rialto backup /mnt/backup --data-dir data     a second copy, also while the server trades
  rialto kill --scope PLATFORM --data-dir data  stop everything, also when no network interface answers
  rialto simulate demo/simulation/trend.toml    strategies over two years of prices, and a report
  rialto strategy new my-idea --rialto .        a crate for a strategy of your own
  rialto serve --distributed                    a desk that also lets strategy processes in, such as this one:
  rialto strategy run PAIRS --server http://localhost:9090
  rialto user add anna --role trader            from now on, callers log in
  rialto token new robot --role trader          a key for a program
  rialto venue serve --demo                     an exchange that speaks Binance's protocol, to try clients against

Data:
  Everything is kept in one folder, ./data unless --data-dir says otherwise: the journal, snapshots, the read model
  and the ledgers of simulated venues. One server at a time may use it. Delete it to begin anew.

Ports:
  HTTP 9090, HTTPS 9443, STOMP over TCP 61613, TLS 61612 and WebSocket 61614, FIX 9876, all on 127.0.0.1. The keys
  http.port, https.port, broker.tcp.port, broker.tls.port, broker.ws.port, fix.port and bind change them; port 0 takes
  any free one.

Configuration:
  A flag (--set http.port=0) wins over the environment (RIALTO_HTTP_PORT=0), the environment over the file (--config),
  the file over profiles (--profile demo, simulated, inbound-fix), profiles over defaults.

Exit codes:
  0    done, or stopped in order
  1    something failed: a disk, a port
  2    what was asked can't be: flags, configuration, reference data
  3    another server uses the data folder
  4    the data is damaged or lost; the message names file and offset, or who knows more
  5    a session that was replayed came out otherwise, or a follower's state is not the leader's
  6    another server of the cluster leads
  130  ended at once by a second signal";

#[cfg(test)]
mod tests;
