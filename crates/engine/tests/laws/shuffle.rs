//! Reports that are repeated, late or reordered end in the same orders, positions and cash as the legal sequence.

use std::collections::BTreeMap;

use domain::command::{CancelOrder, Command, ModifyOrder, RestatedFields};
use domain::order::{OrdStatus, OrderKind, OrderTerms, Side};
use domain::query::Answer;
use domain::report::ReportKind;
use domain::{AccountId, Decimal, OrderId, Quantity, Query, SecurityId, StrategyId, TimeInForce};
use proptest::prelude::*;
use proptest::sample::select;

use crate::commands::place_order;
use crate::engine_fixture::{EURO_STOCK, EngineFixture, FOREX, STOCK, price_of};
use crate::model_reports::venue_fill;
use crate::steps::{RandomOrder, RandomOrderKind, RandomTif, side, ticks};
use crate::trial::Trial;

const QUANTITY: i64 = 30;
const REPLACED: i64 = 45;

/// What becomes of an order at the venue.
#[derive(Debug, Clone, Copy)]
enum OrderCourse {
    Filled,
    Canceled { asked: bool },
    Expired,
    Rejected,
    ReplacedAndFilled,
    FilledBeforeTheCancel,
    FilledBeforeTheReplace,
    FirstFillBusted,
    FirstFillCorrectedTwice,
}

/// An order and its fills, each with its price.
#[derive(Debug, Clone)]
struct ReportHistory {
    security: SecurityId,
    strategy: StrategyId,
    side: Side,
    course: OrderCourse,
    parts: Vec<(i64, i64)>,
}

fn story() -> impl Strategy<Value = ReportHistory> {
    use OrderCourse::{
        Canceled, Expired, Filled, FilledBeforeTheCancel, FilledBeforeTheReplace, FirstFillBusted,
        FirstFillCorrectedTwice, Rejected, ReplacedAndFilled,
    };
    let course = select(vec![
        Filled,
        Canceled { asked: true },
        Canceled { asked: false },
        Expired,
        Rejected,
        ReplacedAndFilled,
        FilledBeforeTheCancel,
        FilledBeforeTheReplace,
        FirstFillBusted,
        FirstFillCorrectedTwice,
    ]);
    let parts = prop::collection::vec((1..=6_i64, ticks()), 1..5);
    (select(vec![STOCK, FOREX, EURO_STOCK]), 1..=2_u64, side(), course, parts).prop_map(
        |(security, strategy, side, course, parts)| ReportHistory {
            security,
            strategy: StrategyId(strategy),
            side,
            course,
            parts,
        },
    )
}

impl ReportHistory {
    /// The order is placed, and its requests are made, before the venue reports anything.
    fn begin(&self, fixture: &mut EngineFixture) -> OrderId {
        let ticket = RandomOrder {
            account: AccountId(1),
            strategy: self.strategy,
            security: self.security,
            side: self.side,
            quantity: QUANTITY,
            shape: RandomOrderKind::Limit,
            ticks: 0,
            tif: RandomTif::Plainly(TimeInForce::Gtc),
        };
        let reply = fixture.command(Command::Place(place_order(&ticket, fixture.now))).0;
        let Ok(Answer::Order(order)) = reply else { panic!("{reply:?}") };
        match self.course {
            OrderCourse::Canceled { asked: true } | OrderCourse::FilledBeforeTheCancel => {
                let ask = CancelOrder::new(order.int_id.clone());
                fixture.command(Command::Cancel(ask)).0.unwrap();
            }
            OrderCourse::ReplacedAndFilled | OrderCourse::FilledBeforeTheReplace => {
                let ask = ModifyOrder {
                    int_id: order.int_id.clone(),
                    cl_ord_id: None,
                    quantity: Some(REPLACED.into()),
                    limit: None,
                    stop: None,
                    tif: None,
                    restated: RestatedFields::default(),
                    reference: None,
                };
                fixture.command(Command::Modify(ask)).0.unwrap();
            }
            _ => {}
        }
        order.id
    }

    /// The legal sequence of venue reports.
    fn reports(&self, order: OrderId) -> Vec<ReportKind> {
        let reason = || "too late".into();
        let accepted = ReportKind::Accepted { order, ext_id: Some(format!("V{order}").into()) };
        let fills = |total: i64| self.fills(order, total).into_iter().map(ReportKind::Filled);
        let partly: i64 = self.parts.iter().map(|(quantity, _)| quantity).sum();
        let mut said = vec![accepted];
        match self.course {
            OrderCourse::Rejected => return vec![ReportKind::Rejected { order, reason: reason() }],
            OrderCourse::Filled => said.extend(fills(QUANTITY)),
            OrderCourse::Canceled { .. } => {
                said.extend(fills(partly));
                said.push(ReportKind::Canceled { order, reason: None });
            }
            OrderCourse::Expired => {
                said.extend(fills(partly));
                said.push(ReportKind::Expired { order, reason: None });
            }
            OrderCourse::ReplacedAndFilled => {
                said.push(ReportKind::Replaced { order, terms: self.terms(REPLACED), ext_id: None });
                said.extend(fills(REPLACED));
            }
            OrderCourse::FilledBeforeTheCancel => {
                said.extend(fills(QUANTITY));
                said.push(ReportKind::CancelRejected { order, reason: reason() });
            }
            OrderCourse::FilledBeforeTheReplace => {
                said.extend(fills(QUANTITY));
                said.push(ReportKind::ReplaceRejected { order, reason: reason() });
            }
            OrderCourse::FirstFillBusted => {
                said.extend(fills(partly));
                said.push(ReportKind::Busted { order, exec_id: exec_id(order, 0).into(), reason: None });
            }
            OrderCourse::FirstFillCorrectedTwice => {
                said.extend(fills(partly));
                for (old, new) in [(0, 100), (100, 101)] {
                    let by = venue_fill(order, &exec_id(order, new), 2, price_of(self.security, 7));
                    said.push(ReportKind::Corrected { exec_id: exec_id(order, old).into(), by });
                }
            }
        }
        said
    }

    /// The parts, and one more up to the total.
    fn fills(&self, order: OrderId, total: i64) -> Vec<domain::report::VenueFill> {
        let mut parts = self.parts.clone();
        let rest = total - parts.iter().map(|(quantity, _)| quantity).sum::<i64>();
        parts.extend((rest > 0).then_some((rest, 0)));
        let fill = |(number, (quantity, ticks)): (usize, &(i64, i64))| {
            venue_fill(order, &exec_id(order, number), *quantity, price_of(self.security, *ticks))
        };
        parts.iter().enumerate().map(fill).collect()
    }

    fn terms(&self, quantity: i64) -> OrderTerms {
        let kind = OrderKind::Limit { limit: price_of(self.security, 0) };
        OrderTerms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc }
    }
}

fn exec_id(order: OrderId, number: usize) -> String {
    format!("{order}/{number}")
}

/// The final state.
#[derive(Debug, PartialEq, Eq)]
struct FinalOutcome {
    orders: BTreeMap<OrderId, (OrdStatus, Quantity, Quantity, Option<Decimal>, OrderTerms)>,
    /// Quantity, and what was paid: cost less what was realised does not depend on the order of trades.
    positions: BTreeMap<(StrategyId, SecurityId), (Decimal, Decimal)>,
    cash: Vec<domain::CashBalance>,
}

fn outcome(stories: &[ReportHistory], arrange: impl FnOnce(Vec<ReportKind>) -> Vec<ReportKind>) -> FinalOutcome {
    let mut fixture = Trial::open().desk;
    let ids: Vec<_> = stories.iter().map(|story| story.begin(&mut fixture)).collect();
    let reports = stories.iter().zip(&ids).flat_map(|(story, id)| story.reports(*id)).collect();
    for said in arrange(reports) {
        fixture.report(0, said);
    }
    let look = |query| fixture.engine.answer(fixture.now, 0, &query).unwrap();
    let order = |id: &OrderId| {
        let Answer::Orders(orders) = look(Query::Order(format!("A-{id}").into())) else { panic!() };
        let order = &orders[0];
        let average = order.avg_price().map(|price| price.0);
        (*id, (order.status(), order.filled, order.remaining(), average, order.terms))
    };
    let Answer::Positions(positions) = look(Query::Positions(Default::default())) else { panic!() };
    let Answer::Balances(mut cash) = look(Query::Balances(Default::default())) else { panic!() };
    // The id of a balance shows which was opened first.
    cash.sort_by_key(|held| (held.strategy, held.account, held.currency));
    cash.iter_mut().for_each(|held| held.id = domain::BalanceId(0));
    let held = |position: &domain::Position| {
        let paid = position.cost.0 - position.realized_pl.0;
        ((position.strategy, position.security), (position.quantity.0, paid))
    };
    let positions = positions.iter().map(held).filter(|(_, sums)| *sums != Default::default());
    let cash = cash.into_iter().filter(|held| !held.amount.is_zero());
    FinalOutcome { orders: ids.iter().map(order).collect(), positions: positions.collect(), cash: cash.collect() }
}

/// Every report up to three times, in an order that the keys give.
fn shuffled(reports: Vec<ReportKind>, keys: &[(u8, u64)]) -> Vec<ReportKind> {
    let mut dealt = Vec::new();
    for (place, said) in reports.into_iter().enumerate() {
        let (copies, key) = keys[place % keys.len()];
        // Copies of one report must not be adjacent.
        let spread = |copy: u8| (key ^ place as u64).wrapping_mul(2 * u64::from(copy) + 0x9e37_79b9_7f4a_7c15);
        dealt.extend((0..=copies).map(|copy| (spread(copy), said.clone())));
    }
    dealt.sort_by_key(|(key, _)| *key);
    dealt.into_iter().map(|(_, said)| said).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_the_reports_ends_alike(
        stories in prop::collection::vec(story(), 1..6),
        keys in prop::collection::vec((0..3_u8, any::<u64>()), 7..40),
    ) {
        let legal = outcome(&stories, |reports| reports);
        let odd = outcome(&stories, |reports| shuffled(reports, &keys));
        prop_assert_eq!(legal, odd);
    }
}
