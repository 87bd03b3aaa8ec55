//! Cluster benchmark: a durable order beside a bare append to a stream with three copies, many orders beside a server without a cluster, and
//! how long there is no leader beside JetStream's own election, on this machine, in one table.
//!
//! `RIALTO_BIN=… NATS_SERVER_BIN=… cargo run --release -p server --example cluster-bench`; docs/benchmarks.md tells what each figure is.
//! `TAKEOVERS` (10) is how often a leader is killed, without a standby and with one; `RECEIVE_WINDOW_MILLIS` is `receiveWindowMillis` of the
//! members' venue.

/// A stream of its own on the same servers.
mod bare_stream;
/// Members, and a server alone, at a venue in a process of its own.
mod bench_cluster;
#[path = "../rest-bench/load.rs"]
#[allow(dead_code, reason = "the REST bench asks for lists too")]
mod load;
#[path = "../rest-bench/machine.rs"]
mod machine;
#[path = "../../../runtime/examples/bench/table.rs"]
#[allow(dead_code, reason = "the core's bench prints more")]
mod table;

use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use bare_stream::BareStream;
use bench_cluster::{BenchCluster, Takeover, order_body};
use load::{Load, Rates, post};
use scenarios::http::HttpClient;
use scenarios::nats::NatsServers;
use table::{Row, percentile, thousands};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Each side is measured so often, in turns.
const ROUNDS: usize = 5;
/// Orders and appends of a round, one after the other.
const EACH: usize = 100;
/// What the venue says of an order is recorded by then.
const QUIET: Duration = Duration::from_millis(20);
const ROUND: Duration = Duration::from_secs(2);
const IN_FLIGHT: usize = 256;
/// A durable order may take so many bare appends: without a standby, and with one.
const AIMS: [u32; 2] = [2, 3];

fn main() -> Outcome<()> {
    println!("{}; load average {}", machine::name(), machine::load_average());
    let folder = scratch()?;
    let mut nats = NatsServers::start(folder.path());
    let mut bare = BareStream::open(&nats)?;
    let mut rows = Vec::new();
    for standby in 0..AIMS.len() {
        let cluster = BenchCluster::start(&folder.path().join(format!("standby-{standby}")), &nats, standby, 2)?;
        rows.extend(one_by_one(&cluster, &mut bare, standby)?);
        rows.push(in_flight(&cluster, standby)?);
        drop(cluster);
        // Where one is killed, its successor needs a standby that is left.
        let members = 2 + standby;
        let mut cluster =
            BenchCluster::start(&folder.path().join(format!("takeover-{standby}")), &nats, standby, members)?;
        rows.extend(takeovers(&mut cluster, &mut bare, &mut nats, standby)?);
    }
    table::print(&rows);
    println!("load average afterwards {}", machine::load_average());
    Ok(())
}

/// One order after the other, each acknowledged when it is durable, beside appends of as many bytes: once with a pause before each, and once
/// without, where an order waits behind the records of what the venue said of the one before.
fn one_by_one(cluster: &BenchCluster, bare: &mut BareStream, standby: usize) -> Outcome<[Row; 4]> {
    let [append, order] = in_turns(cluster, bare, QUIET)?;
    let [append_at_once, order_at_once] = in_turns(cluster, bare, Duration::ZERO)?;
    let beside = |[_, nearly_all]: [Duration; 2]| format!("p99 {nearly_all:.1?}, standby = {standby}");
    let aim = append[0] * AIMS[standby];
    Ok([
        Row::yardstick("one bare append, three copies (p50)", append[0], beside(append)),
        Row::time("one durable order over REST (p50)", order[0], aim, beside(order)),
        Row::yardstick("appends without a pause (p50)", append_at_once[0], beside(append_at_once)),
        Row::yardstick("orders without a pause (p50)", order_at_once[0], beside(order_at_once)),
    ])
}

/// The median and the 99th percentile of appends, and of orders, in turns.
fn in_turns(cluster: &BenchCluster, bare: &mut BareStream, pause: Duration) -> Outcome<[[Duration; 2]; 2]> {
    let (mut appends, mut orders) = (Vec::new(), Vec::new());
    let mut client = HttpClient::new(cluster.leader());
    for _ in 0..ROUNDS {
        for _ in 0..EACH {
            appends.push(timed_after(pause, || bare.append())?);
        }
        for _ in 0..EACH {
            orders.push(timed_after(pause, || cluster.place(&mut client))?);
        }
    }
    Ok([appends, orders].map(|mut times| {
        times.sort_unstable();
        [50, 99].map(|percent| percentile(&times, percent))
    }))
}

fn timed_after(pause: Duration, work: impl FnOnce() -> Outcome<()>) -> Outcome<Duration> {
    thread::sleep(pause);
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

/// As many orders without an answer in a cluster and alone.
fn in_flight(cluster: &BenchCluster, standby: usize) -> Outcome<Row> {
    let (mut members, mut alone) = (Rates::default(), Rates::default());
    let run = |address: SocketAddr| {
        let order = move |_| post(address, "/rest/execution/order/limit", &order_body());
        load::run(address, IN_FLIGHT, ROUND, order)
    };
    for _ in 0..ROUNDS {
        alone.measure(|| run(cluster.alone()))?;
        members.measure(|| run(cluster.leader()))?;
    }
    let beside = format!(
        "{}; alone {}/s, {}; standby = {standby}",
        told(&members.all()),
        thousands(alone.median()),
        told(&alone.all())
    );
    Ok(Row::rate("orders over REST, 256 in flight", members.median(), alone.median() / 2.0, beside))
}

fn told(load: &Load) -> String {
    let [half, nearly_all] = [50, 99].map(|percent| percentile(&load.times, percent));
    format!("p50 {half:.1?}, p99 {nearly_all:.1?}")
}

/// From the kill of a leader to the epoch of the next one, and to the first order that it acknowledges; and from the last entry of the one that
/// was killed until the interfaces of the next one are open. Beside the kill of the server that leads the stream.
fn takeovers(
    cluster: &mut BenchCluster,
    bare: &mut BareStream,
    nats: &mut NatsServers,
    standby: usize,
) -> Outcome<[Row; 4]> {
    let count = std::env::var("TAKEOVERS").map_or(Ok(10), |text| text.parse())?;
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..count {
        let Takeover { led, shut, ordered } = cluster.kill_leader()?;
        let election = bare.kill_leader(nats)?;
        for (times, taken) in times.iter_mut().zip([led, shut, ordered, election]) {
            times.push(taken);
        }
        cluster.wait_until_followed()?;
    }
    let [led, shut, ordered, election] = times.map(Spread::of);
    let row =
        |what, spread: Spread| Row::yardstick(what, spread.half, format!("{}; standby = {standby}", spread.told()));
    Ok([
        row("leader killed to next epoch (p50)", led),
        row("gate shut to gate open (p50)", shut),
        row("leader killed to next order (p50)", ordered),
        row("JetStream's own election (p50)", election),
    ])
}

/// How some times lie.
struct Spread {
    count: usize,
    least: Duration,
    half: Duration,
    nearly_all: Duration,
    most: Duration,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let [least, half, nearly_all, most] = [0, 50, 90, 100].map(|percent| nearest_rank(&times, percent));
        Self { count: times.len(), least, half, nearly_all, most }
    }

    fn told(&self) -> String {
        let Self { count, least, nearly_all, most, .. } = self;
        format!("of {count}: least {least:.1?}, p90 {nearly_all:.1?}, most {most:.1?}")
    }
}

/// The least of the times than which so many of a hundred are no longer: of ten the ninth is the 90th percentile.
fn nearest_rank(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Beside the build, so that the disk is the one that the project lies on; it goes away by itself.
fn scratch() -> Outcome<tempfile::TempDir> {
    let program = std::env::current_exe()?;
    Ok(tempfile::tempdir_in(program.parent().ok_or("a program lies in a folder")?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ninth_of_ten_takeovers_is_the_90th_percentile_and_the_tenth_is_the_most() {
        let spread = Spread::of((1..=10).rev().map(Duration::from_secs).collect());
        let seconds = [spread.least, spread.half, spread.nearly_all, spread.most].map(|time| time.as_secs());
        assert_eq!((spread.count, seconds), (10, [1, 5, 9, 10]));
        assert_eq!(nearest_rank(&[Duration::from_secs(3)], 50).as_secs(), 3);
    }
}
