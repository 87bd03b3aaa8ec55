//! A read model that is behind: it reads what it missed from the journal, while orders go on.

use std::cell::Cell;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, thread};

use bus::History;
use bus::history::{OrderSearch, PageRequest, SortOrder};
use domain::event::{Alarm, AlarmLevel};
use domain::{Event, PublishedEvent, Timestamp};
use runtime::{CATCH_UP_ATTEMPTS_MAX, PastEngine, keep_caught_up};

use storage::{ReadModel, journal, snapshot};

use crate::fixture::{INSTANCE, LiveFixture, PendingReply};

const ORDERS: usize = 300;

#[test]
fn a_read_model_with_little_room_has_every_order_in_the_end() {
    let fixture = LiveFixture { history_events: Some(2), snapshot_every_inputs: 50, ..LiveFixture::default() };
    let live = fixture.start_trading();
    let (history, monitor, folder) = (live.history.clone().unwrap(), live.monitor.clone(), fixture.folder.path());
    thread::scope(|scope| {
        scope.spawn(|| keep_caught_up(folder, INSTANCE, &history, &|| monitor.durable()));
        let placed: Vec<_> = (0..ORDERS).map(|number| live.place(&format!("O{number}"))).collect();
        placed.into_iter().map(PendingReply::wait).for_each(|reply| assert!(reply.starts_with("placed"), "{reply}"));
        let durable = live.monitor.durable();
        let all = PageRequest { after: 0, limit: usize::MAX };
        // A query waits two seconds; a slow machine asks again.
        let orders = loop {
            match history.orders(durable, &OrderSearch::default(), SortOrder::Oldest, all) {
                Ok(orders) => break orders,
                Err(behind) => assert_eq!(history.failure(), None, "{behind}"),
            }
        };
        let expected: Vec<_> = (0..ORDERS).map(|number| format!("O{number}")).collect();
        assert_eq!(orders.iter().map(|order| order.int_id.to_string()).collect::<Vec<_>>(), expected);
        live.stop();
        history.stop().unwrap();
    });
}

/// A journal of a few hundred orders that has ended, and its last sequence.
fn ended_journal() -> (LiveFixture, u64) {
    let fixture = LiveFixture::default();
    let live = fixture.start_trading();
    let placed: Vec<_> = (0..ORDERS).map(|number| live.place(&format!("O{number}"))).collect();
    placed.into_iter().map(PendingReply::wait).for_each(|reply| assert!(reply.starts_with("placed"), "{reply}"));
    let end = live.monitor.durable();
    live.stop();
    (fixture, end)
}

/// A model that has everything of a journal, and lacks an event behind its end, of the sequence that is returned.
fn model_behind(fixture: &LiveFixture, end: u64) -> (ReadModel, u64) {
    let model = ReadModel::open_small(&fixture.lock_folder(), INSTANCE, end, 1).unwrap();
    let newest = (end + 1..).find(|sequence| {
        let alarm = Alarm { level: AlarmLevel::Info, code: "test".into(), text: "test".into() };
        let event = Event::Alarm(Arc::new(alarm));
        model.offer(*sequence, &[PublishedEvent { sequence: *sequence, at: Timestamp(1), event }]);
        model.is_behind()
    });
    (model, newest.unwrap())
}

/// In the middle of what is written.
fn damage_journal(fixture: &LiveFixture) {
    let segments = fs::read_dir(fixture.folder.path().join(journal::FOLDER)).unwrap();
    let mut files: Vec<_> = segments.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort_by_key(|path| fs::metadata(path).unwrap().len());
    let path = files.pop().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[used / 2..used / 2 + 64].fill(0xff);
    fs::write(&path, bytes).unwrap();
}

#[test]
fn a_catch_up_that_is_no_longer_wanted_does_not_read_on_to_what_is_missing() {
    let (fixture, end) = ended_journal();
    let (model, newest) = model_behind(&fixture, end);
    let asked = Cell::new(0);
    let durable = || {
        asked.set(asked.get() + 1);
        // The reader is open, and begins at the first record.
        if asked.get() == 2 {
            model.stop().unwrap();
            damage_journal(&fixture);
        }
        newest
    };
    keep_caught_up(fixture.folder.path(), INSTANCE, &model, &durable);
    assert_eq!((asked.get(), model.failure()), (2, None), "what it would have read next is damaged");
}

/// Lets a catch-up find a snapshot by its name that is gone when it is read, until it was tried so often. Returns why it gave up, if so.
fn catch_up_beside_deletion(deleted_after: u32) -> Option<String> {
    let (fixture, end) = ended_journal();
    let (model, newest) = model_behind(&fixture, end);
    let snapshots = fixture.folder.path().join(snapshot::FOLDER);
    fs::read_dir(&snapshots).unwrap().for_each(|entry| fs::remove_file(entry.unwrap().path()).unwrap());
    let gone = snapshots.join(format!("{:020}.snapshot", 1));
    symlink("deleted meanwhile", &gone).unwrap();
    let asked = AtomicU32::new(0);
    let durable = || {
        if asked.fetch_add(1, Ordering::SeqCst) == deleted_after {
            fs::remove_file(&gone).unwrap();
        }
        newest
    };
    thread::scope(|scope| {
        scope.spawn(|| keep_caught_up(fixture.folder.path(), INSTANCE, &model, &durable));
        while model.is_behind() && model.failure().is_none() {
            thread::yield_now();
        }
        let failure = model.failure();
        drop(model.stop());
        failure
    })
}

#[test]
fn a_catch_up_begins_anew_where_a_file_was_removed_beside_it() {
    assert_eq!(catch_up_beside_deletion(1), None);
    assert_eq!(catch_up_beside_deletion(CATCH_UP_ATTEMPTS_MAX - 1), None);
}

#[test]
fn a_catch_up_whose_file_stays_missing_gives_up_and_says_which() {
    let reason = catch_up_beside_deletion(u32::MAX).unwrap();
    assert!(reason.contains("cannot catch up") && reason.contains("00000000000000000001.snapshot"), "{reason}");
}

#[test]
fn an_engine_of_the_past_goes_forth_and_back() {
    let fixture = LiveFixture { snapshot_every_inputs: 20, ..LiveFixture::default() };
    let live = fixture.start_trading();
    let mut after = Vec::new();
    for number in 0..40 {
        assert_eq!(live.place(&format!("O{number}")).wait(), format!("placed O{number}"));
        after.push(live.monitor.durable());
    }
    live.stop();
    let mut past = PastEngine::new(fixture.folder.path().to_owned(), INSTANCE);
    for number in [39_usize, 0, 20, 21, 7, 38] {
        let (engine, _) = past.at_sequence(after[number]).unwrap();
        assert_eq!(engine.orders_kept(), number + 1);
    }
    let (engine, at) = past.at_sequence(0).unwrap();
    assert_eq!((engine.orders_kept(), at.0), (0, 0));
}
