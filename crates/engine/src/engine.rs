//! Engine: applies inputs and answers queries. The runtime calls it and supplies the time.

use domain::command::Command;
use domain::query::{AdapterStatus, Answer, EngineResult};
use domain::{
    CommandEnvelope, Input, Mark, MarketPhase, Query, RecalledKeys, Report, SecurityId, Sequenced, Timestamp,
};

use crate::adapters::line_monitor::LineMonitor;
use crate::market::MarketState;
use crate::orders::registry::retired_keys::{RetiredKeyLookup, RetiredKeys};
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// The market half is fed by prices and lost at a restart; the trading half is journalled and replayed.
#[derive(Debug, Default)]
pub struct Engine {
    market: MarketState,
    trading: Trading,
    lines: LineMonitor,
}

/// A snapshot that cannot be read.
#[derive(Debug)]
pub struct InvalidSnapshot(pub minicbor::decode::Error);

impl Engine {
    pub fn apply(&mut self, input: &Sequenced<Input>, out: &mut Outbox) -> EngineResult {
        let moment = Moment::from(input);
        match &input.payload {
            // Prices are not journalled: they must not change the trading half, not even its clock.
            Input::Market(data) => self.market.apply(data, moment.at, out),
            Input::Command(envelope) => return self.on_command(moment, envelope, out),
            Input::Report(report) => {
                self.trading.advance_to(moment).on_report(moment, report, out);
                self.trading.trim_after_report(moment, report, out);
                self.trading.release_cleared(moment, out);
                self.trading.settle_inquiry(report.kind.order());
                self.trading.record_breaks(moment, report, out);
                self.trading.list_fills_of_traded(moment, &report.adapter, &report.kind);
                self.trading.list_fills_of_ended(moment, &report.adapter, &report.kind);
                self.trading.clear_answered();
                let Self { lines, trading, .. } = self;
                lines.on_report(moment.at, report, || trading.adapters.lines(&report.adapter));
            }
            Input::Marks(marks) => self.trading.advance_to(moment).on_marks(moment, marks, out),
            Input::Clock => self.trading.advance_to(moment).on_clock(moment, out),
            Input::RetiredOrders(told) => self.trading.advance_to(moment).on_retired_orders(told),
        }
        Ok(Answer::Done)
    }

    fn on_command(&mut self, moment: Moment, envelope: &CommandEnvelope, out: &mut Outbox) -> EngineResult {
        let reply = self.trading.advance_to(moment).on_command(moment, envelope, out);
        self.trading.trim_after_command(moment, &envelope.command, out);
        self.trading.release_cleared(moment, out);
        if matches!(envelope.command, Command::Reference(_)) {
            self.market.register_securities(self.trading.reference.data());
        }
        reply
    }

    /// Answers a query; changes nothing.
    pub fn answer(&self, at: Timestamp, sequence: u64, query: &Query) -> EngineResult {
        match query {
            Query::Ticks(filter) => Ok(Answer::Ticks(self.market.ticks(*filter))),
            Query::Book(security) => Ok(Answer::Book(self.market.book(*security))),
            Query::Bars(security, size) => Ok(Answer::Bars(self.market.bars(*security, *size))),
            Query::Adapters => Ok(Answer::Adapters(self.adapter_statuses())),
            trading => self.trading.query(Moment { sequence, at }, trading),
        }
    }

    fn adapter_statuses(&self) -> Vec<AdapterStatus> {
        let mut statuses = self.trading.adapters.statuses();
        let last_price = |status: &AdapterStatus| {
            let securities = self.trading.reference.data().securities.values();
            let listed = securities.filter(|security| status.exchanges.contains(&security.exchange));
            listed.filter_map(|security| self.market.tick(security.id)).map(|tick| tick.at).max()
        };
        self.lines.complete(&mut statuses, last_price);
        statuses
    }

    /// The newest prices that changed since the last call and are relevant: of securities with positions, open orders
    /// or subscriptions, of the given securities, and of every currency pair.
    pub fn changed_marks(&mut self, subjects: &[SecurityId]) -> Vec<Mark> {
        let subjects = subjects.iter().filter_map(|security| self.market.changed_mark(*security));
        let mut marks: Vec<_> = subjects.collect();
        let trading = &self.trading;
        marks.extend(self.market.changed_marks(|security| trading.needs_mark(security)));
        marks
    }

    /// As [`Self::changed_marks`], with prices that changed before they became relevant: once a second.
    pub fn all_changed_marks(&mut self) -> Vec<Mark> {
        let trading = &self.trading;
        self.market.all_changed_marks(|security| trading.needs_mark(security))
    }

    /// Advances the market clock: bars that ended are closed.
    pub fn advance_market(&mut self, at: Timestamp, out: &mut Outbox) {
        self.market.advance(at, out);
    }

    /// Flags the prices of feeds that are silent for longer than they usually pause. A matter of live prices: recorded ones
    /// have no connection that could be lost.
    pub fn flag_silent_feeds(&mut self, at: Timestamp, out: &mut Outbox) {
        let Self { market, trading, .. } = self;
        market.flag_silent_feeds(at, |exchange| trading.reference.phase(exchange, at) == MarketPhase::Continuous, out);
    }

    /// How many messages of feeds were invalid and dropped.
    pub fn dropped_prices(&self) -> u64 {
        self.market.dropped()
    }

    /// Whether a command that names an order names a known one. Otherwise it may mean an order that is still in the
    /// inbox.
    pub fn knows_order(&self, asked: &CommandEnvelope) -> bool {
        match &asked.command {
            Command::Cancel(cancel) => self.trading.find_client_order(&asked.caller, cancel.int_id.as_str()).is_some(),
            _ => true,
        }
    }

    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.trading.next_deadline()
    }

    /// Whether a clock input at that instant would settle expired securities: the newest marks must be applied before.
    pub fn settles_at(&self, at: Timestamp) -> bool {
        self.trading.settles_at(at)
    }

    pub fn reference(&self) -> &std::sync::Arc<domain::ReferenceData> {
        self.trading.reference.data()
    }

    /// The highest number that an order was given.
    pub fn last_order(&self) -> domain::OrderId {
        domain::OrderId(self.trading.ids.last_order())
    }

    pub fn settings(&self) -> &domain::risk::EngineSettings {
        &self.trading.settings
    }

    /// The whole trading state, in one encoding: equal states have equal bytes.
    pub fn encode_state(&self) -> Vec<u8> {
        self.trading.encode_state()
    }

    /// Whether a snapshot is of this state. One of before the log of securities that changed does not know when each did.
    pub fn is_state(&self, snapshot: &[u8]) -> bool {
        let state = self.encode_state();
        if state == snapshot {
            return true;
        }
        let Ok(mut read) = Self::from_state(snapshot) else { return false };
        read.trading.reference.take_change_log(&self.trading.reference);
        read.encode_state() == state
    }

    /// A copy of the trading state, to be encoded on another thread: copying takes a fraction of the time of encoding.
    pub fn snapshot(&self) -> StateSnapshot {
        StateSnapshot(self.trading.copy_for_disk())
    }

    /// Whether an index on disk takes the keys of retired orders.
    pub fn has_retired_index(&self) -> bool {
        self.trading.orders.has_index()
    }

    /// The index must have every key that was retired up to this sequence: the state has forgotten them.
    pub fn forgotten_through(&self) -> u64 {
        self.trading.orders.forgotten_through()
    }

    /// The sequence of [`Self::keys_to_store`], which costs nothing.
    pub fn stores_through(&self) -> Option<u64> {
        self.trading.orders.stores_through()
    }

    /// Keys of retired orders that the index has to take; absent where that is nothing.
    pub fn keys_to_store(&self) -> Option<RetiredKeys> {
        self.trading.orders.keys_to_store()
    }

    /// What a command needs back from the index.
    pub fn recall_for_command(&self, asked: &CommandEnvelope, index: &dyn RetiredKeyLookup, found: &mut RecalledKeys) {
        self.trading.recall_for_command(asked, index, found);
    }

    /// What the answer to a query needs back from the index.
    pub fn recall_for_query(&self, query: &Query, index: &dyn RetiredKeyLookup, found: &mut RecalledKeys) {
        self.trading.recall_for_query(query, index, found);
    }

    /// What a report needs back from the index.
    pub fn recall_for_report(&self, report: &Report, index: &dyn RetiredKeyLookup, found: &mut RecalledKeys) {
        self.trading.recall_for_report(report, index, found);
    }

    /// How many orders the state has: open ones, and those of today and yesterday.
    pub fn orders_kept(&self) -> usize {
        self.trading.orders.kept()
    }

    /// The process has started: no feed stands behind recovered prices, so they are stale until new ones come.
    pub fn doubt_prices(&mut self) {
        let marks = &self.trading.marks;
        self.market.recover(|security| marks.get(security));
    }

    pub fn from_state(bytes: &[u8]) -> Result<Self, InvalidSnapshot> {
        let mut trading: Trading = minicbor::decode(bytes).map_err(InvalidSnapshot)?;
        trading.rebuild_indexes();
        let mut market = MarketState::default();
        market.register_securities(trading.reference.data());
        Ok(Self { market, trading, lines: LineMonitor::default() })
    }
}

/// A frozen copy of the trading state.
pub struct StateSnapshot(Trading);

impl StateSnapshot {
    /// The same bytes as those of the engine that was copied.
    pub fn encode_state(&self) -> Vec<u8> {
        self.0.encode_state()
    }
}

/// The security of a command: its newest price must be applied before the command.
pub fn security_of(command: &Command) -> Option<SecurityId> {
    match command {
        Command::Place(ask) => Some(ask.security),
        Command::Record(ask) => ask.security,
        _ => None,
    }
}
