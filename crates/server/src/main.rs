//! `rialto`: the server and everything that is done around it.

use std::process::ExitCode;

fn main() -> ExitCode {
    server::run(std::env::args_os())
}
