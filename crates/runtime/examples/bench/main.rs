//! The trading core against its targets, on this machine, in one table.
//!
//! `cargo run --release -p runtime --example bench [-- FIGURE… [--journal-gigabytes N]]`; docs/benchmarks.md defines each figure.

mod options;
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

use options::BenchOptions;
use table::Row;

type Measure = fn(&Path, &BenchOptions) -> Result<Vec<Row>, Box<dyn Error>>;

/// Groups of figures by name; each may use a folder of its own.
const FIGURES: [(&str, Measure); 6] = [
    ("orders", |_, _| Ok(memory::orders().into())),
    ("ticks", |_, _| Ok(vec![memory::ticks()])),
    ("durable", |folder, _| durable::rows(folder)),
    ("start", |folder, _| start::rows(folder)),
    ("years", |folder, options| years::rows(folder, options.journal_bytes)),
    ("pause", |_, _| years::pauses()),
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = BenchOptions::parse(std::env::args().skip(1), &FIGURES.map(|(name, _)| name))?;
    if let Some((flow, orders)) = options.exactly {
        return durable::exactly(scratch()?.path(), flow, orders);
    }
    println!("{}; journal.sync = {}; load average {}", machine::name(), durable::SYNC, machine::load_average());
    let mut rows = Vec::new();
    for (name, measure) in FIGURES {
        if options.wants(name) {
            rows.extend(measure(scratch()?.path(), &options)?);
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
