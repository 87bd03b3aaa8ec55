//! The whole adapter under faults of the lab: whatever is answered or told, orders and fills end up as in the lab's ledger.

use crate::harness::terms;
use crate::lab::run_value;
use crate::lab_trader::LabTrader;

/// Under each fault, or several at once (`a+b`), an order that trades, and one that rests, is replaced and cancelled.
fn differences_under(faults: &[&str]) -> Vec<String> {
    let mut differences = Vec::new();
    for fault in faults {
        let mut trader = LabTrader::log_on("ED25519");
        fault.split('+').for_each(|fault| run_value(trader.harness.lab.arm(fault)));
        trader.place(terms("0.002", None));
        let rests = trader.place(terms("0.01", Some("20000")));
        trader.replace(rests, terms("0.01", Some("21000")));
        trader.cancel(rests);
        trader.place(terms("0.003", None));
        let faults = run_value(trader.harness.lab.admin("/faults"));
        let injected = faults["injected"].as_array().unwrap();
        let has_struck = |fault: &str| injected.iter().any(|struck| struck["fault"] == fault);
        assert!(fault.split('+').all(has_struck), "{fault} did not strike: {faults}");
        let ledger = run_value(trader.harness.lab.admin("/ledger"));
        differences.extend(trader.differences(&ledger).into_iter().map(|line| format!("{fault}: {line}")));
    }
    differences
}

#[test]
fn answers_that_are_unknown_cut_or_late_end_as_the_venue_has_them() {
    let faults =
        ["taken-unknown", "not-taken-unknown", "cut-answer", "taken-unknown+stream-mute+late-query", "late-request"];
    assert_eq!(differences_under(&faults), Vec::<String>::new());
}

#[test]
fn a_private_stream_that_is_muted_ended_shuffled_or_repeated_changes_nothing() {
    let faults = ["stream-mute", "key-expired", "server-shutdown", "events-shuffled", "odd-fills", "fills-replayed"];
    assert_eq!(differences_under(&faults), Vec::<String>::new());
}

#[test]
fn replaces_of_which_half_succeeds_and_lists_that_lack_their_end_are_settled() {
    let faults = ["replace-half", "replace-cut", "cut-answer+list-partial", "order-ids-reissued", "odd-values"];
    assert_eq!(differences_under(&faults), Vec::<String>::new());
}

#[test]
fn refusals_of_the_venue_leave_no_order_behind() {
    let faults =
        ["key-revoked", "signature-rule", "cancel-only", "endpoint-moved", "filters-change", "strangers", "clock-off"];
    assert_eq!(differences_under(&faults), Vec::<String>::new());
}
