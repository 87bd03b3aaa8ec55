//! The adapter of paper mode: what the prices of the real venue do to orders at the simulated one.
//!
//! All securities of the exchange are followed while it is connected, whatever the engine has subscribed, since an order may
//! come for each of them.

use std::collections::{BTreeMap, BTreeSet};

use bus::Catalogue;
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, LineKind, ReplaceKind, ReportKind, VenueSnapshot};
use domain::{AccountId, ExchangeId, Order, OrderBook, SecurityId, Text, Tick, Timestamp};

use super::price_session::PriceSession;
use crate::send_lease::SendLease;
use crate::simulated::{SimulatedAdapter, VenueControls};
use crate::venue::{MarketFeed, OrderSession, ReportSink, SendOutcome, SessionLost, VenueOrderRules};

/// Prices of a real venue, orders at a simulated one.
pub struct PaperAdapter {
    prices: Box<dyn PriceSession>,
    venue: SimulatedAdapter,
    exchange: ExchangeId,
    catalogue: Catalogue,
    session: Option<PaperSession>,
}

/// What is known while connected.
#[derive(Default)]
struct PaperSession {
    /// What the engine has subscribed.
    subscribed: BTreeSet<SecurityId>,
    /// The newest prices of each security that is followed, for a subscription that comes later.
    followed: BTreeMap<SecurityId, NewestPrices>,
    /// Subscribed since the last delivery.
    awaited: BTreeSet<SecurityId>,
    /// Waits for `deliver`: what came from the real venue, and what it would refuse.
    outbox: Vec<FeedMessage>,
    /// Why the session ends with the next `deliver`.
    lost: Option<SessionLost>,
}

#[derive(Default)]
struct NewestPrices {
    tick: Option<Tick>,
    book: Option<OrderBook>,
}

impl NewestPrices {
    fn keep(&mut self, data: &MarketData) {
        match data {
            MarketData::Tick(tick) => self.tick = Some(tick.clone()),
            MarketData::Book(book) => self.book = Some(book.clone()),
            MarketData::Gap(_) => *self = Self::default(),
            MarketData::Trade(_) => {}
        }
    }

    fn all(&self) -> impl Iterator<Item = MarketData> {
        let tick = self.tick.iter().cloned().map(MarketData::Tick);
        tick.chain(self.book.iter().cloned().map(MarketData::Book))
    }
}

impl PaperSession {
    /// Prices are kept; those that the engine wants, and all reports, wait for `deliver`.
    fn keep(&mut self, received: FeedMessage) {
        if let FeedMessage::Price(data) = &received {
            let security = data.security();
            if let Some(newest) = self.followed.get_mut(&security) {
                newest.keep(data);
            }
            if !self.subscribed.contains(&security) || self.awaited.contains(&security) {
                return;
            }
        }
        self.outbox.push(received);
    }

    /// A subscription begins with the newest prices.
    fn deliver(&mut self, sink: &mut dyn ReportSink) {
        for received in self.outbox.drain(..) {
            match received {
                FeedMessage::Report(at, said) => sink.on_report(at, said),
                FeedMessage::Price(data) => sink.on_market_data(data),
            }
        }
        for security in std::mem::take(&mut self.awaited) {
            let newest = self.followed.get(&security).into_iter().flat_map(NewestPrices::all);
            newest.for_each(|data| sink.on_market_data(data));
        }
    }
}

/// What came from the real venue, in its order.
enum FeedMessage {
    Report(Option<Timestamp>, ReportKind),
    Price(MarketData),
}

#[derive(Default)]
struct FeedReceiver(Vec<FeedMessage>);

impl ReportSink for FeedReceiver {
    fn on_report(&mut self, at: Option<Timestamp>, said: ReportKind) {
        self.0.push(FeedMessage::Report(at, said));
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.0.push(FeedMessage::Price(data));
    }
}

impl PaperAdapter {
    /// `venue` follows the prices of another one: `ParticipantActivity::Followed`.
    pub fn new(
        prices: impl PriceSession + 'static,
        venue: SimulatedAdapter,
        exchange: ExchangeId,
        catalogue: Catalogue,
    ) -> Self {
        Self { prices: Box::new(prices), venue, exchange, catalogue, session: None }
    }

    /// Controls of the simulated venue.
    pub fn controls(&self) -> VenueControls {
        self.venue.controls()
    }

    /// What the venue does not list has no prices; its orders are refused.
    fn follow_all(&mut self, at: Timestamp) {
        let (reference, exchange) = (self.catalogue.current(), self.exchange);
        let listed = reference.securities.values().filter(|security| security.exchange == exchange);
        for security in listed {
            drop(self.follow(at, security.id));
        }
    }

    fn follow(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        let Some(session) = &mut self.session else { return SendOutcome::NotSent("not connected".into()) };
        if session.followed.contains_key(&security) {
            return SendOutcome::Sent;
        }
        let sending = self.prices.subscribe(at, security);
        if sending == SendOutcome::Sent {
            session.followed.insert(security, NewestPrices::default());
        }
        sending
    }

    /// Takes what has come from the real venue, so that a request meets its newest prices.
    fn receive_prices(&mut self, at: Timestamp) {
        let mut received = FeedReceiver::default();
        if self.session.is_none() {
            return;
        }
        let delivered = self.prices.deliver(at, &mut received);
        let followed = received.0.into_iter().try_for_each(|received| self.apply_message(at, received));
        if let (Err(lost), Some(session)) = (delivered.and(followed), &mut self.session) {
            session.lost.get_or_insert(lost);
        }
    }

    fn apply_message(&mut self, at: Timestamp, received: FeedMessage) -> Result<(), SessionLost> {
        match &received {
            FeedMessage::Report(_, ReportKind::Line { line: LineKind::Prices, up: false, .. }) => self.forget_prices(),
            FeedMessage::Report(..) => {}
            FeedMessage::Price(data) => self.venue.follow(at, data)?,
        }
        if let Some(session) = &mut self.session {
            session.keep(received);
        }
        Ok(())
    }

    /// Orders rest, and market orders find nobody, until prices are back.
    fn forget_prices(&mut self) {
        self.venue.forget_prices();
        let newest = self.session.iter_mut().flat_map(|session| session.followed.values_mut());
        newest.for_each(|newest| *newest = NewestPrices::default());
    }

    /// What the real venue would refuse is refused; an order that is at the simulated one is its business.
    fn refusal(&self, at: Timestamp, order: &Order, terms: OrderTerms) -> Option<Text> {
        self.session.as_ref()?;
        self.prices.check(at, order, terms).err()
    }

    fn refuse(&mut self, at: Timestamp, said: ReportKind) -> SendOutcome {
        let Some(session) = &mut self.session else { return SendOutcome::NotSent("not connected".into()) };
        session.outbox.push(FeedMessage::Report(Some(at), said));
        SendOutcome::Sent
    }
}

impl OrderSession for PaperAdapter {
    /// What both venues offer. Lists, ids and times are those of the simulated one.
    fn capabilities(&self) -> AdapterCapabilities {
        let (real, simulated) = (self.prices.capabilities(), self.venue.capabilities());
        let order_properties = real.order_properties.iter().copied().filter(|property| simulated.offers(*property));
        AdapterCapabilities {
            exchanges: real.exchanges.clone(),
            order_properties: order_properties.collect(),
            replace: match real.replace {
                // Here it is one order, and both halves always succeed.
                ReplaceKind::CancelReplace => simulated.replace,
                kind => kind,
            },
            cancel: real.cancel,
            lines: real.lines.iter().copied().filter(|line| *line == LineKind::Prices).collect(),
            ..simulated
        }
    }

    /// Orders are checked as the real venue would.
    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        self.prices.order_rules(security)
    }

    /// What leaves, leaves inside the calls of the host.
    fn set_lease(&mut self, _: SendLease) {}

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.disconnect(at);
        self.prices.connect(at)?;
        if let Err(lost) = self.venue.connect(at) {
            self.prices.disconnect(at);
            return Err(lost);
        }
        self.session = Some(PaperSession::default());
        self.follow_all(at);
        Ok(())
    }

    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        self.venue.snapshot(at)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.receive_prices(at);
        let refusal = self.refusal(at, order, order.terms).filter(|_| !self.venue.knows(order.id));
        match refusal {
            Some(reason) => self.refuse(at, ReportKind::Rejected { order: order.id, reason }),
            None => {
                // Without prices it rests until there are some.
                drop(self.follow(at, order.security));
                self.venue.submit(at, order)
            }
        }
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.receive_prices(at);
        match self.refusal(at, order, terms) {
            Some(reason) => self.refuse(at, ReportKind::ReplaceRejected { order: order.id, reason }),
            None => self.venue.modify(at, order, terms),
        }
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.receive_prices(at);
        self.venue.cancel(at, order)
    }

    fn cancel_leg(&mut self, _: Timestamp, _: &Order, _: &Text) -> SendOutcome {
        SendOutcome::NotSent("an order has one leg here".into())
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.venue.inquire(at, order)
    }

    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        self.venue.ask_statement(at, account)
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        self.venue.list_open_orders(at)
    }

    fn list_fills(&mut self, at: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        self.venue.list_fills(at, security, cursor)
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        self.receive_prices(at);
        let Some(session) = &mut self.session else { return Err(SessionLost("not connected".into())) };
        session.deliver(sink);
        match session.lost.clone() {
            Some(lost) => Err(lost),
            None => self.venue.deliver(at, sink),
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.prices.next_due().into_iter().chain(self.venue.next_due()).min()
    }

    /// Imports wake nobody: they are seen at the next turn.
    fn waker(&self) -> Receiver<()> {
        self.prices.waker()
    }

    fn disconnect(&mut self, at: Timestamp) {
        if self.session.is_some() {
            self.prices.disconnect(at);
            self.forget_prices();
            self.venue.disconnect(at);
            self.session = None;
        }
    }
}

impl MarketFeed for PaperAdapter {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        let sending = self.follow(at, security);
        if let (SendOutcome::Sent, Some(session)) = (&sending, &mut self.session) {
            session.subscribed.insert(security);
            session.awaited.insert(security);
        }
        sending
    }

    /// It is followed on, for orders.
    fn unsubscribe(&mut self, _: Timestamp, security: SecurityId) -> SendOutcome {
        let Some(session) = &mut self.session else { return SendOutcome::NotSent("not connected".into()) };
        session.subscribed.remove(&security);
        session.awaited.remove(&security);
        SendOutcome::Sent
    }
}
