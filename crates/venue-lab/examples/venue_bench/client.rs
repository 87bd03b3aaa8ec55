//! Client of many WebSocket connections on one thread that receives, and at a given rate a second one that sends each message at its time.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use tokio::runtime::Builder;
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};

use crate::cpu::{CpuTimes, CpuUse};
use crate::socket::{ReadyStream, receive, socket_config};
use crate::{BenchResult, orders};

/// How much is sent, on how many connections, and how often; without a pause each connection has one message at a time.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) messages: usize,
    pub(crate) every: Option<Duration>,
}

pub(crate) struct LoadResult {
    /// Sorted. Each from the moment when the message was due.
    pub(crate) latencies: Vec<Duration>,
    took: Duration,
    pub(crate) cpu: CpuUse,
}

impl LoadResult {
    pub(crate) fn at(&self, thousandth: usize) -> Duration {
        self.latencies[(self.latencies.len() - 1) * thousandth / 1_000]
    }

    pub(crate) fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.took.as_secs_f64()
    }
}

/// When the messages under way on a connection were due, oldest first.
type DueTimes = Arc<Mutex<VecDeque<Instant>>>;
/// The text of the n-th message.
pub(crate) type MessageSource = Arc<dyn Fn(usize) -> String + Send + Sync>;

pub(crate) fn connect(url: &str) -> BenchResult<WebSocket<TcpStream>> {
    let address = url.trim_start_matches("ws://").split('/').next().unwrap_or_default();
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(tungstenite::client(url, stream)?.0)
}

/// Runs the load. The processor time is that of all threads of this process, the peer's included.
pub(crate) fn run(url: &str, load: Load, message: &MessageSource) -> BenchResult<LoadResult> {
    let mut streams = Vec::new();
    for _ in 0..load.connections {
        let stream = connect(url)?.get_ref().try_clone()?;
        stream.set_nonblocking(true)?;
        streams.push(stream);
    }
    let (began, before) = (Instant::now(), CpuTimes::read());
    let message = message.clone();
    let receiving = thread::Builder::new().name("client".to_owned()).spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let latencies = match load.every {
            None => runtime.block_on(exchange_all(streams, load, &message))?,
            Some(every) => {
                let dues: Vec<_> = streams.iter().map(|_| DueTimes::default()).collect();
                let (sending, sent) = start_sender(&streams, &dues, every, load.messages, message)?;
                let received = runtime.block_on(receive_all(streams, &dues, load));
                let times = CpuTimes::read();
                drop(sent);
                sending.join().map_err(|_| "the sender panicked")??;
                return Ok((received?, times));
            }
        };
        BenchResult::Ok((latencies, CpuTimes::read()))
    })?;
    let (mut latencies, times) = receiving.join().map_err(|_| "the client panicked")??;
    let (took, cpu) = (began.elapsed(), times.since(&before, latencies.len()));
    latencies.sort_unstable();
    Ok(LoadResult { latencies, took, cpu })
}

fn open(stream: TcpStream) -> BenchResult<WebSocket<ReadyStream>> {
    let stream = ReadyStream(tokio::net::TcpStream::from_std(stream)?);
    Ok(WebSocket::from_raw_socket(stream, Role::Client, Some(socket_config())))
}

async fn receive_good(socket: &mut WebSocket<ReadyStream>) -> BenchResult<()> {
    let answer = receive(socket).await?.ok_or("the connection ended")?;
    if orders::is_good(&answer) { Ok(()) } else { Err(answer.into()) }
}

/// On each connection the next message when the one before is answered.
async fn exchange_all(streams: Vec<TcpStream>, load: Load, message: &MessageSource) -> BenchResult<Vec<Duration>> {
    let exchange = |(client, stream): (usize, TcpStream)| async move {
        let mut socket = open(stream)?;
        socket.get_ref().0.writable().await?;
        let mut latencies = Vec::new();
        for number in (client..load.messages).step_by(load.connections) {
            let text = message(number);
            let sent = Instant::now();
            socket.send(Message::Text(text.into()))?;
            receive_good(&mut socket).await?;
            latencies.push(sent.elapsed());
        }
        BenchResult::Ok(latencies)
    };
    let all = try_join_all(streams.into_iter().enumerate().map(exchange)).await?;
    Ok(all.concat())
}

/// Sends each message when it is due, on the connections in turn, whatever is answered meanwhile. The thread stays until the other
/// end of its channel is dropped, so that its processor time can be read.
fn start_sender(
    streams: &[TcpStream],
    dues: &[DueTimes],
    every: Duration,
    messages: usize,
    message: MessageSource,
) -> BenchResult<(JoinHandle<BenchResult<()>>, mpsc::Sender<()>)> {
    let socket =
        |stream: &TcpStream| Ok(WebSocket::from_raw_socket(stream.try_clone()?, Role::Client, Some(socket_config())));
    let mut sockets: Vec<_> = streams.iter().map(socket).collect::<BenchResult<_>>()?;
    let dues = dues.to_vec();
    let (end, ended) = mpsc::channel();
    let send = move || {
        let mut due = Instant::now();
        for number in 0..messages {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let text = message(number);
            let client = number % sockets.len();
            dues[client].lock().unwrap_or_else(PoisonError::into_inner).push_back(due);
            sockets[client].send(Message::Text(text.into()))?;
            due += every;
        }
        // Nothing is ever sent here.
        let _ = ended.recv();
        Ok(())
    };
    Ok((thread::Builder::new().name("client-send".to_owned()).spawn(send)?, end))
}

async fn receive_all(streams: Vec<TcpStream>, dues: &[DueTimes], load: Load) -> BenchResult<Vec<Duration>> {
    let receive = |(client, stream): (usize, TcpStream)| async move {
        let mut socket = open(stream)?;
        let mut latencies = Vec::new();
        for _ in (client..load.messages).step_by(load.connections) {
            receive_good(&mut socket).await?;
            let due = dues[client].lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            latencies.push(due.ok_or("an answer without a request")?.elapsed());
        }
        BenchResult::Ok(latencies)
    };
    let all = try_join_all(streams.into_iter().enumerate().map(receive)).await?;
    Ok(all.concat())
}
