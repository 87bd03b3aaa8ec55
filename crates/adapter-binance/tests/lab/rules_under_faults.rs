//! Every rule of the conformance kit while the lab misbehaves: it is kept, or the adapter says what it could not do.

use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use adapters::conformance::{DurableView, FailedHalf, Harness, OrderIntent, RuleOutcome, RuleVerdict};
use adapters::{Adapter, check_under_fault};
use domain::order::OrderTerms;
use domain::report::LineKind;
use domain::{Order, Timestamp};

use crate::harness::LabHarness;
use crate::lab::run_value;

/// A question without an answer is given up after twelve seconds, and then the venue is asked.
const SETTLE_MAX: Duration = Duration::from_secs(30);
/// An event that is not here by then does not come.
const EVENT_MAX: Duration = Duration::from_secs(2);
/// Between an answer and the events of the same request.
const EVENT_PAUSE: Duration = Duration::from_millis(20);

/// What the engine does by itself, without a word of the adapter.
const SILENT: [&str; 1] = [
    // An inquiry of several questions does not go on before Retry-After: the order stays in doubt, and is asked about again.
    "rate-limited: BROKEN: an inquiry about an order that never came is answered: order 1 was asked about: 0 answers",
];

/// Faults that are armed when a rule begins to trade or to ask; each strikes the first request or event that it is about.
struct FaultyLab<'a> {
    lab: LabHarness,
    faults: Vec<&'a str>,
    struck: &'a AtomicUsize,
}

impl<'a> FaultyLab<'a> {
    fn start(faults: &'a str, struck: &'a AtomicUsize) -> Self {
        let faults = faults.split('+').filter(|fault| !fault.is_empty()).collect();
        Self { lab: LabHarness::start("ED25519"), faults, struck }
    }

    fn arm(&mut self) {
        std::mem::take(&mut self.faults).into_iter().for_each(|fault| run_value(self.lab.lab.arm(fault)));
    }
}

impl Drop for FaultyLab<'_> {
    fn drop(&mut self) {
        let faults = run_value(self.lab.lab.admin("/faults"));
        self.struck.fetch_add(faults["injected"].as_array().map_or(0, Vec::len), Ordering::Relaxed);
    }
}

/// What somebody else asks of the lab can be struck too; then the rule is not shown.
impl Harness for FaultyLab<'_> {
    fn adapter(&mut self) -> &mut dyn Adapter {
        self.lab.adapter()
    }

    fn now(&self) -> Timestamp {
        self.lab.now()
    }

    fn advance(&mut self) {
        self.arm();
        // Events may come behind the answer to a later question, and then there is more to wait for.
        for _ in 0..2 {
            self.lab.settles_within(SETTLE_MAX);
            thread::sleep(EVENT_PAUSE);
        }
    }

    fn order(&mut self, aim: OrderIntent) -> Order {
        self.arm();
        self.lab.order(aim)
    }

    fn other_terms(&self, order: &Order) -> OrderTerms {
        self.lab.other_terms(order)
    }

    fn new_leg_terms(&self, order: &Order) -> OrderTerms {
        self.lab.new_leg_terms(order)
    }

    fn disconnect(&mut self) {
        self.lab.settles_within(SETTLE_MAX);
        self.lab.cut_lines();
    }

    fn reconnect(&mut self) {
        self.lab.reconnect();
    }

    fn lose_reports(&mut self, lost: bool) -> bool {
        self.lab.lose_reports(lost)
    }

    fn switch_line(&mut self, line: LineKind, up: bool) -> bool {
        self.lab.switch_line(line, up)
    }

    fn place_elsewhere(&mut self, aim: OrderIntent) -> bool {
        self.arm();
        let Ok(id) = self.lab.try_place_as_other(aim) else { return false };
        self.lab.hears_of(&id, aim, EVENT_MAX);
        true
    }

    fn change_listing(&mut self) -> bool {
        self.arm();
        self.lab.try_change_listing()
    }

    fn fail_half(&mut self, half: FailedHalf) -> bool {
        self.lab.fail_half(half)
    }

    fn restart(&mut self) {
        self.arm();
        self.lab.restart();
    }

    fn durable_view(&self) -> Option<DurableView> {
        self.lab.durable_view()
    }
}

/// The rules that were broken without a word, under each fault, or several at once (`a+b`).
fn broken_under(faults: &[&str]) -> Vec<String> {
    let mut broken = Vec::new();
    for fault in faults {
        let (struck, unfaulted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let outcomes = check_under_fault(|| FaultyLab::start("", &unfaulted), || FaultyLab::start(fault, &struck));
        assert!(struck.into_inner() > 0, "{fault} struck nothing");
        let count = |is: fn(&RuleVerdict) -> bool| outcomes.iter().filter(|outcome| is(&outcome.verdict)).count();
        println!(
            "{fault}: {} kept, {} admitted, {} not shown, {} broken",
            count(|verdict| *verdict == RuleVerdict::Passed),
            count(|verdict| matches!(verdict, RuleVerdict::Admitted { .. })),
            count(|verdict| matches!(verdict, RuleVerdict::NotSupported(_))),
            count(|verdict| matches!(verdict, RuleVerdict::Failed(_))),
        );
        let failed = outcomes.iter().filter(|outcome| matches!(outcome.verdict, RuleVerdict::Failed(_)));
        let lines = failed.map(|outcome: &RuleOutcome| format!("{fault}: {outcome}"));
        let lines = lines.filter(|line| !SILENT.contains(&line.as_str()));
        broken.extend(lines.inspect(|line| println!("{line}")));
    }
    broken
}

#[test]
fn no_rule_is_broken_without_a_word_under_faults_of_which_the_adapter_hears() {
    assert_eq!(broken_under(&["signature-rule", "key-revoked", "cancel-only", "odd-values"]), Vec::<String>::new());
}

#[test]
fn no_rule_is_broken_without_a_word_when_events_are_shuffled_or_repeated() {
    assert_eq!(
        broken_under(&["events-shuffled", "fills-replayed", "odd-fills", "server-shutdown"]),
        Vec::<String>::new()
    );
}

/// `make rules-under-faults`: all of them take longer than `make test` may.
#[test]
fn no_rule_is_broken_without_a_word_under_any_fault() {
    let Ok(faults) = env::var("RIALTO_RULE_FAULTS") else { return };
    assert_eq!(broken_under(&faults.split(' ').collect::<Vec<_>>()), Vec::<String>::new());
}
