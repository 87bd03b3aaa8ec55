//! Adapter host, with time controlled by the test.

use std::sync::Arc;

use adapters::{AdapterHost, SendOutcome, VenueBackoff};
use bus::InboxError;
use bus::inbox::InboxReceiver;
use domain::command::MarketData;
use domain::report::{LineKind, ReportKind, SessionState, VenueSnapshot};
use domain::{Instruction, OrderId, PriceGap, Report, SecurityId, StaleCause, Timestamp};

use crate::fixture::{adapter_name, order, terms};
use crate::scripted_adapter::{ScriptedAdapter, capabilities};

pub(crate) const START: Timestamp = Timestamp(1_000_000_000_000);
const BACKOFF: VenueBackoff = VenueBackoff { first_millis: 100, max_millis: 500 };

pub(crate) struct HostFixture {
    pub(crate) puppet: ScriptedAdapter,
    pub(crate) host: AdapterHost,
    lanes: InboxReceiver,
}

impl HostFixture {
    pub(crate) fn set() -> Self {
        Self::of(ScriptedAdapter::new())
    }

    pub(crate) fn of(puppet: ScriptedAdapter) -> Self {
        let (inbox, lanes) = bus::inbox::inbox();
        let host = AdapterHost::attach(adapter_name(), Box::new(puppet.clone()), inbox, BACKOFF).unwrap();
        Self { puppet, host, lanes }
    }

    /// The engine has sent LOGON without subscriptions.
    pub(crate) fn greeted() -> Self {
        let mut stage = Self::set();
        stage.take(Instruction::LogOn);
        stage
    }

    /// Logged on, with everything before dropped.
    pub(crate) fn logged_on() -> Self {
        let mut stage = Self::greeted();
        stage.host.step(START).unwrap();
        stage.heard();
        stage.puppet.requests();
        stage
    }

    pub(crate) fn heard(&self) -> Vec<ReportKind> {
        self.lanes.reports.try_iter().map(|report| report.kind).collect()
    }

    pub(crate) fn take(&mut self, instruction: Instruction) {
        self.host.handle(START, &instruction).unwrap();
    }
}

pub(crate) fn session(state: SessionState) -> ReportKind {
    ReportKind::Session(state)
}

/// Nothing was sent before.
fn snapshot() -> VenueSnapshot {
    VenueSnapshot { dead_after: Some(START), ..crate::scripted_adapter::snapshot() }
}

fn log_on() -> Vec<ReportKind> {
    vec![
        session(SessionState::Connected),
        ReportKind::Snapshot(snapshot()),
        session(SessionState::LoggedOn),
        session(SessionState::Subscribed),
    ]
}

pub(crate) fn submit() -> Instruction {
    Instruction::Submit(Arc::new(order(1, "10")))
}

pub(crate) fn replace() -> Instruction {
    Instruction::Replace(Arc::new(order(2, "10")), terms(50, "10"))
}

pub(crate) fn cancel() -> Instruction {
    Instruction::Cancel(Arc::new(order(3, "10")))
}

pub(crate) fn after_millis(millis: i64) -> Timestamp {
    START.plus_millis(millis)
}

#[test]
fn a_venue_is_compared_before_it_is_open_for_orders() {
    let mut stage = HostFixture::greeted();
    assert_eq!(stage.heard(), [ReportKind::Attached(capabilities())]);
    stage.host.step(START).unwrap();
    assert_eq!(stage.heard(), log_on());
    assert_eq!(stage.puppet.requests(), ["connect"]);
}

#[test]
fn the_host_connects_only_after_the_engine_has_sent_its_subscriptions() {
    let mut stage = HostFixture::set();
    stage.host.step(START).unwrap();
    assert_eq!((stage.host.next_due(), stage.puppet.requests()), (None, vec![]));
    stage.take(Instruction::Subscribe(SecurityId(7)));
    stage.take(Instruction::LogOn);
    stage.host.step(START).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect", "subscribe 7"]);
}

#[test]
fn a_venue_that_is_not_there_is_tried_after_longer_and_longer_pauses() {
    let mut stage = HostFixture::greeted();
    stage.puppet.state().unreachable = Some("no route");
    let mut tries = Vec::new();
    for millis in 0..=2_000 {
        stage.host.step(after_millis(millis)).unwrap();
        if !stage.puppet.requests().is_empty() {
            tries.push(millis);
        }
    }
    assert_eq!(tries, [0, 100, 300, 700, 1_200, 1_700]);
    assert_eq!(stage.host.next_due(), Some(after_millis(2_200)));
    assert_eq!(stage.heard(), [ReportKind::Attached(capabilities())]);
}

#[test]
fn a_session_that_was_had_begins_with_the_short_pause_again() {
    let mut stage = HostFixture::greeted();
    stage.puppet.state().unreachable = Some("no route");
    stage.host.step(START).unwrap();
    stage.puppet.state().unreachable = None;
    stage.host.step(after_millis(100)).unwrap();
    stage.puppet.state().lost = Some("cut");
    stage.host.step(after_millis(150)).unwrap();
    assert_eq!(stage.host.next_due(), Some(after_millis(250)));
}

#[test]
fn requests_without_a_session_are_answered_and_not_kept() {
    let mut stage = HostFixture::greeted();
    stage.puppet.state().unreachable = Some("no route");
    stage.host.step(START).unwrap();
    stage.heard();
    stage.puppet.requests();
    [submit(), replace(), cancel()].into_iter().for_each(|request| stage.take(request));
    let reason = || "not logged on: no route".into();
    let answers = [
        ReportKind::NotSent { order: OrderId(1), reason: reason() },
        ReportKind::ReplaceRejected { order: OrderId(2), reason: reason() },
        ReportKind::CancelRejected { order: OrderId(3), reason: reason() },
    ];
    assert_eq!(stage.heard(), answers);
    stage.puppet.state().unreachable = None;
    stage.host.step(after_millis(100)).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect"]);
}

#[test]
fn the_result_of_sending_a_request_is_reported_exactly() {
    let reason = || "wire".into();
    let not_sent = [
        ReportKind::NotSent { order: OrderId(1), reason: reason() },
        ReportKind::ReplaceRejected { order: OrderId(2), reason: reason() },
        ReportKind::CancelRejected { order: OrderId(3), reason: reason() },
    ];
    let unknown =
        [1, 2, 3].map(|id| ReportKind::DeliveryUnknown { order: OrderId(id), reason: reason(), dead_after: None });
    let cases = [
        (SendOutcome::Sent, vec![]),
        (SendOutcome::NotSent(reason()), not_sent.to_vec()),
        (SendOutcome::Unknown { reason: reason(), dead_after: None }, unknown.to_vec()),
    ];
    for (sending, told) in cases {
        let mut stage = HostFixture::logged_on();
        stage.puppet.state().sending = sending;
        [submit(), replace(), cancel()].into_iter().for_each(|request| stage.take(request));
        assert_eq!(stage.heard(), told);
        assert_eq!(stage.puppet.requests(), ["submit 1", "replace 2 with 50", "cancel 3"]);
    }
}

#[test]
fn subscriptions_are_remembered_over_every_session() {
    let mut stage = HostFixture::greeted();
    stage.take(Instruction::Subscribe(SecurityId(7)));
    stage.take(Instruction::Subscribe(SecurityId(8)));
    stage.host.step(START).unwrap();
    assert_eq!(stage.puppet.requests(), ["connect", "subscribe 7", "subscribe 8"]);
    stage.take(Instruction::Unsubscribe(SecurityId(8)));
    stage.take(Instruction::Subscribe(SecurityId(9)));
    stage.puppet.state().lost = Some("cut");
    stage.host.step(START).unwrap();
    stage.host.step(after_millis(100)).unwrap();
    let asked = ["unsubscribe 8", "subscribe 9", "disconnect", "connect", "subscribe 7", "subscribe 9"];
    assert_eq!(stage.puppet.requests(), asked);
}

#[test]
fn a_lost_session_is_reported_after_its_last_reports_and_reconciled_again() {
    let mut stage = HostFixture::logged_on();
    let accepted = ReportKind::Accepted { order: OrderId(1), ext_id: Some("V1".into()) };
    stage.puppet.state().says = vec![accepted.clone()];
    stage.puppet.state().lost = Some("cut");
    stage.host.step(START).unwrap();
    assert_eq!(stage.heard(), [accepted, session(SessionState::Disconnected)]);
    stage.host.step(after_millis(99)).unwrap();
    assert_eq!(stage.heard(), []);
    stage.host.step(after_millis(100)).unwrap();
    assert_eq!(stage.heard(), log_on());
}

fn gap(security: u64, cause: StaleCause) -> MarketData {
    MarketData::Gap(PriceGap { security: SecurityId(security), feed: adapter_name().0, cause })
}

#[test]
fn lost_prices_are_told_for_every_subscribed_security() {
    let mut stage = HostFixture::logged_on();
    for security in [7, 8, 9] {
        stage.take(Instruction::Subscribe(SecurityId(security)));
    }
    let awaited = [7, 8, 9].map(|security| gap(security, StaleCause::Awaited));
    assert_eq!(stage.lanes.drain_prices(), awaited);
    // Who asks twice has heard of it.
    stage.take(Instruction::Subscribe(SecurityId(7)));
    stage.take(Instruction::Unsubscribe(SecurityId(8)));
    stage.take(Instruction::Unsubscribe(SecurityId(8)));
    assert_eq!(stage.lanes.drain_prices(), [gap(8, StaleCause::Unsubscribed)]);
    let line = |line, up| ReportKind::Line { line, up, reason: None };
    stage.puppet.state().says = vec![line(LineKind::Private, false), line(LineKind::Prices, true)];
    stage.host.step(START).unwrap();
    assert_eq!(stage.lanes.drain_prices(), []);
    let lost = [gap(7, StaleCause::Disconnected), gap(9, StaleCause::Disconnected)];
    stage.puppet.state().says = vec![line(LineKind::Prices, false)];
    stage.host.step(START).unwrap();
    assert_eq!(stage.lanes.drain_prices(), lost);
    stage.puppet.state().lost = Some("cut");
    stage.host.step(START).unwrap();
    assert_eq!(stage.lanes.drain_prices(), lost);
}

#[test]
fn a_subscription_that_is_refused_is_told_as_a_gap() {
    let mut stage = HostFixture::logged_on();
    stage.puppet.state().sending = SendOutcome::NotSent("not listed here".into());
    stage.take(Instruction::Subscribe(SecurityId(7)));
    assert_eq!(stage.lanes.drain_prices(), [gap(7, StaleCause::Refused)]);
}

#[test]
fn a_venue_without_a_snapshot_is_never_logged_on() {
    let mut stage = HostFixture::greeted();
    stage.heard();
    stage.puppet.state().blind = Some("query timed out");
    stage.host.step(START).unwrap();
    assert_eq!(stage.heard(), [session(SessionState::Connected), session(SessionState::Disconnected)]);
    stage.take(submit());
    let reason = "not logged on: query timed out".into();
    assert_eq!(stage.heard(), [ReportKind::NotSent { order: OrderId(1), reason }]);
    assert_eq!(stage.puppet.requests(), ["connect", "disconnect"]);
}

#[test]
fn reports_have_the_venue_s_own_time() {
    let mut stage = HostFixture::logged_on();
    let said = ReportKind::Canceled { order: OrderId(1), reason: None };
    stage.puppet.state().says = vec![said.clone()];
    stage.host.step(after_millis(5)).unwrap();
    let heard: Vec<Report> = stage.lanes.reports.try_iter().collect();
    assert_eq!(heard, [Report { adapter: adapter_name(), ext_at: Some(after_millis(5)), kind: said }]);
}

#[test]
fn the_last_reports_are_delivered_before_log_off() {
    let mut stage = HostFixture::logged_on();
    let said = ReportKind::Canceled { order: OrderId(1), reason: None };
    stage.puppet.state().says = vec![said.clone()];
    stage.host.disconnect(START).unwrap();
    assert_eq!(stage.heard(), [said, session(SessionState::Disconnected)]);
    assert_eq!(stage.puppet.requests(), ["disconnect"]);
    stage.host.disconnect(START).unwrap();
    assert_eq!(stage.heard(), []);
}

#[test]
fn a_venue_is_left_in_order_even_when_the_engine_has_stopped() {
    let mut stage = HostFixture::logged_on();
    drop(stage.lanes);
    stage.puppet.state().says = vec![ReportKind::Canceled { order: OrderId(1), reason: None }];
    assert_eq!(stage.host.step(START), Err(InboxError::Stopped));
    assert_eq!(stage.host.disconnect(START), Err(InboxError::Stopped));
    assert_eq!(stage.puppet.requests(), ["disconnect"]);
}
