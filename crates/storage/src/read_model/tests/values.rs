//! The value history in SQLite: samples by scope, time and day, and what damage and an older file mean for them.

use bus::history::{StoredSample, ValueRows, ValueSearch};
use domain::ValueSample;

use super::*;

const PLATFORM: ValueSearch =
    ValueSearch { scope: RiskScope::Platform, from: None, to: None, through: None, rows: ValueRows::All };
const STRATEGY: ValueSearch = ValueSearch { scope: RiskScope::Strategy(StrategyId(1)), ..PLATFORM };

fn at(sequence: u64) -> Timestamp {
    Timestamp(i64::try_from(sequence).unwrap() * 1_000)
}

pub(super) fn sample(scope: RiskScope, sequence: u64) -> ValueSample {
    let amount = |amount: u64| Some(Amount(amount.into()));
    ValueSample {
        scope,
        at: at(sequence),
        date: format!("2026-11-{:02}", 10 + sequence / 3).parse().unwrap(),
        is_close: sequence % 3 == 2,
        currency: Currency::USD,
        net_liq_value: amount(1_000 + sequence),
        market_value: amount(sequence),
        cash_balance: amount(1_000),
        long_exposure: amount(sequence),
        short_exposure: amount(0),
        realized_pl: amount(0),
        unrealized_pl: None,
        commissions: amount(0),
        fees: amount(0),
        day_result: amount(sequence),
        day_flow: amount(0),
    }
}

/// Inputs 1 to 8 sample the platform, and each second one a strategy too. Three inputs are a day.
fn sample_all(model: &ReadModel) {
    for sequence in 1..=8 {
        let scopes = [RiskScope::Platform, STRATEGY.scope].into_iter().take(if sequence % 2 == 0 { 2 } else { 1 });
        let events = scopes.map(|scope| PublishedEvent {
            sequence,
            at: at(sequence),
            event: Event::ValueSample(Arc::new(sample(scope, sequence))),
        });
        model.append(sequence, &events.collect::<Vec<_>>());
    }
    model.stop().unwrap();
}

fn sequences(model: &ReadModel, search: ValueSearch, page: PageRequest) -> Vec<u64> {
    let found = model.value_samples(8, &search, page).unwrap();
    for StoredSample { sequence, sample: stored } in &found {
        assert_eq!(*stored, sample(search.scope, *sequence));
    }
    found.iter().map(|row| row.sequence).collect()
}

#[test]
fn samples_are_found_by_scope_time_and_day_and_are_no_events() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    sample_all(&model);
    let day_ends = |search| ValueSearch { rows: ValueRows::DayEnds, ..search };
    let between = ValueSearch { from: Some(at(3)), to: Some(at(8)), ..PLATFORM };
    let cases: [(ValueSearch, PageRequest, &[u64]); 9] = [
        (PLATFORM, ALL, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (STRATEGY, ALL, &[2, 4, 6, 8]),
        (PLATFORM, PageRequest { after: 2, limit: 3 }, &[3, 4, 5]),
        (between, ALL, &[3, 4, 5, 6, 7]),
        (ValueSearch { from: Some(at(9)), ..PLATFORM }, ALL, &[]),
        (ValueSearch { through: Some(4), ..STRATEGY }, ALL, &[2, 4]),
        (day_ends(PLATFORM), ALL, &[2, 5, 8]),
        (day_ends(between), ALL, &[5, 7]),
        (day_ends(PLATFORM), PageRequest { after: 2, limit: 1 }, &[5]),
    ];
    for (search, page, expected) in cases {
        assert_eq!(sequences(&model, search, page), expected, "{search:?} {page:?}");
    }
    assert_eq!(model.events(8, ALL).unwrap(), vec![]);
}

#[test]
fn a_bit_that_flipped_in_a_sample_is_never_answered() {
    let fixture = ReadModelFixture::new();
    sample_all(&fixture.open());
    let file = rusqlite::Connection::open(fixture.file()).unwrap();
    for damage in ["day = '2026-11-09'", "at = at + 1", "scope = 'ACCOUNT-1'", "payload = x'00'"] {
        let changed = format!("UPDATE value_samples SET {damage} WHERE scope = 'PLATFORM' AND sequence = 8");
        file.execute_batch("BEGIN").unwrap();
        assert_eq!(file.execute(&changed, []).unwrap(), 1);
        assert!(sqlite::checksum::check_all(&file).is_err(), "{damage}");
        file.execute_batch("ROLLBACK").unwrap();
    }
    assert!(sqlite::checksum::check_all(&file).is_ok());
    file.execute("UPDATE value_samples SET payload = x'00' WHERE sequence = 8", []).unwrap();
    drop(file);
    let limits = ReadModelLimits { check_bytes: 0, timeout: PATIENCE, ..ReadModelLimits::default() };
    let lock = DataDirLock::acquire(fixture.folder.path()).unwrap();
    let model = ReadModel::open_with(limits, &lock, INSTANCE, u64::MAX).unwrap();
    assert!(matches!(model.value_samples(8, &PLATFORM, ALL), Err(HistoryError::Failed(_))));
    drop((model, lock));
    let model = fixture.open();
    assert_eq!(model.applied(), 0, "and the file is rebuilt");
    sample_all(&model);
    assert_eq!(sequences(&model, STRATEGY, ALL), [2, 4, 6, 8]);
}

#[test]
fn a_file_from_before_the_value_history_gets_its_table() {
    let fixture = ReadModelFixture::after_the_day();
    let file = searches::of_the_fourth_version(&fixture);
    file.execute_batch("DROP TABLE value_samples").unwrap();
    file.pragma_update(None, "user_version", 3).unwrap();
    drop(file);
    let model = fixture.open();
    assert_eq!((model.applied(), contents(&model)), (8, contents_after(8)));
    assert_eq!(model.value_samples(8, &PLATFORM, ALL).unwrap(), vec![]);
}
