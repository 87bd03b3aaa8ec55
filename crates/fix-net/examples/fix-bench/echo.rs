//! Round trips and throughput of both acceptors: the same client, the same orders, in turns.

use crate::Outcome;
use crate::acceptors::Acceptor;
use crate::client::{Client, Names};
use crate::table::Row;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};

/// Each acceptor gets so many turns; what is printed is the median of them.
const ROUNDS: usize = 5;

const WARM_UP: u32 = 1_000;
const PING_PONGS: usize = 5_000;
const PIPELINED: usize = 30_000;

/// So many orders are under way at once, when the throughput is measured.
const WINDOW: usize = 2_000;

/// What is ordered.
const TERMS: &str = "38=100|44=101.25|54=1|55=AAPL";

/// As many times QuickFIX's throughput we want to have.
const THROUGHPUT_AIM: f64 = 2.0;

/// What one turn, or the median of several, gave.
#[derive(Clone, Copy)]
struct Figures {
    p50_microseconds: f64,
    p99_microseconds: f64,
    echoes_per_second: f64,
}

pub(crate) fn rows() -> Outcome<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let start = |program: &Path| Acceptor::start(program, folder.path(), "ResetOnLogon=Y");
    let ours = start(&Acceptor::our_program()?)?;
    let quickfix = start(&Acceptor::compile_quickfix(folder.path())?)?;
    let (mut our_turns, mut their_turns) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        their_turns.push(turn(quickfix.port)?);
        our_turns.push(turn(ours.port)?);
    }
    let (ours, theirs) = (median(&our_turns), median(&their_turns));
    Ok(vec![
        Row::round_trip("round trip of an order, p50", ours.p50_microseconds, theirs.p50_microseconds),
        Row::round_trip("round trip of an order, p99", ours.p99_microseconds, theirs.p99_microseconds),
        Row::rate("echoes, 2000 orders under way", ours.echoes_per_second, theirs.echoes_per_second, THROUGHPUT_AIM),
    ])
}

fn turn(port: u16) -> Outcome<Figures> {
    let names = Names { sender: "TW44", target: "ISLD" };
    let mut client = Client::log_on(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), names)?;
    for _ in 0..WARM_UP {
        round_trip(&mut client)?;
    }
    let mut times = (0..PING_PONGS).map(|_| round_trip(&mut client)).collect::<Outcome<Vec<Duration>>>()?;
    times.sort();
    let at = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1e6;
    let figures =
        Figures { p50_microseconds: at(50), p99_microseconds: at(99), echoes_per_second: pipelined(&mut client)? };
    client.log_out()?;
    Ok(figures)
}

fn round_trip(client: &mut Client<'_>) -> Outcome<Duration> {
    drop(client.gather_order(TERMS));
    let start = Instant::now();
    client.flush()?;
    client.await_frames(1, |_| true)?;
    Ok(start.elapsed())
}

fn pipelined(client: &mut Client<'_>) -> Outcome<f64> {
    let start = Instant::now();
    let (mut sent, mut answered) = (0, 0);
    while answered < PIPELINED {
        let room = (WINDOW - (sent - answered)).min(PIPELINED - sent);
        (0..room).for_each(|_| drop(client.gather_order(TERMS)));
        sent += room;
        client.flush()?;
        answered += client.await_frames(1, |_| true)?;
    }
    Ok(PIPELINED as f64 / start.elapsed().as_secs_f64())
}

/// Figure by figure.
fn median(turns: &[Figures]) -> Figures {
    let middle = |figure: fn(&Figures) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Figures {
        p50_microseconds: middle(|turn| turn.p50_microseconds),
        p99_microseconds: middle(|turn| turn.p99_microseconds),
        echoes_per_second: middle(|turn| turn.echoes_per_second),
    }
}
