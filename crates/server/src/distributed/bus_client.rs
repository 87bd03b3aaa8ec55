//! Bus client of a strategy process. It reconnects, resumes after the last received event and resends unanswered
//! commands under the same key; when the server has ended a run, it releases it and starts the next.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};
use domain::command::{ReferenceChange, StrategyPhase};
use domain::{Bar, Command, Event, PublishedEvent, ReferenceData, SecurityId, Text};
use runtime::strategies::protocol::{
    self, Resume, ServerEnvelope, ServerMessage, StrategyRequest, StrategyRequestBody,
};
use runtime::strategies::{LinkLost, StrategyDelivery};
use stomp::StompFrame;
use strategy::{CommandRejection, StrategyIdentity};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::{interval, sleep, timeout};
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA};

use super::ack_policy::AckPolicy;
use super::backoff::ReconnectBackoff;
use super::bus_handle::StrategyRun;
use super::duplicate_filter::DuplicateFilter;
use super::phase_tracker::{PhaseNotice, PhaseTracker};
use super::remote_link::{OutgoingItem, OutgoingPayload, RemoteLink};
use super::server_time::ServerTime;
use super::stomp_client::StompClient;
use super::unanswered::UnansweredRequests;
use super::{ALREADY_RUNNING, REQUESTS, build, delivery_queue};

/// Deliveries that are queued for the strategy: beyond this prices are dropped, and with one more event of its own it
/// is lost.
const DELIVERIES_MAX: usize = 65_536;
/// Without a connection for this long the client gives up.
const RECONNECT_MAX: Duration = Duration::from_secs(30);
/// How long to retry while another process runs the strategy: a killed one is declared dead after two seconds.
const ATTACH_RETRY_MAX: Duration = Duration::from_secs(4);
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// How often expired commands are searched.
const DEADLINES_EVERY: Duration = Duration::from_millis(500);
/// A strategy whose run has ended returns from its call-back within this time, or it hangs and its process ends.
const RELEASE_MAX: Duration = Duration::from_secs(5);

/// Locates the broker; blocks.
pub(super) type BrokerLocator = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// State of the bus client.
pub(super) struct BusClient {
    broker: BrokerLocator,
    strategy: Text,
    /// Unique to this process.
    address: String,
    token: Option<String>,
    pub(super) takes_over: bool,
    time: ServerTime,
    runs: Sender<StrategyRun>,
    outgoing: mpsc::WeakSender<OutgoingItem>,
    /// Items that are not sent yet.
    queued: mpsc::Receiver<OutgoingItem>,
    reference: Arc<ReferenceData>,
    /// Changes of reference data from before the attach.
    changes: Vec<ReferenceChange>,
    run: Option<u64>,
    deliveries: Option<Sender<StrategyDelivery>>,
    /// Ends when the strategy has released its run.
    released: Option<oneshot::Receiver<Infallible>>,
    phases: PhaseTracker,
    duplicates: DuplicateFilter,
    wanted: BTreeSet<SecurityId>,
    epoch: u64,
    number: u64,
    ack_policy: AckPolicy,
    is_connected: bool,
    is_attached: bool,
    /// It has requested to leave, and repeats that after a reconnect.
    is_leaving: bool,
    /// Bars of history that came before the phase that needs them.
    history: Vec<Bar>,
    /// Requests from before the connection.
    unsent: VecDeque<StrategyRequestBody>,
    unanswered: UnansweredRequests,
}

/// Why a connection ended.
enum ConnectionEnd {
    Connection(io::Error),
    /// Another process runs the strategy; it may have just died.
    AlreadyRunning(String),
    /// The server has ended this run; another may begin.
    RunEnded(String),
    /// No reconnect is possible.
    Final(LinkLost),
}

impl From<io::Error> for ConnectionEnd {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Final(LinkLost(format!("the broker refused: {error}"))),
            _ => Self::Connection(error),
        }
    }
}

/// The broker's error text does not say what to do.
fn login_error(answer: &str) -> String {
    format!(
        "the server admits no strategy process under this name: it must run with --distributed, and where users are \
         configured RIALTO_TOKEN must hold a token of the role strategy for it ({answer})"
    )
}

fn lost(reason: impl Into<String>) -> ConnectionEnd {
    ConnectionEnd::Final(LinkLost(reason.into()))
}

impl BusClient {
    pub(super) fn new(
        broker: BrokerLocator,
        strategy: Text,
        token: Option<String>,
        time: ServerTime,
        runs: Sender<StrategyRun>,
        (outgoing, queued): (mpsc::WeakSender<OutgoingItem>, mpsc::Receiver<OutgoingItem>),
    ) -> Self {
        Self {
            broker,
            strategy,
            address: format!("{:x}-{:x}", time.now().0, std::process::id()),
            token,
            takes_over: false,
            time,
            runs,
            outgoing,
            queued,
            reference: Arc::default(),
            changes: vec![],
            run: None,
            deliveries: None,
            released: None,
            phases: PhaseTracker::default(),
            duplicates: DuplicateFilter::default(),
            wanted: BTreeSet::new(),
            epoch: 0,
            number: 0,
            ack_policy: AckPolicy::default(),
            is_connected: false,
            is_attached: false,
            is_leaving: false,
            history: vec![],
            unsent: VecDeque::new(),
            unanswered: UnansweredRequests::default(),
        }
    }

    pub(super) async fn run(mut self) -> LinkLost {
        let (begun, mut has_knocked) = (Instant::now(), false);
        let mut away_since = begun;
        let mut backoff = ReconnectBackoff::new();
        loop {
            let ended = self.run_connection().await;
            if std::mem::take(&mut self.is_connected) {
                away_since = Instant::now();
            }
            match ended {
                Err(ConnectionEnd::Final(lost)) => return lost,
                Err(ConnectionEnd::Connection(error)) if away_since.elapsed() > RECONNECT_MAX => {
                    return LinkLost(format!("the server can't be reached: {error}"));
                }
                Err(ConnectionEnd::AlreadyRunning(text)) if begun.elapsed() > ATTACH_RETRY_MAX => {
                    return LinkLost(text);
                }
                Err(ConnectionEnd::AlreadyRunning(_)) if !std::mem::replace(&mut has_knocked, true) => {
                    tracing::info!("another process runs this strategy; retrying in case it has just ended");
                }
                Err(ConnectionEnd::AlreadyRunning(_)) => {}
                Err(ConnectionEnd::RunEnded(reason)) => match self.release_run().await {
                    Ok(()) => tracing::warn!(%reason, "server ended the run; starting a new one"),
                    Err(LinkLost(hang)) => return LinkLost(format!("the server ended the run: {reason}; {hang}")),
                },
                Err(ConnectionEnd::Connection(error)) if self.is_attached => {
                    tracing::warn!(%error, "connection lost; reconnecting");
                }
                Err(ConnectionEnd::Connection(error)) => {
                    tracing::warn!(%error, "server not reachable; retrying");
                }
                Ok(()) => return LinkLost("it left".to_owned()),
            }
            if std::mem::take(&mut self.is_attached) {
                backoff = ReconnectBackoff::new();
            }
            sleep(backoff.next_pause()).await;
        }
    }

    /// The run has ended: waits until the strategy has released it. Its requests are dropped meanwhile.
    async fn release_run(&mut self) -> Result<(), LinkLost> {
        self.deliveries = None;
        let Some(mut let_go) = self.released.take() else { return Ok(()) };
        let patience = sleep(RELEASE_MAX);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                _ = &mut let_go => return Ok(()),
                said = self.queued.recv() => match said {
                    Some(said) => self.is_leaving |= matches!(said.payload, OutgoingPayload::Request(StrategyRequestBody::Exit)),
                    None => return Ok(()),
                },
                () = &mut patience => return Err(LinkLost("a call-back of the strategy does not return".to_owned())),
            }
        }
    }

    async fn run_connection(&mut self) -> Result<(), ConnectionEnd> {
        let connecting = async {
            let broker = self.broker.clone();
            let stream = TcpStream::connect(spawn_blocking(move || broker()).await??).await?;
            stream.set_nodelay(true)?;
            StompClient::connect(stream, self.token.as_deref()).await
        };
        let mut line = timeout(CONNECT_MAX, connecting).await.map_err(io::Error::other)??;
        self.is_connected = true;
        line.subscribe("own", &delivery_queue(&self.strategy, &self.address)).await?;
        line.subscribe("prices", &format!("/topic/{SHARED_MARKET_DATA}")).await?;
        line.subscribe("events", &format!("/topic/{SHARED_GENERIC_EVENT}")).await?;
        self.send_hello(&mut line).await?;
        let mut deadlines = interval(DEADLINES_EVERY);
        loop {
            tokio::select! {
                frame = line.next() => self.on_frame(&frame?, &mut line).await?,
                said = self.queued.recv() => match said {
                    Some(said) => self.send_item(said, &mut line).await?,
                    None => return Ok(()),
                },
                _ = deadlines.tick() => self.expire_commands(),
            }
        }
    }

    async fn send_hello(&mut self, line: &mut StompClient<TcpStream>) -> Result<(), ConnectionEnd> {
        // Later than every one before, also those of a process that died.
        self.epoch = self.time.now().0.unsigned_abs().max(self.epoch + 1);
        (self.number, self.ack_policy) = (0, AckPolicy::default());
        self.history.clear();
        self.changes.clear();
        let resume = self.run.map(|run| Resume { run, last_sequence: self.duplicates.newest() });
        let takes_over = self.takes_over;
        self.send(StrategyRequestBody::Hello { build: build().into(), resume, takes_over }, line).await
    }

    async fn send(&self, request: StrategyRequestBody, line: &mut StompClient<TcpStream>) -> Result<(), ConnectionEnd> {
        let (strategy, address) = (self.strategy.clone(), self.address.as_str().into());
        let letter = StrategyRequest { strategy, epoch: self.epoch, body: request, address };
        Ok(line.send_to(REQUESTS, protocol::encode(letter)).await?)
    }

    async fn send_item(&mut self, said: OutgoingItem, line: &mut StompClient<TcpStream>) -> Result<(), ConnectionEnd> {
        if said.run.is_some() && said.run != self.run {
            return Ok(());
        }
        let request = match said.payload {
            OutgoingPayload::Heartbeat if self.is_attached => {
                StrategyRequestBody::Heartbeat { heard: self.duplicates.newest() }
            }
            OutgoingPayload::Heartbeat => return Ok(()),
            OutgoingPayload::Command(command) => {
                return self.send_keyed(line, |client| client.register_command(command)).await;
            }
            OutgoingPayload::DeliveryRecord(record) => {
                return self.send_keyed(line, |client| client.unanswered.delivery_record(record)).await;
            }
            OutgoingPayload::Request(request) => request,
        };
        self.is_leaving |= request == StrategyRequestBody::Exit;
        self.phases.on_request(&request);
        if self.is_attached {
            self.send(request, line).await
        } else {
            self.unsent.push_back(request);
            Ok(())
        }
    }

    /// A request with a key is kept among the unanswered ones while there is no connection.
    async fn send_keyed(
        &mut self,
        line: &mut StompClient<TcpStream>,
        keyed: impl FnOnce(&mut Self) -> StrategyRequestBody,
    ) -> Result<(), ConnectionEnd> {
        let request = keyed(self);
        if self.is_attached { self.send(request, line).await } else { Ok(()) }
    }

    fn register_command(&mut self, command: Box<Command>) -> StrategyRequestBody {
        match &*command {
            Command::Subscribe(wish) => drop(self.wanted.insert(wish.security)),
            Command::Unsubscribe(wish) => drop(self.wanted.remove(&wish.security)),
            _ => {}
        }
        self.unanswered.command(self.time.now(), command)
    }

    async fn on_frame(&mut self, frame: &StompFrame, line: &mut StompClient<TcpStream>) -> Result<(), ConnectionEnd> {
        if frame.command != stomp::StompCommand::Message {
            let text = frame.headers.get("message").unwrap_or_default();
            let text = format!("the broker says {}: {text}", frame.command.name());
            // A client that was never accepted is not accepted by a retry.
            return Err(if self.run.is_none() { lost(login_error(&text)) } else { io::Error::other(text).into() });
        }
        match frame.headers.get("subscription") {
            Some("own") => {
                let envelope = minicbor::decode(&frame.body).map_err(io::Error::other)?;
                self.on_envelope(envelope, line).await?;
                self.acknowledge(frame.body.len(), line).await
            }
            Some("prices") => {
                self.on_price(frame);
                Ok(())
            }
            _ => self.on_generic_event(frame),
        }
    }

    fn on_price(&self, frame: &StompFrame) {
        let Some(event) = wire::decode_topics::market_data(&frame.body) else { return };
        let is_wanted = match &event {
            Event::Tick(tick) => self.wanted.contains(&tick.security),
            Event::Trade(trade) => self.wanted.contains(&trade.security),
            Event::Book(book) => self.wanted.contains(&book.security),
            Event::Bar(bar) => self.wanted.contains(&bar.security),
            _ => false,
        };
        if is_wanted && let Some(heard) = &self.deliveries {
            // A strategy that is behind receives newer prices later.
            let _ = heard.try_send(StrategyDelivery::Event(self.published(frame, event)));
        }
    }

    fn on_generic_event(&self, frame: &StompFrame) -> Result<(), ConnectionEnd> {
        match wire::decode_topics::generic_event(&frame.body, &self.reference) {
            Some(event) => {
                self.deliver(StrategyDelivery::Event(self.published(frame, Event::Generic(Arc::new(event)))))
            }
            None => Ok(()),
        }
    }

    fn published(&self, frame: &StompFrame, event: Event) -> PublishedEvent {
        let sequence = frame.headers.get("sequence").and_then(|sequence| sequence.parse().ok()).unwrap_or(0);
        PublishedEvent { sequence, at: self.time.now(), event }
    }

    /// The server sends only a bounded window ahead of the acknowledgements.
    async fn acknowledge(&mut self, bytes: usize, line: &mut StompClient<TcpStream>) -> Result<(), ConnectionEnd> {
        if self.ack_policy.is_ack_due(bytes) && self.is_attached {
            self.send(StrategyRequestBody::Ack { number: self.number }, line).await?;
        }
        Ok(())
    }

    async fn on_envelope(
        &mut self,
        envelope: ServerEnvelope,
        line: &mut StompClient<TcpStream>,
    ) -> Result<(), ConnectionEnd> {
        // Leftovers of an older connection in the queue were sent again already.
        if envelope.epoch != self.epoch {
            return Ok(());
        }
        // A client that is not attached has no run id.
        if let ServerMessage::HelloRejected { code, text } = envelope.message {
            let is_taken = &*code == ALREADY_RUNNING;
            let refused = lost(format!("the server refused ({code}): {text}"));
            return Err(if is_taken { ConnectionEnd::AlreadyRunning(text.to_string()) } else { refused });
        }
        if envelope.number <= self.number {
            return Ok(());
        }
        if envelope.number != self.number + 1 {
            return Err(io::Error::other("a parcel is missing").into());
        }
        self.number = envelope.number;
        self.handle(envelope.message, line).await
    }

    async fn handle(&mut self, message: ServerMessage, line: &mut StompClient<TcpStream>) -> Result<(), ConnectionEnd> {
        match message {
            ServerMessage::Reference { changes } => {
                self.changes.extend(changes);
                Ok(())
            }
            ServerMessage::Welcome { id, run, is_resumed, reference, now, has_diary } => {
                self.time.set(now);
                self.changes.extend(reference);
                self.reference = Arc::new(protocol::reference(std::mem::take(&mut self.changes)));
                let who = StrategyIdentity { id, name: self.strategy.clone(), run };
                if !is_resumed {
                    self.release_run().await.map_err(ConnectionEnd::Final)?;
                    self.start_run(who, has_diary)?;
                }
                self.on_welcome(line).await
            }
            ServerMessage::Reconnect => {
                Err(io::Error::other("the server calls it back to where it stopped hearing").into())
            }
            ServerMessage::Disconnected { reason, may_return: true } => {
                Err(ConnectionEnd::RunEnded(reason.to_string()))
            }
            ServerMessage::Disconnected { reason, may_return: false } => {
                Err(lost(format!("the server ended the run: {reason}")))
            }
            ServerMessage::Event { sequence, at, class, payload } => {
                if !self.duplicates.is_new(sequence, class, &payload) {
                    return Ok(());
                }
                match protocol::event(sequence, at, class, &payload) {
                    Some(published) => self.deliver(StrategyDelivery::Event(published)),
                    None => Ok(()),
                }
            }
            ServerMessage::Answer { key, refusal } => self.on_answer(key, refusal),
            ServerMessage::Enter { bars, is_partial: true, .. } => {
                self.history.extend(bars);
                Ok(())
            }
            ServerMessage::Enter { phase, bars, is_partial: false } => self.enter_phase(phase, bars, line).await,
            // It has no number and was handled before.
            ServerMessage::HelloRejected { .. } => Ok(()),
        }
    }

    async fn enter_phase(
        &mut self,
        phase: StrategyPhase,
        bars: Vec<Bar>,
        line: &mut StompClient<TcpStream>,
    ) -> Result<(), ConnectionEnd> {
        let past = std::mem::take(&mut self.history).into_iter().chain(bars).collect();
        match self.phases.on_phase(phase) {
            PhaseNotice::New => self.deliver(StrategyDelivery::Enter(phase, Arc::new(past))),
            PhaseNotice::InProgress => Ok(()),
            PhaseNotice::Resend(entered) => self.send(entered, line).await,
        }
    }

    async fn on_welcome(&mut self, line: &mut StompClient<TcpStream>) -> Result<(), ConnectionEnd> {
        // An attached client that reconnects replaces no other process.
        (self.is_attached, self.takes_over) = (true, false);
        tracing::info!("attached to the server");
        for request in self.unanswered.to_resend() {
            self.send(request, line).await?;
        }
        while let Some(request) = self.unsent.pop_front() {
            self.send(request, line).await?;
        }
        if self.is_leaving { self.send(StrategyRequestBody::Exit, line).await } else { Ok(()) }
    }

    /// Requests of the previous run are dropped.
    fn start_run(&mut self, who: StrategyIdentity, has_diary: bool) -> Result<(), ConnectionEnd> {
        self.unanswered.clear();
        self.unsent.clear();
        self.wanted.clear();
        (self.run, self.phases) = (Some(who.run), PhaseTracker::default());
        let (heard, deliveries) = bounded(DELIVERIES_MAX);
        let said = self.outgoing.upgrade().ok_or_else(|| lost("it left"))?;
        let (link, let_go) = RemoteLink::new(who.run, deliveries, said);
        (self.deliveries, self.released) = (Some(heard), Some(let_go));
        let life =
            StrategyRun { identity: who, reference: self.reference.clone(), link, records_deliveries: has_diary };
        self.runs.send(life).map_err(|_| lost("it left"))
    }

    fn on_answer(&mut self, key: u64, refusal: Option<protocol::CommandRefusal>) -> Result<(), ConnectionEnd> {
        let (Some(command), Some(refusal)) = (self.unanswered.on_answer(key), refusal) else { return Ok(()) };
        let refused = CommandRejection { command: *command, code: refusal.code, reason: refusal.text };
        self.deliver(StrategyDelivery::Refused(Box::new(refused)))
    }

    /// The server accepts no command after its deadline; whether it accepted one before is not known.
    fn expire_commands(&mut self) {
        for key in self.unanswered.expired(self.time.now()) {
            let text = "no answer came before the deadline, so it is not known whether this took effect".into();
            // A strategy that receives nothing is lost at its next event.
            let _ = self.on_answer(key, Some(protocol::CommandRefusal { code: "outcome-unknown".into(), text }));
        }
    }

    fn deliver(&self, delivery: StrategyDelivery) -> Result<(), ConnectionEnd> {
        let Some(heard) = &self.deliveries else { return Ok(()) };
        match heard.try_send(delivery) {
            Ok(()) | Err(crossbeam_channel::TrySendError::Disconnected(_)) => Ok(()),
            Err(crossbeam_channel::TrySendError::Full(_)) => Err(lost("the strategy leaves its events unread")),
        }
    }
}
