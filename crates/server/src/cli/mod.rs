//! Command line: from arguments to an exit code.

pub mod arguments;
pub mod commands;
pub mod user_admin;
pub mod accept_loss;
pub mod remote_import;
pub mod fix_command;
pub mod strategy_commands;
pub mod strategy_template;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Parser;

use crate::logging;
use arguments::Cli;

/// How long the last word may wait for somebody to read it.
const LAST_WORD_MAX: Duration = Duration::from_secs(1);

/// Reads the arguments and does what they ask.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_with(strategy::samples::registry(), arguments)
}

/// As [`run`], with strategies of one's own.
pub fn run_with(strategies: strategy::StrategyRegistry, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Help and version are no mistakes: clap prints them on standard output and its code is 0.
        Err(answer) => answer.exit(),
    };
    let done = commands::execute(cli.command, strategies);
    logging::finish();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(format!("rialto: {failure}"));
            failure.exit.into()
        }
    }
}

/// Standard error that nobody reads does not keep the program from ending.
fn say(text: String) {
    let (said, heard) = mpsc::channel();
    thread::spawn(move || {
        eprintln!("{text}");
        said.send(())
    });
    // Whoever has not read it by then does not read.
    let _ = heard.recv_timeout(LAST_WORD_MAX);
}
