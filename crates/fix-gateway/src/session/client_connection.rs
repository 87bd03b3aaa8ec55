//! Client connection: what every session does for its client, whatever it offers: Logon, credentials, session states, message log.

use std::net::IpAddr;
use std::sync::Arc;

use domain::report::SessionState;
use domain::{AdapterName, Caller, Command, CommandEnvelope, ReferenceData, Text};
use fix::{
    BusinessRejectReason, Direction, DisconnectReason, FixMessage, LogonTicket, MessageFault, OutgoingMessage,
    SendError, SessionRejectReason, SessionSender, SessionSettings,
};
use fix_net::SessionHandle;

use super::credential_watch::CredentialWatch;
use super::logon::{LogonAttempt, LogonCredentials};
use super::message_log::MessageLog;
use super::session_status::SessionStatus;
use crate::session::GatewayContext;
use crate::session::session_status::Principal;

/// The adapter type in session events of clients: topic `session.FIX`.
const ADAPTER_TYPE: &str = "FIX";

pub(crate) struct ClientConnection {
    pub(crate) context: Arc<GatewayContext>,
    pub(crate) status: Arc<SessionStatus>,
    pub(crate) comp_id: Text,
    log: MessageLog,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) principal: Option<Principal>,
    /// `None` for credentials that are valid as long as the program runs.
    credential_watch: Option<CredentialWatch>,
    /// Whether a session event was published: not before the Logon, because any peer can connect.
    is_announced: bool,
}

impl ClientConnection {
    pub(crate) fn new(context: Arc<GatewayContext>, status: Arc<SessionStatus>, log: MessageLog) -> Self {
        Self {
            context,
            comp_id: status.settings.id.target.as_str().into(),
            status,
            log,
            peer: None,
            principal: None,
            credential_watch: None,
            is_announced: false,
        }
    }

    pub(crate) fn settings(&self) -> &Arc<SessionSettings> {
        &self.status.settings
    }

    pub(crate) fn handle(&self) -> &SessionHandle {
        &self.status.handle
    }

    pub(crate) fn reference(&self) -> Arc<ReferenceData> {
        self.context.bus.catalogue.current()
    }

    pub(crate) fn on_connected(&mut self, peer: Option<IpAddr>) {
        self.peer = peer;
        self.status.on_connected(peer);
    }

    /// The decision comes by the session's queue.
    pub(crate) fn decide_logon(&self, logon: &FixMessage<'_>, ticket: LogonTicket) {
        let attempt = LogonAttempt::new_for(&self.status, self.context.access.clone(), self.peer);
        let (credentials, handle) = (LogonCredentials::from_logon(logon), self.handle().clone());
        let introduction = attempt.decide(credentials, self.status.clone());
        tokio::spawn(async move {
            let verdict = introduction.await;
            // A session that accepts no more requests runs into the time-out of its Logon.
            let _ = handle.decide(ticket, verdict());
        });
    }

    pub(crate) fn on_authenticated(&mut self) {
        self.principal = self.status.take_principal();
        let pass = self.principal.as_ref().and_then(|principal| principal.pass.clone());
        self.credential_watch =
            pass.map(|pass| CredentialWatch::start(self.context.access.clone(), pass, self.handle().clone()));
    }

    pub(crate) fn announce_logon(&mut self) {
        self.status.on_logged_on();
        self.is_announced = true;
        self.publish_session_state(SessionState::Connected);
        self.publish_session_state(SessionState::LoggedOn);
    }

    /// From now on nothing is done for this client.
    pub(crate) fn is_revoked(&self) -> bool {
        self.credential_watch.as_ref().is_some_and(CredentialWatch::is_revoked)
    }

    pub(crate) fn on_logging_out(&self) {
        self.status.on_logging_out();
        self.publish_session_state(SessionState::Connected);
    }

    pub(crate) fn on_logged_out(&mut self) {
        self.principal = None;
        self.credential_watch = None;
    }

    pub(crate) fn on_disconnected(&mut self, reason: &DisconnectReason) {
        self.status.on_disconnected(reason.to_string());
        if std::mem::take(&mut self.is_announced) {
            self.publish_session_state(SessionState::Disconnected);
        }
    }

    pub(crate) fn on_frame(&mut self, direction: Direction, frame: &[u8]) {
        let now = self.context.clock.now();
        match direction {
            Direction::In => self.status.on_received(now),
            Direction::Out => self.status.on_sent(now),
        }
        self.log.write(now, direction, frame);
    }

    /// A repeated field, whatever the session validates: an order with two quantities is not traded on one of them.
    pub(crate) fn repeated_field(&self, message: &FixMessage<'_>) -> Option<MessageFault> {
        let tag = self.context.dictionary.repeated_field(message)?;
        Some(MessageFault::at(SessionRejectReason::TagAppearsTwice, tag))
    }

    /// A message that cannot be answered at application level.
    pub(crate) fn reject_invalid(
        &self,
        fault: MessageFault,
        message: &FixMessage<'_>,
        line: &mut dyn SessionSender,
    ) -> bool {
        let mut reject = OutgoingMessage::default();
        fault.reject(message, &mut reject);
        self.send(&reject, line)
    }

    /// Business Message Reject (j), with the id that it refers to.
    pub(crate) fn business_reject(
        &self,
        (reason, text): (BusinessRejectReason, Option<&str>),
        refers_to: Option<&str>,
        message: &FixMessage<'_>,
        line: &mut dyn SessionSender,
    ) -> bool {
        let mut reject = OutgoingMessage::default();
        reason.reject(message, text, &mut reject);
        crate::translate::refer_to(refers_to, &mut reject);
        self.send(&reject, line)
    }

    /// Returns whether it was sent; the session ends a connection that fails.
    pub(crate) fn send(&self, message: &OutgoingMessage, line: &mut dyn SessionSender) -> bool {
        match line.send(message) {
            Ok(_) => true,
            Err(SendError::NotLoggedOn) => false,
            Err(SendError::Store(error)) => {
                tracing::error!(session = %self.comp_id, %error, "session store failed: message not sent, client logged out");
                // Reports that were not sent follow after the next Logon.
                let _ = self.handle().log_out(Some(error.to_string()));
                false
            }
        }
    }

    fn publish_session_state(&self, state: SessionState) {
        let adapter = AdapterName::new(ADAPTER_TYPE, Some(&self.comp_id));
        let command = Command::AnnounceSession { adapter, state };
        if self.context.bus.inbox.command(CommandEnvelope { caller: Caller::platform(), command }).is_err() {
            tracing::warn!(session = %self.comp_id, state = state.name(), "session state not published: engine inbox full");
        }
    }
}
