//! The kit, run over the simulated venue and over liars.

use adapters::check;
use adapters::kit::{Outcome, Verdict};

use crate::liar::{Liar, Lie};
use crate::world::World;

fn not_kept(outcomes: &[Outcome]) -> Vec<&'static str> {
    outcomes.iter().filter(|outcome| outcome.verdict != Verdict::Kept).map(|outcome| outcome.rule).collect()
}

#[test]
fn the_simulated_venue_keeps_every_rule() {
    let outcomes = check(|| World::around(|simulated| simulated));
    let told: Vec<String> = outcomes.iter().map(Outcome::to_string).collect();
    assert_eq!(not_kept(&outcomes), [""; 0], "{told:#?}");
}

fn broken_by(lie: Lie) -> Vec<&'static str> {
    not_kept(&check(|| World::around(move |honest| Liar::new(honest, lie))))
}

#[test]
fn who_pretends_success_is_caught() {
    assert_eq!(broken_by(Lie::Pretends), ["without a session nothing is sent"]);
    let lost = "a lost session is told, and no other is had while the line is down";
    assert_eq!(broken_by(Lie::HidesLostSessions), [lost]);
    assert_eq!(broken_by(Lie::WithholdsPrices), ["a subscription brings prices"]);
}

#[test]
fn who_forgets_fills_is_caught_by_every_picture() {
    let rules = [
        "the picture has all that was reported",
        "a reconnect does not change the picture",
        "what happens while the line is down is in the next picture",
        "a restart forgets nothing and uses no id again",
    ];
    assert_eq!(broken_by(Lie::ForgetsFills), rules);
}

#[test]
fn who_keeps_a_cancel_to_himself_is_caught_wherever_one_is_due() {
    let rules = [
        "a canceled order is told so",
        "the picture has all that was reported",
        "a reconnect does not change the picture",
        "nothing is reported before it is written down",
        "a restart forgets nothing and uses no id again",
    ];
    assert_eq!(broken_by(Lie::SwallowsCancels), rules);
}

#[test]
fn who_makes_two_orders_of_one_is_caught() {
    assert_eq!(broken_by(Lie::Doubles), ["an order sent twice is one order"]);
}

#[test]
fn who_speaks_before_the_venue_has_written_is_caught() {
    let rules = [
        "an order for an unlisted security is rejected",
        "what happens while the line is down is in the next picture",
        "nothing is said after a disconnect",
        "nothing is reported before it is written down",
    ];
    assert_eq!(broken_by(Lie::SpeaksTooSoon), rules);
}

#[test]
fn who_uses_an_id_again_is_caught() {
    let rules = [
        "every fill has an id of its own",
        "nothing is reported before it is written down",
        "a restart forgets nothing and uses no id again",
    ];
    assert_eq!(broken_by(Lie::ReusesIds), rules);
}
