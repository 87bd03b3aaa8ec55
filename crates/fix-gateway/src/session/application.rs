//! Gateway application of one session: messages become commands, order events become execution reports.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bus::{InboxError, QuotaClient};
use domain::{Caller, Command, CommandEnvelope, Event, MessageOrigin, ReferenceData, Source, Timestamp};
use fix::{
    Application, BusinessRejectReason, Direction, DisconnectReason, FixMessage, GatewaySettings, LogonDecision,
    LogonTicket, OutgoingMessage, SeqNum, SessionSender, SessionSettings, tag,
};
use fix_net::SessionHandle;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use super::client_connection::ClientConnection;
use super::command_submission::{CommandSubmission, SubmissionResult, Waits, engine_unavailable};
use super::credential_watch::CREDENTIALS_REVOKED;
use super::questions::{Question, WantedAnswer};
use super::rate_limiter::MessageRateLimiter;
use super::reports::{
    ConfirmationStep, ReadConfirmation, ReportFeeder, ReportItem, ReportScope, ReportSource, ResumePoint, SessionWaker,
};
use crate::limits::{REPORTS_PER_TURN, REPORTS_QUEUED_MAX, STATUS_REQUESTS_MAX, TRADE_LISTS_MAX};
use crate::session::command_submission::{cancel_rate_exceeded, journal_stalled, order_rate_exceeded};
use crate::store::{Cursor, SessionStore};
use crate::translate::{
    self, CommandClass, ExecTypeProfile, MessageReject, MessageRow, ReplyContext, ReportIds, RequestEcho,
    RequestMeaning, SessionTerms, field,
};

/// Text (58) of the answer to any message of a drop copy session.
const DROP_COPY: &str = "this is a drop copy session: it takes no orders and no questions";
/// Text (58) of the answer to a request for prices or securities.
const ORDER_SESSION: &str =
    "this session takes orders: prices and securities are offered on a session with MarketData=Y";

pub(crate) struct GatewayApplication {
    client: ClientConnection,
    store: SessionStore,
    order_rate: MessageRateLimiter,
    cancel_rate: MessageRateLimiter,
    /// The limits of this session, its user and its address.
    quota: Arc<QuotaClient>,
    is_blocked: Waits,
    /// `None` while no client is logged on.
    reports: Option<mpsc::Receiver<ReportItem>>,
    notified: Arc<AtomicBool>,
    read_confirmation: ReadConfirmation,
    /// Questions in progress; dropped with the connection.
    questions: JoinSet<()>,
    /// Places for those that look through many orders.
    trade_lists: Arc<Semaphore>,
    logged_on_sender: watch::Sender<bool>,
}

impl GatewayApplication {
    pub(crate) fn new(
        client: ClientConnection,
        store: SessionStore,
        logged_on_sender: watch::Sender<bool>,
        is_blocked: Waits,
    ) -> Self {
        let rules = &client.settings().gateway;
        Self {
            quota: Arc::new(client.context.bus.inbox.quotas().session(None, None)),
            is_blocked,
            order_rate: MessageRateLimiter::new(rules.max_orders_per_second),
            cancel_rate: MessageRateLimiter::new(rules.max_cancels_per_second),
            client,
            store,
            reports: None,
            notified: Arc::default(),
            read_confirmation: ReadConfirmation::default(),
            questions: JoinSet::new(),
            trade_lists: Arc::new(Semaphore::new(TRADE_LISTS_MAX)),
            logged_on_sender,
        }
    }

    fn settings(&self) -> &Arc<SessionSettings> {
        self.client.settings()
    }

    fn rules(&self) -> &GatewaySettings {
        &self.settings().gateway
    }

    fn handle(&self) -> &SessionHandle {
        self.client.handle()
    }

    fn is_drop_copy(&self) -> bool {
        self.rules().drop_copy.is_some()
    }

    fn scope(&self) -> ReportScope {
        match &self.rules().drop_copy {
            Some(rule) => ReportScope::Copies(Arc::new(rule.clone())),
            None => ReportScope::Client(self.client.comp_id.clone()),
        }
    }

    fn profile(&self) -> ExecTypeProfile {
        ExecTypeProfile { standard: self.rules().standard_exec_types }
    }

    fn reference(&self) -> Arc<ReferenceData> {
        self.client.reference()
    }

    /// Orders and modifications have one rate, cancels another that holds them back only far above what anybody needs.
    fn on_command(&mut self, class: CommandClass, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let is_cancel = matches!(class, CommandClass::Cancel | CommandClass::MassCancel);
        if !is_cancel && self.client.context.bus.journal.is_stalled() {
            return self.submit(message, Err(journal_stalled()), line);
        }
        let rate = if is_cancel { &mut self.cancel_rate } else { &mut self.order_rate };
        if !rate.try_accept(line.now()) {
            return self.on_rate_exceeded(class, message, line);
        }
        let reference = self.reference();
        let strategy = self.client.principal.as_ref().and_then(|principal| principal.strategy.as_ref());
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
        let user = self.client.principal.as_ref().and_then(|principal| principal.name.clone());
        let rights =
            self.client.principal.as_ref().and_then(|principal| principal.rights.as_deref().cloned().map(Box::new));
        let caller = Caller {
            source: Source::Fix(self.client.comp_id.clone()),
            user,
            origin: Some(Box::new(origin)),
            rights,
            request: None,
        };
        let (house, pen, client) = (self.client.context.clone(), self.store.clone(), self.quota.clone());
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
        let exec_id =
            self.client.context.exec_ids.for_message(&self.settings().id.to_string(), self.store.message_key());
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

    /// An application message of an unsupported type, or without the id that its answer needs.
    fn business_reject(
        &self,
        reason: BusinessRejectReason,
        text: Option<&str>,
        message: &FixMessage<'_>,
        line: &mut dyn SessionSender,
    ) {
        let cl_ord_id = translate::text_field(message, field::CL_ORD_ID);
        self.client.business_reject((reason, text), cl_ord_id.as_deref(), message, line);
    }

    fn on_question(&mut self, meaning: RequestMeaning, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        while self.questions.try_join_next().is_some() {}
        if self.questions.len() >= STATUS_REQUESTS_MAX {
            let text = Some("busy: too many questions wait for their answer, ask again");
            return self.business_reject(BusinessRejectReason::ApplicationNotAvailable, text, message, line);
        }
        let wanted = WantedAnswer::from_message(message, meaning, &self.reference(), self.client.principal.as_ref());
        let place = match wanted.is_trade_list().then(|| self.trade_lists.clone().try_acquire_owned()) {
            Some(Err(_)) => return self.too_many_trade_lists(message, line),
            place => place.and_then(Result::ok),
        };
        let question = Question {
            _place: place,
            context: self.client.context.clone(),
            handle: self.handle().clone(),
            comp_id: self.client.comp_id.clone(),
            id_seed: format!("{} {}", self.settings().id, self.store.message_key()),
            echo: RequestEcho::from_message(message),
            msg_seq_num: msg_seq_num(message),
            wanted,
        };
        self.questions.spawn(question.answer());
    }

    fn too_many_trade_lists(&self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let text = format!("{TRADE_LISTS_MAX} requests for executions wait for their answer, ask again");
        let (echo, busy) = (RequestEcho::from_message(message), MessageReject::other("busy", &text));
        self.send(&translate::application_not_available(&echo, msg_seq_num(message), &busy), line);
    }

    fn send(&self, message: &OutgoingMessage, line: &mut dyn SessionSender) -> bool {
        self.client.send(message, line)
    }

    fn send_report(&mut self, news: ReportItem, line: &mut dyn SessionSender) -> bool {
        match news {
            ReportItem::Event(source) => self.send_order_event(&source, false, line),
            ReportItem::PossResend(source) => self.send_order_event(&source, true, line),
            ReportItem::OrderState { sequence, order, missed } => {
                let occasion = self.settings().id.to_string();
                let exec_id = self.client.context.exec_ids.for_state(&occasion, sequence, order.id.0);
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
                let ids =
                    ReportIds::for_status(self.client.context.exec_ids, status, view, (published.sequence, *place));
                let encode = if self.is_drop_copy() { translate::copy_of_report } else { translate::report };
                encode(status, view, &reference, profile, &ids)
            }
            Event::MassCancel(cancel) => translate::mass_cancel_accepted(cancel, at),
            Event::Refused(refused) => {
                let exec_id = self.client.context.exec_ids.for_event(published.sequence, *place);
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
        self.client.on_connected(peer);
    }

    fn on_logon(&mut self, logon: &FixMessage<'_>, ticket: LogonTicket) -> LogonDecision {
        self.client.decide_logon(logon, ticket);
        LogonDecision::Pending
    }

    fn on_logged_on(&mut self, _: &mut dyn SessionSender) {
        self.client.on_authenticated();
        let user = self.client.principal.as_ref().and_then(|principal| principal.name.as_ref());
        self.quota = Arc::new(self.quota.with_identity(self.client.context.bus.inbox.quotas(), user, self.client.peer));
        self.store.on_first_logon(self.client.context.bus.journal.durable());
        self.read_confirmation = ReadConfirmation::new(self.store.has_unconfirmed());
        let (begins_anew, read_before) = self.store.confirmed_position();
        let resume_point =
            ResumePoint { cursor: self.store.cursor(), sequence_was_reset: begins_anew, confirmed_up_to: read_before };
        let (news, waiting) = mpsc::channel(REPORTS_QUEUED_MAX);
        self.reports = Some(waiting);
        let bell = SessionWaker { handle: self.handle().clone(), notified: self.notified.clone() };
        let feeder = ReportFeeder {
            context: self.client.context.clone(),
            comp_id: self.client.comp_id.clone(),
            scope: self.scope(),
            reports: news,
            waker: bell,
        };
        let catch_up_point = feeder.catch_up_point();
        tokio::spawn(feeder.run(catch_up_point, resume_point));
        self.logged_on_sender.send_replace(true);
        self.client.announce_logon();
    }

    fn on_message(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        if self.client.is_revoked() {
            return self.business_reject(BusinessRejectReason::NotAuthorized, Some(CREDENTIALS_REVOKED), message, line);
        }
        if self.is_drop_copy() {
            return self.business_reject(BusinessRejectReason::UnsupportedMessageType, Some(DROP_COPY), message, line);
        }
        let Some(row) = self.offered(message) else {
            let text = translate::is_market_data_request(message.msg_type()).then_some(ORDER_SESSION);
            return self.business_reject(BusinessRejectReason::UnsupportedMessageType, text, message, line);
        };
        if let Some(fault) = self.client.repeated_field(message).or_else(|| row.fault_in(message)) {
            self.client.reject_invalid(fault, message, line);
            return;
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
        self.client.on_logging_out();
    }

    fn on_logged_out(&mut self) {
        self.reports = None;
        self.questions = JoinSet::new();
        self.client.on_logged_out();
        self.logged_on_sender.send_replace(false);
    }

    fn on_disconnected(&mut self, reason: &DisconnectReason) {
        self.client.on_disconnected(reason);
    }

    fn on_frame(&mut self, direction: Direction, frame: &[u8]) {
        self.client.on_frame(direction, frame);
    }
}

fn msg_seq_num(message: &FixMessage<'_>) -> SeqNum {
    message.number(tag::MSG_SEQ_NUM).unwrap_or_default()
}
