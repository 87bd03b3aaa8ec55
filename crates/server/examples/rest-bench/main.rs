//! REST benchmark: the interface beside a bare handler, and beside the engine in process, on this machine, in one table.
//!
//! `cargo run --release -p server --example rest-bench`, or one group of figures with `-- lists` or `-- orders`; docs/benchmarks.md tells what each figure is.

/// The engine on this disk, with an adapter that just accepts.
mod bench_engine;
/// The door, and a bare one beside it.
mod bench_servers;
/// Requests over connections that are kept.
mod load;
/// Cores and load.
mod machine;
/// What is printed.
#[path = "../../../runtime/examples/bench/table.rs"]
#[allow(dead_code, reason = "the core's bench prints more")]
mod table;

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use bench_engine::BenchEngine;
use bench_servers::BenchServers;
use load::{Load, Rates, get, post};
use table::{Row, percentile, thousands};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Each side is measured so often, in turns.
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(1);
/// For orders, and for short lists.
const CONNECTIONS: usize = 64;
/// Long lists fill the machine with fewer.
const LONG_LIST_CONNECTIONS: usize = 16;
/// Orders without an answer where no door is in the way, as in the core's bench.
const IN_FLIGHT: usize = 256;
/// The part of the rate without us that must be left.
const AIM: f64 = 0.5;

fn main() -> Outcome<()> {
    println!("{}; journal.sync = {}; load average {}", machine::name(), bench_engine::SYNC, machine::load_average());
    let folder = scratch()?;
    let context = BenchEngine::open(folder.path())?;
    let bare_sync = bench_engine::bare_sync(folder.path())?;
    let doors = BenchServers::open(&context, folder.path())?;
    let wanted = std::env::args().nth(1);
    let is_wanted = |group: &str| wanted.as_deref().is_none_or(|wanted| wanted == group);
    let mut rows = vec![Row::yardstick("one bare fdatasync (p50)", bare_sync, String::new())];
    if is_wanted("lists") {
        rows.push(list(&doors, "GET /rest/account", "/rest/account", CONNECTIONS)?);
        rows.push(list(&doors, "GET /rest/security, 10,000", "/rest/security", LONG_LIST_CONNECTIONS)?);
    }
    if is_wanted("orders") {
        rows.push(orders(&context, &doors)?);
    }
    doors.close();
    context.close()?;
    table::print(&rows);
    println!("load average afterwards {}", machine::load_average());
    Ok(())
}

/// The same bytes from our door and from a bare handler that has them in memory.
fn list(doors: &BenchServers, what: &'static str, path: &str, connections: usize) -> Outcome<Row> {
    let body = load::body(doors.ours, &get(doors.ours, path))?;
    let bare = doors.open_bare(path, body.clone())?;
    if load::body(bare, &get(bare, path))? != body {
        return Err(format!("{path}: the bare handler answers something else").into());
    }
    let measure = |address: SocketAddr| {
        let request = get(address, path);
        load::run(address, connections, ROUND, move |_| request.clone())
    };
    let (mut ours, mut bares) = (Rates::default(), Rates::default());
    for _ in 0..ROUNDS {
        bares.measure(|| measure(bare))?;
        ours.measure(|| measure(doors.ours))?;
    }
    let beside = format!(
        "{}; bare axum {}/s, CPU each {}; {} bytes, {connections} connections",
        told(&ours.all()),
        thousands(bares.median()),
        bares.all().cpu_each(),
        thousands(body.len() as f64)
    );
    Ok(Row::rate(what, ours.median(), bares.median() * AIM, beside))
}

/// Limit orders over connections, and the same orders handed to the engine's inbox.
fn orders(context: &BenchEngine, doors: &BenchServers) -> Outcome<Row> {
    let (mut posted, mut handed, mut as_many) = (Rates::default(), Rates::default(), Rates::default());
    let address = doors.ours;
    for _ in 0..ROUNDS {
        handed.measure(|| context.in_flight(IN_FLIGHT, ROUND))?;
        as_many.measure(|| context.in_flight(CONNECTIONS, ROUND))?;
        let order = move |number| post(address, "/rest/execution/order/limit", &bench_engine::order_body(number));
        posted.measure(|| load::run(address, CONNECTIONS, ROUND, order))?;
    }
    let without_door = handed.median();
    let beside = format!(
        "{}; {CONNECTIONS} connections; in process {}/s with {CONNECTIONS} in flight, CPU each {}; {}/s with {IN_FLIGHT}, \
         CPU each {}",
        told(&posted.all()),
        thousands(as_many.median()),
        as_many.all().cpu_each(),
        thousands(without_door),
        handed.all().cpu_each()
    );
    Ok(Row::rate("POST limit orders, durable", posted.median(), without_door * AIM, beside))
}

fn told(load: &Load) -> String {
    let [half, nearly_all] = [50, 99].map(|percent| percentile(&load.times, percent));
    format!("p50 {half:.1?}, p99 {nearly_all:.1?}, CPU each {}", load.cpu_each())
}

/// Beside the build, so that the disk is the one that the project lies on; it goes away by itself.
fn scratch() -> Outcome<tempfile::TempDir> {
    let program = std::env::current_exe()?;
    Ok(tempfile::tempdir_in(program.parent().ok_or("a program lies in a folder")?)?)
}
