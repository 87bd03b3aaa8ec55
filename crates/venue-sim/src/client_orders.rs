//! Client orders of the venue: a fold over its ledger, the same live and after a restart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use domain::order::OrderTerms;
use domain::report::{VenueFill, VenueOrder, VenueOrderState, VenueSnapshot};
use domain::{OrderId, Quantity, SecurityId, Text, TimeInForce, Timestamp};

use crate::record::{SubmittedOrder, VenueRecord, VenueTrade};

/// How many finished orders stay in the snapshot. It is far more than a client can miss between two snapshots, because
/// only open orders finish while it is disconnected. Of older ones only the id is kept, so that none is accepted twice.
pub(crate) const FINISHED_ORDERS_KEPT: usize = 10_000;

/// A client's order.
#[derive(Debug, Clone)]
pub(crate) struct ClientOrder {
    pub(crate) submission: SubmittedOrder,
    pub(crate) terms: OrderTerms,
    /// When it got its current terms: a DAY order ends with that day.
    pub(crate) terms_at: Timestamp,
    pub(crate) ext_id: Option<Text>,
    pub(crate) stage: OrderStage,
    pub(crate) filled: Quantity,
    /// What an iceberg shows of its open quantity.
    pub(crate) shown: Option<Quantity>,
    /// Its time priority: the number of the record that gave it.
    pub(crate) priority: u64,
    fills: Vec<(u64, VenueFill)>,
    reason: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderStage {
    /// Between entry and book.
    InFlight,
    /// A stop that is not triggered.
    StopPending,
    /// Not in the book: for the closing auction, or to be traded at once.
    OutsideBook,
    Book,
    Filled,
    Ended(VenueOrderState),
}

impl OrderStage {
    /// Where an accepted order is before it is activated or traded.
    fn from_terms(terms: &OrderTerms) -> Self {
        match terms.tif {
            _ if terms.kind.stop().is_some() => Self::StopPending,
            TimeInForce::Atc | TimeInForce::Ioc | TimeInForce::Fok => Self::OutsideBook,
            _ => Self::Book,
        }
    }

    pub(crate) fn is_done(self) -> bool {
        matches!(self, Self::Filled | Self::Ended(_))
    }
}

impl ClientOrder {
    pub(crate) fn security(&self) -> SecurityId {
        self.submission.security
    }

    pub(crate) fn remaining(&self) -> Quantity {
        self.terms.quantity.minus(self.filled).expect("no order is filled beyond its quantity")
    }

    /// The last reported state, besides fills.
    pub(crate) fn final_state(&self) -> (VenueOrderState, Option<&Text>) {
        match self.stage {
            OrderStage::Ended(fate) => (fate, self.reason.as_ref()),
            _ => (VenueOrderState::Live, None),
        }
    }

    fn submitted(submission: SubmittedOrder) -> Self {
        Self {
            terms: submission.terms,
            terms_at: submission.at,
            ext_id: None,
            stage: OrderStage::InFlight,
            filled: Quantity::ZERO,
            shown: None,
            priority: 0,
            fills: Vec::new(),
            reason: None,
            submission,
        }
    }

    /// The next part of an iceberg is shown.
    fn refill(&mut self) {
        self.shown = self.submission.properties.display_quantity.map(|peak| peak.min(self.remaining()));
    }

    /// What is left of the part that an iceberg shows, after a trade in which it did not take; whether a new part is
    /// shown, which goes to the end of the queue.
    fn deduct_shown(&mut self, traded: Quantity) -> bool {
        let Some(shown) = self.shown else { return false };
        self.shown = Some(shown.minus(traded).unwrap_or_default().max(Quantity::ZERO));
        let is_used_up = self.shown.is_some_and(Quantity::is_zero) && !self.remaining().is_zero();
        if is_used_up {
            self.refill();
        }
        is_used_up
    }

    fn to_snapshot(&self) -> VenueOrder {
        let (fate, reason) = self.final_state();
        let (order, ext_id) = (self.submission.order, self.ext_id.clone());
        VenueOrder { order, ext_id, terms: self.terms, state: fate, reason: reason.cloned() }
    }
}

/// All orders that are open or finished recently.
#[derive(Debug, Default)]
pub(crate) struct ClientOrders {
    orders: BTreeMap<OrderId, ClientOrder>,
    finished: VecDeque<OrderId>,
    retired: BTreeSet<OrderId>,
    records: u64,
    acceptances: u64,
    executions: u64,
}

impl ClientOrders {
    /// # Panics
    /// Where the record contradicts earlier ones: the ledger is not this venue's, or a part of it is missing.
    pub(crate) fn apply(&mut self, record: &VenueRecord) {
        self.records += 1;
        match record {
            VenueRecord::Submitted(submission) => {
                self.orders.insert(submission.order, ClientOrder::submitted(submission.clone()));
            }
            VenueRecord::Accepted { at, order, ext_id } => self.accept(*order, *at, ext_id),
            VenueRecord::Rejected { order, reason, .. } => self.finish(*order, VenueOrderState::Rejected, Some(reason)),
            VenueRecord::Replaced { at, order, terms } => self.replace(*order, *at, *terms),
            VenueRecord::Activated { order, .. } => self.activate(*order),
            VenueRecord::Traded(trade) => self.trade(trade),
            VenueRecord::Canceled { order, reason, .. } => {
                self.finish(*order, VenueOrderState::Canceled, reason.as_ref());
            }
            VenueRecord::Expired { order, reason, .. } => self.finish(*order, VenueOrderState::Expired, Some(reason)),
        }
    }

    pub(crate) fn get(&self, order: OrderId) -> Option<&ClientOrder> {
        self.orders.get(&order)
    }

    /// Whether the venue has ever received it.
    pub(crate) fn contains(&self, order: OrderId) -> bool {
        self.orders.contains_key(&order) || self.retired.contains(&order)
    }

    /// An order that is in a book or in the task queue.
    pub(crate) fn open(&self, order: OrderId) -> &ClientOrder {
        self.orders.get(&order).expect("books and agenda speak of open orders only")
    }

    /// Orders at a stage, by time priority.
    pub(crate) fn at_stage(&self, stage: OrderStage) -> Vec<&ClientOrder> {
        let mut held: Vec<_> = self.orders.values().filter(|held| held.stage == stage).collect();
        held.sort_by_key(|held| held.priority);
        held
    }

    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &ClientOrder> {
        self.orders.values().filter(|held| !held.stage.is_done())
    }

    pub(crate) fn acceptances(&self) -> u64 {
        self.acceptances
    }

    pub(crate) fn executions(&self) -> u64 {
        self.executions
    }

    pub(crate) fn snapshot(&self) -> VenueSnapshot {
        let orders = self.orders.values().map(ClientOrder::to_snapshot).collect();
        let mut fills: Vec<_> = self.orders.values().flat_map(|held| &held.fills).collect();
        fills.sort_by_key(|(number, _)| *number);
        let fills = fills.into_iter().map(|(_, fill)| fill.clone()).collect();
        VenueSnapshot { orders, fills, complete: true, ..VenueSnapshot::default() }
    }

    /// An order with its fills.
    pub(crate) fn find(&self, order: OrderId) -> Option<(VenueOrder, Vec<VenueFill>)> {
        let held = self.orders.get(&order)?;
        Some((held.to_snapshot(), held.fills.iter().map(|(_, fill)| fill.clone()).collect()))
    }

    fn accept(&mut self, order: OrderId, at: Timestamp, ext_id: &Text) {
        self.acceptances += 1;
        let place = self.records;
        let held = self.find_mut(order);
        held.stage = OrderStage::from_terms(&held.terms);
        held.ext_id = Some(ext_id.clone());
        held.refill();
        (held.terms_at, held.priority) = (at, place);
    }

    fn replace(&mut self, order: OrderId, at: Timestamp, terms: OrderTerms) {
        let place = self.records;
        let held = self.find_mut(order);
        let keeps_place = keeps_place(&held.terms, &terms);
        (held.terms, held.terms_at) = (terms, at);
        if keeps_place {
            held.shown = held.shown.map(|shown| shown.min(held.remaining()));
        } else {
            held.priority = place;
            held.refill();
        }
        self.close_if_filled(order);
    }

    fn activate(&mut self, order: OrderId) {
        let place = self.records;
        let held = self.find_mut(order);
        (held.stage, held.priority) = (OrderStage::Book, place);
        held.refill();
    }

    fn trade(&mut self, trade: &VenueTrade) {
        let records = self.records;
        for execution in &trade.executions {
            self.executions += 1;
            let number = self.executions;
            let fill = VenueFill {
                order: execution.order,
                exec_id: execution.exec_id.clone(),
                quantity: trade.quantity,
                price: trade.price,
                at: Some(trade.at),
                fee: execution.fee,
                charges: vec![],
            };
            let held = self.find_mut(execution.order);
            held.filled = held.filled.plus(trade.quantity).expect("a sum within the order's quantity");
            held.fills.push((number, fill));
            if trade.aggressor == Some(held.submission.side) {
                held.refill();
            } else if held.deduct_shown(trade.quantity) {
                held.priority = records;
            }
            self.close_if_filled(execution.order);
        }
    }

    fn close_if_filled(&mut self, order: OrderId) {
        let held = self.find_mut(order);
        if held.remaining().is_zero() {
            held.stage = OrderStage::Filled;
            self.retire(order);
        }
    }

    fn finish(&mut self, order: OrderId, fate: VenueOrderState, reason: Option<&Text>) {
        let held = self.find_mut(order);
        held.stage = OrderStage::Ended(fate);
        held.reason = reason.cloned();
        self.retire(order);
    }

    fn retire(&mut self, order: OrderId) {
        self.finished.push_back(order);
        if self.finished.len() > FINISHED_ORDERS_KEPT
            && let Some(oldest) = self.finished.pop_front()
        {
            self.orders.remove(&oldest);
            self.retired.insert(oldest);
        }
    }

    fn find_mut(&mut self, order: OrderId) -> &mut ClientOrder {
        let records = self.records;
        self.orders
            .get_mut(&order)
            .unwrap_or_else(|| panic!("record {records} of the ledger: order {order} is unknown"))
    }
}

/// A decrease at the same price keeps the queue position; any other change loses it, as in the book.
fn keeps_place(old: &OrderTerms, new: &OrderTerms) -> bool {
    old.kind.limit() == new.kind.limit() && new.quantity <= old.quantity
}
