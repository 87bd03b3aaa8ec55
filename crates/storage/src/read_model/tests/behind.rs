//! A disk under SQLite that does not answer: the engine goes on, and nothing is missing afterwards.

use rusqlite::Connection;

use super::*;

/// Holds the file as another program or a hanging disk would.
fn hold(fixture: &ReadModelFixture) -> Connection {
    let holder = Connection::open(fixture.file()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    holder
}

/// The day again, under later sequences.
fn day_of_round(round: u64) -> Vec<(u64, Vec<PublishedEvent>)> {
    let later = |(sequence, events): (u64, Vec<PublishedEvent>)| {
        let sequence = round * 8 + sequence;
        (sequence, events.into_iter().map(|event| PublishedEvent { sequence, ..event }).collect())
    };
    day().into_iter().map(later).collect()
}

#[test]
fn the_engine_does_not_wait_for_a_file_that_is_held_and_the_journal_gives_what_was_left_out() {
    let fixture = ReadModelFixture::new();
    let limits = ReadModelLimits { events: 3, timeout: PATIENCE, ..ReadModelLimits::default() };
    let lock = DataDirLock::acquire(fixture.folder.path()).unwrap();
    let model = ReadModel::open_with(limits, &lock, INSTANCE, u64::MAX).unwrap();
    let holder = hold(&fixture);
    // One transaction waits for the file, some events for the transaction, and the rest is left out.
    let days: Vec<_> = (0..10).flat_map(day_of_round).collect();
    days.iter().for_each(|(sequence, events)| model.offer(*sequence, events));
    assert!(model.is_behind());
    let missed = model.wait_behind().unwrap();
    assert!(missed.after < 80, "{missed:?}");
    assert_eq!(model.rejoin(missed, missed.after), CatchUpStep::Incomplete);
    holder.execute_batch("COMMIT").unwrap();
    for (sequence, events) in days.iter().filter(|(sequence, _)| *sequence > missed.after) {
        assert!(model.append_missed(missed, *sequence, events));
    }
    assert_eq!((model.rejoin(missed, 80), model.is_behind()), (CatchUpStep::Complete, false));
    model.offer(81, &[PublishedEvent { sequence: 81, at: Timestamp(81), event: alarm("it goes on") }]);
    let found = model.events(81, ALL).unwrap();
    let stored: Vec<u64> = found.iter().map(|event| event.sequence).collect();
    let expected = days.iter().flat_map(|(sequence, events)| {
        // Orders and samples of values have tables of their own.
        let kept = events.iter().filter(|event| !matches!(event.event, Event::Order(_) | Event::ValueSample(_)));
        kept.map(|_| *sequence).collect::<Vec<_>>()
    });
    assert_eq!(stored, expected.chain([81]).collect::<Vec<_>>());
}
