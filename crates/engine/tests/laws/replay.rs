//! The same inputs give the same state and the same output; a run continues from a snapshot at any point as without it.

use domain::query::EngineResult;
use domain::{Input, Sequenced};
use engine::{Engine, Outbox};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::steps::any_step;
use crate::trial::Trial;

/// What every input was answered with and what it caused.
fn apply_all(engine: &mut Engine, inputs: &[Sequenced<Input>]) -> Vec<(EngineResult, Outbox)> {
    let apply = |input| {
        let mut out = Outbox::default();
        (engine.apply(input, &mut out), out)
    };
    inputs.iter().map(apply).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_gives_the_same_state_and_the_same_output(steps in prop::collection::vec(any_step(), 1..60)) {
        let inputs = Trial::of(&steps).desk.inputs;
        let (mut once, mut twice) = (Engine::default(), Engine::default());
        prop_assert_eq!(apply_all(&mut once, &inputs), apply_all(&mut twice, &inputs));
        prop_assert!(once.encode_state() == twice.encode_state());
    }

    #[test]
    fn a_run_continues_from_a_snapshot_at_any_point(steps in prop::collection::vec(any_step(), 1..60), cut: Index) {
        let inputs = Trial::of(&steps).desk.inputs;
        let (before, after) = inputs.split_at(cut.index(inputs.len()));
        let mut whole = Engine::default();
        apply_all(&mut whole, before);
        let state = whole.encode_state();
        let mut restored = Engine::from_state(&state).unwrap();
        prop_assert!(restored.encode_state() == state, "a snapshot that was read is another");
        prop_assert_eq!(apply_all(&mut whole, after), apply_all(&mut restored, after));
        prop_assert!(whole.encode_state() == restored.encode_state());
    }
}
