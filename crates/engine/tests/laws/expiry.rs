//! Orders that the platform itself expires, because their venue does not: at their latest expiry, not at an earlier
//! one.

use domain::order::{Side, Status};
use domain::{AccountId, StrategyId, TimeInForce};

use crate::desk::STOCK;
use crate::steps::{Lasting, Shape, Step, Ticket, Word};
use crate::trial::Trial;

/// Good for a minute, replaced by another end, and two minutes later.
fn after_two_minutes(tif: Lasting) -> Status {
    let mut trial = Trial::open();
    trial.take(&Step::Place(Ticket {
        // Of the venue that leaves expiry to us.
        account: AccountId(2),
        strategy: StrategyId::SERVER,
        security: STOCK,
        side: Side::Buy,
        quantity: 1,
        shape: Shape::Limit,
        ticks: 0,
        tif: Lasting::Seconds(60),
    }));
    trial.venue_says(0, Word::Accepts);
    trial.modify(0, None, None, Some(tif.tif(trial.desk.now)));
    trial.venue_says(0, Word::Replaces { quantity: 1 });
    trial.take(&Step::Wait { millis: 120_000 });
    trial.model.orders[0].status()
}

#[test]
fn an_order_ends_where_the_last_replace_put_its_end() {
    assert_eq!(after_two_minutes(Lasting::Plainly(TimeInForce::Gtc)), Status::Submitted);
    assert_eq!(after_two_minutes(Lasting::Plainly(TimeInForce::Day)), Status::Submitted);
    assert_eq!(after_two_minutes(Lasting::Seconds(180)), Status::Submitted);
    assert_eq!(after_two_minutes(Lasting::Seconds(90)), Status::PendingCancel);
}
