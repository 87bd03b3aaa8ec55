//! Test broker on ports of its own, with an engine that records its requests and publishes generic events.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use access::{Access, AccessChannel, AccessRequest, Actor, Identity, NewToken, Password, SecretString, UserRole};
use broker::{AllowedHosts, Broker, BrokerLimits, BrokerMetrics, BrokerSettings, Rate, StompListeners};
use bus::forwarding::ForwardedCall;
use bus::inbox::{InboxReceiver, inbox};
use bus::operations::LogLine;
use bus::{Bus, Catalogue, CommandForwarder, EventFeed, History, JournalStatus, Reply, RequestPayload};
use domain::event::{Alarm, AlarmLevel};
use domain::*;
use rustls::server::ResolvesServerCert;
use samples::NullHistory;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::test_client::DEADLINE;

pub(crate) const PASSWORD: &str = "correct horse";

pub(crate) struct BrokerHarness {
    pub(crate) tcp: SocketAddr,
    pub(crate) tls: SocketAddr,
    pub(crate) ws: SocketAddr,
    pub(crate) feed: EventFeed,
    pub(crate) log: mpsc::Sender<LogLine>,
    pub(crate) broker: Broker,
    /// While a test holds it, the engine does not answer.
    pub(crate) engine: Arc<Mutex<()>>,
    access: Arc<Access>,
    nanos: Arc<AtomicI64>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<io::Result<()>>>,
    runtime: tokio::runtime::Runtime,
    _folder: TempDir,
}

impl BrokerHarness {
    pub(crate) fn open() -> Self {
        Self::open_with(&["/topic/generic-event.>"], None)
    }

    pub(crate) fn open_with(destinations: &[&str], certificates: Option<Arc<dyn ResolvesServerCert>>) -> Self {
        Self::open_within(BrokerLimits::default(), destinations, certificates)
    }

    pub(crate) fn open_within(
        limits: BrokerLimits,
        destinations: &[&str],
        certificates: Option<Arc<dyn ResolvesServerCert>>,
    ) -> Self {
        let nothing = Arc::new(NullHistory::with_durable(|| 0));
        Self::open_after((nothing.clone(), nothing), limits, destinations, certificates)
    }

    /// With a past, and a program around the engine that knows how far that goes.
    pub(crate) fn open_after(
        (history, journal): (Arc<dyn History>, Arc<dyn JournalStatus>),
        limits: BrokerLimits,
        destinations: &[&str],
        certificates: Option<Arc<dyn ResolvesServerCert>>,
    ) -> Self {
        Self::open_all((history, journal), (settings(limits, destinations), None), certificates)
    }

    /// The broker of a follower, whose leader is reached so. Its own engine publishes nothing.
    pub(crate) fn open_following(forwarder: Arc<dyn CommandForwarder>) -> Self {
        let nothing = Arc::new(NullHistory::with_durable(|| 0));
        let settings = settings(BrokerLimits::default(), &["/topic/generic-event.>"]);
        Self::open_all((nothing.clone(), nothing), (settings, Some(forwarder)), None)
    }

    fn open_all(
        (history, journal): (Arc<dyn History>, Arc<dyn JournalStatus>),
        (settings, forwarder): (BrokerSettings, Option<Arc<dyn CommandForwarder>>),
        certificates: Option<Arc<dyn ResolvesServerCert>>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listen = || {
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            (listener.local_addr().unwrap(), Some(listener))
        };
        let ((tcp, tcp_listener), (tls, tls_listener), (ws, ws_listener)) = (listen(), listen(), listen());
        let ((inbox, lanes), feed, catalogue) = (inbox(), EventFeed::default(), Catalogue::default());
        catalogue.replace(Arc::new(strategies()));
        let engine = Arc::new(Mutex::new(()));
        std::thread::spawn({
            let (feed, engine) = (feed.clone(), engine.clone());
            move || run_engine(&lanes, &feed, &engine)
        });
        let bus = Bus { inbox, feed: feed.clone(), catalogue, history, journal };
        let (folder, access, nanos) = access_fixture();
        let broker = match forwarder {
            Some(forwarder) => Broker::of_follower(settings, bus, access.clone(), forwarder),
            None => Broker::new(settings, bus, access.clone()),
        };
        let hosts = AllowedHosts { allowed_origins: vec!["https://friend.example".into()], ..AllowedHosts::default() };
        let listeners = StompListeners { tcp: tcp_listener, tls: tls_listener, ws: ws_listener, certificates, hosts };
        let ((stop, stopped), (log, lines)) = (oneshot::channel::<()>(), mpsc::channel(1_024));
        let serving = broker.clone().serve(listeners, lines, async move { drop(stopped.await) });
        let served = Some(runtime.spawn(serving));
        Self {
            tcp,
            tls,
            ws,
            feed,
            log,
            broker,
            engine,
            access,
            nanos,
            stop: Some(stop),
            served,
            runtime,
            _folder: folder,
        }
    }

    /// Publishes what followers forward; the sender is where they send it to.
    pub(crate) fn serve_forwarded(&self) -> mpsc::Sender<ForwardedCall> {
        let (sender, calls) = mpsc::channel(16);
        self.runtime.spawn(self.broker.serve_forwarded(calls));
        sender
    }

    /// From now on every client needs a login.
    pub(crate) fn add(&self, name: &str, role: UserRole) {
        let password = Password::new(PASSWORD.into()).unwrap();
        let user = (&name.parse().unwrap(), &role, &password);
        self.access.user_store().add_user(user, true, &operator(), self.access.now()).unwrap();
    }

    pub(crate) fn token(&self, name: &str, role: UserRole) -> String {
        let wanted = NewToken { name: name.parse().unwrap(), role, days: 1 };
        let (_, secret) = self.access.user_store().new_token(wanted, &operator(), self.access.now()).unwrap();
        secret.text().to_owned()
    }

    pub(crate) fn revoke(&self, token: &str) {
        self.access.user_store().revoke_token(&token.parse().unwrap(), &operator(), self.access.now()).unwrap();
    }

    pub(crate) fn remove(&self, user: &str) {
        self.access.user_store().remove_user(&user.parse().unwrap(), &operator(), self.access.now()).unwrap();
    }

    /// The secret of a session, as a cookie holds it.
    pub(crate) fn log_in(&self, user: &str, role: UserRole) -> SecretString {
        let identity = Identity { name: Some(user.into()), role, rights: None };
        self.access.start_session(&identity).unwrap().text().into()
    }

    pub(crate) fn log_out(&self, session: &SecretString) {
        self.access.end_session(session);
    }

    /// Time passes for tokens and sessions.
    pub(crate) fn advance_hours(&self, hours: i64) {
        self.nanos.fetch_add(hours * 3_600_000_000_000, Ordering::Relaxed);
    }

    /// Waits until so many connections are left.
    pub(crate) fn wait_for_connections(&self, connections: usize) -> BrokerMetrics {
        self.wait_for(|numbers| numbers.connections == connections)
    }

    pub(crate) fn wait_for(&self, is_so: impl Fn(&BrokerMetrics) -> bool) -> BrokerMetrics {
        let begun = Instant::now();
        loop {
            let numbers = self.broker.metrics();
            if is_so(&numbers) {
                return numbers;
            }
            assert!(begun.elapsed() < DEADLINE, "it stays so: {numbers:?}");
            // Polling without a pause would delay the connections.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A connection from inside the process.
    pub(crate) fn connect(&self) -> InternalConnection {
        let _entered = self.runtime.enter();
        InternalConnection { stream: self.broker.connect_internal(), runtime: self.runtime.handle().clone() }
    }

    /// Audit entries of the broker, a line each.
    pub(crate) fn audit(&self) -> Vec<String> {
        let rows = self.access.user_store().audit(0, 1_000).unwrap();
        let ours = rows.into_iter().filter(|row| row.door == "STOMP");
        ours.map(|row| {
            let user = row.user.unwrap_or_else(|| "nobody".into());
            format!("{user}: {} => {} ({})", row.action, row.outcome, row.detail)
        })
        .collect()
    }

    /// Publishes an alarm with that number, on `log-event.warn`.
    pub(crate) fn publish_warning(&self, sequence: u64) {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "story".into(), text: format!("number {sequence}").into() };
        self.publish(sequence, Event::Alarm(Arc::new(alarm)));
    }

    pub(crate) fn publish(&self, sequence: u64, event: Event) {
        self.feed.publish(&PublishedEvent { sequence, at: Timestamp(1_000_000), event });
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(served) = self.served.take() {
            self.runtime.block_on(served).unwrap().unwrap();
        }
    }
}

impl Drop for BrokerHarness {
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
        stale: None,
    }))
}

fn settings(limits: BrokerLimits, destinations: &[&str]) -> BrokerSettings {
    BrokerSettings {
        server: "Rialto/test".into(),
        max_rate_per_connection: Rate::per_second(50).unwrap(),
        min_rate_per_consumer: "0.1".parse().unwrap(),
        last_message: 0,
        client_destinations: destinations.iter().map(|text| broker::DestinationPattern::parse(text).unwrap()).collect(),
        distributed: true,
        limits,
    }
}

fn strategies() -> ReferenceData {
    let strategy = |id, name: &str| {
        (StrategyId(id), Arc::new(StrategyRecord { id: StrategyId(id), name: name.into(), auto_activate: false }))
    };
    ReferenceData { strategies: [strategy(1, "SERVER"), strategy(2, "MOMENTUM")].into(), ..Default::default() }
}

/// Publishes requested events, with numbers from 1.
fn run_engine(lanes: &InboxReceiver, feed: &EventFeed, engine: &Mutex<()>) {
    let mut sequence = 0;
    for request in &lanes.requests {
        let _works = engine.lock().unwrap();
        if let RequestPayload::Command(envelope) = request.payload
            && let Command::Publish(event) = envelope.command
        {
            sequence += 1;
            feed.publish(&PublishedEvent {
                sequence,
                at: Timestamp(1_000_000),
                event: Event::Generic(Arc::new(event)),
            });
        }
        request.reply_to.send(Reply { sequence, outcome: Ok(Answer::Done) });
    }
}

fn access_fixture() -> (TempDir, Arc<Access>, Arc<AtomicI64>) {
    let (folder, nanos) = (tempfile::tempdir().unwrap(), Arc::new(AtomicI64::new(1_794_839_400_000_000_000)));
    let of_clock = nanos.clone();
    let clock = Arc::new(move || Timestamp(of_clock.load(Ordering::Relaxed)));
    let access = Access::open(
        Arc::new(access::UserStore::in_memory(folder.path()).unwrap()),
        access::AccessSettings::default(),
        clock,
    )
    .unwrap();
    (folder, Arc::new(access), nanos)
}

/// The end of a connection that never left the process, for a client that waits.
pub(crate) struct InternalConnection {
    stream: DuplexStream,
    runtime: Handle,
}

impl Read for InternalConnection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.runtime.block_on(self.stream.read(buffer))
    }
}

impl Write for InternalConnection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.runtime.block_on(self.stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn operator() -> Actor {
    Actor {
        user: None,
        request: AccessRequest { channel: AccessChannel::CommandLine, peer: None, action: "story".into() },
    }
}
