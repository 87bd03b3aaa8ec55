//! One flipped bit anywhere in the file: it is never answered, and the file is rebuilt from the journal.

use super::*;

/// Bits of the file, the same in every run, and only where something is written: the rest is not read.
fn random_bits(good: &[u8], count: usize) -> Vec<(usize, u8)> {
    let used: Vec<usize> = (0..good.len()).filter(|at| good[*at] != 0).collect();
    let mut state = 20_261_115_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % bound
    };
    (0..count).map(|_| (used[below(used.len())], 1 << below(8))).collect()
}

/// Bits of the header by which SQLite knows the file: one of each byte, and all of its format.
fn header_bits() -> Vec<(usize, u8)> {
    let format = (18..20).flat_map(|at| (0..8).map(move |bit| (at, 1 << bit)));
    (0..100).map(|at| (at, 1 << (at % 8))).chain(format).collect()
}

/// The folder with one bit of its file flipped, and nothing else beside it.
fn flip(fixture: &ReadModelFixture, good: &[u8], (at, bit): (usize, u8)) {
    for name in fixture.files().iter().filter(|name| name.starts_with(FILE)) {
        fs::remove_file(fixture.folder.path().join(name)).unwrap();
    }
    let mut bytes = good.to_vec();
    bytes[at] ^= bit;
    fs::write(fixture.file(), &bytes).unwrap();
}

fn open_unchecked(fixture: &ReadModelFixture) -> ReadModel {
    let limits = ReadModelLimits { check_bytes: 0, timeout: PATIENCE, ..ReadModelLimits::default() };
    let lock = DataDirLock::acquire(fixture.folder.path()).unwrap();
    ReadModel::open_with(limits, &lock, INSTANCE, u64::MAX).unwrap()
}

#[test]
fn a_bit_that_flipped_while_nobody_looked_is_found_at_the_start() {
    let fixture = ReadModelFixture::after_the_day();
    let good = fs::read(fixture.file()).unwrap();
    let whole = contents_after(8);
    for flipped in random_bits(&good, 80).into_iter().chain(header_bits()) {
        flip(&fixture, &good, flipped);
        let model = fixture.open();
        offer_day(&model);
        model.stop().unwrap();
        assert_eq!(contents(&model), whole, "{flipped:?}");
    }
}

/// Orders and fills as they are answered, or that they are not.
fn answers(model: &ReadModel) -> [Result<String, HistoryError>; 3] {
    let as_of = model.applied();
    [
        model.orders(as_of, &OrderSearch::default(), SortOrder::Oldest, ALL).map(|found| format!("{found:?}")),
        model.fills(as_of, Filter::default(), ALL).map(|found| format!("{found:?}")),
        model
            .transactions(as_of, &TransactionSearch::default(), SortOrder::Oldest, ALL)
            .map(|found| format!("{found:?}")),
    ]
}

#[test]
fn a_bit_that_flipped_in_the_values_of_a_large_file_is_never_answered_and_cured_by_the_next_start() {
    let fixture = ReadModelFixture::after_the_day();
    let good = fs::read(fixture.file()).unwrap();
    let whole = contents_after(8);
    let right = answers(&fixture.open()).map(Result::unwrap);
    let mut refused = 0;
    for flipped in payload_bits(&good) {
        flip(&fixture, &good, flipped);
        let model = open_unchecked(&fixture);
        let mut is_refused = false;
        for (answer, right) in answers(&model).into_iter().zip(&right) {
            match answer {
                Ok(answer) => assert_eq!(answer, *right, "{flipped:?}"),
                Err(HistoryError::Failed(_)) => is_refused = true,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(is_refused, model.failure().is_some(), "{flipped:?}");
        drop(model);
        let model = if is_refused { fixture.open() } else { continue };
        offer_day(&model);
        model.stop().unwrap();
        assert_eq!(contents(&model), whole, "{flipped:?}");
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
}

/// One bit of every byte of the values that the file stores of order 1.
fn payload_bits(good: &[u8]) -> Vec<(usize, u8)> {
    let mut stored = Vec::new();
    payload::encode(order(1, BaseState::Filled), &mut stored);
    let at = good.windows(stored.len()).position(|found| found == stored).unwrap();
    (at..at + stored.len()).map(|at| (at, 1 << (at % 8))).collect()
}

#[test]
fn damage_that_a_query_meets_is_reported_until_the_next_start_has_rebuilt_the_file() {
    let fixture = ReadModelFixture::after_the_day();
    let good = fs::read(fixture.file()).unwrap();
    flip(&fixture, &good, payload_bits(&good)[0]);
    let model = open_unchecked(&fixture);
    let told = match model.orders(8, &OrderSearch::default(), SortOrder::Oldest, ALL) {
        Err(HistoryError::Failed(told)) => told,
        other => panic!("{other:?}"),
    };
    let row = "the read model cannot be read: Conversion error from type Integer at index: 12, ";
    assert_eq!(told, format!("{row}the checksum of a row does not match"));
    assert_eq!(model.failure(), Some(format!("{told}; the next start rebuilds it from the journal")));
    drop(model);
    let model = fixture.open();
    assert_eq!((model.applied(), model.failure()), (0, None));
    offer_day(&model);
    model.stop().unwrap();
    assert_eq!(contents(&model), contents_after(8));
}

#[test]
fn a_newest_event_that_is_damaged_accuses_no_journal() {
    let fixture = ReadModelFixture::after_the_day();
    let file = rusqlite::Connection::open(fixture.file()).unwrap();
    file.execute("UPDATE events SET sequence = 4104 WHERE sequence = 8", []).unwrap();
    drop(file);
    assert_eq!(remembered(fixture.folder.path(), INSTANCE), None);
    let model = fixture.try_open(INSTANCE, 8).unwrap();
    assert_eq!(model.applied(), 0, "and is rebuilt");
}

/// As a file of a version before checksums has none.
pub(super) fn take_checksums_away(file: &rusqlite::Connection) {
    for table in ["model", "events", "orders", "order_events", "fills", "transactions"] {
        file.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN checksum")).unwrap();
    }
    // A test may have taken them away before.
    if file.prepare("SELECT changed_at FROM orders").is_ok() {
        searches::without_changes(file);
    }
    file.execute_batch(
        "DROP TABLE value_samples; DROP INDEX transactions_by_words; ALTER TABLE transactions DROP COLUMN words",
    )
    .unwrap();
}

#[test]
fn the_rows_of_an_older_file_get_their_checksums() {
    let fixture = ReadModelFixture::after_the_day();
    let file = rusqlite::Connection::open(fixture.file()).unwrap();
    take_checksums_away(&file);
    file.pragma_update(None, "user_version", 2).unwrap();
    drop(file);
    assert_eq!(remembered(fixture.folder.path(), INSTANCE).map(|found| found.event), Some(8));
    let model = fixture.open();
    assert_eq!((model.applied(), contents(&model)), (8, contents_after(8)));
    drop(model);
    let model = fixture.open();
    assert_eq!((model.applied(), contents(&model)), (8, contents_after(8)), "checked row by row");
}
