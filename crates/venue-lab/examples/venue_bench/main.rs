//! Load of the WebSocket API face and of the FIX 4.4 face while a thousand sockets are open, beside a plain WebSocket echo.
//!
//! `cargo run --release -p venue-lab --example venue_bench [CONNECTIONS] [ORDERS]` prints orders a second, latencies and processor time.
//! Each order is a LIMIT IOC that is written to the ledger and synced before its answer. Over WebSockets (`order.place`, signed) each connection
//! has one order at a time, as fast as answers come, which tells the rate; then orders leave at the rate of the aim whether or not the one
//! before is answered, which tells the latency. The echo at the same rate, with as many bytes and without any work, tells what the machine gives
//! at that moment. Over FIX one session sends without waiting.

mod client;
mod cpu;
mod disk;
mod echo;
mod fix_session;
mod orders;
mod socket;

use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use venue_lab::{LabConfig, RunningLab};

use client::{Load, LoadResult, MessageSource};
use orders::OrderSource;

const CONNECTIONS: usize = 64;
const ORDERS: usize = 50_000;
const OPEN_SOCKETS: usize = 1_000;
/// The rate at which latencies have an aim.
const ORDERS_PER_SECOND: u32 = 5_000;

pub(crate) type BenchResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> BenchResult<()> {
    let number = |at: usize, usual: usize| std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (connections, orders) = (number(1, CONNECTIONS), number(2, ORDERS));
    println!("load average {}", load_average());
    let folder = tempfile::tempdir()?;
    for kind in [disk::FileKind::Growing, disk::FileKind::Reserved] {
        let [p50, p99, p999] = disk::sync_times(folder.path(), kind)?;
        println!("one sync of 256 bytes, {}: p50 {p50:?}, p99 {p99:?}, p99.9 {p999:?}", kind.name());
    }
    let ready = start_lab(folder.path())?;
    let source = Arc::new(OrderSource::new(&ready)?);
    let idle: Vec<_> = (0..OPEN_SOCKETS).map(|_| client::connect(&source.url)).collect::<Result<_, _>>()?;
    let echo = echo::start()?;
    let every = Duration::from_secs(1) / ORDERS_PER_SECOND;
    let load = Load { connections, messages: orders, every: None };
    let paced = Load { every: Some(every), ..load };

    report("order.place, as fast as answers come", &client::run(&source.url, load, &orders_of(&source, "a"))?);
    // As many bytes as a request has; the answer has more.
    let size = source.order("b0").len();
    let text: MessageSource = Arc::new(move |_| "x".repeat(size));
    let first = client::run(&echo, paced, &text)?;
    let placed = client::run(&source.url, paced, &orders_of(&source, "b"))?;
    let second = client::run(&echo, paced, &text)?;
    report("echo, 5,000 a second, before", &first);
    report("order.place, 5,000 a second", &placed);
    report("echo, 5,000 a second, after", &second);
    let quieter = first.at(990).min(second.at(990)).as_secs_f64();
    println!("p99 of order.place is {:.1} times that of the quieter echo", placed.at(990).as_secs_f64() / quieter);
    let rate = fix_session::trade(&ready, orders)?;
    println!("FIX 4.4 on one session: {orders} orders, {rate:.0} a second");
    println!("{} more sockets were open; load average afterwards {}", idle.len(), load_average());
    Ok(())
}

/// Orders whose ids begin so.
fn orders_of(source: &Arc<OrderSource>, prefix: &'static str) -> MessageSource {
    let source = source.clone();
    Arc::new(move |number| source.order(&format!("{prefix}{number}")))
}

/// Starts a lab without limits on this disk; its ready line.
fn start_lab(folder: &std::path::Path) -> BenchResult<Value> {
    let settings = [
        "activity=off",
        "limits.requestWeightPerMinute=4000000000",
        "limits.rawRequestsPer5Minutes=4000000000",
        "limits.ordersPer10Seconds=4000000000",
        "limits.ordersPerDay=4000000000",
    ];
    let config = LabConfig::load(None, true, &settings.map(ToOwned::to_owned))?;
    let lab = RunningLab::start(config, folder)?;
    let ready = serde_json::from_str(&lab.ready_line())?;
    thread::spawn(move || {
        let (_stop, stopped) = tokio::sync::oneshot::channel();
        lab.run_until(stopped)
    });
    Ok(ready)
}

fn report(name: &str, result: &LoadResult) {
    println!(
        "{name}: {} messages, {:.0} a second, p50 {:?}, p99 {:?}, p99.9 {:?}, max {:?}; CPU each {}",
        result.latencies.len(),
        result.rate(),
        result.at(500),
        result.at(990),
        result.at(999),
        result.at(1_000),
        result.cpu,
    );
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
