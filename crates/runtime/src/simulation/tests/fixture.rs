//! Test fixture with one security, and a strategy that records its callbacks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use domain::command::{Command, ReferenceChange, StrategyFailure};
use domain::risk::EngineSettings;
use domain::{
    Account, AdapterName, Bar, BarSize, Event, Fill, OrderStatus, Quantity, ReferenceData, RiskLimits, RiskScope,
    SecurityId, StrategyId, Text, Tick, Timestamp,
};
use storage::price_files::{InvalidPriceData, PriceRecord, PriceSource};
use strategy::{CommandRejection, Context, PriceHistory, PriceKind, Strategy, StrategyIdentity, StrategyRunner, Timer};
use venue_sim::replay::{FillRule, ReplayConfig, ReplayVenue};

use crate::strategies::OnFailure;

use super::super::{
    Observer, ObserverResult, Simulation, SimulationError, SimulationResult, SimulationSetup, VenueSetup,
};

const START: Timestamp = Timestamp(1_735_689_600_000_000_000);
const NANOS_PER_SECOND: i64 = 1_000_000_000;
const DIARIST: StrategyId = StrategyId(2);
const IDLE_STRATEGY: StrategyId = StrategyId(3);

type ScriptedAction = Box<dyn FnMut(&mut Context<'_>) + Send>;

pub(super) struct SimulationFixture {
    rows: Vec<PriceRecord>,
    rule: FillRule,
    pub(super) feed_latency_seconds: i64,
    pub(super) order_latency_seconds: i64,
    pub(super) from: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    /// Of the diarist, at the risk gate.
    pub(super) orders_per_second: Option<u32>,
}

impl SimulationFixture {
    pub(super) fn ticks(quotes: &[(i64, &str, &str)]) -> Self {
        let rows = quotes.iter().map(|(at, bid, ask)| PriceRecord::Tick(tick(*at, bid, ask)));
        Self::new(rows.collect(), FillRule::Touch)
    }

    pub(super) fn bars(bars: &[(i64, &str, &str, &str, &str)]) -> Self {
        let rows = bars.iter().map(|(at, open, high, low, close)| PriceRecord::Bar(bar(*at, open, high, low, close)));
        Self::new(rows.collect(), FillRule::NextBarOpen)
    }

    fn new(rows: Vec<PriceRecord>, rule: FillRule) -> Self {
        Self {
            rows,
            rule,
            feed_latency_seconds: 0,
            order_latency_seconds: 0,
            from: None,
            until: None,
            orders_per_second: None,
        }
    }

    pub(super) fn days(bars: &[(i64, &str)]) -> Self {
        let day = |(number, close): &(i64, &str)| {
            PriceRecord::Bar(Bar { size: BarSize::Day1, ..bar(number * 86_400, close, close, close, close) })
        };
        Self::new(bars.iter().map(day).collect(), FillRule::NextBarOpen)
    }

    /// Ticks that come after so many days and seconds.
    pub(super) fn ticks_of_days(quotes: &[(i64, i64, &str, &str)]) -> Self {
        let quotes: Vec<_> = quotes.iter().map(|(day, at, bid, ask)| (day * 86_400 + at, *bid, *ask)).collect();
        Self::ticks(&quotes)
    }

    /// The same, and longer bars beside it.
    pub(super) fn with_bars(mut self, size: BarSize, bars: &[(i64, &str, &str, &str, &str)]) -> Self {
        let longer = bars.iter().map(|(at, open, high, low, close)| bar(*at, open, high, low, close));
        self.rows.extend(longer.map(|bar| PriceRecord::Bar(Bar { size, ..bar })));
        self.rows.sort_by_key(PriceRecord::at);
        self
    }

    /// The callback log of a run that ends well.
    pub(super) fn run(self, script: impl FnOnce(&mut Script)) -> Vec<String> {
        let delivery_log = Arc::new(Mutex::new(Vec::new()));
        self.play(script, &delivery_log, &mut ()).unwrap();
        let lines = delivery_log.lock().unwrap();
        lines.clone()
    }

    pub(super) fn try_run(self, script: impl FnOnce(&mut Script)) -> Result<SimulationResult, SimulationError> {
        self.play(script, &Arc::default(), &mut ())
    }

    /// The order statuses that the observer gets.
    pub(super) fn statuses(self, script: impl FnOnce(&mut Script)) -> Vec<String> {
        self.observe(script).statuses
    }

    pub(super) fn observe(self, script: impl FnOnce(&mut Script)) -> RecordingObserver {
        let mut looker = RecordingObserver::default();
        self.play(script, &Arc::default(), &mut looker).unwrap();
        looker
    }

    fn play(
        self,
        script: impl FnOnce(&mut Script),
        delivery_log: &Arc<Mutex<Vec<String>>>,
        observer: &mut dyn Observer,
    ) -> Result<SimulationResult, SimulationError> {
        let mut acts = Script::default();
        script(&mut acts);
        let reference = reference();
        let diarist = LoggingStrategy { script: acts, delivery_log: delivery_log.clone(), seen: 0 };
        let who = StrategyIdentity { id: DIARIST, name: "DIARIST".into(), run: 1 };
        let runner = StrategyRunner::new(who, Box::new(diarist), reference.clone());
        let who = StrategyIdentity { id: IDLE_STRATEGY, name: "IDLE_STRATEGY".into(), run: 1 };
        let beside = StrategyRunner::new(who, Box::new(IdleStrategy), reference.clone());
        let setup = self.setup(&reference, vec![runner, beside]);
        Simulation::new(setup, Box::new(Rows(self.rows.into())), observer)?.run()
    }

    fn setup(&self, reference: &ReferenceData, seats: Vec<StrategyRunner>) -> SimulationSetup {
        let mut venue = ReplayVenue::new(ReplayConfig {
            name: "REPLAY".into(),
            rule: self.rule,
            order_latency_nanos: self.order_latency_seconds * NANOS_PER_SECOND,
            slippage_ticks: 0,
            fee_rate: None,
        });
        venue.list_security(&samples::stock(1, "TEST"), &samples::exchange());
        let changes = vec![
            ReferenceChange::Exchange(samples::exchange()),
            ReferenceChange::Security(samples::stock(1, "TEST")),
            ReferenceChange::Account(account()),
            ReferenceChange::Strategy((*reference.strategies[&DIARIST]).clone()),
            ReferenceChange::Strategy((*reference.strategies[&IDLE_STRATEGY]).clone()),
        ];
        let mut commands = vec![Command::Reference(changes), Command::Record(samples::credit(1, 1_000_000))];
        if self.orders_per_second.is_some() {
            let limits = RiskLimits { orders_per_second: self.orders_per_second, ..RiskLimits::default() };
            commands.push(Command::SetLimits { scope: RiskScope::Strategy(DIARIST), limits });
        }
        let recorded = |row: &PriceRecord| match row {
            PriceRecord::Bar(bar) => Some((bar.security, bar.size)),
            _ => None,
        };
        SimulationSetup {
            settings: EngineSettings::default(),
            commands,
            opening_cash: vec![],
            venues: vec![VenueSetup {
                adapter: AdapterName("REPLAY".into()),
                exchanges: vec![samples::EXCHANGE],
                securities: vec![SecurityId(1)],
                venue,
            }],
            runners: seats,
            on_failure: OnFailure::Cancel,
            from: self.from,
            until: self.until,
            feed_latency_nanos: self.feed_latency_seconds * NANOS_PER_SECOND,
            valuation_nanos: NANOS_PER_SECOND,
            recorded_bars: self.rows.iter().filter_map(recorded).collect(),
            priced: self.rows.iter().filter(|row| recorded(row).is_none()).map(PriceRecord::security).collect(),
            progress: Arc::default(),
        }
    }
}

#[derive(Default)]
pub(super) struct RecordingObserver {
    pub(super) statuses: Vec<String>,
    pub(super) falls: Vec<String>,
    /// What the diarist was worth, and when.
    pub(super) values: Vec<String>,
    pub(super) days: Vec<String>,
    /// Generic events of the one that looks after itself.
    pub(super) beside: usize,
}

impl Observer for RecordingObserver {
    fn on_begin(&mut self, _: Timestamp, _: &Arc<ReferenceData>) -> ObserverResult {
        self.statuses.clear();
        Ok(())
    }

    fn on_events(&mut self, at: Timestamp, events: &[Event]) -> ObserverResult {
        for event in events {
            match event {
                Event::OrderStatus(status) => self.statuses.push(status.status.name().to_owned()),
                Event::Portfolio(value) if value.strategy == DIARIST => {
                    self.values.extend(value.net_liq_value.map(|worth| format!("{at} {}", worth.0.normalize())));
                }
                Event::Generic(_) => self.beside += 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn on_day_end(&mut self, at: Timestamp) -> ObserverResult {
        self.days.push(at.to_string());
        Ok(())
    }

    fn on_failure(&mut self, _: Timestamp, strategy: &Text, failure: &StrategyFailure) {
        self.falls.push(format!("{strategy} {}", failure.text));
    }
}

/// Counts prices aloud, whatever happens to others.
struct IdleStrategy;

impl Strategy for IdleStrategy {
    fn init(&mut self, context: &mut Context<'_>) {
        context.subscribe(SecurityId(1), PriceKind::Ticks);
    }

    fn on_tick(&mut self, _: &Tick, context: &mut Context<'_>) {
        context.publish("price", "{}");
    }
}

struct Rows(std::collections::VecDeque<PriceRecord>);

impl PriceSource for Rows {
    fn next(&mut self) -> Result<Option<PriceRecord>, InvalidPriceData> {
        Ok(self.0.pop_front())
    }

    fn progress(&self) -> (u64, u64) {
        (0, self.0.len() as u64)
    }
}

/// What the strategy does, and at which price.
#[derive(Default)]
pub(super) struct Script {
    init: Option<ScriptedAction>,
    start: Option<ScriptedAction>,
    ticks: BTreeMap<usize, ScriptedAction>,
    bars: BTreeMap<usize, ScriptedAction>,
    insists: bool,
}

impl Script {
    pub(super) fn on_init(&mut self, deed: impl FnMut(&mut Context<'_>) + Send + 'static) {
        self.init = Some(Box::new(deed));
    }

    pub(super) fn on_start(&mut self, deed: impl FnMut(&mut Context<'_>) + Send + 'static) {
        self.start = Some(Box::new(deed));
    }

    pub(super) fn on_tick(&mut self, number: usize, deed: impl FnMut(&mut Context<'_>) + Send + 'static) {
        self.ticks.insert(number, Box::new(deed));
    }

    pub(super) fn on_bar(&mut self, number: usize, deed: impl FnMut(&mut Context<'_>) + Send + 'static) {
        self.bars.insert(number, Box::new(deed));
    }

    /// Sends the command again whenever it is refused.
    pub(super) fn insist(&mut self) {
        self.insists = true;
        self.on_tick(0, |context| drop(context.buy(SecurityId(1), half())));
    }
}

fn half() -> Quantity {
    "0.5".parse().unwrap()
}

struct LoggingStrategy {
    script: Script,
    delivery_log: Arc<Mutex<Vec<String>>>,
    seen: usize,
}

impl LoggingStrategy {
    fn note(&self, context: &Context<'_>, line: &str) {
        let seconds = (context.now().0 - START.0) / NANOS_PER_SECOND;
        self.delivery_log.lock().unwrap().push(format!("{seconds} {line}").trim_end().to_owned());
    }
}

impl Strategy for LoggingStrategy {
    fn init(&mut self, context: &mut Context<'_>) {
        self.note(context, "init");
        if let Some(deed) = &mut self.script.init {
            deed(context);
        }
    }

    fn prefeed(&mut self, history: &PriceHistory, context: &mut Context<'_>) {
        let closes: Vec<_> =
            history.bars(SecurityId(1), BarSize::Min1).iter().map(|bar| bar.close.to_string()).collect();
        let ticks =
            history.ticks(SecurityId(1)).iter().map(|tick| format!("{}x{}", tick.bid.unwrap(), tick.ask.unwrap()));
        let known: Vec<_> = closes.into_iter().chain(ticks).collect();
        self.note(context, &format!("prefeed {}", known.join(" ")));
    }

    fn start(&mut self, context: &mut Context<'_>) {
        self.note(context, "start");
        if let Some(deed) = &mut self.script.start {
            deed(context);
        }
    }

    fn run(&mut self, context: &mut Context<'_>) {
        self.note(context, "run");
    }

    fn exit(&mut self, context: &mut Context<'_>) {
        self.note(context, "exit");
    }

    fn on_tick(&mut self, tick: &Tick, context: &mut Context<'_>) {
        self.note(context, &format!("tick {} x {}", tick.bid.unwrap(), tick.ask.unwrap()));
        if let Some(deed) = self.script.ticks.get_mut(&self.seen) {
            deed(context);
        }
        self.seen += 1;
    }

    fn on_bar(&mut self, bar: &Bar, context: &mut Context<'_>) {
        self.note(context, &format!("bar {} {} {} {}", bar.open, bar.high, bar.low, bar.close));
        if let Some(deed) = self.script.bars.get_mut(&self.seen) {
            deed(context);
        }
        self.seen += 1;
    }

    fn on_order_status(&mut self, status: &OrderStatus, context: &mut Context<'_>) {
        self.note(context, &format!("status {}", status.status.name()));
    }

    fn on_fill(&mut self, fill: &Fill, context: &mut Context<'_>) {
        self.note(context, &format!("fill {} @ {} {}", fill.quantity, fill.price, fill.ext_id));
    }

    fn on_timer(&mut self, timer: &Timer, context: &mut Context<'_>) {
        self.note(context, &format!("timer {}", timer.name));
    }

    fn on_refusal(&mut self, refused: &CommandRejection, context: &mut Context<'_>) {
        self.note(context, &format!("refused {}", refused.code));
        if self.script.insists {
            context.buy(SecurityId(1), half());
        }
    }

    fn on_end_of_simulation(&mut self, context: &mut Context<'_>) {
        self.note(context, "end");
    }
}

fn reference() -> Arc<ReferenceData> {
    let mut reference = ReferenceData::default();
    let stock = samples::stock(1, "TEST");
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    reference.securities.insert(stock.id, Arc::new(stock));
    reference.accounts.insert(account().id, Arc::new(account()));
    let diarist = domain::StrategyRecord { id: DIARIST, name: "DIARIST".into(), auto_activate: true };
    reference.strategies.insert(DIARIST, Arc::new(diarist));
    let bystander = domain::StrategyRecord { id: IDLE_STRATEGY, name: "IDLE_STRATEGY".into(), auto_activate: true };
    reference.strategies.insert(IDLE_STRATEGY, Arc::new(bystander));
    Arc::new(reference)
}

fn account() -> Account {
    Account { adapter_type: "REPLAY".into(), ..samples::account(1, "Desk") }
}

/// So many seconds after the beginning.
pub(super) fn later(seconds: i64) -> Timestamp {
    START.plus_seconds(seconds)
}

fn tick(at: i64, bid: &str, ask: &str) -> Tick {
    Tick {
        at: later(at),
        last: None,
        last_at: None,
        vol_last: None,
        bid: Some(bid.parse().unwrap()),
        ask: Some(ask.parse().unwrap()),
        vol_bid: None,
        vol_ask: None,
        vol: None,
        ..samples::tick(1)
    }
}

fn bar(at: i64, open: &str, high: &str, low: &str, close: &str) -> Bar {
    let [open, high, low, close] = [open, high, low, close].map(|text| text.parse().unwrap());
    let (security, feed, size, vol) = (SecurityId(1), "F".into(), BarSize::Min1, Quantity::from(1));
    Bar { security, feed, at: later(at), size, open, high, low, close, vol, vwap: None }
}
