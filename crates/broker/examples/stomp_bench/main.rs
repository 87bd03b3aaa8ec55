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
    let peers: Vec<Peer> = [peers::rabbitmq(), peers::activemq()].into_iter().flatten().collect();
    let ours = peers::rialto();
    let load = Load::new();
    if is_wanted("paced") {
        beside(&load, &ours, &peers, "paced, 100 subscribers at 50/s", &[5.0, 3.0], |load, peer| {
            load.paced(peer, SUBSCRIBERS, PACED)
        });
    }
    if is_wanted("burst") {
        beside(&load, &ours, &peers, "burst, 50 subscribers", &[1.0, 15.0], |load, peer| {
            load.burst(peer, BURST_SUBSCRIBERS)
        });
    }
    if is_wanted("slow") {
        slow(&load, &ours);
    }
    drop((ours, peers));
    if is_wanted("idle") {
        idle(&load);
    }
    println!("load average afterwards {}", load_average());
}

/// In turns, the median of each, and the ratio of the medians; `aims` are for the peers in their order.
fn beside(load: &Load, ours: &Peer, peers: &[Peer], what: &str, aims: &[f64], run: fn(&Load, &Peer) -> Measured) {
    let all: Vec<&Peer> = std::iter::once(ours).chain(peers).collect();
    all.iter().for_each(|peer| load.warm_up(peer));
    let mut rounds = vec![Vec::new(); all.len()];
    for _ in 0..ROUNDS {
        for (peer, rounds) in all.iter().zip(&mut rounds) {
            rounds.push(run(load, peer));
        }
    }
    let of_ours = median(rounds[0].iter().map(|round| round.cpu_per_delivery));
    for (peer, rounds) in all.iter().zip(&rounds) {
        let cpu = median(rounds.iter().map(|round| round.cpu_per_delivery));
        let (p50, p99) = (median(rounds.iter().map(|round| round.p50)), median(rounds.iter().map(|round| round.p99)));
        let aim = aims.get(peers::place(peer.name)).copied().unwrap_or(1.0);
        let ratio = cpu / of_ours;
        let met = if peer.name == ours.name || ratio >= aim { "" } else { "  MISSED" };
        let name = peer.name;
        println!(
            "{what:34} {name:9} {:7.2} µs of CPU a delivery  {ratio:6.1}x ours (aim {aim}x){met}  p50 {:7.0} µs  p99 {:7.0} µs",
            cpu * 1e6,
            p50 * 1e6,
            p99 * 1e6
        );
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
    let met = if change < 25.0 { "" } else { "  MISSED" };
    println!(
        "p99 of 100 subscribers beside one that reads {:.0} µs, beside one that does not {:.0} µs: {change:+.0} % (aim < 25 %){met}",
        reading * 1e6,
        silent * 1e6
    );
}

/// Each kind on a fresh process.
fn idle(load: &Load) {
    for (kind, websocket, aim) in [("TCP", false, 12.0), ("WebSocket", true, 20.0)] {
        let ours = peers::rialto();
        let kib = load.idle(&ours, IDLE, websocket);
        let met = if kib <= aim { "" } else { "  MISSED" };
        println!("{IDLE} idle {kind} connections: {kib:.1} KiB each (aim {aim} KiB){met}");
    }
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
