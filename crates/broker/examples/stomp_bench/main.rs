//! The broker beside ActiveMQ and RabbitMQ: one generator speaks plain STOMP to each of them in turn, and the processor
//! time that each spends on a delivery is compared. Peers that are not installed are left out.
//!
//! `cargo run --release -p broker --example stomp_bench [-- paced|burst|idle|slow]`, with a `rialto` binary beside it or
//! named by `RIALTO_BIN`.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded for people")]

/// The brokers: how each is started, asked for its use of the machine, and stopped.
mod peers;
/// What speaks STOMP to them.
mod load;

use std::time::Duration;

use load::{Load, Measured};
use peers::Peer;

const ROUNDS: usize = 7;
const SUBSCRIBERS: usize = 100;
const BURST_SUBSCRIBERS: usize = 50;
const IDLE: usize = 10_000;
const PACED: Duration = Duration::from_secs(3);

fn main() {
    let wanted = std::env::args().nth(1);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    println!("STOMP; load average {}", load_average());
    let (rabbitmq, activemq) = (peers::rabbitmq(), peers::activemq());
    let ours = peers::rialto();
    let load = Load::new();
    if is_wanted("paced") {
        let peers = [(&rabbitmq, 5.0), (&activemq, 3.0)];
        beside(&load, &ours, &peers, "paced, 100 subscribers at 50/s", |load, peer| {
            load.paced(peer, SUBSCRIBERS, PACED)
        });
    }
    if is_wanted("burst") {
        beside(&load, &ours, &[(&activemq, 15.0)], "burst, 50 subscribers", |load, peer| {
            load.burst(peer, BURST_SUBSCRIBERS)
        });
    }
    if is_wanted("slow") {
        slow(&load, &ours);
    }
    drop((ours, rabbitmq, activemq));
    if is_wanted("idle") {
        idle(&load);
    }
    println!("load average afterwards {}", load_average());
}

/// In turns; the median of each, and how much more than ours a peer's is. With each peer stands what that shall be.
fn beside(load: &Load, ours: &Peer, peers: &[(&Option<Peer>, f64)], what: &str, run: fn(&Load, &Peer) -> Measured) {
    let peers = peers.iter().filter_map(|(peer, aim)| Some((peer.as_ref()?, Some(*aim))));
    let all: Vec<(&Peer, Option<f64>)> = std::iter::once((ours, None)).chain(peers).collect();
    all.iter().for_each(|(peer, _)| load.warm_up(peer));
    let mut rounds = vec![Vec::new(); all.len()];
    for _ in 0..ROUNDS {
        for ((peer, _), rounds) in all.iter().zip(&mut rounds) {
            rounds.push(run(load, peer));
        }
    }
    let of_ours = median(rounds[0].iter().map(|round| round.cpu_per_delivery));
    for ((peer, aim), rounds) in all.iter().zip(&rounds) {
        let of = |figure: fn(&Measured) -> f64| median(rounds.iter().map(figure)) * 1e6;
        let (cpu, p50, p99) = (of(|round| round.cpu_per_delivery), of(|round| round.p50), of(|round| round.p99));
        let ratio = cpu / 1e6 / of_ours;
        let beside = match aim {
            Some(aim) => format!("{ratio:.1} times ours, aim {aim}: {}", verdict(ratio >= *aim)),
            None => "ours".to_owned(),
        };
        let name = peer.name;
        println!("{what:31} {name:9} {cpu:6.2} µs of CPU a delivery ({beside}); p50 {p50:.0} µs, p99 {p99:.0} µs");
    }
}

/// Whether a subscriber that stops reading is felt by the others.
fn slow(load: &Load, ours: &Peer) {
    let (mut reading, mut silent) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        reading.push(load.paced_beside(ours, SUBSCRIBERS, PACED, true).p99);
        silent.push(load.paced_beside(ours, SUBSCRIBERS, PACED, false).p99);
    }
    let (reading, silent) = (median(reading.into_iter()), median(silent.into_iter()));
    let change = (silent / reading - 1.0) * 100.0;
    let (reading, silent, met) = (reading * 1e6, silent * 1e6, verdict(change < 25.0));
    println!("100 subscribers beside one that reads: p99 {reading:.0} µs; beside one that does not: {silent:.0} µs,");
    println!("  {change:+.0} % (aim: less than 25 %: {met})");
}

/// Each kind on a fresh process.
fn idle(load: &Load) {
    for (kind, websocket, aim) in [("TCP", false, 12.0), ("WebSocket", true, 20.0)] {
        let ours = peers::rialto();
        let kib = load.idle(&ours, IDLE, websocket);
        println!("{IDLE} idle {kind} connections: {kib:.1} KiB each (aim: at most {aim}: {})", verdict(kib <= aim));
    }
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "MISSED" }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
