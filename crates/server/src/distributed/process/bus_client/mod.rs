//! Bus client of a strategy process. It reconnects, resumes after the last received event and resends unanswered
//! commands under the same key; when the server has ended a run, it releases it and starts the next.

mod connection_end;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use domain::command::StrategyPhase;
use domain::{Bar, Event, PublishedEvent, ReferenceData, ReferenceUpdate};
use runtime::strategies::protocol::{self, Resume, ServerMessage, StrategyRequestBody};
use runtime::strategies::{LinkLost, StrategyDelivery};
use strategy::{CommandRejection, StrategyIdentity};
use tokio::sync::mpsc;
use tokio::time::{interval, sleep};

use self::connection_end::{ConnectionEnd, login_error, lost, rejected};
use super::current_run::{CurrentRun, StrategyRun};
use super::link_state::{LinkEvent, LinkState};
use super::remote_link::{OutgoingItem, OutgoingPayload};
use super::server_connection::{ProcessIdentity, ServerConnection};
use super::server_time::ServerTime;
use super::unanswered::UnansweredRequests;
use crate::distributed::bus_line::BusItem;
use crate::distributed::bus_message::{BusMessage, BusSource};
use crate::distributed::process::duplicates::{DuplicateFilter, PhaseNotice};
use crate::distributed::stomp_client::ReconnectBackoff;
use crate::distributed::{NOT_ATTACHED, build};

/// Without a connection for this long the client gives up.
const RECONNECT_MAX: Duration = Duration::from_secs(30);
/// How long to retry while another process runs the strategy: a killed one is declared dead after two seconds.
const ATTACH_RETRY_MAX: Duration = Duration::from_secs(4);
/// How often expired commands are searched.
const DEADLINES_EVERY: Duration = Duration::from_millis(500);
/// A strategy whose run has ended returns from its call-back within this time, or it hangs and its process ends.
const RELEASE_MAX: Duration = Duration::from_secs(5);

/// As where another server has taken the lead of the cluster.
const DROPPED: &str = "it left, and the server has ended its run: what it had not received is dropped";

/// What survives a connection. A connection has its own state, and so has a run.
pub(crate) struct BusClient {
    process: ProcessIdentity,
    takes_over: bool,
    time: ServerTime,
    queues: ClientQueues,
    state: LinkState,
    /// The newest run, also when it has ended.
    run: Option<CurrentRun>,
    reference: Arc<ReferenceData>,
    duplicates: DuplicateFilter,
    unanswered: UnansweredRequests,
    last_epoch: u64,
    /// The strategy leaves: the server is told after every reconnect.
    exit_requested: bool,
    /// The strategy has left, and each of its requests was handed to a connection once.
    left_at: Option<Instant>,
}

/// The ends of the queues between the client and the threads of the process.
pub(crate) struct ClientQueues {
    pub(crate) runs: Sender<StrategyRun>,
    pub(crate) outgoing: mpsc::WeakSender<OutgoingItem>,
    /// Items that are not sent yet.
    pub(crate) queued: mpsc::Receiver<OutgoingItem>,
}

/// Since when the client has no connection, and how it tries again.
struct Retries {
    begun: Instant,
    away_since: Instant,
    backoff: ReconnectBackoff,
    /// Whether it was logged that another process runs the strategy.
    has_warned: bool,
}

impl Retries {
    fn new() -> Self {
        let now = Instant::now();
        Self { begun: now, away_since: now, backoff: ReconnectBackoff::new(), has_warned: false }
    }
}

impl BusClient {
    pub(crate) fn new(process: ProcessIdentity, takes_over: bool, time: ServerTime, queues: ClientQueues) -> Self {
        Self {
            process,
            takes_over,
            time,
            queues,
            state: LinkState::Connecting,
            run: None,
            reference: Arc::default(),
            duplicates: DuplicateFilter::default(),
            unanswered: UnansweredRequests::default(),
            last_epoch: 0,
            exit_requested: false,
            left_at: None,
        }
    }

    /// Ends well where the strategy has left, and all of its requests were written to a connection of its run.
    pub(crate) async fn run(mut self) -> Result<(), LinkLost> {
        let mut retries = Retries::new();
        loop {
            let ended = self.run_connection(&mut retries).await;
            let was_attached = self.state.is_attached();
            let (event, end) = match ended {
                Ok(()) => (LinkEvent::Closed, Some(Ok(()))),
                Err(ended) => match self.on_connection_end(ended, was_attached, &mut retries).await {
                    Ok(event) => (event, None),
                    Err(lost) => (LinkEvent::Closed, Some(Err(lost))),
                },
            };
            self.state = self.state.after(event).expect("only a link that is not lost has had a connection");
            if let Some(end) = end {
                return end;
            }
            if was_attached {
                retries.backoff = ReconnectBackoff::new();
            }
            sleep(retries.backoff.next_pause()).await;
        }
    }

    /// What the end of a connection means for the link; fails where it does not come back.
    async fn on_connection_end(
        &mut self,
        ended: ConnectionEnd,
        was_attached: bool,
        retries: &mut Retries,
    ) -> Result<LinkEvent, LinkLost> {
        match ended {
            ConnectionEnd::Final(lost) => return Err(lost),
            ConnectionEnd::RunEnded(reason) => {
                let hangs = |LinkLost(hang)| LinkLost(format!("the server ended the run: {reason}; {hang}"));
                self.release_run().await.map_err(hangs)?;
                tracing::warn!(%reason, "server ended the run; starting a new one");
                return Ok(LinkEvent::RunEnded);
            }
            ConnectionEnd::AlreadyRunning(text) if retries.begun.elapsed() > ATTACH_RETRY_MAX => {
                return Err(LinkLost(text));
            }
            ConnectionEnd::AlreadyRunning(_) => {
                if !std::mem::replace(&mut retries.has_warned, true) {
                    tracing::info!("another process runs this strategy; retrying in case it has just ended");
                }
            }
            ConnectionEnd::NotAttached(reason) if retries.away_since.elapsed() > RECONNECT_MAX => {
                return Err(LinkLost(format!("the server refused ({NOT_ATTACHED}): {reason}")));
            }
            ConnectionEnd::NotAttached(reason) => tracing::warn!(%reason, "the server refused; retrying"),
            ConnectionEnd::Connection(error) if retries.away_since.elapsed() > RECONNECT_MAX => {
                return Err(LinkLost(format!("the server can't be reached: {error}")));
            }
            ConnectionEnd::Connection(error) if was_attached => {
                tracing::warn!(%error, "connection lost; reconnecting");
            }
            ConnectionEnd::Connection(error) => tracing::warn!(%error, "server not reachable; retrying"),
        }
        Ok(LinkEvent::ConnectionLost)
    }

    /// The run has ended: waits until the strategy has released it. Its requests are dropped meanwhile.
    async fn release_run(&mut self) -> Result<(), LinkLost> {
        let Some(mut released) = self.run.as_mut().and_then(CurrentRun::end) else { return Ok(()) };
        let patience = sleep(RELEASE_MAX);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                _ = &mut released => return Ok(()),
                item = self.queues.queued.recv() => match item {
                    Some(item) => self.exit_requested |= is_exit(&item),
                    None => return Ok(()),
                },
                () = &mut patience => return Err(LinkLost("a call-back of the strategy does not return".to_owned())),
            }
        }
    }

    async fn run_connection(&mut self, retries: &mut Retries) -> Result<(), ConnectionEnd> {
        // Later than every one before, also those of a process that died.
        self.last_epoch = self.time.now().0.unsigned_abs().max(self.last_epoch + 1);
        let mut connection = ServerConnection::open(&self.process, self.last_epoch).await?;
        let ended = self.converse(&mut connection).await;
        if !matches!(ended, Err(ConnectionEnd::NotAttached(_))) {
            retries.away_since = Instant::now();
        }
        ended
    }

    async fn converse(&mut self, connection: &mut ServerConnection) -> Result<(), ConnectionEnd> {
        connection.subscribe().await?;
        let last_sequence = self.duplicates.newest();
        let resume =
            self.run.as_ref().map(|run| Resume { run: run.current().unwrap_or(Resume::NO_RUN), last_sequence });
        let is_further = self.state == LinkState::Resuming;
        let takes_over = self.takes_over;
        connection.send(StrategyRequestBody::Hello { build: build().into(), resume, takes_over }).await?;
        let mut deadlines = interval(DEADLINES_EVERY);
        loop {
            if self.left_at.is_some() {
                match self.state {
                    // What the connection before has lost is sent again when the server accepts this one.
                    LinkState::Resuming => {}
                    LinkState::Connecting => return Err(lost(DROPPED)),
                    _ => return self.leave(is_further, connection).await,
                }
            }
            tokio::select! {
                item = connection.next() => self.on_item(item?, connection).await?,
                item = self.queues.queued.recv(), if self.left_at.is_none() => match item {
                    Some(item) => self.send_item(item, connection).await?,
                    None => self.left_at = Some(Instant::now()),
                },
                _ = deadlines.tick() => self.on_deadlines()?,
            }
        }
    }

    /// The end of the last phase may be lost with the connection before; the server takes it twice.
    async fn leave(&mut self, is_further: bool, connection: &mut ServerConnection) -> Result<(), ConnectionEnd> {
        let completed = self.run.as_ref().and_then(|run| run.phases.completed());
        if let Some(entered) = completed.filter(|_| is_further && self.state.is_attached()) {
            connection.send(entered.clone()).await?;
        }
        Ok(connection.finish().await?)
    }

    /// A strategy that has left does not wait without an end for a server that accepts no connection.
    fn on_deadlines(&mut self) -> Result<(), ConnectionEnd> {
        self.expire_commands();
        match self.left_at.is_some_and(|left| left.elapsed() > RECONNECT_MAX) {
            true => Err(lost("it left, and the server does not accept its last requests")),
            false => Ok(()),
        }
    }

    /// A transition that the table does not have is an error of the server, and costs the connection.
    fn advance(&mut self, event: LinkEvent) -> Result<(), ConnectionEnd> {
        let illegal = || io::Error::other(format!("the server sent {event:?} to a link that is {:?}", self.state));
        self.state = self.state.after(event).ok_or_else(illegal)?;
        Ok(())
    }

    async fn send_item(&mut self, item: OutgoingItem, connection: &mut ServerConnection) -> Result<(), ConnectionEnd> {
        self.exit_requested |= is_exit(&item);
        let Some(run) = self.run.as_mut().filter(|run| item.run.is_none_or(|id| id == run.id)) else { return Ok(()) };
        let is_attached = self.state.is_attached();
        let request = match item.payload {
            OutgoingPayload::Heartbeat if is_attached => {
                StrategyRequestBody::Heartbeat { heard: self.duplicates.newest() }
            }
            OutgoingPayload::Heartbeat => return Ok(()),
            // A request with a key is kept among the unanswered ones while there is no connection.
            OutgoingPayload::Command(command) => {
                run.note_subscription(&command);
                self.unanswered.command(self.time.at(item.said_at), command)
            }
            OutgoingPayload::DeliveryRecord(record) => self.unanswered.delivery_record(record),
            OutgoingPayload::Request(request) => {
                run.phases.on_request(&request);
                if !is_attached {
                    run.unsent.push_back(request);
                    return Ok(());
                }
                request
            }
        };
        if is_attached { self.send_request(request, connection).await } else { Ok(()) }
    }

    async fn send_request(
        &mut self,
        request: StrategyRequestBody,
        connection: &mut ServerConnection,
    ) -> Result<(), ConnectionEnd> {
        if request == StrategyRequestBody::Exit {
            self.advance(LinkEvent::ExitSent)?;
        }
        Ok(connection.send(request).await?)
    }

    async fn on_item(&mut self, item: BusItem, connection: &mut ServerConnection) -> Result<(), ConnectionEnd> {
        let message = match item {
            BusItem::Message(message) => message,
            // A client that was never accepted is not accepted by a retry.
            BusItem::Rejected(text) if self.run.is_none() => return Err(lost(login_error(&text))),
            BusItem::Rejected(text) => return Err(io::Error::other(text).into()),
        };
        match message.source {
            BusSource::Own => self.on_own_message(&message, connection).await,
            BusSource::Prices => {
                self.on_price(&message);
                Ok(())
            }
            BusSource::GenericEvents => self.on_generic_event(&message),
            BusSource::Requests | BusSource::Stale => Ok(()),
        }
    }

    async fn on_own_message(
        &mut self,
        frame: &BusMessage,
        connection: &mut ServerConnection,
    ) -> Result<(), ConnectionEnd> {
        if let Some(message) = connection.accept(&frame.body)? {
            self.handle(message, connection).await?;
        }
        if let Some(acknowledgement) = connection.acknowledgement(frame.body.len())
            && self.state.is_attached()
        {
            connection.send(acknowledgement).await?;
        }
        Ok(())
    }

    fn on_price(&self, frame: &BusMessage) {
        let Some(event) = wire::decode_topics::market_data(&frame.body) else { return };
        if let Some(run) = self.run.as_ref().filter(|run| run.wants(&event)) {
            run.deliver_price(self.published(frame, event));
        }
    }

    fn on_generic_event(&self, frame: &BusMessage) -> Result<(), ConnectionEnd> {
        match wire::decode_topics::generic_event(&frame.body, &self.reference) {
            Some(event) => {
                self.deliver(StrategyDelivery::Event(self.published(frame, Event::Generic(Arc::new(event)))))
            }
            None => Ok(()),
        }
    }

    fn published(&self, frame: &BusMessage, event: Event) -> PublishedEvent {
        PublishedEvent { sequence: frame.sequence, at: self.time.now(), event }
    }

    async fn handle(&mut self, message: ServerMessage, connection: &mut ServerConnection) -> Result<(), ConnectionEnd> {
        match message {
            ServerMessage::Reference { changes } => connection.changes.extend(changes),
            ServerMessage::Welcome { id, run, is_resumed, reference, now, has_diary } => {
                self.time.set(now);
                let mut changes = std::mem::take(&mut connection.changes);
                changes.extend(reference);
                let before = std::mem::replace(&mut self.reference, Arc::new(protocol::reference(changes)));
                if is_resumed {
                    self.deliver_missed_reference(&before)?;
                } else {
                    if self.state == LinkState::Resuming {
                        tracing::warn!("the server did not go on with the run; starting a new one");
                    }
                    self.release_run().await.map_err(ConnectionEnd::Final)?;
                    self.start_run(StrategyIdentity { id, name: self.process.strategy.clone(), run }, has_diary)?;
                }
                self.on_welcome(connection).await?;
            }
            ServerMessage::HelloRejected { code, text } => return Err(rejected(&code, &text)),
            ServerMessage::Reconnect => {
                return Err(io::Error::other("the server calls it back to where it stopped hearing").into());
            }
            ServerMessage::Disconnected { reason, may_return: true } => {
                return Err(ConnectionEnd::RunEnded(reason.to_string()));
            }
            ServerMessage::Disconnected { reason, may_return: false } => {
                return Err(lost(format!("the server ended the run: {reason}")));
            }
            ServerMessage::Event { sequence, at, class, payload } => {
                if self.duplicates.is_new(sequence, class, &payload)
                    && let Some(published) = protocol::event((sequence, at), class, &payload, &self.reference)
                {
                    if let Event::Reference(update) = &published.event {
                        self.reference = update.data.clone();
                    }
                    self.deliver(StrategyDelivery::Event(published))?;
                }
            }
            ServerMessage::Answer { key, refusal } => self.on_answer(key, refusal)?,
            ServerMessage::Enter { bars, is_partial: true, .. } => connection.history.extend(bars),
            ServerMessage::Enter { phase, bars, is_partial: false } => {
                self.enter_phase(phase, bars, connection).await?;
            }
        }
        Ok(())
    }

    async fn enter_phase(
        &mut self,
        phase: StrategyPhase,
        bars: Vec<Bar>,
        connection: &mut ServerConnection,
    ) -> Result<(), ConnectionEnd> {
        let history = std::mem::take(&mut connection.history).into_iter().chain(bars).collect();
        let Some(run) = &mut self.run else { return Ok(()) };
        match run.phases.on_phase(phase) {
            PhaseNotice::New => self.deliver(StrategyDelivery::Enter(phase, Arc::new(history))),
            PhaseNotice::InProgress => Ok(()),
            PhaseNotice::Resend(entered) => Ok(connection.send(entered).await?),
        }
    }

    async fn on_welcome(&mut self, connection: &mut ServerConnection) -> Result<(), ConnectionEnd> {
        self.advance(LinkEvent::Welcomed)?;
        // An attached client that reconnects replaces no other process.
        self.takes_over = false;
        tracing::info!("attached to the server");
        for request in self.unanswered.resend(self.time.now()) {
            connection.send(request).await?;
        }
        while let Some(request) = self.run.as_mut().and_then(|run| run.unsent.pop_front()) {
            self.send_request(request, connection).await?;
        }
        if self.exit_requested { self.send_request(StrategyRequestBody::Exit, connection).await } else { Ok(()) }
    }

    /// The run goes on with the reference data that it had: what changed since is an event to it, and so is in its delivery log.
    fn deliver_missed_reference(&self, before: &ReferenceData) -> Result<(), ConnectionEnd> {
        let (changes, data) = (protocol::difference(before, &self.reference), self.reference.clone());
        if changes.is_empty() {
            return Ok(());
        }
        let event = Event::Reference(Arc::new(ReferenceUpdate { changes, data }));
        let sequence = self.duplicates.newest();
        self.deliver(StrategyDelivery::Event(PublishedEvent { sequence, at: self.time.now(), event }))
    }

    /// Requests of the previous run are dropped. Where the strategy has left with it, what it asked for last is lost.
    fn start_run(&mut self, identity: StrategyIdentity, records_deliveries: bool) -> Result<(), ConnectionEnd> {
        self.unanswered.clear();
        let outgoing = self.queues.outgoing.upgrade().ok_or_else(|| lost(DROPPED))?;
        let (current, run) = CurrentRun::begin(identity, self.reference.clone(), records_deliveries, outgoing);
        self.run = Some(current);
        self.queues.runs.send(run).map_err(|_| lost(DROPPED))
    }

    fn on_answer(&mut self, key: u64, refusal: Option<protocol::CommandRefusal>) -> Result<(), ConnectionEnd> {
        let (Some(command), Some(refusal)) = (self.unanswered.on_answer(key), refusal) else { return Ok(()) };
        let refused = CommandRejection { command: *command, code: refusal.code, reason: refusal.text };
        self.deliver(StrategyDelivery::Refused(Box::new(refused)))
    }

    /// The server accepts no command after its deadline; whether it accepted one before is not known.
    fn expire_commands(&mut self) {
        // The next server knows what became of them.
        if !self.state.is_attached() {
            return;
        }
        for key in self.unanswered.expired(self.time.now()) {
            let text = "no answer came before the deadline, so it is not known whether this took effect".into();
            // A strategy that receives nothing is lost at its next event.
            let _ = self.on_answer(key, Some(protocol::CommandRefusal { code: "outcome-unknown".into(), text }));
        }
    }

    fn deliver(&self, delivery: StrategyDelivery) -> Result<(), ConnectionEnd> {
        let delivered = self.run.as_ref().map_or(Ok(()), |run| run.deliver(delivery));
        delivered.map_err(|_| lost("the strategy leaves its events unread"))
    }
}

fn is_exit(item: &OutgoingItem) -> bool {
    matches!(item.payload, OutgoingPayload::Request(StrategyRequestBody::Exit))
}
