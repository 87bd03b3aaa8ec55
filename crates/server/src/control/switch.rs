//! The engine's side of the control socket.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use access::{Access, AccessChannel, AccessRequest, Actor};
use bus::operations::{ClusterRole, FixReloadError};
use bus::{Bus, FixSessionAdmin, HealthChecks, InFlightPermit, ReplyReceiver};
use crossbeam_channel::Sender;
use domain::risk::RiskScope;
use domain::{Answer, Caller, Command, CommandEnvelope, Query, Source, Text};
use fix_gateway::FixOperations;
use tokio::time::timeout;

use super::protocol::{Checked, ControlReply, Stated, Status};
use crate::users::execute;
use crate::users::requests::UserRequest;

/// How long a kill may take to be durable.
const KILL_WAIT_MAX: Duration = Duration::from_secs(30);
/// How often it is looked whether the journal's disk has stalled.
const STALL_LOOK_EVERY: Duration = Duration::from_millis(100);
const JOURNAL_STALLED: &str = "the journal's disk does not answer (journal-stalled): orders that were not sent are held back \
    from now on, the halt and the cancels follow when the disk answers";
/// How long the engine may take to say what its states are.
const STATUS_WAIT_MAX: Duration = Duration::from_secs(2);
/// As over REST.
const REASON_CHARACTERS_MAX: usize = 256;

#[derive(Clone)]
pub struct KillSwitch {
    pub bus: Bus,
    pub health: Arc<dyn HealthChecks>,
    pub access: Arc<Access>,
    /// Asks for an orderly stop.
    pub stop: Sender<()>,
    /// Set when the FIX port is open.
    pub fix: Arc<OnceLock<FixOperations>>,
    /// Whether the stop is for another member to lead.
    pub hands_over: Arc<AtomicBool>,
}

impl KillSwitch {
    /// Without a FIX port, which opens later.
    pub fn new<H: HealthChecks + 'static>(bus: &Bus, health: &Arc<H>, access: &Arc<Access>, stop: &Sender<()>) -> Self {
        let (bus, health, access) = (bus.clone(), health.clone(), access.clone());
        Self { bus, health, access, stop: stop.clone(), fix: Arc::default(), hands_over: Arc::default() }
    }

    /// As somebody has written the scope.
    pub(super) async fn kill_named(&self, scope: &str, reason: Option<&str>, action: &'static str) -> ControlReply {
        match scope.parse::<RiskScope>().map_err(|_| not_a_scope(scope)).and_then(|scope| self.known(scope)) {
            Ok(scope) => self.kill(scope, reason, action).await,
            Err(detail) => ControlReply::Refused { detail },
        }
    }

    /// Returns when it is durable, and in the audit.
    pub(super) async fn kill(&self, scope: RiskScope, reason: Option<&str>, action: &'static str) -> ControlReply {
        let answered = self.killed(scope, reason).await;
        let actor = Actor {
            user: None,
            request: AccessRequest { channel: AccessChannel::CommandLine, peer: None, action: action.into() },
        };
        match &answered {
            ControlReply::Killed { cancels, sequence, .. } => {
                // A kill that is not in the audit is a kill; the recorder has logged what is wrong with its file.
                let detail = format!("{scope}, {cancels} cancels, sequence {sequence}");
                let _ = self.access.audit_action(&actor, &detail).await;
            }
            ControlReply::Refused { detail } => self.access.audit_refusal(&actor, "kill-failed", detail).await,
            ControlReply::Status(_)
            | ControlReply::Users(_)
            | ControlReply::HandsOver
            | ControlReply::FixReloaded(_) => {}
        }
        answered
    }

    /// The leader of a cluster stops in order, so that a follower leads. It is in the audit before.
    pub(super) async fn hand_over(&self) -> ControlReply {
        if self.health.cluster().is_none_or(|cluster| cluster.role != ClusterRole::Leader) {
            return ControlReply::Refused { detail: "this server leads no cluster: nothing was stopped".into() };
        }
        let action = "ha hand-over".into();
        let request = AccessRequest { channel: AccessChannel::CommandLine, peer: None, action };
        // One that is not in the audit is a stop nevertheless; the recorder has logged what is wrong with its file.
        let _ = self.access.audit_action(&Actor { user: None, request }, "the lead is handed over").await;
        self.hands_over.store(true, Ordering::Release);
        // A stop that was asked for already is as good.
        self.stop.try_send(()).unwrap_or(());
        ControlReply::HandsOver
    }

    /// Reads the file of FIX sessions again. It is in the audit, also where it is refused.
    pub(super) async fn reload_fix(&self) -> ControlReply {
        let Some(gateway) = self.fix.get().cloned() else {
            return ControlReply::Refused { detail: "this server has no FIX port, or it is not open yet".into() };
        };
        let request = AccessRequest { channel: AccessChannel::CommandLine, peer: None, action: "fix reload".into() };
        let actor = Actor { user: None, request };
        let refused = match tokio::task::spawn_blocking(move || gateway.reload()).await {
            Ok(Ok(changes)) => {
                // What was changed is changed; the recorder has logged what is wrong with its file.
                let _ = self.access.audit_action(&actor, &changes.summary()).await;
                return ControlReply::FixReloaded(changes.into());
            }
            Ok(Err(FixReloadError::Refused(problems))) => {
                format!("the FIX sessions can't be used, nothing has changed:\n  {}", problems.join("\n  "))
            }
            Ok(Err(FixReloadError::Busy)) => "the FIX port starts or stops: nothing has changed".to_owned(),
            Err(_) => "the request failed inside the server".to_owned(),
        };
        self.access.audit_refusal(&actor, "bad-session-file", &refused).await;
        ControlReply::Refused { detail: refused }
    }

    /// Reads or changes users and tokens. On a thread that may wait for the disk.
    pub(super) async fn users(&self, asked: UserRequest) -> ControlReply {
        let access = self.access.clone();
        let work = move || execute::execute(access.user_store(), asked, access.now());
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(reply)) => ControlReply::Users(reply),
            Ok(Err(refused)) => ControlReply::Refused { detail: refused.to_string() },
            Err(_) => ControlReply::Refused { detail: "the request failed inside the server".into() },
        }
    }

    async fn killed(&self, scope: RiskScope, reason: Option<&str>) -> ControlReply {
        let reason = reason.map(|text| text.chars().take(REASON_CHARACTERS_MAX).collect::<String>());
        let command = Command::Kill { scope, reason: reason.map(Text::from) };
        let caller = Caller::new(Source::Platform, None);
        let done = async {
            let place =
                self.bus.inbox.command_when_free(CommandEnvelope { caller, command }, InFlightPermit::default());
            place.await.ok()?.recv().await.ok()
        };
        let answered = tokio::select! {
            biased;
            answered = timeout(KILL_WAIT_MAX, done) => answered,
            () = self.stalled() => {
                self.bus.inbox.outbound_gate().shut(scope);
                return ControlReply::Refused { detail: JOURNAL_STALLED.into() };
            }
        };
        let Ok(Some(reply)) = answered else {
            return ControlReply::Refused {
                detail: "the engine gave no answer: it is not known whether it took effect".into(),
            };
        };
        match reply.outcome {
            Ok(Answer::Killed { cancels }) => {
                ControlReply::Killed { scope: scope.to_string(), cancels, sequence: reply.sequence }
            }
            Ok(_) => ControlReply::Refused { detail: "the engine's answer is about something else".into() },
            Err(refusal) => ControlReply::Refused { detail: refusal.to_string() },
        }
    }

    /// Ready when the journal's disk does not answer. The kill is in the inbox by then.
    async fn stalled(&self) {
        loop {
            tokio::time::sleep(STALL_LOOK_EVERY).await;
            if self.bus.journal.is_stalled() {
                return;
            }
        }
    }

    /// Whoever halts what is not there believes that he has halted something.
    fn known(&self, scope: RiskScope) -> Result<RiskScope, String> {
        let reference = self.bus.catalogue.current();
        let is_known = match scope {
            RiskScope::Platform => true,
            RiskScope::Account(id) => reference.accounts.contains_key(&id),
            RiskScope::Strategy(id) => reference.strategies.contains_key(&id),
            RiskScope::Security(id) => reference.securities.contains_key(&id),
        };
        if is_known { Ok(scope) } else { Err(format!("{scope} is not known")) }
    }

    pub(super) async fn status(&self) -> Status {
        let checks: Vec<Checked> = self.health.checks().into_iter().map(Checked::from).collect();
        Status {
            version: env!("CARGO_PKG_VERSION").into(),
            ready: checks.iter().all(|check| check.ok),
            checks,
            states: self.states().await,
        }
    }

    async fn states(&self) -> Option<Vec<Stated>> {
        let ticket: ReplyReceiver = self.bus.inbox.query(Query::TradingStates).ok()?;
        let reply = timeout(STATUS_WAIT_MAX, ticket.recv()).await.ok()?.ok()?;
        let Ok(Answer::TradingStates(states)) = reply.outcome else { return None };
        Some(states.iter().map(|change| Stated::of(change.scope, change.state)).collect())
    }
}

fn not_a_scope(text: &str) -> String {
    format!("scope: {text:?} is not PLATFORM, ACCOUNT-<id>, STRATEGY-<id> or SECURITY-<id>")
}
