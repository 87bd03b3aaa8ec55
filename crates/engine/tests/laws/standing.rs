//! Self-trade prevention, and closes of protected positions: engine and model agree on which orders are displaced,
//! which wait, and when they are sent.

use domain::risk::SelfTrade;
use domain::{AccountId, Limits, Scope, StrategyId, TimeInForce};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::desk::{EURO_STOCK, STOCK};
use crate::steps::{Lasting, Shape, Step, Ticket, any_step, side, word};
use crate::trial::Trial;

/// Of one account in two securities, so that orders meet.
fn close_ticket() -> impl Strategy<Value = Ticket> {
    use TimeInForce::{Atc, Day, Gtc, Ioc};
    let shape = prop_oneof![3 => Just(Shape::Market), 5 => Just(Shape::Limit), 3 => Just(Shape::Stop)];
    let tif = select(vec![Day, Day, Gtc, Gtc, Ioc, Atc]);
    (1..=2_u64, select(vec![STOCK, STOCK, EURO_STOCK]), side(), 1..30_i64, shape, -3..3_i64, tif).prop_map(
        |(strategy, security, side, quantity, shape, ticks, tif)| Ticket {
            account: AccountId(1),
            strategy: StrategyId(strategy),
            security,
            side,
            quantity,
            shape,
            ticks,
            tif: Lasting::Plainly(tif),
        },
    )
}

fn close_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => close_ticket().prop_map(Step::Place),
        8 => (any::<Index>(), word()).prop_map(|(order, word)| Step::Venue { order, word }),
        6 => (any::<Index>(), prop::option::of(1..20_i64)).prop_map(|(position, quantity)| Step::Reduce { position, quantity }),
        2 => any::<Index>().prop_map(|order| Step::Cancel { order }),
        // The closing call of the second exchange is seven hours and fifty minutes away.
        1 => select(vec![1_000, 4_999, 5_000, 28_200_000]).prop_map(|millis| Step::Wait { millis }),
        3 => any_step(),
    ]
}

fn policy() -> impl Strategy<Value = SelfTrade> {
    use SelfTrade::{Allow, CancelBoth, CancelResting, RefuseNewest};
    select(vec![Allow, RefuseNewest, CancelResting, CancelResting, CancelBoth])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engine_and_model_agree_on_which_orders_are_displaced(
        policy in policy(),
        steps in prop::collection::vec(close_step(), 1..60),
    ) {
        let mut trial = Trial::open();
        trial.set_limits(Scope::Platform, Limits { self_trade: Some(policy), ..Limits::default() });
        steps.iter().for_each(|step| trial.take(step));
    }
}
