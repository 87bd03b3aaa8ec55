//! The server, its engine and a client that shows every byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

use bus::inbox::{Lanes, inbox};
use bus::{Bus, Catalogue, Feed, Inbox, Reply, Request, Wanted};
use domain::order::{BaseState, Pending, Terms};
use domain::reference::TradingHours;
use domain::*;
use tokio::sync::oneshot;
use web::Settings;

use crate::people::People;
pub(crate) use crate::program::Program;

/// Every reply of the small engine is true up to this sequence.
pub(crate) const SEQUENCE: u64 = 4711;

/// What the small engine does with a request.
pub(crate) type Outcome = Result<Answer, Refusal>;

/// A server on a port of its own, stopped when the story ends.
pub(crate) struct Desk {
    pub(crate) address: SocketAddr,
    pub(crate) program: Arc<Program>,
    pub(crate) inbox: Inbox,
    pub(crate) catalogue: Catalogue,
    /// Who may come in: at first everybody on this machine.
    pub(crate) people: People,
    /// What the engine was asked, in the order of arrival.
    pub(crate) heard: Arc<Mutex<Vec<Wanted>>>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
    runtime: tokio::runtime::Runtime,
}

impl Desk {
    /// An engine that answers every request by the same rule.
    pub(crate) fn open(rule: impl FnMut(&Wanted) -> Outcome + Send + 'static) -> Self {
        Self::open_with(Settings::default(), Program::default(), reference_data(), answering(rule))
    }

    /// The same, with a program of the story's own.
    pub(crate) fn run_by(program: Program, rule: impl FnMut(&Wanted) -> Outcome + Send + 'static) -> Self {
        Self::open_with(Settings::default(), program, reference_data(), answering(rule))
    }

    /// A desk at which nobody needs the engine.
    pub(crate) fn quiet(settings: Settings) -> Self {
        Self::open_with(settings, Program::default(), reference_data(), answering(|_| Ok(Answer::Done)))
    }

    pub(crate) fn open_with(
        settings: Settings,
        program: Program,
        reference: ReferenceData,
        mut engine: impl FnMut(Lanes, Arc<Mutex<Vec<Wanted>>>) + Send + 'static,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let ((inbox, lanes), catalogue, program) = (inbox(), Catalogue::default(), Arc::new(program));
        catalogue.replace(Arc::new(reference));
        let bus = Bus {
            inbox: inbox.clone(),
            feed: Feed::default(),
            catalogue: catalogue.clone(),
            history: program.clone(),
            operations: program.clone(),
        };
        let heard = Arc::new(Mutex::new(vec![]));
        std::thread::spawn({
            let heard = heard.clone();
            move || engine(lanes, heard)
        });
        let people = People::default();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = runtime
            .spawn(web::serve_with(listener, bus, people.access(), settings, async move { drop(stopped.await) }));
        Self { address, program, inbox, catalogue, people, heard, stop: Some(stop), served: Some(served), runtime }
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

    pub(crate) fn call(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let host = format!("Host: {}\r\nX-Request-Id: story\r\n", self.address);
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.exchange(&format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{length}{headers}\r\n{body}"))
    }

    /// Every byte of an answer but those of the date, which no story can know.
    pub(crate) fn exchange(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        read_all(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    pub(crate) fn commands(&self) -> Vec<Envelope> {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap());
        let command = |wanted| match wanted {
            Wanted::Command(envelope) => Some(*envelope),
            Wanted::Query(_) | Wanted::Remember(_) => None,
        };
        heard.into_iter().filter_map(command).collect()
    }

    pub(crate) fn queries(&self) -> Vec<Query> {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap());
        let query = |wanted| match wanted {
            Wanted::Query(query) => Some(*query),
            Wanted::Command(_) | Wanted::Remember(_) => None,
        };
        heard.into_iter().filter_map(query).collect()
    }

    /// Begins to stop; the story may go on with the connections it has.
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

fn answering(
    mut rule: impl FnMut(&Wanted) -> Outcome + Send + 'static,
) -> impl FnMut(Lanes, Arc<Mutex<Vec<Wanted>>>) + Send + 'static {
    move |lanes, heard| {
        for Request { wanted, promise } in &lanes.requests {
            let outcome = rule(&wanted);
            heard.lock().unwrap().push(wanted);
            promise.keep(Reply { sequence: SEQUENCE, outcome });
        }
    }
}

pub(crate) fn reference_data() -> ReferenceData {
    let mut data = ReferenceData::default();
    let exchange = exchange();
    data.exchanges.insert(exchange.id, Arc::new(exchange));
    for (id, symbol) in [(1, "AAPL"), (2, "MSFT"), (3, "TWIN"), (4, "TWIN")] {
        data.securities.insert(SecurityId(id), Arc::new(security(id, symbol)));
    }
    let account = account();
    data.accounts.insert(account.id, Arc::new(account));
    for (id, name) in [(1, "SERVER"), (2, "MOMENTUM")] {
        let strategy = Strategy { id: StrategyId(id), name: name.into(), auto_activate: false };
        data.strategies.insert(strategy.id, Arc::new(strategy));
    }
    data
}

fn account() -> Account {
    Account {
        id: AccountId(1),
        name: "ALPHA".into(),
        active: true,
        adapter_type: "SIMULATED".into(),
        session_qualifier: None,
        ext_account: None,
        ext_account_group: None,
        ext_allocation_profile: None,
        ext_clearing_account: None,
    }
}

fn exchange() -> Exchange {
    let (open, close) = ("09:00".parse().unwrap(), "17:00".parse().unwrap());
    Exchange {
        id: ExchangeId(1),
        name: "Day".into(),
        code: None,
        mic: None,
        bloomberg_code: None,
        time_zone: "UTC".into(),
        trading_hours: vec![TradingHours { open, close, days: vec![1, 2, 3, 4, 5] }],
        holidays: vec![],
        opening_auction_minutes: 0,
        closing_auction_minutes: 0,
    }
}

pub(crate) fn security(id: u64, symbol: &str) -> Security {
    Security {
        id: SecurityId(id),
        kind: SecurityKind::Stock,
        symbol: symbol.into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: None,
        exchange: ExchangeId(1),
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        min_qty: None,
        max_qty: None,
        qty_incr: Decimal::ONE,
        min_price: None,
        max_price: None,
        price_incr: Decimal::new(1, 2),
        min_notional: None,
        tradeable: true,
    }
}

pub(crate) fn order(int_id: &str) -> Arc<Order> {
    let limit = Price(Decimal::new(27_240, 2));
    let at = Timestamp::from_millis(1_794_839_400_000).unwrap();
    Arc::new(Order {
        id: OrderId(7),
        int_id: int_id.parse().unwrap(),
        ext_id: None,
        cl_ord_id: None,
        at,
        side: Side::Buy,
        terms: Terms { quantity: 100.into(), kind: OrderKind::Limit { limit }, tif: TimeInForce::Day },
        exchange_order: false,
        exchange: ExchangeId(1),
        security: SecurityId(1),
        account: AccountId(1),
        strategy: StrategyId(1),
        adapter: AdapterName::new("SIMULATED", None),
        reduce_only: false,
        state: BaseState::PendingNew,
        pending: Pending::Nothing,
        filled: Quantity::ZERO,
        turnover: Amount::ZERO,
        revision: 0,
        reason: None,
        in_doubt: false,
        reference: None,
        source: Source::Rest,
        submitted_by: None,
        changed_at: at,
    })
}
