//! Reduce-only orders: while the venue fills no more than was ordered, no position changes sign.

use domain::{AccountId, Decimal, Side, StrategyId, TimeInForce};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::books::PositionKey;
use crate::engine_fixture::{FUTURE, OPTION, STOCK};
use crate::steps::{RandomOrder, RandomOrderKind, RandomReport, RandomTif, Step, side};
use crate::trial::Trial;

/// Steps of clients and of a correct venue while only reducing orders are placed.
fn reducing_step() -> impl Strategy<Value = Step> {
    let honest = prop_oneof![
        3 => Just(RandomReport::Accepts),
        4 => (1..20_i64).prop_map(|quantity| RandomReport::Fills { quantity, ticks: 0 }),
        2 => Just(RandomReport::FillsUp { ticks: 0 }),
        1 => Just(RandomReport::Cancels),
        3 => Just(RandomReport::Replaces { quantity: 0 }),
        1 => Just(RandomReport::RefusesReplace),
        1 => Just(RandomReport::RefusesCancel),
    ];
    prop_oneof![
        5 => (any::<Index>(), prop::option::of(1..30_i64)).prop_map(|(position, quantity)| Step::Reduce { position, quantity }),
        3 => (any::<Index>(), 1..60_i64)
            .prop_map(|(order, quantity)| Step::Modify { order, quantity: Some(quantity), ticks: None, tif: None }),
        1 => any::<Index>().prop_map(|order| Step::Cancel { order }),
        8 => (any::<Index>(), honest).prop_map(|(order, word)| Step::Venue { order, word }),
    ]
}

/// A venue that never reports more than was ordered, nor on orders that it was not sent; and no protective order is
/// larger than the position.
fn is_honest(trial: &Trial, step: &Step) -> bool {
    let of = |index: &Index| &trial.model.orders[trial.pick(index).unwrap()];
    let (order, word) = match step {
        Step::Venue { order, word } => (of(order), word),
        Step::Modify { order, .. } => return of(order).reduce_only,
        _ => return true,
    };
    match word {
        _ if order.waits.is_some() => false,
        RandomReport::Fills { quantity, .. } => Decimal::from(*quantity) <= order.remaining(),
        RandomReport::FillsUp { .. } => order.is_working(),
        RandomReport::Replaces { .. } => order.asked.terms().is_some(),
        _ => true,
    }
}

fn positions() -> impl Strategy<Value = Vec<RandomOrder>> {
    let ticket = (select(vec![STOCK, FUTURE, OPTION]), 1..=2_u64, side(), 1..30_i64);
    let ticket = ticket.prop_map(|(security, strategy, side, quantity)| RandomOrder {
        account: AccountId(1),
        strategy: StrategyId(strategy),
        security,
        side,
        quantity,
        shape: RandomOrderKind::Limit,
        ticks: 0,
        tif: RandomTif::Plainly(TimeInForce::Gtc),
    });
    prop::collection::vec(ticket, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reduce_only_order_never_flips(
        tickets in positions(),
        steps in prop::collection::vec(reducing_step(), 1..40),
    ) {
        let mut trial = Trial::open();
        for ticket in &tickets {
            trial.apply(&Step::Place(*ticket));
            let place = trial.model.orders.len() - 1;
            trial.venue_says(place, RandomReport::FillsUp { ticks: 0 });
        }
        let start = trial.model.books().positions;
        start.iter().for_each(|(key, lot)| protect(&mut trial, key, lot.quantity));
        for step in &steps {
            if is_honest(&trial, step) {
                trial.apply(step);
            }
            for (key, lot) in trial.model.books().positions {
                prop_assert!(is_between(lot.quantity, start[&key].quantity), "{:?} after {:?}", (key, lot), step);
            }
        }
    }
}

/// A stop for the whole position, which the venue has taken.
fn protect(trial: &mut Trial, (strategy, account, security): &PositionKey, held: Decimal) {
    let quantity = i64::try_from(held.abs()).unwrap();
    if quantity == 0 {
        return;
    }
    trial.apply(&Step::Place(RandomOrder {
        account: *account,
        strategy: *strategy,
        security: *security,
        side: if held > Decimal::ZERO { Side::Sell } else { Side::Buy },
        quantity,
        shape: RandomOrderKind::Stop,
        ticks: 0,
        tif: RandomTif::Plainly(TimeInForce::Gtc),
    }));
    trial.venue_says(trial.model.orders.len() - 1, RandomReport::Accepts);
}

/// Between flat and where it began.
fn is_between(now: Decimal, start: Decimal) -> bool {
    now * start >= Decimal::ZERO && now.abs() <= start.abs()
}
