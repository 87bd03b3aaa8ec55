//! Gateway application of one session: messages become commands, order events become execution reports.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bus::{InboxError, QuotaClient};
use domain::report::SessionState;
use domain::{
    AdapterName, Caller, Command, CommandEnvelope, Event, MessageOrigin, ReferenceData, Source, Text, Timestamp,
};
use fix::{
    Application, BusinessRejectReason, Direction, DisconnectReason, FixMessage, GatewaySettings, LogonDecision,
    LogonTicket, MessageFault, OutgoingMessage, SendError, SeqNum, SessionRejectReason, SessionSender, SessionSettings,
    tag,
};
use fix_net::SessionHandle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::command_submission::{CommandSubmission, SubmissionResult, Waits, engine_unavailable};
use super::credential_watch::{CREDENTIALS_REVOKED, CredentialWatch};
use super::logon::{LogonAttempt, LogonCredentials};
use super::message_log::MessageLog;
use super::questions::{Question, WantedAnswer};
use super::rate_limiter::MessageRateLimiter;
use super::reports::{
    ConfirmationStep, ReadConfirmation, ReportFeeder, ReportItem, ReportScope, ReportSource, ResumePoint, SessionWaker,
};
use super::session_status::SessionStatus;
use crate::limits::{REPORTS_PER_TURN, REPORTS_QUEUED_MAX, STATUS_REQUESTS_MAX};
use crate::session::GatewayContext;
use crate::session::command_submission::{cancel_rate_exceeded, journal_stalled, order_rate_exceeded};
use crate::session::session_status::Principal;
use crate::store::{Cursor, SessionStore};
use crate::translate::{
    self, CommandClass, ExecTypeProfile, MessageReject, MessageRow, ReplyContext, ReportIds, RequestEcho,
    RequestMeaning, SessionTerms, field,
};

/// Text (58) of the answer to any message of a drop copy session.
const DROP_COPY: &str = "this is a drop copy session: it takes no orders and no questions";

/// The adapter type in session events of clients: topic `session.FIX`.
const ADAPTER_TYPE: &str = "FIX";

pub(crate) struct GatewayApplication {
    context: Arc<GatewayContext>,
    status: Arc<SessionStatus>,
    comp_id: Text,
    store: SessionStore,
    order_rate: MessageRateLimiter,
    cancel_rate: MessageRateLimiter,
    /// The limits of this session, its user and its address.
    quota: Arc<QuotaClient>,
    is_blocked: Waits,
    log: MessageLog,
    peer: Option<IpAddr>,
    principal: Option<Principal>,
    /// `None` for credentials that are valid as long as the program runs.
    credential_watch: Option<CredentialWatch>,
    /// `None` while no client is logged on.
    reports: Option<mpsc::Receiver<ReportItem>>,
    notified: Arc<AtomicBool>,
    read_confirmation: ReadConfirmation,
    /// Questions in progress; dropped with the connection.
    questions: JoinSet<()>,
    logged_on_sender: watch::Sender<bool>,
    /// Whether a session event was published: not before the Logon, because any peer can connect.
    is_announced: bool,
}

impl GatewayApplication {
    pub(crate) fn new(
        context: Arc<GatewayContext>,
        status: Arc<SessionStatus>,
        log: MessageLog,
        logged_on_sender: watch::Sender<bool>,
        is_blocked: Waits,
    ) -> Self {
        let rules = &status.settings.gateway;
        Self {
            quota: Arc::new(context.bus.inbox.quotas().session(None, None)),
            is_blocked,
            order_rate: MessageRateLimiter::new(rules.max_orders_per_second),
            cancel_rate: MessageRateLimiter::new(rules.max_cancels_per_second),
            context,
            comp_id: status.settings.id.target.as_str().into(),
            store: status.store.clone(),
            status,
            log,
            peer: None,
            principal: None,
            credential_watch: None,
            reports: None,
            notified: Arc::default(),
            read_confirmation: ReadConfirmation::default(),
            questions: JoinSet::new(),
            logged_on_sender,
            is_announced: false,
        }
    }

    fn settings(&self) -> &Arc<SessionSettings> {
        &self.status.settings
    }

    fn rules(&self) -> &GatewaySettings {
        &self.settings().gateway
    }

    fn handle(&self) -> &SessionHandle {
        &self.status.handle
    }

    fn is_drop_copy(&self) -> bool {
        self.rules().drop_copy.is_some()
    }

    fn scope(&self) -> ReportScope {
        match &self.rules().drop_copy {
            Some(rule) => ReportScope::Copies(Arc::new(rule.clone())),
            None => ReportScope::Client(self.comp_id.clone()),
        }
    }

    fn profile(&self) -> ExecTypeProfile {
        ExecTypeProfile { standard: self.rules().standard_exec_types }
    }

    fn reference(&self) -> Arc<ReferenceData> {
        self.context.bus.catalogue.current()
    }

    fn publish_session_state(&self, state: SessionState) {
        let adapter = AdapterName::new(ADAPTER_TYPE, Some(&self.comp_id));
        let command = Command::AnnounceSession { adapter, state };
        if self.context.bus.inbox.command(CommandEnvelope { caller: Caller::platform(), command }).is_err() {
            tracing::warn!(session = %self.comp_id, state = state.name(), "session state not published: engine inbox full");
        }
    }

    /// Orders and modifications have one rate, cancels another that holds them back only far above what anybody needs.
    fn on_command(&mut self, class: CommandClass, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let is_cancel = matches!(class, CommandClass::Cancel | CommandClass::MassCancel);
        if !is_cancel && self.context.bus.journal.is_stalled() {
            return self.submit(message, Err(journal_stalled()), line);
        }
        let rate = if is_cancel { &mut self.cancel_rate } else { &mut self.order_rate };
        if !rate.try_accept(line.now()) {
            return self.on_rate_exceeded(class, message, line);
        }
        let reference = self.reference();
        let strategy = self.principal.as_ref().and_then(|principal| principal.strategy.as_ref());
        let session = SessionTerms { reference: &reference, rules: self.rules(), strategy };
        let command = translate::command(class, message, &session);
        self.submit(message, command, line);
    }

    fn on_rate_exceeded(&mut self, class: CommandClass, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let reject = match class {
            CommandClass::Cancel | CommandClass::MassCancel => cancel_rate_exceeded(self.rules()),
            CommandClass::Place | CommandClass::Modify => order_rate_exceeded(self.rules()),
        };
        let echo = RequestEcho::from_message(message);
        // The engine answers a request with the state of its order. A new order has one only where it was sent before:
        // the engine decides, and no new order results.
        match class == CommandClass::Place && !echo.may_be_resent() {
            true => self.reject_request(&echo, msg_seq_num(message), &reject, line),
            false => self.submit(message, Err(reject), line),
        }
    }

    /// The row of the message, where this session offers it.
    fn offered(&self, message: &FixMessage<'_>) -> Option<&'static MessageRow> {
        MessageRow::by_type(message.msg_type()).filter(|row| !row.is_extended || self.rules().extended_messages)
    }

    /// A repeated field, whatever the session validates: an order with two quantities is not traded on one of them.
    fn repeated_field(&self, message: &FixMessage<'_>) -> Option<MessageFault> {
        let tag = self.context.dictionary.repeated_field(message)?;
        Some(MessageFault::at(SessionRejectReason::TagAppearsTwice, tag))
    }

    /// Submits a command to the engine with the number of its message, or rejects the message. The engine's answer
    /// comes with the reports.
    fn submit(
        &mut self,
        message: &FixMessage<'_>,
        command: Result<Command, MessageReject>,
        line: &mut dyn SessionSender,
    ) {
        let echo = RequestEcho::from_message(message);
        let command = command.or_else(|reject| translate::decline(&echo, reject));
        let submitted = command.and_then(|command| self.command(command, &echo));
        if let Err(reject) = submitted {
            self.reject_request(&echo, msg_seq_num(message), &reject, line);
        }
    }

    fn command(&self, command: Command, echo: &RequestEcho) -> Result<(), MessageReject> {
        let origin = MessageOrigin { poss_resend: echo.may_be_resent(), ..self.store.hold_for_command(echo.encode()) };
        let user = self.principal.as_ref().and_then(|principal| principal.name.clone());
        let rights = self.principal.as_ref().and_then(|principal| principal.rights.as_deref().cloned().map(Box::new));
        let caller = Caller { source: Source::Fix(self.comp_id.clone()), user, origin: Some(Box::new(origin)), rights };
        let (house, pen, client) = (self.context.clone(), self.store.clone(), self.quota.clone());
        let envelope = CommandEnvelope { caller, command };
        match (CommandSubmission { context: house, store: pen, quota: client, envelope }).try_submit() {
            SubmissionResult::Submitted => Ok(()),
            SubmissionResult::Blocked(submission) => {
                self.submit_when_free(*submission);
                Ok(())
            }
            SubmissionResult::EngineStopped => Err(engine_unavailable(&InboxError::Stopped)),
        }
    }

    /// Also where the client disconnects meanwhile: a counted message is executed.
    fn submit_when_free(&self, submission: CommandSubmission) {
        self.is_blocked.begin();
        let (waits, handle) = (self.is_blocked.clone(), self.handle().clone());
        tokio::spawn(async move {
            if submission.submit_when_free().await.is_ok() {
                waits.end();
                // A session whose task has ended takes nothing more.
                let _ = handle.wake_when_free().await;
            }
        });
    }

    fn reject_request(
        &mut self,
        echo: &RequestEcho,
        number: u64,
        reject: &MessageReject,
        line: &mut dyn SessionSender,
    ) {
        let exec_id = self.context.exec_ids.for_message(&self.settings().id.to_string(), self.store.message_key());
        let reference = self.reference();
        let answering = ReplyContext {
            at: Timestamp(line.now().nanos()),
            reference: &reference,
            profile: self.profile(),
            exec_id: &exec_id,
        };
        let answer = translate::locally_rejected(echo, number, reject, &answering);
        self.send(&answer, line);
    }

    /// A message that cannot be answered at application level.
    fn reject_invalid(&mut self, fault: MessageFault, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let mut reject = OutgoingMessage::default();
        fault.reject(message, &mut reject);
        self.send(&reject, line);
    }

    /// An application message of an unsupported type, or without the id that its answer needs.
    fn business_reject(
        &mut self,
        reason: BusinessRejectReason,
        text: Option<&str>,
        message: &FixMessage<'_>,
        line: &mut dyn SessionSender,
    ) {
        let mut reject = OutgoingMessage::default();
        reason.reject(message, text, &mut reject);
        translate::refer_to(translate::text_field(message, field::CL_ORD_ID).as_deref(), &mut reject);
        self.send(&reject, line);
    }

    fn on_question(&mut self, meaning: RequestMeaning, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        while self.questions.try_join_next().is_some() {}
        if self.questions.len() >= STATUS_REQUESTS_MAX {
            let text = Some("busy: too many questions wait for their answer, ask again");
            return self.business_reject(BusinessRejectReason::ApplicationNotAvailable, text, message, line);
        }
        let question = Question {
            context: self.context.clone(),
            handle: self.handle().clone(),
            comp_id: self.comp_id.clone(),
            id_seed: format!("{} {}", self.settings().id, self.store.message_key()),
            echo: RequestEcho::from_message(message),
            msg_seq_num: msg_seq_num(message),
            wanted: WantedAnswer::from_message(message, meaning, &self.reference(), self.principal.as_ref()),
        };
        self.questions.spawn(question.answer());
    }

    /// Returns whether it was sent; the session ends a connection that fails.
    fn send(&mut self, message: &OutgoingMessage, line: &mut dyn SessionSender) -> bool {
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

    fn send_report(&mut self, news: ReportItem, line: &mut dyn SessionSender) -> bool {
        match news {
            ReportItem::Event(source) => self.send_order_event(&source, false, line),
            ReportItem::PossResend(source) => self.send_order_event(&source, true, line),
            ReportItem::OrderState { sequence, order, missed } => {
                let occasion = self.settings().id.to_string();
                let exec_id = self.context.exec_ids.for_state(&occasion, sequence, order.id.0);
                let at = Timestamp(line.now().nanos());
                let reference = self.reference();
                let mut report = translate::order_state_report(&order, missed.as_deref(), at, &reference, &exec_id);
                if self.is_drop_copy() {
                    translate::mark_copy(&mut report, &order.source, order.strategy, &reference);
                }
                self.read_confirmation.on_report_sent();
                self.send(&report, line)
            }
            ReportItem::CaughtUp(sequence) => {
                self.store.advance(Cursor::after(sequence));
                self.store.on_caught_up();
                self.request_confirmation(sequence, line);
                true
            }
        }
    }

    /// Until the client has confirmed its reports, they are sent again after a Logon with a sequence reset.
    fn request_confirmation(&mut self, sequence: u64, line: &mut dyn SessionSender) {
        match self.read_confirmation.on_caught_up(sequence) {
            ConfirmationStep::NotNeeded => self.store.confirm_read(sequence),
            // The session ends a connection that fails; then there is no confirmation.
            ConfirmationStep::SendTestRequest(id) => drop(line.send_test_request(&id)),
            ConfirmationStep::Postponed => {}
        }
    }

    fn send_order_event(&mut self, source: &ReportSource, again: bool, line: &mut dyn SessionSender) -> bool {
        let ReportSource { index: place, published } = source;
        let (reference, profile, at) = (self.reference(), self.profile(), published.at);
        let mut report = match &published.event {
            Event::OrderStatus(status) => {
                let Some(view) = &status.client else { return true };
                let ids = ReportIds::for_status(self.context.exec_ids, status, view, (published.sequence, *place));
                let encode = if self.is_drop_copy() { translate::copy_of_report } else { translate::report };
                encode(status, view, &reference, profile, &ids)
            }
            Event::MassCancel(cancel) => translate::mass_cancel_accepted(cancel, at),
            Event::Refused(refused) => {
                let exec_id = self.context.exec_ids.for_event(published.sequence, *place);
                let answering = ReplyContext { at, reference: &reference, profile, exec_id: &exec_id };
                translate::command_rejected(refused, &answering)
            }
            _ => return true,
        };
        if again {
            report.field(tag::POSS_RESEND, b"Y");
        }
        self.read_confirmation.on_report_sent();
        let is_told = self.send(&report, line);
        if is_told {
            // After the report, so that both become durable together.
            self.store.advance(Cursor { sequence: published.sequence, reported: place + 1 });
        }
        is_told
    }
}

impl Application for GatewayApplication {
    fn on_connected(&mut self, peer: Option<IpAddr>) {
        self.peer = peer;
        self.status.on_connected(peer);
    }

    fn on_logon(&mut self, logon: &FixMessage<'_>, ticket: LogonTicket) -> LogonDecision {
        let attempt = LogonAttempt::new_for(&self.status, self.context.access.clone(), self.peer);
        let (credentials, handle) = (LogonCredentials::from_logon(logon), self.handle().clone());
        let introduction = attempt.decide(credentials, self.status.clone());
        tokio::spawn(async move {
            let verdict = introduction.await;
            // A session that accepts no more requests runs into the time-out of its Logon.
            let _ = handle.decide(ticket, verdict());
        });
        LogonDecision::Pending
    }

    fn on_logged_on(&mut self, _: &mut dyn SessionSender) {
        self.principal = self.status.take_principal();
        let user = self.principal.as_ref().and_then(|principal| principal.name.as_ref());
        self.quota = Arc::new(self.quota.with_identity(self.context.bus.inbox.quotas(), user, self.peer));
        let pass = self.principal.as_ref().and_then(|principal| principal.pass.clone());
        self.credential_watch =
            pass.map(|pass| CredentialWatch::start(self.context.access.clone(), pass, self.handle().clone()));
        self.store.on_first_logon(self.context.bus.journal.durable());
        self.read_confirmation = ReadConfirmation::new(self.store.has_unconfirmed());
        let (begins_anew, read_before) = self.store.confirmed_position();
        let resume_point =
            ResumePoint { cursor: self.store.cursor(), sequence_was_reset: begins_anew, confirmed_up_to: read_before };
        let (news, waiting) = mpsc::channel(REPORTS_QUEUED_MAX);
        self.reports = Some(waiting);
        let bell = SessionWaker { handle: self.handle().clone(), notified: self.notified.clone() };
        let feeder = ReportFeeder {
            context: self.context.clone(),
            comp_id: self.comp_id.clone(),
            scope: self.scope(),
            reports: news,
            waker: bell,
        };
        let catch_up_point = feeder.catch_up_point();
        tokio::spawn(feeder.run(catch_up_point, resume_point));
        self.status.on_logged_on();
        self.logged_on_sender.send_replace(true);
        self.is_announced = true;
        self.publish_session_state(SessionState::Connected);
        self.publish_session_state(SessionState::LoggedOn);
    }

    fn on_message(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        if self.credential_watch.as_ref().is_some_and(CredentialWatch::is_revoked) {
            return self.business_reject(BusinessRejectReason::NotAuthorized, Some(CREDENTIALS_REVOKED), message, line);
        }
        if self.is_drop_copy() {
            return self.business_reject(BusinessRejectReason::UnsupportedMessageType, Some(DROP_COPY), message, line);
        }
        let Some(row) = self.offered(message) else {
            return self.business_reject(BusinessRejectReason::UnsupportedMessageType, None, message, line);
        };
        if let Some(fault) = self.repeated_field(message).or_else(|| row.fault_in(message)) {
            return self.reject_invalid(fault, message, line);
        }
        if row.needs_cl_ord_id() && translate::text_field(message, field::CL_ORD_ID).is_none() {
            let reason = BusinessRejectReason::ConditionallyRequiredFieldMissing;
            return self.business_reject(reason, Some("missing-field: ClOrdID (11) is needed"), message, line);
        }
        match row.becomes {
            RequestMeaning::Command(class) => self.on_command(class, message, line),
            meaning @ RequestMeaning::Status(_) => self.on_question(meaning, message, line),
        }
    }

    fn is_ready(&self) -> bool {
        !self.is_blocked.is_so()
    }

    fn on_test_response(&mut self, test_req_id: &[u8]) {
        if let Some(sequence) = self.read_confirmation.on_test_response(test_req_id) {
            self.store.confirm_read(sequence);
        }
    }

    fn on_wake(&mut self, line: &mut dyn SessionSender) {
        self.notified.store(false, Ordering::Release);
        let mut sent = 0;
        while let Some(news) = self.reports.as_mut().and_then(|news| news.try_recv().ok()) {
            if !self.send_report(news, line) {
                // Not logged on any more: the report feeder of the next Logon begins after the last sent report.
                self.reports = None;
            }
            sent += 1;
            // Other sessions have their turn before the rest.
            if sent >= REPORTS_PER_TURN && self.handle().wake().is_ok() {
                return;
            }
        }
    }

    fn on_logging_out(&mut self) {
        self.status.on_logging_out();
        self.publish_session_state(SessionState::Connected);
    }

    fn on_logged_out(&mut self) {
        self.reports = None;
        self.questions = JoinSet::new();
        self.principal = None;
        self.credential_watch = None;
        self.logged_on_sender.send_replace(false);
    }

    fn on_disconnected(&mut self, reason: &DisconnectReason) {
        self.status.on_disconnected(reason.to_string());
        if std::mem::take(&mut self.is_announced) {
            self.publish_session_state(SessionState::Disconnected);
        }
    }

    fn on_frame(&mut self, direction: Direction, frame: &[u8]) {
        let now = self.context.clock.now();
        match direction {
            Direction::In => self.status.on_received(now),
            Direction::Out => self.status.on_sent(now),
        }
        self.log.write(now, direction, frame);
    }
}

fn msg_seq_num(message: &FixMessage<'_>) -> SeqNum {
    message.number(tag::MSG_SEQ_NUM).unwrap_or_default()
}
