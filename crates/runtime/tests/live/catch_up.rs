//! A read model that is behind: it reads what it missed from the journal, while orders go on.

use std::thread;

use bus::History;
use bus::history::{OrderSearch, PageRequest, SortOrder};
use runtime::{PastEngine, keep_caught_up};

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
