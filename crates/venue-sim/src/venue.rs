//! Simulated venue: requests in; records, reports and market data out, all in its own time.
//!
//! It is pure: the caller passes the time with every call and carries out the outputs in order. A record is written to
//! the venue's ledger before any output behind it is released, so that a reported change is never lost. The same calls
//! give the same outputs.
//!
//! Behaviour of orders by phase of the exchange:
//!
//! | | closed | opening call | continuous | closing call |
//! |---|---|---|---|---|
//! | limit DAY, GTC, GTD | waits | joins the auction | trades, rests | joins the auction |
//! | market DAY, GTC, GTD | rejected | joins the auction, the rest is canceled | trades, the rest is canceled | as in the opening call |
//! | IOC, FOK | rejected | rejected | trades, the rest expires | rejected |
//! | ATO | waits | joins the auction, the rest expires | rejected | rejected |
//! | ATC | waits | waits | waits | joins the auction, the rest expires |
//! | stop, stop-limit (DAY, GTC, GTD) | waits | waits | waits for its price | waits |
//!
//! - Stops are triggered by the last trade, or by the other side's best quote where nothing has traded since the
//!   start; in continuous trading only. A stop whose price is reached already is triggered as it comes in.
//! - DAY ends with the exchange day's last close, GTD at its instant, and everything with the security's last close.
//! - A halted security accepts no new and no changed orders; cancels work. When it resumes, crossed orders trade at one
//!   price.
//! - A replace that only lowers the quantity keeps its queue position; any other loses it. A quantity below the filled
//!   one is set to the filled one, which ends the order.
//! - A known order id never makes a second order: the last report on the first one is repeated, without a record. There
//!   is no report while the first is still on its way, or finished so long ago that only its id is kept.

mod intake;
mod trading;
mod changes;
mod clock;
mod restore;

use std::collections::{BTreeMap, BTreeSet};

use domain::command::MarketData;
use domain::order::Terms;
use domain::report::{Picture, Said};
use domain::{AccountId, Date, MarketPhase, Order, OrderId, SecurityId, Text, Timestamp};

use crate::agenda::{Agenda, Task};
use crate::config::{ConfigError, Listing, REQUESTS_UNDERWAY_MAX, VenueConfig};
use crate::faults::{Faults, Line};
use crate::market::Market;
use crate::record::Record;
use crate::registry::Registry;
use crate::sessions::Sessions;

/// An output of a call; outputs must be carried out in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// To be written to the ledger before anything after it is released.
    Record(Record),
    /// For the client; `at` is the venue's own time.
    Said {
        said: Said,
        at: Timestamp,
    },
    Market(MarketData),
}

#[derive(Debug)]
pub struct Venue {
    config: VenueConfig,
    sessions: Sessions,
    markets: BTreeMap<SecurityId, Market>,
    registry: Registry,
    agenda: Agenda,
    line: Line,
    phase: MarketPhase,
    /// The exchange day whose volume is counted.
    day: Option<Date>,
    now: Timestamp,
    /// Accounts by their owner number in the books.
    owners: BTreeMap<AccountId, u32>,
    /// Markets with something to publish.
    touched: BTreeSet<SecurityId>,
}

impl Venue {
    /// The opening quotes have several levels at once.
    pub fn new(config: VenueConfig, at: Timestamp) -> Result<Self, ConfigError> {
        config.check()?;
        let sessions = Sessions::new(config.exchange.clone(), at)?;
        let mut markets = BTreeMap::new();
        for listing in &config.listings {
            markets.insert(listing.security.id, open_market(&config, &sessions, listing, at)?);
        }
        let mut agenda = Agenda::default();
        // Starts closed; the first step of time enters the current phase.
        agenda.push(at, Task::Phase);
        Ok(Self {
            sessions,
            markets,
            registry: Registry::default(),
            agenda,
            line: Line::new(config.faults),
            phase: MarketPhase::Closed,
            day: None,
            now: at,
            owners: BTreeMap::new(),
            touched: BTreeSet::new(),
            config,
        })
    }

    /// Lists the security from the next step of time on; false where it is listed already.
    pub fn list(&mut self, listing: &Listing) -> Result<bool, ConfigError> {
        let id = listing.security.id;
        if self.markets.contains_key(&id) {
            return Ok(false);
        }
        if listing.security.exchange != self.config.exchange.id {
            return Err(ConfigError::ListedElsewhere(id));
        }
        let market = open_market(&self.config, &self.sessions, listing, self.now)?;
        self.markets.insert(id, market);
        self.agenda.push(self.now, Task::Resume(id));
        Ok(true)
    }

    pub fn submit(&mut self, at: Timestamp, order: &Order, out: &mut Vec<Output>) {
        if self.begin(at, out) {
            self.receive(order, out);
            self.advance(at, out);
        }
    }

    /// Requests new terms; the order is named by its id.
    pub fn replace(&mut self, at: Timestamp, order: &Order, terms: Terms, out: &mut Vec<Output>) {
        if self.begin(at, out) {
            self.receive_replace(order.id, terms, out);
            self.advance(at, out);
        }
    }

    pub fn cancel(&mut self, at: Timestamp, order: OrderId, out: &mut Vec<Output>) {
        if self.begin(at, out) {
            self.receive_cancel(order, out);
            self.advance(at, out);
        }
    }

    /// Runs everything that is due by then, each task at its own instant. Time never runs backwards: an earlier instant
    /// counts as the latest one.
    pub fn advance(&mut self, to: Timestamp, out: &mut Vec<Output>) {
        self.run(to, out);
        self.publish(out);
    }

    /// When the next task is due, without further requests.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.agenda.next_due()
    }

    /// The venue's snapshot: every order that is open or finished recently, with all its fills. An order that is still
    /// on its way to the book counts as open.
    pub fn picture(&self) -> Picture {
        self.registry.picture()
    }

    /// Subscribes its market data, beginning with tick and book; false if it is not listed here.
    pub fn subscribe(&mut self, security: SecurityId, out: &mut Vec<Output>) -> bool {
        let Some(market) = self.markets.get_mut(&security) else {
            return false;
        };
        market.tape.subscribe(true);
        self.touched.insert(security);
        self.publish(out);
        true
    }

    pub fn unsubscribe(&mut self, security: SecurityId) {
        if let Some(market) = self.markets.get_mut(&security) {
            market.tape.subscribe(false);
        }
    }

    /// Delayed reports keep their time.
    pub fn set_faults(&mut self, faults: Faults) {
        self.line.set(faults);
    }

    pub fn faults(&self) -> &Faults {
        self.line.faults()
    }

    /// No trading in the security until it is resumed; false if it is not listed here.
    pub fn halt(&mut self, security: SecurityId) -> bool {
        let market = self.markets.get_mut(&security);
        market.map(|market| market.halted = true).is_some()
    }

    /// Trading resumes with the next step of time.
    pub fn resume(&mut self, security: SecurityId) -> bool {
        let Some(market) = self.markets.get_mut(&security) else {
            return false;
        };
        if std::mem::take(&mut market.halted) {
            self.agenda.push(self.now, Task::Resume(security));
        }
        true
    }

    /// Earlier tasks run first; false if a request does not get through.
    fn begin(&mut self, at: Timestamp, out: &mut Vec<Output>) -> bool {
        self.run(at, out);
        !self.line.is_cut()
    }

    fn run(&mut self, to: Timestamp, out: &mut Vec<Output>) {
        let to = to.max(self.now);
        while let Some((due, task)) = self.agenda.take_due(to) {
            self.now = self.now.max(due);
            self.perform(task, to, out);
        }
        self.now = to;
    }

    fn perform(&mut self, task: Task, horizon: Timestamp, out: &mut Vec<Output>) {
        match task {
            Task::Say(said, at) => self.hand_over(said, at, out),
            Task::Phase => self.change_phase(out),
            Task::Resume(security) => self.go_on(security, out),
            Task::Expire(order) => self.expire(order, out),
            Task::Submit(order) => self.arrive(order, out),
            Task::Replace(order, terms) => self.change(order, terms, out),
            Task::Cancel(order) => self.withdraw(order, out),
            Task::Act(security) => self.let_act(security, horizon, out),
        }
    }

    /// Sends a request to the book; false if too many are on their way.
    fn send(&mut self, request: Task) -> bool {
        let has_room = self.agenda.requests_underway() < REQUESTS_UNDERWAY_MAX;
        if has_room {
            self.agenda.push(Timestamp(self.now.0.saturating_add(self.config.latency_nanos)), request);
        }
        has_room
    }

    /// The only way to change a client's order: first the record, then the report.
    fn record(&mut self, record: Record, out: &mut Vec<Output>) {
        self.registry.apply(&record);
        for order in record.orders() {
            if self.registry.get(order).is_none_or(|held| held.stage.is_done()) {
                self.agenda.drop_expiry(order);
            }
        }
        out.push(Output::Record(record));
    }

    fn say(&mut self, said: Said, out: &mut Vec<Output>) {
        let at = self.now;
        let [first, second] = self.line.departures(at);
        if let Some(leaves) = second {
            self.depart(said.clone(), leaves, out);
        }
        if let Some(leaves) = first {
            self.depart(said, leaves, out);
        }
    }

    fn depart(&mut self, said: Said, leaves: Timestamp, out: &mut Vec<Output>) {
        match leaves > self.now {
            true => self.agenda.push(leaves, Task::Say(said, self.now)),
            false => self.hand_over(said, self.now, out),
        }
    }

    fn hand_over(&self, said: Said, at: Timestamp, out: &mut Vec<Output>) {
        if !self.line.is_silent() {
            out.push(Output::Said { said, at });
        }
    }

    /// Changes while muted show in the first tick and book after it.
    fn publish(&mut self, out: &mut Vec<Output>) {
        if self.line.is_silent() {
            self.markets.values_mut().for_each(|market| market.tape.start_over());
            self.touched.extend(self.markets.keys());
            return;
        }
        for security in std::mem::take(&mut self.touched) {
            if let Some(market) = self.markets.get_mut(&security) {
                let news = market.publish(&self.config.feed, self.now);
                out.extend(news.into_iter().map(Output::Market));
            }
        }
    }

    fn ext_id(&self, number: u64) -> Text {
        format!("{}-O{number}", self.config.name).into()
    }

    fn exec_id(&self, number: u64) -> Text {
        format!("{}-{number}", self.config.name).into()
    }
}

/// With its opening quotes, on several levels at once.
fn open_market(
    config: &VenueConfig,
    sessions: &Sessions,
    listing: &Listing,
    at: Timestamp,
) -> Result<Market, ConfigError> {
    let mut market = Market::new(config, listing, at)?;
    market.ends = market.security.expiration().and_then(|day| sessions.last_close(day));
    market.open();
    Ok(market)
}
