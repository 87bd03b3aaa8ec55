//! Actions of a STOMP session, executed in order. While one waits (login, journal), no further frame of this client is
//! processed, so a RECEIPT confirms its frame and all before it.

use std::future::ready;
use std::mem;

use access::{AccessChannel, AccessCredentials, AccessRequest, Actor, Identity, UserRole};
use bus::forwarding::ForwardedRequest;
use domain::{Caller, Command, CommandEnvelope, Source};
use net::ConnectionPermit;
use stomp::session::{self, BrokerRequest, Publication};
use stomp::{DestinationKind, MonotonicTime, StompAction};

use crate::connection::close_reason::CloseReason;
use crate::connection::permissions::{may_run_strategies, rights};
use crate::connection::{ActionOutcome, PendingAction, PresentedCredentials, StompConnection};
use crate::ports::transport::Transport;
use crate::{event_forwarding, event_submission, translate};

/// Header of a strategy's message to a queue: the strategy that its credentials are bound to.
const STRATEGY_HEADER: &str = "strategy";

/// A part of the server acts with all permissions.
const INTERNAL_IDENTITY: Identity = Identity { name: None, role: UserRole::Admin, rights: None };

/// Why an action failed, and the receipt of its frame.
type ErrorReply = (String, Option<String>);

impl<T: Transport> StompConnection<T> {
    /// Executes what can be executed now.
    pub(super) fn run_actions(&mut self, now: MonotonicTime) {
        while self.pending.is_none()
            && let Some(action) = self.actions.pop_front()
        {
            if let Err((text, receipt)) = self.run_action(now, action) {
                self.reject(&text, receipt.as_deref());
            }
        }
    }

    /// The session ends; its pending actions are dropped.
    pub(super) fn reject(&mut self, text: &str, receipt: Option<&str>) {
        let mut last_words = Vec::new();
        self.session.close_with_error(text, receipt, &mut last_words);
        if !last_words.is_empty() {
            self.actions.clear();
        }
        self.queue_actions(last_words);
    }

    pub(super) fn run_action(&mut self, now: MonotonicTime, action: StompAction) -> Result<(), ErrorReply> {
        match action {
            // A full control lane still accepts the final frame.
            StompAction::Send(frame) => {
                self.lanes.push_control(frame).map_err(|slow| {
                    self.hub.mailbox.close(CloseReason::Slow(slow));
                    (slow.to_string(), None)
                })?;
            }
            StompAction::Authenticate(credentials) => self.pending = Some(self.authenticate(credentials)),
            StompAction::Subscribe(subscription) => {
                if let Some(after) = subscription.after {
                    self.start_replay(subscription, after);
                    return Ok(());
                }
                self.consumes_queues |=
                    subscription.patterns.iter().any(|pattern| pattern.kind() == DestinationKind::Queue);
                let (key, no_local) = (subscription.key, subscription.no_local);
                let begun = self.hub.subscribe(subscription).map_err(|full| (full, None))?;
                self.session.subscriptions().activate(key, begun.after_broadcast, no_local);
                self.snapshots.extend(begun.snapshots);
            }
            StompAction::Unsubscribe(key) => {
                self.snapshots.retain(|snapshot| snapshot.subscription != key);
                self.end_replay(key);
                self.hub.unsubscribe(key);
                self.lanes.remove_subscription(key);
            }
            StompAction::Execute { work, receipt } => self.commit(now, vec![work], receipt)?,
            StompAction::Commit { work, receipt } => self.commit(now, work, receipt)?,
            StompAction::Forbidden { command, destination } => {
                self.pending = Some(self.audit(format!("{} {destination}", command.name())));
            }
            StompAction::Close(closing) => self.close(&closing),
        }
        Ok(())
    }

    /// Credentials in CONNECT win over those of the WebSocket upgrade.
    fn authenticate(&mut self, shown: session::ConnectCredentials) -> PendingAction {
        let (login, passcode) = (shown.login.unwrap_or_default(), shown.passcode.unwrap_or_default());
        let before = mem::replace(&mut self.origin.credentials, PresentedCredentials::Absent);
        let credentials = match before {
            PresentedCredentials::Internal => {
                return Box::pin(ready(ActionOutcome::Authenticated(INTERNAL_IDENTITY, None)));
            }
            PresentedCredentials::Credentials(before) if login.is_empty() && passcode.is_empty() => before,
            PresentedCredentials::Absent if login.is_empty() && passcode.is_empty() => AccessCredentials::Anonymous,
            _ => self.login(login, passcode),
        };
        let (access, visit) = (self.broker.access.clone(), self.visit("CONNECT"));
        Box::pin(async move {
            match access.authenticate_connection(credentials, &visit).await {
                Ok((identity, pass)) => ActionOutcome::Authenticated(identity, Some(pass)),
                Err(denied) => ActionOutcome::Refused(denied.to_string(), None),
            }
        })
    }

    /// Many clients send a default login (guest/guest). While no users are configured it is treated as anonymous; a
    /// token is checked always.
    fn login(&self, login: String, passcode: String) -> AccessCredentials {
        match AccessCredentials::login(login, passcode.into()) {
            AccessCredentials::Password { .. } if self.broker.access.has_users().is_ok_and(|has| !has) => {
                AccessCredentials::Anonymous
            }
            shown => shown,
        }
    }

    fn visit(&self, action: &'static str) -> AccessRequest {
        AccessRequest { channel: AccessChannel::Broker, peer: self.origin.peer, action: action.into() }
    }

    /// The refusal is audited before it is sent.
    fn audit(&self, detail: String) -> PendingAction {
        let user = self.identity.as_ref().and_then(|identity| identity.name.clone());
        let (access, actor) = (self.broker.access.clone(), Actor { user, request: self.visit("STOMP") });
        Box::pin(async move {
            access.audit_refusal(&actor, "forbidden-destination", &detail).await;
            ActionOutcome::Done
        })
    }

    pub(super) fn on_answer(&mut self, now: MonotonicTime, answered: ActionOutcome) {
        match answered {
            ActionOutcome::Done => {}
            ActionOutcome::Refused(text, receipt) => self.reject(&text, receipt.as_deref()),
            ActionOutcome::Authenticated(identity, pass) => {
                pass.into_iter().for_each(|pass| self.hub.on_authenticated(pass));
                self.permit.as_ref().map(ConnectionPermit::mark_authenticated);
                self.transport.admit();
                let distributed = self.broker.distributed && may_run_strategies(&identity);
                let rights = rights(&identity.role, &self.broker.client_destinations, distributed);
                self.identity = Some(identity);
                let mut actions = Vec::new();
                self.session.on_authenticated(now, rights.into(), &mut actions);
                self.queue_actions(actions);
            }
        }
    }

    /// A transaction is atomic: everything that can be refused is checked before anything is executed.
    fn commit(
        &mut self,
        now: MonotonicTime,
        work: Vec<BrokerRequest>,
        receipt: Option<String>,
    ) -> Result<(), ErrorReply> {
        let refused = |text: String| (text, receipt.clone());
        let for_queues = work.iter().filter_map(|work| match work {
            BrokerRequest::Publish(sent) if sent.destination.kind() == DestinationKind::Queue => {
                Some((sent.destination.name(), sent.body.len()))
            }
            _ => None,
        });
        self.hub.check_queues(for_queues).map_err(refused)?;
        let (mut envelopes, mut forwarded) = (Vec::new(), Vec::new());
        for sent in work.iter().filter_map(engine_publication) {
            envelopes.push(self.envelope(sent).map_err(refused)?);
            forwarded.extend(self.forwarded_request(sent));
        }
        for work in work {
            self.run_work(now, work).map_err(refused)?;
        }
        self.command(envelopes, forwarded, receipt);
        Ok(())
    }

    fn envelope(&self, sent: &Publication) -> Result<CommandEnvelope, String> {
        let event = translate::to_domain(sent, &self.broker.bus.catalogue.current())?;
        let user = self.identity.as_ref().and_then(|identity: &Identity| identity.name.clone());
        // A generic event has the source strategy, whatever client sends it.
        let caller = Caller::new(Source::Strategy, user);
        Ok(CommandEnvelope { caller, command: Command::Publish(event) })
    }

    /// Of a follower, which does not publish it itself.
    fn forwarded_request(&self, sent: &Publication) -> Option<ForwardedRequest> {
        let request = || event_forwarding::forwarded_request(self.identity.as_ref(), self.origin.peer, sent);
        self.broker.forwarder.as_ref().map(|_| request())
    }

    fn run_work(&mut self, now: MonotonicTime, work: BrokerRequest) -> Result<(), String> {
        match work {
            BrokerRequest::Publish(sent) if translate::is_generic_event(&sent.destination) => {}
            BrokerRequest::Publish(sent) if sent.destination.kind() == DestinationKind::Topic => {
                self.hub.send_to_topic(now, &sent);
            }
            BrokerRequest::Publish(sent) => return self.hub.send_to_queue(&self.with_strategy_header(sent)),
            BrokerRequest::Acknowledge { subscription, tokens } => self.hub.acknowledge(subscription, &tokens),
            BrokerRequest::Requeue { subscription, tokens } => self.hub.negative_acknowledge(subscription, &tokens),
        }
        Ok(())
    }

    /// The consumer of a strategy's requests identifies the strategy by this header, which a client cannot forge.
    fn with_strategy_header(&self, mut sent: Publication) -> Publication {
        let role = self.identity.as_ref().map(|identity| &identity.role);
        if let Some(strategy) = role.and_then(UserRole::strategy) {
            sent.headers = sent.headers.first_of_each(|name| name != STRATEGY_HEADER);
            sent.headers.push(STRATEGY_HEADER, strategy);
        }
        sent
    }

    /// Waits until the engine's journal has them, a follower the leader's; then they are published. While a limit is reached they
    /// wait, and nothing more is read from the client.
    fn command(&mut self, envelopes: Vec<CommandEnvelope>, forwarded: Vec<ForwardedRequest>, receipt: Option<String>) {
        if envelopes.is_empty() {
            return;
        }
        for envelope in &envelopes {
            if let Command::Publish(event) = &envelope.command {
                self.hub.expect_own_event(event.clone());
            }
        }
        let user = self.identity.as_ref().and_then(|identity| identity.name.as_ref());
        let client = self.broker.bus.inbox.quotas().session(user, self.origin.peer);
        let broker = self.broker.clone();
        self.pending = Some(Box::pin(async move {
            let submitted = match &broker.forwarder {
                Some(forwarder) => event_forwarding::forward_all(&**forwarder, &*broker.bus.journal, forwarded).await,
                None => event_submission::submit(&broker.bus, &client, envelopes).await,
            };
            submitted.map_or_else(|text| ActionOutcome::Refused(text, receipt), |()| ActionOutcome::Done)
        }));
    }
}

fn engine_publication(work: &BrokerRequest) -> Option<&Publication> {
    match work {
        BrokerRequest::Publish(sent) if translate::is_generic_event(&sent.destination) => Some(sent),
        _ => None,
    }
}
