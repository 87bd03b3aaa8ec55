//! The host of a leader that may lose its lease, and of a new one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use adapters::{AdapterRecords, OverlapRecord, SendLease};
use bus::RequestPayload;
use bus::inbox::InboxReceiver;
use bus::reply::Reply;
use domain::query::Answer;
use domain::report::{ReportKind, SessionState};
use domain::{Instruction, OrderId, SecurityId, Timestamp};
use storage::JournalLedger;

use crate::fixture::adapter_name;
use crate::host::{HostFixture, START, after_millis, cancel, replace, session, submit};
use crate::scripted_adapter::ScriptedAdapter;

/// A lease that the test takes away and gives back.
fn with_lease(mut stage: HostFixture) -> (HostFixture, Arc<AtomicBool>) {
    let is_held = Arc::new(AtomicBool::new(true));
    let held = is_held.clone();
    stage.host = stage.host.with_lease(Some(SendLease::new(move || held.load(Ordering::Relaxed))));
    (stage, is_held)
}

#[test]
fn without_the_lease_nothing_that_trades_is_sent_and_the_engine_hears_of_it() {
    let (mut stage, is_held) = with_lease(HostFixture::logged_on());
    is_held.store(false, Ordering::Relaxed);
    [submit(), replace(), cancel(), Instruction::ListOpenOrders].into_iter().for_each(|asked| stage.take(asked));
    assert_eq!(stage.puppet.requests(), ["list open orders"], "who only asks does no harm");
    let heard = stage.heard();
    let is_told = |report: &ReportKind| {
        let (ReportKind::NotSent { reason, .. }
        | ReportKind::ReplaceRejected { reason, .. }
        | ReportKind::CancelRejected { reason, .. }) = report
        else {
            return false;
        };
        reason.contains("the lease of this server has run out")
    };
    assert_eq!((heard.len(), heard.iter().all(is_told)), (3, true), "{heard:?}");
    is_held.store(true, Ordering::Relaxed);
    stage.take(submit());
    assert_eq!(stage.puppet.requests(), ["submit 1"]);
}

#[test]
fn without_the_lease_no_session_begins() {
    let (mut stage, is_held) = with_lease(HostFixture::greeted());
    is_held.store(false, Ordering::Relaxed);
    stage.host.step(START).unwrap();
    assert_eq!((stage.puppet.requests(), stage.host.next_due()), (vec![], Some(after_millis(100))));
    is_held.store(true, Ordering::Relaxed);
    stage.host.step(after_millis(100)).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"]);
}

/// What a leader knows of its lease: whether it holds it, and whether another one may lead by now.
#[derive(Default)]
struct LeaseState {
    is_held: AtomicBool,
    may_be_replaced: AtomicBool,
}

impl LeaseState {
    fn set(&self, is_held: bool, may_be_replaced: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
        self.may_be_replaced.store(may_be_replaced, Ordering::Relaxed);
    }
}

/// A leader that is logged on.
fn leader() -> (HostFixture, Arc<LeaseState>) {
    let (mut stage, state) = (HostFixture::logged_on(), Arc::new(LeaseState::default()));
    state.set(true, false);
    let [held, replaced] = [state.clone(), state.clone()];
    let lease = SendLease::new(move || held.is_held.load(Ordering::Relaxed));
    let lease = lease.with_takeover(move || replaced.may_be_replaced.load(Ordering::Relaxed));
    stage.host = stage.host.with_lease(Some(lease));
    (stage, state)
}

/// It may be cut from the log and not from the venue: then it never hears of the next leader, which the venue refuses for its sake.
#[test]
fn a_leader_that_may_be_replaced_ends_its_session_and_logs_on_again_only_with_the_lease() {
    let (mut stage, lease) = leader();
    stage.take(Instruction::Subscribe(SecurityId(7)));
    stage.puppet.requests();
    lease.set(false, true);
    stage.host.step(START).unwrap();
    assert_eq!(stage.puppet.requests(), ["disconnect"]);
    assert_eq!(stage.heard(), [session(SessionState::Disconnected)]);
    stage.take(submit());
    let reason = "not logged on: the lease of this server has run out, another one may lead".into();
    assert_eq!(stage.heard(), [ReportKind::NotSent { order: OrderId(1), reason }]);
    for tenths in 1..=20 {
        stage.host.step(after_millis(100 * tenths)).unwrap();
        assert_eq!(stage.host.next_due(), Some(after_millis(100 * (tenths + 1))), "no pause is longer");
    }
    assert_eq!(stage.puppet.requests(), [""; 0]);
    lease.set(true, false);
    stage.host.step(after_millis(2_100)).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect", "subscribe 7"]);
    assert_eq!(stage.heard().last(), Some(&session(SessionState::Subscribed)));
}

/// The adapter may have begun a session that the venue takes later, and a drop copy has a session of its own.
#[test]
fn a_leader_that_is_not_logged_on_leaves_the_venue_too_when_it_may_be_replaced() {
    let (mut stage, lease) = leader();
    stage.puppet.state().unreachable = Some("the venue has not answered yet");
    stage.puppet.state().lost = Some("the line is cut");
    stage.host.step(START).unwrap();
    assert_eq!(stage.puppet.requests(), ["disconnect"], "the session is lost");
    stage.host.step(after_millis(100)).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"], "it is tried again, with the lease");
    lease.set(false, false);
    stage.host.step(after_millis(150)).unwrap();
    assert_eq!(stage.puppet.requests(), [""; 0], "nobody may have replaced it yet");
    lease.set(false, true);
    (151..=1_000).for_each(|millis| stage.host.step(after_millis(millis)).unwrap());
    assert_eq!(stage.puppet.requests(), ["disconnect"]);
    lease.set(true, false);
    stage.puppet.state().unreachable = None;
    stage.host.step(after_millis(1_100)).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"]);
}

#[test]
fn a_leader_that_has_its_lease_back_before_another_one_may_lead_keeps_its_session() {
    let (mut stage, lease) = leader();
    lease.set(false, false);
    stage.host.step(after_millis(900)).unwrap();
    lease.set(true, false);
    stage.host.step(after_millis(1_000)).unwrap();
    stage.take(submit());
    assert_eq!((stage.puppet.requests(), stage.heard()), (vec!["submit 1".to_owned()], vec![]));
}

#[test]
fn at_a_venue_that_takes_several_sessions_nobody_stands_in_the_way() {
    let (mut stage, lease) = leader();
    stage.puppet.state().overlap_millis = 6_000;
    lease.set(false, true);
    stage.host.step(START).unwrap();
    assert_eq!((stage.puppet.requests(), stage.heard()), (vec![], vec![]));
}

/// A new leader at a venue where requests of the one before may arrive for 6 s, and for how many milliseconds it leads.
fn new_leader() -> (HostFixture, Arc<AtomicU64>) {
    let puppet = ScriptedAdapter::new();
    puppet.state().overlap_millis = 6_000;
    let mut stage = HostFixture::of(puppet);
    let led = Arc::new(AtomicU64::new(0));
    let age = led.clone();
    let lease = SendLease::new(|| true).with_age(move || Duration::from_millis(age.load(Ordering::Relaxed)));
    stage.host = stage.host.with_lease(Some(lease));
    stage.take(Instruction::LogOn);
    (stage, led)
}

/// The leader before may have sent its last request until now.
#[test]
fn a_new_leader_logs_on_when_no_order_of_the_one_before_can_come_behind_its_own() {
    let (mut stage, led) = new_leader();
    stage.host.step(START).unwrap();
    assert_eq!((stage.puppet.requests(), stage.host.next_due()), (vec![], Some(after_millis(6_000))));
    stage.heard();
    led.store(3_000, Ordering::Relaxed);
    stage.host.step(after_millis(3_000)).unwrap();
    stage.take(cancel());
    let reason = "not logged on: requests of the leader before may still arrive".into();
    assert_eq!(stage.heard(), [ReportKind::CancelRejected { order: OrderId(3), reason }]);
    led.store(6_000, Ordering::Relaxed);
    stage.host.step(after_millis(6_000)).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"]);
    // A session that is lost later begins again at once: what this leader has sent is its own.
    stage.puppet.state().lost = Some("cut");
    stage.host.step(after_millis(7_000)).unwrap();
    stage.host.step(after_millis(7_100)).unwrap();
    assert_eq!(stage.puppet.requests(), ["disconnect", "connect"]);
}

/// The journal of a cluster, which the members have one after the other.
struct MemberJournal {
    ledger: Arc<JournalLedger>,
    requests: InboxReceiver,
}

impl MemberJournal {
    fn new() -> Self {
        let (inbox, requests) = bus::inbox::inbox();
        Self { ledger: Arc::new(JournalLedger::new(inbox)), requests }
    }

    fn records(&self) -> AdapterRecords {
        AdapterRecords::new(self.ledger.clone(), adapter_name())
    }

    /// What waits becomes durable.
    fn commit(&self) {
        for request in self.requests.requests.try_iter() {
            let RequestPayload::LedgerRecord(record) = request.payload else { panic!("{:?}", request.payload) };
            self.ledger.apply(1, &record).unwrap();
            request.reply_to.send(Reply { sequence: 1, outcome: Ok(Answer::Done) });
        }
    }

    /// A new leader whose own requests may arrive for 6 s, when the log-on is due at first, and how many milliseconds it leads.
    fn next_leader(&self) -> (HostFixture, Option<Timestamp>, Arc<AtomicU64>) {
        let (mut stage, led) = new_leader();
        stage.host = stage.host.with_overlap(OverlapRecord::read(Some(self.records())).unwrap());
        stage.host.step(START).unwrap();
        let due = stage.host.next_due();
        (stage, due, led)
    }
}

/// The window of the leader before was longer: its configuration was changed with the start of this member.
#[test]
fn a_new_leader_waits_for_the_requests_of_one_before_whose_window_was_longer() {
    let journal = MemberJournal::new();
    journal.records().write("overlap", "61000").unwrap();
    journal.commit();
    let (mut stage, due, led) = journal.next_leader();
    assert_eq!(due, Some(after_millis(61_000)));
    led.store(60_999, Ordering::Relaxed);
    stage.host.step(after_millis(60_999)).unwrap();
    assert_eq!((stage.puppet.requests(), journal.next_leader().1), (vec![], Some(after_millis(61_000))));
    // Nothing of the one before comes any more, and the next leader hears of the window of this one before anything leaves.
    led.store(61_000, Ordering::Relaxed);
    stage.host.step(after_millis(61_000)).unwrap();
    stage.host.step(after_millis(61_100)).unwrap();
    assert_eq!((stage.puppet.requests(), stage.host.next_due()), (vec![], Some(after_millis(61_200))));
    journal.commit();
    stage.host.step(after_millis(61_200)).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"]);
    assert_eq!(journal.next_leader().1, Some(after_millis(6_000)));
}

#[test]
fn a_new_leader_goes_by_its_own_window_where_a_journal_from_before_has_none_and_keeps_it() {
    let journal = MemberJournal::new();
    let (mut stage, due, led) = journal.next_leader();
    assert_eq!(due, Some(after_millis(6_000)));
    led.store(6_000, Ordering::Relaxed);
    stage.host.step(after_millis(6_000)).unwrap();
    journal.commit();
    stage.host.step(after_millis(6_100)).unwrap();
    let kept = journal.records().read("overlap");
    assert_eq!((stage.puppet.requests(), kept), (vec!["connect".to_owned()], Some("6000".to_owned())));
    // The next one with the same window has nothing to keep.
    let (mut next, _, led) = journal.next_leader();
    led.store(6_000, Ordering::Relaxed);
    next.host.step(after_millis(6_000)).unwrap();
    assert_eq!(next.puppet.requests(), ["connect"]);
}

#[test]
fn a_record_of_the_window_that_cannot_be_read_is_refused() {
    let journal = MemberJournal::new();
    journal.records().write("overlap", "soon").unwrap();
    journal.commit();
    let refusal = OverlapRecord::read(Some(journal.records())).err().unwrap();
    assert_eq!(refusal, "the record overlap in the journal is no time in milliseconds: \"soon\"");
}

#[test]
fn a_clock_that_is_set_forward_does_not_let_a_new_leader_log_on_earlier() {
    let (mut stage, led) = new_leader();
    led.store(1_000, Ordering::Relaxed);
    stage.host.step(after_millis(3_600_000)).unwrap();
    assert_eq!((stage.puppet.requests(), stage.host.next_due()), (vec![], Some(after_millis(3_605_000))));
    led.store(6_000, Ordering::Relaxed);
    stage.host.step(after_millis(3_605_000)).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"]);
}

#[test]
fn a_clock_that_is_set_back_does_not_let_a_new_leader_wait_for_longer() {
    let (mut stage, led) = new_leader();
    stage.host.step(START).unwrap();
    // The thread of an adapter lets its time stand still until the clock has caught up.
    led.store(5_999, Ordering::Relaxed);
    stage.host.step(START).unwrap();
    assert_eq!((stage.puppet.requests(), stage.host.next_due()), (vec![], Some(after_millis(1))));
    led.store(6_000, Ordering::Relaxed);
    stage.host.step(START).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"]);
}

#[test]
fn a_new_leader_that_loses_its_lease_while_it_waits_does_not_log_on() {
    let puppet = ScriptedAdapter::new();
    puppet.state().overlap_millis = 6_000;
    let (mut stage, is_held) = with_lease(HostFixture::of(puppet));
    stage.take(Instruction::LogOn);
    stage.host.step(START).unwrap();
    is_held.store(false, Ordering::Relaxed);
    stage.host.step(after_millis(3_000)).unwrap();
    assert_eq!((stage.puppet.requests(), stage.host.next_due()), (vec![], Some(after_millis(3_100))));
}

#[test]
fn a_log_on_that_fails_sets_the_flag_of_the_start_that_waits_for_it() {
    let (stage, led) = new_leader();
    let has_failed = Arc::new(AtomicBool::new(false));
    let mut host = stage.host.with_failure_flag(has_failed.clone());
    stage.puppet.state().unreachable = Some("no such host");
    host.step(START).unwrap();
    assert!(!has_failed.load(Ordering::Relaxed), "it was not asked yet");
    led.store(6_000, Ordering::Relaxed);
    host.step(after_millis(6_000)).unwrap();
    assert!(has_failed.load(Ordering::Relaxed));
}

#[test]
fn a_server_alone_logs_on_at_once() {
    let puppet = ScriptedAdapter::new();
    puppet.state().overlap_millis = 6_000;
    let mut stage = HostFixture::of(puppet);
    stage.take(Instruction::LogOn);
    stage.host.step(START).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"]);
}
