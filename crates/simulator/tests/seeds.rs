//! The platform as it is: a fixed number of seeds of a fixed length keeps every promise, and a seed always gives the same run.

use domain::order::ExecType;
use simulator::schedule::Fault;
use simulator::{CheckedPlans, Coverage, Plan, RunReport, UNLISTED_CODE, run};

/// Simulated minutes in which things go wrong; more than two of rest follow.
const MINUTES: u32 = 3;
const SEEDS_PER_TEST: u64 = 50;
/// In every third run there are users, and so in this one.
const WITH_USERS: u64 = 5;
const WITH_LAB_AND_USERS: u64 = 12;
const WITH_LAB_AND_LATE_REQUESTS: u64 = 10;
const WITH_AN_UPGRADE: u64 = 14;

/// What is refused of requests of which something is wrong. Each is reached often, in any fifty seeds.
const CODES_OF_ODD_REQUESTS: [&str; 12] = [
    "not-a-multiple",
    "unknown-security",
    "unknown-account",
    "unknown-strategy",
    "account-ambiguous",
    "account-inactive",
    "no-route",
    "not-tradeable",
    "no-auction",
    "property-not-allowed",
    "too-small",
    "too-large",
];
/// What is refused while one limit of an account is tight. Which ones are drawn differs; of any fifty seeds some are reached.
const CODES_OF_TIGHT_LIMITS: [&str; 7] = [
    "order-rate",
    "max-position",
    "max-order-notional",
    "max-open-notional",
    "max-gross-exposure",
    "duplicate-content",
    "restricted-security",
];
const TIGHT_LIMITS_MIN: usize = 3;

fn report(seed: u64, minutes: u32) -> RunReport {
    run(&Plan::of_seed(seed, minutes)).expect("a temporary folder can be written")
}

/// Every seed keeps every promise, and there are upgrades and ends of days among them.
fn check_seeds(first: u64) {
    let plans = (first..first + SEEDS_PER_TEST).map(|seed| Plan::of_seed(seed, MINUTES));
    let checked = CheckedPlans::run(plans).expect("a temporary folder can be written");
    checked.expect_kept();
    let coverage = checked.coverage;
    assert!(coverage.faults_of_kind(Fault::UPGRADE) > 0, "{coverage}");
    assert!(coverage.faults_of_kind(Fault::DAY_END) > 0, "{coverage}");
    assert!(coverage.http_orders() > 0, "no order was accepted over HTTP: {coverage}");
    assert!(coverage.http_reads_compared() > 0, "no read over HTTP was compared: {coverage}");
    assert!(
        coverage.log_ins().into_iter().all(|count| count > 0),
        "nobody was let in, or nobody was denied: {coverage}"
    );
    assert!(coverage.disconnect_cancels() > 0, "no order was cancelled because its client was away: {coverage}");
    assert!(coverage.lab_trades() > 0, "nothing was traded at the lab: {coverage}");
    assert!(coverage.orders_sent_again() > 0, "no order was sent once more: {coverage}");
    for kind in [
        "venue cancels only, for a replace",
        "venue places only, for a replace",
        "venue does neither half of a replace",
        "power cut at a compacted ledger",
        "power cut while a ledger is written",
        "line to the lab is cut",
        "lab is killed",
        "clock drifts",
        "venue loses requests",
        "venue gets requests late",
    ] {
        assert!(coverage.faults_of_kind(kind) > 0, "{kind}: {coverage}");
    }
    // What these do shows that they struck.
    for change in [ExecType::TradeCancel, ExecType::TradeCorrect] {
        assert!(coverage.has_change(change), "{change:?}: {coverage}");
    }
    for fault in ["fills-replayed", "fix-numbers-reset"] {
        assert!(coverage.lab_faults_struck(fault) > 0, "{fault}: {coverage}");
    }
    for code in CODES_OF_ODD_REQUESTS {
        assert!(coverage.refusal_codes().any(|reached| reached == code), "{code}: {coverage}");
    }
    let tight = coverage.refusal_codes().filter(|code| CODES_OF_TIGHT_LIMITS.contains(code)).count();
    assert!(tight >= TIGHT_LIMITS_MIN, "{tight} limits were met: {coverage}");
    // Requests over HTTP are well formed, so that a refusal is one of trading.
    let is_of_form = |code: &str| {
        code.starts_with("malformed") || ["missing", "missing-host", "no-such-path", UNLISTED_CODE].contains(&code)
    };
    assert_eq!(coverage.refusal_codes().filter(|code| is_of_form(code)).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn seeds_1_to_50_keep_every_promise() {
    check_seeds(1);
}

#[test]
fn seeds_51_to_100_keep_every_promise() {
    check_seeds(51);
}

#[test]
fn seeds_101_to_150_keep_every_promise() {
    check_seeds(101);
}

#[test]
fn seeds_151_to_200_keep_every_promise() {
    check_seeds(151);
}

/// Slower, so that there are few; their schedules are those of runs that are checked every few seconds.
#[test]
fn seeds_201_to_208_keep_every_promise_after_every_step() {
    let plans = (201..=208).map(|seed| Plan { is_checked_at_every_step: true, ..Plan::of_seed(seed, MINUTES) });
    CheckedPlans::run(plans).expect("a temporary folder can be written").expect_kept();
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let hashes = [7, 7, 8].map(|seed| report(seed, MINUTES).hash);
    assert_eq!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
}

/// Two runs of the seed, which must be the same; what was reached.
fn run_twice(seed: u64) -> Coverage {
    let [one, other] = [seed; 2].map(|seed| report(seed, MINUTES));
    assert_eq!(one.hash, other.hash);
    one.coverage
}

#[test]
fn the_same_seed_with_users_gives_the_same_run() {
    let coverage = run_twice(WITH_USERS);
    assert!(coverage.log_ins()[0] > 0, "{coverage}");
}

#[test]
fn the_same_seed_with_the_lab_and_users_gives_the_same_run() {
    let coverage = run_twice(WITH_LAB_AND_USERS);
    assert!(coverage.lab_trades() > 0 && coverage.log_ins()[0] > 0, "{coverage}");
}

#[test]
fn the_same_seed_with_the_lab_and_late_requests_gives_the_same_run() {
    let coverage = run_twice(WITH_LAB_AND_LATE_REQUESTS);
    let late = ["venue loses requests", "venue gets requests late"].map(|kind| coverage.faults_of_kind(kind));
    assert!(coverage.lab_trades() > 0 && late.iter().sum::<u64>() > 0, "{coverage}");
}

#[test]
fn the_same_seed_with_an_upgrade_gives_the_same_run() {
    assert_eq!(run_twice(WITH_AN_UPGRADE).faults_of_kind(Fault::UPGRADE), 1);
}
