//! Application state of the handlers: query and command the engine through the bus, with time-outs; history; blocking
//! work.

use std::sync::Arc;
use std::time::Duration;

use access::{Access, UserStore, UserStoreError};
use bus::history::HistoryError;
use bus::lanes::RequestClass;
use bus::past::{PastError, PastPoint};
use bus::{Bus, History, InboxError, Quotas, Reply, ReplyReceiver};
use domain::{Answer, Command, CommandEnvelope, PlantedBug, Query, ReferenceData, RiskScope, Timestamp};
use tokio::sync::{Semaphore, oneshot};

use crate::lists::list_cache::ListCache;
use crate::middleware::caller::{HttpCaller, unanswered};
use crate::middleware::metrics::HttpMetrics;
use crate::middleware::strategy_scope::{FOREIGN_STRATEGY, StrategyScope};
use crate::problem::Problem;
use crate::settings::{WebServices, WebSettings};

/// How often a request that waits for an answer checks whether the journal has stalled.
const STALL_LOOK_EVERY: Duration = Duration::from_millis(100);

/// Refusals of the engine that are audited.
const NOT_PERMITTED: [&str; 3] = ["account-not-permitted", "security-not-permitted", "interface-not-permitted"];

#[derive(Clone)]
pub(crate) struct AppState(Arc<AppStateInner>);

struct AppStateInner {
    bus: Bus,
    services: WebServices,
    access: Arc<Access>,
    settings: WebSettings,
    list_cache: ListCache,
    metrics: HttpMetrics,
    /// Permits of blocking work.
    blocking_permits: Arc<Semaphore>,
}

/// A reply with the sequence up to which it is complete.
pub(crate) struct EngineReply {
    pub(crate) sequence: u64,
    pub(crate) answer: Answer,
}

impl AppState {
    pub(crate) fn new(bus: Bus, services: WebServices, access: Arc<Access>, settings: WebSettings) -> Self {
        let aside = Arc::new(Semaphore::new(settings.limits.blocking_calls));
        Self(Arc::new(AppStateInner {
            bus,
            services,
            access,
            settings,
            list_cache: ListCache::default(),
            metrics: HttpMetrics::new(),
            blocking_permits: aside,
        }))
    }

    pub(crate) fn settings(&self) -> &WebSettings {
        &self.0.settings
    }

    pub(crate) fn access(&self) -> &Access {
        &self.0.access
    }

    pub(crate) fn reference(&self) -> Arc<ReferenceData> {
        self.0.bus.catalogue.current()
    }

    pub(crate) fn list_cache(&self) -> &ListCache {
        &self.0.list_cache
    }

    pub(crate) fn metrics(&self) -> &HttpMetrics {
        &self.0.metrics
    }

    /// The server around the engine.
    pub(crate) fn services(&self) -> &WebServices {
        &self.0.services
    }

    /// A query: without an answer it had no effect.
    pub(crate) async fn query(&self, query: Query) -> Result<EngineReply, Problem> {
        let ticket = self.0.bus.inbox.query_within(query, unanswered()).map_err(closed_problem)?;
        let reply =
            self.await_reply(ticket).await?.ok_or_else(|| Problem::new("stopping", "the engine gave no answer"))?;
        engine_reply(reply)
    }

    /// A query about a state of the past, or about now where no point is given.
    pub(crate) async fn query_at(&self, at: Option<PastPoint>, query: Query) -> Result<EngineReply, Problem> {
        let Some(at) = at else { return self.query(query).await };
        // Its reply has passed the gate: everything up to its sequence is durable.
        let newest = self.query(Query::Phases).await?.sequence;
        check_past(at, newest, self.0.access.now())?;
        let past = self.0.services.past.clone();
        engine_reply(self.blocking(move || past.answer(at, &query)).await?.map_err(past_problem)?)
    }

    /// A command: the reply means that it is durable. Without a reply the outcome is unknown, and the response says so.
    pub(crate) async fn command(&self, speaker: HttpCaller, command: Command) -> Result<EngineReply, Problem> {
        self.check_stall(&command)?;
        let kill = kill_scope(&command);
        let command = self.scoped_command(&speaker, command).await?;
        let actor = speaker.actor.clone();
        let ticket =
            self.submit(CommandEnvelope { caller: speaker.caller(), command }).await.map_err(closed_problem)?;
        let reply = self.await_command(ticket, kill).await?;
        let is_lost = |reply: &Reply| PlantedBug::LoseHttpAnswer.is_planted() && reply.sequence.is_multiple_of(16);
        let reply = reply.filter(|reply| !is_lost(reply)).ok_or_else(|| {
            Problem::new(
                "outcome-unknown",
                "no answer came, so it is not known whether this took effect; look an order up by its intId before \
                 sending it again, or send it again with the same intId",
            )
        })?;
        let outcome = engine_reply(reply);
        if let Err(problem) = &outcome
            && NOT_PERMITTED.contains(&problem.code())
        {
            problem.record(self.access(), &actor).await;
        }
        outcome
    }

    /// Cancels and the kill switch wait for room instead of being refused.
    async fn submit(&self, envelope: CommandEnvelope) -> Result<ReplyReceiver, InboxError> {
        let inbox = &self.0.bus.inbox;
        match RequestClass::from_command(&envelope.command) {
            RequestClass::Request | RequestClass::Record => inbox.command_within(envelope, unanswered()),
            RequestClass::Cancel | RequestClass::Kill => {
                self.with_timeout(inbox.command_when_free(envelope, unanswered())).await
            }
        }
    }

    /// A query before a command, which waits for room.
    async fn query_when_free(&self, query: Query) -> Result<EngineReply, Problem> {
        let ticket =
            self.with_timeout(self.0.bus.inbox.query_when_free(query, unanswered())).await.map_err(closed_problem)?;
        let reply =
            self.await_reply(ticket).await?.ok_or_else(|| Problem::new("stopping", "the engine gave no answer"))?;
        engine_reply(reply)
    }

    /// After the time-out nothing has happened.
    async fn with_timeout(
        &self,
        place: impl Future<Output = Result<ReplyReceiver, InboxError>>,
    ) -> Result<ReplyReceiver, InboxError> {
        let patience = self.settings().limits.request_timeout;
        tokio::time::timeout(patience, place).await.unwrap_or(Err(InboxError::Busy))
    }

    /// Quotas of unanswered requests.
    pub(crate) fn quotas(&self) -> &Quotas {
        self.0.bus.inbox.quotas()
    }

    /// The command as far as this caller may give it. An attempt on another strategy's order is audited.
    pub(crate) async fn scoped_command(&self, caller: &HttpCaller, command: Command) -> Result<Command, Problem> {
        let checked = self.check_strategy_scope(caller, command).await;
        if let Err(problem) = &checked
            && problem.code() == FOREIGN_STRATEGY
        {
            problem.record(self.access(), &caller.actor).await;
        }
        checked
    }

    async fn check_strategy_scope(&self, caller: &HttpCaller, command: Command) -> Result<Command, Problem> {
        let Some(own) = StrategyScope::for_caller(caller, &self.reference())? else { return Ok(command) };
        let known = match StrategyScope::required_query(&command) {
            Some(question) => Some(self.query_when_free(question).await?.answer),
            None => None,
        };
        own.restrict(command, known.as_ref())
    }

    /// A query of history. It includes everything that was acknowledged to any client before, and is answered with that
    /// sequence.
    pub(crate) async fn history<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn History, u64) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<(u64, T), Problem> {
        let (as_of, history) = (self.0.bus.journal.durable(), self.0.bus.history.clone());
        let found = self.blocking(move || question(&*history, as_of)).await?;
        found.map(|found| (as_of, found)).map_err(history_problem)
    }

    /// The sequence up to which everything is durable; at a follower, up to which everything is applied.
    pub(crate) fn durable(&self) -> u64 {
        self.0.bus.journal.durable()
    }

    /// Blocking work, outside of the serving threads.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let place =
            self.0.blocking_permits.clone().try_acquire_owned().map_err(|_| closed_problem(InboxError::Busy))?;
        let (done, outcome) = oneshot::channel();
        self.access().environment().block(Box::new(move || {
            let found = work();
            drop(place);
            // The caller may be gone.
            let _ = done.send(found);
        }));
        outcome.await.map_err(|_| Problem::new("internal", "the request failed inside the server"))
    }

    /// Reads or changes users and tokens; a change is effective at once.
    pub(crate) async fn with_register<T: Send + 'static>(
        &self,
        work: impl FnOnce(&UserStore, Timestamp) -> Result<T, UserStoreError> + Send + 'static,
    ) -> Result<T, Problem> {
        let access = self.0.access.clone();
        Ok(self.blocking(move || work(access.user_store(), access.now())).await??)
    }

    /// A kill whose disk does not answer shuts the outbound gate.
    async fn await_command(&self, ticket: ReplyReceiver, kill: Option<RiskScope>) -> Result<Option<Reply>, Problem> {
        let reply = self.await_reply(ticket).await;
        if let (Err(_), Some(scope)) = (&reply, kill) {
            self.0.bus.inbox.outbound_gate().shut(scope);
            return Err(Problem::new(
                "journal-stalled",
                "the journal's disk does not answer: orders of this scope that were not sent are held back from now on; it is \
                 halted and its orders are cancelled when the disk answers",
            ));
        }
        reply
    }

    /// None where no reply came in time.
    async fn await_reply(&self, ticket: ReplyReceiver) -> Result<Option<Reply>, Problem> {
        let patience = self.settings().limits.request_timeout;
        tokio::select! {
            biased;
            reply = tokio::time::timeout(patience, ticket.recv()) => Ok(reply.ok().and_then(Result::ok)),
            () = self.stalled() => Err(Problem::new(
                "journal-stalled",
                "the journal's disk does not answer, so nothing is acknowledged; whether this takes effect is known when it \
                 answers again: look an order up by its intId then",
            )),
        }
    }

    /// Ready when the journal has stalled.
    async fn stalled(&self) {
        while !self.0.bus.journal.is_stalled() {
            tokio::time::sleep(STALL_LOOK_EVERY).await;
        }
    }

    /// Nothing new is begun on a disk that does not answer, but the kill switch.
    fn check_stall(&self, command: &Command) -> Result<(), Problem> {
        let is_stalled = self.0.bus.journal.is_stalled() || PlantedBug::TellStall.is_planted();
        if RequestClass::from_command(command) == RequestClass::Kill || !is_stalled {
            return Ok(());
        }
        Err(Problem::new("journal-stalled", "the journal's disk does not answer; this request had no effect"))
    }
}

fn kill_scope(command: &Command) -> Option<RiskScope> {
    match command {
        Command::Kill { scope, .. } => Some(*scope),
        _ => None,
    }
}

fn engine_reply(reply: Reply) -> Result<EngineReply, Problem> {
    let answer = reply.outcome.map_err(Problem::from)?;
    Ok(EngineReply { sequence: reply.sequence, answer })
}

/// What has not happened yet may still become another.
fn check_past(at: PastPoint, newest: u64, now: Timestamp) -> Result<(), Problem> {
    let is_past = match at {
        PastPoint::Sequence(sequence) => sequence <= newest,
        PastPoint::Instant(instant) => instant <= now,
    };
    let reason = || format!("at lies in the future: the newest sequence is {newest}, the time is {now}");
    if is_past { Ok(()) } else { Err(Problem::new("future-state", reason())) }
}

fn past_problem(error: PastError) -> Problem {
    match error {
        PastError::Busy => Problem::new("busy", error.to_string()),
        PastError::Pruned(_) => Problem::new("pruned-state", error.to_string()),
        PastError::Failed(_) => Problem::new("internal", error.to_string()),
    }
}

fn history_problem(error: HistoryError) -> Problem {
    match error {
        HistoryError::Behind { .. } | HistoryError::Unavailable(_) => Problem::new("history-behind", error.to_string()),
        HistoryError::Busy => Problem::new("busy", error.to_string()),
        HistoryError::Failed(_) => Problem::new("internal", error.to_string()),
    }
}

fn closed_problem(closed: InboxError) -> Problem {
    match closed {
        InboxError::Busy => Problem::new("busy", "too many requests wait; this one had no effect, try again"),
        InboxError::Stopped => Problem::new("stopping", "the server is stopping; this request had no effect"),
    }
}
