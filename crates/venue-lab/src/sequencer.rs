//! Sequencer: one thread owns exchange and ledger, takes requests in batches, syncs once per batch, then answers.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};
use storage::StorageError;
use tokio::sync::oneshot;

use crate::exchange::{Applied, SpotCommand, SpotExchange, SpotReject};
use crate::lab_clock::LabClock;
use crate::ledger::SpotLedger;
use crate::publisher::{EventPublisher, VenueEvents};

/// Requests that wait for the exchange; more are refused with -1008.
const INBOX_MAX: usize = 10_000;
/// Requests that share one sync.
const BATCH_MAX: usize = 1_000;
/// Without work the thread wakes this often, to see whether it is to stop.
const IDLE: Duration = Duration::from_millis(200);

/// A reply that leaves once everything before it is on disk.
type DeferredReply = Box<dyn FnOnce() + Send>;
type ExchangeQuery = Box<dyn FnOnce(&SpotExchange) -> DeferredReply + Send>;
/// What a command came to.
pub(crate) type CommandResult = Result<Applied, SpotReject>;

enum ExchangeRequest {
    Command {
        command: Box<SpotCommand>,
        /// A command that is taken later than this is rejected.
        deadline_micros: Option<i64>,
        reply: Box<dyn FnOnce(CommandResult) + Send>,
    },
    Query(ExchangeQuery),
}

/// What leaves once the ledger is on disk, in the order in which it came about.
enum Outgoing {
    Reply(DeferredReply),
    Events(VenueEvents),
}

/// Why a request got no answer of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unavailable {
    Busy,
    Stopped,
}

#[derive(Clone)]
pub(crate) struct ExchangeHandle {
    inbox: Sender<ExchangeRequest>,
    pub(crate) events: Arc<EventPublisher>,
}

pub(crate) struct ExchangeThread {
    exchange: SpotExchange,
    ledger: SpotLedger,
    inbox: Receiver<ExchangeRequest>,
    events: Arc<EventPublisher>,
    outgoing: Vec<Outgoing>,
    clock: LabClock,
}

pub(crate) fn now_micros() -> i64 {
    LabClock::default().micros()
}

/// The thread of the exchange: its handle, its result, and a signal that fires when it ends.
type Started = (ExchangeHandle, JoinHandle<Result<(), StorageError>>, oneshot::Receiver<()>);

/// Starts the thread. It ends with `Ok` once every handle is dropped, and with the error where the disk fails.
pub(crate) fn start(exchange: SpotExchange, ledger: SpotLedger) -> Started {
    let (handle, mut sequencer) = by_hand(exchange, ledger, LabClock::default());
    let (ended, has_ended) = oneshot::channel::<()>();
    let run = move || {
        // Dropped however the thread ends, which is the signal.
        let _ended = ended;
        sequencer.run()
    };
    let thread = thread::Builder::new().name("exchange".to_owned()).spawn(run);
    (handle, thread.expect("a thread can be started"), has_ended)
}

/// Without a thread: whoever has it takes each step.
pub(crate) fn by_hand(exchange: SpotExchange, ledger: SpotLedger, clock: LabClock) -> (ExchangeHandle, ExchangeThread) {
    let (sender, inbox) = crossbeam_channel::bounded(INBOX_MAX);
    let events = Arc::new(EventPublisher::default());
    let handle = ExchangeHandle { inbox: sender, events: events.clone() };
    (handle, ExchangeThread { exchange, ledger, inbox, events, outgoing: Vec::new(), clock })
}

impl ExchangeThread {
    /// Everything that waits or is due, without waiting for more.
    pub(crate) fn step(&mut self) -> Result<(), StorageError> {
        while let Ok(request) = self.inbox.try_recv() {
            self.handle_batch(request)?;
        }
        self.run_participants()?;
        self.flush()
    }

    /// When the participants act next, in microseconds since 1970.
    pub(crate) fn due_micros(&self) -> Option<i64> {
        self.exchange.next_action().map(|(due, _)| due)
    }

    pub(crate) fn exchange(&self) -> &SpotExchange {
        &self.exchange
    }

    fn run(&mut self) -> Result<(), StorageError> {
        loop {
            match self.inbox.recv_timeout(self.wait()) {
                Ok(request) => self.handle_batch(request)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.ledger.sync(),
            }
            self.run_participants()?;
            self.flush()?;
        }
    }

    fn wait(&self) -> Duration {
        let due = self.exchange.next_action().map(|(due, _)| due - self.now());
        due.map_or(IDLE, |micros| Duration::from_micros(u64::try_from(micros).unwrap_or(0)).min(IDLE))
    }

    /// The machine's clock, but never earlier than the last command.
    fn now(&self) -> i64 {
        self.clock.micros().max(self.exchange.now_micros)
    }

    fn handle_batch(&mut self, first: ExchangeRequest) -> Result<(), StorageError> {
        self.handle(first)?;
        for _ in 1..BATCH_MAX {
            let Ok(next) = self.inbox.try_recv() else { break };
            self.handle(next)?;
        }
        Ok(())
    }

    fn handle(&mut self, request: ExchangeRequest) -> Result<(), StorageError> {
        match request {
            ExchangeRequest::Query(query) => {
                let reply = query(&self.exchange);
                self.outgoing.push(Outgoing::Reply(reply));
            }
            ExchangeRequest::Command { command, deadline_micros, reply } => {
                let now = self.now();
                let applied = if deadline_micros.is_some_and(|deadline| now > deadline) {
                    Err(SpotReject::outside_window())
                } else {
                    self.apply(command, now)?
                };
                self.outgoing.push(Outgoing::Reply(Box::new(move || reply(applied))));
                self.take_events();
            }
        }
        Ok(())
    }

    fn apply(&mut self, command: Box<SpotCommand>, now: i64) -> Result<CommandResult, StorageError> {
        let applied = self.exchange.apply(&command, now);
        if applied.as_ref().is_ok_and(Applied::is_change) {
            self.ledger.record(command, &self.exchange)?;
        }
        Ok(applied)
    }

    fn take_events(&mut self) {
        let events = self.exchange.take_events();
        if !events.is_empty() {
            self.outgoing.push(Outgoing::Events(VenueEvents::new(events)));
        }
    }

    fn run_participants(&mut self) -> Result<(), StorageError> {
        let now = self.now();
        // Each action is applied now and schedules the next one: a lab that was stopped for hours does not repeat them.
        while let Some((_, symbol)) = self.exchange.next_action().filter(|(due, _)| *due <= now) {
            // Participants are never rejected.
            let _ = self.apply(Box::new(SpotCommand::Act { symbol }), now)?;
            self.take_events();
        }
        Ok(())
    }

    /// Syncs, then lets answers and events out.
    fn flush(&mut self) -> Result<(), StorageError> {
        if self.outgoing.is_empty() {
            return Ok(());
        }
        self.ledger.sync()?;
        for outgoing in self.outgoing.drain(..) {
            match outgoing {
                Outgoing::Reply(reply) => reply(),
                Outgoing::Events(batch) => self.events.publish(&batch),
            }
        }
        Ok(())
    }
}

impl ExchangeHandle {
    pub(crate) async fn command(
        &self,
        command: SpotCommand,
        deadline_micros: Option<i64>,
    ) -> Result<CommandResult, Unavailable> {
        let (reply, answer) = oneshot::channel();
        // A client that is gone needs no answer.
        self.command_then(command, deadline_micros, move |applied| drop(reply.send(applied)))?;
        answer.await.map_err(|_| Unavailable::Stopped)
    }

    /// As [`Self::command`], but the result goes to `then`, on the thread of the exchange.
    pub(crate) fn command_then(
        &self,
        command: SpotCommand,
        deadline_micros: Option<i64>,
        then: impl FnOnce(CommandResult) + Send + 'static,
    ) -> Result<(), Unavailable> {
        self.send(ExchangeRequest::Command { command: Box::new(command), deadline_micros, reply: Box::new(then) })
    }

    pub(crate) async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&SpotExchange) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let (reply, answer) = oneshot::channel();
        self.query_then(query, move |result| drop(reply.send(result)))?;
        answer.await.map_err(|_| Unavailable::Stopped)
    }

    /// As [`Self::query`], but the result goes to `then`, on the thread of the exchange.
    pub(crate) fn query_then<T: Send + 'static>(
        &self,
        query: impl FnOnce(&SpotExchange) -> T + Send + 'static,
        then: impl FnOnce(T) + Send + 'static,
    ) -> Result<(), Unavailable> {
        let query = move |exchange: &SpotExchange| -> DeferredReply {
            let result = query(exchange);
            Box::new(move || then(result))
        };
        self.send(ExchangeRequest::Query(Box::new(query)))
    }

    fn send(&self, request: ExchangeRequest) -> Result<(), Unavailable> {
        self.inbox.try_send(request).map_err(|error| match error {
            TrySendError::Full(_) => Unavailable::Busy,
            TrySendError::Disconnected(_) => Unavailable::Stopped,
        })
    }
}
