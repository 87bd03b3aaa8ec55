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
//! - With `replace` = cancel-replace, any replace cancels the order and places a new leg with an id of its own; one with fills
//!   is not replaced.
//! - Every report has a number, so that a client knows when it missed one: a gap is told before the next report, or after
//!   a second.
//! - A known order id never makes a second order: the last report on the first one is repeated, without a record. There
//!   is no report while the first is still on its way, or finished so long ago that only its id is kept.

mod order_entry;
mod trading;
mod changes;
mod clock;
mod following;
mod legs;
mod line;
mod restore;
mod revisions;
mod statements;
mod strangers;

pub use revisions::TradeRevision;
pub use statements::{FILLS_PER_PAGE, OPEN_ORDERS_PER_PAGE};

use std::collections::{BTreeMap, BTreeSet};

use domain::command::MarketData;
use domain::report::{ReplaceKind, ReportKind, VenueSnapshot};
use domain::{AccountId, Date, MarketPhase, OrderId, SecurityId, Text, Timestamp};

use crate::accounts::VenueAccounts;
use crate::client_orders::ClientOrders;
use crate::config::{ConfigError, ListedSecurity, REQUESTS_UNDERWAY_MAX, VenueConfig};
use crate::faults::{Faults, ReportChannel};
use crate::market::SecurityMarket;
use crate::record::VenueRecord;
use crate::task_queue::{TaskQueue, VenueTask};
use crate::venue_calendar::VenueCalendar;

/// An output of a call; outputs must be carried out in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VenueOutput {
    /// To be written to the ledger before anything after it is released.
    Record(VenueRecord),
    /// For the client; `at` is the venue's own time.
    Report {
        said: ReportKind,
        at: Timestamp,
    },
    Market(MarketData),
}

#[derive(Debug)]
pub struct VenueSimulator {
    config: VenueConfig,
    sessions: VenueCalendar,
    markets: BTreeMap<SecurityId, SecurityMarket>,
    orders: ClientOrders,
    accounts: VenueAccounts,
    tasks: TaskQueue,
    reports: ReportChannel,
    phase: MarketPhase,
    /// The exchange day whose volume is counted.
    day: Option<Date>,
    now: Timestamp,
    /// Accounts by their owner number in the books.
    owners: BTreeMap<AccountId, u32>,
    /// The clients' numbers of orders that somebody else placed, by the venue's.
    client_numbers: BTreeMap<OrderId, OrderId>,
    /// Markets with something to publish.
    changed_markets: BTreeSet<SecurityId>,
}

impl VenueSimulator {
    /// The opening quotes have several levels at once.
    pub fn new(config: VenueConfig, at: Timestamp) -> Result<Self, ConfigError> {
        config.check()?;
        let sessions = VenueCalendar::new(config.exchange.clone(), at)?;
        let mut markets = BTreeMap::new();
        for listing in &config.listings {
            markets.insert(listing.security.id, open_market(&config, &sessions, listing, at)?);
        }
        let mut agenda = TaskQueue::default();
        // Starts closed; the first step of time enters the current phase.
        agenda.push(at, VenueTask::Phase);
        Ok(Self {
            sessions,
            markets,
            orders: ClientOrders::new(config.replace == ReplaceKind::CancelReplace),
            accounts: VenueAccounts::default(),
            tasks: agenda,
            reports: ReportChannel::new(config.faults),
            phase: MarketPhase::Closed,
            day: None,
            now: at,
            owners: BTreeMap::new(),
            client_numbers: BTreeMap::new(),
            changed_markets: BTreeSet::new(),
            config,
        })
    }

    /// Lists the security from the next step of time on; false where it is listed already.
    pub fn list_security(&mut self, listing: &ListedSecurity) -> Result<bool, ConfigError> {
        let id = listing.security.id;
        if self.markets.contains_key(&id) {
            return Ok(false);
        }
        if listing.security.exchange != self.config.exchange.id {
            return Err(ConfigError::ListedElsewhere(id));
        }
        let market = open_market(&self.config, &self.sessions, listing, self.now)?;
        self.markets.insert(id, market);
        self.tasks.push(self.now, VenueTask::Resume(id));
        Ok(true)
    }

    /// Runs everything that is due by then, each task at its own instant. Time never runs backwards: an earlier instant
    /// counts as the latest one.
    pub fn advance(&mut self, to: Timestamp, out: &mut Vec<VenueOutput>) {
        self.run_due(to, out);
        self.publish(out);
    }

    /// When the next task is due, without further requests.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.tasks.next_due()
    }

    /// The venue's snapshot: every order that is open or finished recently, with all its fills. An order that is still
    /// on its way to the book counts as open.
    pub fn snapshot(&self) -> VenueSnapshot {
        self.orders.snapshot()
    }

    /// Records that restore the same state as all records so far.
    pub fn compacted_ledger(&self) -> impl Iterator<Item = VenueRecord> {
        self.orders.compacted().chain(self.accounts.compacted())
    }

    /// Subscribes its market data, beginning with tick and book; false if it is not listed here.
    pub fn subscribe(&mut self, security: SecurityId, out: &mut Vec<VenueOutput>) -> bool {
        let Some(market) = self.markets.get_mut(&security) else {
            return false;
        };
        market.tape.subscribe(true);
        self.changed_markets.insert(security);
        self.publish(out);
        true
    }

    pub fn unsubscribe(&mut self, security: SecurityId) {
        if let Some(market) = self.markets.get_mut(&security) {
            market.tape.subscribe(false);
        }
    }

    /// Whether the venue has ever received the order.
    pub fn knows(&self, order: OrderId) -> bool {
        self.orders.contains(order)
    }

    /// Delayed reports keep their time.
    pub fn set_faults(&mut self, faults: Faults) {
        self.reports.set(faults);
    }

    pub fn faults(&self) -> &Faults {
        self.reports.faults()
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
            self.tasks.push(self.now, VenueTask::Resume(security));
        }
        true
    }

    /// Earlier tasks run first; false if a request does not get through.
    fn start_request(&mut self, at: Timestamp, out: &mut Vec<VenueOutput>) -> bool {
        self.run_due(at, out);
        !self.reports.is_disconnected()
    }

    fn run_due(&mut self, to: Timestamp, out: &mut Vec<VenueOutput>) {
        let to = to.max(self.now);
        while let Some((due, task)) = self.tasks.pop_due(to) {
            self.now = self.now.max(due);
            self.run_task(task, to, out);
        }
        self.now = to;
    }

    fn run_task(&mut self, task: VenueTask, horizon: Timestamp, out: &mut Vec<VenueOutput>) {
        match task {
            VenueTask::Report(said, at) => self.emit_report(said, at, out),
            VenueTask::Phase => self.change_phase(out),
            VenueTask::Resume(security) => self.resume_trading(security, out),
            VenueTask::Expire(order) => self.expire(order, out),
            VenueTask::Submit(order) => self.enter_book(order, out),
            VenueTask::Replace(order, terms) => self.apply_replace(order, terms, out),
            VenueTask::Cancel(order) => self.apply_cancel(order, out),
            VenueTask::CancelLeg(leg) => self.apply_leg_cancel(leg, out),
            VenueTask::Arrive(request) => self.receive_request(request, out),
            VenueTask::Inquire(order, as_of) => self.answer_inquiry(order, as_of, out),
            VenueTask::Statement(account, as_of) => self.answer_statement(account, as_of, out),
            VenueTask::ListOpenOrders(as_of) => self.answer_open_orders(as_of, out),
            VenueTask::ListFills(as_of, after) => self.answer_fills(as_of, after, out),
            VenueTask::Heartbeat => self.send_heartbeat(out),
            VenueTask::Participate(security) => self.run_participants(security, horizon, out),
        }
    }

    /// Sends a request to the book; false if too many are on their way.
    fn send(&mut self, request: VenueTask) -> bool {
        let has_room = self.tasks.requests_in_flight() < REQUESTS_UNDERWAY_MAX;
        if has_room {
            self.tasks.push(Timestamp(self.now.0.saturating_add(self.config.latency_nanos)), request);
        }
        has_room
    }

    /// The only way to change a client's order: first the record, then the report.
    fn record(&mut self, record: VenueRecord, out: &mut Vec<VenueOutput>) {
        self.orders.apply(&record);
        self.accounts.apply(&record);
        for order in record.orders() {
            if self.orders.get(order).is_none_or(|held| held.stage.is_done()) {
                self.tasks.drop_expiry(order);
            }
        }
        out.push(VenueOutput::Record(record));
    }

    fn send_report(&mut self, said: ReportKind, out: &mut Vec<VenueOutput>) {
        if let Some(said) = self.as_client_hears(said) {
            self.send_told(said, out);
        }
    }

    /// A report under the client's own number.
    fn send_told(&mut self, said: ReportKind, out: &mut Vec<VenueOutput>) {
        let at = self.now;
        let [first, second] = self.reports.send_times(at);
        if let Some(leaves) = second {
            self.schedule_report(said.clone(), leaves, out);
        }
        match first {
            Some(leaves) => self.schedule_report(said, leaves, out),
            None => self.lose_report(),
        }
    }

    fn schedule_report(&mut self, said: ReportKind, leaves: Timestamp, out: &mut Vec<VenueOutput>) {
        match leaves > self.now {
            true => self.tasks.push(leaves, VenueTask::Report(said, self.now)),
            false => self.emit_report(said, self.now, out),
        }
    }

    fn emit_report(&mut self, said: ReportKind, at: Timestamp, out: &mut Vec<VenueOutput>) {
        // Without a session nothing is missed: the next one begins with a snapshot.
        match self.reports.is_silent() {
            true if self.reports.is_disconnected() => {}
            true => self.lose_report(),
            false => {
                self.report_gap(out);
                out.push(VenueOutput::Report { said, at });
            }
        }
    }

    /// Changes while muted show in the first tick and book after it.
    fn publish(&mut self, out: &mut Vec<VenueOutput>) {
        if self.reports.is_silent() {
            self.markets.values_mut().for_each(|market| market.tape.reset());
            self.changed_markets.extend(self.markets.keys());
            return;
        }
        for security in std::mem::take(&mut self.changed_markets) {
            if let Some(market) = self.markets.get_mut(&security) {
                let news = market.publish(&self.config.feed, self.now);
                out.extend(news.into_iter().map(VenueOutput::Market));
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
    sessions: &VenueCalendar,
    listing: &ListedSecurity,
    at: Timestamp,
) -> Result<SecurityMarket, ConfigError> {
    let mut market = SecurityMarket::new(config, listing, at)?;
    market.ends = market.security.expiration().and_then(|day| sessions.last_close(day));
    market.open();
    Ok(market)
}
