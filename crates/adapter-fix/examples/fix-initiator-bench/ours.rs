//! The FIX adapter as its host drives it: one thread submits and takes what was reported.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapter_fix::{FixAdapter, FixVenueType, open_adapter};
use adapters::venue_type::{COMMON_SETTINGS, VenueContext, VenueSettings, VenueType};
use adapters::{OrderSession, ReportSink, SendOutcome};
use bus::Catalogue;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::ReportKind;
use domain::{AdapterName, Order, OrderId, OrderKind, Quantity, Side, TimeInForce, Timestamp};

use crate::figures::Figures;
use crate::{Outcome, now};

/// Longer than this no answer takes, unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

struct FillTimes {
    sent: Vec<Instant>,
    times: Vec<Duration>,
    bought: Quantity,
    /// Anything else than a fill.
    surprise: Option<String>,
}

impl ReportSink for FillTimes {
    fn on_report(&mut self, _: Option<Timestamp>, report: ReportKind) {
        match report {
            ReportKind::Filled(fill) => {
                let number = usize::try_from(fill.order.0).unwrap_or(usize::MAX);
                self.times.extend(self.sent.get(number).map(Instant::elapsed));
                self.bought = self.bought.plus(fill.quantity).unwrap_or(self.bought);
            }
            other => self.surprise = Some(format!("{other:?}")),
        }
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

/// So many orders, of which so many are under way at any time.
pub(crate) fn trade(port: u16, folder: &Path, orders: usize, under_way: usize) -> Outcome<Figures> {
    let mut adapter = open(port, folder)?;
    let begun = Instant::now();
    while let Err(lost) = adapter.connect(now()) {
        if begun.elapsed() > PATIENCE {
            return Err(lost.to_string().into());
        }
    }
    let times = Vec::with_capacity(orders);
    let mut desk = FillTimes { sent: Vec::with_capacity(orders), times, bought: Quantity::ZERO, surprise: None };
    let (begun, spent) = (Instant::now(), processor_time()?);
    run(&mut adapter, &mut desk, orders, under_way)?;
    let (seconds, spent) = (begun.elapsed().as_secs_f64(), processor_time()?.saturating_sub(spent));
    if desk.bought != Quantity::from(100 * i64::try_from(orders)?) {
        return Err(format!("{} bought, {:?}", desk.bought, desk.surprise).into());
    }
    adapter.disconnect(now());
    Ok(Figures::new(seconds, desk.times, spent))
}

fn run(adapter: &mut FixAdapter, desk: &mut FillTimes, orders: usize, under_way: usize) -> Outcome<()> {
    let waker = adapter.waker();
    let mut order = order();
    while desk.times.len() < orders {
        while desk.sent.len() < orders && desk.sent.len() - desk.times.len() < under_way {
            order.id = OrderId(u64::try_from(desk.sent.len())?);
            desk.sent.push(Instant::now());
            if let SendOutcome::NotSent(reason) = adapter.submit(now(), &order) {
                return Err(reason.to_string().into());
            }
        }
        waker.recv_timeout(PATIENCE)?;
        adapter.deliver(now(), desk).map_err(|lost| lost.to_string())?;
        if let Some(surprise) = &desk.surprise {
            return Err(surprise.clone().into());
        }
    }
    Ok(())
}

/// A day order for 100 at 10.5.
fn order() -> Order {
    let kind = OrderKind::Limit { limit: "10.5".parse().expect("it is a price") };
    let terms = OrderTerms { quantity: 100.into(), kind, tif: TimeInForce::Day };
    Order { side: Side::Buy, terms, ..samples::order(0) }
}

fn open(port: u16, folder: &Path) -> Outcome<FixAdapter> {
    let (port, quotes, prices) = (port.to_string(), BTreeMap::new(), BTreeMap::new());
    let written = [
        ("name", "MAIN"),
        ("type", "fix"),
        ("dialect", "generic-44"),
        ("environment", "live"),
        ("host", "127.0.0.1"),
        ("port", &port),
        ("tls", "false"),
        ("senderCompId", "DESK"),
        ("targetCompId", "VENUE"),
    ];
    let tables: Vec<_> = [COMMON_SETTINGS].iter().chain(FixVenueType.settings()).copied().collect();
    let settings = VenueSettings::read("MAIN", &tables, &written.into()).map_err(|problems| format!("{problems:?}"))?;
    let context = VenueContext {
        instance: 7,
        records: None,
        adapter: AdapterName::new("FIX", Some("MAIN")),
        folder,
        clock: Arc::new(now),
        catalogue: catalogue(),
        opening_quotes: &quotes,
        last_prices: &prices,
        opening_cash: None,
    };
    open_adapter(&settings, &context).map_err(|error| error.to_string().into())
}

fn catalogue() -> Catalogue {
    let mut reference = domain::ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    let stock = samples::stock(1, "MSFT");
    reference.securities.insert(stock.id, Arc::new(stock));
    let account = samples::account(1, "DESK");
    reference.accounts.insert(account.id, Arc::new(account));
    let catalogue = Catalogue::default();
    catalogue.replace(Arc::new(reference));
    catalogue
}

/// Of all threads, in the program and in the kernel.
fn processor_time() -> Outcome<Duration> {
    let mut spent = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        spent += text.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(Duration::from_nanos(spent))
}
