//! Read model tests: a small trading day, queried afterwards, and everything that can happen to the file in between.

mod behind;
mod bits;
mod crash;
mod damage;
mod searches;
mod stories;
mod values;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use bus::History;
use bus::history::{HistoryError, OrderSearch, PageRequest, SortOrder, Stretch, TransactionSearch};
use domain::event::{Alarm, AlarmLevel, LifeCycle, SessionChange};
use domain::order::{BaseState, ExecType, OrderTerms, PendingRequest};
use domain::query::Filter;
use domain::{
    AccountId, AdapterName, Amount, Currency, Event, ExchangeId, Fill, Order, OrderId, OrderKind, OrderStatus, Price,
    Quantity, RiskScope, SecurityId, Side, Source, StrategyId, TimeInForce, Timestamp, Transaction, TransactionId,
    TransactionKind, Uuid,
};
use tempfile::TempDir;

use super::*;

const INSTANCE: InstanceId = InstanceId(*b"the test journal");
const ALL: PageRequest = PageRequest { after: 0, limit: usize::MAX };
/// Nothing here takes long; a test that waits this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A data folder with a read model.
struct ReadModelFixture {
    folder: TempDir,
}

impl ReadModelFixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A fixture whose read model has the day and is closed.
    fn after_the_day() -> Self {
        let fixture = Self::new();
        let model = fixture.open();
        offer_day(&model);
        model.stop().unwrap();
        fixture
    }

    fn open(&self) -> ReadModel {
        self.try_open(INSTANCE, u64::MAX).unwrap()
    }

    fn try_open(&self, instance: InstanceId, journal_end: u64) -> Result<ReadModel, StorageError> {
        let limits = ReadModelLimits { timeout: PATIENCE, ..ReadModelLimits::default() };
        ReadModel::open_with(limits, &DataDirLock::acquire(self.folder.path())?, instance, journal_end)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    fn files(&self) -> Vec<String> {
        let listed = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// What each input of the day caused. Input 6 caused nothing.
fn day() -> Vec<(u64, Vec<PublishedEvent>)> {
    let causes = |sequence: u64, events: Vec<Event>| {
        let at = Timestamp(i64::try_from(sequence).unwrap() * 1000);
        let publish = |event| PublishedEvent { sequence, at, event };
        (sequence, events.into_iter().map(publish).collect())
    };
    let told = |sequence, order: Order, step| [picture(&order), happened(sequence, &order, step)];
    vec![
        causes(1, vec![alarm("trading begins")]),
        causes(2, told(2, order(1, BaseState::PendingNew), ExecType::PendingNew).into()),
        causes(3, told(3, order(2, BaseState::PendingNew), ExecType::PendingNew).into()),
        causes(4, told(4, order(1, BaseState::New), ExecType::New).into()),
        causes(5, [told(5, order(2, BaseState::Canceled), ExecType::Canceled), booked(5, 1)].concat()),
        causes(6, vec![]),
        causes(7, [told(7, order(1, BaseState::Filled), ExecType::Fill), booked(7, 2)].concat()),
        causes(8, vec![alarm("trading ends"), Event::ValueSample(Arc::new(values::sample(RiskScope::Platform, 8)))]),
    ]
}

fn offer_day(model: &ReadModel) {
    day().iter().for_each(|(sequence, events)| model.append(*sequence, events));
}

/// Order 1 is of strategy 1 and account 11, order 2 of strategy 2 and account 12; both trade security 21.
fn order(id: u64, state: BaseState) -> Order {
    Order {
        id: OrderId(id),
        int_id: format!("desk-{id}").parse().unwrap(),
        ext_id: Some("venue".into()),
        cl_ord_id: None,
        at: Timestamp(5),
        side: Side::Buy,
        terms: OrderTerms {
            quantity: Quantity(100.into()),
            kind: OrderKind::Limit { limit: Price("10.50".parse().unwrap()) },
            tif: TimeInForce::Day,
        },
        exchange_order: false,
        exchange: ExchangeId(1),
        security: SecurityId(21),
        account: AccountId(10 + id),
        strategy: StrategyId(id),
        adapter: AdapterName::new("SIM", None),
        properties: domain::OrderProperties::default(),
        state,
        pending: PendingRequest::Nothing,
        filled: Quantity::ZERO,
        turnover: Amount::ZERO,
        revision: 0,
        reason: None,
        in_doubt: false,
        reference: None,
        source: Source::Rest,
        submitted_by: None,
        changed_at: Timestamp(6),
        request: 0,
        legs: None,
        pass_through: None,
    }
}

fn status(sequence: u64, order: &Order, step: ExecType) -> OrderStatus {
    OrderStatus {
        order: order.id,
        int_id: order.int_id.clone(),
        ext_id: None,
        strategy: order.strategy,
        at: Timestamp(7),
        ext_at: None,
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
        at: Timestamp(8),
        ext_at: None,
        sequence,
        side: Side::Buy,
        quantity: Quantity(100.into()),
        price: Price("10.49".parse().unwrap()),
        liquidity: None,
    }
}

/// Transaction 1 is cash of account 12, transaction 2 a buy of account 11.
fn transaction(id: u64) -> Transaction {
    Transaction {
        id: TransactionId(id),
        uuid: Uuid::mint(1, id),
        at: Timestamp(9),
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: if id == 1 { TransactionKind::Credit } else { TransactionKind::Buy },
        quantity: Quantity(1.into()),
        price: Price(1000.into()),
        execution_commission: Amount::ZERO,
        clearing_commission: Amount::ZERO,
        fee: Amount::ZERO,
        currency: Currency::USD,
        account: AccountId(13 - id),
        security: (id != 1).then_some(SecurityId(21)),
        strategy: StrategyId(3 - id),
        description: None,
        charges: vec![],
        venue_kind: None,
        liquidity: None,
    }
}

fn picture(order: &Order) -> Event {
    Event::Order(Arc::new(order.clone()))
}

fn happened(sequence: u64, order: &Order, step: ExecType) -> Event {
    Event::OrderStatus(Arc::new(status(sequence, order, step)))
}

/// A transaction; the second is that of a fill of order 1.
fn booked(sequence: u64, id: u64) -> [Event; 2] {
    let first = match id {
        1 => alarm("cash came in"),
        _ => Event::Fill(Arc::new(fill(sequence, &order(1, BaseState::Filled)))),
    };
    [first, Event::Transaction(Arc::new(transaction(id)))]
}

fn alarm(text: &str) -> Event {
    Event::Alarm(Arc::new(Alarm { level: AlarmLevel::Info, code: "desk".into(), text: text.into() }))
}

/// All that a model knows, as one value.
fn contents(model: &ReadModel) -> String {
    let as_of = model.applied();
    let orders = model.orders(as_of, &OrderSearch::default(), SortOrder::Oldest, ALL).unwrap();
    let events: Vec<_> = orders.iter().map(|order| model.order_events(as_of, order.int_id.as_str())).collect();
    let fills = model.fills(as_of, Filter::default(), ALL).unwrap();
    let transactions = model.transactions(as_of, &TransactionSearch::default(), SortOrder::Oldest, ALL).unwrap();
    let log = model.events(as_of, ALL).unwrap();
    format!("{orders:?}\n{events:?}\n{fills:?}\n{transactions:?}\n{log:?}")
}

/// What a model knows after so many inputs of the day.
fn contents_after(inputs: usize) -> String {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    day().iter().take(inputs).for_each(|(sequence, events)| model.append(*sequence, events));
    model.stop().unwrap();
    contents(&model)
}
