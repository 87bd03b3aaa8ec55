//! Configuration ▸ composition ▸ run. A library with a thin binary, `rialto`.

/// A second copy of a data folder, and the way back from it.
pub mod backup;
/// The command line: its arguments, and what each command does.
pub mod cli;
/// One server of a cluster.
pub mod cluster;
/// The one clock of the program.
pub mod clock;
/// Configuration in, running parts out.
pub mod compose;
/// Files, environment, flags and profiles.
pub mod config;
/// The kill switch without a network.
pub mod control;
/// Strategies in processes of their own.
pub mod distributed;
/// Who may come in: users, tokens, and where the server may listen.
pub mod bind_policy;
/// Why the program ends.
pub mod exit_failure;
/// What a server stands on before its engine runs.
pub mod data_dir;
/// Logs on standard error.
pub mod logging;
/// What is wrong with something a person wrote.
pub mod input_problem;
/// Servers, login and TLS in files about NATS.
mod nats_tables;
/// How many files and connections there may be.
pub mod open_files;
/// How far a long work is.
pub mod progress;
/// The line that says where the server listens.
pub mod ready_line;
/// Exchanges, securities, accounts and strategies from CSV files.
pub mod reference;
/// Simulation Mode: a plan in, results out.
pub mod simulate;
/// SIGTERM, SIGINT, SIGHUP and SIGUSR1.
pub mod signals;
/// The certificate of the TLS ports.
pub mod tls;
/// Users and tokens in the journal: of a running server, and of a folder that no server holds.
pub mod users;
/// The types of venues, and the commands about them.
pub mod venues;

pub use cli::{run, run_with, strategy_template};
pub use venues::venue_types;
