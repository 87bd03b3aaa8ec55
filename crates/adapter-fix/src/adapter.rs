//! The adapter of a FIX venue: the traits of the host over an order session, which may bring prices too.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use adapters::{OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, VenueOrderRules};
use bus::Catalogue;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, CancelKind, ReplaceKind, ReportKind, RequestTiming, VenueSnapshot};
use domain::{AccountId, ExchangeId, Order, OrderId, SecurityId, Text, Timestamp};
use fix::{FixDecoder, FixMessage, OutgoingMessage};

use crate::account::fill_list::FillList;
use crate::account::open_order_list::OpenOrderList;
use crate::account::position_request::{OpenPositions, is_about_positions};
use crate::dialect::{Dialect, OrderQuery};
use crate::market_data::{PriceSource, VenuePrices, is_market_data};
use crate::message_check::MessageCheck;
use crate::order_chains::SentRequest;
use crate::reports::{FixTranslator, InboundMeaning};
use crate::requests;
use crate::requests::{OrderContext, QuestionId, RequestKind, RequestRefusal};
use crate::securities::security_list::is_about_securities;
use crate::securities::venue_securities::VenueSecurities;
use crate::sessions::drop_copy::DropCopy;
use crate::sessions::number_store::SharedNumbers;
use crate::sessions::report_confirmation::ReportConfirmation;
use crate::sessions::request_rate::RequestRate;
use crate::sessions::session::{Inbound, SessionPlan, VenueSession};
use crate::sessions::session_runtime::SessionRuntime;
use crate::sessions::side_session::SideSession;
use crate::sessions::{NumberPlace, SessionFiles};

/// How long a connect waits for the log-on before the host may send other answers.
const LOGON_WAIT: Duration = Duration::from_secs(2);
/// A session that has not logged on after this is ended, and the next address is tried.
const LOGON_SECONDS_MAX: i64 = 15;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// What an adapter is made of.
pub(crate) struct FixSetup {
    pub(crate) venue: Text,
    /// The feed of its prices has the name of the adapter, as the host names it when the prices are lost.
    pub(crate) feed: Text,
    pub(crate) dialect: Dialect,
    pub(crate) instance: u64,
    pub(crate) exchange: ExchangeId,
    pub(crate) catalogue: Catalogue,
    pub(crate) plan: SessionPlan,
    /// A session for market data alone.
    pub(crate) price_plan: Option<SessionPlan>,
    /// A session that only receives reports.
    pub(crate) drop_copy_plan: Option<SessionPlan>,
}

impl FixSetup {
    fn price_source<'a>(&'a self, numbers: &'a NumberPlace) -> PriceSource<'a> {
        PriceSource {
            feed: &self.feed,
            dialect: &self.dialect,
            own: self.price_plan.as_ref().map(|plan| (plan, numbers)),
            instance: self.instance,
        }
    }

    fn drop_copy(&self, numbers: &NumberPlace, now: Timestamp) -> std::io::Result<Option<DropCopy>> {
        let Some(plan) = &self.drop_copy_plan else { return Ok(None) };
        let numbers = SharedNumbers::open(numbers, requests::utc(now))?;
        let session = SideSession::new(self.dialect.clone(), plan.clone(), numbers.clone(), self.instance);
        Ok(Some(DropCopy::new(session, numbers)))
    }
}

pub struct FixAdapter {
    pub(crate) setup: FixSetup,
    pub(crate) translator: FixTranslator,
    pub(crate) check: MessageCheck,
    rate: RequestRate,
    numbers: SharedNumbers,
    pub(crate) session: Option<RunningSession>,
    /// Sessions that were begun, for the next address.
    attempts: usize,
    /// From a session that has ended, or behind a snapshot.
    pub(crate) rest: VecDeque<Inbound>,
    confirmation: ReportConfirmation,
    /// Keeps its memory from one message to the next.
    decoder: FixDecoder,
    /// Absent where there is none.
    pub(crate) drop_copy: Option<DropCopy>,
    /// Of the next one about several orders, executions or positions.
    pub(crate) questions: QuestionId,
    pub(crate) positions: OpenPositions,
    pub(crate) open_orders: OpenOrderList,
    pub(crate) fills: FillList,
    /// Orders that are asked about and may have to be asked about by another id.
    asked: BTreeMap<OrderId, Order>,
    /// Absent where the dialect has no market data.
    pub(crate) prices: Option<VenuePrices>,
    /// Absent where the dialect has no list.
    pub(crate) securities: Option<VenueSecurities>,
    pub(crate) wake: (Sender<()>, Receiver<()>),
    pub(crate) runtime: SessionRuntime,
}

pub(crate) struct RunningSession {
    pub(crate) session: VenueSession,
    begun: Timestamp,
    is_logged_on: bool,
}

impl FixAdapter {
    pub(crate) fn open(
        setup: FixSetup,
        files: &SessionFiles,
        runtime: SessionRuntime,
        now: Timestamp,
    ) -> std::io::Result<Self> {
        let drop_copy = setup.drop_copy(&files.drop_copy, now)?;
        let begun_millis = now.0.unsigned_abs() / NANOS_PER_MILLI;
        let mut translator = FixTranslator::new(setup.dialect.clone(), setup.instance);
        translator.begun_millis = begun_millis;
        Ok(Self {
            translator: translator.with_drop_copy(drop_copy.is_some()),
            check: MessageCheck::new(&setup.dialect),
            rate: RequestRate::new(setup.dialect.throttle),
            numbers: SharedNumbers::open(&files.orders, requests::utc(now))?,
            prices: VenuePrices::open(&setup.price_source(&files.prices), now)?,
            securities: VenueSecurities::new(&setup.dialect, setup.price_plan.is_some(), now),
            setup,
            session: None,
            attempts: 0,
            rest: VecDeque::new(),
            confirmation: ReportConfirmation::default(),
            decoder: FixDecoder::new(),
            drop_copy,
            asked: BTreeMap::new(),
            questions: QuestionId { begun_millis, number: 0 },
            positions: OpenPositions::default(),
            open_orders: OpenOrderList::default(),
            fills: FillList::default(),
            wake: bounded(1),
            runtime,
        })
    }

    /// A session that is under way, or a new one.
    fn begin(&mut self, at: Timestamp) -> &mut RunningSession {
        let is_stale = |running: &RunningSession| at.seconds_since(running.begun) >= LOGON_SECONDS_MAX;
        if self.session.as_ref().is_some_and(is_stale) {
            self.end_session();
        }
        let (runtime, setup, wake) = (&self.runtime, &self.setup, self.wake.0.clone());
        let (numbers, attempts) = (self.numbers.clone(), &mut self.attempts);
        self.session.get_or_insert_with(|| {
            let session = VenueSession::start(runtime, &setup.dialect, &setup.plan, *attempts, numbers, wake);
            *attempts += 1;
            RunningSession { session, begun: at, is_logged_on: false }
        })
    }

    pub(crate) fn is_logged_on(&self) -> bool {
        self.session.as_ref().is_some_and(|running| running.is_logged_on)
    }

    fn end_session(&mut self) {
        if let Some(running) = self.session.take() {
            let rest = running.session.end(&self.runtime);
            // Behind the loss come requests that did not leave. The next log-on sees numbers that agree again, so a reset is told then.
            let is_due = |inbound: &Inbound| {
                matches!(inbound, Inbound::Message(_) | Inbound::Unsent { .. } | Inbound::Reset { .. })
            };
            self.rest.extend(rest.into_iter().filter(is_due));
        }
        self.translator.chains.on_disconnected(self.setup.dialect.recovery.orders == OrderQuery::Adapter);
        self.forget_questions();
        self.confirmation = ReportConfirmation::default();
        self.asked.clear();
    }

    pub(crate) fn send(
        &mut self,
        at: Timestamp,
        kind: RequestKind,
        message: Result<OutgoingMessage, RequestRefusal>,
    ) -> SendOutcome {
        let Some(running) = self.session.as_ref().filter(|running| running.is_logged_on) else {
            return SendOutcome::NotSent("not logged on".into());
        };
        let check = &mut self.check;
        let checked = message.and_then(|message| check.check(&message).map(|()| message));
        let granted = checked.and_then(|message| self.rate.take(at, kind).map(|()| message));
        match granted {
            Err(refusal) => SendOutcome::NotSent(refusal.to_string().into()),
            Ok(message) => match running.session.send(message) {
                true => SendOutcome::Sent,
                false => SendOutcome::NotSent("venue-queue-full: too many requests wait for the connection".into()),
            },
        }
    }

    /// Runs a translation of an order with what the reference data says of it.
    fn with_context<T>(
        &self,
        at: Timestamp,
        order: &Order,
        write: impl FnOnce(&OrderContext<'_>) -> Result<T, RequestRefusal>,
    ) -> Result<T, RequestRefusal> {
        let reference = self.setup.catalogue.current();
        let Some(security) = reference.securities.get(&order.security) else {
            return Err(RequestRefusal::new("venue-unlisted", "the security is not in the reference data"));
        };
        let account = reference.accounts.get(&order.account);
        let currency = security.currency.to_string();
        write(&OrderContext {
            symbol: security.symbol_at(&self.setup.venue),
            account: account.map(|account| account.ext_account.as_deref().unwrap_or(&account.name)),
            currency: &currency,
            exchange: reference.exchanges.get(&order.exchange).and_then(|exchange| exchange.code.as_deref()),
            isin: security.isin.as_deref(),
            at,
        })
    }

    fn on_inbound(&mut self, now: Timestamp, inbound: Inbound, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        match inbound {
            Inbound::LoggedOn => {}
            Inbound::Message(frame) => self.on_message(now, &frame, sink),
            Inbound::Sent { number, kind, id } => {
                if let Some(id) = self.translator.ids().read(&id) {
                    self.translator.chains.on_sent(number, SentRequest { id, kind });
                }
            }
            Inbound::Unsent { kind, id } => self.on_unsent(kind, &id, sink),
            Inbound::Skipped => self.on_skipped(now, sink),
            Inbound::Reset { expected, received } => self.on_reset((expected, received), sink),
            Inbound::Lost(reason) => return Err(SessionLost(reason.into())),
        }
        Ok(())
    }

    pub(crate) fn on_message(&mut self, now: Timestamp, frame: &[u8], sink: &mut dyn ReportSink) {
        let mut decoder = std::mem::take(&mut self.decoder);
        // The session layer has decoded it before.
        if let Ok(message) = decoder.decode(frame) {
            self.on_decoded(now, &message, sink);
        }
        self.decoder = decoder;
    }

    fn on_decoded(&mut self, now: Timestamp, message: &FixMessage<'_>, sink: &mut dyn ReportSink) {
        if is_market_data(message) {
            return self.on_price_message(now, message, sink);
        }
        if is_about_securities(message) {
            return self.on_security_message(message, sink);
        }
        if self.on_order_list(message, sink) || self.on_fill_list(message, sink) {
            return;
        }
        if is_about_positions(message) {
            return self.on_position_message(message, sink);
        }
        let (at, meanings) = self.translator.translate(message);
        for meaning in meanings {
            match meaning {
                InboundMeaning::Report(report) => {
                    if let ReportKind::Inquiry(answer) = &report {
                        self.asked.remove(&answer.order);
                    }
                    sink.on_report(at, report);
                }
                // Where it cannot be sent the engine asks again by itself.
                InboundMeaning::AskAgain { order } => {
                    if let Some(order) = self.asked.remove(&order) {
                        self.inquire(now, &order);
                    }
                }
                InboundMeaning::Unclear { order, reason } => {
                    let venue = &self.setup.venue;
                    tracing::error!(%venue, %reason, message = %fix::masked(message.bytes()), "a report of the venue is not believed; the venue is asked");
                    if let Some(order) = order {
                        sink.on_report(at, ReportKind::UnclearReport { order, reason: reason.into() });
                    }
                }
                InboundMeaning::Foreign { id } => {
                    tracing::warn!(venue = %self.setup.venue, client_id = %id, "a report about an order of another client is ignored");
                }
            }
        }
    }

    /// A request that was queued when the session ended has certainly not left.
    fn on_unsent(&mut self, kind: RequestKind, id: &str, sink: &mut dyn ReportSink) {
        let Some(order) = self.translator.ids().read(id).map(|id| id.order) else { return };
        let reason: Text = "the session ended before the request left".into();
        match kind {
            RequestKind::New => sink.on_report(None, ReportKind::NotSent { order, reason }),
            RequestKind::Cancel => sink.on_report(None, ReportKind::CancelRejected { order, reason }),
            RequestKind::Replace => sink.on_report(None, ReportKind::ReplaceRejected { order, reason }),
            RequestKind::Status
            | RequestKind::MassStatus
            | RequestKind::TradeCapture
            | RequestKind::Positions
            | RequestKind::MarketData => {}
        }
    }
}

impl OrderSession for FixAdapter {
    fn capabilities(&self) -> AdapterCapabilities {
        let dialect = &self.setup.dialect;
        let life_millis = dialect.recovery.request_life_seconds.map(|seconds| seconds.saturating_mul(1_000));
        let passed = dialect.orders.pass_through.iter().filter_map(|tag| u32::try_from(*tag).ok());
        AdapterCapabilities {
            exchanges: vec![self.setup.exchange],
            expires_orders: dialect.orders.expires,
            refuses_repeated_ids: dialect.ids.refuses_repeated,
            simulated: false,
            request_timing: Some(RequestTiming { life_millis, read_lag_millis: dialect.recovery.read_lag_millis }),
            order_properties: dialect.orders.properties.offered(),
            replace: if dialect.orders.replace { ReplaceKind::InPlace } else { ReplaceKind::None },
            lines: self.lines(),
            lists: self.lists(),
            pass_through: Some(passed.collect::<Vec<_>>()).filter(|tags| !tags.is_empty()),
            order_types: Some(dialect.orders.offered_types()),
            cancel: if dialect.orders.cancel { CancelKind::WhileOpen } else { CancelKind::None },
        }
    }

    /// The session is for orders alone; the reference data has the rules.
    fn order_rules(&self, _: SecurityId) -> VenueOrderRules {
        VenueOrderRules::default()
    }

    fn set_lease(&mut self, lease: SendLease) {
        self.numbers.set_lease(lease);
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.look_after_drop_copy(at);
        let patience = self.runtime.patience(LOGON_WAIT);
        let running = self.begin(at);
        loop {
            match running.session.inbound().recv_timeout(patience) {
                Ok(Inbound::LoggedOn) => {
                    running.is_logged_on = true;
                    if let Some(securities) = &mut self.securities {
                        securities.is_due = true;
                    }
                    return Ok(());
                }
                Ok(Inbound::Lost(reason)) => {
                    self.end_session();
                    return Err(SessionLost(reason.into()));
                }
                // Nothing else comes before the log-on.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err(SessionLost("the venue has not answered yet".into())),
                Err(RecvTimeoutError::Disconnected) => {
                    self.end_session();
                    return Err(SessionLost("the session has ended".into()));
                }
            }
        }
    }

    /// Without one, what is open is asked about order by order, and what was missed comes again.
    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        self.take_snapshot(at)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let (dialect, ids) = (self.translator.dialect(), self.translator.ids());
        let message = self.with_context(at, order, |context| requests::new_order(dialect, ids, order, context));
        let outcome = self.send(at, RequestKind::New, message);
        if outcome == SendOutcome::Sent {
            self.translator.chains.on_new_order(order);
        }
        outcome
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        let (dialect, ids) = (self.translator.dialect(), self.translator.ids());
        let known = self.translator.chains.known_id(self.setup.instance, order);
        let write = |context: &OrderContext<'_>| requests::replace(dialect, ids, (order, known), terms, context);
        let message = self.with_context(at, order, write);
        let outcome = self.send(at, RequestKind::Replace, message);
        if outcome == SendOutcome::Sent {
            self.translator.chains.on_replace(order, terms);
        }
        outcome
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let (dialect, ids) = (self.translator.dialect(), self.translator.ids());
        let known = self.translator.chains.known_id(self.setup.instance, order);
        let message = self.with_context(at, order, |context| requests::cancel(dialect, ids, order, known, context));
        let outcome = self.send(at, RequestKind::Cancel, message);
        if outcome == SendOutcome::Sent {
            self.translator.chains.on_cancel(order);
        }
        outcome
    }

    fn cancel_leg(&mut self, _: Timestamp, _: &Order, _: &Text) -> SendOutcome {
        SendOutcome::NotSent("an order has one leg here".into())
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let capture = match self.ask_for_fills(at, order) {
            Ok(capture) => capture,
            Err(outcome) => return outcome,
        };
        let mut mass = None;
        let (dialect, ids) = (self.translator.dialect(), self.translator.ids());
        let outcome = match dialect.recovery.orders {
            OrderQuery::None | OrderQuery::Adapter => {
                SendOutcome::NotSent("venue-no-status: the venue answers no questions".into())
            }
            OrderQuery::Status => {
                let known = self.translator.chains.inquiry_id(self.setup.instance, order);
                let write = |context: &OrderContext<'_>| requests::order_status(dialect, ids, order, known, context);
                let message = self.with_context(at, order, write);
                if order.request > 0 {
                    self.asked.insert(order.id, order.clone());
                }
                self.send(at, RequestKind::Status, message)
            }
            OrderQuery::MassStatus => {
                let message = requests::mass_status(dialect, self.questions, true);
                mass = Some(self.next_question());
                self.send(at, RequestKind::MassStatus, message)
            }
        };
        if outcome == SendOutcome::Sent {
            self.translator.chains.on_question(at, order, mass, capture);
        }
        outcome
    }

    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        self.ask_for_positions(at, account)
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        self.ask_for_open_orders(at)
    }

    fn list_fills(&mut self, at: Timestamp, _: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        self.ask_for_fill_list(at, cursor)
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        let not_logged_on = || SessionLost("not logged on".into());
        if !self.is_logged_on() {
            return Err(not_logged_on());
        }
        while let Some(inbound) = self.rest.pop_front() {
            self.on_inbound(at, inbound, sink)?;
        }
        // Before the channel is emptied: what comes meanwhile counts the next time.
        let passed = self.numbers.unconfirmed();
        while let Some(inbound) = self.session.as_ref().and_then(|running| running.session.inbound().try_recv().ok()) {
            self.on_inbound(at, inbound, sink)?;
        }
        self.session.as_ref().ok_or_else(not_logged_on)?.session.resume();
        self.confirmation.confirm((&self.setup.venue, &self.numbers), at, passed, sink);
        self.deliver_drop_copy(at, sink);
        self.deliver_prices(at, sink);
        self.ask_for_securities(at);
        Ok(())
    }

    fn next_due(&self) -> Option<Timestamp> {
        let prices = self.prices.as_ref().and_then(VenuePrices::next_due);
        let drop_copy = self.drop_copy.as_ref().and_then(DropCopy::next_due);
        [self.confirmation.due(), prices, drop_copy].into_iter().flatten().min()
    }

    fn waker(&self) -> Receiver<()> {
        self.wake.1.clone()
    }

    /// The drop copy stays up, unless another process may want it. Numbers are not saved here: whether the engine has what was delivered is not known, and what it has it books once.
    fn disconnect(&mut self, _: Timestamp) {
        self.end_prices();
        if let Some(copy) = &mut self.drop_copy {
            copy.on_orders_lost();
        }
        if self.numbers.may_be_replaced() {
            self.end_drop_copy();
        }
        self.end_session();
    }
}
