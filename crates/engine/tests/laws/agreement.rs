//! Any sequence of steps: engine and model agree after every step, on decisions, orders, books, events and
//! instructions.

use proptest::prelude::*;

use crate::steps::any_step;
use crate::trial::Trial;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engine_and_model_agree_after_every_step(steps in prop::collection::vec(any_step(), 1..60)) {
        Trial::of(&steps);
    }
}
