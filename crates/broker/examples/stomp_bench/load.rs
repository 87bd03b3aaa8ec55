//! Load generator: one thread with all subscribers, one that publishes. It looks for a time stamp in the stream of bytes
//! and at nothing else, so that its cost does not depend on the broker.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, Interest};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::peers::Peer;

const GAP: Duration = Duration::from_millis(20);
const BURST: usize = 1_000;
const BURSTS: usize = 4;
/// What stands before the time stamp, which has 20 digits.
const STAMP: &[u8] = b"\"at\":\"";
const STAMP_DIGITS: usize = 20;
/// Filler for messages that fill the buffers of whoever does not read.
const NOISE_BYTES: usize = 64 * 1_024;
const WAIT: Duration = Duration::from_secs(120);

/// What one round told, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) cpu_per_delivery: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

pub(crate) struct Load {
    runtime: Runtime,
    begun: Instant,
}

/// Those who listen in one round.
struct BenchSubscribers {
    delivered: Arc<AtomicUsize>,
    listening: JoinSet<Vec<u64>>,
    end: Vec<oneshot::Sender<()>>,
}

impl Load {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { runtime, begun: Instant::now() }
    }

    /// What runs in a virtual machine of its own gets faster at first.
    pub(crate) fn warm_up(&self, peer: &Peer) {
        for _ in 0..2 {
            self.burst(peer, 10);
        }
    }

    pub(crate) fn paced(&self, peer: &Peer, subscribers: usize, during: Duration) -> Measured {
        let mut publisher = Publisher::connect(peer);
        let audience = self.gather(peer, subscribers, "/topic/bench.paced");
        self.measure(peer, audience, subscribers, || {
            let (begun, mut sent) = (Instant::now(), 0);
            while begun.elapsed() < during {
                publisher.send("/topic/bench.paced", &self.body());
                sent += 1;
                thread::sleep((begun + GAP * sent).saturating_duration_since(Instant::now()));
            }
            usize::try_from(sent).unwrap()
        })
    }

    pub(crate) fn burst(&self, peer: &Peer, subscribers: usize) -> Measured {
        let mut publisher = Publisher::connect(peer);
        let audience = self.gather(peer, subscribers, "/topic/bench.burst");
        let delivered = audience.delivered.clone();
        self.measure(peer, audience, subscribers, || {
            for burst in 1..=BURSTS {
                let messages: Vec<u8> =
                    (0..BURST).flat_map(|_| frame("/topic/bench.burst", self.body().as_bytes())).collect();
                publisher.0.write_all(&messages).unwrap();
                // The next burst begins when this one has arrived.
                wait_for(&delivered, burst * BURST * subscribers);
            }
            BURSTS * BURST
        })
    }

    /// Paced, with one more subscriber that gets long messages and reads them, or does not.
    pub(crate) fn paced_beside(&self, peer: &Peer, subscribers: usize, during: Duration, reads: bool) -> Measured {
        let neighbour = join(peer, "/topic/bench.noise");
        let stopped = Arc::new(AtomicUsize::new(0));
        let reader = reads.then(|| {
            thread::spawn({
                let (mut neighbour, stopped) = (neighbour.try_clone().unwrap(), stopped.clone());
                neighbour.set_read_timeout(Some(GAP)).unwrap();
                move || {
                    let mut bytes = vec![0; NOISE_BYTES];
                    while stopped.load(Ordering::Relaxed) == 0 {
                        let _ = neighbour.read(&mut bytes);
                    }
                }
            })
        });
        let noise = thread::spawn({
            let (mut publisher, stopped) = (Publisher::connect(peer), stopped.clone());
            move || {
                while stopped.load(Ordering::Relaxed) == 0 {
                    publisher.send("/topic/bench.noise", &"x".repeat(NOISE_BYTES));
                    thread::sleep(GAP);
                }
            }
        });
        let measured = self.paced(peer, subscribers, during);
        stopped.store(1, Ordering::Relaxed);
        noise.join().unwrap();
        reader.into_iter().for_each(|reader| reader.join().unwrap());
        drop(neighbour);
        measured
    }

    /// KiB of memory that each of so many connections takes, each with a topic of its own.
    pub(crate) fn idle(&self, peer: &Peer, connections: usize, websocket: bool) -> f64 {
        let before = peer.resident_kib();
        let join = |number: usize| {
            let topic = format!("/topic/bench.idle.{number}");
            if websocket { join_websocket(peer, &topic) } else { join(peer, &topic) }
        };
        let held: Vec<TcpStream> = (0..connections).map(join).collect();
        let after = peer.resident_kib();
        drop(held);
        (after - before) / connections as f64
    }

    fn gather(&self, peer: &Peer, subscribers: usize, topic: &str) -> BenchSubscribers {
        let delivered = Arc::new(AtomicUsize::new(0));
        let (mut listening, mut end) = (JoinSet::new(), Vec::new());
        for _ in 0..subscribers {
            let (stop, stopped) = oneshot::channel();
            let (stream, delivered, begun) = (join(peer, topic), delivered.clone(), self.begun);
            let _entered = self.runtime.enter();
            stream.set_nonblocking(true).unwrap();
            let stream = tokio::net::TcpStream::from_std(stream).unwrap();
            listening.spawn(listen(stream, delivered, begun, stopped));
            end.push(stop);
        }
        BenchSubscribers { delivered, listening, end }
    }

    /// Runs `publish`, which says how many messages it sent, and waits until all have arrived.
    fn measure(
        &self,
        peer: &Peer,
        audience: BenchSubscribers,
        subscribers: usize,
        publish: impl FnOnce() -> usize,
    ) -> Measured {
        let before = peer.cpu_seconds();
        let deliveries = publish() * subscribers;
        wait_for(&audience.delivered, deliveries);
        let cpu = peer.cpu_seconds() - before;
        drop(audience.end);
        let mut nanos: Vec<u64> = self.runtime.block_on(audience.listening.join_all()).concat();
        nanos.sort_unstable();
        let at = |per_cent: usize| nanos[nanos.len() * per_cent / 100] as f64 / 1e9;
        Measured { cpu_per_delivery: cpu / deliveries as f64, p50: at(50), p99: at(99) }
    }

    /// About 190 octets of JSON, with the time.
    fn body(&self) -> String {
        let at = self.begun.elapsed().as_nanos();
        let rest = r#""objectType":"Tick","securityId":1,"feed":"SIMULATED","last":272.4,"volLast":5,"bid":272.39"#;
        format!(r#"{{"at":"{at:020}",{rest},"ask":272.41,"volBid":300,"volAsk":150,"vol":120500}}"#)
    }
}

fn wait_for(delivered: &AtomicUsize, wanted: usize) {
    let begun = Instant::now();
    while delivered.load(Ordering::Relaxed) < wanted {
        let heard = delivered.load(Ordering::Relaxed);
        assert!(begun.elapsed() < WAIT, "{heard} of {wanted} deliveries arrived");
        thread::sleep(Duration::from_millis(1));
    }
}

/// How long each delivery took, in nanoseconds.
async fn listen(
    mut stream: tokio::net::TcpStream,
    delivered: Arc<AtomicUsize>,
    begun: Instant,
    mut stopped: oneshot::Receiver<()>,
) -> Vec<u64> {
    let (mut nanos, mut unread, mut bytes) = (Vec::new(), Vec::new(), vec![0; 64 * 1_024]);
    loop {
        let ready = tokio::select! {
            _ = &mut stopped => return nanos,
            ready = stream.ready(Interest::READABLE) => ready,
        };
        let length = if ready.is_ok() { stream.read(&mut bytes).await.unwrap_or(0) } else { 0 };
        assert!(length > 0, "the broker has closed");
        unread.extend_from_slice(&bytes[..length]);
        let before = nanos.len();
        take_stamps(&mut unread, begun, &mut nanos);
        delivered.fetch_add(nanos.len() - before, Ordering::Relaxed);
    }
}

fn take_stamps(unread: &mut Vec<u8>, begun: Instant, nanos: &mut Vec<u64>) {
    let now = u64::try_from(begun.elapsed().as_nanos()).unwrap();
    let mut place = 0;
    while let Some(found) = find(&unread[place..]) {
        let digits = place + found + STAMP.len();
        let Some(stamp) = unread.get(digits..digits + STAMP_DIGITS) else { break };
        let at: u64 = std::str::from_utf8(stamp).unwrap().parse().unwrap();
        nanos.push(now.saturating_sub(at));
        place = digits + STAMP_DIGITS;
    }
    // The beginning of a stamp may have come without its end.
    let kept = unread.len().saturating_sub(STAMP.len() + STAMP_DIGITS).max(place);
    unread.drain(..kept);
}

fn find(bytes: &[u8]) -> Option<usize> {
    let quotes = bytes.iter().enumerate().filter(|(_, byte)| **byte == STAMP[0]);
    quotes.map(|(place, _)| place).find(|place| bytes[*place..].starts_with(STAMP))
}

struct Publisher(TcpStream);

impl Publisher {
    fn connect(peer: &Peer) -> Self {
        Self(connect(peer.tcp, peer.login).unwrap())
    }

    fn send(&mut self, topic: &str, body: &str) {
        self.0.write_all(&frame(topic, body.as_bytes())).unwrap();
    }
}

fn frame(topic: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("SEND\ndestination:{topic}\ncontent-type:application/json\ncontent-length:{}\n\n", body.len());
    [head.as_bytes(), body, b"\0"].concat()
}

/// Whether somebody lets us in.
pub(crate) fn answers(address: SocketAddr, login: &str) -> bool {
    connect(address, login).is_ok()
}

fn connect(address: SocketAddr, login: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(WAIT))?;
    write!(stream, "CONNECT\naccept-version:1.2\nhost:/\n{login}\n\0")?;
    read_until(&mut stream, b"CONNECTED")?;
    Ok(stream)
}

/// A connection that listens to a topic.
fn join(peer: &Peer, topic: &str) -> TcpStream {
    let mut stream = connect(peer.tcp, peer.login).unwrap();
    write!(stream, "SUBSCRIBE\nid:1\ndestination:{topic}\nack:auto\nreceipt:here\n\n\0").unwrap();
    read_until(&mut stream, b"here").unwrap();
    stream
}

fn join_websocket(peer: &Peer, topic: &str) -> TcpStream {
    let address = peer.ws.unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WAIT)).unwrap();
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\n{upgrade}\r\n{key}\r\n\r\n").unwrap();
    read_until(&mut stream, b"\r\n\r\n").unwrap();
    write_text(&mut stream, "CONNECT\naccept-version:1.2\nhost:/\n\n\0");
    read_until(&mut stream, b"CONNECTED").unwrap();
    write_text(&mut stream, &format!("SUBSCRIBE\nid:1\ndestination:{topic}\nreceipt:here\n\n\0"));
    read_until(&mut stream, b"here").unwrap();
    stream
}

fn write_text(stream: &mut TcpStream, text: &str) {
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126, "frames of this program are short");
    // A mask of noughts is a mask.
    stream.write_all(&[&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()).unwrap();
}

fn read_until(stream: &mut TcpStream, end: &[u8]) -> std::io::Result<()> {
    let (mut heard, mut bytes) = (Vec::new(), [0; 4_096]);
    while !heard.windows(end.len()).any(|window| window == end) {
        let length = stream.read(&mut bytes)?;
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        heard.extend_from_slice(&bytes[..length]);
    }
    Ok(())
}
