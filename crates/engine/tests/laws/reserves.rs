//! Cash that open orders reserve, at every step, and that all of it is released when they end.

use domain::refusal::RiskControl;
use domain::{AccountId, Decimal, Quantity, Refusal, RiskLimits, StrategyId};
use proptest::prelude::*;

use crate::engine_fixture::{FOREX, SECURITIES};
use crate::gate::Candidate;
use crate::probe::buy;
use crate::steps::free_step;
use crate::trial::Trial;

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_available_is_cash_less_what_open_orders_hold_back(steps in prop::collection::vec(free_step(), 1..40)) {
        let mut trial = Trial::open();
        for step in &steps {
            trial.apply(step);
            for account in [AccountId(1), AccountId(2)] {
                prop_assert_eq!(trial.told_available(account), trial.model.available(account), "after {:?}", step);
            }
        }
    }

    #[test]
    fn when_all_orders_are_over_the_whole_cash_buys_again(steps in prop::collection::vec(free_step(), 1..40)) {
        let mut trial = Trial::of(&steps);
        trial.end_all();
        for account in [AccountId(1), AccountId(2)] {
            let cash = trial.told_available(account);
            prop_assert_eq!(cash, trial.model.available(account));
            // A pair without costs, at a price of one and of two: what is bought is what is paid.
            let whole = cash.floor().clamp(Decimal::ONE, Decimal::from(999_999));
            for price in [1, 2] {
                let passes = trial.check(&buy(account, FOREX, Quantity(whole), price)).is_none();
                prop_assert_eq!(passes, whole * Decimal::from(price) <= cash, "{} @ {} of {}", whole, price, cash);
            }
        }
    }

    #[test]
    fn positions_and_open_orders_add_up_in_every_scope(steps in prop::collection::vec(free_step(), 1..40)) {
        let mut trial = Trial::of(&steps);
        let limit = Decimal::from(-1_000_000_000);
        let limits = RiskLimits { max_long: Some(Quantity(limit)), ..RiskLimits::default() };
        for (account, strategy) in [(1, 1), (1, 2), (2, 3)] {
            for security in SECURITIES {
                let probe = buy(AccountId(account), security, Quantity::from(1_000_000), 1);
                let probe = Candidate { strategy: StrategyId(strategy), ..probe };
                for scope in probe.scopes() {
                    let value = trial.model.worst_position(&probe, scope);
                    let expected = Refusal::Limit { control: RiskControl::MaxPosition, scope, value, limit };
                    prop_assert_eq!(trial.check_under(scope, limits.clone(), &probe), Some(expected));
                }
            }
        }
    }
}
