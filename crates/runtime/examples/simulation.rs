//! Rialto as one more line beside the peers of the shared benchmark: the moving-average strategy over their data, which is
//! read from disk while it runs.
//!
//! `simulation DATA_DIR quotes|bars FAST SLOW [N]`; with FAST = 0 the strategy only counts. Prints one line of JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::time::Instant;

use domain::command::{Command, RecordTransaction, ReferenceChange};
use domain::risk::EngineSettings;
use domain::{
    Account, AccountId, AdapterName, Bar, BarSize, Currency, Decimal, Price, ReferenceData, Security, SecurityId,
    SecurityKind, StrategyId, Text, Tick, Timestamp,
};
use runtime::simulation::{Simulation, SimulationSetup, VenueSetup};
use rustix::time::{ClockId, clock_gettime};
use storage::price_files::{InvalidPriceData, PriceRecord, PriceSource};
use strategy::{Context, PriceKind, Strategy, StrategyIdentity, StrategyRunner};
use venue_sim::replay::{FillRule, ReplayConfig, ReplayVenue};

const SECURITY: SecurityId = SecurityId(1);
const TRADER: StrategyId = StrategyId(2);
/// Prices of the shared data are in ticks of 0.00001.
const SCALE: u32 = 5;
const NANOS_PER_MINUTE: i64 = 60_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, kind, fast, slow, rest @ ..] = &words[..] else {
        return Err("usage: simulation DATA_DIR quotes|bars FAST SLOW [N]".into());
    };
    let rows = rest.first().map_or(Ok(u64::MAX), |text| text.parse())?;
    let kind = Kind::of(kind)?;
    let source = Shared::open(folder, kind, rows)?;
    let reference = reference();
    let setup = setup(kind, &reference, runner(kind, fast, slow, &reference)?);
    let mut nobody = ();
    let (wall, cpu) = (Instant::now(), processor_seconds());
    let ended = Simulation::new(setup, Box::new(source), &mut nobody)?.run()?;
    let (wall, cpu) = (wall.elapsed().as_secs_f64(), processor_seconds() - cpu);
    let per_cpu_second = ended.events as f64 / cpu;
    println!(
        "{{\"engine\":\"rialto-{}\",\"kind\":\"{}\",\"fast\":{fast},\"slow\":{slow},\"events\":{},\"orders\":{},\
         \"fills\":{},\"run_s\":{wall:.3},\"cpu_s\":{cpu:.3},\"events_per_cpu_s\":{per_cpu_second:.0},\"peak_rss_mb\":{},\
         \"digest\":\"{}\"}}",
        env!("CARGO_PKG_VERSION"),
        kind.name(),
        ended.events,
        ended.orders,
        ended.fills,
        peak_megabytes(),
        &ended.digest[..16],
    );
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quotes,
    Bars,
}

impl Kind {
    fn of(text: &str) -> Result<Self, String> {
        match text {
            "quotes" => Ok(Self::Quotes),
            "bars" => Ok(Self::Bars),
            other => Err(format!("{other} is neither quotes nor bars")),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::Bars => "bars",
        }
    }

    /// 64-bit numbers of one row.
    fn numbers(self) -> usize {
        match self {
            Self::Quotes => 5,
            Self::Bars => 6,
        }
    }
}

/// The binary files that all engines of the benchmark share, one row at a time.
struct Shared {
    file: BufReader<File>,
    kind: Kind,
    feed: Text,
    left: u64,
}

/// One row of a file; that of a quote leaves the last number empty.
type Row = [i64; 6];

impl Shared {
    fn open(folder: &str, kind: Kind, rows: u64) -> Result<Self, Box<dyn Error>> {
        let file = File::open(format!("{folder}/{}.bin", kind.name()))?;
        let file = BufReader::with_capacity(256 * 1024, file);
        Ok(Self { file, kind, feed: "SHARED".into(), left: rows })
    }

    fn row(&mut self) -> Option<Row> {
        self.left = self.left.checked_sub(1)?;
        let mut bytes = [0; size_of::<Row>()];
        self.file.read_exact(&mut bytes[..self.kind.numbers() * 8]).ok()?;
        let (numbers, _) = bytes.as_chunks();
        Some(std::array::from_fn(|place| i64::from_le_bytes(numbers[place])))
    }

    fn tick(&self, [at, bid, ask, bid_size, ask_size, _]: Row) -> Tick {
        Tick {
            security: SECURITY,
            feed: self.feed.clone(),
            at: Timestamp(at),
            last: None,
            last_at: None,
            vol_last: None,
            bid: Some(price(bid)),
            ask: Some(price(ask)),
            vol_bid: Some(bid_size.into()),
            vol_ask: Some(ask_size.into()),
            vol: None,
            stale: None,
        }
    }

    /// The shared bars are stamped with their end, ours with their beginning.
    fn bar(&self, [ends, open, high, low, close, vol]: Row) -> Bar {
        Bar {
            security: SECURITY,
            feed: self.feed.clone(),
            at: Timestamp(ends - NANOS_PER_MINUTE),
            size: BarSize::Min1,
            open: price(open),
            high: price(high),
            low: price(low),
            close: price(close),
            vol: vol.into(),
            vwap: None,
        }
    }
}

impl PriceSource for Shared {
    fn next(&mut self) -> Result<Option<PriceRecord>, InvalidPriceData> {
        Ok(self.row().map(|row| match self.kind {
            Kind::Quotes => PriceRecord::Tick(self.tick(row)),
            Kind::Bars => PriceRecord::Bar(self.bar(row)),
        }))
    }

    fn read(&mut self, row: &mut Option<PriceRecord>) -> Result<(), InvalidPriceData> {
        let Some(PriceRecord::Tick(tick)) = row else {
            *row = self.next()?;
            return Ok(());
        };
        match self.row() {
            Some([at, bid, ask, bid_size, ask_size, _]) => {
                tick.at = Timestamp(at);
                (tick.bid, tick.vol_bid) = (Some(price(bid)), Some(bid_size.into()));
                (tick.ask, tick.vol_ask) = (Some(price(ask)), Some(ask_size.into()));
            }
            None => *row = None,
        }
        Ok(())
    }

    fn progress(&self) -> (u64, u64) {
        (0, 0)
    }
}

fn price(ticks: i64) -> Price {
    Price(Decimal::new(ticks, SCALE))
}

/// Counts the events that it gets.
struct Counter(PriceKind);

impl Strategy for Counter {
    fn init(&mut self, context: &mut Context<'_>) {
        context.subscribe(SECURITY, self.0);
    }
}

fn runner(
    kind: Kind,
    fast: &str,
    slow: &str,
    reference: &Arc<ReferenceData>,
) -> Result<StrategyRunner, Box<dyn Error>> {
    let who = StrategyIdentity { id: TRADER, name: "CROSS".into(), run: 1 };
    let prices = if kind == Kind::Quotes { "TICKS" } else { "MIN_1" };
    let strategy: Box<dyn Strategy> = if fast == "0" {
        Box::new(Counter(if kind == Kind::Quotes { PriceKind::Ticks } else { PriceKind::Bars(BarSize::Min1) }))
    } else {
        let written = [("security", "1"), ("fast", fast), ("slow", slow), ("quantity", "100000"), ("prices", prices)];
        let written: BTreeMap<_, _> = written.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        strategy::samples::registry().build("moving-average-cross", &written, reference)?
    };
    Ok(StrategyRunner::new(who, strategy, reference.clone()))
}

fn reference() -> Arc<ReferenceData> {
    let (base, transaction) = ("AUD".parse().expect("a currency"), Currency::USD);
    let pair = Security {
        kind: SecurityKind::Forex { base, transaction },
        currency: transaction,
        price_incr: Decimal::new(1, SCALE),
        family: None,
        ..samples::stock(SECURITY.0, "AUDUSD")
    };
    let account = Account { adapter_type: "REPLAY".into(), session_qualifier: None, ..samples::account(1, "Desk") };
    let trader = domain::StrategyRecord { id: TRADER, name: "CROSS".into(), auto_activate: true };
    let mut reference = ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    reference.securities.insert(pair.id, Arc::new(pair));
    reference.accounts.insert(account.id, Arc::new(account));
    reference.strategies.insert(trader.id, Arc::new(trader));
    Arc::new(reference)
}

fn setup(kind: Kind, reference: &ReferenceData, runner: StrategyRunner) -> SimulationSetup {
    let rule = if kind == Kind::Quotes { FillRule::Touch } else { FillRule::NextBarOpen };
    let config =
        ReplayConfig { name: "SHARED".into(), rule, order_latency_nanos: 0, slippage_ticks: 0, fee_rate: None };
    let mut venue = ReplayVenue::new(config);
    venue.list_security(&reference.securities[&SECURITY], &reference.exchanges[&samples::EXCHANGE]);
    let changes = [
        ReferenceChange::Exchange((*reference.exchanges[&samples::EXCHANGE]).clone()),
        ReferenceChange::Security((*reference.securities[&SECURITY]).clone()),
        ReferenceChange::Account((*reference.accounts[&AccountId(1)]).clone()),
        ReferenceChange::Strategy((*reference.strategies[&TRADER]).clone()),
    ];
    let valuation_nanos = if kind == Kind::Quotes { 1_000_000_000 } else { 15 * NANOS_PER_MINUTE };
    SimulationSetup {
        settings: EngineSettings::default(),
        commands: vec![Command::Reference(changes.into()), Command::Record(opening_cash())],
        opening_cash: vec![],
        venues: vec![VenueSetup {
            adapter: AdapterName("REPLAY".into()),
            exchanges: vec![samples::EXCHANGE],
            securities: vec![SECURITY],
            venue,
        }],
        runners: vec![runner],
        from: None,
        until: None,
        feed_latency_nanos: 0,
        valuation_nanos,
        on_failure: runtime::strategies::OnFailure::Cancel,
        recorded_bars: BTreeSet::from([(SECURITY, BarSize::Min1)]),
        priced: (kind == Kind::Quotes).then_some(SECURITY).into_iter().collect(),
        progress: Arc::default(),
    }
}

fn opening_cash() -> RecordTransaction {
    samples::credit(1, 100_000_000)
}

fn processor_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 * 1e-9
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).unwrap_or(0) / 1024
}
