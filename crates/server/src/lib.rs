//! Configuration ▸ composition ▸ run. A library with a thin binary, `rialto`.

/// The way back after a loss of the journal.
pub mod accept_loss;
/// A second copy of a data folder, and the way back from it.
pub mod backup;
/// Where a running server is found.
pub mod server_file;
/// The command line.
pub mod cli;
/// The one clock of the program.
pub mod clock;
/// What each command does.
pub mod commands;
/// Configuration in, running parts out.
pub mod compose;
/// Files, environment, flags and profiles.
pub mod config;
/// The kill switch without a network.
pub mod control;
/// Strategies in processes of their own.
pub mod distributed;
/// Who may come in: users, tokens, and where the doors may stand open.
pub mod bind_policy;
/// Why the program ends.
pub mod exit_failure;
pub mod fix_command;
/// What a server stands on before its engine runs.
pub mod data_dir;
/// The identity of a data folder.
pub mod data_dir_identity;
/// Logs on standard error.
pub mod logging;
/// The right word for a misspelt one.
pub mod nearest;
/// What is wrong with something a person wrote.
pub mod input_problem;
/// How many files and connections there may be.
pub mod open_files;
/// Passwords, typed or piped.
pub mod passwords;
/// Users and tokens, from the command line.
pub mod user_admin;
/// Nobody else's business.
pub mod private;
/// How far a long work is.
pub mod progress;
/// The line that says where the doors are.
pub mod ready_line;
/// Exchanges, securities, accounts and strategies from CSV files.
pub mod reference;
/// From arguments to an exit code.
mod run;
/// Simulation Mode: a plan in, results out.
pub mod simulate;
/// What strategies there are, and how one gets one's own.
pub mod strategy_commands;
/// A crate for strategies of one's own.
pub mod strategy_template;
/// Our own server over TLS, known by the certificate in its files.
mod pinned_tls;
/// What the command line asks of a running server.
pub mod remote_import;
/// SIGTERM, SIGINT, SIGHUP and SIGUSR1.
pub mod signals;
/// What else remembers how far the journal was.
pub mod traces;
/// The certificate of the TLS doors.
pub mod tls;
/// The venue lab, from the command line.
mod venue;
/// The arguments of its commands.
pub mod venue_command;
/// The first contact with a configured venue.
pub mod venue_check;
/// What a configured venue lists.
pub mod venue_symbols;
/// It as a folder of reference data.
mod symbol_folder;
/// The types of venues there are.
pub mod venue_types;
/// The configured venues, from the command line.
pub mod venues_command;

pub use run::{run, run_with};
