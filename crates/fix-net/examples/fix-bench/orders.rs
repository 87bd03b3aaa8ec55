//! Orders that are durable: eight sessions of the real server, each with 128 limit orders under way. An order counts when
//! its report A/A has come, which leaves only when the journal has it on disk.

use crate::Outcome;
use crate::client::{Client, Names};
use crate::rialto::Rialto;
use crate::table::Row;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

const SESSIONS: usize = 8;
const IN_FLIGHT: usize = 128;
const ORDERS_A_SESSION: usize = 5_000;
const WARM_UP: usize = 500;

/// It must be at least the first; the second is what we want.
const FLOOR_PER_SECOND: f64 = 8_000.0;
const AIM_PER_SECOND: f64 = 20_000.0;

/// Rests below the market of security 1, which stands still.
pub(crate) const TERMS: &str = "1=1|38=1|44=250|48=1|54=1|59=1";

pub(crate) fn rows() -> Outcome<Vec<Row>> {
    let folder = scratch()?;
    let clients: Vec<String> = (1..=SESSIONS).map(|number| format!("DESK{number}")).collect();
    let server = Rialto::start(folder.path(), &clients)?;
    let begin = Barrier::new(SESSIONS + 1);
    let (elapsed, spent, mut times) = thread::scope(|scope| {
        let desks: Vec<_> = clients.iter().map(|name| scope.spawn(|| server_settings(&server, name, &begin))).collect();
        begin.wait();
        let (start, spent_before) = (Instant::now(), server.processor_time());
        let times = desks.into_iter().map(|desk| desk.join().map_err(|_| "a desk has failed".to_owned())?);
        let times = times.collect::<Result<Vec<_>, String>>()?.concat();
        let orders = SESSIONS * ORDERS_A_SESSION;
        Ok::<_, String>((start.elapsed(), spent_since(&spent_before, &server, orders), times))
    })?;
    times.sort();
    let rate = (SESSIONS * ORDERS_A_SESSION) as f64 / elapsed.as_secs_f64();
    let at = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1e3;
    Ok(vec![
        Row::aimed("durable orders, 8 sessions x 128 under way", rate, FLOOR_PER_SECOND, AIM_PER_SECOND),
        Row::beside("from order to report A/A, p50 and p99", format!("{:.1} / {:.1} ms", at(50), at(99))),
        Row::beside("processor time of the server, an order", spent),
    ])
}

/// In all and by the busiest threads; where others use the machine too, it says what the code costs.
pub(crate) fn spent_since(before: &BTreeMap<String, Duration>, server: &Rialto, orders: usize) -> String {
    let orders = orders as f64;
    let earlier = |name: &String| before.get(name).copied().unwrap_or_default();
    let spent = server.processor_time().into_iter().map(|(name, time)| (time.saturating_sub(earlier(&name)), name));
    let mut spent: Vec<(f64, String)> = spent.map(|(time, name)| (time.as_secs_f64() * 1e6 / orders, name)).collect();
    spent.sort_by(|one, other| other.0.total_cmp(&one.0));
    let busiest: Vec<_> = spent.iter().take(5).map(|(time, name)| format!("{name} {time:.0}")).collect();
    let all: f64 = spent.iter().map(|(time, _)| time).sum();
    format!("{all:.0} µs ({})", busiest.join(", "))
}

/// One session from Logon to its last report; gives how long each order took.
fn server_settings(server: &Rialto, name: &str, begin: &Barrier) -> Result<Vec<Duration>, String> {
    let logged_on = Client::log_on(server.fix, Names { sender: name, target: "RIALTO" });
    let mut client = logged_on.map_err(|error| error.to_string());
    let warm = client.as_mut().map(|client| trade(client, WARM_UP).map_err(|error| error.to_string()));
    begin.wait();
    warm.map_err(|error| error.clone())??;
    trade(&mut client?, ORDERS_A_SESSION).map_err(|error| error.to_string())
}

fn trade(client: &mut Client<'_>, orders: usize) -> Outcome<Vec<Duration>> {
    let (mut under_way, mut times) = (VecDeque::with_capacity(IN_FLIGHT), Vec::with_capacity(orders));
    while times.len() < orders {
        let room = (IN_FLIGHT - under_way.len()).min(orders - times.len() - under_way.len());
        (0..room).for_each(|_| drop(client.gather_order(TERMS)));
        under_way.extend(std::iter::repeat_n(Instant::now(), room));
        client.flush()?;
        let reports = client.await_frames(1, is_pending_new)?;
        times.extend(under_way.drain(..reports).map(|sent| sent.elapsed()));
    }
    Ok(times)
}

fn is_pending_new(frame: &[u8]) -> bool {
    const EXEC_TYPE: &[u8] = b"\x01150=A\x01";
    frame.windows(EXEC_TYPE.len()).any(|window| window == EXEC_TYPE)
}

/// Beside the build, so that the disk is the one that the project lies on; it goes away by itself.
pub(crate) fn scratch() -> Outcome<tempfile::TempDir> {
    let program = std::env::current_exe()?;
    Ok(tempfile::tempdir_in(program.parent().ok_or("a program lies in a folder")?)?)
}
