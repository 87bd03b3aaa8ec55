//! The REST door beside a bare handler, and beside the engine without a door, on this machine, in one table.
//!
//! `cargo run --release -p server --example rest-bench`; docs/benchmarks.md tells what each figure is.

/// The engine on this disk, with an adapter that just accepts.
mod desk;
/// The door, and a bare one beside it.
mod doors;
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

use desk::Desk;
use doors::Doors;
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
    println!("{}; journal.sync = {}; load average {}", machine::name(), desk::SYNC, machine::load_average());
    let folder = scratch()?;
    let desk = Desk::open(folder.path())?;
    let bare_sync = desk::bare_sync(folder.path())?;
    let doors = Doors::open(&desk, folder.path())?;
    let rows = vec![
        Row::yardstick("one bare fdatasync (p50)", bare_sync, String::new()),
        list(&doors, "GET /rest/account", "/rest/account", CONNECTIONS)?,
        list(&doors, "GET /rest/security, 10,000", "/rest/security", LONG_LIST_CONNECTIONS)?,
        orders(&desk, &doors)?,
    ];
    doors.close();
    desk.close()?;
    table::print(&rows);
    println!("load average afterwards {}", machine::load_average());
    Ok(())
}

/// The same bytes from our door and from a bare handler that has them in memory.
fn list(doors: &Doors, what: &'static str, path: &str, connections: usize) -> Outcome<Row> {
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
        bares.add(measure(bare)?);
        ours.add(measure(doors.ours)?);
    }
    let beside = format!(
        "{}; bare axum {}/s; {} bytes, {connections} connections",
        latencies(&ours.all()),
        thousands(bares.median()),
        thousands(body.len() as f64)
    );
    Ok(Row::rate(what, ours.median(), bares.median() * AIM, beside))
}

/// Limit orders over connections, and the same orders handed to the engine's inbox.
fn orders(desk: &Desk, doors: &Doors) -> Outcome<Row> {
    let (mut posted, mut handed, mut as_many) = (Rates::default(), Rates::default(), Rates::default());
    let address = doors.ours;
    for _ in 0..ROUNDS {
        handed.add(desk.in_flight(IN_FLIGHT, ROUND)?);
        as_many.add(desk.in_flight(CONNECTIONS, ROUND)?);
        let order = move |number| post(address, "/rest/execution/order/limit", &desk::order_body(number));
        posted.add(load::run(address, CONNECTIONS, ROUND, order)?);
    }
    let without_door = handed.median();
    let beside = format!(
        "{}; {CONNECTIONS} connections; in process {}/s with {CONNECTIONS} in flight, {}/s with {IN_FLIGHT}",
        latencies(&posted.all()),
        thousands(as_many.median()),
        thousands(without_door)
    );
    Ok(Row::rate("POST limit orders, durable", posted.median(), without_door * AIM, beside))
}

fn latencies(load: &Load) -> String {
    format!("p50 {:.1?}, p99 {:.1?}", percentile(&load.times, 50), percentile(&load.times, 99))
}

/// Beside the build, so that the disk is the one that the project lies on; it goes away by itself.
fn scratch() -> Outcome<tempfile::TempDir> {
    let program = std::env::current_exe()?;
    Ok(tempfile::tempdir_in(program.parent().ok_or("a program lies in a folder")?)?)
}
