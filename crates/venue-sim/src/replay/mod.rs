//! Replay venue: fills orders against recorded prices by a named [`FillRule`], which is part of every execution id.
//!
//! It is pure like the simulated venue: requests and prices in with their time, reports out. Recorded prices do not
//! react to our orders.
//!
//! - A DAY order works until the first price of an exchange day after that of the first price it saw: a day without
//!   prices is no trading day, and a bar belongs to the day on which it begins. GTD ends at its instant, IOC and FOK at
//!   once.
//! - Auctions are not recorded: ATO and ATC are rejected.
//! - Stops are triggered by trades, by the other side's quote where nothing trades, and by the range of bars.

mod config;
mod reports;
mod quotes;
mod working_order;
mod market;

use std::collections::VecDeque;

use domain::order::OrderTerms;
use domain::report::ReportKind;
use domain::{Bar, Exchange, Order, OrderBook, OrderId, Security, SecurityId, SecurityMap, Tick, Timestamp, Trade};

pub use config::{FillRule, ReplayConfig};

use market::ReplayMarket;
use reports::{ReplayIds, Reports, rejected};
use working_order::WorkingOrder;

/// Requests on their way at a time; a further one is rejected.
pub const IN_FLIGHT_MAX: usize = 1_000_000;

const BUSY: &str = "busy: too many requests are underway";

/// A report of the venue and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedReport {
    pub kind: ReportKind,
    pub at: Timestamp,
}

#[derive(Debug)]
pub struct ReplayVenue {
    config: ReplayConfig,
    markets: Vec<ReplayMarket>,
    index: SecurityMap<usize>,
    requests: VecDeque<(Timestamp, ReplayRequest)>,
    reports: VecDeque<(Timestamp, TimedReport)>,
    /// The first expiry of a GTD order in any market.
    next_expiry: Option<Timestamp>,
    ids: ReplayIds,
    /// Empty in between; kept for its memory.
    pending_reports: Reports,
}

#[derive(Debug)]
enum ReplayRequest {
    Submit(WorkingOrder),
    Replace(SecurityId, OrderId, OrderTerms),
    Cancel(SecurityId, OrderId),
}

impl ReplayVenue {
    pub fn new(config: ReplayConfig) -> Self {
        let ids = ReplayIds::new(&config);
        Self {
            config,
            markets: Vec::new(),
            index: SecurityMap::default(),
            requests: VecDeque::new(),
            reports: VecDeque::new(),
            next_expiry: None,
            ids,
            pending_reports: Reports::new(),
        }
    }

    pub fn rule(&self) -> FillRule {
        self.config.rule
    }

    /// Lists the security from now on.
    pub fn list_security(&mut self, security: &Security, exchange: &Exchange) {
        self.index.insert(security.id, self.markets.len());
        self.markets.push(ReplayMarket::new(&self.config, security, exchange.time_zone.clone()));
    }

    pub fn submit(&mut self, at: Timestamp, order: &Order) {
        if self.requests.len() >= IN_FLIGHT_MAX {
            return self.send_report(at, ReportKind::Rejected { order: order.id, reason: BUSY.into() });
        }
        self.send(at, ReplayRequest::Submit(WorkingOrder::from(order)));
    }

    pub fn replace(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) {
        if self.requests.len() >= IN_FLIGHT_MAX {
            return self.send_report(at, ReportKind::ReplaceRejected { order: order.id, reason: BUSY.into() });
        }
        self.send(at, ReplayRequest::Replace(order.security, order.id, terms));
    }

    pub fn cancel(&mut self, at: Timestamp, order: &Order) {
        if self.requests.len() >= IN_FLIGHT_MAX {
            return self.send_report(at, ReportKind::CancelRejected { order: order.id, reason: BUSY.into() });
        }
        self.send(at, ReplayRequest::Cancel(order.security, order.id));
    }

    fn send(&mut self, at: Timestamp, request: ReplayRequest) {
        self.requests.push_back((later(at, self.config.order_latency_nanos), request));
    }

    #[inline]
    pub fn on_tick(&mut self, at: Timestamp, tick: &Tick) {
        self.match_orders(at, tick.security, |market, words, minted| market.on_tick(at, tick, words, minted));
    }

    pub fn on_trade(&mut self, at: Timestamp, trade: &Trade) {
        self.match_orders(at, trade.security, |market, words, minted| market.on_trade(at, trade, words, minted));
    }

    pub fn on_book(&mut self, at: Timestamp, book: &OrderBook) {
        self.match_orders(at, book.security, |market, words, minted| market.on_book(at, book, words, minted));
    }

    /// The span of a bar begins: only its first price is known.
    pub fn on_bar_open(&mut self, at: Timestamp, bar: &Bar) {
        self.match_orders(at, bar.security, |market, words, minted| market.on_bar_open(at, bar, words, minted));
    }

    /// The span is over: high, low and close are known.
    pub fn on_bar_close(&mut self, at: Timestamp, bar: &Bar) {
        self.match_orders(at, bar.security, |market, words, minted| market.on_bar_close(at, bar, words, minted));
    }

    #[inline]
    fn match_orders(
        &mut self,
        at: Timestamp,
        security: SecurityId,
        what: impl FnOnce(&mut ReplayMarket, &mut Reports, &mut ReplayIds),
    ) {
        let Some(place) = self.index.get(security) else { return };
        what(&mut self.markets[place], &mut self.pending_reports, &mut self.ids);
        if !self.pending_reports.is_empty() {
            self.flush_reports(at);
        }
    }

    /// When the next task is due, without further requests and prices.
    #[inline]
    pub fn next_due(&self) -> Option<Timestamp> {
        let request = self.requests.front().map(|(due, _)| *due);
        let word = self.reports.front().map(|(due, _)| *due);
        [request, word, self.next_expiry].into_iter().flatten().min()
    }

    /// Whether requests or reports are on their way.
    #[inline]
    pub fn has_work(&self) -> bool {
        !self.requests.is_empty() || !self.reports.is_empty()
    }

    /// Processes requests that arrived by then, each at its own instant.
    pub fn advance(&mut self, to: Timestamp) {
        while let Some((at, request)) = self.requests.pop_front_if(|(due, _)| *due <= to) {
            self.receive(at, request);
        }
        if self.next_expiry.is_some_and(|due| due <= to) {
            self.markets.iter_mut().for_each(|market| market.expire(to, &mut self.pending_reports));
            self.flush_reports(to);
            self.update_next_expiry();
        }
    }

    fn update_next_expiry(&mut self) {
        self.next_expiry = self.markets.iter().filter_map(ReplayMarket::next_expiry).min();
    }

    /// The next report that has arrived by then.
    pub fn next_report(&mut self, by: Timestamp) -> Option<TimedReport> {
        self.reports.pop_front_if(|(due, _)| *due <= by).map(|(_, spoken)| spoken)
    }

    /// Number of orders that are still working, for the end of a run.
    pub fn working(&self) -> usize {
        self.markets.iter().map(ReplayMarket::working).sum()
    }

    fn receive(&mut self, at: Timestamp, request: ReplayRequest) {
        let words = &mut self.pending_reports;
        match request {
            ReplayRequest::Submit(order) => match self.index.get(order.security) {
                Some(place) => self.markets[place].receive(at, order, words, &mut self.ids),
                None => words.push(rejected(order.id, "security: no prices are recorded here")),
            },
            ReplayRequest::Replace(security, order, terms) => match self.index.get(security) {
                Some(place) => self.markets[place].replace(at, order, terms, words, &mut self.ids),
                None => words.push(ReportKind::ReplaceRejected { order, reason: "unknown-order".into() }),
            },
            ReplayRequest::Cancel(security, order) => match self.index.get(security) {
                Some(place) => self.markets[place].cancel(order, words),
                None => words.push(ReportKind::CancelRejected { order, reason: "unknown-order".into() }),
            },
        }
        self.flush_reports(at);
        self.update_next_expiry();
    }

    /// Sends the reports of matching.
    fn flush_reports(&mut self, at: Timestamp) {
        let due = later(at, self.config.order_latency_nanos);
        self.reports.extend(self.pending_reports.drain(..).map(|said| (due, TimedReport { kind: said, at })));
    }

    fn send_report(&mut self, at: Timestamp, said: ReportKind) {
        self.reports.push_back((later(at, self.config.order_latency_nanos), TimedReport { kind: said, at }));
    }
}

fn later(at: Timestamp, nanos: i64) -> Timestamp {
    Timestamp(at.0.saturating_add(nanos))
}
