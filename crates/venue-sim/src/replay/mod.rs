//! A venue driven by recorded prices. Nobody else is there to trade with, so a named [`FillRule`] decides whether, when and
//! at what price an order would have been filled; the rule stands in the id of every execution.
//!
//! It is pure like the living venue beside it: requests and prices in with their time, words out. Prices of the past do not
//! move because of our orders.
//!
//! - A DAY order lives until the first price of a later exchange day than that of the first price it saw: a day without
//!   prices is no trading day, and a bar belongs to the day on which it begins. GTD ends at its instant, IOC and FOK at once.
//! - Auctions are not recorded: ATO and ATC are rejected.
//! - Stops are triggered by trades, by the other side's quote where nothing trades, and by the range of bars.

/// Whether, when and at what price an order is filled.
mod rule;
/// What the recorded market of one security looks like now.
mod quotes;
/// Orders that wait in the market.
mod working;
/// The market of one security: recorded prices meet waiting orders.
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

/// Requests underway at a time; a further one is rejected.
pub const UNDERWAY_MAX: usize = 1_000_000;

const BUSY: &str = "busy: too many requests are underway";

#[derive(Debug, Clone)]
pub struct ReplayConfig {
    /// Begins every id that the venue mints.
    pub name: Text,
    pub rule: FillRule,
    /// From us to the market, and the same way back.
    pub order_latency_nanos: i64,
    /// How much worse than the rule says market and stop orders are filled, in ticks of the security.
    pub slippage_ticks: u32,
    /// What the venue charges, as a part of the traded value; absent: the fee of the security's family.
    pub fee_rate: Option<Decimal>,
}

/// What the venue says, and when it said it.
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
    /// The first instant at which a GTD order ends, in any market.
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

/// Numbers of orders and executions.
#[derive(Debug)]
struct Minted {
    name: Text,
    /// What stands before an execution's number: the rule and the venue.
    execution: String,
    orders: u64,
    executions: u64,
}

/// What matching leaves behind, before it goes on its way.
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

    /// From now on the security trades here.
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

    /// The span of a bar begins: its first price is known, and nothing more.
    pub fn bar_opens(&mut self, at: Timestamp, bar: &Bar) {
        self.meet(at, bar.security, |market, words, minted| market.bar_opens(at, bar, words, minted));
    }

    /// The span is over: how high and how low it went is known.
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

    /// When something happens next if nobody asks for anything and no price comes.
    #[inline]
    pub fn next_due(&self) -> Option<Timestamp> {
        let request = self.requests.front().map(|(due, _)| *due);
        let word = self.words.front().map(|(due, _)| *due);
        [request, word, self.next_expiry].into_iter().flatten().min()
    }

    /// Whether anything is underway.
    #[inline]
    pub fn is_busy(&self) -> bool {
        !self.requests.is_empty() || !self.words.is_empty()
    }

    /// Requests that arrived by then are dealt with, each at its own instant.
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

    /// The next word that has reached us by then.
    pub fn heard(&mut self, by: Timestamp) -> Option<Spoken> {
        self.words.pop_front_if(|(due, _)| *due <= by).map(|(_, spoken)| spoken)
    }

    /// Orders in the market, for whoever wants to know what a run left behind.
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

    /// What matching left behind goes on its way.
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

    /// The id of an execution: it begins with the rule that made it.
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

/// Why a time in force cannot be, where nothing but prices is recorded.
fn unsuited(tif: TimeInForce, at: Timestamp) -> Option<&'static str> {
    match tif {
        TimeInForce::Ato | TimeInForce::Atc => Some("tif: auctions are not recorded"),
        TimeInForce::Gtd { until } if until <= at => Some("tif: the date has passed"),
        _ => None,
    }
}
