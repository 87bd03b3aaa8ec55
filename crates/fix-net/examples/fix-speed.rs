//! How fast it is: the codec by itself, or the round trip to an echo acceptor of anybody's making.
//!
//! ```text
//! cargo run --release --example fix-speed                    codec
//! cargo run --release --example fix-speed -- HOST:PORT       ping-pong, then pipelined, as TW44 calling ISLD
//! ```

use fix::{CheckRules, Checker, Decoder, Dictionary, Framer, Time};
use fix_net::now;
use std::error::Error;
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const REPORT: &str = "35=8|34=215|49=ISLD|52=20260105-12:00:00.123|56=TW44|1=ACC-1|6=101.25|11=order-000215|14=400|\
    17=0f8fad5b-d9cb-469f-a165-70867728950e|31=101.25|32=100|37=order-000215|38=1000|39=1|40=2|44=101.50|48=4711|54=1|\
    55=AAPL|58=partial fill|59=0|60=20260105-12:00:00.120|150=F|151=600|167=CS|";

const WARM_UP: u32 = 2_000;
const PING_PONGS: u32 = 10_000;
const PIPELINED: u32 = 50_000;
const WINDOW: u32 = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        None => codec(),
        Some(address) => round_trips(&address)?,
    }
    Ok(())
}

fn codec() {
    let frame = sealed(&REPORT.replace('|', "\x01"));
    let dictionary = Dictionary::fix44();
    let (mut decoder, mut checker) = (Decoder::new(), Checker::default());
    report("decode an Execution Report", || {
        let _ = black_box(decoder.decode(black_box(&frame)));
    });
    let mut decoder = Decoder::new();
    let message = decoder.decode(&frame).expect("the report is sound");
    report("check it against FIX 4.4", || {
        let _ = black_box(checker.check(&dictionary, CheckRules::default(), black_box(&message)));
    });
}

/// The best of several rounds, because other programs run here too.
fn report(what: &str, mut work: impl FnMut()) {
    const ROUND: u32 = 100_000;
    let rounds = (0..10).map(|_| {
        let start = Instant::now();
        (0..ROUND).for_each(|_| work());
        start.elapsed() / ROUND
    });
    println!("{what}: {} ns", rounds.min().unwrap_or_default().as_nanos());
}

fn round_trips(address: &str) -> Result<(), Box<dyn Error>> {
    let mut peer = Peer::connect(address)?;
    for number in 2..2 + WARM_UP {
        peer.send_order(number)?;
        peer.await_answers(1)?;
    }
    let mut times: Vec<Duration> = Vec::with_capacity(PING_PONGS as usize);
    for number in 2 + WARM_UP..2 + WARM_UP + PING_PONGS {
        let start = Instant::now();
        peer.send_order(number)?;
        peer.await_answers(1)?;
        times.push(start.elapsed());
    }
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e6;
    println!("round trip: min {:.1} p50 {:.1} p99 {:.1} us", at(0), at(50), at(99));
    pipelined(&mut peer)
}

fn pipelined(peer: &mut Peer) -> Result<(), Box<dyn Error>> {
    let first = 2 + WARM_UP + PING_PONGS;
    let start = Instant::now();
    let (mut sent, mut answered) = (0, 0);
    while answered < PIPELINED {
        let room = (WINDOW - (sent - answered)).min(PIPELINED - sent);
        for number in sent..sent + room {
            peer.gather_order(first + number);
        }
        sent += room;
        peer.flush()?;
        answered += peer.await_answers(1)?;
    }
    println!("pipelined: {:.0} echoes/s", f64::from(PIPELINED) / start.elapsed().as_secs_f64());
    Ok(())
}

struct Peer {
    socket: TcpStream,
    framer: Framer,
    leaving: Vec<u8>,
}

impl Peer {
    fn connect(address: &str) -> Result<Self, Box<dyn Error>> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        let mut peer = Self { socket, framer: Framer::new(), leaving: Vec::new() };
        peer.gather("A", 1, "98=0|108=30|");
        peer.flush()?;
        peer.await_answers(1)?;
        Ok(peer)
    }

    fn send_order(&mut self, number: u32) -> std::io::Result<()> {
        self.gather_order(number);
        self.flush()
    }

    fn gather_order(&mut self, number: u32) {
        let order = format!("11=order-{number}|21=1|38=100|40=2|44=101.25|54=1|55=AAPL|60={}|", text(now()));
        self.gather("D", number, &order);
    }

    fn gather(&mut self, kind: &str, number: u32, body: &str) {
        let text = format!("35={kind}|34={number}|49=TW44|52={}|56=ISLD|{body}", text(now()));
        self.leaving.extend(sealed(&text.replace('|', "\x01")));
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.socket.write_all(&self.leaving)?;
        self.leaving.clear();
        Ok(())
    }

    /// Waits for at least so many answers, and says how many came.
    fn await_answers(&mut self, least: u32) -> Result<u32, Box<dyn Error>> {
        let mut count = 0;
        let mut piece = [0; 65_536];
        loop {
            while self.framer.next_frame().map_err(|error| error.to_string())?.is_some() {
                count += 1;
            }
            if count >= least {
                return Ok(count);
            }
            match self.socket.read(&mut piece)? {
                0 => return Err("the acceptor hung up".into()),
                length => self.framer.buffer().extend_from_slice(&piece[..length]),
            }
        }
    }
}

fn text(time: Time) -> String {
    let mut out = Vec::new();
    time.write(3, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn sealed(body: &str) -> Vec<u8> {
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    frame
}
