//! FIX against its aims, on this machine: the codec by itself, our echo acceptor beside QuickFIX's (the same
//! client, in turns), and through the server that RIALTO_BIN names durable orders, and what a flood does to others.
//!
//! ```text
//! cargo build --release -p fix-net --example fix-echo
//! cargo run --release -p fix-net --example fix-bench [-- codec | echo | orders | overload]
//! ```
//!
//! docs/benchmarks.md tells what each figure is.

/// The two acceptors, as programs of their own.
mod acceptors;
/// A client with a plain socket.
mod client;
/// Reading messages, without a socket.
mod codec;
/// Round trips and throughput of both acceptors.
mod echo;
/// Calls of REST.
mod http;
/// Cores and load.
mod machine;
/// Orders that are durable, over the real server.
mod orders;
/// A flood, and those who do not flood.
mod overload;
/// Programs that use QuickFIX.
mod quickfix;
/// The real server.
mod rialto;
/// What is printed.
mod table;

use std::error::Error;
use table::Row;

type Outcome<T> = Result<T, Box<dyn Error>>;

type Measure = fn() -> Outcome<Vec<Row>>;

const FIGURES: [(&str, Measure); 4] =
    [("codec", || Ok(codec::rows())), ("echo", echo::rows), ("orders", orders::rows), ("overload", overload::rows)];

fn main() -> Outcome<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!("{}; load average {}", machine::name(), machine::load_average());
    let mut rows = Vec::new();
    for (name, measure) in FIGURES {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            rows.extend(measure()?);
        }
    }
    table::print(&rows);
    println!("load average afterwards {}", machine::load_average());
    Ok(())
}
