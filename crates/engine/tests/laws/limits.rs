//! Every risk control just below, at and just above its limit, on any day, for every scope, for new orders and for
//! modifications. Each check asserts that engine and model decide alike.

use domain::refusal::RiskControl;
use domain::risk::BurstLimit;
use domain::{Amount, Decimal, Input, Mark, Price, Quantity, Refusal, RiskLimits, RiskScope, Side};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::engine_fixture::STOCK;
use crate::gate::Candidate;
use crate::steps::{RandomOrder, RandomOrderKind, RandomTif, Step, free_step, random_order, side};
use crate::trial::Trial;

/// A control with a number, and the smallest step of that number.
#[derive(Debug, Clone, Copy)]
struct LimitCase {
    control: RiskControl,
    step: Decimal,
}

const CENT: Decimal = Decimal::from_parts(1, 0, 0, false, 2);

const LEVERS: [LimitCase; 6] = [
    LimitCase { control: RiskControl::MaxOrderQuantity, step: Decimal::ONE },
    LimitCase { control: RiskControl::MaxOrderNotional, step: CENT },
    LimitCase { control: RiskControl::MaxOpenOrders, step: Decimal::ONE },
    LimitCase { control: RiskControl::MaxOpenNotional, step: CENT },
    LimitCase { control: RiskControl::MaxPosition, step: Decimal::ONE },
    LimitCase { control: RiskControl::MaxGrossExposure, step: CENT },
];

impl LimitCase {
    /// Only this control, at that number.
    fn at(&self, limit: Decimal, side: Side) -> RiskLimits {
        let (quantity, amount) = (Some(Quantity(limit)), Some(Amount(limit)));
        let none = RiskLimits { cash_check: Some(false), ..RiskLimits::default() };
        match self.control {
            RiskControl::MaxOrderQuantity => RiskLimits { max_order_quantity: quantity, ..none },
            RiskControl::MaxOrderNotional => RiskLimits { max_order_notional: amount, ..none },
            RiskControl::MaxOpenOrders => RiskLimits { max_open_orders: Some(u32::try_from(limit).unwrap()), ..none },
            RiskControl::MaxOpenNotional => RiskLimits { max_open_notional: amount, ..none },
            RiskControl::MaxPosition if side == Side::Buy => RiskLimits { max_long: quantity, ..none },
            RiskControl::MaxPosition => RiskLimits { max_short: quantity, ..none },
            RiskControl::MaxGrossExposure => RiskLimits { max_gross_exposure: amount, ..none },
            RiskControl::OrderRate | RiskControl::MessageRate | RiskControl::DuplicateContent => {
                panic!("these count in time")
            }
        }
    }

    fn lowest(&self) -> Decimal {
        if matches!(self.control, RiskControl::MaxOpenOrders) { Decimal::ZERO } else { Decimal::from(-1_000_000_000) }
    }

    /// The number that this control holds against its limit; absent where the order does not meet it.
    fn value(&self, trial: &mut Trial, scope: RiskScope, candidate: &Candidate) -> Option<Decimal> {
        match trial.check_under(scope, self.at(self.lowest(), candidate.side), candidate)? {
            Refusal::Limit { control, value, .. } if control == self.control => Some(value),
            _ => None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_new_order_passes_at_the_limit_and_not_above(
        steps in prop::collection::vec(free_step(), 1..25),
        ticket in random_order(),
    ) {
        let mut trial = Trial::of(&steps);
        let candidate = Candidate::of(&ticket, trial.desk.now);
        for (scope, lever) in candidate.scopes().into_iter().flat_map(|scope| LEVERS.map(|lever| (scope, lever))) {
            let Some(value) = lever.value(&mut trial, scope, &candidate) else { continue };
            for (limit, passes) in [(value - lever.step, false), (value, true), (value + lever.step, true)] {
                let refusal = trial.check_under(scope, lever.at(limit, candidate.side), &candidate);
                let expected = Refusal::Limit { control: lever.control, scope, value, limit };
                prop_assert_eq!(refusal, (!passes).then_some(expected));
            }
        }
    }

    /// `Trial` compares the decision and its numbers with the model's.
    #[test]
    fn a_modification_passes_at_the_limit_and_not_above(
        steps in prop::collection::vec(free_step(), 1..25),
        (order, scope, lever) in (any::<Index>(), 0..4_usize, 0..LEVERS.len()),
        (quantity, ticks, edge) in (1..80_i64, -20..20_i64, -1..=1_i64),
    ) {
        let mut trial = Trial::of(&steps);
        let Some(place) = trial.pick(&order) else { return Ok(()) };
        let held = trial.model.orders[place].clone();
        let (scope, lever) = (crate::model_reports::scopes(&held)[scope], LEVERS[lever]);
        let change = Step::Modify { order, quantity: Some(quantity), ticks: Some(ticks), tif: None };
        trial.set_limits(scope, lever.at(lever.lowest(), held.side));
        let value = match trial.decide_modify(place, quantity, ticks) {
            Err(Refusal::Limit { control, value, .. }) if control == lever.control => value,
            _ => return Ok(()),
        };
        let limit = (value + Decimal::from(edge) * lever.step).max(lever.lowest());
        trial.set_limits(scope, lever.at(limit, held.side));
        prop_assert_eq!(trial.decide_modify(place, quantity, ticks).is_ok(), value <= limit);
        trial.apply(&change);
    }

    #[test]
    fn the_collar_lets_pass_what_is_at_its_edge(side in side(), percent in 0..200_i64, ticks in -250..250_i64) {
        let mut trial = Trial::open();
        // One tick is a hundredth of a percent of this price.
        let price = Some(Price::from(100));
        let mark = Mark { security: STOCK, bid: price, ask: price, last: None, at: trial.desk.now, stale: None };
        trial.model.marks.insert(STOCK, mark);
        let _ = trial.desk.apply(Input::Marks(vec![mark]));
        let candidate = Candidate::of(&limit_order(side, 1, ticks), trial.desk.now);
        let collar = Amount(Decimal::new(percent, 2));
        let limits = RiskLimits { price_collar_percent: Some(collar), ..RiskLimits::default() };
        let refusal = trial.check_under(RiskScope::Platform, limits, &candidate);
        let through = if side == Side::Buy { ticks } else { -ticks };
        let code = refusal.as_ref().map(Refusal::code);
        prop_assert_eq!(code, (through > percent).then_some("price-collar"));
    }

    /// `Trial` compares every decision with the model's.
    #[test]
    fn orders_come_no_faster_and_no_more_alike_than_allowed(
        (rate, alike) in (1..5_u32, 1..4_u32),
        steps in prop::collection::vec((0..600_i64, 1..3_i64), 1..40),
    ) {
        let mut trial = Trial::open();
        let duplicate_guard = Some(BurstLimit { count: alike, millis: 1_000 });
        let limits = RiskLimits { orders_per_second: Some(rate), duplicate_guard, ..RiskLimits::default() };
        trial.set_limits(RiskScope::Platform, limits);
        for (millis, quantity) in steps {
            trial.apply(&Step::Wait { millis });
            trial.apply(&Step::Place(limit_order(Side::Buy, quantity, 0)));
        }
    }

    /// `Trial` compares every decision with the model's.
    #[test]
    fn orders_and_changes_share_a_rate_and_cancels_pass_and_count(
        (orders, messages) in (1..5_u32, 1..5_u32),
        steps in prop::collection::vec((0..600_i64, 0..3_u8, any::<Index>()), 1..40),
    ) {
        let mut trial = Trial::open();
        let limits = RiskLimits {
            orders_per_second: Some(orders),
            messages_per_second: Some(messages),
            ..RiskLimits::default()
        };
        trial.set_limits(RiskScope::Platform, limits);
        for (millis, kind, order) in steps {
            trial.apply(&Step::Wait { millis });
            trial.apply(&match kind {
                0 => Step::Place(limit_order(Side::Buy, 1, 0)),
                1 => Step::Modify { order, quantity: Some(2), ticks: None, tif: None },
                _ => Step::Cancel { order },
            });
        }
    }
}

fn limit_order(side: Side, quantity: i64, ticks: i64) -> RandomOrder {
    RandomOrder {
        account: domain::AccountId(1),
        strategy: domain::StrategyId::SERVER,
        security: STOCK,
        side,
        quantity,
        shape: RandomOrderKind::Limit,
        ticks,
        tif: RandomTif::Plainly(domain::TimeInForce::Gtc),
    }
}
