//! The trading core against its aims, on this machine, in one table.
//!
//! `cargo run --release -p runtime --example bench [-- FIGURE…]`; docs/benchmarks.md tells what each figure is.

/// The desk that everything is measured on.
mod desk;
/// Cores, load, processor time.
mod machine;
/// The engine in memory.
mod memory;
/// What is printed.
mod table;

use table::Row;

/// A figure by name, and how it is measured.
const FIGURES: [(&str, fn() -> Vec<Row>); 2] =
    [("orders", || memory::orders().into()), ("ticks", || vec![memory::ticks()])];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!("{}; load average before {}", machine::name(), machine::load_average());
    let chosen = FIGURES.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|word| word == name));
    let rows: Vec<Row> = chosen.flat_map(|(_, measure)| measure()).collect();
    table::print(&rows);
    println!("load average after {}", machine::load_average());
}
