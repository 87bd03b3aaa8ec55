//! Requests over connections that are kept: each sends its next request when the last one is answered.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinSet, LocalSet};

use crate::machine::Cpu;

/// What one connection takes from the kernel at once.
const BUFFER_BYTES: usize = 128 << 10;

const CONTENT_LENGTH: &[u8] = b"content-length: ";

/// Rounds of the same side.
#[derive(Default)]
pub(crate) struct Rates(Vec<Load>);

/// What was answered in a round.
#[derive(Default)]
pub(crate) struct Load {
    /// From asked to answered, shortest first.
    pub(crate) times: Vec<Duration>,
    pub(crate) wall: Duration,
    pub(crate) cpu: Cpu,
}

impl Rates {
    /// Another round, and what it cost every thread.
    pub(crate) fn measure<E>(&mut self, round: impl FnOnce() -> Result<Load, E>) -> Result<(), E> {
        let before = Cpu::now();
        let load = round()?;
        self.0.push(Load { cpu: Cpu::now().since(&before), ..load });
        Ok(())
    }

    /// Answers a second in the round in the middle.
    pub(crate) fn median(&self) -> f64 {
        let mut rates: Vec<_> = self.0.iter().map(|load| load.times.len() as f64 / load.wall.as_secs_f64()).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or_default()
    }

    pub(crate) fn all(&self) -> Load {
        let mut times: Vec<_> = self.0.iter().flat_map(|load| load.times.iter().copied()).collect();
        times.sort_unstable();
        let mut cpu = Cpu::default();
        self.0.iter().for_each(|load| cpu += &load.cpu);
        Load { times, wall: self.0.iter().map(|load| load.wall).sum(), cpu }
    }
}

impl Load {
    /// What one answer cost every thread.
    pub(crate) fn cpu_each(&self) -> String {
        self.cpu.each(self.times.len())
    }
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: */*\r\n\r\n").into_bytes()
}

pub(crate) fn post(address: SocketAddr, path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The body of one answer.
pub(crate) fn body(address: SocketAddr, request: &[u8]) -> io::Result<Vec<u8>> {
    runtime()?.block_on(async {
        let mut body = Vec::new();
        Connection::open(address).await?.ask(request, Some(&mut body)).await?;
        Ok(body)
    })
}

/// `request` makes the n-th request; every answer must be 200.
pub(crate) fn run(
    address: SocketAddr,
    connections: usize,
    lasts: Duration,
    request: impl Fn(u64) -> Vec<u8> + 'static,
) -> io::Result<Load> {
    let next = Rc::new(Cell::new(0));
    let request = Rc::new(move || request(next.replace(next.get() + 1)));
    let tasks = LocalSet::new();
    runtime()?.block_on(tasks.run_until(async {
        let mut opened = Vec::new();
        for _ in 0..connections {
            opened.push(Connection::open(address).await?);
        }
        let begun = Instant::now();
        let mut asking = JoinSet::new();
        for connection in opened {
            asking.spawn_local(connection.ask_until(begun + lasts, request.clone()));
        }
        let mut times = Vec::new();
        while let Some(asked) = asking.join_next().await {
            times.extend(asked.map_err(io::Error::other)??);
        }
        Ok(Load { times, wall: begun.elapsed(), cpu: Cpu::default() })
    }))
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// What was received and not looked at yet.
    unread: Range<usize>,
}

impl Connection {
    async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER_BYTES], unread: 0..0 })
    }

    async fn ask_until(mut self, end: Instant, request: Rc<impl Fn() -> Vec<u8>>) -> io::Result<Vec<Duration>> {
        let mut times = Vec::new();
        loop {
            let request = request();
            let asked = Instant::now();
            if asked >= end {
                return Ok(times);
            }
            self.ask(&request, None).await?;
            times.push(asked.elapsed());
        }
    }

    async fn ask(&mut self, request: &[u8], mut body: Option<&mut Vec<u8>>) -> io::Result<()> {
        self.stream.write_all(request).await?;
        let status = self.line().await?;
        let status = &self.buffer[status];
        if !status.starts_with(b"HTTP/1.1 200") {
            return Err(io::Error::other(format!("the answer is {}", String::from_utf8_lossy(status))));
        }
        match self.length().await? {
            Some(length) => self.take(length, &mut body).await,
            None => self.take_chunks(&mut body).await,
        }
    }

    /// Reads the headers; without a length the body comes in chunks.
    async fn length(&mut self) -> io::Result<Option<usize>> {
        let mut length = None;
        loop {
            let line = self.line().await?;
            let line = &self.buffer[line];
            match line.split_at_checked(CONTENT_LENGTH.len()) {
                Some((name, digits)) if name.eq_ignore_ascii_case(CONTENT_LENGTH) => length = Some(number(digits, 10)?),
                _ if line.is_empty() => return Ok(length),
                _ => {}
            }
        }
    }

    async fn take_chunks(&mut self, body: &mut Option<&mut Vec<u8>>) -> io::Result<()> {
        loop {
            let digits = self.line().await?;
            let length = number(&self.buffer[digits], 16)?;
            self.take(length, body).await?;
            self.line().await?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    async fn take(&mut self, mut length: usize, body: &mut Option<&mut Vec<u8>>) -> io::Result<()> {
        while length > 0 {
            if self.unread.is_empty() {
                self.receive().await?;
            }
            let taken = self.unread.len().min(length);
            if let Some(body) = body {
                body.extend_from_slice(&self.buffer[self.unread.start..self.unread.start + taken]);
            }
            self.unread.start += taken;
            length -= taken;
        }
        Ok(())
    }

    /// Where the next line stands, without its end. Nothing is copied: this side shall cost as little as it can.
    async fn line(&mut self) -> io::Result<Range<usize>> {
        loop {
            let unread = &self.buffer[self.unread.clone()];
            if let Some(length) = unread.iter().position(|byte| *byte == b'\n') {
                let begin = self.unread.start;
                self.unread.start += length + 1;
                return Ok(begin..begin + length.saturating_sub(1));
            }
            self.receive().await?;
        }
    }

    /// More, behind what was not looked at yet.
    async fn receive(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.unread.clone(), 0);
        let kept = self.unread.len();
        let length = self.stream.read(&mut self.buffer[kept..]).await?;
        self.unread = 0..kept + length;
        if length == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

fn number(digits: &[u8], radix: u32) -> io::Result<usize> {
    let text = str::from_utf8(digits).map_err(io::Error::other)?;
    usize::from_str_radix(text, radix).map_err(io::Error::other)
}
