//! Subscribers during the kill switch: a burst that is read disconnects no client.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::{DEADLINE, wait_for};
use serde_json::Value;

use crate::test_platform::{AAPL, TestPlatform, int_id_in, limit};

const ORDERS: usize = 2_000;
/// What the screen listens to.
const SCREEN: [&str; 6] = ["order.>", "order-status.>", "fill.>", "position.>", "risk.>", "log-event.>"];

/// A client of topics over any stream.
pub(crate) struct TopicWatcher<S> {
    stream: S,
    unread: Vec<u8>,
}

impl<S: Read + Write> TopicWatcher<S> {
    /// None where the broker does not take it.
    pub(crate) fn try_join(stream: S) -> Option<Self> {
        let mut watcher = Self { stream, unread: vec![] };
        watcher.try_send("CONNECT\naccept-version:1.2\nhost:desk\n\n").ok()?;
        watcher.next_frame().is_some_and(|frame| frame.starts_with("CONNECTED\n")).then_some(watcher)
    }

    pub(crate) fn join(stream: S, topics: &[&str]) -> Self {
        let mut watcher = Self::try_join(stream).expect("the broker does not take it");
        for (id, topic) in topics.iter().enumerate() {
            watcher.send(&format!("SUBSCRIBE\nid:{id}\ndestination:/topic/{topic}\nreceipt:r{id}\n\n"));
            while !watcher.frame().starts_with("RECEIPT\n") {}
        }
        watcher
    }

    pub(crate) fn send(&mut self, frame: &str) {
        self.try_send(frame).unwrap();
    }

    pub(crate) fn try_send(&mut self, frame: &str) -> io::Result<()> {
        self.stream.write_all(format!("{frame}\0").as_bytes())
    }

    pub(crate) fn frame(&mut self) -> String {
        self.next_frame().expect("the broker has closed")
    }

    /// None where the broker has closed, or was killed.
    pub(crate) fn next_frame(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == 0) {
                let frame: Vec<u8> = self.unread.drain(..=end).take(end).collect();
                return Some(String::from_utf8(frame).unwrap().trim_start_matches('\n').to_owned());
            }
            let mut bytes = [0; 65_536];
            let length = self.stream.read(&mut bytes).ok().filter(|length| *length > 0)?;
            self.unread.extend_from_slice(&bytes[..length]);
        }
    }

    /// Reads until so many orders are heard to be canceled, and gives their ids.
    pub(crate) fn hear_cancels(&mut self, count: usize) -> BTreeSet<String> {
        let mut canceled = BTreeSet::new();
        while canceled.len() < count {
            let frame = self.frame();
            assert!(frame.starts_with("MESSAGE\n"), "{frame}");
            if !frame.contains("\ndestination:/topic/order-status.") {
                continue;
            }
            let body: Value = serde_json::from_str(frame.split_once("\n\n").unwrap().1).unwrap();
            if body["status"] == "CANCELED" {
                canceled.insert(body["intId"].as_str().unwrap().to_owned());
            }
        }
        canceled
    }
}

impl TopicWatcher<WebSocket> {
    /// For one that only reads on.
    pub(crate) fn into_socket(self) -> TcpStream {
        self.stream.stream
    }
}

/// STOMP over the WebSocket of the HTTP port.
pub(crate) struct WebSocket {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl WebSocket {
    pub(crate) fn open(address: SocketAddr) -> Self {
        Self::try_open(address).expect("the HTTP port makes it a WebSocket")
    }

    /// None where the port is gone, or answers otherwise.
    pub(crate) fn try_open(address: SocketAddr) -> Option<Self> {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let wish = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13";
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        write!(stream, "GET /stomp HTTP/1.1\r\nHost: {address}\r\n{wish}\r\n{key}\r\n\r\n").ok()?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        head.starts_with(b"HTTP/1.1 101 ").then_some(Self { stream, unread: vec![] })
    }

    /// What the next frame holds; a ping holds nothing.
    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head)?;
        let mut length = usize::from(head[1]);
        if length == 126 {
            let mut long = [0; 2];
            self.stream.read_exact(&mut long)?;
            length = u16::from_be_bytes(long).into();
        }
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload)?;
        // A close.
        if head[0] & 0x0f == 8 {
            return Err(ErrorKind::ConnectionAborted.into());
        }
        Ok(payload)
    }
}

impl Read for WebSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.unread.is_empty() {
            self.unread = self.receive()?;
        }
        let length = self.unread.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.unread[..length]);
        self.unread.drain(..length);
        Ok(length)
    }
}

impl Write for WebSocket {
    /// With a mask of noughts, in pieces of 100.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.chunks(100) {
            let head = [0x82, 0x80 | u8::try_from(piece.len()).unwrap(), 0, 0, 0, 0];
            self.stream.write_all(&[&head[..], piece].concat())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn patient(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// Orders that wait far below the market, by four clients at a time.
fn place(server: &RunningServer, count: usize) -> BTreeSet<String> {
    let order = limit(AAPL, "BUY", 1, "200.00").to_string();
    let place_some = |mut client: HttpClient| {
        let place = |client: &mut HttpClient| int_id_in(&client.post("/rest/execution/order/limit", &order).unwrap());
        (0..count / 4).map(|_| place(&mut client)).collect::<Vec<_>>()
    };
    let clients = [(); 4].map(|()| server.client());
    thread::scope(|scope| {
        let threads = clients.map(|client| scope.spawn(|| place_some(client)));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn metric(client: &mut HttpClient, name: &str) -> u64 {
    let text = client.get("/metrics").unwrap().body;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line.trim().parse().unwrap()
}

#[test]
fn whoever_watches_the_kill_switch_hears_that_every_order_is_canceled() {
    let desk = TestPlatform::new().set("risk.ordersPerSecond", 100_000);
    let server = desk.start();
    let tcp = server.port_address("brokerTcp");
    let orders = place(&server, ORDERS);
    assert_eq!(orders.len(), ORDERS);
    let mut everything = TopicWatcher::join(patient(tcp), &[">"]);
    let mut screen = TopicWatcher::join(patient(tcp), &SCREEN);
    let mut page = TopicWatcher::join(WebSocket::open(server.address()), &SCREEN);
    let lazy = TopicWatcher::join(patient(tcp), &[">"]);
    let mut client = server.client();
    thread::scope(|scope| {
        let heard = [
            scope.spawn(|| everything.hear_cancels(ORDERS)),
            scope.spawn(|| screen.hear_cancels(ORDERS)),
            scope.spawn(|| page.hear_cancels(ORDERS)),
        ];
        assert_eq!(client.post("/rest/risk/kill", r#"{"scope": "PLATFORM", "reason": "fire"}"#).unwrap().status, 200);
        heard.into_iter().for_each(|heard| assert_eq!(heard.join().unwrap(), orders));
    });
    // A client that does not read is disconnected in the end, and no other is.
    let cut = wait_for("the one who does not read is cut", || {
        Some(metric(&mut client, "rialto_topic_slow_consumers_closed_total")).filter(|cut| *cut > 0)
    });
    assert_eq!(cut, 1);
    drop(lazy);
    server.stop();
}
