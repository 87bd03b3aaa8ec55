//! Test server: the HTTP server, its engine and a client that shows every byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

use bus::forwarding::{ForwardedCall, ForwardedRequest, ForwardedResponse};
use bus::inbox::{InboxReceiver, inbox};
use bus::{Bus, Catalogue, EngineRequest, EventFeed, Inbox, Reply, RequestPayload};
use domain::order::OrderTerms;
use domain::reference::TradingHours;
use domain::*;
use samples::stock;
use tokio::sync::{mpsc, oneshot};
use web::{HttpListeners, WebSettings};

pub(crate) use crate::fake_operations::FakeOperations;
use crate::test_users::TestUsers;

/// Every reply of the test engine is complete up to this sequence.
pub(crate) const SEQUENCE: u64 = 4711;

/// What the test engine does with a request.
pub(crate) type Outcome = Result<Answer, Refusal>;

/// A server on a port of its own, stopped when the test ends.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) program: Arc<FakeOperations>,
    pub(crate) inbox: Inbox,
    pub(crate) catalogue: Catalogue,
    /// Users and tokens: at first every local caller is accepted.
    pub(crate) users: TestUsers,
    /// The requests of the engine, in the order of arrival.
    pub(crate) received: Arc<Mutex<Vec<RequestPayload>>>,
    /// Commands that followers forward to it.
    forwarded: mpsc::Sender<ForwardedCall>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
    runtime: tokio::runtime::Runtime,
}

impl TestServer {
    /// An engine that answers every request by the same rule.
    pub(crate) fn open(rule: impl FnMut(&RequestPayload) -> Outcome + Send + 'static) -> Self {
        Self::open_with(WebSettings::default(), FakeOperations::default(), reference_data(), spawn_engine(rule))
    }

    /// The same, with a program of the test's own.
    pub(crate) fn with_program(
        program: FakeOperations,
        rule: impl FnMut(&RequestPayload) -> Outcome + Send + 'static,
    ) -> Self {
        Self::open_with(WebSettings::default(), program, reference_data(), spawn_engine(rule))
    }

    /// A server whose engine is not used.
    pub(crate) fn without_engine(settings: WebSettings) -> Self {
        Self::open_with(settings, FakeOperations::default(), reference_data(), spawn_engine(|_| Ok(Answer::Done)))
    }

    pub(crate) fn open_with(
        settings: WebSettings,
        program: FakeOperations,
        reference: ReferenceData,
        engine: impl FnMut(InboxReceiver, Arc<Mutex<Vec<RequestPayload>>>) + Send + 'static,
    ) -> Self {
        Self::open_on(inbox(), settings, program, reference, engine)
    }

    /// With the limits of the test.
    pub(crate) fn open_on(
        (inbox, lanes): (Inbox, InboxReceiver),
        settings: WebSettings,
        program: FakeOperations,
        reference: ReferenceData,
        mut engine: impl FnMut(InboxReceiver, Arc<Mutex<Vec<RequestPayload>>>) + Send + 'static,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (catalogue, program) = (Catalogue::default(), Arc::new(program));
        catalogue.replace(Arc::new(reference));
        let bus = Bus {
            inbox: inbox.clone(),
            feed: EventFeed::default(),
            catalogue: catalogue.clone(),
            history: program.clone(),
            journal: program.clone(),
        };
        let received = Arc::new(Mutex::new(vec![]));
        std::thread::spawn({
            let heard = received.clone();
            move || engine(lanes, heard)
        });
        let users = TestUsers::default();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        let (forwarded, calls) = mpsc::channel(1);
        let listeners = HttpListeners { forwarded: Some(calls), ..listener.into() };
        let served = runtime.spawn(web::serve(listeners, bus, program.services(), users.access(), settings, stopped));
        let (stop, served) = (Some(stop), Some(served));
        Self { address, program, inbox, catalogue, users, received, forwarded, stop, served, runtime }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.call("GET", path, "", "")
    }

    pub(crate) fn delete(&self, path: &str) -> String {
        self.call("DELETE", path, "", "")
    }

    pub(crate) fn post(&self, path: &str, json: &str) -> String {
        self.call("POST", path, "Content-Type: application/json\r\n", json)
    }

    pub(crate) fn put(&self, path: &str, json: &str) -> String {
        self.call("PUT", path, "Content-Type: application/json\r\n", json)
    }

    /// The answer to a command that a follower forwards.
    pub(crate) fn forward(&self, request: ForwardedRequest) -> ForwardedResponse {
        let (answer, answered) = oneshot::channel();
        self.forwarded.blocking_send(ForwardedCall { request, answer }).unwrap();
        answered.blocking_recv().unwrap()
    }

    pub(crate) fn call(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let host = format!("Host: {}\r\nX-Request-Id: story\r\n", self.address);
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.exchange(&format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{length}{headers}\r\n{body}"))
    }

    /// Every byte of a response but those of the date, which no test can know.
    pub(crate) fn exchange(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        read_all(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    pub(crate) fn commands(&self) -> Vec<CommandEnvelope> {
        let heard = std::mem::take(&mut *self.received.lock().unwrap());
        let command = |wanted| match wanted {
            RequestPayload::Command(envelope) => Some(*envelope),
            RequestPayload::Query(_) | RequestPayload::LedgerRecord(_) | RequestPayload::DeliveryLog(_) => None,
        };
        heard.into_iter().filter_map(command).collect()
    }

    pub(crate) fn queries(&self) -> Vec<Query> {
        let heard = std::mem::take(&mut *self.received.lock().unwrap());
        let query = |wanted| match wanted {
            RequestPayload::Query(query) => Some(*query),
            RequestPayload::Command(_) | RequestPayload::LedgerRecord(_) | RequestPayload::DeliveryLog(_) => None,
        };
        heard.into_iter().filter_map(query).collect()
    }

    /// Begins to stop; the test may continue with its connections.
    pub(crate) fn ask_to_stop(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) fn wait_until_stopped(&mut self) {
        self.runtime.block_on(self.served.take().unwrap()).unwrap().unwrap();
    }
}

pub(crate) fn read_all(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let kept: Vec<_> = answer.split("\r\n").filter(|line| !line.starts_with("date: ")).collect();
    kept.join("\n")
}

/// The first line of an answer.
pub(crate) fn status(answer: &str) -> &str {
    answer.lines().next().unwrap()
}

/// The code of a problem with its status.
pub(crate) fn code(answer: &str) -> String {
    let code = answer.split_once("\"code\":\"").map(|(_, rest)| rest.split('"').next().unwrap());
    let status = status(answer).split(' ').nth(1).unwrap();
    format!("{status} {}", code.unwrap_or("-"))
}

fn spawn_engine(
    mut rule: impl FnMut(&RequestPayload) -> Outcome + Send + 'static,
) -> impl FnMut(InboxReceiver, Arc<Mutex<Vec<RequestPayload>>>) + Send + 'static {
    move |lanes, heard| {
        for EngineRequest { payload: wanted, reply_to: promise } in &lanes.requests {
            let outcome = rule(&wanted);
            heard.lock().unwrap().push(wanted);
            promise.send(Reply { sequence: SEQUENCE, outcome });
        }
    }
}

pub(crate) fn reference_data() -> ReferenceData {
    let mut data = ReferenceData::default();
    let exchange = exchange();
    data.exchanges.insert(exchange.id, Arc::new(exchange));
    for (id, symbol) in [(1, "AAPL"), (2, "MSFT"), (3, "TWIN"), (4, "TWIN")] {
        data.securities.insert(SecurityId(id), Arc::new(stock(id, symbol)));
    }
    let account = samples::account(1, "ALPHA");
    data.accounts.insert(account.id, Arc::new(account));
    for (id, name) in [(1, "SERVER"), (2, "MOMENTUM")] {
        let strategy = StrategyRecord { id: StrategyId(id), name: name.into(), auto_activate: false };
        data.strategies.insert(strategy.id, Arc::new(strategy));
    }
    data
}

fn exchange() -> Exchange {
    let (open, close) = ("09:00".parse().unwrap(), "17:00".parse().unwrap());
    let trading_hours = vec![TradingHours { open, close, days: vec![1, 2, 3, 4, 5] }];
    Exchange { name: "Day".into(), trading_hours, ..samples::exchange() }
}

pub(crate) fn order(int_id: &str) -> Arc<Order> {
    let limit = Price(Decimal::new(27_240, 2));
    let at = Timestamp::from_millis(1_794_839_400_000).unwrap();
    let terms = OrderTerms { quantity: 100.into(), kind: OrderKind::Limit { limit }, tif: TimeInForce::Day };
    Arc::new(Order { int_id: int_id.parse().unwrap(), at, terms, changed_at: at, ..samples::order(7) })
}
