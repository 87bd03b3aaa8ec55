//! `rialto`: the server and everything that is done around it.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// Memory that a burst needed goes back to the system some seconds after it; the C library's allocator keeps it.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    server::run(std::env::args_os())
}
