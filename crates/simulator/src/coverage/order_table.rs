//! Rows of the tables of order states that runs have reached: the engine's own tables, as docs/order-states.md shows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use domain::order::{BaseState, ExecType};
use domain::{Event, Order, OrderId};
use engine::{OrderEvent, PendingState, RequestEvent, next_pending, next_state};

/// What was reached of each table.
#[derive(Debug, Clone, Default)]
pub(super) struct OrderTable {
    states: BTreeSet<(BaseState, OrderEvent)>,
    requests: BTreeSet<(PendingState, RequestEvent)>,
}

impl OrderTable {
    /// All changes of orders in a journal, from its first record on.
    pub(super) fn add_journal<'a>(&mut self, events: impl Iterator<Item = &'a Event>) {
        let mut orders: BTreeMap<OrderId, OrderSteps<'a>> = BTreeMap::new();
        for event in events {
            match event {
                Event::Order(order) => orders.entry(order.id).or_default().change(order),
                Event::OrderStatus(status) => {
                    if let Some(step) = orders.get_mut(&status.order).and_then(|steps| steps.take(status.exec_type)) {
                        self.add_step(&step);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_step(&mut self, step: &OrderStep<'_>) {
        let (from, pending) = (step.before.state, PendingState::of(&step.before.pending));
        let state = step.order_event().map(|event| (from, event));
        self.states.extend(state.filter(|(from, event)| next_state(*from, *event).is_some()));
        let request = step.request_event().map(|event| (pending, event));
        self.requests.extend(request.filter(|(from, event)| next_pending(*from, *event).is_some()));
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.states.extend(&other.states);
        self.requests.extend(&other.requests);
    }
}

/// The two newest versions of an order.
#[derive(Default)]
struct OrderSteps<'a> {
    before: Option<&'a Arc<Order>>,
    after: Option<&'a Arc<Order>>,
}

impl<'a> OrderSteps<'a> {
    fn change(&mut self, order: &'a Arc<Order>) {
        self.before = self.after.replace(order);
    }

    /// What the change before was, once; none where the order is new.
    fn take(&mut self, exec_type: ExecType) -> Option<OrderStep<'a>> {
        let (before, after) = (self.before.take()?, self.after?);
        Some(OrderStep { before, after, exec_type })
    }
}

struct OrderStep<'a> {
    before: &'a Order,
    after: &'a Order,
    exec_type: ExecType,
}

impl OrderStep<'_> {
    /// A correction is a bust and a fill in one step, and shows neither.
    fn order_event(&self) -> Option<OrderEvent> {
        Some(match self.exec_type {
            ExecType::New => OrderEvent::Accepted,
            ExecType::Rejected => OrderEvent::Refused,
            ExecType::PartialFill => OrderEvent::FilledInPart,
            ExecType::Fill => OrderEvent::FilledInFull,
            ExecType::Canceled | ExecType::Expired => OrderEvent::Ended,
            ExecType::Replaced if self.after.filled == self.after.terms.quantity => OrderEvent::ReplacedToFilled,
            ExecType::Replaced => OrderEvent::Replaced,
            ExecType::TradeCancel if self.after.filled.is_zero() => OrderEvent::Emptied,
            ExecType::TradeCancel if self.after.filled < self.after.terms.quantity => OrderEvent::Reopened,
            ExecType::TradeCancel => OrderEvent::FilledInFull,
            ExecType::PendingNew
            | ExecType::PendingCancel
            | ExecType::CancelRejected
            | ExecType::PendingReplace
            | ExecType::ReplaceRejected
            | ExecType::TradeCorrect
            | ExecType::InDoubt
            | ExecType::DoubtResolved => return None,
        })
    }

    fn request_event(&self) -> Option<RequestEvent> {
        Some(match self.exec_type {
            ExecType::PendingCancel => RequestEvent::CancelSent,
            ExecType::PendingReplace => RequestEvent::ReplaceSent,
            ExecType::CancelRejected => RequestEvent::CancelRejected,
            ExecType::ReplaceRejected => RequestEvent::ReplaceRejected,
            ExecType::Replaced => RequestEvent::Replaced,
            ExecType::Canceled | ExecType::Expired | ExecType::Rejected => RequestEvent::Ended,
            _ => return None,
        })
    }
}

impl fmt::Display for OrderTable {
    /// The rows that were not reached.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for state in BaseState::ALL {
            for event in OrderEvent::ALL.into_iter().filter(|event| !self.states.contains(&(state, *event))) {
                next_state(state, event).map_or(Ok(()), |next| writeln!(f, "  {state:?} - {event:?} -> {next:?}"))?;
            }
        }
        for pending in PendingState::ALL {
            for event in RequestEvent::ALL.into_iter().filter(|event| !self.requests.contains(&(pending, *event))) {
                let next = next_pending(pending, event);
                next.map_or(Ok(()), |next| writeln!(f, "  pending {pending:?} - {event:?} -> {next:?}"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use domain::order::{OrderKind, Side, TimeInForce};

    use super::*;

    fn order(state: BaseState) -> Order {
        let terms = domain::order::OrderTerms { quantity: 10.into(), kind: OrderKind::Market, tif: TimeInForce::Gtc };
        Order { side: Side::Buy, terms, state, ..samples::order(1) }
    }

    #[test]
    fn a_row_that_was_reached_is_not_listed_and_an_illegal_one_never_is() {
        let (before, after) = (order(BaseState::PendingNew), order(BaseState::New));
        let mut table = OrderTable::default();
        let listed = |table: &OrderTable| table.to_string().lines().map(str::to_owned).collect::<Vec<_>>();
        let row = "  PendingNew - Accepted -> New".to_owned();
        assert!(listed(&table).contains(&row));
        table.add_step(&OrderStep { before: &before, after: &after, exec_type: ExecType::New });
        assert!(!listed(&table).contains(&row));
        assert!(!table.to_string().contains("Canceled - Ended"), "{table}");
    }
}
