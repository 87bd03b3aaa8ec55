//! Self-trade prevention, and closes of protected positions: engine and model agree on which orders are displaced,
//! which wait, and when they are sent.

use domain::risk::SelfTradePrevention;
use domain::{AccountId, RiskLimits, RiskScope, StrategyId, TimeInForce};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::engine_fixture::{EURO_STOCK, STOCK};
use crate::steps::{RandomOrder, RandomOrderKind, RandomTif, Step, any_step, random_report, side};
use crate::trial::Trial;

/// Of one account in two securities, so that orders meet.
fn close_ticket() -> impl Strategy<Value = RandomOrder> {
    use TimeInForce::{Atc, Day, Gtc, Ioc};
    let shape = prop_oneof![3 => Just(RandomOrderKind::Market), 5 => Just(RandomOrderKind::Limit), 3 => Just(RandomOrderKind::Stop)];
    let tif = select(vec![Day, Day, Gtc, Gtc, Ioc, Atc]);
    (1..=2_u64, select(vec![STOCK, STOCK, EURO_STOCK]), side(), 1..30_i64, shape, -3..3_i64, tif).prop_map(
        |(strategy, security, side, quantity, shape, ticks, tif)| RandomOrder {
            account: AccountId(1),
            strategy: StrategyId(strategy),
            security,
            side,
            quantity,
            shape,
            ticks,
            tif: RandomTif::Plainly(tif),
        },
    )
}

fn close_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => close_ticket().prop_map(Step::Place),
        8 => (any::<Index>(), random_report()).prop_map(|(order, word)| Step::Venue { order, word }),
        6 => (any::<Index>(), prop::option::of(1..20_i64)).prop_map(|(position, quantity)| Step::Reduce { position, quantity }),
        2 => any::<Index>().prop_map(|order| Step::Cancel { order }),
        // The closing call of the second exchange is seven hours and fifty minutes away.
        1 => select(vec![1_000, 4_999, 5_000, 28_200_000]).prop_map(|millis| Step::Wait { millis }),
        3 => any_step(),
    ]
}

fn policy() -> impl Strategy<Value = SelfTradePrevention> {
    use SelfTradePrevention::{Allow, CancelBoth, CancelResting, RejectNewest};
    select(vec![Allow, RejectNewest, CancelResting, CancelResting, CancelBoth])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engine_and_model_agree_on_which_orders_are_displaced(
        policy in policy(),
        steps in prop::collection::vec(close_step(), 1..60),
    ) {
        let mut trial = Trial::open();
        trial.set_limits(RiskScope::Platform, RiskLimits { self_trade: Some(policy), ..RiskLimits::default() });
        steps.iter().for_each(|step| trial.apply(step));
    }
}
