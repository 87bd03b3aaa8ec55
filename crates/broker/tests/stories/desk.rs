//! A broker on ports of its own, with an engine that writes down what it is asked and publishes generic events.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use access::{Access, Actor, Door, NewToken, Password, Role, Visit};
use broker::{Broker, Listeners, OurHosts, Rate, Settings};
use bus::history::{HistoryError, Page, PastEvent};
use bus::inbox::{Lanes, inbox};
use bus::operations::*;
use bus::{Bus, Catalogue, Feed, History, Operations, Reply, Wanted};
use domain::event::{Alarm, AlarmLevel};
use domain::query::Filter;
use domain::*;
use rustls::server::ResolvesServerCert;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

pub(crate) const PASSWORD: &str = "correct horse";

pub(crate) struct Desk {
    pub(crate) tcp: SocketAddr,
    pub(crate) tls: SocketAddr,
    pub(crate) ws: SocketAddr,
    pub(crate) feed: Feed,
    pub(crate) log: mpsc::Sender<LogLine>,
    pub(crate) broker: Broker,
    access: Arc<Access>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
    runtime: tokio::runtime::Runtime,
    _folder: TempDir,
}

impl Desk {
    pub(crate) fn open() -> Self {
        Self::open_with(&["/topic/generic-event.>"], None)
    }

    pub(crate) fn open_with(destinations: &[&str], certificates: Option<Arc<dyn ResolvesServerCert>>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listen = || {
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            (listener.local_addr().unwrap(), Some(listener))
        };
        let ((tcp, tcp_listener), (tls, tls_listener), (ws, ws_listener)) = (listen(), listen(), listen());
        let ((inbox, lanes), feed, catalogue) = (inbox(), Feed::default(), Catalogue::default());
        catalogue.replace(Arc::new(strategies()));
        std::thread::spawn({
            let feed = feed.clone();
            move || run_engine(&lanes, &feed)
        });
        let bus =
            Bus { inbox, feed: feed.clone(), catalogue, history: Arc::new(Nothing), operations: Arc::new(Nothing) };
        let (folder, access) = people();
        let broker = Broker::new(settings(destinations), bus, access.clone());
        let hosts = OurHosts { allowed_origins: vec!["https://friend.example".into()], ..OurHosts::default() };
        let listeners = Listeners { tcp: tcp_listener, tls: tls_listener, ws: ws_listener, certificates, hosts };
        let ((stop, stopped), (log, lines)) = (oneshot::channel::<()>(), mpsc::channel(1_024));
        let serving = broker.clone().serve(listeners, lines, async move { drop(stopped.await) });
        let served = Some(runtime.spawn(serving));
        Self { tcp, tls, ws, feed, log, broker, access, stop: Some(stop), served, runtime, _folder: folder }
    }

    /// From now on nobody is anonymous.
    pub(crate) fn add(&self, name: &str, role: Role) {
        let password = Password::new(PASSWORD.into()).unwrap();
        let user = (&name.parse().unwrap(), &role, &password);
        self.access.register().add_user(user, true, &operator(), self.access.now()).unwrap();
        self.access.look_again().unwrap();
    }

    pub(crate) fn token(&self, name: &str, role: Role) -> String {
        let wanted = NewToken { name: name.parse().unwrap(), role, days: 1 };
        let (_, secret) = self.access.register().new_token(wanted, &operator(), self.access.now()).unwrap();
        self.access.look_again().unwrap();
        secret.text().to_owned()
    }

    /// What came by the broker's door, a line each.
    pub(crate) fn audit(&self) -> Vec<String> {
        let rows = self.access.register().audit(0, 1_000).unwrap();
        let ours = rows.into_iter().filter(|row| row.door == "STOMP");
        ours.map(|row| {
            let user = row.user.unwrap_or_else(|| "nobody".into());
            format!("{user}: {} => {} ({})", row.action, row.outcome, row.detail)
        })
        .collect()
    }

    /// Says that a number was reached, on `log-event.warn`.
    pub(crate) fn alarm(&self, sequence: u64) {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "story".into(), text: format!("number {sequence}").into() };
        self.publish(sequence, Event::Alarm(Arc::new(alarm)));
    }

    pub(crate) fn publish(&self, sequence: u64, event: Event) {
        self.feed.publish(&Published { sequence, at: Timestamp(1_000_000), event });
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(served) = self.served.take() {
            self.runtime.block_on(served).unwrap().unwrap();
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn tick(security: u64, bid: i64) -> Event {
    Event::Tick(Arc::new(Tick {
        security: SecurityId(security),
        feed: "test".into(),
        at: Timestamp(0),
        last: None,
        last_at: None,
        vol_last: None,
        bid: Some(bid.into()),
        ask: None,
        vol_bid: None,
        vol_ask: None,
        vol: None,
    }))
}

fn settings(destinations: &[&str]) -> Settings {
    Settings {
        server: "Rialto/test".into(),
        max_rate_per_connection: Rate::per_second(50).unwrap(),
        min_rate_per_consumer: "0.1".parse().unwrap(),
        client_destinations: destinations.iter().map(|text| broker::Pattern::parse(text).unwrap()).collect(),
    }
}

fn strategies() -> ReferenceData {
    let strategy = |id, name: &str| {
        (StrategyId(id), Arc::new(Strategy { id: StrategyId(id), name: name.into(), auto_activate: false }))
    };
    ReferenceData { strategies: [strategy(1, "SERVER"), strategy(2, "MOMENTUM")].into(), ..Default::default() }
}

/// Publishes what it is told to, with numbers from 1.
fn run_engine(lanes: &Lanes, feed: &Feed) {
    let mut sequence = 0;
    for request in &lanes.requests {
        if let Wanted::Command(envelope) = request.wanted
            && let Command::Publish(event) = envelope.command
        {
            sequence += 1;
            feed.publish(&Published { sequence, at: Timestamp(1_000_000), event: Event::Generic(Arc::new(event)) });
        }
        request.promise.keep(Reply { sequence, outcome: Ok(Answer::Done) });
    }
}

fn people() -> (TempDir, Arc<Access>) {
    let (folder, nanos) = (tempfile::tempdir().unwrap(), AtomicI64::new(1_794_839_400_000_000_000));
    let clock = Arc::new(move || Timestamp(nanos.load(Ordering::Relaxed)));
    let access = Access::open(folder.path(), access::Settings::default(), clock).unwrap();
    (folder, Arc::new(access))
}

fn operator() -> Actor {
    Actor { user: None, visit: Visit { door: Door::CommandLine, peer: None, action: "story".into() } }
}

/// No story of the broker asks for the past or for the program.
struct Nothing;

impl History for Nothing {
    fn orders(&self, _: u64, _: Filter, _: Page) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn order_events(&self, _: u64, _: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        Ok(vec![])
    }

    fn transactions(&self, _: u64, _: Filter, _: Page) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        Ok(vec![])
    }

    fn transaction(&self, _: u64, _: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        Ok(None)
    }

    fn events(&self, _: u64, _: Page) -> Result<Vec<PastEvent>, HistoryError> {
        Ok(vec![])
    }
}

impl Operations for Nothing {
    fn checks(&self) -> Vec<Check> {
        vec![]
    }

    fn parameters(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn shut_down(&self) {}

    fn durable(&self) -> u64 {
        0
    }

    fn broker(&self) -> BrokerDoors {
        BrokerDoors::default()
    }

    fn read_reference(&self, _: Option<&Path>) -> Result<usize, ReferenceTrouble> {
        Ok(0)
    }

    fn write_metrics(&self, _: &mut String) {}

    fn log_lines(&self) -> Vec<LogLine> {
        vec![]
    }

    fn fix_sessions(&self) -> Vec<FixSession> {
        vec![]
    }

    fn act_on_fix_session(&self, _: &str, _: FixAct) -> Result<(), UnknownFixSession> {
        Err(UnknownFixSession)
    }
}
