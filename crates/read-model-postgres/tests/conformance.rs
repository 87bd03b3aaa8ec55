//! One set of tests for both stores: the same story, and every query after it gives the same answer.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod reports;
mod searches;
mod store_faults;

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use bus::History;
use bus::history::{
    HistoryError, OrderSearch, PageRequest, SortOrder, SourceSearch, Stretch, TextSearch, TransactionSearch, ValueRows,
    ValueSearch,
};
use domain::event::{Alarm, AlarmLevel};
use domain::order::{BaseState, ExecType, OrdStatus};
use domain::query::Filter;
use domain::{
    AccountId, Amount, Currency, Event, Fill, Liquidity, Order, OrderKind, OrderStatus, Price, PublishedEvent,
    Quantity, RiskScope, SecurityId, Side, Source, StrategyId, Timestamp, Transaction, TransactionId, TransactionKind,
    Uuid, ValueSample,
};
use read_model_postgres::{Database, PostgresRowStore, PostgresRows, PostgresUrl};
use scenarios::postgres::{PASSWORD, PostgresServer};
use scenarios::wait::wait_for;
use storage::journal::InstanceId;
use storage::lock::DataDirLock;
use storage::read_model::CatchUpStep;
use storage::{ReadModel, StorageError};
use tempfile::TempDir;

use searches::{emptied, searches, traded_searches, transaction_searches};

const INSTANCE: InstanceId = InstanceId(*b"conformance test");
const ALL: PageRequest = PageRequest { after: 0, limit: usize::MAX };
/// Inputs of the story; each places, changes or ends an order.
const INPUTS: u64 = 300;

type Input = (u64, Vec<PublishedEvent>);

/// How a store of a folder is opened; the journal ends at a sequence.
type OpenStore<'a> = &'a dyn Fn(&Path, u64) -> ReadModel;

fn sqlite(folder: &Path, journal_end: u64) -> ReadModel {
    ReadModel::open(&DataDirLock::acquire(folder).unwrap(), INSTANCE, journal_end).unwrap()
}

fn postgres(url: &str) -> impl Fn(&Path, u64) -> ReadModel {
    postgres_on(url, |sequence| Ok(Some(time_of(sequence))))
}

/// Of a journal that answers so when it is asked for the time of an input.
fn postgres_on(
    url: &str,
    input_time: impl Fn(u64) -> Result<Option<Timestamp>, StorageError> + Clone + Send + 'static,
) -> impl Fn(&Path, u64) -> ReadModel {
    let url = PostgresUrl::parse(url).unwrap();
    move |folder, journal_end| {
        let (database, input_time) = (Database::new(url.clone()).unwrap(), input_time.clone());
        let store = PostgresRowStore::new(database.clone(), INSTANCE, Box::new(input_time));
        let rows = PostgresRows::new(database);
        let lock = DataDirLock::acquire(folder).unwrap();
        ReadModel::connect(&lock, journal_end, Box::new(store), Arc::new(rows)).unwrap()
    }
}

/// When the story stamped an input.
fn time_of(sequence: u64) -> Timestamp {
    Timestamp(i64::try_from(sequence).unwrap() * 1_000_000)
}

/// What the server does: a file takes the replay of a start, a database catches up.
fn replay(model: &ReadModel, inputs: &[Input]) {
    let end = inputs.last().map_or(0, |(sequence, _)| *sequence);
    if model.replay_after() != u64::MAX {
        inputs.iter().for_each(|(sequence, events)| model.append(*sequence, events));
        return;
    }
    while model.is_behind() {
        let missed = model.wait_behind().unwrap();
        let rest = inputs.iter().filter(|(sequence, _)| *sequence > missed.after);
        let is_current = rest.clone().all(|(sequence, events)| model.append_missed(missed, *sequence, events));
        if is_current && model.rejoin(missed, end) == CatchUpStep::Complete {
            return;
        }
    }
}

fn order(id: u64, state: BaseState) -> Order {
    let mut order = samples::order(id);
    order.state = state;
    order.at = Timestamp(i64::try_from(id).unwrap() * 1_000);
    order.changed_at = order.at.plus_millis(i64::from(state == BaseState::Filled));
    order.strategy = StrategyId(id % 3);
    order.account = AccountId(10 + id % 2);
    order.security = SecurityId(20 + id % 4);
    order.side = if id.is_multiple_of(2) { Side::Buy } else { Side::Sell };
    order.terms.quantity = Quantity("100.5".parse().unwrap());
    order.terms.kind = OrderKind::Limit { limit: Price("10.25".parse().unwrap()) };
    order.ext_id = Some(format!("Venue-{id}").into());
    order.reference = id.is_multiple_of(10).then(|| "Zürich \\ \"quoted\"\ttab\nline \0 zero".into());
    order.source = match id % 4 {
        0 => Source::Strategy,
        1 => Source::Ui,
        2 => Source::Fix("BANK".into()),
        _ => Source::Rest,
    };
    if state == BaseState::Filled {
        (order.filled, order.turnover) = (order.terms.quantity, Amount("1030.12500".parse().unwrap()));
    }
    order
}

fn status(sequence: u64, order: &Order, exec_type: ExecType) -> Event {
    Event::OrderStatus(Arc::new(OrderStatus {
        order: order.id,
        int_id: order.int_id.clone(),
        ext_id: None,
        strategy: order.strategy,
        at: Timestamp(7),
        ext_at: None,
        sequence,
        status: order.status(),
        exec_type,
        filled: order.filled,
        remaining: order.remaining(),
        last_quantity: None,
        last_price: None,
        avg_price: None,
        reason: None,
        request: None,
        client: None,
    }))
}

fn fill(sequence: u64, order: &Order) -> Event {
    Event::Fill(Arc::new(Fill {
        order: order.id,
        int_id: order.int_id.clone(),
        strategy: order.strategy,
        security: order.security,
        account: order.account,
        ext_id: format!("exec-{sequence}").into(),
        at: Timestamp(8),
        ext_at: Some(Timestamp(9)),
        sequence,
        side: order.side,
        quantity: order.terms.quantity,
        price: Price("10.25".parse().unwrap()),
        liquidity: Some(Liquidity::Maker),
    }))
}

fn booked(id: u64, order: &Order) -> Event {
    let kind = if order.side == Side::Buy { TransactionKind::Buy } else { TransactionKind::Sell };
    Event::Transaction(Arc::new(Transaction {
        id: TransactionId(id),
        uuid: Uuid::mint(1, id),
        at: Timestamp(i64::try_from(id).unwrap() * 3_600_000_000_000),
        settlement_date: None,
        ext_id: Some(format!("Exec-{id}").into()),
        int_order_id: Some(order.int_id.clone()),
        ext_order_id: None,
        kind,
        quantity: order.side.signed(order.terms.quantity),
        price: Price("10.25".parse().unwrap()),
        execution_commission: Amount("-0.000000000001".parse().unwrap()),
        clearing_commission: Amount::ZERO,
        fee: Amount("12345678901234567.89".parse().unwrap()),
        currency: Currency::USD,
        account: order.account,
        security: Some(order.security),
        strategy: order.strategy,
        description: order.reference.clone(),
        charges: vec![],
        venue_kind: None,
        liquidity: Some(Liquidity::Taker),
    }))
}

fn alarm(text: &str) -> Event {
    Event::Alarm(Arc::new(Alarm { level: AlarmLevel::Info, code: "test".into(), text: text.into() }))
}

/// Every twentieth input samples two scopes; a day has three rounds. One value is not known.
fn value_samples(sequence: u64) -> Vec<Event> {
    if !sequence.is_multiple_of(20) {
        return vec![];
    }
    let date = format!("2026-11-{:02}", 1 + sequence / 60).parse().unwrap();
    let sample = |scope| {
        let sample = samples::value_sample(scope, date, time_of(sequence));
        let day_flow = (sequence != 120).then(|| Amount("0.000000000001".parse().unwrap()));
        Event::ValueSample(Arc::new(ValueSample { is_close: sequence.is_multiple_of(60), day_flow, ..sample }))
    };
    vec![sample(RiskScope::Platform), sample(RiskScope::Security(SecurityId(21)))]
}

fn value_searches() -> Vec<ValueSearch> {
    let platform =
        ValueSearch { scope: RiskScope::Platform, from: None, to: None, through: None, rows: ValueRows::All };
    let (from, to) = (Some(time_of(100)), Some(time_of(220)));
    let all = [
        platform,
        ValueSearch { scope: RiskScope::Security(SecurityId(21)), ..platform },
        ValueSearch { scope: RiskScope::Strategy(StrategyId(1)), ..platform },
        ValueSearch { from, to, ..platform },
        ValueSearch { from: Some(time_of(INPUTS + 1)), ..platform },
        ValueSearch { to: Some(time_of(INPUTS + 1)), through: Some(150), ..platform },
    ];
    all.into_iter().flat_map(|search| [search, ValueSearch { rows: ValueRows::DayEnds, ..search }]).collect()
}

/// Of three inputs one places an order, one is confirmed and one fills it; the third order of ten is not filled. Input 50
/// causes nothing.
fn story() -> Vec<Input> {
    let caused = |sequence: u64| -> Vec<Event> {
        let id = 1 + (sequence - 1) / 3;
        let changed = |state, step| {
            let order = order(id, state);
            vec![Event::Order(Arc::new(order.clone())), status(sequence, &order, step)]
        };
        match sequence % 3 {
            _ if sequence == 50 => vec![],
            1 => changed(BaseState::PendingNew, ExecType::PendingNew),
            2 => changed(BaseState::New, ExecType::New),
            _ if id % 10 == 3 => [changed(BaseState::Canceled, ExecType::Canceled), vec![alarm("cancelled")]].concat(),
            _ => {
                let filled = order(id, BaseState::Filled);
                let both = vec![fill(sequence, &filled), booked(id, &filled), fill(sequence, &filled)];
                [changed(BaseState::Filled, ExecType::Fill), both].concat()
            }
        }
    };
    let published = |sequence: u64| {
        let at = time_of(sequence);
        let events = caused(sequence).into_iter().chain(value_samples(sequence)).chain(emptied(sequence));
        let events = events.map(|event| PublishedEvent { sequence, at, event });
        (sequence, events.collect())
    };
    (1..=INPUTS).map(published).collect()
}

/// Every query with every kind of page, as lines.
fn answers(model: &ReadModel, as_of: u64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |question: String, answer: &dyn Debug| lines.push(format!("{question}: {answer:?}"));
    let pages = |sort: SortOrder| [0, 1, 7, usize::MAX].map(|limit| PageRequest { after: sort.start(), limit });
    for sort in [SortOrder::Oldest, SortOrder::Newest] {
        for page in pages(sort).into_iter().chain([PageRequest { after: 40, limit: 5 }]) {
            for search in searches() {
                let found = model.orders(as_of, &search, sort, page).unwrap();
                add(format!("orders {search:?} {sort:?} {page:?}"), &found);
            }
            for search in transaction_searches() {
                let found = model.transactions(as_of, &search, sort, page).unwrap();
                add(format!("transactions {search:?} {sort:?} {page:?}"), &found);
            }
        }
    }
    for (search, page) in traded_searches() {
        add(format!("{search:?} {page:?}"), &model.traded_orders(as_of, &search, page).unwrap());
    }
    for page in pages(SortOrder::Oldest).into_iter().chain([PageRequest { after: 40, limit: 5 }]) {
        let of_account = Filter { account: Some(AccountId(11)), ..Filter::default() };
        add(format!("fills {page:?}"), &model.fills(as_of, Filter::default(), page).unwrap());
        add(format!("fills of an account {page:?}"), &model.fills(as_of, of_account, page).unwrap());
        add(format!("events {page:?}"), &model.events(as_of, page).unwrap());
    }
    for search in value_searches() {
        for page in pages(SortOrder::Oldest).into_iter().chain([PageRequest { after: 120, limit: 2 }]) {
            add(format!("{search:?} {page:?}"), &model.value_samples(as_of, &search, page).unwrap());
        }
    }
    for (after, limit, octets) in
        [((0, 0), 5, 1_000), ((9, 1), 100, 200), ((9, 0), 1, 1), ((INPUTS, 9), 9, 9), ((3, 0), 9, 0)]
    {
        let stretch = Stretch { after, limit, octets };
        add(format!("{stretch:?}"), &model.events_behind(as_of, stretch).unwrap());
    }
    for name in ["TEST-1", "TEST-3", "TEST-100", "nobody's", "a\0b"] {
        add(format!("events of {name}"), &model.order_events(as_of, name).unwrap());
    }
    for id in [1, 2, 3, 1_000] {
        add(format!("transaction {id}"), &model.transaction(as_of, TransactionId(id)).unwrap());
    }
    lines
}

/// The set: a store that was filled, opened again, filled further, and opened again.
fn conforms(open: OpenStore<'_>) -> Vec<String> {
    let (folder, story) = (tempfile::tempdir().unwrap(), story());
    let (first, rest) = story.split_at(100);
    let model = open(folder.path(), 100);
    replay(&model, first);
    wait_for("the first part", || (model.applied() == 100).then_some(()));
    model.stop().unwrap();
    drop(model);
    let model = open(folder.path(), 100);
    wait_for("what was stored", || (model.applied() == 100).then_some(()));
    // What was stored before is skipped.
    for (sequence, events) in first.iter().chain(rest) {
        model.offer(*sequence, events);
    }
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    assert_eq!((model.failure(), model.is_behind()), (None, false));
    let found = answers(&model, INPUTS);
    model.stop().unwrap();
    drop(model);
    let model = open(folder.path(), INPUTS);
    wait_for("what was stored", || (model.applied() == INPUTS).then_some(()));
    assert_eq!(answers(&model, INPUTS), found, "what was stored is there when it is opened again");
    found
}

struct PostgresFixture {
    _folder: TempDir,
    server: PostgresServer,
}

impl PostgresFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = PostgresServer::create(folder.path());
        Self { _folder: folder, server }
    }
}

#[test]
fn both_stores_answer_every_query_alike() {
    let postgres_fixture = PostgresFixture::new();
    let in_sqlite = conforms(&sqlite);
    let in_postgres = conforms(&postgres(&postgres_fixture.server.url()));
    assert_eq!(in_sqlite.len(), in_postgres.len());
    for (one, other) in in_sqlite.iter().zip(&in_postgres) {
        assert_eq!(one, other);
    }
    // What they agree on is the story.
    let filled = 100 - 10;
    assert!(in_sqlite.iter().any(|line| line.starts_with("orders") && line.matches("Order {").count() == 100));
    let sums = "SELECT count(*), sum(quantity), sum(quantity * price) FROM bi_transactions";
    assert_eq!(postgres_fixture.server.query(sums), sums_of_story(filled));
    views_have_the_sums_of_the_tables(&postgres_fixture.server);
    reports_need_the_views_alone(&postgres_fixture.server);
}

/// Of the transactions of the story.
fn sums_of_story(count: usize) -> String {
    let booked = story().into_iter().flat_map(|(_, events)| events).filter_map(|published| match published.event {
        Event::Transaction(transaction) => Some(transaction),
        _ => None,
    });
    let booked: Vec<_> = booked.collect();
    assert_eq!(booked.len(), count);
    let quantity: domain::Decimal = booked.iter().map(|transaction| transaction.quantity.0).sum();
    let value: domain::Decimal = booked.iter().map(|transaction| transaction.quantity.0 * transaction.price.0).sum();
    format!("{count}|{quantity}|{value}")
}

/// The rights that docs/postgres.md gives to a role for reports.
fn reports_need_the_views_alone(server: &PostgresServer) {
    server.query(
        "CREATE ROLE reports; GRANT USAGE ON SCHEMA rialto TO reports;
        GRANT SELECT ON bi_orders, bi_fills, bi_transactions, bi_positions_by_day TO reports",
    );
    for view in ["bi_orders", "bi_fills", "bi_transactions", "bi_positions_by_day"] {
        let count = format!("SELECT count(*) FROM (SELECT * FROM {view}) AS rows");
        assert_eq!(server.query(&format!("SET ROLE reports; {count}")), server.query(&count), "{view}");
    }
    let rights = "SELECT count(*) FROM pg_class WHERE relnamespace = 'rialto'::regnamespace AND relkind = 'r'
        AND has_table_privilege('reports', oid, 'SELECT, INSERT, UPDATE, DELETE')";
    assert_eq!(server.query(rights), "0");
}

fn views_have_the_sums_of_the_tables(server: &PostgresServer) {
    let last_days = "SELECT sum(quantity) FROM (SELECT DISTINCT ON (strategy_id, account_id, security_id) quantity
        FROM bi_positions_by_day ORDER BY strategy_id, account_id, security_id, day DESC) AS last_days";
    assert_eq!(server.query(last_days), server.query("SELECT sum(quantity) FROM bi_transactions"));
    assert_eq!(
        server.query("SELECT sum(fees) FROM bi_positions_by_day"),
        server.query("SELECT sum(fee) FROM bi_transactions")
    );
    assert_eq!(server.query("SELECT count(*), sum(quantity) FROM bi_fills"), "180|18090.0");
    let executed = "SELECT count(*), min(average_price), min(placed_at) FROM bi_orders WHERE status = 'EXECUTED'";
    assert_eq!(server.query(executed), "90|10.250000000000|1970-01-01 00:00:00.000001+00");
    let values = "SELECT count(*), sum(day_result), count(day_flow) FROM bi_values WHERE security_id IS NULL";
    assert_eq!(server.query(values), "15|150|14");
    let days = "SELECT count(*), min(day), max(valued_at) FROM bi_values_by_day WHERE scope = 'PLATFORM'";
    assert_eq!(server.query(days), "6|2026-11-01|1970-01-01 00:00:00.3+00");
    assert_eq!(
        server.query("SELECT min(fee), min(execution_commission) FROM bi_transactions"),
        "12345678901234567.89|-0.000000000001"
    );
}

#[test]
fn a_server_that_goes_away_comes_back_with_nothing_missing_and_nothing_twice() {
    let mut fixture = PostgresFixture::new();
    let (folder, story) = (tempfile::tempdir().unwrap(), story());
    let model = postgres(&fixture.server.url())(folder.path(), 0);
    wait_for("the first connection", || (!model.is_behind()).then_some(()));
    story[..100].iter().for_each(|(sequence, events)| model.offer(*sequence, events));
    wait_for("the first part", || (model.applied() == 100).then_some(()));
    fixture.server.stop();
    story[100..].iter().for_each(|(sequence, events)| model.offer(*sequence, events));
    let reason = wait_for("the reason", || model.failure());
    assert!(reason.contains("PostgreSQL at postgres://desk:***@127.0.0.1:") && !reason.contains(PASSWORD), "{reason}");
    match model.orders(INPUTS, &OrderSearch::default(), SortOrder::Oldest, ALL) {
        Err(HistoryError::Unavailable(reason)) => assert!(!reason.contains(PASSWORD), "{reason}"),
        other => panic!("{other:?}"),
    }
    fixture.server.start();
    replay(&model, &story);
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    assert_eq!(model.failure(), None);
    assert_eq!(answers(&model, INPUTS), conforms(&sqlite));
}

#[test]
fn a_stop_ends_while_the_server_is_down_and_says_that_events_are_missing() {
    let mut fixture = PostgresFixture::new();
    fixture.server.stop();
    let folder = tempfile::tempdir().unwrap();
    let model = postgres(&fixture.server.url())(folder.path(), 5);
    story()[..9].iter().for_each(|(sequence, events)| model.offer(*sequence, events));
    wait_for("the reason", || model.failure());
    let missing = model.stop().unwrap_err().to_string();
    assert!(missing.contains("Connection refused") && !missing.contains(PASSWORD), "{missing}");
    assert_eq!((model.applied(), model.wait_behind()), (0, None));
}

fn damage_order(server: &PostgresServer, id: u64) {
    let damage = "UPDATE orders SET payload = set_byte(payload, 9, get_byte(payload, 9) # 1) WHERE id =";
    server.query(&format!("{damage} {id}"));
}

#[test]
fn a_damaged_row_is_never_an_answer_and_all_rows_are_written_anew() {
    let fixture = PostgresFixture::new();
    let (folder, story) = (tempfile::tempdir().unwrap(), story());
    let model = postgres(&fixture.server.url())(folder.path(), INPUTS);
    replay(&model, &story);
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    let before = answers(&model, INPUTS);
    damage_order(&fixture.server, 7);
    match model.orders(INPUTS, &OrderSearch::default(), SortOrder::Oldest, ALL) {
        Err(HistoryError::Failed(reason)) => assert!(reason.contains("the checksum of order 7"), "{reason}"),
        other => panic!("{other:?}"),
    }
    wait_for("a store that is behind", || model.is_behind().then_some(()));
    replay(&model, &story);
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    assert_eq!(answers(&model, INPUTS), before);
}

/// The newest event is below the floor, so the journal cannot be asked for it: the database is taken as it is, and goes on.
#[test]
fn beside_a_journal_that_was_pruned_the_database_goes_on() {
    let fixture = PostgresFixture::new();
    let (folder, url, story) = (tempfile::tempdir().unwrap(), fixture.server.url(), story());
    let model = postgres(&url)(folder.path(), INPUTS);
    replay(&model, &story);
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    let before = answers(&model, INPUTS);
    model.stop().unwrap();
    drop(model);
    let model = postgres_on(&url, |_| Err(StorageError::Pruned { floor: INPUTS }))(folder.path(), INPUTS);
    wait_for("the database", || (model.applied() == INPUTS).then_some(()));
    assert_eq!((model.failure(), answers(&model, INPUTS)), (None, before));
}

#[test]
fn what_is_not_of_this_journal_is_refused_with_the_reason_and_left_alone() {
    let fixture = PostgresFixture::new();
    let url = fixture.server.url();
    let folder = tempfile::tempdir().unwrap();
    let model = postgres(&url)(folder.path(), INPUTS);
    replay(&model, &story());
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    let other = tempfile::tempdir().unwrap();
    let refused_on = |input_time: fn(u64) -> Option<Timestamp>, reason: &str| {
        let model = postgres_on(&url, move |sequence| Ok(input_time(sequence)))(other.path(), INPUTS);
        wait_for(reason, || model.failure().filter(|failure| failure.contains(reason)));
    };
    let refused = |reason: &str| refused_on(|sequence| Some(time_of(sequence)), reason);
    refused("another server writes into the schema rialto");
    model.stop().unwrap();
    drop(model);
    refused_on(|_| None, "it has event 300, which the journal does not have");
    // Another input has its number.
    refused_on(|sequence| Some(time_of(sequence + 1)), "it has event 300, which the journal does not have");
    fixture.server.query("INSERT INTO migrations VALUES (10)");
    refused("is of version 10");
    fixture.server.query("DELETE FROM migrations WHERE number = 10; UPDATE model SET instance = 'another'");
    refused("the history of another data folder");
    assert_eq!(fixture.server.query("SELECT count(*) FROM orders"), "100");
}
