//! Order searches, in a long history and in a file of an older version.

use bus::history::{ChangePage, SourceSearch, TextSearch, TradedSearch, TransactionSearch};
use domain::order::OrdStatus;
use rusqlite::Connection;

use super::*;

/// Half of the orders are of a strategy; every hundredth is manual and has a note. Of a FIX client every second one has executions.
fn many(count: u64) -> Vec<Event> {
    (1..=count).map(|id| Event::Order(Arc::new(one_of_many(id)))).collect()
}

fn one_of_many(id: u64) -> Order {
    let mut order = order(1, BaseState::Canceled);
    (order.id, order.int_id) = (OrderId(id), format!("desk-{id}").parse().unwrap());
    order.at = Timestamp(i64::try_from(id).unwrap() * 1_000);
    order.changed_at = order.at;
    order.filled = if id % 8 == 3 { 1.into() } else { Quantity::ZERO };
    order.ext_id = Some(format!("Venue-{id}").into());
    order.source = match id % 4 {
        0 | 2 => Source::Strategy,
        1 => Source::Ui,
        _ => Source::Fix("BANK".into()),
    };
    order.security = SecurityId(20 + id % 3);
    order.reference = id.is_multiple_of(100).then(|| "Hedge of the week".into());
    order
}

fn told(model: &ReadModel, count: u64) {
    let at = Timestamp(1);
    let events: Vec<_> = many(count).into_iter().map(|event| PublishedEvent { sequence: 1, at, event }).collect();
    model.append(1, &events);
}

fn found(model: &ReadModel, search: &OrderSearch, sort: SortOrder, limit: usize) -> Vec<u64> {
    let page = PageRequest { after: sort.start(), limit };
    model.orders(1, search, sort, page).unwrap().iter().map(|order| order.id.0).collect()
}

/// Those of the client BANK that have executions, page by page.
fn traded(model: &ReadModel, mut after: (Timestamp, u64), limit: usize) -> Vec<Vec<u64>> {
    let search = TradedSearch { source: "FIX:BANK".into(), security: None };
    let mut pages = vec![];
    loop {
        let page = model.traded_orders(1, &search, ChangePage { after, limit }).unwrap();
        let Some(last) = page.last() else { return pages };
        after = (last.changed_at, last.id.0);
        pages.push(page.iter().map(|order| order.id.0).collect());
    }
}

fn text(part: &str) -> OrderSearch {
    let text = Some(TextSearch { part: part.into(), securities: vec![] });
    OrderSearch { text, ..OrderSearch::default() }
}

#[test]
fn an_order_is_found_by_a_part_of_each_of_its_names() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    told(&model, 1_000);
    assert_eq!(found(&model, &text("desk-777"), SortOrder::Oldest, 10), [777]);
    assert_eq!(
        found(&model, &text("venue-99"), SortOrder::Newest, 3),
        [999, 998, 997],
        "in whatever case it is written"
    );
    assert_eq!(found(&model, &text("hedge of"), SortOrder::Newest, 2), [1000, 900]);
    assert_eq!(found(&model, &text("1\nvenue"), SortOrder::Oldest, 1), [1], "names stand apart");
    assert_eq!(found(&model, &text("nobody's"), SortOrder::Oldest, 1), [0; 0]);
    let by_symbol = TextSearch { part: "desk-5".into(), securities: vec![SecurityId(20)] };
    let by_symbol = OrderSearch { text: Some(by_symbol), ..OrderSearch::default() };
    assert_eq!(found(&model, &by_symbol, SortOrder::Oldest, 4), [3, 5, 6, 9], "by name or by its security");
}

#[test]
fn orders_are_found_by_what_they_are() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    told(&model, 1_000);
    let any = OrderSearch::default;
    let ui = SourceSearch::Exactly("UI".into());
    let of = |sources: Vec<SourceSearch>| OrderSearch { sources, ..any() };
    assert_eq!(found(&model, &of(vec![ui.clone()]), SortOrder::Newest, 2), [997, 993]);
    assert_eq!(found(&model, &of(vec![ui, SourceSearch::AnyFix]), SortOrder::Newest, 3), [999, 997, 995]);
    assert_eq!(found(&model, &of(vec![SourceSearch::Exactly("FIX:BANK".into())]), SortOrder::Oldest, 2), [3, 7]);
    let of_people = OrderSearch { exclude_strategies: true, ..any() };
    assert_eq!(found(&model, &of_people, SortOrder::Oldest, 4), [1, 3, 5, 7]);
    let dated = OrderSearch { from: Some(Timestamp(10_000)), to: Some(Timestamp(13_000)), ..any() };
    assert_eq!(found(&model, &dated, SortOrder::Oldest, 9), [10, 11, 12]);
    let ended = OrderSearch { statuses: vec![OrdStatus::Executed, OrdStatus::Canceled], ..any() };
    assert_eq!(found(&model, &ended, SortOrder::Oldest, 2), [1, 2]);
    assert_eq!(found(&model, &OrderSearch { statuses: vec![OrdStatus::Open], ..any() }, SortOrder::Oldest, 2), [0; 0]);
    let all = OrderSearch { filter: Filter { security: Some(SecurityId(21)), ..Filter::default() }, ..dated };
    assert_eq!(found(&model, &OrderSearch { text: text("desk").text, ..all }, SortOrder::Oldest, 9), [10]);
}

#[test]
fn pages_of_a_search_follow_one_another() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    told(&model, 1_000);
    let search = text("venue-9");
    let (mut pages, mut after) = (vec![], SortOrder::Newest.start());
    loop {
        let page = model.orders(1, &search, SortOrder::Newest, PageRequest { after, limit: 7 }).unwrap();
        let Some(last) = page.last() else { break };
        after = last.id.0;
        pages.extend(page.iter().map(|order| order.id.0));
    }
    let expected: Vec<_> = (1..=1_000).rev().filter(|id: &u64| id.to_string().starts_with('9')).collect();
    assert_eq!(pages, expected);
}

/// The columns are taken away again, as a file of the first version does not have them.
#[test]
fn orders_of_an_older_program_are_found_too() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    told(&model, 200);
    model.stop().unwrap();
    drop(model);
    let file = Connection::open(fixture.file()).unwrap();
    without_changes(&file);
    for index in ["at", "source", "words"] {
        file.execute_batch(&format!("DROP INDEX orders_by_{index}")).unwrap();
    }
    for column in ["at", "status", "source", "words"] {
        file.execute_batch(&format!("ALTER TABLE orders DROP COLUMN {column}")).unwrap();
    }
    bits::take_checksums_away(&file);
    file.pragma_update(None, "user_version", 1).unwrap();
    drop(file);
    let model = fixture.open();
    assert_eq!(found(&model, &text("hedge"), SortOrder::Oldest, 9), [100, 200]);
    let dated = OrderSearch { from: Some(Timestamp(199_000)), ..OrderSearch::default() };
    assert_eq!(found(&model, &dated, SortOrder::Oldest, 9), [199, 200]);
}

/// The answer comes from an index and not from the orders: so it is quick however many there are.
#[test]
fn every_search_has_an_index() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    told(&model, 10);
    model.stop().unwrap();
    let file = Connection::open(fixture.file()).unwrap();
    let plan_of = |statement: &sqlite::search::SearchStatement| -> String {
        let mut explain = file.prepare(&format!("EXPLAIN QUERY PLAN {}", statement.text)).unwrap();
        let rows = explain.query_map(rusqlite::params_from_iter(statement.values()), |row| row.get::<_, String>(3));
        rows.unwrap().map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    let plan =
        |search: &OrderSearch| plan_of(&sqlite::search::SearchStatement::from_search(search, SortOrder::Newest, ALL));
    let searched = plan(&text("desk"));
    assert!(searched.contains("SCAN orders USING COVERING INDEX orders_by_words"), "{searched}");
    let by_text = TransactionSearch { text: text("desk").text, ..TransactionSearch::default() };
    let of_transactions = sqlite::search::SearchStatement::from_transactions(&by_text, SortOrder::Newest, ALL);
    let searched = plan_of(&of_transactions);
    assert!(searched.contains("SCAN transactions USING COVERING INDEX transactions_by_words"), "{searched}");
    let fix = OrderSearch { sources: vec![SourceSearch::Exactly("UI".into())], ..OrderSearch::default() };
    assert!(plan(&fix).contains("orders_by_source"), "{}", plan(&fix));
    let dated = OrderSearch { from: Some(Timestamp(5)), to: Some(Timestamp(6)), ..OrderSearch::default() };
    assert!(plan(&dated).contains("orders_by_at"), "{}", plan(&dated));
    let traded = TradedSearch { source: "FIX:BANK".into(), security: Some(SecurityId(21)) };
    let page = ChangePage { after: (Timestamp(5), 7), limit: 9 };
    let traded = plan_of(&sqlite::search::SearchStatement::from_traded(&traded, page));
    assert_eq!(
        traded, "SEARCH orders USING INDEX traded_orders_by_change (source=? AND changed_at>?)",
        "nothing is sorted"
    );
}

/// A file of the fourth version: its transactions have no words, and checksums without them.
pub(super) fn of_the_fourth_version(fixture: &ReadModelFixture) -> Connection {
    let file = of_the_fifth_version(fixture);
    file.execute_batch("DROP INDEX transactions_by_words; ALTER TABLE transactions DROP COLUMN words").unwrap();
    let rows = "SELECT id, sequence, ordinal, strategy, account, security FROM transactions";
    let mut statement = file.prepare(rows).unwrap();
    let sum = |row: &rusqlite::Row<'_>| {
        let values: Vec<_> = (0..6).map(|column| row.get_ref(column).unwrap()).collect();
        Ok((row.get::<_, i64>(0)?, sqlite::checksum::checksum_of(&values)))
    };
    let sums: Vec<_> = statement.query_map([], sum).unwrap().map(Result::unwrap).collect();
    for (id, sum) in sums {
        file.execute("UPDATE transactions SET checksum = ?2 WHERE id = ?1", [id, sum]).unwrap();
    }
    drop(statement);
    file.pragma_update(None, "user_version", 4).unwrap();
    file
}

/// A file of the fifth version: its orders have no instant of their last change, and checksums without it.
fn of_the_fifth_version(fixture: &ReadModelFixture) -> Connection {
    let file = Connection::open(fixture.file()).unwrap();
    without_changes(&file);
    sum_orders_up_to(&file, "words");
    file.pragma_update(None, "user_version", 5).unwrap();
    file
}

/// A file of the sixth version: the last change of all its orders was searched by, with executions or without.
fn of_the_sixth_version(fixture: &ReadModelFixture) -> Connection {
    let file = Connection::open(fixture.file()).unwrap();
    let before = "DROP INDEX traded_orders_by_change; ALTER TABLE orders DROP COLUMN has_fills;
        CREATE INDEX orders_by_change ON orders (source, changed_at)";
    file.execute_batch(before).unwrap();
    sum_orders_up_to(&file, "words, changed_at");
    file.pragma_update(None, "user_version", 6).unwrap();
    file
}

/// Checksums that cover the columns up to the last ones.
fn sum_orders_up_to(file: &Connection, last: &str) {
    let rows =
        format!("SELECT id, payload, int_id, strategy, account, security, at, status, source, {last} FROM orders");
    let mut statement = file.prepare(&rows).unwrap();
    let count = statement.column_count();
    let sum = |row: &rusqlite::Row<'_>| {
        let values: Vec<_> = (0..count).map(|column| row.get_ref(column).unwrap()).collect();
        Ok((row.get::<_, i64>(0)?, sqlite::checksum::checksum_of(&values)))
    };
    let sums: Vec<_> = statement.query_map([], sum).unwrap().map(Result::unwrap).collect();
    for (id, sum) in sums {
        file.execute("UPDATE orders SET checksum = ?2 WHERE id = ?1", [id, sum]).unwrap();
    }
}

pub(super) fn without_changes(file: &Connection) {
    let columns = "ALTER TABLE orders DROP COLUMN has_fills; ALTER TABLE orders DROP COLUMN changed_at";
    file.execute_batch(&format!("DROP INDEX traded_orders_by_change; {columns}")).unwrap();
}

#[test]
fn orders_of_an_older_program_are_found_by_their_last_change() {
    for older in [of_the_fifth_version, of_the_sixth_version] {
        let fixture = ReadModelFixture::new();
        let model = fixture.open();
        told(&model, 200);
        model.stop().unwrap();
        drop(model);
        drop(older(&fixture));
        for _ in 0..2 {
            let model = fixture.open();
            assert_eq!(model.applied(), 1, "nothing is built again");
            assert_eq!(traded(&model, (Timestamp(179_500), 0), 9), [[187, 195]]);
        }
    }
}

#[test]
fn an_order_of_an_older_program_that_was_damaged_stays_damaged() {
    for older in [of_the_fifth_version, of_the_sixth_version] {
        let fixture = ReadModelFixture::after_the_day();
        older(&fixture).execute("UPDATE orders SET account = account + 1 WHERE id = 1", []).unwrap();
        let model = fixture.open();
        assert_eq!(model.applied(), 0);
        assert!(fixture.files().contains(&format!("{FILE}.damaged")), "{:?}", fixture.files());
    }
}

/// An order that was placed long ago and filled now is found by now, behind the others. One without executions is not; one whose executions
/// were taken back is, since a client may know of them.
#[test]
fn the_orders_of_a_client_that_traded_are_found_by_their_last_change() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    told(&model, 1_000);
    assert_eq!(traded(&model, (Timestamp(970_500), 0), 2), [vec![971, 979], vec![987, 995]]);
    assert_eq!(
        traded(&model, (Timestamp(979_000), 978), 9),
        [[979, 987, 995]],
        "of the same instant those with a higher id"
    );
    let now = Timestamp(995_000);
    let changed = [
        Order { changed_at: now, ..one_of_many(3) },
        Order { filled: 1.into(), changed_at: now, ..one_of_many(7) },
        Order { changed_at: now, ..one_of_many(999) },
        Order { filled: Quantity::ZERO, ..one_of_many(987) },
    ];
    let events = changed.map(|order| PublishedEvent { sequence: 2, at: now, event: picture(&order) });
    model.append(2, &events);
    model.stop().unwrap();
    assert_eq!(traded(&model, (Timestamp(979_000), 979), 2), [vec![987, 3], vec![7, 995]]);
    assert_eq!(traded(&model, (now, 995), 9), [[0; 0]; 0]);
}

/// The file is moved aside and made again from the journal; before, the wrong account had a good checksum.
#[test]
fn a_row_of_an_older_program_that_was_damaged_stays_damaged() {
    for damage in [
        "UPDATE transactions SET account = account + 1 WHERE id = 2",
        "UPDATE events SET at = at + 1 WHERE (sequence, ordinal) = (SELECT sequence, ordinal FROM transactions WHERE id = 2)",
    ] {
        let fixture = ReadModelFixture::after_the_day();
        of_the_fourth_version(&fixture).execute(damage, []).unwrap();
        let model = fixture.open();
        assert_eq!(model.applied(), 0, "{damage}");
        assert!(fixture.files().contains(&format!("{FILE}.damaged")), "{damage}: {:?}", fixture.files());
    }
}

#[test]
fn transactions_of_an_older_program_are_found_too() {
    let fixture = ReadModelFixture::after_the_day();
    drop(of_the_fourth_version(&fixture));
    let model = fixture.open();
    let part = Uuid::mint(1, 2).to_string();
    let search = TransactionSearch { text: text(&part).text, ..TransactionSearch::default() };
    let found = model.transactions(8, &search, SortOrder::Oldest, ALL).unwrap();
    assert_eq!(found.iter().map(|booked| booked.id.0).collect::<Vec<_>>(), [2]);
    drop(model);
    let model = fixture.open();
    assert_eq!((model.applied(), contents(&model)), (8, contents_after(8)), "checked row by row");
}

#[test]
fn an_order_that_was_claimed_is_found_under_its_new_strategy() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    let claimed = Order { strategy: StrategyId(2), ..order(1, BaseState::Filled) };
    let seen = [order(1, BaseState::Filled), claimed.clone()];
    let events = seen.map(|order| PublishedEvent { sequence: 1, at: Timestamp(1), event: picture(&order) });
    model.append(1, &events);
    let of = |strategy| {
        let filter = Filter { strategy: Some(StrategyId(strategy)), ..Filter::default() };
        model.orders(1, &filter.into(), SortOrder::Oldest, ALL).unwrap()
    };
    assert_eq!((of(1), of(2)), (vec![], vec![Arc::new(claimed)]));
}
