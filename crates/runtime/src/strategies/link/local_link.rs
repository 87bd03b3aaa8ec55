//! In-process link: event queue and engine inbox for one strategy.

use std::sync::Arc;
use std::time::Duration;

use bus::{Bus, EventReceiver, InboxError};
use crossbeam_channel::Sender;
use domain::command::{StrategyPhase, StrategyRequestKey};
use domain::{Caller, Command, CommandEnvelope, PublishedEvent, Source, StrategyId};
use strategy::{CommandRejection, PriceHistory, StrategyIdentity};

use super::dispatcher::{self, StrategyQueues};
use super::reply_collector::{self, CommandReject, PendingCommand, ReadyReplies, ReplyCallback};
use super::strategy_queue::StrategyQueue;
use super::strategy_thread::RunnerEvent;
use super::{LinkLost, StrategyDelivery, StrategyLink};
use crate::strategies::protocol::delivery_log::DeliveryRecord;

/// Attaches strategies to the event feed and the inbox.
pub struct CommandRouter {
    bus: Bus,
    queues: StrategyQueues,
    reply_collector: Sender<PendingCommand>,
}

impl CommandRouter {
    /// Starts the dispatcher and the reply collector. Both end with the engine.
    pub fn open(bus: Bus, notes: Sender<RunnerEvent>) -> std::io::Result<Self> {
        let mailboxes = StrategyQueues::default();
        dispatcher::start(&bus.feed, mailboxes.clone())?;
        Ok(Self { bus, queues: mailboxes, reply_collector: reply_collector::spawn(notes)? })
    }

    /// Events from now on; the caller delivers the initial state.
    pub fn connect(&self, who: &StrategyIdentity, has_diary: bool) -> LocalLink {
        let mailbox = Arc::new(StrategyQueue::new(who.id));
        self.queues.add(who.id, mailbox.clone());
        let caller = Caller::new(Source::Strategy, Some(who.name.clone()));
        let (inbox, clerk) = (self.bus.inbox.clone(), self.reply_collector.clone());
        LocalLink {
            identity: who.clone(),
            logs_deliveries: has_diary,
            caller,
            inbox,
            reply_collector: clerk,
            queue: mailbox,
        }
    }

    pub fn disconnect(&self, strategy: StrategyId) {
        self.queues.remove(strategy);
    }
}

/// A router without threads, for a caller that gives it its turns.
pub struct SteppedRouter {
    router: CommandRouter,
    listener: EventReceiver,
    replies: ReadyReplies,
}

impl SteppedRouter {
    pub fn open(bus: Bus, notes: Sender<RunnerEvent>) -> Self {
        let listener = dispatcher::subscribe(&bus.feed);
        let (reply_collector, replies) = ReadyReplies::open(notes);
        let router = CommandRouter { bus, queues: StrategyQueues::default(), reply_collector };
        Self { router, listener, replies }
    }

    /// As [`CommandRouter::connect`].
    pub fn connect(&self, who: &StrategyIdentity) -> LocalLink {
        self.router.connect(who, false)
    }

    /// Events and replies that are there go to their strategies.
    pub fn step(&mut self) {
        dispatcher::deliver_waiting(&mut self.listener, &self.router.queues);
        self.replies.collect();
    }
}

/// The link of one strategy.
#[derive(Clone)]
pub struct LocalLink {
    identity: StrategyIdentity,
    logs_deliveries: bool,
    caller: Caller,
    inbox: bus::Inbox,
    reply_collector: Sender<PendingCommand>,
    queue: Arc<StrategyQueue>,
}

impl LocalLink {
    pub(crate) fn queue(&self) -> &Arc<StrategyQueue> {
        &self.queue
    }

    /// Queues the initial state of the strategy, before everything that is published from now on.
    pub fn deliver_state(&self, state: &[PublishedEvent]) {
        state.iter().for_each(|published| self.queue.push(published));
    }

    /// The strategy enters the phase behind what waits for it.
    pub fn enter(&self, phase: StrategyPhase, history: PriceHistory) {
        self.queue.enter(phase, Arc::new(history));
    }

    /// Sends a command; the outcome is passed to `answer`, once.
    pub fn send_command(
        &self,
        command: Command,
        answer: impl FnOnce(Result<(), CommandReject>) + Send + 'static,
    ) -> Result<(), LinkLost> {
        self.send_as(self.caller.clone(), command, answer)
    }

    /// As [`Self::send_command`], of a strategy process: the journal has its key, so that a later server knows what became of it.
    pub fn send_request(
        &self,
        key: u64,
        command: Command,
        answer: impl FnOnce(Result<(), CommandReject>) + Send + 'static,
    ) -> Result<(), LinkLost> {
        let request = StrategyRequestKey { strategy: self.identity.id, run: self.identity.run, key };
        self.send_as(Caller { request: Some(Box::new(request)), ..self.caller.clone() }, command, answer)
    }

    fn send_as(
        &self,
        caller: Caller,
        command: Command,
        answer: impl FnOnce(Result<(), CommandReject>) + Send + 'static,
    ) -> Result<(), LinkLost> {
        // A disconnected strategy may still run; its commands have no effect.
        if let Some(reason) = self.queue.disconnect_reason() {
            return Err(LinkLost(reason));
        }
        match &command {
            Command::Subscribe(request) => self.queue.subscribe(request.security),
            Command::Unsubscribe(request) => self.queue.unsubscribe(request.security),
            _ => {}
        }
        let answer: ReplyCallback = Box::new(answer);
        match self.inbox.command(CommandEnvelope { caller, command }) {
            Ok(ticket) => {
                let asked = PendingCommand { strategy: self.identity.id, reply: ticket, on_reply: answer };
                self.reply_collector.send(asked).map_err(|_| server_stopping())
            }
            Err(InboxError::Busy) => {
                self.log_rejected_command()?;
                let text = "too many requests wait; this one had no effect".into();
                answer(Err(CommandReject { code: "busy".into(), text }));
                Ok(())
            }
            Err(InboxError::Stopped) => Err(server_stopping()),
        }
    }

    /// Whether a disconnected strategy may begin a new run.
    pub fn may_reconnect(&self) -> bool {
        self.queue.may_reconnect()
    }

    /// Whether the strategy was detached, and not because the server ends: then its run may go on at the next one.
    pub fn is_detached(&self) -> bool {
        self.queue.is_detached()
    }

    /// Whether the strategy's delivery log is journalled.
    pub fn logs_deliveries(&self) -> bool {
        self.logs_deliveries
    }

    /// Records in the delivery log that a command was refused at the inbox and will never be in the journal.
    pub fn log_rejected_command(&self) -> Result<(), LinkLost> {
        self.append_delivery_log(DeliveryRecord::command_rejected(self.identity.id, self.identity.run).to_bytes())
    }

    /// Waits while the engine is behind. Without a delivery log, nothing is written.
    pub fn append_delivery_log(&self, record: Vec<u8>) -> Result<(), LinkLost> {
        if self.logs_deliveries {
            self.inbox.append_delivery_log(record, &self.identity.name).map_err(|_| server_stopping())
        } else {
            Ok(())
        }
    }
}

fn server_stopping() -> LinkLost {
    LinkLost("the server stops".to_owned())
}

impl StrategyLink for LocalLink {
    fn receive(&mut self, patience: Duration, into: &mut Vec<StrategyDelivery>) -> Result<(), LinkLost> {
        self.queue.receive(patience, into)
    }

    fn send(&mut self, command: Command) -> Result<(), LinkLost> {
        let (queue, asked) = (self.queue.clone(), command.clone());
        self.send_command(command, move |outcome| {
            if let Err(CommandReject { code, text }) = outcome {
                queue.push_refusal(CommandRejection { command: asked, code, reason: text });
            }
        })
    }
    fn write_delivery_log(&mut self, record: Vec<u8>) -> Result<(), LinkLost> {
        self.append_delivery_log(record)
    }
}
