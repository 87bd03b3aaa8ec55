//! Strategy bridge (server side): requests of strategy processes become commands or notes, messages of the strategy
//! host go to the queue of their strategy.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::time::{Duration, Instant};

use domain::{StrategyId, Text};
use runtime::EngineClock;
use runtime::strategies::protocol::{self, Resume, ServerMessage, StrategyRequest, StrategyRequestBody};
use runtime::strategies::{AttachedStrategy, CommandReject, HostError, HostHandle, LinkLost};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tracing::{info, warn};

use super::host_forwarder::{HostMessage, spawn_forwarder};
use super::strategy_process::StrategyProcess;
use crate::distributed::bus_line::{BusItem, BusLine};
use crate::distributed::bus_message::{BusChannel, BusMessage, BusSource};
use crate::distributed::nats_file::NatsBusConfig;
use crate::distributed::nats_line::{NatsLine, SharedEvents};
use crate::distributed::stomp_client::{ReconnectBackoff, StompClient};
use crate::distributed::{ALREADY_RUNNING, NOT_ATTACHED, build};

/// Events that are queued for the bridge; a sender of one more waits.
const OUTGOING_MAX: usize = 16_384;
/// A connection that lasted this long was stable: the back-off is reset.
const STABLE_AFTER: Duration = Duration::from_secs(5);
/// Queues of ended processes that are drained; beyond this the oldest is dropped.
const STALE_QUEUES_MAX: usize = 64;
const UNKNOWN_PROCESS: &str = "the server does not know this process";
const REPLACED_PROCESS: &str = "it is replaced by another process";

/// How the bridge reaches strategy processes.
pub enum BridgeTransport {
    /// Connects inside the process.
    Broker(Box<dyn Fn() -> DuplexStream + Send + Sync>),
    Nats {
        config: NatsBusConfig,
        shared: SharedEvents,
    },
}

impl BridgeTransport {
    async fn connect(&self) -> io::Result<BusLine<DuplexStream>> {
        Ok(match self {
            Self::Broker(connect) => BusLine::Broker(Box::new(StompClient::connect_internal(connect()).await?)),
            Self::Nats { config, shared } => {
                BusLine::Nats(Box::new(NatsLine::of_server(config, shared.clone()).await?))
            }
        })
    }
}

pub struct StrategyBridge {
    line: BusLine<DuplexStream>,
    controls: HostHandle,
    clock: EngineClock,
    processes: BTreeMap<Text, StrategyProcess>,
    /// Queues of ended processes, oldest first: their messages are dropped.
    stale_queues: VecDeque<BusChannel>,
    outgoing: mpsc::Sender<BridgeEvent>,
    answers: mpsc::UnboundedSender<CommandAnswer>,
}

/// Inputs of the bridge.
struct BridgeInputs {
    outgoing: mpsc::Receiver<BridgeEvent>,
    /// Each process has a bounded number of commands in flight, so these need no bound of their own; with one, the
    /// engine's answers and the bridge could wait for each other.
    answers: mpsc::UnboundedReceiver<CommandAnswer>,
}

/// The sender of a request.
#[derive(Debug, Clone)]
struct RequestSender {
    name: Text,
    address: Text,
    epoch: u64,
}

/// Events from other tasks and threads.
enum BridgeEvent {
    /// A strategy was attached, or rejected.
    Attached { sender: RequestSender, resume: Option<Resume>, attached: Box<Result<AttachedStrategy, HostError>> },
    /// The host has a message for a strategy.
    HostMessage(HostMessage),
}

/// The engine's answer to a command.
struct CommandAnswer {
    name: Text,
    run: u64,
    message: ServerMessage,
}

impl StrategyBridge {
    /// Runs as long as the program. A lost connection is restored, and every process is requested to resume from
    /// the last event that it received.
    pub async fn serve(transport: BridgeTransport, controls: HostHandle, clock: EngineClock) {
        let (outgoing, outgoing_waits) = mpsc::channel(OUTGOING_MAX);
        let (answers, answers_wait) = mpsc::unbounded_channel();
        let mut waiting = BridgeInputs { outgoing: outgoing_waits, answers: answers_wait };
        let mut backoff = ReconnectBackoff::new();
        let line = open(&transport, &mut backoff).await;
        let (members, left_behind) = (BTreeMap::new(), VecDeque::new());
        let mut bridge =
            Self { line, controls, clock, processes: members, stale_queues: left_behind, outgoing, answers };
        loop {
            let begun = Instant::now();
            let Err(error) = bridge.run(&mut waiting).await;
            warn!(%error, "strategy bridge lost its connection; reconnecting");
            if begun.elapsed() > STABLE_AFTER {
                backoff = ReconnectBackoff::new();
            }
            sleep(backoff.next_pause()).await;
            bridge.line = open(&transport, &mut backoff).await;
        }
    }

    async fn run(&mut self, waiting: &mut BridgeInputs) -> io::Result<Infallible> {
        self.line.serve().await?;
        for queue in &self.stale_queues {
            self.line.drain(queue).await?;
        }
        if !self.processes.is_empty() {
            self.line.on_process();
        }
        self.request_resume().await?;
        loop {
            tokio::select! {
                item = self.line.next() => match item? {
                    BusItem::Message(message) => self.on_message(message).await?,
                    BusItem::Rejected(text) => return Err(io::Error::other(text)),
                },
                Some(outgoing) = waiting.outgoing.recv() => self.on_event(outgoing).await?,
                Some(answered) = waiting.answers.recv() => self.on_command_answer(answered).await?,
            }
        }
    }

    /// Messages in flight when a connection broke may be lost.
    async fn request_resume(&mut self) -> io::Result<()> {
        for (name, member) in &mut self.processes {
            if let Some(envelope) = member.resume_request() {
                self.line.send(&delivery(name, &member.address), envelope).await?;
            }
        }
        Ok(())
    }

    async fn on_message(&mut self, message: BusMessage) -> io::Result<()> {
        if message.source != BusSource::Requests {
            return Ok(());
        }
        let Ok(StrategyRequest { strategy: name, epoch, body: request, address }) = minicbor::decode(&message.body)
        else {
            warn!(bytes = message.body.len(), "malformed request from a strategy process: ignored");
            return Ok(());
        };
        let sender = RequestSender { name, address, epoch };
        if message.signed_by.is_some_and(|signed| signed != *sender.name) {
            return self
                .reject_attach(&sender, "foreign-strategy", "the credentials are bound to another strategy")
                .await;
        }
        match request {
            StrategyRequestBody::Hello { build, resume, takes_over } => {
                self.on_hello(sender, &build, resume, takes_over).await
            }
            request => self.on_request(sender, request).await,
        }
    }

    async fn on_hello(
        &mut self,
        sender: RequestSender,
        theirs: &str,
        resume: Option<Resume>,
        takes_over: bool,
    ) -> io::Result<()> {
        let ours = build();
        if theirs != ours {
            let text = format!("the server is build {ours} and the strategy is build {theirs}: build both alike");
            return self.reject_attach(&sender, "build-mismatch", &text).await;
        }
        let (controls, outgoing) = (self.controls.clone(), self.outgoing.clone());
        tokio::task::spawn_blocking(move || {
            let attached = Box::new(controls.attach(&sender.name, resume, takes_over));
            // The bridge has ended: nothing to attach to.
            let _ = outgoing.blocking_send(BridgeEvent::Attached { sender, resume, attached });
        });
        Ok(())
    }

    async fn on_request(&mut self, sender: RequestSender, request: StrategyRequestBody) -> io::Result<()> {
        let name = &sender.name;
        let Some(member) = self.processes.get_mut(name).filter(|member| member.epoch() == sender.epoch) else {
            let is_replaced = self.processes.get(name).is_some_and(|member| member.address != sender.address);
            let (code, text) =
                if is_replaced { ("replaced", REPLACED_PROCESS) } else { (NOT_ATTACHED, UNKNOWN_PROCESS) };
            return self.reject_attach(&sender, code, text).await;
        };
        if let StrategyRequestBody::Ack { number } = request {
            member.on_acknowledged(number);
            return self.flush(name).await;
        }
        member.heartbeat.record();
        match request {
            StrategyRequestBody::Heartbeat { heard } => member.heartbeat.acknowledge(heard),
            StrategyRequestBody::Entered { phase, wishes } => {
                member.on_phase_completed(phase, wishes.into_iter().map(Into::into).collect());
            }
            StrategyRequestBody::Failed { reason } => member.on_failed(&reason),
            StrategyRequestBody::Exit => self.detach(name.clone()),
            StrategyRequestBody::Command { key, expires, command } => {
                return self.on_command(name, key, expires, *command).await;
            }
            StrategyRequestBody::DeliveryLog { key, leaf: record } => {
                return self.append_delivery_record(name, key, record).await;
            }
            StrategyRequestBody::Hello { .. } | StrategyRequestBody::Ack { .. } => {}
        }
        Ok(())
    }

    fn detach(&self, name: Text) {
        let controls = self.controls.clone();
        // Detaches a strategy that may still run.
        tokio::task::spawn_blocking(move || drop(controls.stop(&name)));
    }

    async fn on_command(
        &mut self,
        name: &Text,
        key: u64,
        expires: domain::Timestamp,
        command: domain::Command,
    ) -> io::Result<()> {
        let Some(member) = self.processes.get_mut(name) else { return Ok(()) };
        match member.begin_command(key) {
            Ok(()) => {}
            Err(None) => return Ok(()),
            Err(Some(known)) => return self.send(name, known).await,
        }
        let refusal = if (self.clock)() > expires {
            Some(refusal("deadline-passed", "it came after its deadline and had no effect"))
        } else if member.is_busy() {
            Some(refusal("busy", "too many commands wait for an answer; this had no effect"))
        } else {
            member.check(&command).err()
        };
        if refusal.is_some() {
            member.on_command_dropped();
            return self.send_answer(name, key, ServerMessage::Answer { key, refusal }).await;
        }
        let (answers, run, to) = (self.answers.clone(), member.run, name.clone());
        let asked = member.link.send_request(key, command, move |outcome| {
            // The server ends: the next one knows what became of it.
            if outcome.as_ref().is_err_and(CommandReject::is_outcome_unknown) {
                return;
            }
            let message = ServerMessage::Answer { key, refusal: outcome.err().map(Into::into) };
            // The bridge has ended: the answer is dropped.
            let _ = answers.send(CommandAnswer { name: to, run, message });
        });
        let Some(LinkLost(reason)) = asked.err().filter(|_| member.link.is_detached()) else { return Ok(()) };
        let may_return = member.link.may_reconnect();
        self.send(name, ServerMessage::Disconnected { reason: reason.into(), may_return }).await
    }

    async fn append_delivery_record(&mut self, name: &Text, key: u64, record: Vec<u8>) -> io::Result<()> {
        let Some(member) = self.processes.get_mut(name) else { return Ok(()) };
        match member.begin_command(key) {
            Ok(()) => {
                let refusal = member.append_delivery_record(record).err();
                self.send_answer(name, key, ServerMessage::Answer { key, refusal }).await
            }
            Err(known) => self.send(name, known.unwrap_or(ServerMessage::Answer { key, refusal: None })).await,
        }
    }

    async fn send_answer(&mut self, name: &Text, key: u64, message: ServerMessage) -> io::Result<()> {
        if let Some(member) = self.processes.get_mut(name) {
            member.on_answer(key, &message);
        }
        self.send(name, message).await
    }

    async fn on_event(&mut self, outgoing: BridgeEvent) -> io::Result<()> {
        match outgoing {
            BridgeEvent::Attached { sender, resume, attached } => match *attached {
                Ok(attached) => self.on_attached(sender, resume, attached).await,
                Err(trouble) => self.reject_attach(&sender, code_of(&trouble), &trouble.to_string()).await,
            },
            BridgeEvent::HostMessage(carried) => self.forward_host_message(carried).await,
        }
    }

    async fn forward_host_message(&mut self, carried: HostMessage) -> io::Result<()> {
        let HostMessage { name, run, message } = carried;
        let Some(member) = self.processes.get_mut(&name).filter(|member| member.run == run) else { return Ok(()) };
        let Some(message) = message else {
            member.on_replay();
            return Ok(());
        };
        match &message {
            ServerMessage::Event { .. } if member.awaits_replay() => return Ok(()),
            ServerMessage::Enter { .. } => member.on_phase_sent(&message),
            _ => {}
        }
        self.send(&name, message).await
    }

    async fn on_command_answer(&mut self, answered: CommandAnswer) -> io::Result<()> {
        let CommandAnswer { name, run, message } = answered;
        let Some(member) = self.processes.get_mut(&name).filter(|member| member.run == run) else { return Ok(()) };
        if let ServerMessage::Answer { key, .. } = &message {
            member.on_answer(*key, &message);
        }
        self.send(&name, message).await
    }

    async fn on_attached(
        &mut self,
        sender: RequestSender,
        resume: Option<Resume>,
        attached: AttachedStrategy,
    ) -> io::Result<()> {
        let RequestSender { name, address, epoch } = sender;
        self.line.on_process();
        let (parts, reference) = ServerMessage::from_reference(&attached.reference);
        let welcome = ServerMessage::Welcome {
            id: attached.identity.id,
            run: attached.identity.run,
            is_resumed: attached.is_resumed,
            reference,
            now: (self.clock)(),
            has_diary: attached.link.logs_deliveries(),
        };
        let known =
            self.processes.get_mut(&name).filter(|member| attached.is_resumed && member.run == attached.identity.run);
        if attached.is_resumed {
            replay(self.controls.clone(), attached.identity.id, resume);
        }
        let unfinished = match known {
            Some(member) => {
                member.resume(epoch);
                member.unfinished_phase_messages()
            }
            None => {
                info!(strategy = %name, "strategy process attached");
                let outgoing = self.outgoing.clone();
                spawn_forwarder(&attached, move |carried| {
                    outgoing.blocking_send(BridgeEvent::HostMessage(carried)).is_ok()
                })?;
                let member = StrategyProcess::new(attached, epoch, address.clone());
                let unfinished = member.unfinished_phase_messages();
                let before = self.processes.insert(name.clone(), member);
                if let Some(before) = before.filter(|before| before.address != address) {
                    self.drain_queue(delivery(&name, &before.address)).await?;
                }
                unfinished
            }
        };
        for message in parts.into_iter().chain([welcome]).chain(unfinished) {
            self.send(&name, message).await?;
        }
        Ok(())
    }

    async fn send(&mut self, name: &Text, message: ServerMessage) -> io::Result<()> {
        if let Some(member) = self.processes.get_mut(name) {
            member.enqueue(message);
        }
        self.flush(name).await
    }

    /// Sends queued messages of a process as far as its window allows.
    async fn flush(&mut self, name: &Text) -> io::Result<()> {
        let Some(member) = self.processes.get_mut(name) else { return Ok(()) };
        let queue = delivery(name, &member.address);
        while let Some(envelope) = member.next_envelope() {
            self.line.send(&queue, envelope).await?;
        }
        Ok(())
    }

    async fn reject_attach(&mut self, sender: &RequestSender, code: &str, text: &str) -> io::Result<()> {
        let message = ServerMessage::HelloRejected { code: code.into(), text: text.into() };
        let envelope = message.into_bytes(sender.epoch, 1);
        self.line.send(&delivery(&sender.name, &sender.address), envelope).await
    }

    /// Messages for a replaced process are dropped, now and when its connection returns more.
    async fn drain_queue(&mut self, queue: BusChannel) -> io::Result<()> {
        self.line.drain(&queue).await?;
        self.stale_queues.push_back(queue);
        if self.stale_queues.len() > STALE_QUEUES_MAX
            && let Some(oldest) = self.stale_queues.pop_front()
        {
            self.line.end_drain(&oldest).await?;
        }
        Ok(())
    }
}

/// A connection, retried until there is one.
async fn open(transport: &BridgeTransport, backoff: &mut ReconnectBackoff) -> BusLine<DuplexStream> {
    loop {
        match transport.connect().await {
            Ok(line) => return line,
            Err(error) => warn!(%error, "strategy processes can't be served now; retrying"),
        }
        sleep(backoff.next_pause()).await;
    }
}

fn delivery(strategy: &Text, address: &Text) -> BusChannel {
    BusChannel::Delivery { strategy: strategy.clone(), address: address.clone() }
}

fn refusal(code: &str, text: &str) -> protocol::CommandRefusal {
    protocol::CommandRefusal { code: code.into(), text: text.into() }
}

fn code_of(trouble: &HostError) -> &'static str {
    match trouble {
        HostError::AlreadyRunning => "strategy-runs",
        HostError::RunsInOtherProcess => ALREADY_RUNNING,
        _ => NOT_ATTACHED,
    }
}

/// The host keeps events from the attachment on until it has what was missed: sent before, they would overtake the older ones.
fn replay(controls: HostHandle, strategy: StrategyId, resume: Option<Resume>) {
    if let Some(Resume { last_sequence: heard, .. }) = resume {
        tokio::task::spawn_blocking(move || controls.replay(strategy, heard));
    }
}
