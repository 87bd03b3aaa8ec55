//! The adapter of the toy venue. The host calls it on one thread; the network runs on a thread of its own, and what comes
//! from there waits in a channel for `deliver`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use adapter_kit::connection::{
    Dialer, SocketLimits, SocketMessage, TlsRoots, VenueHttp, VenueHttpLimits, VenueRequest, VenueSocket, VenueUrl,
    tls_config,
};
use adapter_kit::credentials::{ExposeSecret, VenueCredentials};
use adapter_kit::recording::{MessageRecorder, RecorderClock};
use adapters::{MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, VenueOrderRules};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use domain::order::OrderTerms;
use domain::report::{
    AdapterCapabilities, FillsScope, ListingCapabilities, RefusesRepeatedIds, ReportKind, VenueSnapshot,
};
use domain::{AccountId, Order, SecurityId, Text, Timestamp};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::toy_lanes::ToyLanes;
use crate::toy_protocol::{self as protocol, ToyCall, ToyEvent};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct ToySettings {
    pub(crate) rest: VenueUrl,
    pub(crate) stream: VenueUrl,
    pub(crate) credentials: Arc<VenueCredentials>,
    pub(crate) roots: TlsRoots,
    pub(crate) clock: RecorderClock,
    pub(crate) recorder: Option<Arc<MessageRecorder>>,
}

pub(crate) struct ToyAdapter {
    settings: ToySettings,
    dialer: Dialer,
    http: Arc<VenueHttp>,
    lanes: Arc<ToyLanes>,
    lease: Option<SendLease>,
    session: Option<ToySession>,
    progress: Arc<ToyProgress>,
    wake: (Sender<()>, Receiver<()>),
    runtime: Runtime,
}

/// What the network has done, so that a test can wait for it.
#[derive(Default)]
pub(crate) struct ToyProgress {
    /// Requests and subscriptions without an answer.
    pub(crate) unanswered: AtomicUsize,
    pub(crate) events: AtomicUsize,
    pub(crate) is_lost: AtomicBool,
}

struct ToySession {
    inbound: Receiver<Inbound>,
    commands: UnboundedSender<String>,
    worker: JoinHandle<()>,
}

/// From the network to `deliver`.
enum Inbound {
    Event(ToyEvent),
    Report(ReportKind),
    Lost(Text),
}

impl ToyAdapter {
    pub(crate) fn new(settings: ToySettings, folder: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let dialer = Dialer::new(tls_config(&settings.roots).unwrap(), None, CONNECT_TIMEOUT);
        let mut http = VenueHttp::new(settings.rest.clone(), dialer.clone(), VenueHttpLimits::default());
        if let Some(recorder) = &settings.recorder {
            http = http.recorded(recorder.line("rest"));
        }
        let lanes = Arc::new(ToyLanes::open(&folder.join("rate.json"), (settings.clock)()));
        let progress = Arc::new(ToyProgress::default());
        Self {
            settings,
            dialer,
            http: Arc::new(http),
            lanes,
            lease: None,
            session: None,
            progress,
            wake: bounded(1),
            runtime,
        }
    }

    pub(crate) fn progress(&self) -> Arc<ToyProgress> {
        Arc::clone(&self.progress)
    }

    pub(crate) fn is_logged_on(&self) -> bool {
        self.session.is_some()
    }

    async fn open_stream(&self) -> Result<VenueSocket, String> {
        let headers = [self.key_header()];
        let line = self.settings.recorder.as_ref().map(|recorder| recorder.line("stream"));
        let connecting =
            VenueSocket::connect(&self.settings.stream, &headers, &self.dialer, SocketLimits::default(), line);
        let mut socket = connecting.await.map_err(|error| error.to_string())?;
        match socket.receive().await.map_err(|error| error.to_string())? {
            SocketMessage::Text(text) if protocol::event_of(Timestamp(0), &text) == Some(ToyEvent::Ready) => Ok(socket),
            _ => Err("the venue did not begin with ready".to_owned()),
        }
    }

    fn key_header(&self) -> (String, String) {
        ("X-Api-Key".to_owned(), self.settings.credentials.api_key().expose_secret().to_owned())
    }

    fn start_session(&mut self, socket: VenueSocket) {
        let (sender, inbound) = unbounded();
        let (commands, outbound) = unbounded_channel();
        self.progress = Arc::new(ToyProgress { events: AtomicUsize::new(1), ..ToyProgress::default() });
        let link =
            EngineSide { sender, wake: self.wake.0.clone(), progress: self.progress(), lease: self.lease.clone() };
        self.runtime.spawn(follow_stream(socket, outbound, Arc::clone(&self.settings.clock), link.clone()));
        let requests =
            send_requests(Arc::clone(&self.lanes), Arc::clone(&self.http), Arc::clone(&self.settings.clock), link);
        self.session = Some(ToySession { inbound, commands, worker: self.runtime.spawn(requests) });
    }

    /// The request is granted or refused at once.
    fn send(&mut self, at: Timestamp, call: ToyCall, mut request: VenueRequest) -> SendOutcome {
        if self.session.is_none() {
            return SendOutcome::NotSent("not logged on".into());
        }
        request.headers.push(self.key_header());
        match self.lanes.push(at, call, request) {
            Ok(()) => {
                self.progress.unanswered.fetch_add(1, Ordering::SeqCst);
                SendOutcome::Sent
            }
            Err(refusal) => SendOutcome::NotSent(refusal.into()),
        }
    }

    fn send_command(&mut self, command: &serde_json::Value) -> SendOutcome {
        let Some(session) = &self.session else { return SendOutcome::NotSent("not logged on".into()) };
        self.progress.unanswered.fetch_add(1, Ordering::SeqCst);
        match session.commands.send(command.to_string()) {
            Ok(()) => SendOutcome::Sent,
            Err(_) => SendOutcome::NotSent("the stream has ended".into()),
        }
    }
}

impl OrderSession for ToyAdapter {
    fn capabilities(&self) -> AdapterCapabilities {
        AdapterCapabilities {
            exchanges: vec![samples::EXCHANGE],
            expires_orders: false,
            refuses_repeated_ids: RefusesRepeatedIds::Forever,
            simulated: true,
            lists: ListingCapabilities { open_orders: true, fills: Some(FillsScope::All), ..Default::default() },
            ..AdapterCapabilities::default()
        }
    }

    fn order_rules(&self, _: SecurityId) -> VenueOrderRules {
        VenueOrderRules::default()
    }

    fn set_lease(&mut self, lease: SendLease) {
        self.lease = Some(lease);
    }

    fn connect(&mut self, _: Timestamp) -> Result<(), SessionLost> {
        let socket = self.runtime.block_on(self.open_stream()).map_err(|reason| SessionLost(reason.into()))?;
        self.start_session(socket);
        Ok(())
    }

    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        let lost = |reason: String| SessionLost(reason.into());
        let mut request = protocol::list();
        request.headers.push(self.key_header());
        let response = self.runtime.block_on(self.http.send(&request)).map_err(|failure| lost(failure.to_string()))?;
        let snapshot = if response.status == 200 { protocol::snapshot_of(&response.text()) } else { None };
        let snapshot = snapshot.map(|snapshot| VenueSnapshot { as_of: Some(at), ..snapshot });
        snapshot.ok_or_else(|| lost(format!("the list of orders cannot be used (status {})", response.status)))
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.send(at, ToyCall::Submit(order.id), protocol::submit(order))
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.send(at, ToyCall::Replace(order.id), protocol::replace(order, terms))
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.send(at, ToyCall::Cancel(order.id), protocol::cancel(order))
    }

    fn cancel_leg(&mut self, _: Timestamp, _: &Order, _: &Text) -> SendOutcome {
        SendOutcome::NotSent("an order has one leg here".into())
    }

    /// The list has every order, so it answers for one.
    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.send(at, ToyCall::Inquire(order.id, at), protocol::list())
    }

    /// This venue has none.
    fn ask_statement(&mut self, _: Timestamp, _: AccountId) -> SendOutcome {
        SendOutcome::NotSent("the venue gives no statements".into())
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        self.send(at, ToyCall::ListOpenOrders(at), protocol::list())
    }

    /// The cursor is the number of fills that are known.
    fn list_fills(&mut self, at: Timestamp, _: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        match cursor.map_or(Ok(0), |cursor| cursor.parse()) {
            Ok(known) => self.send(at, ToyCall::ListFills(at, known), protocol::list()),
            Err(_) => SendOutcome::NotSent("the cursor is not a number".into()),
        }
    }

    fn deliver(&mut self, _: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        let session = self.session.as_ref().ok_or_else(|| SessionLost("not logged on".into()))?;
        for inbound in session.inbound.try_iter() {
            match inbound {
                Inbound::Event(ToyEvent::Report(report)) | Inbound::Report(report) => sink.on_report(None, report),
                Inbound::Event(ToyEvent::Price(data)) => sink.on_market_data(data),
                Inbound::Event(ToyEvent::Ready | ToyEvent::Done) => {}
                Inbound::Lost(reason) => return Err(SessionLost(reason)),
            }
        }
        Ok(())
    }

    fn next_due(&self) -> Option<Timestamp> {
        None
    }

    fn waker(&self) -> Receiver<()> {
        self.wake.1.clone()
    }

    /// Dropping the commands ends the stream; requests that wait have not left.
    fn disconnect(&mut self, _: Timestamp) {
        if let Some(session) = self.session.take() {
            session.worker.abort();
            self.lanes.withdraw_all();
        }
    }
}

impl MarketFeed for ToyAdapter {
    fn subscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        self.send_command(&json!({ "subscribe": security.0.to_string() }))
    }

    fn unsubscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        self.send_command(&json!({ "unsubscribe": security.0.to_string() }))
    }
}

/// The way from the network to the thread of the adapter.
#[derive(Clone)]
struct EngineSide {
    sender: Sender<Inbound>,
    wake: Sender<()>,
    progress: Arc<ToyProgress>,
    lease: Option<SendLease>,
}

impl EngineSide {
    fn send(&self, inbound: Inbound) {
        // A session that has ended is not interested; a full waker wakes already.
        let _ = self.sender.send(inbound);
        let _ = self.wake.try_send(());
    }

    fn on_answered(&self) {
        self.progress.unanswered.fetch_sub(1, Ordering::SeqCst);
    }

    fn on_lost(&self, reason: &str) {
        self.send(Inbound::Lost(reason.into()));
        self.progress.is_lost.store(true, Ordering::SeqCst);
    }
}

/// Sends what is granted, the most urgent first.
async fn send_requests(lanes: Arc<ToyLanes>, http: Arc<VenueHttp>, clock: RecorderClock, engine: EngineSide) {
    loop {
        let queued = lanes.next().await;
        let (call, request) = queued.request;
        let lease = engine.lease.as_ref().filter(|_| call.trades());
        let outcome = http.send_while(lease, &request).await;
        lanes.settle(clock(), queued.grant, &outcome);
        if let Some(report) = protocol::report_of_answer(call, &outcome) {
            engine.send(Inbound::Report(report));
        }
        engine.on_answered();
    }
}

/// Passes on what the venue says, until one side ends it.
async fn follow_stream(
    mut socket: VenueSocket,
    mut commands: UnboundedReceiver<String>,
    clock: RecorderClock,
    engine: EngineSide,
) {
    loop {
        tokio::select! {
            received = socket.receive() => match received {
                Ok(SocketMessage::Text(text)) => match protocol::event_of(clock(), &text) {
                    Some(event) => {
                        let is_done = event == ToyEvent::Done;
                        engine.send(Inbound::Event(event));
                        engine.progress.events.fetch_add(1, Ordering::SeqCst);
                        if is_done {
                            engine.on_answered();
                        }
                    }
                    None => return engine.on_lost("a message is not understood"),
                },
                Ok(SocketMessage::Binary(_)) => return engine.on_lost("a message is not understood"),
                Err(error) => return engine.on_lost(&error.to_string()),
            },
            command = commands.recv() => match command {
                Some(text) => if let Err(error) = socket.send(text).await {
                    return engine.on_lost(&error.to_string());
                },
                None => return socket.close().await,
            },
        }
    }
}
