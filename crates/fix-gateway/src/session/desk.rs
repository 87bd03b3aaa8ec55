//! Gateway application of one session: messages become commands, order events become execution reports.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bus::{Client, Closed};
use domain::report::SessionState;
use domain::{AdapterName, Caller, Command, Envelope, Event, Origin, ReferenceData, Source, Text, Timestamp};
use fix::{
    Application, BusinessRejectReason, Direction, DisconnectReason, Fault, GatewaySettings, Line, LogonTicket, Message,
    Outgoing, RejectReason, SendError, SeqNum, SessionSettings, Verdict, tag,
};
use fix_net::SessionHandle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::admission::{Claim, Guest, Knock};
use super::asking::Question;
use super::board::Board;
use super::courier::{Bell, Bookmark, Courier, News};
use super::message_log::MessageLog;
use super::receipt::{Proof, Receipt};
use super::sentry::{NO_LONGER_ADMITTED, Sentry};
use super::submission::{Submission, Tried, Waits};
use super::switchboard::Happening;
use super::throttle::Throttle;
use crate::house::House;
use crate::ledger::{Cursor, Pen};
use crate::limits::{NEWS_MAX, QUESTIONS_MAX};
use crate::words::{self, Answering, Complaint, Memo, Profile, ReportIds, Scope, field};

/// The adapter type in session events of clients: topic `session.FIX`.
const ADAPTER_TYPE: &str = "FIX";

pub(crate) struct Desk {
    house: Arc<House>,
    board: Arc<Board>,
    comp_id: Text,
    pen: Pen,
    orders: Throttle,
    cancels: Throttle,
    /// The limits of this session, its user and its address.
    client: Arc<Client>,
    waits: Waits,
    log: MessageLog,
    peer: Option<IpAddr>,
    guest: Option<Guest>,
    /// `None` for credentials that are valid as long as the program runs.
    sentry: Option<Sentry>,
    /// `None` while no client is logged on.
    news: Option<mpsc::Receiver<News>>,
    rung: Arc<AtomicBool>,
    receipt: Receipt,
    /// Status requests in progress; dropped with the connection.
    questions: JoinSet<()>,
    present: watch::Sender<bool>,
    /// Whether a session event was published: not before the Logon, because any peer can connect.
    is_announced: bool,
}

impl Desk {
    pub(crate) fn new(
        house: Arc<House>,
        board: Arc<Board>,
        log: MessageLog,
        present: watch::Sender<bool>,
        waits: Waits,
    ) -> Self {
        let rules = &board.settings.gateway;
        Self {
            client: Arc::new(house.bus.inbox.quotas().session(None, None)),
            waits,
            orders: Throttle::new(rules.max_orders_per_second),
            cancels: Throttle::new(rules.max_cancels_per_second),
            house,
            comp_id: board.settings.id.target.as_str().into(),
            pen: board.pen.clone(),
            board,
            log,
            peer: None,
            guest: None,
            sentry: None,
            news: None,
            rung: Arc::default(),
            receipt: Receipt::default(),
            questions: JoinSet::new(),
            present,
            is_announced: false,
        }
    }

    fn settings(&self) -> &Arc<SessionSettings> {
        &self.board.settings
    }

    fn rules(&self) -> &GatewaySettings {
        &self.settings().gateway
    }

    fn handle(&self) -> &SessionHandle {
        &self.board.handle
    }

    fn profile(&self) -> Profile {
        Profile { standard: self.rules().standard_exec_types }
    }

    fn reference(&self) -> Arc<ReferenceData> {
        self.house.bus.catalogue.now()
    }

    fn announce(&self, state: SessionState) {
        let adapter = AdapterName::new(ADAPTER_TYPE, Some(&self.comp_id));
        let command = Command::AnnounceSession { adapter, state };
        if self.house.bus.inbox.command(Envelope { caller: Caller::platform(), command }).is_err() {
            tracing::warn!(session = %self.comp_id, state = state.name(), "session state not published: engine inbox full");
        }
    }

    fn place(&mut self, message: &Message<'_>, line: &mut dyn Line) {
        let reference = self.reference();
        let strategy = self.guest.as_ref().and_then(|guest| guest.strategy.as_ref());
        if self.orders.admits(line.now()) {
            let command = words::order(message, &reference, self.rules(), strategy).map(Command::Place);
            return self.submit(message, command, line);
        }
        let (memo, complaint) = (Memo::of(message), self.too_fast());
        match memo.may_be_known() {
            // It may be known already: the engine decides, and no new order results.
            true => self.submit(message, Err(complaint), line),
            false => self.refuse(&memo, number_of(message), &complaint, line),
        }
    }

    fn replace(&mut self, message: &Message<'_>, line: &mut dyn Line) {
        let command = match self.orders.admits(line.now()) {
            true => words::replace(message, &self.reference(), self.rules()).map(Command::Modify),
            false => Err(self.too_fast()),
        };
        self.submit(message, command, line);
    }

    /// Held back only far above what anybody needs, as [`Self::cancel`] is.
    fn mass_cancel(&mut self, message: &Message<'_>, line: &mut dyn Line) {
        let command = match self.cancels.admits(line.now()) {
            true => words::mass_cancel(message, &self.reference()).map(Command::CancelOwn),
            false => Err(self.too_many_cancels()),
        };
        self.submit(message, command, line);
    }

    /// Held back only far above what anybody needs.
    fn cancel(&mut self, message: &Message<'_>, line: &mut dyn Line) {
        let command = match self.cancels.admits(line.now()) {
            true => words::cancel(message, &self.reference()).map(Command::Cancel),
            false => Err(self.too_many_cancels()),
        };
        self.submit(message, command, line);
    }

    fn is_offered(&self, kind: &[u8]) -> bool {
        match kind {
            b"D" | b"G" | b"F" => true,
            b"H" | b"AF" | b"q" => self.rules().extended_messages,
            _ => false,
        }
    }

    /// A repeated field, whatever the session validates: an order with two quantities is not traded on one of them.
    fn doubled(&self, message: &Message<'_>) -> Option<Fault> {
        let tag = self.house.shapes.repeated(message)?;
        Some(Fault::at(RejectReason::TagAppearsTwice, tag))
    }

    fn too_fast(&self) -> Complaint {
        let most = self.rules().max_orders_per_second.unwrap_or_default();
        Complaint::other("too-many-orders", &format!("more than {most} orders a second"))
    }

    fn too_many_cancels(&self) -> Complaint {
        let most = self.rules().max_cancels_per_second.unwrap_or_default();
        Complaint::other("too-many-cancels", &format!("more than {most} cancels a second"))
    }

    /// Submits a command to the engine with the number of its message, or rejects the message. The engine's answer
    /// comes with the reports.
    fn submit(&mut self, message: &Message<'_>, command: Result<Command, Complaint>, line: &mut dyn Line) {
        let memo = Memo::of(message);
        let command = command.or_else(|complaint| words::declined(&memo, complaint));
        let submitted = command.and_then(|command| self.command(command, &memo));
        if let Err(complaint) = submitted {
            self.refuse(&memo, number_of(message), &complaint, line);
        }
    }

    fn command(&self, command: Command, memo: &Memo) -> Result<(), Complaint> {
        let origin = Origin { may_be_known: memo.may_be_known(), ..self.pen.hold(memo.write()) };
        let user = self.guest.as_ref().and_then(|guest| guest.name.clone());
        let caller = Caller { source: Source::Fix(self.comp_id.clone()), user, origin: Some(Box::new(origin)) };
        let (house, pen, client) = (self.house.clone(), self.pen.clone(), self.client.clone());
        match (Submission { house, pen, client, envelope: Envelope { caller, command } }).try_now() {
            Tried::HandedOver => Ok(()),
            Tried::Waits(submission) => {
                self.wait_with(*submission);
                Ok(())
            }
            Tried::Stopped => Err(unavailable(&Closed::Stopped)),
        }
    }

    /// Also where the client disconnects meanwhile: a counted message is executed.
    fn wait_with(&self, submission: Submission) {
        self.waits.begin();
        let (waits, handle) = (self.waits.clone(), self.handle().clone());
        tokio::spawn(async move {
            if submission.when_free().await.is_ok() {
                waits.end();
                // A session whose task has ended takes nothing more.
                let _ = handle.wake_when_free().await;
            }
        });
    }

    fn refuse(&mut self, memo: &Memo, number: u64, complaint: &Complaint, line: &mut dyn Line) {
        let exec_id = self.house.ids.of_message(&self.settings().id.to_string(), self.pen.message_key());
        let reference = self.reference();
        let answering = Answering {
            at: Timestamp(line.now().nanos()),
            reference: &reference,
            profile: self.profile(),
            exec_id: &exec_id,
        };
        let answer = words::refused_here(memo, number, complaint, &answering);
        self.send(&answer, line);
    }

    /// A message that cannot be answered at application level.
    fn reject_unfit(&mut self, fault: Fault, message: &Message<'_>, line: &mut dyn Line) {
        let mut reject = Outgoing::default();
        fault.reject(message, &mut reject);
        self.send(&reject, line);
    }

    /// An application message of an unsupported type, or without the id that its answer needs.
    fn reject(&mut self, reason: BusinessRejectReason, text: Option<&str>, message: &Message<'_>, line: &mut dyn Line) {
        let mut reject = Outgoing::default();
        reason.reject(message, text, &mut reject);
        if let Some(id) = words::text_of(message, field::CL_ORD_ID) {
            reject.field(field::BUSINESS_REJECT_REF_ID, id);
        }
        self.send(&reject, line);
    }

    fn ask(&mut self, message: &Message<'_>, line: &mut dyn Line) {
        while self.questions.try_join_next().is_some() {}
        if self.questions.len() >= QUESTIONS_MAX {
            let text = Some("busy: too many questions wait for their answer, ask again");
            return self.reject(BusinessRejectReason::ApplicationNotAvailable, text, message, line);
        }
        let question = Question {
            house: self.house.clone(),
            handle: self.handle().clone(),
            comp_id: self.comp_id.clone(),
            occasion: format!("{} {}", self.settings().id, self.pen.message_key()),
            memo: Memo::of(message),
            number: number_of(message),
            scope: Scope::of(message, &self.reference()),
        };
        self.questions.spawn(question.answer());
    }

    /// Returns whether it was sent; the session ends a connection that fails.
    fn send(&mut self, message: &Outgoing, line: &mut dyn Line) -> bool {
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

    fn tell(&mut self, news: News, line: &mut dyn Line) -> bool {
        match news {
            News::Happened(happening) => self.tell_happening(&happening, false, line),
            News::Again(happening) => self.tell_happening(&happening, true, line),
            News::Standing { sequence, order, missed } => {
                let occasion = self.settings().id.to_string();
                let exec_id = self.house.ids.of_state(&occasion, sequence, order.id.0);
                let at = Timestamp(line.now().nanos());
                let report = words::picture(&order, missed.as_deref(), at, &self.reference(), &exec_id);
                self.receipt.owe();
                self.send(&report, line)
            }
            News::CaughtUp(sequence) => {
                self.pen.advance(Cursor::behind(sequence));
                self.pen.caught_up();
                self.ask_for_proof(sequence, line);
                true
            }
        }
    }

    /// Until the client has confirmed its reports, they are sent again after a Logon with a sequence reset.
    fn ask_for_proof(&mut self, sequence: u64, line: &mut dyn Line) {
        match self.receipt.caught_up(sequence) {
            Proof::Needless => self.pen.read_up_to(sequence),
            // The session ends a connection that fails; then there is no confirmation.
            Proof::AskFor(id) => drop(line.ask_for_sign(&id)),
            Proof::Later => {}
        }
    }

    fn tell_happening(&mut self, happening: &Happening, again: bool, line: &mut dyn Line) -> bool {
        let Happening { place, published } = happening;
        let (reference, profile, at) = (self.reference(), self.profile(), published.at);
        let mut report = match &published.event {
            Event::OrderStatus(status) => {
                let Some(view) = &status.client else { return true };
                let ids = ReportIds::of(self.house.ids, status, view, (published.sequence, *place));
                words::report(status, view, &reference, profile, &ids)
            }
            Event::MassCancel(cancel) => words::mass_cancelled(cancel, at),
            Event::Refused(refused) => {
                let exec_id = self.house.ids.of_event(published.sequence, *place);
                let answering = Answering { at, reference: &reference, profile, exec_id: &exec_id };
                words::refused_command(refused, &answering)
            }
            _ => return true,
        };
        if again {
            report.field(tag::POSS_RESEND, b"Y");
        }
        self.receipt.owe();
        let is_told = self.send(&report, line);
        if is_told {
            // After the report, so that both become durable together.
            self.pen.advance(Cursor { sequence: published.sequence, told: place + 1 });
        }
        is_told
    }
}

impl Application for Desk {
    fn connected(&mut self, peer: Option<IpAddr>) {
        self.peer = peer;
        self.board.connected(peer);
    }

    fn logon(&mut self, logon: &Message<'_>, ticket: LogonTicket) -> Verdict {
        let knock = Knock::at(&self.board, self.house.access.clone(), self.peer);
        let (claim, handle) = (Claim::of(logon), self.handle().clone());
        let introduction = knock.introduction(claim, self.board.clone());
        tokio::spawn(async move {
            let verdict = introduction.await;
            // A session that accepts no more requests runs into the time-out of its Logon.
            let _ = handle.decide(ticket, verdict());
        });
        Verdict::Later
    }

    fn logged_on(&mut self, _: &mut dyn Line) {
        self.guest = self.board.take_guest();
        let user = self.guest.as_ref().and_then(|guest| guest.name.as_ref());
        self.client = Arc::new(self.client.moved(self.house.bus.inbox.quotas(), user, self.peer));
        let pass = self.guest.as_ref().and_then(|guest| guest.pass.clone());
        self.sentry = pass.map(|pass| Sentry::post(self.house.access.clone(), pass, self.handle().clone()));
        self.pen.meet(self.house.bus.operations.durable());
        self.receipt = Receipt::new(self.pen.is_owed());
        let (begins_anew, read_before) = self.pen.read_before();
        let bookmark = Bookmark { cursor: self.pen.cursor(), begins_anew, read_before };
        let (news, waiting) = mpsc::channel(NEWS_MAX);
        self.news = Some(waiting);
        let bell = Bell { handle: self.handle().clone(), rung: self.rung.clone() };
        let courier = Courier { house: self.house.clone(), comp_id: self.comp_id.clone(), news, bell };
        let seam = courier.seam();
        tokio::spawn(courier.run(seam, bookmark));
        self.board.logged_on();
        self.present.send_replace(true);
        self.is_announced = true;
        self.announce(SessionState::Connected);
        self.announce(SessionState::LoggedOn);
    }

    fn received(&mut self, message: &Message<'_>, line: &mut dyn Line) {
        let is_named = words::text_of(message, field::CL_ORD_ID).is_some();
        let kind = message.msg_type();
        if self.sentry.as_ref().is_some_and(Sentry::is_over) {
            return self.reject(BusinessRejectReason::NotAuthorized, Some(NO_LONGER_ADMITTED), message, line);
        }
        if !self.is_offered(kind) {
            return self.reject(BusinessRejectReason::UnsupportedMessageType, None, message, line);
        }
        if let Some(fault) = self.doubled(message).or_else(|| words::unfit(message)) {
            return self.reject_unfit(fault, message, line);
        }
        match kind {
            b"D" | b"G" | b"F" if !is_named => {
                let text = Some("missing-field: ClOrdID (11) is needed");
                self.reject(BusinessRejectReason::ConditionallyRequiredFieldMissing, text, message, line);
            }
            b"D" => self.place(message, line),
            b"G" => self.replace(message, line),
            b"F" => self.cancel(message, line),
            b"q" => self.mass_cancel(message, line),
            _ => self.ask(message, line),
        }
    }

    fn takes_more(&self) -> bool {
        !self.waits.is_so()
    }

    fn answered(&mut self, test_req_id: &[u8]) {
        if let Some(sequence) = self.receipt.answered(test_req_id) {
            self.pen.read_up_to(sequence);
        }
    }

    fn woken(&mut self, line: &mut dyn Line) {
        self.rung.store(false, Ordering::Release);
        while let Some(news) = self.news.as_mut().and_then(|news| news.try_recv().ok()) {
            if !self.tell(news, line) {
                // Not logged on any more: the report feeder of the next Logon begins after the last sent report.
                self.news = None;
            }
        }
    }

    fn logging_out(&mut self) {
        self.board.logging_out();
        self.announce(SessionState::Connected);
    }

    fn logged_out(&mut self) {
        self.news = None;
        self.questions = JoinSet::new();
        self.guest = None;
        self.sentry = None;
        self.present.send_replace(false);
    }

    fn disconnected(&mut self, reason: &DisconnectReason) {
        self.board.disconnected(reason.to_string());
        if std::mem::take(&mut self.is_announced) {
            self.announce(SessionState::Disconnected);
        }
    }

    fn observe(&mut self, direction: Direction, frame: &[u8]) {
        let now = self.house.clock.now();
        match direction {
            Direction::In => self.board.received(now),
            Direction::Out => self.board.sent(now),
        }
        self.log.write(now, direction, frame);
    }
}

fn number_of(message: &Message<'_>) -> SeqNum {
    message.number(tag::MSG_SEQ_NUM).unwrap_or_default()
}

pub(super) fn unavailable(closed: &Closed) -> Complaint {
    match closed {
        Closed::Busy => Complaint::other("busy", "the platform has too much to do, try again"),
        Closed::Stopped => Complaint::other("stopped", "the platform is stopping"),
    }
}
