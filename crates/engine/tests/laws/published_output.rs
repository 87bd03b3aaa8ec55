//! Events and instructions must match the changes: no more, no less, and nothing twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::order::{BaseState, ExecType};
use domain::query::Answer;
use domain::{Event, Fill, Instruction, IntId, Order, OrderId, OrderStatus, Query, Transaction, TransactionId, Uuid};
use engine::Outbox;

use crate::books::Booking;
use crate::engine_fixture::{ADAPTERS, EngineFixture};
use crate::model::{Model, Sent};

type Orders = BTreeMap<OrderId, Arc<Order>>;

/// Every id that was ever given.
#[derive(Debug, Default)]
pub(crate) struct PublishedOutput {
    orders: BTreeSet<OrderId>,
    int_ids: BTreeSet<IntId>,
    transactions: BTreeSet<TransactionId>,
    uuids: BTreeSet<Uuid>,
    unanswered: BTreeMap<OrderId, PendingCounts>,
}

/// Requests that were published without their outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PendingCounts {
    cancel: bool,
    replace: bool,
}

impl PendingCounts {
    /// An outcome is published once, and only of a published request.
    fn after(self, step: ExecType) -> Self {
        match step {
            ExecType::PendingCancel => Self { cancel: true, ..self },
            ExecType::PendingReplace => Self { replace: true, ..self },
            ExecType::CancelRejected => {
                assert!(self.cancel, "an outcome of a cancel that is not pending");
                Self { cancel: false, ..self }
            }
            ExecType::ReplaceRejected => {
                assert!(self.replace, "an outcome of a replace that is not pending");
                Self { replace: false, ..self }
            }
            ExecType::Canceled | ExecType::Expired => Self { cancel: false, ..self },
            ExecType::Replaced => Self { replace: false, ..self },
            _ => self,
        }
    }

    fn of(order: &Order) -> Self {
        Self { cancel: order.pending.cancel().is_some(), replace: order.pending.replace().is_some() }
    }
}

impl PublishedOutput {
    pub(crate) fn new_order(&mut self, order: &Order) {
        assert!(self.orders.insert(order.id), "the number {} was given twice", order.id);
        assert!(self.int_ids.insert(order.int_id.clone()), "the id {} was given twice", order.int_id);
    }

    pub(crate) fn compare(&mut self, out: &Outbox, before: &Orders, after: &Orders, model: &Model, booked: usize) {
        compare_orders(out, before, after);
        self.compare_requests(out, after);
        self.compare_bookings(out, model, booked);
        assert_eq!(sent(out), model.sent, "instructions");
    }

    /// Every request gets its outcome, and an ended order has no pending request.
    fn compare_requests(&mut self, out: &Outbox, after: &Orders) {
        for event in &out.events {
            let Event::OrderStatus(status) = event else { continue };
            let unanswered = self.unanswered.entry(status.order).or_default();
            *unanswered = unanswered.after(status.exec_type);
        }
        for (id, order) in after {
            let told = self.unanswered.get(id).copied().unwrap_or_default();
            assert_eq!(told, PendingCounts::of(order), "published requests on {}", order.int_id);
            assert!(order.state.is_working() || order.state == BaseState::Filled || told == PendingCounts::default());
        }
    }

    fn compare_bookings(&mut self, out: &Outbox, model: &Model, booked: usize) {
        let transactions: Vec<_> = out.events.iter().filter_map(transaction).collect();
        for transaction in &transactions {
            assert!(self.transactions.insert(transaction.id), "transaction {} came twice", transaction.id);
            assert!(self.uuids.insert(transaction.uuid), "uuid {} came twice", transaction.uuid);
        }
        let bookings: Vec<_> = transactions.iter().map(|transaction| booking(transaction)).collect();
        assert_eq!(bookings, model.bookings[booked..], "transactions");
        let fills = out.events.iter().enumerate().filter_map(|(place, event)| Some((place, fill(event)?)));
        let fills: Vec<_> = fills.collect();
        assert_eq!(fills.len(), model.fills_told, "fills");
        for (place, fill) in fills {
            let next = out.events[place..].iter().find_map(transaction).unwrap();
            assert_eq!(next.ext_id.as_ref(), Some(&fill.ext_id), "a fill is booked at once");
        }
    }

    /// The last event of a position or balance is its current state.
    pub(crate) fn compare_holdings(&self, out: &Outbox, fixture: &EngineFixture) {
        let look = |query| fixture.engine.answer(fixture.now, 0, &query);
        let Ok(Answer::Positions(positions)) = look(Query::Positions(Default::default())) else { panic!() };
        for held in &positions {
            let last = out.events.iter().rev().find_map(|event| match event {
                Event::Position(told) if told.id == held.id => Some(told),
                _ => None,
            });
            assert!(last.is_none_or(|told| **told == *held), "position {last:?} is {held:?}");
        }
        let Ok(Answer::Balances(balances)) = look(Query::Balances(Default::default())) else { panic!() };
        for held in &balances {
            let last = out.events.iter().rev().find_map(|event| match event {
                Event::Cash(told) if told.id == held.id => Some(told),
                _ => None,
            });
            assert!(last.is_none_or(|told| **told == *held), "balance {last:?} is {held:?}");
        }
    }
}

/// Every change is published, the last event is the current state, and each has a status event.
fn compare_orders(out: &Outbox, before: &Orders, after: &Orders) {
    for (place, event) in out.events.iter().enumerate() {
        match event {
            Event::Order(order) => assert_status(order, out.events.get(place + 1)),
            Event::OrderStatus(_) => assert!(matches!(out.events[place - 1], Event::Order(_))),
            _ => {}
        }
    }
    for (id, order) in after {
        let last = out.events.iter().rev().find_map(|event| match event {
            Event::Order(told) if told.id == *id => Some(told),
            _ => None,
        });
        match last {
            Some(told) => assert_eq!(told, order, "the last word on an order"),
            None => assert_eq!(before.get(id), Some(order), "an order changed in silence"),
        }
    }
}

fn assert_status(order: &Order, next: Option<&Event>) {
    let Some(Event::OrderStatus(status)) = next else { panic!("no status follows {order:?}") };
    let OrderStatus { order: id, status, filled, remaining, avg_price, .. } = &**status;
    assert_eq!(
        (*id, *status, *filled, *remaining, *avg_price),
        (order.id, order.status(), order.filled, order.remaining(), order.avg_price())
    );
}

fn sent(out: &Outbox) -> Vec<(usize, Sent)> {
    let sent = out.instructions.iter().filter_map(|(adapter, instruction)| {
        let adapter = ADAPTERS.iter().position(|name| *name == &*adapter.0).unwrap();
        let what = match instruction {
            Instruction::Submit(order) => Sent::Submit(order.id),
            Instruction::Replace(order, terms) => Sent::Replace(order.id, *terms),
            Instruction::Cancel(order) => Sent::Cancel(order.id),
            // No venue of these laws has legs.
            Instruction::CancelLeg(..) => return None,
            // A question does nothing at the venue.
            Instruction::Inquire(_) | Instruction::AskStatement(_) => return None,
            Instruction::ListOpenOrders | Instruction::ListFills { .. } => return None,
            other => panic!("no subscription was made: {other:?}"),
        };
        Some((adapter, what))
    });
    sent.collect()
}

fn transaction(event: &Event) -> Option<&Arc<Transaction>> {
    match event {
        Event::Transaction(transaction) => Some(transaction),
        _ => None,
    }
}

fn fill(event: &Event) -> Option<&Arc<Fill>> {
    match event {
        Event::Fill(fill) => Some(fill),
        _ => None,
    }
}

fn booking(booked: &Transaction) -> Booking {
    Booking {
        kind: booked.kind,
        strategy: booked.strategy,
        account: booked.account,
        security: booked.security,
        quantity: booked.quantity.0,
        price: booked.price.0,
        costs: booked.execution_commission.0 + booked.clearing_commission.0 + booked.fee.0,
        currency: booked.currency,
    }
}
