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

mod rule;
mod quotes;
mod working;
mod market;

use std::collections::VecDeque;

use domain::order::Terms;
use domain::report::Said;
use domain::{
    Bar, BySecurity, Decimal, Exchange, Order, OrderBook, OrderId, Security, SecurityId, Text, Tick, TimeInForce,
    Timestamp, Trade,
};

pub use rule::FillRule;

use market::Market;
use working::Working;

/// Requests on their way at a time; a further one is rejected.
pub const UNDERWAY_MAX: usize = 1_000_000;

const BUSY: &str = "busy: too many requests are underway";

#[derive(Debug, Clone)]
pub struct ReplayConfig {
    /// Prefix of every id that the venue generates.
    pub name: Text,
    pub rule: FillRule,
    /// From us to the market, and the same for the way back.
    pub order_latency_nanos: i64,
    /// How many ticks worse than by the rule market and stop orders are filled.
    pub slippage_ticks: u32,
    /// Fee as a fraction of the traded value; absent: the fee of the security's family.
    pub fee_rate: Option<Decimal>,
}

/// A report of the venue and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    pub said: Said,
    pub at: Timestamp,
}

#[derive(Debug)]
pub struct Replay {
    config: ReplayConfig,
    markets: Vec<Market>,
    places: BySecurity<usize>,
    requests: VecDeque<(Timestamp, Request)>,
    words: VecDeque<(Timestamp, Spoken)>,
    /// The first expiry of a GTD order in any market.
    next_expiry: Option<Timestamp>,
    minted: Minted,
    /// Empty in between; kept for its memory.
    spoken: Words,
}

#[derive(Debug)]
enum Request {
    Submit(Working),
    Replace(SecurityId, OrderId, Terms),
    Cancel(SecurityId, OrderId),
}

/// Id generator for orders and executions.
#[derive(Debug)]
struct Minted {
    name: Text,
    /// Prefix of an execution's number: the rule and the venue.
    execution: String,
    orders: u64,
    executions: u64,
}

/// Reports of matching, before they are sent.
type Words = Vec<Said>;

impl Replay {
    pub fn new(config: ReplayConfig) -> Self {
        let execution = format!("{}:{}-", config.rule.name(), config.name);
        let minted = Minted { name: config.name.clone(), execution, orders: 0, executions: 0 };
        Self {
            config,
            markets: Vec::new(),
            places: BySecurity::default(),
            requests: VecDeque::new(),
            words: VecDeque::new(),
            next_expiry: None,
            minted,
            spoken: Words::new(),
        }
    }

    pub fn rule(&self) -> FillRule {
        self.config.rule
    }

    /// Lists the security from now on.
    pub fn list(&mut self, security: &Security, exchange: &Exchange) {
        self.places.insert(security.id, self.markets.len());
        self.markets.push(Market::new(&self.config, security, exchange.time_zone.clone()));
    }

    pub fn submit(&mut self, at: Timestamp, order: &Order) {
        if self.requests.len() >= UNDERWAY_MAX {
            return self.say(at, Said::Rejected { order: order.id, reason: BUSY.into() });
        }
        self.send(at, Request::Submit(Working::from(order)));
    }

    pub fn replace(&mut self, at: Timestamp, order: &Order, terms: Terms) {
        if self.requests.len() >= UNDERWAY_MAX {
            return self.say(at, Said::ReplaceRejected { order: order.id, reason: BUSY.into() });
        }
        self.send(at, Request::Replace(order.security, order.id, terms));
    }

    pub fn cancel(&mut self, at: Timestamp, order: &Order) {
        if self.requests.len() >= UNDERWAY_MAX {
            return self.say(at, Said::CancelRejected { order: order.id, reason: BUSY.into() });
        }
        self.send(at, Request::Cancel(order.security, order.id));
    }

    fn send(&mut self, at: Timestamp, request: Request) {
        self.requests.push_back((later(at, self.config.order_latency_nanos), request));
    }

    #[inline]
    pub fn tick(&mut self, at: Timestamp, tick: &Tick) {
        self.meet(at, tick.security, |market, words, minted| market.tick(at, tick, words, minted));
    }

    pub fn trade(&mut self, at: Timestamp, trade: &Trade) {
        self.meet(at, trade.security, |market, words, minted| market.trade(at, trade, words, minted));
    }

    pub fn book(&mut self, at: Timestamp, book: &OrderBook) {
        self.meet(at, book.security, |market, words, minted| market.book(at, book, words, minted));
    }

    /// The span of a bar begins: only its first price is known.
    pub fn bar_opens(&mut self, at: Timestamp, bar: &Bar) {
        self.meet(at, bar.security, |market, words, minted| market.bar_opens(at, bar, words, minted));
    }

    /// The span is over: high, low and close are known.
    pub fn bar_closes(&mut self, at: Timestamp, bar: &Bar) {
        self.meet(at, bar.security, |market, words, minted| market.bar_closes(at, bar, words, minted));
    }

    #[inline]
    fn meet(&mut self, at: Timestamp, security: SecurityId, what: impl FnOnce(&mut Market, &mut Words, &mut Minted)) {
        let Some(place) = self.places.get(security) else { return };
        what(&mut self.markets[place], &mut self.spoken, &mut self.minted);
        if !self.spoken.is_empty() {
            self.send_words(at);
        }
    }

    /// When the next task is due, without further requests and prices.
    #[inline]
    pub fn next_due(&self) -> Option<Timestamp> {
        let request = self.requests.front().map(|(due, _)| *due);
        let word = self.words.front().map(|(due, _)| *due);
        [request, word, self.next_expiry].into_iter().flatten().min()
    }

    /// Whether requests or reports are on their way.
    #[inline]
    pub fn is_busy(&self) -> bool {
        !self.requests.is_empty() || !self.words.is_empty()
    }

    /// Processes requests that arrived by then, each at its own instant.
    pub fn advance(&mut self, to: Timestamp) {
        while let Some((at, request)) = self.requests.pop_front_if(|(due, _)| *due <= to) {
            self.receive(at, request);
        }
        if self.next_expiry.is_some_and(|due| due <= to) {
            self.markets.iter_mut().for_each(|market| market.expire(to, &mut self.spoken));
            self.send_words(to);
            self.find_expiry();
        }
    }

    fn find_expiry(&mut self) {
        self.next_expiry = self.markets.iter().filter_map(Market::next_expiry).min();
    }

    /// The next report that has arrived by then.
    pub fn heard(&mut self, by: Timestamp) -> Option<Spoken> {
        self.words.pop_front_if(|(due, _)| *due <= by).map(|(_, spoken)| spoken)
    }

    /// Number of orders that are still working, for the end of a run.
    pub fn working(&self) -> usize {
        self.markets.iter().map(Market::working).sum()
    }

    fn receive(&mut self, at: Timestamp, request: Request) {
        let words = &mut self.spoken;
        match request {
            Request::Submit(order) => match self.places.get(order.security) {
                Some(place) => self.markets[place].receive(at, order, words, &mut self.minted),
                None => words.push(rejected(order.id, "security: no prices are recorded here")),
            },
            Request::Replace(security, order, terms) => match self.places.get(security) {
                Some(place) => self.markets[place].replace(at, order, terms, words, &mut self.minted),
                None => words.push(Said::ReplaceRejected { order, reason: "unknown-order".into() }),
            },
            Request::Cancel(security, order) => match self.places.get(security) {
                Some(place) => self.markets[place].cancel(order, words),
                None => words.push(Said::CancelRejected { order, reason: "unknown-order".into() }),
            },
        }
        self.send_words(at);
        self.find_expiry();
    }

    /// Sends the reports of matching.
    fn send_words(&mut self, at: Timestamp) {
        let due = later(at, self.config.order_latency_nanos);
        self.words.extend(self.spoken.drain(..).map(|said| (due, Spoken { said, at })));
    }

    fn say(&mut self, at: Timestamp, said: Said) {
        self.words.push_back((later(at, self.config.order_latency_nanos), Spoken { said, at }));
    }
}

impl Minted {
    fn order(&mut self) -> Text {
        self.orders += 1;
        Text::numbered(&[&self.name, "-O"], self.orders)
    }

    /// The id of an execution: its prefix is the fill rule.
    fn execution(&mut self) -> Text {
        self.executions += 1;
        Text::numbered(&[&self.execution], self.executions)
    }
}

fn later(at: Timestamp, nanos: i64) -> Timestamp {
    Timestamp(at.0.saturating_add(nanos))
}

fn rejected(order: OrderId, reason: &str) -> Said {
    Said::Rejected { order, reason: reason.into() }
}

/// Why a time in force is not supported, where only prices are recorded.
fn unsuited(tif: TimeInForce, at: Timestamp) -> Option<&'static str> {
    match tif {
        TimeInForce::Ato | TimeInForce::Atc => Some("tif: auctions are not recorded"),
        TimeInForce::Gtd { until } if until <= at => Some("tif: the date has passed"),
        _ => None,
    }
}
