//! Load of the WebSocket API face and of the FIX 4.4 face while a thousand sockets are open.
//!
//! `cargo run --release -p venue-lab --example venue_bench [CONNECTIONS] [ORDERS]` prints orders a second and latencies. Each order is
//! a LIMIT IOC that is written to the ledger and synced before its answer. Over WebSockets (`order.place`, signed) each connection has one order
//! at a time, first as fast as answers come, which tells the rate, then at the rate of the aim, which tells the latency: as fast as answers
//! come, every order waits for those of all other connections. Over FIX one session sends without waiting.

use std::error::Error;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ring::hmac;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};
use venue_lab::{LabConfig, RunningLab};

const CONNECTIONS: usize = 64;
const ORDERS: usize = 50_000;
const OPEN_SOCKETS: usize = 1_000;
/// The rate at which latencies have an aim.
const ORDERS_PER_SECOND: u32 = 5_000;

type BenchResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Where to connect, and by which key.
#[derive(Clone)]
struct Access {
    url: String,
    api_key: String,
    secret: String,
}

fn main() -> BenchResult<()> {
    let number = |at: usize, usual: usize| std::env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (connections, orders) = (number(1, CONNECTIONS), number(2, ORDERS));
    let folder = tempfile::tempdir()?;
    let settings = [
        "activity=off",
        "limits.requestWeightPerMinute=4000000000",
        "limits.rawRequestsPer5Minutes=4000000000",
        "limits.ordersPer10Seconds=4000000000",
        "limits.ordersPerDay=4000000000",
    ];
    let config = LabConfig::load(None, true, &settings.map(ToOwned::to_owned))?;
    let lab = RunningLab::start(config, folder.path())?;
    let ready: Value = serde_json::from_str(&lab.ready_line())?;
    let (_stop, stopped) = tokio::sync::oneshot::channel();
    thread::spawn(move || lab.run_until(stopped));
    let access = access(&ready)?;

    let idle: Vec<_> = (0..OPEN_SOCKETS).map(|_| connect(&access.url)).collect::<Result<_, _>>()?;
    let every = Duration::from_secs(1) * u32::try_from(connections)? / ORDERS_PER_SECOND;
    for (name, pause) in [("as fast as answers come", None), ("5,000 a second", Some(every))] {
        let began = Instant::now();
        let clients: Vec<_> = (0..connections)
            .map(|client| (client, access.clone()))
            .map(|(client, access)| thread::spawn(move || trade(&access, client, orders / connections, pause)))
            .collect();
        let mut latencies = Vec::new();
        for client in clients {
            latencies.extend(client.join().map_err(|_| "a client failed")??);
        }
        report(name, &mut latencies, began.elapsed(), connections, idle.len());
    }
    let rate = trade_fix(&ready, orders)?;
    println!(
        "venue lab, FIX 4.4 on one session, {} more sockets open: {orders} orders, {rate:.0} a second",
        idle.len()
    );
    Ok(())
}

/// Orders over FIX without waiting; orders a second, from the first request to the last report.
fn trade_fix(ready: &Value, orders: usize) -> BenchResult<f64> {
    let address = ready["fix44"].as_str().ok_or("the ready line has no fix44")?.trim_start_matches("tcp://");
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut reader = stream.try_clone()?;
    let mut writer = BufWriter::new(stream);
    writer.write_all(&fix_frame(1, "A", "98=0|108=60|141=Y|"))?;
    writer.flush()?;
    let began = Instant::now();
    let writing = thread::spawn(move || -> io::Result<()> {
        for number in 0..orders {
            let order = format!("11=f{number}|38=0.001|40=2|44=50000|54=1|55=BTCUSDT|59=3|60=20260101-00:00:00|");
            writer.write_all(&fix_frame(number + 2, "D", &order))?;
        }
        writer.flush()
    });
    // Each order is reported as new, and then as expired.
    let (mut bytes, mut rest, mut ended) = (vec![0; 1 << 16], Vec::new(), 0);
    while ended < orders {
        let count = reader.read(&mut bytes)?;
        if count == 0 {
            return Err("the session ended".into());
        }
        rest.extend_from_slice(&bytes[..count]);
        ended += rest.windows(7).filter(|window| *window == b"\x01150=C\x01").count();
        // A field may be cut in two.
        rest.drain(..rest.len().saturating_sub(6));
    }
    let took = began.elapsed();
    writing.join().map_err(|_| "the writer failed")??;
    Ok(orders as f64 / took.as_secs_f64())
}

fn fix_frame(number: usize, kind: &str, fields: &str) -> Vec<u8> {
    let mut time = Vec::new();
    fix_net::now().write(3, &mut time);
    let body = format!("35={kind}|34={number}|49=ALPHA|52={}|56=LAB|{fields}", String::from_utf8_lossy(&time));
    let body = body.replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    frame.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    frame
}

fn report(name: &str, latencies: &mut [Duration], took: Duration, connections: usize, idle: usize) {
    latencies.sort_unstable();
    let at = |thousandth: usize| latencies[(latencies.len() - 1) * thousandth / 1_000];
    println!(
        "venue lab, order.place on {connections} connections, {name}, {idle} more sockets open: {} orders, {:.0} a second, p50 {:?}, \
         p99 {:?}, p99.9 {:?}",
        latencies.len(),
        latencies.len() as f64 / took.as_secs_f64(),
        at(500),
        at(990),
        at(999),
    );
}

fn access(ready: &Value) -> BenchResult<Access> {
    let path = ready["keys"].as_str().ok_or("the ready line names no keys")?;
    let keys: Value = serde_json::from_slice(&fs::read(path)?)?;
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned).ok_or("a text is missing");
    Ok(Access {
        url: text(&ready["binanceWsApi"])?,
        api_key: text(&keys[0]["apiKey"])?,
        secret: text(&keys[0]["secret"])?,
    })
}

fn connect(url: &str) -> BenchResult<WebSocket<TcpStream>> {
    let address = url.trim_start_matches("ws://").split('/').next().unwrap_or_default();
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(tungstenite::client(url, stream)?.0)
}

/// Orders one after the other; the time of each from the moment when it was due to its answer. Without a pause each is due when the
/// one before is answered.
fn trade(access: &Access, client: usize, orders: usize, pause: Option<Duration>) -> BenchResult<Vec<Duration>> {
    let mut socket = connect(&access.url)?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, access.secret.as_bytes());
    let mut latencies = Vec::with_capacity(orders);
    // Connections are due one after the other, not all at once.
    let place = u32::try_from(client)?;
    let mut due = pause.map(|pause| Instant::now() + pause * place / u32::try_from(CONNECTIONS).unwrap_or(1));
    for number in 0..orders {
        thread::sleep(due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now())));
        let request = order(access, &key, &format!("c{client}-{number}"))?;
        let sent = due.unwrap_or_else(Instant::now);
        due = due.zip(pause).map(|(due, pause)| due + pause);
        socket.send(Message::Text(request.into()))?;
        let answer = loop {
            if let Message::Text(text) = socket.read()? {
                break text;
            }
        };
        latencies.push(sent.elapsed());
        let answer: Value = serde_json::from_str(&answer)?;
        if answer["status"] != 200 {
            return Err(answer.to_string().into());
        }
    }
    Ok(latencies)
}

fn order(access: &Access, key: &hmac::Key, id: &str) -> BenchResult<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    // By name, as the signature covers them.
    let payload = format!(
        "apiKey={}&newClientOrderId={id}&price=50000&quantity=0.001&side=BUY&symbol=BTCUSDT&timeInForce=IOC&timestamp={now}&type=LIMIT",
        access.api_key
    );
    let signature: String =
        hmac::sign(key, payload.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let pairs = payload.split('&').filter_map(|pair| pair.split_once('='));
    let mut params: serde_json::Map<String, Value> =
        pairs.map(|(name, value)| (name.to_owned(), value.into())).collect();
    params.insert("signature".to_owned(), signature.into());
    Ok(json!({ "id": id, "method": "order.place", "params": params }).to_string())
}
