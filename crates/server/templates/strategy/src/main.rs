//! Rialto with a strategy of your own: `serve`, `simulate` and `strategy` know it by its name.

/// Buys when the price falls away from its average.
mod dip;

use std::process::ExitCode;

fn main() -> ExitCode {
    let strategies = strategy::samples::registry().with(dip::Dip::DEFINITION);
    server::run_with(strategies, std::env::args_os())
}
