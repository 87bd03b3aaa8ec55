//! The lease: when a new leader may send to venues, the old one may not, whether it knows of its end or not.

use std::time::{Duration, Instant};

use replication_contract::MemoryLog;
use storage::replication::ReplicationStatus;

use crate::member::Member;
use crate::record;
use crate::venue::{MemberAdapter, VenueLog};

const LEASE: Duration = Duration::from_secs(2);
/// A follower waits for so long after the last entry that it has read.
const TAKEOVER: Duration = Duration::from_millis(2_500);

/// Whether a leader may send at a moment.
type MaySend = fn(&ReplicationStatus, Instant) -> bool;

fn with_lease(status: &ReplicationStatus, now: Instant) -> bool {
    status.holds_lease(now, LEASE)
}

/// The planted mistake: a leader sends until it learns that another one leads.
fn without_lease(status: &ReplicationStatus, _: Instant) -> bool {
    !status.state().is_fenced
}

/// A leader is paused, another one takes over, and the first wakes up before it has tried to append anything.
fn pause_and_take_over(may_send: MaySend) -> Result<(), String> {
    let (log, mut first, mut second) = (MemoryLog::default(), Member::new(1), Member::new(2));
    let mut old = first.lead(&log);
    record(&mut old, 1..=3, "order");
    let follower = second.follow(&log);
    let read = Instant::now();
    let trades = |at: Instant| may_send(&old.status, at);
    if !trades(read) {
        return Err("a leader that was just accepted may not send".to_owned());
    }
    drop(follower);
    let new = second.lead(&log);
    // The new leader begins to send here, and no clock of another machine is needed for it.
    let outcome = match trades(read + TAKEOVER) {
        true => Err("an old leader sends while a new one does".to_owned()),
        false => Ok(()),
    };
    new.end();
    old.end();
    outcome
}

#[test]
fn a_leader_that_was_paused_sends_nothing_when_another_one_has_begun() {
    assert_eq!(pause_and_take_over(with_lease), Ok(()));
}

#[test]
fn a_leader_without_a_lease_is_caught() {
    let caught = pause_and_take_over(without_lease);
    assert_eq!(caught, Err("an old leader sends while a new one does".to_owned()));
}

/// What happens at the venue when a leader is paused between its journal and its adapter, and wakes up behind the takeover.
fn wake_up_behind_a_takeover() -> Vec<String> {
    let (log, mut first, mut second) = (MemoryLog::default(), Member::new(1), Member::new(2));
    let venue = VenueLog::default();
    let mut old = first.lead(&log);
    let mut old_adapter = MemberAdapter::log_on("a", &old.status, LEASE, &venue);
    old.record_durably(1, "order 1");
    old_adapter.submit(1);
    // Durable and acknowledged, but the process is paused before its adapter has it.
    old.record_durably(2, "order 2");
    let follower = second.follow(&log);
    let read = Instant::now();
    drop(follower);
    let mut new = second.lead(&log);
    let mut new_adapter = MemberAdapter::log_on("b", &new.status, LEASE, &venue);
    new.record_durably(3, "order 3");
    new_adapter.submit(3);
    old_adapter.wake_at(read + TAKEOVER);
    old_adapter.submit(2);
    new.end();
    old.end();
    let happened = venue.lock().unwrap();
    happened.clone()
}

#[test]
fn an_order_that_a_paused_leader_had_not_sent_does_not_leave_behind_the_takeover() {
    let not_sent = "a does not send 2: the lease of this server has run out, another one may lead";
    assert_eq!(wake_up_behind_a_takeover(), ["a logs on", "a sends 1", "b logs on", "b sends 3", not_sent]);
}

/// `make test-bugs`: the whole with the lease left out.
#[cfg(feature = "planted-bugs")]
#[test]
fn an_adapter_that_ignores_the_lease_is_caught() {
    domain::planted_bugs::plant(Some(domain::PlantedBug::IgnoreLease));
    let happened = wake_up_behind_a_takeover();
    domain::planted_bugs::plant(None);
    assert_eq!(
        happened,
        ["a logs on", "a sends 1", "b logs on", "b sends 3", "a sends 2"],
        "of an old epoch, and last"
    );
}
