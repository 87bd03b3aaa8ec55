//! The trading core against its targets, on this machine, in one table.
//!
//! `cargo run --release -p runtime --example bench [-- FIGURE…]`; docs/benchmarks.md defines each figure.

mod workload;
mod backup;
mod durable;
mod machine;
mod memory;
mod start;
mod table;
mod years;

use std::error::Error;
use std::path::Path;

use table::Row;

type Measure = fn(&Path) -> Result<Vec<Row>, Box<dyn Error>>;

/// Groups of figures by name; each may use a folder of its own.
const FIGURES: [(&str, Measure); 6] = [
    ("orders", |_| Ok(memory::orders().into())),
    ("ticks", |_| Ok(vec![memory::ticks()])),
    ("durable", durable::rows),
    ("start", start::rows),
    ("years", years::rows),
    ("pause", |_| Ok(years::pauses())),
];

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!("{}; journal.sync = {}; load average {}", machine::name(), durable::SYNC, machine::load_average());
    let mut rows = Vec::new();
    for (name, measure) in FIGURES {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            rows.extend(measure(scratch()?.path())?);
        }
    }
    table::print(&rows);
    println!("load average afterwards {}", machine::load_average());
    Ok(())
}

/// Beside the build, so that the disk is the one that the project lies on; it goes away by itself.
fn scratch() -> Result<tempfile::TempDir, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    Ok(tempfile::tempdir_in(program.parent().ok_or("a program lies in a folder")?)?)
}
