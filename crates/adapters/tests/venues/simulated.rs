//! The simulated venue behind a host.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use adapters::simulated::{OpenError, SimulatedVenueSettings, VenueControls};
use adapters::{AdapterHost, SimulatedAdapter, VenueBackoff};
use bus::inbox::InboxReceiver;
use domain::command::MarketData;
use domain::report::{
    InquiryAnswer, InquiryResult, ReportKind, SessionState, VenueFill, VenueOrder, VenueOrderState, VenueSnapshot,
};
use domain::{Instruction, Liquidity, Order, OrderId, PriceGap, Report, Security, SecurityId, StaleCause, Timestamp};
use tempfile::TempDir;
use venue_sim::{Faults, LinesDown, VenueRecord};

use crate::fixture::{adapter_name, order};
use crate::harness::{read, settings};
use crate::market::{LATENCY_NANOS, START};

const DISCONNECTED: Faults = Faults { disconnected: true, ..NO_FAULTS };
const NO_FAULTS: Faults = Faults {
    seed: 0,
    reject_every: 0,
    delay_nanos: 0,
    duplicate_one_in: 0,
    drop_one_in: 0,
    reorder_one_in: 0,
    disconnected: false,
    muted: false,
    lose_one_in: 0,
    late_one_in: 0,
    lines_down: LinesDown { trading: false, private: false, prices: false },
    strangers_every: 0,
    replace_half: None,
};

struct SimulatedFixture {
    folder: TempDir,
    controls: VenueControls,
    host: AdapterHost,
    lanes: InboxReceiver,
    now: Timestamp,
}

impl SimulatedFixture {
    /// Logged on at a new venue.
    fn open() -> Self {
        Self::start(tempfile::tempdir().unwrap(), START)
    }

    fn start(folder: TempDir, now: Timestamp) -> Self {
        let simulated = SimulatedAdapter::open(settings(&folder), now).unwrap();
        let controls = simulated.controls();
        let (inbox, lanes) = bus::inbox::inbox();
        let host = AdapterHost::attach(adapter_name(), Box::new(simulated), inbox, VenueBackoff::default()).unwrap();
        let mut desk = Self { folder, controls, host, lanes, now };
        desk.take(Instruction::LogOn);
        desk.host.step(now).unwrap();
        assert!(matches!(
            desk.heard().as_slice(),
            [ReportKind::Attached(_), ReportKind::Session(_), .., ReportKind::Session(_)]
        ));
        desk
    }

    /// The whole process crashes and starts again a minute later.
    fn restart(self) -> Self {
        let Self { folder, host, now, .. } = self;
        drop(host);
        Self::start(folder, now.plus_seconds(60))
    }

    fn ledger(&self) -> PathBuf {
        settings(&self.folder).ledger
    }

    fn take(&mut self, instruction: Instruction) {
        self.host.handle(self.now, &instruction).unwrap();
    }

    fn submit(&mut self, order: Order) {
        self.take(Instruction::Submit(Arc::new(order)));
    }

    fn step_after_millis(&mut self, millis: i64) {
        self.now = self.now.plus_millis(millis);
        self.host.step(self.now).unwrap();
    }

    /// A snapshot is as of now, which is taken as told.
    fn heard(&self) -> Vec<ReportKind> {
        let undated = |report: Report| match report.kind {
            ReportKind::Snapshot(snapshot) => {
                assert_eq!(snapshot.as_of, Some(self.now));
                ReportKind::Snapshot(VenueSnapshot { as_of: None, dead_after: None, ..snapshot })
            }
            other => other,
        };
        self.lanes.reports.try_iter().map(undated).collect()
    }

    fn set_faults(&mut self, faults: Faults) {
        self.controls.set_faults(faults);
        self.step_after_millis(0);
    }
}

/// When an order that is sent at the start comes to the book.
fn arrival() -> Timestamp {
    Timestamp(START.0 + LATENCY_NANOS)
}

fn fill() -> VenueFill {
    let price = "10.01".parse().unwrap();
    VenueFill {
        order: OrderId(1),
        exec_id: "SIM-1".into(),
        quantity: 100.into(),
        price,
        at: Some(arrival()),
        fee: None,
        charges: vec![],
        ext_order: None,
        liquidity: Some(Liquidity::Taker),
    }
}

/// The venue has one order, 100 bought at 11 or better, filled.
fn picture() -> VenueSnapshot {
    let known = VenueOrder {
        order: OrderId(1),
        ext_id: Some("SIM-O1".into()),
        terms: order(1, "11").terms,
        state: VenueOrderState::Live,
        reason: None,
    };
    VenueSnapshot { orders: vec![known], fills: vec![fill()], complete: true, ..VenueSnapshot::default() }
}

fn log_on(snapshot: VenueSnapshot) -> [ReportKind; 4] {
    [
        ReportKind::Session(SessionState::Connected),
        ReportKind::Snapshot(snapshot),
        ReportKind::Session(SessionState::LoggedOn),
        ReportKind::Session(SessionState::Subscribed),
    ]
}

#[test]
fn an_order_trades_when_it_comes_to_the_book() {
    let mut desk = SimulatedFixture::open();
    desk.submit(order(1, "11"));
    assert_eq!(desk.host.next_due(), Some(arrival()));
    desk.step_after_millis(0);
    assert_eq!(desk.heard(), []);
    desk.step_after_millis(3);
    let report = |said| Report { adapter: adapter_name(), ext_at: Some(arrival()), kind: said };
    let heard: Vec<Report> = desk.lanes.reports.try_iter().collect();
    let accepted = ReportKind::Accepted { order: OrderId(1), ext_id: Some("SIM-O1".into()) };
    assert_eq!(heard, [report(accepted), report(ReportKind::Filled(fill()))]);
}

#[test]
fn what_a_venue_does_while_disconnected_is_in_its_snapshot() {
    let mut desk = SimulatedFixture::open();
    desk.submit(order(1, "11"));
    desk.set_faults(DISCONNECTED);
    assert_eq!(desk.heard(), [ReportKind::Session(SessionState::Disconnected)]);
    desk.submit(order(2, "11"));
    let reason = "not logged on: the connection is cut".into();
    assert_eq!(desk.heard(), [ReportKind::NotSent { order: OrderId(2), reason }]);
    desk.step_after_millis(100);
    desk.set_faults(NO_FAULTS);
    desk.step_after_millis(200);
    assert_eq!(desk.heard(), log_on(picture()));
}

#[test]
fn lost_reports_are_in_the_next_snapshot() {
    let mut desk = SimulatedFixture::open();
    desk.set_faults(Faults { drop_one_in: 1, ..NO_FAULTS });
    desk.submit(order(1, "11"));
    desk.step_after_millis(3);
    assert_eq!(desk.heard(), []);
    desk.set_faults(DISCONNECTED);
    desk.set_faults(NO_FAULTS);
    desk.step_after_millis(100);
    let [connected, rest @ ..] = log_on(picture());
    assert_eq!(desk.heard(), [[ReportKind::Session(SessionState::Disconnected), connected].as_slice(), &rest].concat());
}

#[test]
fn prices_flow_again_after_a_lost_session() {
    let mut desk = SimulatedFixture::open();
    desk.take(Instruction::Subscribe(SecurityId(7)));
    desk.step_after_millis(1);
    let gap = |cause| MarketData::Gap(PriceGap { security: SecurityId(7), feed: adapter_name().0, cause });
    let first = desk.lanes.drain_prices();
    assert_eq!(first[0], gap(StaleCause::Awaited));
    assert!(first.len() > 1, "{first:?}");
    desk.set_faults(DISCONNECTED);
    desk.set_faults(NO_FAULTS);
    assert_eq!(desk.lanes.drain_prices(), [gap(StaleCause::Disconnected)]);
    desk.step_after_millis(100);
    assert_eq!(desk.lanes.drain_prices().len(), first[1..].len());
}

#[test]
fn prices_of_an_unlisted_security_cost_nothing_else() {
    let mut desk = SimulatedFixture::open();
    desk.take(Instruction::Subscribe(SecurityId(8)));
    desk.take(Instruction::Subscribe(SecurityId(7)));
    desk.step_after_millis(1);
    assert_eq!(desk.heard(), []);
    let prices = desk.lanes.drain_prices();
    let refused: Vec<_> = prices.iter().filter(|data| data.security() != SecurityId(7)).collect();
    let gap = PriceGap { security: SecurityId(8), feed: adapter_name().0, cause: StaleCause::Refused };
    assert_eq!(refused, [&MarketData::Gap(gap)]);
    assert!(prices.len() > 1);
}

#[test]
fn a_restarted_venue_continues_from_its_ledger() {
    let mut desk = SimulatedFixture::open();
    desk.submit(order(1, "9"));
    desk.step_after_millis(3);
    let mut desk = desk.restart();
    desk.take(Instruction::Cancel(Arc::new(order(1, "9"))));
    desk.submit(order(2, "11"));
    desk.step_after_millis(3);
    let heard = desk.heard();
    assert_eq!(heard[0], ReportKind::Canceled { order: OrderId(1), reason: None });
    assert_eq!(heard[1], ReportKind::Accepted { order: OrderId(2), ext_id: Some("SIM-O2".into()) });
    let written: Vec<&str> = read(&desk.ledger()).iter().map(kind).collect();
    assert_eq!(written, ["opened", "1 submitted", "1 accepted", "2 submitted", "1 canceled", "2 accepted", "traded"]);
}

fn kind(record: &VenueRecord) -> &'static str {
    match record {
        VenueRecord::Submitted(submission) if submission.order == OrderId(1) => "1 submitted",
        VenueRecord::Submitted(_) => "2 submitted",
        VenueRecord::Accepted { order: OrderId(1), .. } => "1 accepted",
        VenueRecord::Accepted { .. } => "2 accepted",
        VenueRecord::Canceled { order: OrderId(1), .. } => "1 canceled",
        VenueRecord::Traded(_) => "traded",
        VenueRecord::Opened { .. } => "opened",
        _ => "something else",
    }
}

/// The ledger of a venue that took an order, and then filled another one.
fn used_ledger() -> (TempDir, PathBuf) {
    let mut desk = SimulatedFixture::open();
    for limit in ["9", "11"] {
        desk.submit(order(if limit == "9" { 1 } else { 2 }, limit));
        desk.step_after_millis(3);
    }
    let ledger = desk.ledger();
    (desk.folder, ledger)
}

#[test]
fn a_write_that_a_crash_cut_off_never_happened() {
    let (folder, ledger) = used_ledger();
    let whole = fs::read(&ledger).unwrap();
    fs::write(&ledger, &whole[..whole.len() - 1]).unwrap();
    assert!(SimulatedAdapter::open(settings(&folder), START).is_ok());
    assert_eq!(read(&ledger).iter().map(kind).collect::<Vec<_>>(), ["opened", "1 submitted", "1 accepted"]);
}

#[test]
fn a_damaged_ledger_is_refused_with_its_place() {
    let (folder, ledger) = used_ledger();
    let mut bytes = fs::read(&ledger).unwrap();
    bytes[30] ^= 1;
    fs::write(&ledger, bytes).unwrap();
    let Err(OpenError::Ledger(refusal)) = SimulatedAdapter::open(settings(&folder), START) else {
        panic!("a damaged ledger was taken");
    };
    let text = refusal.to_string();
    assert!(text.contains("venue.log is damaged at offset 12"), "{text}");
}

#[test]
fn an_invalid_venue_configuration_names_the_field() {
    let folder = tempfile::tempdir().unwrap();
    let SimulatedVenueSettings { ledger, mut venue, compact_at_bytes } = settings(&folder);
    venue.latency_nanos = -1;
    let refusal =
        SimulatedAdapter::open(SimulatedVenueSettings { ledger, venue, compact_at_bytes }, START).err().unwrap();
    assert_eq!(refusal.to_string(), "latency: -1 ns is negative");
}

#[test]
fn a_security_that_is_listed_while_the_venue_runs_has_prices_and_trades() {
    let late = SecurityId(8);
    let mut desk = SimulatedFixture::open();
    let mut listing = settings(&desk.folder).venue.listings.remove(0);
    listing.security = Arc::new(Security { id: late, symbol: "LATE".into(), ..(*listing.security).clone() });
    desk.controls.list(listing);
    desk.take(Instruction::Subscribe(late));
    desk.step_after_millis(1);
    let priced: Vec<_> = desk.lanes.drain_prices().iter().map(MarketData::security).collect();
    assert!(!priced.is_empty() && priced.iter().all(|security| *security == late), "{priced:?}");
    desk.submit(Order { security: late, ..order(1, "11") });
    desk.step_after_millis(1_000);
    assert!(matches!(desk.heard().as_slice(), [ReportKind::Accepted { .. }, ReportKind::Filled(_)]));
}

fn ask(desk: &mut SimulatedFixture, id: u64) {
    desk.take(Instruction::Inquire(Arc::new(order(id, "11"))));
}

#[test]
fn an_order_whose_reports_were_lost_is_found_by_asking() {
    let mut desk = SimulatedFixture::open();
    desk.set_faults(Faults { drop_one_in: 1, ..NO_FAULTS });
    desk.submit(order(1, "11"));
    let sent_at = desk.now;
    desk.step_after_millis(3);
    assert_eq!(desk.heard(), []);
    ask(&mut desk, 1);
    let asked_at = desk.now;
    desk.step_after_millis(3);
    let VenueSnapshot { orders, fills, .. } = picture();
    let answer = InquiryAnswer {
        order: OrderId(1),
        as_of: asked_at,
        dead_after: Some(sent_at),
        result: InquiryResult::Found(orders[0].clone(), fills),
        other_legs: None,
        filled: None,
    };
    assert_eq!(desk.heard(), [ReportKind::Gap, ReportKind::Inquiry(answer)]);
}

#[test]
fn a_lost_report_is_told_after_a_second_where_nothing_follows_it() {
    let mut desk = SimulatedFixture::open();
    desk.set_faults(Faults { drop_one_in: 1, ..NO_FAULTS });
    desk.submit(order(1, "11"));
    desk.step_after_millis(900);
    assert_eq!(desk.heard(), []);
    desk.step_after_millis(200);
    assert_eq!(desk.heard(), [ReportKind::Gap]);
    desk.step_after_millis(5_000);
    assert_eq!(desk.heard(), []);
}

#[test]
fn an_order_that_was_lost_on_its_way_is_not_there() {
    let mut desk = SimulatedFixture::open();
    desk.set_faults(Faults { lose_one_in: 1, ..NO_FAULTS });
    desk.submit(order(1, "11"));
    desk.set_faults(NO_FAULTS);
    let sent_at = desk.now;
    desk.step_after_millis(5);
    ask(&mut desk, 1);
    let asked_at = desk.now;
    desk.step_after_millis(3);
    let (dead_after, result) = (Some(sent_at), InquiryResult::NotFound);
    let answer =
        InquiryAnswer { order: OrderId(1), as_of: asked_at, dead_after, result, other_legs: None, filled: None };
    assert_eq!(desk.heard(), [ReportKind::Inquiry(answer)]);
    assert_eq!(read(&desk.ledger()).iter().map(kind).collect::<Vec<_>>(), ["opened"]);
}
