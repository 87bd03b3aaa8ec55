//! The toy venue behind two ports: orders over REST, reports and prices over a WebSocket.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::Message;

use crate::toy_venue::ToyVenue;

pub(crate) struct ToyServer {
    venue: Arc<Mutex<ToyVenue>>,
    pub(crate) rest: SocketAddr,
    pub(crate) stream: SocketAddr,
    _runtime: Runtime,
}

impl ToyServer {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let venue = Arc::new(Mutex::new(ToyVenue::default()));
        let listen = || runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let (rest, stream) = (listen(), listen());
        let (rest_address, stream_address) = (rest.local_addr().unwrap(), stream.local_addr().unwrap());
        let shared = Arc::clone(&venue);
        runtime.spawn(async move {
            loop {
                tokio::spawn(serve_rest(rest.accept().await.unwrap().0, Arc::clone(&shared)));
            }
        });
        let shared = Arc::clone(&venue);
        runtime.spawn(async move {
            loop {
                tokio::spawn(serve_stream(stream.accept().await.unwrap().0, Arc::clone(&shared)));
            }
        });
        Self { venue, rest: rest_address, stream: stream_address, _runtime: runtime }
    }

    /// Cuts all connections, or lets them come again.
    pub(crate) fn set_down(&self, is_down: bool) {
        let mut venue = self.venue.lock().unwrap();
        venue.is_down = is_down;
        venue.stream = None;
    }

    /// Messages that went to the present stream.
    pub(crate) fn sent(&self) -> usize {
        self.venue.lock().unwrap().sent
    }
}

async fn serve_rest(mut stream: TcpStream, venue: Arc<Mutex<ToyVenue>>) {
    while let Some((method, path, body)) = read_request(&mut stream).await {
        let (status, answer) = {
            let mut venue = venue.lock().unwrap();
            if venue.is_down {
                return;
            }
            venue.handle(&method, path.trim_start_matches("/orders").trim_start_matches('/'), &body)
        };
        let text = answer.to_string();
        let head = format!("HTTP/1.1 {status} x\r\nx-used-weight: 1\r\ncontent-length: {}\r\n\r\n", text.len());
        if stream.write_all((head + &text).as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, String, Value)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let mut words = head.split(' ');
    Some((words.next()?.to_owned(), words.next()?.to_owned(), serde_json::from_slice(&body).unwrap_or_default()))
}

async fn serve_stream(stream: TcpStream, venue: Arc<Mutex<ToyVenue>>) {
    if venue.lock().unwrap().is_down {
        return;
    }
    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { return };
    let mut events = venue.lock().unwrap().open_stream();
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(text) => drop(socket.send(Message::text(text)).await),
                // Another connection, or a cut: no close, as when a line is cut.
                None => return,
            },
            command = socket.next() => match command {
                Some(Ok(Message::Text(text))) => venue.lock().unwrap().subscribe(&serde_json::from_str(&text).unwrap()),
                Some(Ok(_)) => {}
                _ => return,
            },
        }
    }
}
