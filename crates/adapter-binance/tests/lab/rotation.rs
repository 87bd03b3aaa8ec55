//! Rotation of keys without a restart: a changed file is used at once, and the old key again where the venue refuses the new
//! one.

use std::thread;
use std::time::{Duration, Instant};

use adapters::OrderSession;
use adapters::conformance::{Harness, OrderIntent};
use domain::report::VenueSnapshot;

use crate::harness::{LabHarness, WAIT_MAX, write_private};
use crate::lab::{now, run_value};

fn log_on(harness: &mut LabHarness) -> Result<VenueSnapshot, String> {
    let connected = harness.adapter.connect(now()).and_then(|()| harness.adapter.snapshot(now()));
    connected.map_err(|lost| lost.to_string())
}

/// The adapter looks at its file by itself, while it is logged on.
fn wait_until_noticed(harness: &mut LabHarness) {
    let begun = Instant::now();
    while !harness.adapter.is_lost() {
        assert!(begun.elapsed() < WAIT_MAX, "the change was not noticed");
        harness.adapter.pump(now());
        thread::sleep(Duration::from_millis(5));
    }
    harness.adapter.disconnect(now());
}

/// The key works: an order rests and is cancelled.
fn trade(harness: &mut LabHarness) {
    let mut order = harness.order(OrderIntent::Rest);
    let _ = harness.adapter.submit(now(), &order);
    harness.settle();
    order.request += 1;
    let _ = harness.adapter.cancel(now(), &order);
    harness.settle();
    let ledger = run_value(harness.lab.ledger());
    let last = ledger["orders"].as_array().unwrap().last().unwrap();
    assert_eq!(last["status"], "CANCELED", "{last}");
}

#[test]
fn a_changed_file_is_used_without_a_restart() {
    let mut harness = LabHarness::start("HMAC");
    log_on(&mut harness).unwrap();
    let first = harness.adapter.key_in_use();
    assert!(first.ends_with(" with secret"), "{first}");
    trade(&mut harness);

    let path = harness.credentials();
    harness.lab.write_credentials(&path, "ALPHA", "ED25519");
    wait_until_noticed(&mut harness);
    log_on(&mut harness).unwrap();
    let second = harness.adapter.key_in_use();
    assert!(second.ends_with(" with privateKey"), "{second}");
    trade(&mut harness);
}

#[test]
fn a_key_that_the_venue_refuses_or_that_cannot_sign_gives_way_to_the_one_before_it() {
    let mut harness = LabHarness::start("ED25519");
    log_on(&mut harness).unwrap();
    let (path, first) = (harness.credentials(), harness.adapter.key_in_use());

    // The venue does not know it.
    write_private(&path, "apiKey = \"nobody-knows-this-key\"\nsecret = \"nor-this-secret\"\n");
    wait_until_noticed(&mut harness);
    let refused = log_on(&mut harness).unwrap_err();
    assert!(refused.starts_with("the venue refused the session: "), "{refused}");
    log_on(&mut harness).unwrap();
    assert_eq!(harness.adapter.key_in_use(), first);
    trade(&mut harness);

    // It is no key. The session begins again with the old one.
    write_private(&path, "apiKey = \"nobody-knows-this-key\"\nprivateKey = \"no key\"\n");
    wait_until_noticed(&mut harness);
    log_on(&mut harness).unwrap();
    assert_eq!(harness.adapter.key_in_use(), first);

    // The file cannot be read: the session goes on.
    write_private(&path, "apiKey = ");
    trade(&mut harness);
    assert!(!harness.adapter.is_lost());
}
