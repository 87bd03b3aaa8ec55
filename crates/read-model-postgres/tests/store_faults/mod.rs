//! Databases that are lost, emptied, changed or brought back from a backup: what is answered is complete, or said to be behind.

use storage::read_model::store::{EventBatch, HistoryRows, RowStore, StoreProblem};

use super::*;

#[test]
fn a_server_that_is_lost_and_back_during_the_replay_of_a_start_lacks_nothing() {
    let mut fixture = PostgresFixture::new();
    let (folder, story) = (tempfile::tempdir().unwrap(), story());
    let model = postgres(&fixture.server.url())(folder.path(), INPUTS);
    // Connected, and behind.
    model.wait_behind().unwrap();
    assert_eq!(model.replay_after(), u64::MAX, "a start does not wait for a database");
    fixture.server.stop();
    wait_for("the reason", || model.failure());
    story[..100].iter().for_each(|(sequence, events)| model.append(*sequence, events));
    fixture.server.start();
    model.wait_behind().unwrap();
    story[100..].iter().for_each(|(sequence, events)| model.append(*sequence, events));
    replay(&model, &story);
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    assert_eq!(answers(&model, INPUTS), conforms(&sqlite));
}

/// The lock of an earlier connection is given free a moment after that was closed.
fn connect(store: &mut PostgresRowStore) -> u64 {
    wait_for("a store that connects", || store.connect().ok())
}

/// A store with the whole story, and its two halves as the read model has them.
fn both_halves(
    url: &str,
    input_time: impl Fn(u64) -> Timestamp + Send + 'static,
) -> (PostgresRowStore, Arc<PostgresRows>) {
    let folder = tempfile::tempdir().unwrap();
    let model = postgres(url)(folder.path(), INPUTS);
    replay(&model, &story());
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    model.stop().unwrap();
    drop(model);
    let database = Database::new(PostgresUrl::parse(url).unwrap()).unwrap();
    let input_times = Box::new(move |sequence| Ok(Some(input_time(sequence))));
    let store = PostgresRowStore::new(database.clone(), INSTANCE, input_times);
    (store, Arc::new(PostgresRows::new(database)))
}

#[test]
fn a_database_that_has_less_than_it_had_answers_nothing_that_it_lacks() {
    let fixture = PostgresFixture::new();
    let (folder, story) = (tempfile::tempdir().unwrap(), story());
    let model = postgres(&fixture.server.url())(folder.path(), INPUTS);
    replay(&model, &story);
    wait_for("the whole story", || (model.applied() == INPUTS).then_some(()));
    let before = answers(&model, INPUTS);
    // As a standby that lags, or an older backup that was brought back.
    fixture.server.query("CREATE TABLE later AS SELECT * FROM transactions WHERE sequence > 100");
    fixture.server.query("DELETE FROM transactions WHERE sequence > 100; UPDATE model SET applied = 100");
    let booked = |as_of| model.transactions(as_of, &TransactionSearch::default(), SortOrder::Oldest, ALL);
    assert!(matches!(booked(INPUTS), Err(HistoryError::Behind { applied: 100, wanted: INPUTS })));
    assert!(booked(100).is_ok_and(|found| !found.is_empty()));
    fixture.server.query("INSERT INTO transactions SELECT * FROM later; DROP TABLE later");
    fixture.server.query(&format!("UPDATE model SET applied = {INPUTS}"));
    // Inputs without events are not told to the database one by one, and are no reason to be behind.
    model.offer(INPUTS + 1, &[]);
    wait_for("an input without events", || (model.applied() == INPUTS + 1).then_some(()));
    assert_eq!(answers(&model, INPUTS + 1), before);
}

#[test]
fn a_query_sees_all_rows_or_that_they_are_gone_while_they_are_written_anew() {
    let fixture = PostgresFixture::new();
    let (mut store, rows) = both_halves(&fixture.server.url(), time_of);
    damage_order(&fixture.server, 7);
    let rows_at = |needed| -> Arc<dyn HistoryRows> { rows.clone().at(needed) };
    let damaged = rows_at(INPUTS).orders(&OrderSearch::default(), SortOrder::Oldest, ALL);
    assert!(matches!(damaged, Err(HistoryError::Failed(_))), "{damaged:?}");
    let booked = || rows_at(INPUTS).transactions(&TransactionSearch::default(), SortOrder::Oldest, ALL);
    let (asked, is_asked) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let until_gone = |asked: std::sync::mpsc::Sender<()>| loop {
            match booked() {
                Ok(found) => assert_eq!(found.len(), 90),
                Err(HistoryError::Behind { applied: 0, wanted: INPUTS }) => return,
                Err(other) => panic!("{other:?}"),
            }
            let _ = asked.send(());
        };
        for asked in [asked.clone(), asked.clone(), asked] {
            scope.spawn(move || until_gone(asked));
        }
        is_asked.recv().unwrap();
        assert_eq!(connect(&mut store), 0);
    });
    assert!(
        rows_at(0)
            .transactions(&TransactionSearch::default(), SortOrder::Oldest, ALL)
            .is_ok_and(|found| found.is_empty())
    );
}

#[test]
fn a_changed_column_that_queries_are_narrowed_by_is_damage_and_no_answer() {
    let fixture = PostgresFixture::new();
    let (_store, rows) = both_halves(&fixture.server.url(), time_of);
    let problem_in = |table: &str| match table {
        "orders" => rows.orders(&OrderSearch::default(), SortOrder::Oldest, ALL).err(),
        "fills" => rows.fills(Filter::default(), ALL).err(),
        _ => rows.transactions(&TransactionSearch::default(), SortOrder::Oldest, ALL).err(),
    };
    let tables = ["orders", "fills", "transactions"];
    let owners = tables.map(|table| ["strategy", "account", "security"].map(|column| (table, column)));
    for (table, column) in
        owners.into_iter().flatten().chain(["at", "changed_at", "filled"].map(|column| ("orders", column)))
    {
        let change = |by: &str| format!("UPDATE {table} SET {column} = {column} {by}");
        fixture.server.query(&change("+ 1"));
        let problem = problem_in(table);
        assert!(matches!(problem, Some(HistoryError::Failed(_))), "{table}.{column}: {problem:?}");
        fixture.server.query(&change("- 1"));
        assert!(problem_in(table).is_none(), "{table}.{column}");
    }
}

#[test]
fn damage_that_is_met_while_the_writer_connects_is_not_forgotten() {
    let fixture = PostgresFixture::new();
    // The writer asks for the time of the newest input when it has looked at the tables.
    let met = Arc::new(std::sync::Mutex::new(None::<Box<dyn Fn() + Send>>));
    let meets = met.clone();
    let time_after = move |sequence| {
        meets.lock().unwrap().iter().for_each(|meet| meet());
        time_of(sequence)
    };
    let (mut store, rows) = both_halves(&fixture.server.url(), time_after);
    damage_order(&fixture.server, 7);
    let orders = move || rows.orders(&OrderSearch::default(), SortOrder::Oldest, ALL);
    *met.lock().unwrap() = Some(Box::new(move || assert!(matches!(orders(), Err(HistoryError::Failed(_))))));
    assert_eq!(connect(&mut store), INPUTS);
    *met.lock().unwrap() = None;
    let problem = store.maintain(false);
    let is_damage = |reason: &str| reason.contains("the checksum of order 7") && reason.contains("written anew");
    assert!(matches!(&problem, Err(StoreProblem::Unavailable(reason)) if is_damage(reason)), "{problem:?}");
    assert_eq!(connect(&mut store), 0);
    assert_eq!(store.maintain(false), Ok(()));
}

#[test]
fn a_database_of_another_encoding_is_refused_before_it_gets_a_table() {
    let fixture = PostgresFixture::new();
    fixture.server.query("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    let url = fixture.server.url().replace("/postgres?", "/latin?");
    let folder = tempfile::tempdir().unwrap();
    let model = postgres(&url)(folder.path(), INPUTS);
    let reason = wait_for("the reason", || model.failure());
    assert!(reason.contains("its encoding is LATIN1, and it must be UTF8"), "{reason}");
}

#[test]
fn a_transaction_that_does_not_follow_what_the_tables_have_writes_nothing() {
    let fixture = PostgresFixture::new();
    let (mut store, _rows) = both_halves(&fixture.server.url(), time_of);
    let counts = "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM orders), (SELECT count(*) FROM fills)";
    let (before, last) = (fixture.server.query(counts), story().pop().unwrap());
    assert_eq!(connect(&mut store), INPUTS);
    // Somebody brings the tables to an earlier state, or writes them too.
    fixture.server.query("UPDATE model SET applied = 100");
    let events = last.1.into_iter().map(|event| PublishedEvent { sequence: INPUTS + 3, ..event }).collect();
    let problem = store.write(&EventBatch { through: INPUTS + 3, events });
    let is_noticed = |reason: &str| reason.contains("they are no longer at sequence 300");
    assert!(matches!(&problem, Err(StoreProblem::Unavailable(reason)) if is_noticed(reason)), "{problem:?}");
    assert_eq!(fixture.server.query(counts), before);
    assert_eq!(connect(&mut store), 100);
}
