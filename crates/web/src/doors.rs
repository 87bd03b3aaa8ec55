//! Application state of the handlers: query and command the engine through the bus, with time-outs; history; blocking
//! work.

use std::sync::Arc;
use std::time::Duration;

use access::{Access, Refused, Register};
use bus::history::HistoryError;
use bus::lanes::Class;
use bus::{Bus, Closed, History, Operations, Quotas, Reply, Ticket};
use domain::{Answer, Command, Envelope, Query, ReferenceData, Timestamp};
use tokio::sync::Semaphore;

use crate::last_steps::unanswered;
use crate::metrics::HttpMetrics;
use crate::own_name::{FOREIGN, OwnName};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::shelf::Shelf;
use crate::visitor::Speaker;

/// So often whoever waits for an answer looks whether the journal has stalled.
const STALL_LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Clone)]
pub(crate) struct Doors(Arc<Inner>);

struct Inner {
    bus: Bus,
    access: Arc<Access>,
    settings: Settings,
    shelf: Shelf,
    metrics: HttpMetrics,
    /// Permits of blocking work.
    aside: Arc<Semaphore>,
}

/// A reply with the sequence up to which it is complete.
pub(crate) struct Told {
    pub(crate) sequence: u64,
    pub(crate) answer: Answer,
}

impl Doors {
    pub(crate) fn new(bus: Bus, access: Arc<Access>, settings: Settings) -> Self {
        let aside = Arc::new(Semaphore::new(settings.limits.blocking_calls));
        Self(Arc::new(Inner { bus, access, settings, shelf: Shelf::default(), metrics: HttpMetrics::new(), aside }))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn access(&self) -> &Access {
        &self.0.access
    }

    pub(crate) fn reference(&self) -> Arc<ReferenceData> {
        self.0.bus.catalogue.now()
    }

    pub(crate) fn shelf(&self) -> &Shelf {
        &self.0.shelf
    }

    pub(crate) fn metrics(&self) -> &HttpMetrics {
        &self.0.metrics
    }

    pub(crate) fn operations(&self) -> &dyn Operations {
        &*self.0.bus.operations
    }

    /// For blocking work.
    pub(crate) fn shared_operations(&self) -> Arc<dyn Operations> {
        self.0.bus.operations.clone()
    }

    /// A query: without an answer it had no effect.
    pub(crate) async fn ask(&self, query: Query) -> Result<Told, Problem> {
        let ticket = self.0.bus.inbox.query_within(query, unanswered()).map_err(not_taken)?;
        let reply = self.reply(ticket).await?.ok_or_else(|| Problem::new("stopping", "the engine gave no answer"))?;
        told(reply)
    }

    /// A command: the reply means that it is durable. Without a reply the outcome is unknown, and the response says so.
    pub(crate) async fn tell(&self, speaker: Speaker, command: Command) -> Result<Told, Problem> {
        self.check_stall(&command)?;
        let command = self.in_own_name(&speaker, command).await?;
        let ticket = self.hand_over(Envelope { caller: speaker.caller(), command }).await.map_err(not_taken)?;
        let reply = self.reply(ticket).await?.ok_or_else(|| {
            Problem::new(
                "outcome-unknown",
                "no answer came, so it is not known whether this took effect; look an order up by its intId before \
                 sending it again, or send it again with the same intId",
            )
        })?;
        told(reply)
    }

    /// Cancels and the kill switch wait for room instead of being refused.
    async fn hand_over(&self, envelope: Envelope) -> Result<Ticket, Closed> {
        let inbox = &self.0.bus.inbox;
        match Class::of(&envelope.command) {
            Class::Request | Class::Record => inbox.command_within(envelope, unanswered()),
            Class::Cancel | Class::Kill => self.patiently(inbox.command_when_free(envelope, unanswered())).await,
        }
    }

    /// A query before a command, which waits for room.
    async fn ask_in_turn(&self, query: Query) -> Result<Told, Problem> {
        let ticket = self.patiently(self.0.bus.inbox.query_when_free(query, unanswered())).await.map_err(not_taken)?;
        let reply = self.reply(ticket).await?.ok_or_else(|| Problem::new("stopping", "the engine gave no answer"))?;
        told(reply)
    }

    /// After the time-out nothing has happened.
    async fn patiently(&self, place: impl Future<Output = Result<Ticket, Closed>>) -> Result<Ticket, Closed> {
        let patience = self.settings().limits.request_timeout;
        tokio::time::timeout(patience, place).await.unwrap_or(Err(Closed::Busy))
    }

    /// Quotas of unanswered requests.
    pub(crate) fn quotas(&self) -> &Quotas {
        self.0.bus.inbox.quotas()
    }

    /// The command as far as this caller may give it. An attempt on another strategy's order is audited.
    pub(crate) async fn in_own_name(&self, speaker: &Speaker, command: Command) -> Result<Command, Problem> {
        let checked = self.check_name(speaker, command).await;
        if let Err(problem) = &checked
            && problem.code() == FOREIGN
        {
            problem.record(self.access(), &speaker.actor).await;
        }
        checked
    }

    async fn check_name(&self, speaker: &Speaker, command: Command) -> Result<Command, Problem> {
        let Some(own) = OwnName::of(speaker, &self.reference())? else { return Ok(command) };
        let known = match OwnName::question(&command) {
            Some(question) => Some(self.ask_in_turn(question).await?.answer),
            None => None,
        };
        own.within(command, known.as_ref())
    }

    /// A query of history. It includes everything that was acknowledged to any client before, and is answered with that
    /// sequence.
    pub(crate) async fn recall<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn History, u64) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<(u64, T), Problem> {
        let (as_of, history) = (self.operations().durable(), self.0.bus.history.clone());
        let found = self.aside(move || question(&*history, as_of)).await?;
        found.map(|found| (as_of, found)).map_err(not_recalled)
    }

    /// Blocking work, outside of the serving threads.
    pub(crate) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let place = self.0.aside.clone().try_acquire_owned().map_err(|_| not_taken(Closed::Busy))?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        done.await.map_err(|_| Problem::new("internal", "the request failed inside the server"))
    }

    /// Reads or changes users and tokens; a change is effective at once.
    pub(crate) async fn with_register<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Register, Timestamp) -> Result<T, Refused> + Send + 'static,
    ) -> Result<T, Problem> {
        let access = self.0.access.clone();
        let done = self.aside(move || {
            let done = work(access.register(), access.now())?;
            access.look_again()?;
            Ok::<_, Refused>(done)
        });
        Ok(done.await??)
    }

    /// None where no reply came in time.
    async fn reply(&self, ticket: Ticket) -> Result<Option<Reply>, Problem> {
        let patience = self.settings().limits.request_timeout;
        tokio::select! {
            biased;
            reply = tokio::time::timeout(patience, ticket.reply()) => Ok(reply.ok().and_then(Result::ok)),
            () = self.stalled() => Err(Problem::new(
                "journal-stalled",
                "the journal's disk does not answer, so nothing is acknowledged; whether this takes effect is known when it \
                 answers again: look an order up by its intId then",
            )),
        }
    }

    /// Ready when the journal has stalled.
    async fn stalled(&self) {
        while !self.operations().is_journal_stalled() {
            tokio::time::sleep(STALL_LOOK_EVERY).await;
        }
    }

    /// Nothing new is begun on a disk that does not answer, but the kill switch.
    fn check_stall(&self, command: &Command) -> Result<(), Problem> {
        if Class::of(command) == Class::Kill || !self.operations().is_journal_stalled() {
            return Ok(());
        }
        Err(Problem::new("journal-stalled", "the journal's disk does not answer; this request had no effect"))
    }
}

fn told(reply: Reply) -> Result<Told, Problem> {
    let answer = reply.outcome.map_err(Problem::from)?;
    Ok(Told { sequence: reply.sequence, answer })
}

fn not_recalled(error: HistoryError) -> Problem {
    match error {
        HistoryError::Behind { .. } => Problem::new("history-behind", error.to_string()),
        HistoryError::Busy => Problem::new("busy", error.to_string()),
        HistoryError::Broken(_) => Problem::new("internal", error.to_string()),
    }
}

fn not_taken(closed: Closed) -> Problem {
    match closed {
        Closed::Busy => Problem::new("busy", "too many requests wait; this one had no effect, try again"),
        Closed::Stopped => Problem::new("stopping", "the server is stopping; this request had no effect"),
    }
}
