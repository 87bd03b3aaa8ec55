//! Two adapters of one account: what the second one does or does not do holds up no order.

use std::time::Duration;

use adapters::{OrderSession, ReportSink, SecondWay, SendOutcome};
use crossbeam_channel::{Sender, bounded};
use domain::command::MarketData;
use domain::report::{ExternalOrder, ReportKind, VenueOrderState};
use domain::{Order, OrderId, Source, Timestamp};

use crate::fixture::{order, terms};
use crate::scripted_adapter::ScriptedAdapter;

const START: Timestamp = Timestamp(1_000_000_000_000);
/// A wait that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Told(Vec<ReportKind>);

impl ReportSink for Told {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        self.0.push(said);
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

struct TwoAdapters {
    orders: ScriptedAdapter,
    answers: ScriptedAdapter,
    both: SecondWay,
}

impl TwoAdapters {
    fn new() -> Self {
        let (orders, answers) = (ScriptedAdapter::new(), ScriptedAdapter::new());
        let both = SecondWay::new(Box::new(orders.clone()), Box::new(answers.clone()));
        Self { orders, answers, both }
    }

    fn logged_on() -> Self {
        let mut two = Self::new();
        two.both.connect(START).unwrap();
        two.both.snapshot(START).unwrap();
        assert_eq!(two.told(), ["PRIVATE true"]);
        two.orders.requests();
        two.answers.requests();
        two
    }

    /// The second way does not answer until this is dropped.
    fn hold_answers(&self) -> Sender<()> {
        let (hold, held) = bounded(0);
        self.answers.state().held = Some(held);
        hold
    }

    fn told(&mut self) -> Vec<String> {
        let mut told = Told::default();
        self.both.deliver(START, &mut told).unwrap();
        told.0.iter().map(shown).collect()
    }
}

fn shown(said: &ReportKind) -> String {
    match said {
        ReportKind::Line { line, up, .. } => format!("{} {up}", line.name()),
        ReportKind::CancelRejected { order, reason } => format!("{order} cancel refused: {reason}"),
        ReportKind::DeliveryUnknown { order, reason, .. } => format!("{order} unknown: {reason}"),
        ReportKind::External(seen) => format!("{} from elsewhere {:?}", seen.ext_id, seen.state),
        other => format!("{other:?}"),
    }
}

fn from_elsewhere(id: u64) -> Order {
    Order { source: Source::External, ext_id: Some(format!("BTC:{id}").into()), ..order(id, "10.5") }
}

fn ended(of: &Order) -> ReportKind {
    ReportKind::External(Box::new(ExternalOrder {
        account: of.account,
        security: of.security,
        side: of.side,
        ext_id: of.ext_id.clone().unwrap(),
        client_id: None,
        terms: terms(100, "10.5"),
        state: VenueOrderState::Canceled,
        reason: None,
        fills: Vec::new(),
    }))
}

#[test]
fn a_log_on_of_the_second_way_that_hangs_holds_no_order_up() {
    let mut two = TwoAdapters::new();
    let hold = two.hold_answers();
    two.both.connect(START).unwrap();
    assert_eq!(two.both.snapshot(START).unwrap().orders.len(), 0);
    assert_eq!(two.told(), ["PRIVATE false"]);
    assert_eq!(two.both.submit(START, &order(1, "10.5")), SendOutcome::Sent);
    assert_eq!(two.both.cancel(START, &order(2, "10.5")), SendOutcome::Sent);
    assert_eq!(two.orders.requests(), ["connect", "submit 1", "cancel 2"]);
    let down = SendOutcome::NotSent("the second way is down: the log-on is under way".into());
    assert_eq!(two.both.inquire(START, &order(1, "10.5")), down);

    let waker = two.both.waker();
    drop(hold);
    waker.recv_timeout(WAIT_MAX).unwrap();
    assert_eq!(two.told(), ["PRIVATE true"]);
    assert_eq!(two.both.inquire(START, &order(1, "10.5")), SendOutcome::Sent);
    assert_eq!(two.answers.requests(), ["connect", "ask about 1"], "a single attempt");
}

#[test]
fn an_order_that_was_placed_elsewhere_is_cancelled_by_the_second_way() {
    let mut two = TwoAdapters::logged_on();
    for id in [1, 2] {
        assert_eq!(two.both.cancel(START, &from_elsewhere(id)), SendOutcome::Sent);
    }
    assert_eq!(two.answers.requests(), ["cancel 1", "cancel 2"]);
    let refused = |order: u64| ReportKind::CancelRejected { order: OrderId(order), reason: "too late".into() };
    // Of an order of our own the order session tells, and nothing else.
    two.answers.state().says = vec![refused(1), refused(7), ended(&from_elsewhere(2))];
    assert_eq!(two.told(), ["1 cancel refused: too late", "BTC:2 from elsewhere Canceled"]);
    assert_eq!(two.orders.requests(), Vec::<String>::new());
}

#[test]
fn a_cancel_that_the_second_way_did_not_answer_is_in_doubt_when_it_is_lost() {
    let mut two = TwoAdapters::logged_on();
    for id in [1, 2] {
        assert_eq!(two.both.cancel(START, &from_elsewhere(id)), SendOutcome::Sent);
    }
    two.answers.state().says = vec![ended(&from_elsewhere(2))];
    two.answers.state().lost = Some("cut");
    let told = two.told();
    let in_doubt = "1 unknown: the second way was lost before it answered: cut";
    assert_eq!(told, ["BTC:2 from elsewhere Canceled", in_doubt, "PRIVATE false"]);
    let down = SendOutcome::NotSent("the second way is down: cut".into());
    assert_eq!(two.both.cancel(START, &from_elsewhere(3)), down);
}
