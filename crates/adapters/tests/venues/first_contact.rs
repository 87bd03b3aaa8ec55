//! First contact with the simulated venue: every step, and what is told where one does not go as it should.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use adapters::first_contact::{ContactPlan, first_contact};
use adapters::simulated::SimulatedAdapter;
use adapters::{AdapterClock, SendOutcome};
use domain::{AccountId, Timestamp};
use venue_sim::Faults;

use crate::fixture::adapter_name;
use crate::harness::settings;
use crate::market::START;
use crate::scripted_adapter::ScriptedAdapter;

/// Each look at the clock takes a tenth of a second.
fn ticking_clock() -> AdapterClock {
    let now = AtomicI64::new(START.0);
    Arc::new(move || Timestamp(now.fetch_add(100_000_000, Ordering::Relaxed)))
}

fn plan() -> ContactPlan {
    ContactPlan {
        instance: 35,
        venue: "TEST".into(),
        adapter: adapter_name(),
        account: AccountId(1),
        security: Arc::new(samples::stock(7, "TEST")),
        limit: None,
        patience_millis: 5_000,
    }
}

/// The steps that were told, and the client id of an order that may be open.
fn contact_with(faults: Faults) -> (Vec<String>, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = SimulatedAdapter::open(settings(&folder), START).unwrap();
    adapter.controls().set_faults(faults);
    let (stop, mut told) = (AtomicBool::new(false), Vec::new());
    let outcome = first_contact(&mut adapter, ticking_clock(), &plan(), &stop, &mut |step| told.push(step.to_string()));
    (told, outcome.left_open.map(|id| id.to_string()))
}

#[test]
fn an_honest_venue_passes_every_step_and_keeps_no_order() {
    let (told, left_open) = contact_with(Faults::default());
    let expected = [
        "log-on: ok: 0 orders and 0 fills of this check, a complete list",
        "balances: ok: 0 assets",
        "prices: ok: bid 9.99, ask 10.01",
        "far order: ok: buy 1 TEST at 4.99, client id RZ-1-0",
        "inquiry: ok: open, with the terms that were sent",
        "open orders: ok: open, with the terms that were sent",
        "reconnect: ok: open, with the terms that were sent",
        "cancel: ok: cancelled",
        "end of the order: ok: the venue has it as cancelled, without fills",
        "fills: ok: none of the order among 0",
        "balances again: ok: as before the order",
    ];
    assert_eq!((told, left_open), (expected.map(str::to_owned).to_vec(), None));
}

#[test]
fn a_venue_that_cannot_be_reached_ends_it_at_the_log_on() {
    let (told, left_open) = contact_with(Faults { disconnected: true, ..Faults::default() });
    assert_eq!((told, left_open), (vec!["log-on: failed: the connection is cut".to_owned()], None));
}

#[test]
fn a_refused_order_is_told_with_the_venue_s_reason_and_nothing_is_left() {
    let (told, left_open) = contact_with(Faults { reject_every: 1, ..Faults::default() });
    let last = told.last().unwrap();
    assert!(last.starts_with("far order: failed: buy 1 TEST at 4.99: rejected: "), "{last}");
    assert_eq!((told.len(), left_open), (4, None));
}

#[test]
fn a_venue_that_tells_nothing_gets_no_order() {
    let (told, left_open) = contact_with(Faults { muted: true, ..Faults::default() });
    let failed: Vec<_> = told.iter().filter(|step| step.contains(": failed")).map(String::as_str).collect();
    let expected = [
        "balances: failed: a statement did not come within 5 seconds",
        "prices: failed: a bid and an ask did not come within 5 seconds",
        "far order: failed: no price is known; name a limit far from the market with --limit",
    ];
    assert_eq!((failed, left_open), (expected.to_vec(), None));
}

#[test]
fn an_answer_that_does_not_come_leaves_an_order_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = SimulatedAdapter::open(settings(&folder), START).unwrap();
    let controls = adapter.controls();
    let (stop, mut told) = (AtomicBool::new(false), Vec::new());
    let outcome = first_contact(&mut adapter, ticking_clock(), &plan(), &stop, &mut |step| {
        if step.name == "prices" {
            controls.set_faults(Faults { muted: true, ..Faults::default() });
        }
        told.push(step.to_string());
    });
    let expected = [
        "far order: failed: an acceptance did not come within 5 seconds",
        "cancel: failed: the end of the order did not come within 5 seconds",
    ];
    assert_eq!(told[3..], expected);
    assert_eq!(outcome.left_open.map(|id| id.to_string()).as_deref(), Some("RZ-1-0"));
    assert_eq!(outcome.failures(), 2);
}

#[test]
fn whoever_stops_it_gets_the_order_cancelled_and_no_further_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = SimulatedAdapter::open(settings(&folder), START).unwrap();
    let (stop, mut told) = (AtomicBool::new(false), Vec::new());
    let outcome = first_contact(&mut adapter, ticking_clock(), &plan(), &stop, &mut |step| {
        stop.store(step.name == "far order", Ordering::Relaxed);
        told.push(step.name);
    });
    assert_eq!(told, ["log-on", "balances", "prices", "far order", "cancel"]);
    assert_eq!((outcome.left_open, outcome.failures(), outcome.is_interrupted), (None, 0, true));
}

#[test]
fn what_an_adapter_does_not_offer_is_told_and_an_order_that_did_not_leave_is_not_left_open() {
    let mut adapter = ScriptedAdapter::new();
    adapter.state().sending = SendOutcome::NotSent("for orders alone, and not now".into());
    let plan = ContactPlan { limit: Some("3".parse().unwrap()), ..plan() };
    let mut told = Vec::new();
    let outcome = first_contact(&mut adapter, ticking_clock(), &plan, &AtomicBool::new(false), &mut |step| {
        told.push(step.to_string());
    });
    let expected = [
        "log-on: ok: 0 orders and 0 fills of this check, a complete list",
        "balances: not offered: the adapter gives no statements",
        "prices: not offered: for orders alone, and not now",
        "far order: failed: for orders alone, and not now",
    ];
    assert_eq!(told, expected);
    assert_eq!((outcome.left_open, outcome.failures()), (None, 1));
}

/// It could not be taken back.
#[test]
fn at_a_venue_that_takes_no_cancels_no_order_is_placed() {
    let mut adapter = ScriptedAdapter::new();
    adapter.state().takes_no_cancels = true;
    let plan = ContactPlan { limit: Some("3".parse().unwrap()), ..plan() };
    let mut told = Vec::new();
    let outcome = first_contact(&mut adapter, ticking_clock(), &plan, &AtomicBool::new(false), &mut |step| {
        told.push(step.to_string());
    });
    assert_eq!(
        told.last().unwrap(),
        "far order: not offered: the venue takes no cancels, so an order would stay there"
    );
    assert_eq!((told.len(), outcome.left_open), (4, None));
    assert!(!adapter.state().asked.iter().any(|asked| asked.starts_with("submit")), "{:?}", adapter.state().asked);
}
