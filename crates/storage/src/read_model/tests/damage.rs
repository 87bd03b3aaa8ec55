//! A missing, damaged or foreign file: the read model opens all the same, and is filled again from the journal.

use super::*;

/// The bad file was moved aside, the model begins at 0, and the replay makes it whole.
fn is_built_again(desk: &ReadModelFixture, model: &ReadModel) {
    assert_eq!(model.applied(), 0);
    assert!(desk.files().contains(&format!("{FILE}.damaged")), "{:?}", desk.files());
    offer_day(model);
    model.stop().unwrap();
    assert_eq!(contents(model), contents_after(8));
}

#[test]
fn a_deleted_file_is_built_again() {
    let desk = ReadModelFixture::after_the_day();
    fs::remove_file(desk.file()).unwrap();
    let model = desk.open();
    assert_eq!(model.applied(), 0);
    offer_day(&model);
    model.stop().unwrap();
    assert_eq!(contents(&model), contents_after(8));
}

#[test]
fn a_file_that_is_no_database_is_moved_aside() {
    let desk = ReadModelFixture::after_the_day();
    fs::write(desk.file(), "something else entirely, and long enough to be looked at by SQLite".repeat(100)).unwrap();
    is_built_again(&desk, &desk.open());
    let aside = fs::read_to_string(desk.folder.path().join(format!("{FILE}.damaged"))).unwrap();
    assert!(aside.starts_with("something else entirely"));
}

#[test]
fn after_every_truncation_the_model_opens_and_the_replay_completes_it() {
    let desk = ReadModelFixture::after_the_day();
    let good = fs::read(desk.file()).unwrap();
    let whole = contents_after(8);
    for length in (0..good.len()).step_by(2048) {
        fs::write(desk.file(), &good[..length]).unwrap();
        let model = desk.open();
        assert_eq!(model.applied(), 0, "{length}");
        offer_day(&model);
        model.stop().unwrap();
        assert_eq!(contents(&model), whole, "{length}");
    }
}

#[test]
fn a_damaged_page_is_found_before_anything_is_believed() {
    let desk = ReadModelFixture::after_the_day();
    let good = fs::read(desk.file()).unwrap();
    // The head of each page says how its rows lie.
    for page in (4096..good.len()).step_by(4096) {
        let mut bytes = good.clone();
        bytes[page..page + 8].fill(0xee);
        fs::write(desk.file(), &bytes).unwrap();
        is_built_again(&desk, &desk.open());
        fs::remove_file(desk.file()).unwrap();
    }
}

fn damage_orders(desk: &ReadModelFixture) {
    let connection = rusqlite::Connection::open(desk.file()).unwrap();
    let find = "SELECT rootpage FROM sqlite_schema WHERE name = 'orders'";
    let page: usize = connection.query_row(find, [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = fs::read(desk.file()).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xee);
    fs::write(desk.file(), &bytes).unwrap();
}

#[test]
fn damage_in_a_large_file_is_found_when_it_is_met_and_cured_by_the_next_start() {
    let desk = ReadModelFixture::after_the_day();
    damage_orders(&desk);
    let limits = ReadModelLimits { check_bytes: 0, ..ReadModelLimits::default() };
    let lock = DataDirLock::acquire(desk.folder.path()).unwrap();
    let model = ReadModel::open_with(limits, &lock, INSTANCE, u64::MAX).unwrap();
    match model.orders(8, &OrderSearch::default(), SortOrder::Oldest, ALL) {
        Err(HistoryError::Failed(told)) => {
            assert_eq!(told, "the read model cannot be read: database disk image is malformed");
        }
        other => panic!("{other:?}"),
    }
    drop((model, lock));
    is_built_again(&desk, &desk.open());
    assert_eq!(desk.open().applied(), 8, "and not once more");
}

#[test]
fn a_model_of_another_instance_is_moved_aside() {
    let desk = ReadModelFixture::after_the_day();
    let model = desk.try_open(InstanceId([7; 16]), u64::MAX).unwrap();
    is_built_again(&desk, &model);
}

#[test]
fn a_model_that_saw_more_than_the_journal_holds_proves_a_loss_and_is_left_alone() {
    let desk = ReadModelFixture::after_the_day();
    assert_eq!(desk.try_open(INSTANCE, 8).unwrap().applied(), 8);
    let Err(StorageError::Lost(loss)) = desk.try_open(INSTANCE, 7) else { panic!("it is refused") };
    assert_eq!((loss.end, loss.known), (7, vec![format!("the read model {} has event 8", desk.file().display())]));
    assert!(!desk.files().contains(&format!("{FILE}.damaged")), "{:?}", desk.files());
    assert_eq!(desk.try_open(INSTANCE, 8).unwrap().applied(), 8);
}

#[test]
fn what_a_model_remembers_is_told_without_opening_it() {
    let desk = ReadModelFixture::after_the_day();
    let day = Remembered { event: 8, applied: 8, order: 2, transaction: 2 };
    assert_eq!(remembered(desk.folder.path(), INSTANCE), Some(day));
    assert_eq!(remembered(desk.folder.path(), InstanceId([7; 16])), None);
    fs::write(desk.file(), "no database").unwrap();
    assert_eq!(remembered(desk.folder.path(), INSTANCE), None);
    assert_eq!(remembered(ReadModelFixture::new().folder.path(), INSTANCE), None);
}

#[test]
fn a_model_of_a_newer_program_is_moved_aside() {
    let desk = ReadModelFixture::after_the_day();
    let newer = rusqlite::Connection::open(desk.file()).unwrap();
    newer.pragma_update(None, "user_version", schema::VERSION + 1).unwrap();
    drop(newer);
    is_built_again(&desk, &desk.open());
}

#[test]
fn a_foreign_database_is_moved_aside() {
    let desk = ReadModelFixture::new();
    let other = rusqlite::Connection::open(desk.file()).unwrap();
    other.execute_batch("CREATE TABLE orders (pizza TEXT)").unwrap();
    drop(other);
    is_built_again(&desk, &desk.open());
}

#[test]
fn trouble_with_the_system_is_an_error_and_nothing_is_moved() {
    let desk = ReadModelFixture::new();
    fs::create_dir(desk.file()).unwrap();
    let error = desk.try_open(INSTANCE, 8).err().unwrap().to_string();
    let expected = format!("cannot open {}: unable to open database file: {0}", desk.file().display());
    assert_eq!(error, expected);
    assert_eq!(desk.files(), ["lock", FILE]);
}

#[test]
fn a_model_that_cannot_be_written_reports_it_and_stops_nothing_else() {
    let desk = ReadModelFixture::new();
    let limits = ReadModelLimits { events: 1, timeout: PATIENCE, ..ReadModelLimits::default() };
    let lock = DataDirLock::acquire(desk.folder.path()).unwrap();
    let model = ReadModel::open_with(limits, &lock, INSTANCE, u64::MAX).unwrap();
    let vandal = rusqlite::Connection::open(desk.file()).unwrap();
    vandal.execute_batch("DROP TABLE fills").unwrap();
    offer_day(&model);
    offer_day(&model);
    let reason = "the read model cannot be written: no such table: fills";
    match model.orders(8, &OrderSearch::default(), SortOrder::Oldest, ALL) {
        Err(HistoryError::Failed(told)) => assert!(told.starts_with(reason), "{told}"),
        other => panic!("{other:?}"),
    }
    assert!(model.failure().is_some_and(|told| told.starts_with(reason)));
    assert!(matches!(model.stop(), Err(StorageError::Failed { .. })));
}
