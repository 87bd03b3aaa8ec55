//! Application of a market data session: requests become subscriptions, events of prices become W and X.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bus::InFlightPermit;
use domain::query::Filter;
use domain::{Answer, Query, SecurityId};
use fix::{
    Application, BusinessRejectReason, Direction, DisconnectReason, FixMessage, LogonDecision, LogonTicket,
    OutgoingMessage, SessionSender,
};
use tokio::task::JoinSet;

use super::list_sender::{ListSender, ListTarget};
use super::price_mailbox::{AsOf, PriceMailbox};
use super::price_subscriptions::{PriceSubscriptions, SubscriptionStep};
use super::security_watch::SecurityWatch;
use crate::limits::PRICES_PER_TURN;
use crate::session::credential_watch::CREDENTIALS_REVOKED;
use crate::session::reports::SessionWaker;
use crate::session::{ClientConnection, GatewayContext};
use crate::translate::{
    MarketDataRefusal, MarketDataRequest, SecurityListRequest, SecurityStatusRequest, SubscriptionKind, field,
    is_market_data_request, market_data_refused, security_list_refused, security_status, text_field, trading_status,
};

/// Text (58) of the answer to any message that is about orders.
const MARKET_DATA_SESSION: &str = "this is a market data session: it takes no orders, only V, x and e";

pub(crate) struct MarketDataApplication {
    client: ClientConnection,
    /// `None` while no client is logged on.
    connection: Option<Connection>,
    notified: Arc<AtomicBool>,
}

/// Everything that ends with the connection.
struct Connection {
    mailbox: Arc<PriceMailbox>,
    prices: PriceSubscriptions,
    statuses: SecurityWatch,
    lists: ListSender,
    /// Questions to the engine.
    loading: JoinSet<()>,
}

impl MarketDataApplication {
    pub(crate) fn new(client: ClientConnection) -> Self {
        Self { client, connection: None, notified: Arc::default() }
    }

    fn max_subscriptions(&self) -> u32 {
        self.client.settings().gateway.market_data.map_or(0, |limits| limits.max_subscriptions)
    }

    fn on_price_request(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let reference = self.client.reference();
        let Some(connection) = &mut self.connection else { return };
        let others = connection.statuses.len() + connection.lists.subscriptions();
        let step =
            MarketDataRequest::from_message(message, &reference).and_then(|request| match request.subscription {
                SubscriptionKind::End => connection.prices.end(&request.id),
                SubscriptionKind::Snapshot | SubscriptionKind::Updates => {
                    connection.prices.add(&request, others, &reference)
                }
            });
        match step {
            Ok(step) => self.carry_out(step, line),
            Err(refusal) => {
                let id = text_field(message, field::MD_REQ_ID).unwrap_or_default();
                self.client.send(&market_data_refused(&id, &refusal), line);
            }
        }
    }

    fn carry_out(&mut self, step: SubscriptionStep, line: &mut dyn SessionSender) {
        let Some(connection) = &mut self.connection else { return };
        let router = &self.client.context.price_router;
        for security in step.released {
            router.unsubscribe(security, &connection.mailbox);
        }
        for security in step.to_load {
            connection.load(security, &self.client.context);
        }
        for message in &step.messages {
            self.client.send(message, line);
        }
    }

    fn on_list_request(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let (reference, is_full) = (self.client.reference(), self.is_full());
        let Some(connection) = &mut self.connection else { return };
        if connection.lists.is_busy() {
            let text = "busy: too many security lists are being sent, ask again";
            return self.reject(BusinessRejectReason::ApplicationNotAvailable, text, message, line);
        }
        match SecurityListRequest::from_message(message, &reference) {
            Ok(request) if request.ends => {
                if !connection.lists.end(&request.id) {
                    let text = "unknown-request: no list has this SecurityReqID (320)";
                    self.reject(BusinessRejectReason::UnknownId, text, message, line);
                }
            }
            Ok(request) if request.is_subscription && is_full => self.reject_full(message, line),
            Ok(request) => {
                if request.is_subscription {
                    self.client.context.price_router.watch_securities(&connection.mailbox);
                }
                let target = list_target(&self.client, &connection.mailbox);
                connection.lists.start(request, target);
            }
            Err(result) => {
                let id = text_field(message, field::SECURITY_REQ_ID).unwrap_or_default();
                let response = connection.lists.next_response_id();
                self.client.send(&security_list_refused(&id, &response, result), line);
            }
        }
    }

    fn on_status_request(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let reference = self.client.reference();
        let request = match SecurityStatusRequest::from_message(message, &reference) {
            Ok(request) => request,
            Err(reject) => {
                let is_security = matches!(&*reject.code, "unknown-security" | "security-ambiguous");
                let reason =
                    if is_security { BusinessRejectReason::UnknownSecurity } else { BusinessRejectReason::Other };
                return self.reject(reason, &reject.display_text(), message, line);
            }
        };
        let is_full = self.is_full();
        let Some(connection) = &mut self.connection else { return };
        let Some(security) = request.security else {
            if !connection.statuses.end(&request.id) {
                let text = "unknown-request: no request has this SecurityStatusReqID (324)";
                self.reject(BusinessRejectReason::UnknownId, text, message, line);
            }
            return;
        };
        let status = trading_status(security.id, &reference);
        if request.subscription == SubscriptionKind::Updates {
            if is_full {
                return self.reject_full(message, line);
            }
            self.client.context.price_router.watch_securities(&connection.mailbox);
            connection.statuses.add(&request.id, security.clone(), status);
        }
        self.client.send(&security_status(&request.id, &security, status, false), line);
    }

    /// Whether the session has as many subscriptions as it may have.
    fn is_full(&self) -> bool {
        let Some(connection) = &self.connection else { return true };
        let count = connection.prices.count() + connection.statuses.len() + connection.lists.subscriptions();
        u32::try_from(count).map_or(true, |count| count >= self.max_subscriptions())
    }

    fn reject_full(&self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let text = MarketDataRefusal::too_many(self.max_subscriptions()).reject.display_text();
        self.reject(BusinessRejectReason::ApplicationNotAvailable, &text, message, line);
    }

    fn reject(&self, reason: BusinessRejectReason, text: &str, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let ids = [field::MD_REQ_ID, field::SECURITY_REQ_ID, field::SECURITY_STATUS_REQ_ID, field::CL_ORD_ID];
        let id = ids.into_iter().find_map(|id| text_field(message, id));
        self.client.business_reject((reason, Some(text)), id.as_deref(), message, line);
    }

    /// `changed` has those that may have changed; absent: any.
    fn on_securities_changed(&mut self, changed: Option<&BTreeSet<SecurityId>>) -> Vec<OutgoingMessage> {
        let reference = self.client.reference();
        let Some(connection) = &mut self.connection else { return Vec::new() };
        connection.lists.on_securities_changed();
        connection.statuses.changes(changed, &reference)
    }
}

impl Connection {
    fn load(&mut self, security: SecurityId, context: &Arc<GatewayContext>) {
        context.price_router.subscribe(security, &self.mailbox);
        while self.loading.try_join_next().is_some() {}
        self.loading.spawn(load(context.clone(), self.mailbox.clone(), security));
    }
}

/// Asks the engine for the prices of a security. A stopped engine does not answer, and its server ends the session.
async fn load(context: Arc<GatewayContext>, mailbox: Arc<PriceMailbox>, security: SecurityId) {
    let filter = Filter { security: Some(security), ..Filter::default() };
    let Some((as_of, Answer::Ticks(ticks))) = ask(&context, Query::Ticks(filter)).await else { return };
    let Some((sequence, Answer::Book(book))) = ask(&context, Query::Book(security)).await else { return };
    let tick = ticks.into_iter().next().map(|value| AsOf { sequence: as_of, value });
    let book = book.map(|value| AsOf { sequence, value });
    mailbox.put_loaded(security, tick, book, as_of);
}

async fn ask(context: &GatewayContext, query: Query) -> Option<(u64, Answer)> {
    let ticket = context.bus.inbox.query_when_free(query, InFlightPermit::default()).await.ok()?;
    let reply = ticket.recv().await.ok()?;
    Some((reply.sequence, reply.outcome.ok()?))
}

fn list_target(client: &ClientConnection, mailbox: &Arc<PriceMailbox>) -> ListTarget {
    ListTarget { handle: client.handle().clone(), mailbox: mailbox.clone(), reference: client.reference() }
}

impl Application for MarketDataApplication {
    fn on_connected(&mut self, peer: Option<IpAddr>) {
        self.client.on_connected(peer);
    }

    fn on_logon(&mut self, logon: &FixMessage<'_>, ticket: LogonTicket) -> LogonDecision {
        self.client.decide_logon(logon, ticket);
        LogonDecision::Pending
    }

    fn on_logged_on(&mut self, _: &mut dyn SessionSender) {
        self.client.on_authenticated();
        let waker = SessionWaker { handle: self.client.handle().clone(), notified: self.notified.clone() };
        self.connection = Some(Connection {
            mailbox: Arc::new(PriceMailbox::new(waker)),
            prices: PriceSubscriptions::new(self.max_subscriptions()),
            statuses: SecurityWatch::default(),
            lists: ListSender::default(),
            loading: JoinSet::new(),
        });
        self.client.announce_logon();
    }

    fn on_message(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        if self.client.is_revoked() {
            return self.reject(BusinessRejectReason::NotAuthorized, CREDENTIALS_REVOKED, message, line);
        }
        if !is_market_data_request(message.msg_type()) {
            return self.reject(BusinessRejectReason::UnsupportedMessageType, MARKET_DATA_SESSION, message, line);
        }
        let fault = self.client.repeated_field(message).or_else(|| match message.msg_type() {
            b"V" => MarketDataRequest::fault_in(message),
            b"x" => SecurityListRequest::fault_in(message),
            _ => SecurityStatusRequest::fault_in(message),
        });
        match (fault, message.msg_type()) {
            (Some(fault), _) => drop(self.client.reject_invalid(fault, message, line)),
            (None, b"V") => self.on_price_request(message, line),
            (None, b"x") => self.on_list_request(message, line),
            (None, _) => self.on_status_request(message, line),
        }
    }

    /// Called while there is room for what the client has not read yet; until then the mailbox keeps the newest.
    fn on_wake(&mut self, line: &mut dyn SessionSender) {
        self.notified.store(false, Ordering::Release);
        let Some(connection) = &mut self.connection else { return };
        let news = connection.mailbox.take(PRICES_PER_TURN);
        if news.is_reload_due {
            let securities: Vec<_> = connection.prices.securities().collect();
            securities.into_iter().for_each(|security| connection.load(security, &self.client.context));
        }
        for (security, prices) in news.prices {
            let Some(connection) = &mut self.connection else { return };
            let step = connection.prices.apply(security, prices);
            self.carry_out(step, line);
        }
        if news.is_reload_due || !news.securities.is_empty() {
            let changed = Some(&news.securities).filter(|_| !news.is_reload_due);
            for message in self.on_securities_changed(changed) {
                self.client.send(&message, line);
            }
        }
        let Some(connection) = &mut self.connection else { return };
        let (client, mailbox) = (&self.client, &connection.mailbox);
        connection.lists.send_due(|| list_target(client, mailbox));
        // Other sessions have their turn before the rest.
        if !connection.mailbox.is_empty() {
            connection.mailbox.wake();
        }
    }

    fn on_logging_out(&mut self) {
        self.client.on_logging_out();
    }

    fn on_logged_out(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.client.context.price_router.remove(&connection.mailbox);
        }
        self.client.on_logged_out();
    }

    fn on_disconnected(&mut self, reason: &DisconnectReason) {
        self.client.on_disconnected(reason);
    }

    fn on_frame(&mut self, direction: Direction, frame: &[u8]) {
        self.client.on_frame(direction, frame);
    }
}
