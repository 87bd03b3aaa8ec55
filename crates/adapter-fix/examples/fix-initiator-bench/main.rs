//! The FIX adapter as an initiator beside one made with QuickFIX, in turns against the same venue: from order to report, orders a second,
//! and what an order costs.
//!
//! ```text
//! cargo run --release -p adapter-fix --example fix-initiator-bench [-- figures | instructions]
//! ```
//!
//! docs/benchmarks.md tells what each figure is.

/// The venue of both.
mod acceptor;
/// What is common to both clients, and the turns that they take.
mod figures;
/// How many instructions an order takes.
mod instructions;
/// Cores and load.
#[path = "../../../fix-net/examples/fix-bench/machine.rs"]
mod machine;
/// The FIX adapter.
mod ours;
/// The initiators as programs of their own.
mod programs;
/// Programs that use QuickFIX.
#[path = "../../../fix-net/examples/fix-bench/quickfix.rs"]
mod quickfix;

use std::error::Error;

use domain::Timestamp;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["acceptor"] => acceptor::serve(),
        ["ours", port, folder, orders, under_way] => {
            let figures = ours::trade(port.parse()?, folder.as_ref(), orders.parse()?, under_way.parse()?)?;
            println!("{figures}");
            Ok(())
        }
        ["figures"] => compare(true, false),
        ["instructions"] => compare(false, true),
        _ => compare(true, true),
    }
}

fn compare(with_figures: bool, with_instructions: bool) -> Outcome<()> {
    println!("{}; load average {}", machine::name(), machine::load_average());
    let programs = programs::Programs::make()?;
    if with_figures {
        figures::print(&programs)?;
    }
    if with_instructions {
        instructions::print(&programs)?;
    }
    println!("load average afterwards {}", machine::load_average());
    Ok(())
}

/// The time of the machine.
pub(crate) fn now() -> Timestamp {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX))
}
