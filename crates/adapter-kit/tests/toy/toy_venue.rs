//! The toy venue: orders over REST, reports and prices over a WebSocket. It buys and sells everything at 10.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_tungstenite::tungstenite::Message;

const MARKET: f64 = 10.0;

pub(crate) struct ToyVenue {
    book: Arc<Mutex<Book>>,
    pub(crate) rest: SocketAddr,
    pub(crate) stream: SocketAddr,
    _runtime: Runtime,
}

#[derive(Default)]
struct Book {
    orders: BTreeMap<String, Value>,
    fills: Vec<Value>,
    subscribed: BTreeSet<String>,
    /// To the one connection that gets reports.
    stream: Option<UnboundedSender<String>>,
    sent: usize,
    is_down: bool,
}

impl ToyVenue {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let book = Arc::new(Mutex::new(Book::default()));
        let listen = || runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let (rest, stream) = (listen(), listen());
        let (rest_address, stream_address) = (rest.local_addr().unwrap(), stream.local_addr().unwrap());
        let shared = Arc::clone(&book);
        runtime.spawn(async move {
            loop {
                tokio::spawn(serve_rest(rest.accept().await.unwrap().0, Arc::clone(&shared)));
            }
        });
        let shared = Arc::clone(&book);
        runtime.spawn(async move {
            loop {
                tokio::spawn(serve_stream(stream.accept().await.unwrap().0, Arc::clone(&shared)));
            }
        });
        Self { book, rest: rest_address, stream: stream_address, _runtime: runtime }
    }

    /// Cuts all connections, or lets them come again.
    pub(crate) fn set_down(&self, is_down: bool) {
        let mut book = self.book.lock().unwrap();
        book.is_down = is_down;
        book.stream = None;
    }

    /// Messages that went to the present stream.
    pub(crate) fn sent(&self) -> usize {
        self.book.lock().unwrap().sent
    }
}

async fn serve_rest(mut stream: TcpStream, book: Arc<Mutex<Book>>) {
    while let Some((method, path, body)) = read_request(&mut stream).await {
        let (status, answer) = {
            let mut book = book.lock().unwrap();
            if book.is_down {
                return;
            }
            book.handle(&method, path.trim_start_matches("/orders").trim_start_matches('/'), &body)
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

async fn serve_stream(stream: TcpStream, book: Arc<Mutex<Book>>) {
    if book.lock().unwrap().is_down {
        return;
    }
    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { return };
    let mut events = book.lock().unwrap().open_stream();
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(text) => drop(socket.send(Message::text(text)).await),
                // Another connection, or a cut: no close, as when a line is cut.
                None => return,
            },
            command = socket.next() => match command {
                Some(Ok(Message::Text(text))) => book.lock().unwrap().subscribe(&serde_json::from_str(&text).unwrap()),
                Some(Ok(_)) => {}
                _ => return,
            },
        }
    }
}

impl Book {
    fn open_stream(&mut self) -> UnboundedReceiver<String> {
        let (sender, receiver) = unbounded_channel();
        (self.stream, self.sent, self.subscribed) = (Some(sender), 0, BTreeSet::new());
        self.send(&json!({ "event": "ready" }));
        receiver
    }

    fn send(&mut self, event: &Value) {
        if let Some(stream) = &self.stream {
            self.sent += usize::from(stream.send(event.to_string()).is_ok());
        }
    }

    fn subscribe(&mut self, command: &Value) {
        if let Some(symbol) = command["subscribe"].as_str() {
            self.subscribed.insert(symbol.to_owned());
            // A subscription begins with the last price: orders come by another line and may be faster.
            self.send_price();
        }
        if let Some(symbol) = command["unsubscribe"].as_str() {
            self.subscribed.remove(symbol);
        }
        self.send(&json!({ "event": "done" }));
    }

    fn handle(&mut self, method: &str, id: &str, body: &Value) -> (u16, Value) {
        match method {
            "get" => (200, json!({ "orders": self.orders.values().collect::<Vec<_>>(), "fills": self.fills })),
            "post" => self.submit(body),
            _ if self.orders.get(id).is_none_or(|order| order["state"] != "live") => {
                (404, json!({ "reason": "unknown order" }))
            }
            "delete" => self.change(id, "canceled", &json!({ "state": "canceled" })),
            _ => self.change(id, "replaced", &json!({ "quantity": body["quantity"], "limit": body["limit"] })),
        }
    }

    fn submit(&mut self, body: &Value) -> (u16, Value) {
        let id = body["clientId"].as_str().unwrap().to_owned();
        if self.orders.contains_key(&id) {
            return (409, json!({ "reason": "duplicate" }));
        }
        if body["symbol"] != "7" {
            return (400, json!({ "reason": "unknown symbol" }));
        }
        let mut order = body.clone();
        (order["state"], order["orderId"]) = (json!("live"), json!(format!("T{}", self.orders.len() + 1)));
        self.orders.insert(id.clone(), order);
        self.change(&id, "accepted", &json!({}));
        if body["limit"].as_str().unwrap().parse::<f64>().unwrap() >= MARKET {
            self.trade(&id, body);
        }
        (201, json!({}))
    }

    fn change(&mut self, id: &str, event: &str, changes: &Value) -> (u16, Value) {
        let order = self.orders.get_mut(id).unwrap();
        changes.as_object().unwrap().iter().for_each(|(name, value)| order[name] = value.clone());
        let report = json!({ "event": event, "order": order });
        self.send(&report);
        (200, json!({}))
    }

    fn trade(&mut self, id: &str, body: &Value) {
        let exec_id = format!("F{}", self.fills.len() + 1);
        let fill =
            json!({ "clientId": id, "execId": exec_id, "quantity": body["quantity"], "price": MARKET.to_string() });
        self.fills.push(fill.clone());
        self.send(&json!({ "event": "filled", "fill": fill }));
        self.send_price();
    }

    fn send_price(&mut self) {
        if self.subscribed.contains("7") {
            self.send(&json!({ "event": "price", "symbol": "7", "last": MARKET.to_string() }));
        }
    }
}
