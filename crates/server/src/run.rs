//! From arguments to an exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::commands;

/// Reads the arguments and does what they ask.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_with(strategy::samples::registry(), arguments)
}

/// As [`run`], with strategies of one's own.
pub fn run_with(strategies: strategy::Registry, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Help and version are no mistakes: clap prints them on standard output and its code is 0.
        Err(answer) => answer.exit(),
    };
    match commands::execute(cli.command, strategies) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("rialto: {failure}");
            failure.exit.into()
        }
    }
}
