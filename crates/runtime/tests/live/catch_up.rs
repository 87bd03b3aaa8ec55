//! A read model that is behind: it reads what it missed from the journal, while orders go on.

use std::thread;

use bus::History;
use bus::history::{OrderSearch, PageRequest, SortOrder};
use runtime::keep_caught_up;

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
