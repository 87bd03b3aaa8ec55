//! Orders that the platform itself expires, because their venue does not: at their latest expiry, not at an earlier
//! one.

use domain::order::{OrdStatus, Side};
use domain::{AccountId, StrategyId, TimeInForce};

use crate::engine_fixture::STOCK;
use crate::steps::{RandomOrder, RandomOrderKind, RandomReport, RandomTif, Step};
use crate::trial::Trial;

/// Good for a minute, replaced by another end, and two minutes later.
fn after_two_minutes(tif: RandomTif) -> OrdStatus {
    let mut trial = Trial::open();
    trial.apply(&Step::Place(RandomOrder {
        // Of the venue that leaves expiry to us.
        account: AccountId(2),
        strategy: StrategyId::SERVER,
        security: STOCK,
        side: Side::Buy,
        quantity: 1,
        shape: RandomOrderKind::Limit,
        ticks: 0,
        tif: RandomTif::Seconds(60),
    }));
    trial.venue_says(0, RandomReport::Accepts);
    trial.modify(0, None, None, Some(tif.tif(trial.desk.now)));
    trial.venue_says(0, RandomReport::Replaces { quantity: 1 });
    trial.apply(&Step::Wait { millis: 120_000 });
    trial.model.orders[0].status()
}

#[test]
fn an_order_ends_where_the_last_replace_put_its_end() {
    assert_eq!(after_two_minutes(RandomTif::Plainly(TimeInForce::Gtc)), OrdStatus::Submitted);
    assert_eq!(after_two_minutes(RandomTif::Plainly(TimeInForce::Day)), OrdStatus::Submitted);
    assert_eq!(after_two_minutes(RandomTif::Seconds(180)), OrdStatus::Submitted);
    assert_eq!(after_two_minutes(RandomTif::Seconds(90)), OrdStatus::PendingCancel);
}
