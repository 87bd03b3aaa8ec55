//! Overload: four sessions send orders as fast as their sockets accept them, while a fifth session cancels, and REST pulls
//! the kill switch of an account without orders and releases it again. A Test Request of the fifth session shows what its line
//! and the record of an answer take, without the engine's part in a cancel.

use crate::Outcome;
use crate::client::{Client, Names, value};
use crate::http::Http;
use crate::orders::{TERMS, scratch, spent_since};
use crate::rialto::Rialto;
use crate::table::Row;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

const FLOODING: [&str; 4] = ["FLOOD1", "FLOOD2", "FLOOD3", "FLOOD4"];
const STEADY: &str = "STEADY";
/// How long it lasts, unless the environment says otherwise.
const SECONDS_VARIABLE: &str = "OVERLOAD_SECONDS";
const SECONDS: u64 = 10;
/// What 99 of 100 cancels and kills shall stay below.
const AIM: Duration = Duration::from_millis(100);
/// Between two cancels, and two pulls at the switch.
const PAUSE: Duration = Duration::from_millis(20);
/// Orders that are put on the line at once.
const PIECE: usize = 64;
/// Where the line neither takes nor has anything.
const NOTHING_MOVES: Duration = Duration::from_micros(200);

/// What one who is not flooding saw: how long each answer took, and those that were refusals.
#[derive(Default)]
struct Seen {
    times: Vec<Duration>,
    refused: Vec<String>,
    /// Of the same session: how long the answer to a Test Request took.
    echoes: Vec<Duration>,
}

#[derive(Default)]
struct Flood {
    sent: usize,
    answered: usize,
    /// Text (58) of the server's Logout, or how the line ended.
    ended: Option<String>,
}

pub(crate) fn rows() -> Outcome<Vec<Row>> {
    let folder = scratch()?;
    let clients: Vec<String> = FLOODING.iter().chain([&STEADY]).map(|name| (*name).to_owned()).collect();
    let server = Rialto::start(folder.path(), &clients)?;
    let (over, length) = (AtomicBool::new(false), length()?);
    let spent_before = server.processor_time();
    let (floods, cancels, kills) = thread::scope(|scope| {
        let floods =
            FLOODING.map(|name| scope.spawn(|| flood(&server, name, &over).map_err(|error| error.to_string())));
        let cancels = scope.spawn(|| cancel(&server, &over).map_err(|error| error.to_string()));
        let kills = scope.spawn(|| pull(&server, &over).map_err(|error| error.to_string()));
        sleep(length);
        over.store(true, Ordering::Relaxed);
        let floods: Result<Vec<Flood>, String> = floods.into_iter().map(joined).collect();
        Ok::<_, String>((floods?, joined(cancels)?, joined(kills)?))
    })?;
    let answered: usize = floods.iter().map(|flood| flood.answered).sum();
    let sent: usize = floods.iter().map(|flood| flood.sent).sum();
    let rate = answered as f64 / length.as_secs_f64();
    Ok(vec![
        Row::beside("orders of four sessions that flood", format!("{sent} sent, {answered} answered, {rate:.0}/s")),
        Row::beside("processor time of the server, an order", spent_since(&spent_before, &server, answered.max(1))),
        Row::beside("which of them were cut", cut(&floods, &server)?),
        row("a fifth session's cancels, p50 and p99", cancels.times),
        Row::beside("refused of those", refusals(&cancels.refused)),
        row("its Test Requests, p50 and p99", cancels.echoes),
        row("kill and resume by REST, p50 and p99", kills.times),
        Row::beside("refused of those", refusals(&kills.refused)),
    ])
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    thread.join().map_err(|_| "a client has failed".to_owned())?
}

fn length() -> Outcome<Duration> {
    let seconds = std::env::var(SECONDS_VARIABLE).ok().map(|text| text.parse()).transpose()?;
    Ok(Duration::from_secs(seconds.unwrap_or(SECONDS)))
}

fn row(what: &'static str, mut times: Vec<Duration>) -> Row {
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    Row::percentiles(what, at(50), at(99), AIM)
}

fn refusals(refused: &[String]) -> String {
    match refused.first() {
        None => "none".to_owned(),
        Some(first) => format!("{}, the first: {first}", refused.len()),
    }
}

/// As the clients saw it, and as the server tells an operator.
fn cut(floods: &[Flood], server: &Rialto) -> Outcome<String> {
    let cut =
        FLOODING.iter().zip(floods).filter_map(|(name, flood)| Some(format!("{name}: {}", flood.ended.as_ref()?)));
    let cut: Vec<_> = cut.collect();
    if cut.is_empty() {
        return Ok("none".to_owned());
    }
    let (_, sessions) = Http::connect(server.http)?.call("GET", "/rest/fix/sessions", "")?;
    Ok(format!("{}; the server says {sessions}", cut.join(", ")))
}

/// Sends as fast as the line takes it, and reads as fast as it comes: whoever reads nothing stops its own line.
fn flood(server: &Rialto, name: &str, over: &AtomicBool) -> Outcome<Flood> {
    let mut client = Client::log_on(server.fix, Names { sender: name, target: "RIALTO" })?;
    client.never_wait()?;
    let mut flood = Flood::default();
    while !over.load(Ordering::Relaxed) {
        if client.is_all_written() {
            (0..PIECE).for_each(|_| drop(client.gather_order(TERMS)));
            flood.sent += PIECE;
        }
        let mut asked = Vec::new();
        let moved = client.exchange(|frame| match value(frame, 35) {
            Some("8") if matches!(value(frame, 150), Some("A" | "8")) => flood.answered += 1,
            Some("1") => asked.extend(value(frame, 112).map(str::to_owned)),
            Some("5") => flood.ended = Some(value(frame, 58).unwrap_or("a Logout").to_owned()),
            _ => {}
        });
        asked.iter().for_each(|id| client.gather("0", &format!("112={id}|")));
        match moved {
            Ok(true) => {}
            Ok(false) => sleep(NOTHING_MOVES),
            Err(error) => {
                flood.ended.get_or_insert(error.to_string());
                return Ok(flood);
            }
        }
    }
    Ok(flood)
}

/// Places an order, waits until it stands, and measures its cancel.
fn cancel(server: &Rialto, over: &AtomicBool) -> Outcome<Seen> {
    let mut client = Client::log_on(server.fix, Names { sender: STEADY, target: "RIALTO" })?;
    let mut seen = Seen::default();
    while !over.load(Ordering::Relaxed) {
        let order = client.gather_order(TERMS);
        client.flush()?;
        client.await_frames(1, |frame| value(frame, 150) == Some("0"))?;
        client.gather_cancel(&order);
        let sent = Instant::now();
        client.flush()?;
        let is_taken = |frame: &[u8]| value(frame, 150) == Some("6");
        let is_refused = |frame: &[u8]| matches!(value(frame, 35), Some("9" | "j"));
        let mut refused = None;
        client.await_frames(1, |frame| {
            if is_refused(frame) {
                refused = Some(value(frame, 58).unwrap_or_default().to_owned());
            }
            is_taken(frame) || is_refused(frame)
        })?;
        seen.times.push(sent.elapsed());
        seen.refused.extend(refused);
        client.gather("1", "112=echo|");
        let sent = Instant::now();
        client.flush()?;
        client.await_frames(1, |frame| value(frame, 112) == Some("echo"))?;
        seen.echoes.push(sent.elapsed());
        sleep(PAUSE);
    }
    Ok(seen)
}

fn pull(server: &Rialto, over: &AtomicBool) -> Outcome<Seen> {
    let kill = ("POST", "/rest/risk/kill", r#"{"scope": "ACCOUNT-3", "reason": "drill"}"#);
    let resume = ("PUT", "/rest/risk/state", r#"{"scope": "ACCOUNT-3", "state": "ACTIVE", "reason": "drill"}"#);
    let mut http = Http::connect(server.http)?;
    let mut seen = Seen::default();
    while !over.load(Ordering::Relaxed) {
        for (method, path, body) in [kill, resume] {
            let sent = Instant::now();
            let (status, answer) = http.call(method, path, body)?;
            seen.times.push(sent.elapsed());
            if status != 200 {
                seen.refused.push(format!("{method} {path} {status} {answer}"));
            }
        }
        sleep(PAUSE);
    }
    Ok(seen)
}
