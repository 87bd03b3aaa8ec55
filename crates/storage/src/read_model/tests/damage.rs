//! A missing, damaged or foreign file: the read model opens all the same, and is filled again from the journal.

use super::*;

/// The bad file was moved aside, the model begins at 0, and the replay makes it whole.
fn is_built_again(fixture: &ReadModelFixture, model: &ReadModel) {
    assert_eq!(model.applied(), 0);
    assert!(fixture.files().contains(&format!("{FILE}.damaged")), "{:?}", fixture.files());
    offer_day(model);
    model.stop().unwrap();
    assert_eq!(contents(model), contents_after(8));
}

#[test]
fn a_deleted_file_is_built_again() {
    let fixture = ReadModelFixture::after_the_day();
    fs::remove_file(fixture.file()).unwrap();
    let model = fixture.open();
    assert_eq!(model.applied(), 0);
    offer_day(&model);
    model.stop().unwrap();
    assert_eq!(contents(&model), contents_after(8));
}

#[test]
fn a_file_that_is_no_database_is_moved_aside() {
    let fixture = ReadModelFixture::after_the_day();
    fs::write(fixture.file(), "something else entirely, and long enough to be looked at by SQLite".repeat(100))
        .unwrap();
    is_built_again(&fixture, &fixture.open());
    let aside = fs::read_to_string(fixture.folder.path().join(format!("{FILE}.damaged"))).unwrap();
    assert!(aside.starts_with("something else entirely"));
}

#[test]
fn after_every_truncation_the_model_opens_and_the_replay_completes_it() {
    let fixture = ReadModelFixture::after_the_day();
    let good = fs::read(fixture.file()).unwrap();
    let whole = contents_after(8);
    for length in (0..good.len()).step_by(2048) {
        fs::write(fixture.file(), &good[..length]).unwrap();
        let model = fixture.open();
        assert_eq!(model.applied(), 0, "{length}");
        offer_day(&model);
        model.stop().unwrap();
        assert_eq!(contents(&model), whole, "{length}");
    }
}

#[test]
fn a_damaged_page_is_found_before_anything_is_believed() {
    let fixture = ReadModelFixture::after_the_day();
    let good = fs::read(fixture.file()).unwrap();
    // The head of each page says how its rows lie.
    for page in (4096..good.len()).step_by(4096) {
        let mut bytes = good.clone();
        bytes[page..page + 8].fill(0xee);
        fs::write(fixture.file(), &bytes).unwrap();
        is_built_again(&fixture, &fixture.open());
        fs::remove_file(fixture.file()).unwrap();
    }
}

fn damage_orders(fixture: &ReadModelFixture) {
    let connection = rusqlite::Connection::open(fixture.file()).unwrap();
    let find = "SELECT rootpage FROM sqlite_schema WHERE name = 'orders'";
    let page: usize = connection.query_row(find, [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = fs::read(fixture.file()).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xee);
    fs::write(fixture.file(), &bytes).unwrap();
}

#[test]
fn damage_in_a_large_file_is_found_when_it_is_met_and_cured_by_the_next_start() {
    let fixture = ReadModelFixture::after_the_day();
    damage_orders(&fixture);
    let limits = ReadModelLimits { check_bytes: 0, ..ReadModelLimits::default() };
    let lock = DataDirLock::acquire(fixture.folder.path()).unwrap();
    let model = ReadModel::open_with(limits, &lock, INSTANCE, u64::MAX).unwrap();
    match model.orders(8, &OrderSearch::default(), SortOrder::Oldest, ALL) {
        Err(HistoryError::Failed(told)) => {
            assert_eq!(told, "the read model cannot be read: database disk image is malformed");
        }
        other => panic!("{other:?}"),
    }
    drop((model, lock));
    is_built_again(&fixture, &fixture.open());
    assert_eq!(fixture.open().applied(), 8, "and not once more");
}

#[test]
fn a_model_of_another_instance_is_moved_aside() {
    let fixture = ReadModelFixture::after_the_day();
    let model = fixture.try_open(InstanceId([7; 16]), u64::MAX).unwrap();
    is_built_again(&fixture, &model);
}

#[test]
fn a_model_that_saw_more_than_the_journal_holds_proves_a_loss_and_is_left_alone() {
    let fixture = ReadModelFixture::after_the_day();
    assert_eq!(fixture.try_open(INSTANCE, 8).unwrap().applied(), 8);
    let Err(StorageError::Lost(loss)) = fixture.try_open(INSTANCE, 7) else { panic!("it is refused") };
    assert_eq!((loss.end, loss.known), (7, vec![format!("the read model {} has event 8", fixture.file().display())]));
    assert!(!fixture.files().contains(&format!("{FILE}.damaged")), "{:?}", fixture.files());
    assert_eq!(fixture.try_open(INSTANCE, 8).unwrap().applied(), 8);
}

#[test]
fn what_a_model_remembers_is_told_without_opening_it() {
    let fixture = ReadModelFixture::after_the_day();
    let day = Remembered { event: 8, applied: 8, order: 2, transaction: 2 };
    assert_eq!(remembered(fixture.folder.path(), INSTANCE), Some(day));
    assert_eq!(remembered(fixture.folder.path(), InstanceId([7; 16])), None);
    fs::write(fixture.file(), "no database").unwrap();
    assert_eq!(remembered(fixture.folder.path(), INSTANCE), None);
    assert_eq!(remembered(ReadModelFixture::new().folder.path(), INSTANCE), None);
}

#[test]
fn a_model_of_a_newer_program_is_moved_aside() {
    let fixture = ReadModelFixture::after_the_day();
    let newer = rusqlite::Connection::open(fixture.file()).unwrap();
    newer.pragma_update(None, "user_version", sqlite::schema::VERSION + 1).unwrap();
    drop(newer);
    is_built_again(&fixture, &fixture.open());
}

#[test]
fn a_foreign_database_is_moved_aside() {
    let fixture = ReadModelFixture::new();
    let other = rusqlite::Connection::open(fixture.file()).unwrap();
    other.execute_batch("CREATE TABLE orders (pizza TEXT)").unwrap();
    drop(other);
    is_built_again(&fixture, &fixture.open());
}

#[test]
fn trouble_with_the_system_is_an_error_and_nothing_is_moved() {
    let fixture = ReadModelFixture::new();
    fs::create_dir(fixture.file()).unwrap();
    let error = fixture.try_open(INSTANCE, 8).err().unwrap().to_string();
    let expected = format!("cannot open {}: unable to open database file: {0}", fixture.file().display());
    assert_eq!(error, expected);
    assert_eq!(fixture.files(), ["lock", FILE]);
}

#[test]
fn a_model_that_cannot_be_written_reports_it_and_stops_nothing_else() {
    let fixture = ReadModelFixture::new();
    let limits = ReadModelLimits { events: 1, timeout: PATIENCE, ..ReadModelLimits::default() };
    let lock = DataDirLock::acquire(fixture.folder.path()).unwrap();
    let model = ReadModel::open_with(limits, &lock, INSTANCE, u64::MAX).unwrap();
    let vandal = rusqlite::Connection::open(fixture.file()).unwrap();
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
