//! One connection: its Logon, then requests, reports and heartbeats until it ends.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use fix::{FixDecoder, FixMessage, OutgoingMessage, tag};
use fix_net::SessionStream;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::super::ApiCall;
use super::link::{FixLink, check_time};
use super::logon::{FixLogon, log_on};
use super::market_data::{self, Subscriptions};
use super::reject::{is_unreadable, reject};
use super::requests::{FixRequest, RequestKind};
use super::{BinanceFixState, FixService, Quota, reports};
use crate::binance::api::encode::TimeUnit;
use crate::binance::api::error::ApiError;
use crate::book_view::BookSnapshot;
use crate::exchange::{ExecutionType, SpotExecution, VenueEvent};
use crate::faults::catalogue::Fault;
use crate::publisher::{EventInterest, EventQueue, VenueEvents};
use crate::sequencer::now_micros;

/// How long a client may take for its Logon.
const LOGON_MAX: Duration = Duration::from_secs(10);
/// Drop copies are late by so much.
const DROP_COPY_DELAY: Duration = Duration::from_secs(1);
/// The period of depth changes.
const DEPTH_PERIOD: Duration = Duration::from_millis(100);
/// Requests of a connection that are executed at the same time; the next one waits.
const PENDING_MAX: usize = 256;
const UUID: tag::Tag = 25_037;

/// A request that was executed: as it came, what it asked, and what it came to.
struct Executed {
    frame: Vec<u8>,
    request: FixRequest,
    result: Result<Value, ApiError>,
}

/// How a connection ends.
enum Ending {
    /// The client has logged out, or was logged out.
    LoggedOut,
    Cut,
}

struct FixConnection {
    state: BinanceFixState,
    service: FixService,
    logon: FixLogon,
    link: FixLink,
    events: EventQueue,
    subscriptions: Subscriptions,
    pending: FuturesOrdered<BoxFuture<'static, Executed>>,
    /// Ids of requests whose reports are wanted, where only those are.
    own_requests: BTreeSet<String>,
    delayed: VecDeque<(Instant, OutgoingMessage)>,
    /// When messages came, within the window of their limit.
    messages: VecDeque<i64>,
    is_test_requested: bool,
}

/// Serves one connection until it ends.
pub(crate) async fn serve(
    state: BinanceFixState,
    service: FixService,
    stream: Box<dyn SessionStream>,
    peer: SocketAddr,
) -> io::Result<()> {
    let mut link = FixLink::new(stream);
    let Some(first) = timeout(LOGON_MAX, link.receive()).await?? else { return Ok(()) };
    let mut decoder = FixDecoder::new();
    let Ok(message) = decoder.decode(&first) else { return refuse(&mut link, None, garbled()).await };
    link.client = message.text(tag::SENDER_COMP_ID).unwrap_or_default().to_owned();
    let logon = match log_on(&state, service, &message) {
        Ok(logon) => logon,
        Err(error) => return refuse(&mut link, Some(&message), error).await,
    };
    let entry = state.api.sessions.open(service.face(), peer);
    entry.describe(|| format!("{} of account {}", link.client, logon.account));
    let mut connection = FixConnection::open(state, service, logon, link);
    connection.send_logon().await?;
    if let Ending::LoggedOut = connection.run().await? {
        connection.logon.claim.is_logged_out = true;
    }
    connection.link.close().await;
    Ok(())
}

async fn refuse(link: &mut FixLink, message: Option<&FixMessage<'_>>, error: ApiError) -> io::Result<()> {
    link.send(&reject(message, error)).await?;
    link.close().await;
    Ok(())
}

fn garbled() -> ApiError {
    ApiError::bad_request(-1_177, "CheckSum(10) contains an incorrect value.")
}

fn uuid() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-4{}-a{}-{}", &text[..8], &text[8..12], &text[13..16], &text[17..20], &text[20..]))
}

impl FixConnection {
    fn open(state: BinanceFixState, service: FixService, logon: FixLogon, mut link: FixLink) -> Self {
        link.next_incoming = 2;
        let interest = match service {
            FixService::MarketData => EventInterest::default(),
            FixService::OrderEntry | FixService::DropCopy => EventInterest::account(logon.account),
        };
        let events = state.api.exchange.events.subscribe_queue(interest);
        Self {
            state,
            service,
            logon,
            link,
            events,
            subscriptions: Subscriptions::default(),
            pending: FuturesOrdered::new(),
            own_requests: BTreeSet::new(),
            delayed: VecDeque::new(),
            messages: VecDeque::new(),
            is_test_requested: false,
        }
    }

    async fn send_logon(&mut self) -> io::Result<()> {
        let mut answer = OutgoingMessage::new("A");
        answer.field(tag::ENCRYPT_METHOD, "0").number(tag::HEART_BT_INT, self.logon.heartbeat_seconds);
        answer.field(UUID, uuid()?);
        self.link.send(&answer).await
    }

    async fn run(&mut self) -> io::Result<Ending> {
        let mut depth = interval(DEPTH_PERIOD);
        depth.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let is_market_data = self.service == FixService::MarketData;
        loop {
            let has_room = self.pending.len() < PENDING_MAX;
            let beat = self.next_beat();
            let due = self.delayed.front().map_or(beat, |(due, _)| (*due).min(beat));
            let ending = tokio::select! {
                frame = self.link.receive(), if has_room => match frame? {
                    None => Some(Ending::Cut),
                    Some(frame) => self.on_frame(frame).await?,
                },
                Some(executed) = self.pending.next() => self.on_executed(executed).await?,
                events = self.events.receive() => match events {
                    // A client that reads too slowly is disconnected: it must not miss a report unknowingly.
                    None => Some(Ending::Cut),
                    Some(events) => self.on_events(&events).await?,
                },
                _ = depth.tick(), if is_market_data => self.on_tick().await?,
                () = sleep_until(due) => self.on_timer().await?,
            };
            if let Some(ending) = ending {
                return Ok(ending);
            }
        }
    }

    fn heartbeat(&self) -> Duration {
        Duration::from_secs(self.logon.heartbeat_seconds)
    }

    /// When something is due to be sent because nothing else was, or nothing was heard.
    fn next_beat(&self) -> Instant {
        let silence = self.heartbeat() * if self.is_test_requested { 2 } else { 1 };
        (self.link.sent_at + self.heartbeat()).min(self.link.heard_at + silence)
    }

    async fn on_tick(&mut self) -> io::Result<Option<Ending>> {
        for message in self.subscriptions.on_tick() {
            if !self.state.api.faults.strikes(Fault::DepthDamage) {
                self.link.send(&message).await?;
            }
        }
        Ok(None)
    }

    async fn on_timer(&mut self) -> io::Result<Option<Ending>> {
        let now = Instant::now();
        while self.delayed.front().is_some_and(|(due, _)| *due <= now) {
            if let Some((_, report)) = self.delayed.pop_front() {
                self.link.send(&report).await?;
            }
        }
        if self.is_test_requested && now >= self.link.heard_at + self.heartbeat() * 2 {
            return self.log_out("No Heartbeat was received.").await.map(Some);
        }
        if !self.is_test_requested && now >= self.link.heard_at + self.heartbeat() {
            self.is_test_requested = true;
            let mut test = OutgoingMessage::new("1");
            test.number(tag::TEST_REQ_ID, now_micros().unsigned_abs());
            self.link.send(&test).await?;
        } else if now >= self.link.sent_at + self.heartbeat() {
            self.link.send(&OutgoingMessage::new("0")).await?;
        }
        Ok(None)
    }

    async fn log_out(&mut self, text: &str) -> io::Result<Ending> {
        let mut logout = OutgoingMessage::new("5");
        logout.field(tag::TEXT, text);
        self.link.send(&logout).await?;
        Ok(Ending::LoggedOut)
    }

    async fn on_frame(&mut self, frame: Vec<u8>) -> io::Result<Option<Ending>> {
        self.is_test_requested = false;
        if let Err(error) = self.count_message() {
            return self.log_out(&error.text).await.map(Some);
        }
        let mut decoder = FixDecoder::new();
        let Ok(message) = decoder.decode(&frame) else {
            return self.reply(&reject(None, garbled())).await;
        };
        let checked = self.link.check_header(&message).and_then(|()| check_time(&message, None, self.state.api.now()));
        let deadline = match checked {
            Ok(deadline) => deadline,
            Err(error) => return self.reply(&reject(Some(&message), error)).await,
        };
        match message.msg_type() {
            b"0" => Ok(None),
            b"1" => {
                let mut beat = OutgoingMessage::new("0");
                beat.field(tag::TEST_REQ_ID, message.get(tag::TEST_REQ_ID).unwrap_or_default());
                self.reply(&beat).await
            }
            b"5" => self.log_out("Logout acknowledgment.").await.map(Some),
            b"A" => self.refuse(&message, -1_176, "Logon<A> should only be sent once.").await,
            b"XLQ" => {
                let limits = self.limits(&message);
                self.reply(&limits).await
            }
            _ => self.on_request(&frame, &message, deadline).await,
        }
    }

    async fn reply(&mut self, message: &OutgoingMessage) -> io::Result<Option<Ending>> {
        self.link.send(message).await.map(|()| None)
    }

    async fn refuse(&mut self, message: &FixMessage<'_>, code: i32, text: &str) -> io::Result<Option<Ending>> {
        self.reply(&reject(Some(message), ApiError::bad_request(code, text))).await
    }

    fn count_message(&mut self) -> Result<(), ApiError> {
        let Quota { count, seconds } = self.service.messages();
        let now = now_micros();
        while self.messages.front().is_some_and(|at| *at <= now - seconds * 1_000_000) {
            self.messages.pop_front();
        }
        self.messages.push_back(now);
        if self.messages.len() <= count {
            return Ok(());
        }
        let text = format!("Too many messages; current limit is '{count}' messages per '{seconds}s'.");
        Err(ApiError::bad_request(-1_181, text))
    }

    async fn on_request(
        &mut self,
        frame: &[u8],
        message: &FixMessage<'_>,
        deadline: Option<i64>,
    ) -> io::Result<Option<Ending>> {
        let kind = RequestKind::of(message.msg_type());
        let is_data = matches!(message.msg_type(), b"V" | b"x");
        match (self.service, kind, is_data) {
            (FixService::OrderEntry, Some(kind), _) => self.execute(kind, frame, message, deadline).await,
            (FixService::MarketData, None, true) => self.on_data_request(message).await,
            (FixService::DropCopy, Some(_), _) | (FixService::DropCopy, _, true) => {
                self.refuse(message, -1_183, "Requested operation is not allowed in DropCopy sessions.").await
            }
            (FixService::OrderEntry, None, true) => {
                self.refuse(message, -1_186, "Requested operation is not allowed in order entry sessions.").await
            }
            (FixService::MarketData, Some(_), _) => {
                self.refuse(message, -1_187, "Requested operation is not allowed in market data sessions.").await
            }
            // Resend Requests (2) and lists of orders (E) among them.
            (_, None, false) => self.refuse(message, -1_020, "This operation is not supported.").await,
        }
    }

    /// Begins to execute a request; requests reach the matching engine in the order of their numbers.
    async fn execute(
        &mut self,
        kind: RequestKind,
        frame: &[u8],
        message: &FixMessage<'_>,
        deadline_micros: Option<i64>,
    ) -> io::Result<Option<Ending>> {
        let request = match FixRequest::read(kind, message) {
            Ok(request) => request,
            Err(error) => return self.reply(&reject(Some(message), error)).await,
        };
        if self.logon.wants_acks_only {
            self.own_requests.insert(request.id());
        }
        let (state, frame) = (self.state.api.clone(), frame.to_vec());
        let (account, rights) = (self.logon.account, self.logon.rights);
        // The matching engine has the machine's clock.
        let deadline_micros = deadline_micros.map(|deadline| deadline - (state.now() - now_micros()));
        self.pending.push_back(Box::pin(async move {
            let unit = TimeUnit::Milliseconds;
            let call = ApiCall { state: &state, params: &request.params, account, rights, deadline_micros, unit };
            let result = call.execute(kind.method()).await;
            Executed { frame, request, result }
        }));
        Ok(None)
    }

    async fn on_executed(&mut self, executed: Executed) -> io::Result<Option<Ending>> {
        let Executed { frame, request, result } = executed;
        if result.as_ref().is_err_and(|error| error.is_cut) {
            return Ok(Some(Ending::Cut));
        }
        let mut decoder = FixDecoder::new();
        if let Ok(message) = decoder.decode(&frame) {
            for answer in request.answers(&message, result) {
                self.link.send(&answer).await?;
            }
        }
        Ok(None)
    }

    async fn on_data_request(&mut self, message: &FixMessage<'_>) -> io::Result<Option<Ending>> {
        if message.msg_type() == b"x" {
            return self.on_instruments(message).await;
        }
        let (id, markets) = match self.subscriptions.handle(&self.state, message) {
            Ok(accepted) => accepted,
            // Of what can be read, only ids and numbers of subscriptions can be wrong.
            Err((_, error)) if is_unreadable(&error) && !matches!(error.code, -1_191 | -1_190) => {
                return self.reply(&reject(Some(message), error)).await;
            }
            Err(refusal) => return self.reply(&market_data::rejected(message, refusal)).await,
        };
        let followed = self.subscriptions.markets();
        self.events.set_interest(EventInterest { markets: followed, ..EventInterest::default() });
        for market in markets {
            let request = id.clone().into_bytes();
            let taken = self.state.api.exchange.query(move |exchange| BookSnapshot::take(exchange, request, market));
            let snapshot = taken.await.map_err(|_| io::Error::other("the exchange has stopped"))?;
            if let Some(message) = self.subscriptions.begin(&id, &snapshot) {
                self.link.send(&message).await?;
            }
        }
        Ok(None)
    }

    async fn on_instruments(&mut self, message: &FixMessage<'_>) -> io::Result<Option<Ending>> {
        let wanted = match market_data::wanted_symbol(message) {
            Ok(wanted) => wanted,
            Err(error) => return self.reply(&reject(Some(message), error)).await,
        };
        let found = self.state.api.exchange.query(move |exchange| market_data::find_rules(exchange, wanted.as_deref()));
        let answer = match found.await.map_err(ApiError::from).and_then(|found| found) {
            Ok(found) => market_data::instruments(message.get(320).unwrap_or_default(), &found),
            Err(error) => reject(Some(message), error),
        };
        self.reply(&answer).await
    }

    /// A Limit Response (XLR): messages of the connection, and in order entry unfilled orders of the account.
    fn limits(&self, message: &FixMessage<'_>) -> OutgoingMessage {
        let rates = &self.state.api.rates;
        let counts = rates.order_counts(self.logon.account, now_micros());
        let quota = self.service.messages();
        let mut rows = vec![("2", self.messages.len() as u64, quota.count as u64, quota.seconds, "s")];
        if self.service == FixService::OrderEntry {
            rows.push(("1", counts.ten_seconds.into(), rates.limits.orders_per10_seconds.into(), 10, "s"));
            rows.push(("1", counts.day.into(), rates.limits.orders_per_day.into(), 1, "d"));
        }
        let mut out = OutgoingMessage::new("XLR");
        out.field(6_136, message.get(6_136).unwrap_or_default()).number(25_003, rows.len() as u64);
        for (kind, used, limit, interval, unit) in rows {
            out.member(25_004, kind).member(25_005, used.to_string()).member(25_006, limit.to_string());
            out.member(25_007, interval.to_string()).member(25_008, unit);
        }
        out
    }

    async fn on_events(&mut self, events: &VenueEvents) -> io::Result<Option<Ending>> {
        for message in self.subscriptions.on_events(events) {
            self.link.send(&message).await?;
        }
        let reported = self.reported(events);
        if reported.is_empty() {
            return Ok(None);
        }
        let due = Instant::now() + DROP_COPY_DELAY;
        for message in reported {
            match self.service {
                FixService::DropCopy => self.delayed.push_back((due, message)),
                FixService::OrderEntry | FixService::MarketData => self.link.send(&message).await?,
            }
        }
        if self.state.api.faults.strikes(Fault::ServerShutdown) {
            let mut news = OutgoingMessage::new("B");
            news.field(148, "Your connection is about to be closed. Please reconnect.");
            self.link.send(&news).await?;
            return self.log_out("The server is in maintenance.").await.map(Some);
        }
        Ok(None)
    }

    /// The reports of a command for this session, and what faults make of them.
    fn reported(&mut self, events: &VenueEvents) -> Vec<OutgoingMessage> {
        let account = self.logon.account;
        let reports = events.iter().filter_map(|event| match event {
            VenueEvent::Execution(report) if report.order.account == account => Some(report.as_ref()),
            _ => None,
        });
        let mut reports: Vec<&SpotExecution> = reports.collect();
        let faults = &self.state.api.faults;
        if reports.is_empty() || self.service == FixService::MarketData || faults.strikes(Fault::StreamMute) {
            return Vec::new();
        }
        reports.retain(|report| report.kind != ExecutionType::Trade || !faults.strikes(Fault::FillOnlyInList));
        if self.logon.wants_acks_only && self.service == FixService::OrderEntry {
            let own = &mut self.own_requests;
            reports.retain(|report| own.remove(request_id(report)));
        }
        let encode = |report: &SpotExecution| match report.kind {
            ExecutionType::Canceled if faults.strikes(Fault::FixContradiction) => {
                reports::execution(&report.contradictory())
            }
            _ => reports::execution(report),
        };
        reports.into_iter().map(encode).collect()
    }
}

/// The client's id of the request that a report acknowledges.
fn request_id(report: &SpotExecution) -> &str {
    match (report.kind, report.cancel_id.as_deref()) {
        (ExecutionType::Canceled, Some(cancel_id)) => cancel_id,
        _ => &report.order.client_id,
    }
}
