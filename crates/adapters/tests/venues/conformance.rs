//! The conformance kit against the simulated venue, and against faulty adapters.

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};

use crate::faulty_adapter::{FaultKind, FaultyAdapter};
use crate::harness::SimulatedHarness;

const SENT_ON_A_FAILED_LINE: &str = "on a trading line that is down nothing is sent";

fn not_kept(outcomes: &[RuleOutcome]) -> Vec<&'static str> {
    outcomes.iter().filter(|outcome| outcome.verdict != RuleVerdict::Passed).map(|outcome| outcome.rule).collect()
}

#[test]
fn the_simulated_venue_keeps_every_rule() {
    let outcomes = check(|| SimulatedHarness::around(|simulated| simulated));
    let told: Vec<String> = outcomes.iter().map(RuleOutcome::to_string).collect();
    assert_eq!(not_kept(&outcomes), [""; 0], "{told:#?}");
}

fn broken_by(lie: FaultKind) -> Vec<&'static str> {
    not_kept(&check(|| SimulatedHarness::around(move |honest| FaultyAdapter::new(honest, lie))))
}

#[test]
fn an_adapter_that_pretends_success_is_caught() {
    assert_eq!(broken_by(FaultKind::Pretends), ["without a session nothing is sent", SENT_ON_A_FAILED_LINE]);
    let lost = "a lost session is reported, and no new one is possible while the connection is down";
    assert_eq!(broken_by(FaultKind::HidesLostSessions), [lost]);
    let withheld = ["a subscription brings prices", "a price line that is back brings prices again"];
    assert_eq!(broken_by(FaultKind::WithholdsPrices), withheld);
}

#[test]
fn an_adapter_that_loses_fills_is_caught_by_every_snapshot() {
    let rules = [
        "the snapshot has every reported order and fill",
        "a reconnect does not change the snapshot",
        "the snapshot after a disconnect has what was missed",
        "a restart loses nothing and uses no id again",
    ];
    assert_eq!(broken_by(FaultKind::ForgetsFills), rules);
}

#[test]
fn an_adapter_that_drops_cancel_reports_is_caught_wherever_one_is_due() {
    let rules = [
        "a cancel is reported",
        "the snapshot has every reported order and fill",
        "a reconnect does not change the snapshot",
        "nothing is reported before it is recorded",
        "a restart loses nothing and uses no id again",
    ];
    assert_eq!(broken_by(FaultKind::SwallowsCancels), rules);
}

#[test]
fn an_adapter_that_makes_two_orders_of_one_is_caught() {
    assert_eq!(broken_by(FaultKind::Doubles), ["an order sent twice is one order"]);
}

#[test]
fn an_adapter_that_reports_before_the_venue_has_recorded_is_caught() {
    let rules = [
        "an order for an unlisted security is refused",
        "the snapshot after a disconnect has what was missed",
        "nothing is reported after a disconnect",
        "nothing is reported before it is recorded",
        SENT_ON_A_FAILED_LINE,
    ];
    assert_eq!(broken_by(FaultKind::SpeaksTooSoon), rules);
}

#[test]
fn an_adapter_that_uses_an_id_again_is_caught() {
    let rules = [
        "every fill has an id of its own",
        "nothing is reported before it is recorded",
        "a restart loses nothing and uses no id again",
    ];
    assert_eq!(broken_by(FaultKind::ReusesIds), rules);
}

#[test]
fn an_adapter_that_answers_wrongly_is_caught_by_the_rule_for_it() {
    let only = [
        (FaultKind::AnswersOtherTerms, "an inquiry finds a resting order with its terms"),
        (FaultKind::AnswersWithoutFills, "an inquiry finds every fill of an order"),
        (FaultKind::AnswersLive, "an inquiry finds how an order ended"),
        (FaultKind::SwallowsAbsence, "an inquiry about an order that never came is answered"),
        (FaultKind::SendsAgain, "an inquiry makes no order"),
        (FaultKind::DatesAnswersLate, "an answer is as of its question, not later"),
        (FaultKind::UndatedSnapshot, "a snapshot says as of when it is"),
        (FaultKind::HidesGaps, "a lost report is told before the next one"),
        (FaultKind::HidesExternalOrders, "an order that was placed elsewhere is reported"),
        (FaultKind::HidesExternalFills, "an order that was placed elsewhere is reported with its fills"),
        (FaultKind::ForgetsExternalOrders, "the snapshot has orders that were placed elsewhere"),
        (FaultKind::KeepsExternalOrders, "an order that was placed elsewhere can be cancelled"),
        (FaultKind::MissesExternalOrders, "an inquiry finds an order that was placed elsewhere"),
    ];
    for (lie, rule) in only {
        assert_eq!(broken_by(lie), [rule], "{lie:?}");
    }
    let pretended = ["without a session nobody is asked", SENT_ON_A_FAILED_LINE];
    assert_eq!(broken_by(FaultKind::PretendsInquiries), pretended);
}

#[test]
fn an_adapter_whose_money_is_wrong_is_caught_by_the_rule_for_it() {
    let charges = "the cash of a statement changes by the value and the charges of a fill";
    let only = [
        (FaultKind::StatesNoLocks, "a statement says what open orders hold"),
        (FaultKind::StatesNoPositions, "a statement has the positions of the account"),
        (FaultKind::DropsFees, charges),
        (FaultKind::ChargesTwice, charges),
        (FaultKind::DatesStatementsLate, "a statement is as of its question, not later"),
        (FaultKind::PretendsStatements, "without a session no statement is asked for"),
    ];
    for (lie, rule) in only {
        assert_eq!(broken_by(lie), [rule], "{lie:?}");
    }
}

#[test]
fn an_adapter_that_hides_the_state_of_its_lines_or_does_not_live_with_it_is_caught() {
    let reported = "a line that fails is reported, and that it is back";
    assert_eq!(broken_by(FaultKind::HidesLines), [reported]);
    assert_eq!(broken_by(FaultKind::PretendsLine), [SENT_ON_A_FAILED_LINE]);
    let asked = "while the private line is down an order can be asked about";
    assert_eq!(broken_by(FaultKind::AnswersPrivately), [asked]);
    assert_eq!(broken_by(FaultKind::LosesFeed), ["a price line that is back brings prices again"]);
}

#[test]
fn an_adapter_that_lists_wrongly_is_caught_by_the_rule_for_it() {
    let only = [
        (FaultKind::ListsNothing, "the list of open orders has every open order with its terms"),
        (FaultKind::ListsEnded, "the list of open orders has none that ended"),
        (FaultKind::ListsWithoutEnd, "the pages of a list are numbered, and one is the last"),
        (FaultKind::DatesListsLate, "a list is as of its question, not later"),
        (FaultKind::ListsNoFills, "the list of fills has every fill once"),
        (FaultKind::IgnoresCursors, "a cursor goes on where the last list ended"),
        (FaultKind::PretendsLists, "without a session nothing is listed"),
    ];
    for (lie, rule) in only {
        assert_eq!(broken_by(lie), [rule], "{lie:?}");
    }
}

#[test]
fn an_adapter_that_tells_listings_wrongly_is_caught_by_the_rule_for_it() {
    let (told, missed, again) = (
        "a listing that changes is told",
        "a listing that changed without a session is told after the log-on",
        "a listing that did not change is not told again",
    );
    assert_eq!(broken_by(FaultKind::HidesListings), [told, missed]);
    assert_eq!(broken_by(FaultKind::MissesListings), [missed]);
    assert_eq!(broken_by(FaultKind::RepeatsListings), [again]);
}
