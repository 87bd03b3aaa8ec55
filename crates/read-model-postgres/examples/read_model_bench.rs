//! Speed of the read model on this machine: writing, queries and start, in SQLite, and in an empty schema of PostgreSQL where an
//! address is given.
//!
//! `cargo run --release -p read-model-postgres --example read_model_bench [-- FOLDER [postgres://…]]`

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bus::History;
use bus::history::{HistoryError, PageRequest, SortOrder};
use domain::order::{BaseState, ExecType, OrderTerms, PendingRequest};
use domain::query::Filter;
use domain::{
    AccountId, AdapterName, Amount, Currency, Event, ExchangeId, Fill, Order, OrderId, OrderKind, OrderStatus, Price,
    PublishedEvent, Quantity, SecurityId, Side, Source, StrategyId, TimeInForce, Timestamp, Transaction, TransactionId,
    TransactionKind, Uuid,
};
use read_model_postgres::{Database, PostgresRowStore, PostgresRows, PostgresUrl};
use storage::ReadModel;
use storage::journal::InstanceId;
use storage::lock::DataDirLock;

type Outcome<T> = Result<T, Box<dyn Error>>;

const INSTANCE: InstanceId = InstanceId([1; 16]);
const ORDERS: u64 = 100_000;
/// Placed, accepted, filled: each is an input.
const EVENTS_PER_ORDER: u64 = 3;
/// Orders that are open at the same time.
const OPEN: u64 = 1_000;
const QUESTIONS: u64 = 2_000;

fn main() -> Outcome<()> {
    let mut words = std::env::args().skip(1);
    let parent = words.next().unwrap_or_else(|| ".".to_owned());
    println!("load average        {}", load_average());
    measure_sqlite(tempfile::tempdir_in(&parent)?.path())?;
    if let Some(address) = words.next() {
        measure_postgres(tempfile::tempdir_in(&parent)?.path(), &address)?;
    }
    println!("load average        {}", load_average());
    Ok(())
}

fn measure_sqlite(folder: &Path) -> Outcome<()> {
    println!("SQLite");
    let open = || Ok::<_, Box<dyn Error>>(ReadModel::open(&DataDirLock::acquire(folder)?, INSTANCE, u64::MAX)?);
    measure(&open()?)?;
    let bytes = std::fs::metadata(folder.join(storage::read_model::FILE))?.len();
    let begun = Instant::now();
    open()?;
    println!("checked and opened  {:>9.1?} for {} MiB", begun.elapsed(), bytes >> 20);
    println!("file                {:>9} bytes per order", bytes / ORDERS);
    Ok(())
}

fn measure_postgres(folder: &Path, address: &str) -> Outcome<()> {
    let database = Database::new(PostgresUrl::parse(address)?)?;
    println!("{database:?}");
    // Every input of the run is stamped with the same time.
    let input_times = Box::new(|_| Ok(Some(Timestamp(0))));
    let store = PostgresRowStore::new(database.clone(), INSTANCE, input_times);
    let (lock, rows) = (DataDirLock::acquire(folder)?, Arc::new(PostgresRows::new(database)));
    let begun = Instant::now();
    let model = ReadModel::connect(&lock, 0, Box::new(store), rows)?;
    while model.is_behind() {
        if let Some(reason) = model.failure() {
            return Err(reason.into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("connected           {:>9.1?}", begun.elapsed());
    if model.applied() > 0 {
        return Err("the schema is not empty".into());
    }
    measure(&model)
}

fn measure(model: &ReadModel) -> Outcome<()> {
    follow(model);
    ask(model).map_err(|error| format!("{error:?}"))?;
    Ok(model.stop()?)
}

/// As a start does with a file, and as trading and the catch-up do with a database.
fn feed(model: &ReadModel, inputs: &[Vec<PublishedEvent>]) {
    let numbered = || (1_u64..).zip(inputs);
    if model.replay_after() != u64::MAX {
        return numbered().for_each(|(sequence, events)| model.append(sequence, events));
    }
    numbered().for_each(|(sequence, events)| model.offer(sequence, events));
    while model.is_behind() {
        let Some(missed) = model.wait_behind() else { return };
        let mut rest = numbered().filter(|(sequence, _)| *sequence > missed.after);
        if rest.all(|(sequence, events)| model.append_missed(missed, sequence, events)) {
            let _ = model.rejoin(missed, inputs.len() as u64);
        }
    }
}

fn follow(model: &ReadModel) {
    let inputs = trading();
    let begun = Instant::now();
    feed(model, &inputs);
    let offered = begun.elapsed();
    while model.applied() < inputs.len() as u64 && model.failure().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let rate = u128::from(ORDERS * EVENTS_PER_ORDER) * 1000 / begun.elapsed().as_millis().max(1);
    println!(
        "followed            {rate:>9} order events/s (offered in {offered:.1?}, applied in {:.1?})",
        begun.elapsed()
    );
}

fn ask(model: &ReadModel) -> Result<(), HistoryError> {
    let as_of = model.applied();
    let filter = Filter { strategy: Some(StrategyId(1)), ..Filter::default() };
    let mut events = Vec::new();
    let mut pages = Vec::new();
    for question in 0..QUESTIONS {
        let id = 1 + question * (ORDERS / QUESTIONS);
        let begun = Instant::now();
        model.order_events(as_of, &int_id(id))?;
        events.push(begun.elapsed());
        let begun = Instant::now();
        model.orders(as_of, &filter.into(), SortOrder::Oldest, PageRequest { after: id, limit: 100 })?;
        pages.push(begun.elapsed());
    }
    print_times("events of an order", events);
    print_times("page of 100 orders", pages);
    Ok(())
}

/// What each input caused, in turns over the orders that are open.
fn trading() -> Vec<Vec<PublishedEvent>> {
    let mut inputs = Vec::new();
    for first in (1..=ORDERS).step_by(usize::try_from(OPEN).unwrap_or(1)) {
        for (state, step) in [
            (BaseState::PendingNew, ExecType::PendingNew),
            (BaseState::New, ExecType::New),
            (BaseState::Filled, ExecType::Fill),
        ] {
            for id in first..first + OPEN {
                inputs.push(changed(inputs.len() as u64 + 1, id, state, step));
            }
        }
    }
    inputs
}

fn changed(sequence: u64, id: u64, state: BaseState, step: ExecType) -> Vec<PublishedEvent> {
    let order = order(id, state);
    let mut events = vec![Event::OrderStatus(Arc::new(status(sequence, &order, step)))];
    if state == BaseState::Filled {
        events.push(Event::Fill(Arc::new(fill(sequence, &order))));
        events.push(Event::Transaction(Arc::new(transaction(&order))));
    }
    events.push(Event::Order(Arc::new(order)));
    events.into_iter().map(|event| PublishedEvent { sequence, at: Timestamp(0), event }).collect()
}

fn int_id(id: u64) -> String {
    format!("bench-{id}")
}

fn order(id: u64, state: BaseState) -> Order {
    let limit = Price(domain::Decimal::new(15_025, 2));
    let quantity = Quantity(100.into());
    Order {
        id: OrderId(id),
        int_id: int_id(id).parse().expect("it is printable and short"),
        ext_id: Some("V1234567".into()),
        cl_ord_id: None,
        at: Timestamp(1_800_000_000_000_000_000),
        side: Side::Buy,
        terms: OrderTerms { quantity, kind: OrderKind::Limit { limit }, tif: TimeInForce::Day },
        exchange_order: false,
        exchange: ExchangeId(1),
        security: SecurityId(1 + id % 30),
        account: AccountId(1 + id % 3),
        strategy: StrategyId(1 + id % 4),
        adapter: AdapterName::new("SIM", None),
        properties: domain::OrderProperties::default(),
        state,
        pending: PendingRequest::Nothing,
        filled: if state == BaseState::Filled { quantity } else { Quantity::ZERO },
        turnover: Amount::ZERO,
        revision: 0,
        reason: None,
        in_doubt: false,
        reference: None,
        source: Source::Rest,
        submitted_by: None,
        changed_at: Timestamp(1_800_000_000_000_000_000),
        request: 0,
        legs: None,
        pass_through: None,
    }
}

fn status(sequence: u64, order: &Order, step: ExecType) -> OrderStatus {
    OrderStatus {
        order: order.id,
        int_id: order.int_id.clone(),
        ext_id: order.ext_id.clone(),
        strategy: order.strategy,
        at: order.at,
        ext_at: Some(order.at),
        sequence,
        status: order.status(),
        exec_type: step,
        filled: order.filled,
        remaining: order.remaining(),
        last_quantity: None,
        last_price: None,
        avg_price: None,
        reason: None,
        request: None,
        client: None,
    }
}

fn fill(sequence: u64, order: &Order) -> Fill {
    Fill {
        order: order.id,
        int_id: order.int_id.clone(),
        strategy: order.strategy,
        security: order.security,
        account: order.account,
        ext_id: format!("exec-{sequence}").into(),
        at: order.at,
        ext_at: Some(order.at),
        sequence,
        side: order.side,
        quantity: order.terms.quantity,
        price: Price(domain::Decimal::new(15_020, 2)),
        liquidity: None,
    }
}

fn transaction(order: &Order) -> Transaction {
    Transaction {
        id: TransactionId(order.id.0),
        uuid: Uuid::mint(1, order.id.0),
        at: order.at,
        settlement_date: None,
        ext_id: None,
        int_order_id: Some(order.int_id.clone()),
        ext_order_id: order.ext_id.clone(),
        kind: TransactionKind::Buy,
        quantity: order.terms.quantity,
        price: Price(domain::Decimal::new(15_020, 2)),
        execution_commission: Amount::ZERO,
        clearing_commission: Amount::ZERO,
        fee: Amount::ZERO,
        currency: Currency::USD,
        account: order.account,
        security: Some(order.security),
        strategy: order.strategy,
        description: None,
        charges: vec![],
        venue_kind: None,
        liquidity: None,
    }
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    println!("{what:<19} p50 {:>9.1?}  p99 {:>9.1?}  of {}", at(50), at(99), times.len());
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| "unknown".to_owned());
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
