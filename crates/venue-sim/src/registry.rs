//! Client orders of the venue: a fold over its ledger, the same live and after a restart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use domain::order::Terms;
use domain::report::{Fate, Picture, VenueFill, VenueOrder};
use domain::{OrderId, Quantity, SecurityId, Text, TimeInForce, Timestamp};

use crate::record::{Deal, Record, Submission};

/// How many finished orders stay in the snapshot. It is far more than a client can miss between two snapshots, because
/// only open orders finish while it is disconnected. Of older ones only the id is kept, so that none is accepted twice.
pub(crate) const FINISHED_KEPT: usize = 10_000;

/// A client's order.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) submission: Submission,
    pub(crate) terms: Terms,
    /// When it got its current terms: a DAY order ends with that day.
    pub(crate) terms_at: Timestamp,
    pub(crate) ext_id: Option<Text>,
    pub(crate) stage: Stage,
    pub(crate) filled: Quantity,
    /// Its time priority: the number of the record that gave it.
    pub(crate) place: u64,
    fills: Vec<(u64, VenueFill)>,
    reason: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Between entry and book.
    Underway,
    /// A stop that is not triggered.
    Waiting,
    /// Not in the book: for the closing auction, or to be traded at once.
    Aside,
    Book,
    Filled,
    Gone(Fate),
}

impl Stage {
    /// Where an accepted order is before it is activated or traded.
    fn of(terms: &Terms) -> Self {
        match terms.tif {
            _ if terms.kind.stop().is_some() => Self::Waiting,
            TimeInForce::Atc | TimeInForce::Ioc | TimeInForce::Fok => Self::Aside,
            _ => Self::Book,
        }
    }

    pub(crate) fn is_done(self) -> bool {
        matches!(self, Self::Filled | Self::Gone(_))
    }
}

impl Held {
    pub(crate) fn security(&self) -> SecurityId {
        self.submission.security
    }

    pub(crate) fn remaining(&self) -> Quantity {
        self.terms.quantity.minus(self.filled).expect("no order is filled beyond its quantity")
    }

    /// The last reported state, besides fills.
    pub(crate) fn fate(&self) -> (Fate, Option<&Text>) {
        match self.stage {
            Stage::Gone(fate) => (fate, self.reason.as_ref()),
            _ => (Fate::Live, None),
        }
    }

    fn submitted(submission: Submission) -> Self {
        Self {
            terms: submission.terms,
            terms_at: submission.at,
            ext_id: None,
            stage: Stage::Underway,
            filled: Quantity::ZERO,
            place: 0,
            fills: Vec::new(),
            reason: None,
            submission,
        }
    }

    fn in_picture(&self) -> VenueOrder {
        let (fate, reason) = self.fate();
        let (order, ext_id) = (self.submission.order, self.ext_id.clone());
        VenueOrder { order, ext_id, terms: self.terms, fate, reason: reason.cloned() }
    }
}

/// All orders that are open or finished recently.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    orders: BTreeMap<OrderId, Held>,
    finished: VecDeque<OrderId>,
    forgotten: BTreeSet<OrderId>,
    records: u64,
    acceptances: u64,
    executions: u64,
}

impl Registry {
    /// # Panics
    /// Where the record contradicts earlier ones: the ledger is not this venue's, or a part of it is missing.
    pub(crate) fn apply(&mut self, record: &Record) {
        self.records += 1;
        match record {
            Record::Submitted(submission) => {
                self.orders.insert(submission.order, Held::submitted(submission.clone()));
            }
            Record::Accepted { at, order, ext_id } => self.accept(*order, *at, ext_id),
            Record::Rejected { order, reason, .. } => self.finish(*order, Fate::Rejected, Some(reason)),
            Record::Replaced { at, order, terms } => self.replace(*order, *at, *terms),
            Record::Activated { order, .. } => self.activate(*order),
            Record::Traded(deal) => self.trade(deal),
            Record::Canceled { order, reason, .. } => self.finish(*order, Fate::Canceled, reason.as_ref()),
            Record::Expired { order, reason, .. } => self.finish(*order, Fate::Expired, Some(reason)),
        }
    }

    pub(crate) fn get(&self, order: OrderId) -> Option<&Held> {
        self.orders.get(&order)
    }

    /// Whether the venue has ever received it.
    pub(crate) fn knows(&self, order: OrderId) -> bool {
        self.orders.contains_key(&order) || self.forgotten.contains(&order)
    }

    /// An order that is in a book or in the task queue.
    pub(crate) fn open(&self, order: OrderId) -> &Held {
        self.orders.get(&order).expect("books and agenda speak of open orders only")
    }

    /// Orders at a stage, by time priority.
    pub(crate) fn at_stage(&self, stage: Stage) -> Vec<&Held> {
        let mut held: Vec<_> = self.orders.values().filter(|held| held.stage == stage).collect();
        held.sort_by_key(|held| held.place);
        held
    }

    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &Held> {
        self.orders.values().filter(|held| !held.stage.is_done())
    }

    pub(crate) fn acceptances(&self) -> u64 {
        self.acceptances
    }

    pub(crate) fn executions(&self) -> u64 {
        self.executions
    }

    pub(crate) fn picture(&self) -> Picture {
        let orders = self.orders.values().map(Held::in_picture).collect();
        let mut fills: Vec<_> = self.orders.values().flat_map(|held| &held.fills).collect();
        fills.sort_by_key(|(number, _)| *number);
        Picture { orders, fills: fills.into_iter().map(|(_, fill)| fill.clone()).collect(), complete: true }
    }

    fn accept(&mut self, order: OrderId, at: Timestamp, ext_id: &Text) {
        self.acceptances += 1;
        let place = self.records;
        let held = self.known(order);
        held.stage = Stage::of(&held.terms);
        held.ext_id = Some(ext_id.clone());
        (held.terms_at, held.place) = (at, place);
    }

    fn replace(&mut self, order: OrderId, at: Timestamp, terms: Terms) {
        let place = self.records;
        let held = self.known(order);
        if !keeps_place(&held.terms, &terms) {
            held.place = place;
        }
        (held.terms, held.terms_at) = (terms, at);
        self.close_if_filled(order);
    }

    fn activate(&mut self, order: OrderId) {
        let place = self.records;
        let held = self.known(order);
        (held.stage, held.place) = (Stage::Book, place);
    }

    fn trade(&mut self, deal: &Deal) {
        for execution in &deal.executions {
            self.executions += 1;
            let number = self.executions;
            let fill = VenueFill {
                order: execution.order,
                exec_id: execution.exec_id.clone(),
                quantity: deal.quantity,
                price: deal.price,
                at: Some(deal.at),
                fee: execution.fee,
                charges: vec![],
            };
            let held = self.known(execution.order);
            held.filled = held.filled.plus(deal.quantity).expect("a sum within the order's quantity");
            held.fills.push((number, fill));
            self.close_if_filled(execution.order);
        }
    }

    fn close_if_filled(&mut self, order: OrderId) {
        let held = self.known(order);
        if held.remaining().is_zero() {
            held.stage = Stage::Filled;
            self.retire(order);
        }
    }

    fn finish(&mut self, order: OrderId, fate: Fate, reason: Option<&Text>) {
        let held = self.known(order);
        held.stage = Stage::Gone(fate);
        held.reason = reason.cloned();
        self.retire(order);
    }

    fn retire(&mut self, order: OrderId) {
        self.finished.push_back(order);
        if self.finished.len() > FINISHED_KEPT
            && let Some(oldest) = self.finished.pop_front()
        {
            self.orders.remove(&oldest);
            self.forgotten.insert(oldest);
        }
    }

    fn known(&mut self, order: OrderId) -> &mut Held {
        let records = self.records;
        self.orders
            .get_mut(&order)
            .unwrap_or_else(|| panic!("record {records} of the ledger: order {order} is unknown"))
    }
}

/// A decrease at the same price keeps the queue position; any other change loses it, as in the book.
fn keeps_place(old: &Terms, new: &Terms) -> bool {
    old.kind.limit() == new.kind.limit() && new.quantity <= old.quantity
}
