//! Properties of any sequence of requests.

use std::collections::{BTreeMap, BTreeSet};

use domain::order::OrderTerms;
use domain::report::{ReportKind, VenueSnapshot};
use domain::{
    AccountId, Decimal, Order, OrderId, OrderKind, Price, Quantity, SecurityId, Side, TimeInForce, Timestamp,
};
use proptest::prelude::*;
use venue_sim::record::VenueExecution;
use venue_sim::{Faults, ParticipantActivity, SelfTradeRule, VenueConfig, VenueOutput, VenueRecord, VenueSimulator};

use crate::venue_client::{FUTURE, MONDAY, SECOND, STOCK, at, blank_order, quiet};

#[derive(Debug, Clone)]
enum RandomRequest {
    Submit(Box<Order>),
    Replace(OrderId, OrderTerms),
    Cancel(OrderId),
    Halt(SecurityId, bool),
    Restart,
}

/// Each with the seconds that pass before it.
fn asks() -> impl Strategy<Value = Vec<(i64, RandomRequest)>> {
    prop::collection::vec((pause(), ask()), 1..60)
}

/// Mostly a moment, now and then long enough for a phase or a day to change.
fn pause() -> impl Strategy<Value = i64> {
    prop_oneof![20 => 0_i64..30, 3 => 30_i64..3_000, 1 => 3_000_i64..40_000]
}

fn ask() -> impl Strategy<Value = RandomRequest> {
    prop_oneof![
        12 => order().prop_map(|order| RandomRequest::Submit(Box::new(order))),
        3 => (ids(), terms()).prop_map(|(id, terms)| RandomRequest::Replace(id, terms)),
        2 => ids().prop_map(RandomRequest::Cancel),
        1 => (securities(), any::<bool>()).prop_map(|(security, halted)| RandomRequest::Halt(security, halted)),
        1 => Just(RandomRequest::Restart),
    ]
}

fn ids() -> impl Strategy<Value = OrderId> {
    (1_u64..40).prop_map(OrderId)
}

fn securities() -> impl Strategy<Value = SecurityId> {
    prop_oneof![4 => Just(STOCK), 1 => Just(FUTURE)]
}

fn order() -> impl Strategy<Value = Order> {
    (ids(), securities(), any::<bool>(), 1_u64..4, terms()).prop_map(|(id, security, buys, account, terms)| Order {
        security,
        side: if buys { Side::Buy } else { Side::Sell },
        account: AccountId(account),
        terms,
        ..blank_order(id)
    })
}

fn terms() -> impl Strategy<Value = OrderTerms> {
    (1_i64..400, kinds(), tifs()).prop_map(|(quantity, kind, tif)| OrderTerms {
        quantity: Quantity::from(quantity),
        kind,
        tif,
    })
}

fn kinds() -> impl Strategy<Value = OrderKind> {
    prop_oneof![
        2 => Just(OrderKind::Market),
        8 => prices().prop_map(|limit| OrderKind::Limit { limit }),
        1 => prices().prop_map(|stop| OrderKind::Stop { stop }),
        1 => (prices(), prices()).prop_map(|(limit, stop)| OrderKind::StopLimit { limit, stop }),
    ]
}

fn prices() -> impl Strategy<Value = Price> {
    (985_i64..1_015).prop_map(|cents| Price(Decimal::new(cents, 2)))
}

fn tifs() -> impl Strategy<Value = TimeInForce> {
    let until = |seconds: i64| TimeInForce::Gtd { until: Timestamp(MONDAY + (9 * 3_600 + seconds) * SECOND) };
    prop_oneof![
        4 => Just(TimeInForce::Day),
        3 => Just(TimeInForce::Gtc),
        1 => (0_i64..10_000).prop_map(until),
        1 => Just(TimeInForce::Ioc),
        1 => Just(TimeInForce::Fok),
        1 => Just(TimeInForce::Ato),
        1 => Just(TimeInForce::Atc),
    ]
}

fn configs() -> impl Strategy<Value = VenueConfig> {
    let activity = prop_oneof![Just(ParticipantActivity::Off), Just(ParticipantActivity::Calm)];
    let self_trade = prop_oneof![Just(SelfTradeRule::CancelNewest), Just(SelfTradeRule::CancelOldest)];
    let latency = prop_oneof![Just(0), Just(7 * SECOND)];
    (activity, self_trade, latency, any::<u64>()).prop_map(|(activity, self_trade, latency_nanos, seed)| VenueConfig {
        activity,
        self_trade,
        latency_nanos,
        seed,
        ..quiet()
    })
}

/// A venue under test, with all that it ever gave.
struct VenueRun {
    config: VenueConfig,
    venue: VenueSimulator,
    now: Timestamp,
    outputs: Vec<VenueOutput>,
}

impl VenueRun {
    fn new(config: VenueConfig) -> Self {
        let now = at("08:30");
        Self { venue: VenueSimulator::new(config.clone(), now).unwrap(), config, now, outputs: Vec::new() }
    }

    fn of(config: VenueConfig, asks: &[(i64, RandomRequest)]) -> Self {
        let mut run = Self::new(config);
        for (pause, ask) in asks {
            run.now = Timestamp(run.now.0 + pause * SECOND);
            run.ask(ask);
        }
        run
    }

    fn ask(&mut self, ask: &RandomRequest) {
        let (now, out) = (self.now, &mut self.outputs);
        match ask {
            RandomRequest::Submit(order) => self.venue.submit(now, order, out),
            RandomRequest::Replace(id, terms) => self.venue.replace(now, &blank_order(*id), *terms, out),
            RandomRequest::Cancel(id) => self.venue.cancel(now, *id, out),
            RandomRequest::Halt(security, true) => assert!(self.venue.halt(*security)),
            RandomRequest::Halt(security, false) => assert!(self.venue.resume(*security)),
            RandomRequest::Restart => self.venue = self.restored(),
        }
    }

    /// Another venue that has read the ledger.
    fn restored(&self) -> VenueSimulator {
        let mut venue = VenueSimulator::new(self.config.clone(), self.now).unwrap();
        venue.restore(self.ledger().cloned(), self.now);
        venue
    }

    fn ledger(&self) -> impl Iterator<Item = &VenueRecord> {
        self.outputs
            .iter()
            .filter_map(|output| if let VenueOutput::Record(record) = output { Some(record) } else { None })
    }

    fn said(&self) -> impl Iterator<Item = &ReportKind> {
        self.outputs
            .iter()
            .filter_map(|output| if let VenueOutput::Report { said, .. } = output { Some(said) } else { None })
    }
}

fn filled(picture: &VenueSnapshot) -> BTreeMap<OrderId, Decimal> {
    let mut filled = BTreeMap::new();
    for fill in &picture.fills {
        *filled.entry(fill.order).or_insert(Decimal::ZERO) += fill.quantity.0;
    }
    filled
}

fn no_order_is_filled_beyond_its_quantity(run: &VenueRun) {
    let picture = run.venue.snapshot();
    let filled = filled(&picture);
    for order in &picture.orders {
        assert!(filled.get(&order.order).is_none_or(|filled| *filled <= order.terms.quantity.0), "{order:?}");
    }
}

fn every_id_is_unique_for_ever(run: &VenueRun) {
    let mut seen = BTreeSet::new();
    for record in run.ledger() {
        match record {
            VenueRecord::Accepted { ext_id, .. } => assert!(seen.insert(ext_id.clone()), "{record:?}"),
            VenueRecord::Traded(deal) => {
                assert!(deal.executions.iter().all(|execution| seen.insert(execution.exec_id.clone())), "{deal:?}");
            }
            _ => {}
        }
    }
}

/// Reports, ledger and snapshot have the same fills: nothing more, nothing less, nothing twice.
fn each_fill_is_recorded_reported_and_in_the_snapshot_once(run: &VenueRun) {
    let recorded: Vec<_> = run
        .ledger()
        .filter_map(|record| if let VenueRecord::Traded(deal) = record { Some(&deal.executions) } else { None })
        .flatten()
        .map(|execution| execution.exec_id.clone())
        .collect();
    let fills = run
        .said()
        .filter_map(|said| if let ReportKind::Filled(fill) = said { Some(fill.exec_id.clone()) } else { None });
    assert_eq!(fills.collect::<Vec<_>>(), recorded);
    assert_eq!(run.venue.snapshot().fills.into_iter().map(|fill| fill.exec_id).collect::<Vec<_>>(), recorded);
}

/// Every reported state of an order is in the ledger before.
fn every_report_is_in_the_ledger_before_it_is_sent(run: &VenueRun) {
    let mut ledger = Vec::new();
    for output in &run.outputs {
        let said = match output {
            VenueOutput::Record(record) => {
                ledger.push(record);
                continue;
            }
            VenueOutput::Report { said, .. } => said,
            VenueOutput::Market(_) => continue,
        };
        let changes_nothing = matches!(said, ReportKind::CancelRejected { .. } | ReportKind::ReplaceRejected { .. });
        assert!(changes_nothing || ledger.iter().any(|record| backs(record, said)), "{said:?}");
    }
}

fn backs(record: &VenueRecord, said: &ReportKind) -> bool {
    match (record, said) {
        (VenueRecord::Accepted { order, ext_id, .. }, ReportKind::Accepted { order: said, ext_id: id }) => {
            (order, Some(ext_id)) == (said, id.as_ref())
        }
        (VenueRecord::Rejected { order, .. }, ReportKind::Rejected { order: said, .. })
        | (VenueRecord::Canceled { order, .. }, ReportKind::Canceled { order: said, .. })
        | (VenueRecord::Expired { order, .. }, ReportKind::Expired { order: said, .. }) => order == said,
        (VenueRecord::Replaced { order, terms, .. }, ReportKind::Replaced { order: said, terms: new, .. }) => {
            (order, terms) == (said, new)
        }
        (VenueRecord::Traded(deal), ReportKind::Filled(fill)) => {
            let is_this =
                |execution: &VenueExecution| (execution.order, &execution.exec_id) == (fill.order, &fill.exec_id);
            deal.executions.iter().any(is_this) && (deal.price, deal.quantity) == (fill.price, fill.quantity)
        }
        _ => false,
    }
}

/// In continuous trading one account never trades with itself; in an auction it may.
fn two_sides_of_a_deal_are_two_sides(run: &VenueRun) {
    let mut orders = BTreeMap::new();
    for record in run.ledger() {
        match record {
            VenueRecord::Submitted(order) => assert!(orders.insert(order.order, order).is_none(), "twice: {order:?}"),
            VenueRecord::Traded(deal) if deal.executions.len() == 2 => {
                let [one, other] = [0, 1].map(|side| orders[&deal.executions[side].order]);
                assert_ne!(one.side, other.side, "{deal:?}");
                assert!(deal.aggressor.is_none() || one.account != other.account, "{deal:?}");
            }
            _ => {}
        }
    }
}

/// What a client's order traded at was never worse than its limit at that time.
fn nobody_trades_beyond_a_limit(run: &VenueRun) {
    let mut orders = BTreeMap::new();
    for record in run.ledger() {
        match record {
            VenueRecord::Submitted(order) => {
                orders.insert(order.order, (order.side, order.terms));
            }
            VenueRecord::Replaced { order, terms, .. } => orders.get_mut(order).unwrap().1 = *terms,
            VenueRecord::Traded(deal) => {
                for execution in &deal.executions {
                    let (side, terms) = orders[&execution.order];
                    let worse = |limit| if side == Side::Buy { deal.price > limit } else { deal.price < limit };
                    assert!(!terms.kind.limit().is_some_and(worse), "{deal:?} against {terms:?}");
                }
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_requests_keeps_the_laws(config in configs(), asks in asks()) {
        let run = VenueRun::of(config, &asks);
        no_order_is_filled_beyond_its_quantity(&run);
        every_id_is_unique_for_ever(&run);
        each_fill_is_recorded_reported_and_in_the_snapshot_once(&run);
        every_report_is_in_the_ledger_before_it_is_sent(&run);
        two_sides_of_a_deal_are_two_sides(&run);
        nobody_trades_beyond_a_limit(&run);
        prop_assert_eq!(run.restored().snapshot(), run.venue.snapshot());
    }

    #[test]
    fn the_same_run_twice_gives_the_same_outputs(config in configs(), asks in asks()) {
        prop_assert_eq!(VenueRun::of(config.clone(), &asks).outputs, VenueRun::of(config, &asks).outputs);
    }

    #[test]
    fn faults_change_the_reports_and_never_the_ledger(
        config in configs(),
        asks in asks(),
        seed in any::<u64>(),
    ) {
        let faults = Faults {
            seed, delay_nanos: SECOND, duplicate_one_in: 3, drop_one_in: 4, reorder_one_in: 3, ..Faults::default()
        };
        let (right, wrong) = (VenueRun::of(config.clone(), &asks), VenueRun::of(VenueConfig { faults, ..config }, &asks));
        prop_assert_eq!(right.ledger().collect::<Vec<_>>(), wrong.ledger().collect::<Vec<_>>());
        prop_assert_eq!(right.venue.snapshot(), wrong.venue.snapshot());
    }
}
