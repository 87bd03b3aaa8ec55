//! `rialto`: the server and everything that is done around it.

use std::process::ExitCode;

fn main() -> ExitCode {
    server::cli::run(std::env::args_os())
}
