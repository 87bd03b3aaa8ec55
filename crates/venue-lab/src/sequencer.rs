//! Sequencer: one thread owns exchange and ledger, takes requests in batches, syncs once per batch, then answers.

use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};
use storage::StorageError;
use tokio::sync::{broadcast, oneshot};

use crate::exchange::{Applied, SpotCommand, SpotExchange, SpotReject, VenueEvent};
use crate::ledger::SpotLedger;

/// Requests that wait for the exchange; more are refused with -1008.
const INBOX_MAX: usize = 10_000;
/// Requests that share one sync.
const BATCH_MAX: usize = 1_000;
/// Batches of events that a slow stream may be behind before it loses some.
const EVENTS_MAX: usize = 10_000;
/// Without work the thread wakes this often, to see whether it is to stop.
const IDLE: Duration = Duration::from_millis(200);

/// A reply that leaves once everything before it is on disk.
type DeferredReply = Box<dyn FnOnce() + Send>;
type ExchangeQuery = Box<dyn FnOnce(&SpotExchange) -> DeferredReply + Send>;

enum ExchangeRequest {
    Command {
        command: Box<SpotCommand>,
        /// A command that is taken later than this is rejected.
        deadline_micros: Option<i64>,
        reply: oneshot::Sender<Result<Applied, SpotReject>>,
    },
    Query(ExchangeQuery),
}

/// Why a request got no answer of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unavailable {
    Busy,
    Stopped,
}

/// Events of one command, in order.
pub(crate) type VenueEvents = std::sync::Arc<Vec<VenueEvent>>;

#[derive(Clone)]
pub(crate) struct ExchangeHandle {
    inbox: Sender<ExchangeRequest>,
    events: broadcast::Sender<VenueEvents>,
}

pub(crate) struct ExchangeThread {
    exchange: SpotExchange,
    ledger: SpotLedger,
    inbox: Receiver<ExchangeRequest>,
    events: broadcast::Sender<VenueEvents>,
    replies: Vec<DeferredReply>,
    published: Vec<VenueEvents>,
}

pub(crate) fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The thread of the exchange: its handle, its result, and a signal that fires when it ends.
type Started = (ExchangeHandle, JoinHandle<Result<(), StorageError>>, oneshot::Receiver<()>);

/// Starts the thread. It ends with `Ok` once every handle is dropped, and with the error where the disk fails.
pub(crate) fn start(exchange: SpotExchange, ledger: SpotLedger) -> Started {
    let (sender, inbox) = crossbeam_channel::bounded(INBOX_MAX);
    let (events, _) = broadcast::channel(EVENTS_MAX);
    let handle = ExchangeHandle { inbox: sender, events: events.clone() };
    let mut sequencer = ExchangeThread { exchange, ledger, inbox, events, replies: Vec::new(), published: Vec::new() };
    let (ended, has_ended) = oneshot::channel::<()>();
    let run = move || {
        // Dropped however the thread ends, which is the signal.
        let _ended = ended;
        sequencer.run()
    };
    let thread = thread::Builder::new().name("exchange".to_owned()).spawn(run);
    (handle, thread.expect("a thread can be started"), has_ended)
}

impl ExchangeThread {
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
        now_micros().max(self.exchange.now_micros)
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
                self.replies.push(reply);
            }
            ExchangeRequest::Command { command, deadline_micros, reply } => {
                let now = self.now();
                let applied = if deadline_micros.is_some_and(|deadline| now > deadline) {
                    Err(SpotReject::outside_window())
                } else {
                    self.apply(&command, now)?
                };
                // A client that is gone needs no answer.
                self.replies.push(Box::new(move || drop(reply.send(applied))));
            }
        }
        Ok(())
    }

    fn apply(&mut self, command: &SpotCommand, now: i64) -> Result<Result<Applied, SpotReject>, StorageError> {
        let applied = self.exchange.apply(command, now);
        if applied.as_ref().is_ok_and(Applied::is_change) {
            self.ledger.record(command, &self.exchange)?;
        }
        let events = self.exchange.take_events();
        if !events.is_empty() {
            self.published.push(VenueEvents::new(events));
        }
        Ok(applied)
    }

    fn run_participants(&mut self) -> Result<(), StorageError> {
        let now = self.now();
        // Each action is applied now and schedules the next one: a lab that was stopped for hours does not repeat them.
        while let Some((_, symbol)) = self.exchange.next_action().filter(|(due, _)| *due <= now) {
            // Participants are never rejected.
            let _ = self.apply(&SpotCommand::Act { symbol }, now)?;
        }
        Ok(())
    }

    /// Syncs, then lets answers and events out.
    fn flush(&mut self) -> Result<(), StorageError> {
        if self.replies.is_empty() && self.published.is_empty() {
            return Ok(());
        }
        self.ledger.sync()?;
        self.replies.drain(..).for_each(|reply| reply());
        for batch in self.published.drain(..) {
            // Without a stream there is no receiver.
            let _ = self.events.send(batch);
        }
        Ok(())
    }
}

impl ExchangeHandle {
    pub(crate) async fn command(
        &self,
        command: SpotCommand,
        deadline_micros: Option<i64>,
    ) -> Result<Result<Applied, SpotReject>, Unavailable> {
        let (reply, answer) = oneshot::channel();
        self.send(ExchangeRequest::Command { command: Box::new(command), deadline_micros, reply })?;
        answer.await.map_err(|_| Unavailable::Stopped)
    }

    pub(crate) async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&SpotExchange) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let (reply, answer) = oneshot::channel();
        let query = move |exchange: &SpotExchange| -> DeferredReply {
            let result = query(exchange);
            Box::new(move || drop(reply.send(result)))
        };
        self.send(ExchangeRequest::Query(Box::new(query)))?;
        answer.await.map_err(|_| Unavailable::Stopped)
    }

    fn send(&self, request: ExchangeRequest) -> Result<(), Unavailable> {
        self.inbox.try_send(request).map_err(|error| match error {
            TrySendError::Full(_) => Unavailable::Busy,
            TrySendError::Disconnected(_) => Unavailable::Stopped,
        })
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<VenueEvents> {
        self.events.subscribe()
    }
}
