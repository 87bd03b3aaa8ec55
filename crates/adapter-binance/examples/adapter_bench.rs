//! The adapter at a venue lab on loopback: from an order to its acknowledgement, one at a time, and processor time of the process for each
//! thousand depth updates. `benches/venues/run.sh` runs it beside other clients; `RIALTO_VENUE_READY` names the lab's ready line.
//!
//! Quotes and trades are switched on too, as they always are: the adapter has no way to be subscribed to depth alone.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapter_binance::venue_type::open_adapter;
use adapter_binance::{BinanceAdapter, BinanceSpotType};
use adapters::venue_type::{COMMON_SETTINGS, VenueContext, VenueSettings, VenueType};
use adapters::{MarketFeed, OrderSession, ReportSink, SendOutcome};
use bus::Catalogue;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::ReportKind;
use domain::{
    Account, AdapterName, Currency, Decimal, Order, OrderKind, ReferenceData, Security, SecurityId, SecurityKind,
    TimeInForce, Timestamp,
};
use serde_json::Value;

type BenchResult<T> = Result<T, Box<dyn Error>>;

/// An answer that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// The first books are whole by then.
const SETTLE: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Counted {
    accepted: u64,
    books: u64,
}

impl ReportSink for Counted {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        self.accepted += u64::from(matches!(said, ReportKind::Accepted { .. }));
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.books += u64::from(matches!(data, MarketData::Book(_)));
    }
}

fn main() -> BenchResult<()> {
    let number = |name: &str, usual: u64| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (orders, seconds) = (number("ORDERS", 500), number("SECONDS_OF_DEPTH", 30));
    let ready: Value = serde_json::from_str(&fs::read_to_string(env::var("RIALTO_VENUE_READY")?)?)?;
    let folder = tempfile::tempdir()?;
    let mut adapter = open(&ready, folder.path())?;
    adapter.connect(now()?).map_err(|lost| lost.to_string())?;
    adapter.snapshot(now()?).map_err(|lost| lost.to_string())?;
    let mut latencies = acknowledged(&mut adapter, orders)?;
    latencies.sort_unstable();
    let (updates, cpu) = depth(&mut adapter, Duration::from_secs(seconds))?;
    let at = |part: usize| latencies.get(latencies.len() * part / 100).map_or(0, Duration::as_micros);
    println!(
        r#"{{"client":"Rialto","orders":{},"p50Micros":{},"p99Micros":{},"updates":{updates},"cpuMicrosPer1000":{}}}"#,
        latencies.len(),
        at(50),
        at(99),
        cpu.as_micros() * 1_000 / u128::from(updates.max(1)),
    );
    Ok(())
}

fn now() -> BenchResult<Timestamp> {
    Ok(jiff::Timestamp::now().try_into()?)
}

/// Limit orders far below the market that end at once.
fn acknowledged(adapter: &mut BinanceAdapter, orders: u64) -> BenchResult<Vec<Duration>> {
    let kind = OrderKind::Limit { limit: "20000".parse()? };
    let terms = OrderTerms { quantity: "0.001".parse()?, kind, tif: TimeInForce::Ioc };
    let (waker, mut latencies, mut seen) = (adapter.waker(), Vec::new(), Counted::default());
    for number in 1..=orders {
        let order = Order { terms, security: SecurityId(1), exchange_order: true, ..samples::order(number) };
        let begun = Instant::now();
        if adapter.submit(now()?, &order) != SendOutcome::Sent {
            return Err("an order was not sent".into());
        }
        while seen.accepted < number {
            // The lab wakes us; the time-out is for what is due by the time alone.
            let _ = waker.recv_timeout(Duration::from_millis(100));
            adapter.deliver(now()?, &mut seen).map_err(|lost| lost.to_string())?;
            if begun.elapsed() > PATIENCE {
                return Err("an order was not acknowledged".into());
            }
        }
        latencies.push(begun.elapsed());
    }
    Ok(latencies)
}

/// Books that were published, and the processor time of it.
fn depth(adapter: &mut BinanceAdapter, length: Duration) -> BenchResult<(u64, Duration)> {
    for security in (1..).zip(symbols()?).map(|(id, _)| SecurityId(id)) {
        if adapter.subscribe(now()?, security) != SendOutcome::Sent {
            return Err("a subscription was not sent".into());
        }
    }
    let mut seen = Counted::default();
    follow(adapter, SETTLE, &mut seen)?;
    let (books, cpu) = (seen.books, cpu_time()?);
    follow(adapter, length, &mut seen)?;
    Ok((seen.books - books, cpu_time()?.saturating_sub(cpu)))
}

fn follow(adapter: &mut BinanceAdapter, length: Duration, seen: &mut Counted) -> BenchResult<()> {
    let (waker, begun) = (adapter.waker(), Instant::now());
    while begun.elapsed() < length {
        let _ = waker.recv_timeout(Duration::from_millis(100));
        adapter.deliver(now()?, seen).map_err(|lost| lost.to_string())?;
    }
    Ok(())
}

/// Of all threads of this process, its own and the system's.
fn cpu_time() -> BenchResult<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    // Fields 14 and 15 of the whole line, in hundredths of a second.
    Ok(Duration::from_millis((ticks(11) + ticks(12)) * 10))
}

fn open(ready: &Value, folder: &Path) -> BenchResult<BinanceAdapter> {
    let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
    write_key(&text("keys"), &folder.join("key.toml"))?;
    let written: BTreeMap<&str, String> = [
        ("name", "LAB".to_owned()),
        ("type", "binance-spot".to_owned()),
        ("environment", "testnet".to_owned()),
        ("credentials", folder.join("key.toml").display().to_string()),
        ("rest", text("binanceRest")),
        ("wsApi", text("binanceWsApi")),
        ("streams", text("binanceStreams")),
    ]
    .into();
    let written = written.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let tables: Vec<_> = [COMMON_SETTINGS].iter().chain(BinanceSpotType.settings()).copied().collect();
    let settings = VenueSettings::read("LAB", &tables, &written).map_err(|problems| format!("{problems:?}"))?;
    let catalogue = Catalogue::default();
    catalogue.replace(Arc::new(reference()?));
    let context = VenueContext {
        instance: 1,
        records: None,
        adapter: AdapterName::new("BINANCE-SPOT", Some("LAB")),
        folder,
        clock: Arc::new(|| now().unwrap_or(Timestamp(0))),
        catalogue,
        opening_quotes: &BTreeMap::new(),
        last_prices: &BTreeMap::new(),
        opening_cash: None,
    };
    Ok(open_adapter(&settings, &context)?)
}

/// An Ed25519 key, for its owner alone.
fn write_key(keys: &str, path: &Path) -> BenchResult<()> {
    let keys: Vec<Value> = serde_json::from_str(&fs::read_to_string(keys)?)?;
    let key = keys.iter().find(|key| key["account"] == "ALPHA" && key["kind"] == "ED25519").ok_or("there is no key")?;
    let text = |name: &str| key[name].as_str().unwrap_or_default();
    fs::write(
        path,
        format!("apiKey = \"{}\"\nprivateKey = \"\"\"\n{}\"\"\"\n", text("apiKey"), text("privateKeyPem")),
    )?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o600))?)
}

/// The first is also traded.
fn symbols() -> BenchResult<Vec<String>> {
    Ok(env::var("DEPTH_SYMBOLS")?.split_whitespace().map(str::to_owned).collect())
}

fn currency(code: &str) -> BenchResult<Currency> {
    code.parse().map_err(|_| format!("{code} is no currency").into())
}

fn reference() -> BenchResult<ReferenceData> {
    let transaction = currency("USDT")?;
    let mut reference = ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    for (id, symbol) in (1..).zip(symbols()?) {
        let base = symbol.trim_end_matches("USDT");
        let security = Security {
            kind: SecurityKind::Forex { base: currency(base)?, transaction },
            currency: transaction,
            qty_incr: Decimal::new(1, 5),
            adapter_ticker: Some(symbol.as_str().into()),
            ..samples::stock(id, &format!("{base}/USDT"))
        };
        reference.securities.insert(SecurityId(id), Arc::new(security));
    }
    let account = Account {
        adapter_type: "BINANCE-SPOT".into(),
        session_qualifier: Some("LAB".into()),
        ..samples::account(1, "Lab")
    };
    reference.accounts.insert(account.id, Arc::new(account));
    Ok(reference)
}
