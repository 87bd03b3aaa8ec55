//! Client orders of the venue: a fold over its ledger, the same live and after a restart.

pub(crate) mod client_order;
mod retired_orders;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use domain::order::OrderTerms;
use domain::report::{ExternalOrder, VenueFill, VenueOrder, VenueOrderState, VenueSnapshot};
use domain::{Liquidity, OrderId, Text, Timestamp};

use self::client_order::{
    ClientOrder, LEGS_FROM, OrderStage, RevisedFill, STRANGERS_FROM, SubmittedOrder, is_internal, is_stranger,
};
use self::retired_orders::RetiredOrders;
use crate::record::{ExecutionRevision, LedgerSummary, VenueRecord, VenueTrade};

/// How many finished orders stay in the snapshot. It is far more than a client can miss between two snapshots, because
/// only open orders finish while it is disconnected. Of older ones only the id is kept, so that none is accepted twice.
pub(crate) const FINISHED_ORDERS_KEPT: usize = 10_000;

/// Only the newest fills are busted or corrected.
const REVISABLE_FILLS: usize = 8;
/// Why an order that was filled has ended: its trade was busted.
pub(crate) const BUSTED: &str = "busted: a trade was taken back, and the order does not return to the book";

/// All orders that are open or finished recently.
#[derive(Debug, Default)]
pub(crate) struct ClientOrders {
    orders: BTreeMap<OrderId, ClientOrder>,
    finished: VecDeque<OrderId>,
    retired: RetiredOrders,
    /// Later legs of orders, oldest first, by the client's number.
    legs: BTreeMap<OrderId, Vec<OrderId>>,
    /// Whether fills name the leg: where orders have several.
    pub(crate) names_legs: bool,
    /// The order of each fill that is kept, by its number.
    fills: BTreeMap<u64, OrderId>,
    records: u64,
    acceptances: u64,
    executions: u64,
}

impl ClientOrders {
    /// `names_legs`: whether fills name the leg that traded.
    pub(crate) fn new(names_legs: bool) -> Self {
        Self { names_legs, ..Self::default() }
    }

    /// # Panics
    /// Where the record contradicts earlier ones: the ledger is not this venue's, or a part of it is missing.
    pub(crate) fn apply(&mut self, record: &VenueRecord) {
        self.records += 1;
        match record {
            VenueRecord::Compacted(summary) => {
                *self = Self { names_legs: self.names_legs, ..Self::compacted_to(summary) };
            }
            VenueRecord::Kept(held) => self.keep(held),
            VenueRecord::Opened { .. } => {}
            // A part of the state, not a further record.
            VenueRecord::Accounts(_) => self.records -= 1,
            VenueRecord::Submitted(submission) => {
                self.add_leg(submission);
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
            VenueRecord::Revised(revision) => self.revise(revision),
        }
    }

    /// Records that give the same state as all records so far.
    pub(crate) fn compacted(&self) -> impl Iterator<Item = VenueRecord> {
        let summary = LedgerSummary {
            records: self.records,
            acceptances: self.acceptances,
            executions: self.executions,
            known_below: self.retired.known_below(),
            retired: self.retired.runs(),
        };
        let finished = self.finished.iter().filter_map(|order| self.orders.get(order));
        let kept = finished.chain(self.unfinished()).map(|held| VenueRecord::Kept(Box::new(held.clone())));
        std::iter::once(VenueRecord::Compacted(summary)).chain(kept)
    }

    fn compacted_to(summary: &LedgerSummary) -> Self {
        Self {
            retired: RetiredOrders::from_runs(summary.known_below, &summary.retired),
            records: summary.records,
            acceptances: summary.acceptances,
            executions: summary.executions,
            ..Self::default()
        }
    }

    /// It is a part of the state, not a further record.
    fn keep(&mut self, held: &ClientOrder) {
        self.records -= 1;
        let order = held.submission.order;
        self.add_leg(&held.submission);
        self.orders.insert(order, held.clone());
        self.fills.extend(held.fills.iter().map(|(number, _)| (*number, order)));
        self.fills.extend(held.revised_fills().map(|revised| (revised.number, order)));
        if held.stage.is_done() {
            self.finished.push_back(order);
        }
    }

    fn add_leg(&mut self, submission: &SubmittedOrder) {
        if let Some(first) = submission.leg_of {
            let legs = self.legs.entry(first).or_default();
            legs.push(submission.order);
            // Numbers rise, and a compacted ledger has those that ended first.
            legs.sort_unstable();
        }
    }

    /// The leg by which a client's order works: the newest.
    pub(crate) fn working_leg(&self, order: OrderId) -> OrderId {
        self.legs.get(&order).and_then(|legs| legs.last().copied()).unwrap_or(order)
    }

    /// All legs of a client's order that are kept, oldest first.
    pub(crate) fn legs_of(&self, order: OrderId) -> impl Iterator<Item = &ClientOrder> {
        let later = self.legs.get(&order).into_iter().flatten().copied();
        std::iter::once(order).chain(later).filter_map(|leg| self.orders.get(&leg))
    }

    pub(crate) fn get(&self, order: OrderId) -> Option<&ClientOrder> {
        self.orders.get(&order)
    }

    /// Whether the venue has ever received it.
    pub(crate) fn contains(&self, order: OrderId) -> bool {
        self.orders.contains_key(&order) || self.retired.contains(order)
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

    /// The number of the next order of somebody else: no record has the number of another.
    pub(crate) fn next_stranger(&self) -> OrderId {
        OrderId(STRANGERS_FROM + self.records)
    }

    /// The number of the next later leg.
    pub(crate) fn next_leg(&self) -> OrderId {
        OrderId(LEGS_FROM + self.records)
    }

    /// The number of an order that somebody else placed.
    pub(crate) fn stranger_named(&self, ext_id: &Text) -> Option<OrderId> {
        let mut strangers = self.orders.range(OrderId(STRANGERS_FROM)..);
        strangers.find(|(_, held)| held.ext_id.as_ref() == Some(ext_id)).map(|(number, _)| *number)
    }

    /// An order that somebody else placed, as its client sees it.
    pub(crate) fn external(&self, order: OrderId) -> Option<ExternalOrder> {
        self.orders.get(&order).filter(|_| is_stranger(order))?.to_external()
    }

    pub(crate) fn snapshot(&self) -> VenueSnapshot {
        let own = || self.orders.range(..OrderId(STRANGERS_FROM)).map(|(_, held)| held);
        let is_shown = |held: &&ClientOrder| self.is_working(held) || !held.stage.is_done();
        let orders = own().filter(is_shown).map(ClientOrder::to_snapshot).collect();
        let external =
            self.orders.range(OrderId(STRANGERS_FROM)..).filter_map(|(_, held)| held.to_external()).collect();
        let mut fills: Vec<_> = own().flat_map(|held| &held.fills).collect();
        fills.sort_by_key(|(number, _)| *number);
        let fills = fills.into_iter().map(|(_, fill)| fill.clone()).collect();
        VenueSnapshot { orders, fills, external, complete: true, ..VenueSnapshot::default() }
    }

    /// Whether it is the newest leg of its order.
    pub(crate) fn is_working(&self, held: &ClientOrder) -> bool {
        self.working_leg(held.client_order()) == held.submission.order
    }

    /// An order as its newest leg shows it, with the fills of all.
    pub(crate) fn find(&self, order: OrderId) -> Option<(VenueOrder, Vec<VenueFill>)> {
        let newest = self.orders.get(&self.working_leg(order))?;
        let fills = self.legs_of(order).flat_map(|leg| &leg.fills).map(|(_, fill)| fill.clone());
        Some((newest.to_snapshot(), fills.collect()))
    }

    /// The legs of an order besides the newest; absent where it has one.
    pub(crate) fn other_legs(&self, order: OrderId) -> Option<Vec<VenueOrder>> {
        let others: Vec<_> = self.legs_of(order).filter(|leg| !self.is_working(leg)).collect();
        (!others.is_empty()).then(|| others.into_iter().map(ClientOrder::to_snapshot).collect())
    }

    /// Open orders that somebody else placed, in the order of their acceptance.
    pub(crate) fn open_externals(&self) -> Vec<ExternalOrder> {
        let strangers = self.unfinished().filter(|held| is_stranger(held.submission.order));
        strangers.filter_map(ClientOrder::to_external).collect()
    }

    /// The client's own, in the order of their ids.
    pub(crate) fn list_open(&self) -> Vec<VenueOrder> {
        self.unfinished().filter(|held| !is_stranger(held.submission.order)).map(ClientOrder::to_snapshot).collect()
    }

    /// The fills of the client's own orders among so many after that number, in the venue's order.
    pub(crate) fn list_fills(&self, after: Option<u64>, count: usize) -> ListedFills {
        let before = after.unwrap_or(0);
        let mut numbers = self.fills.range(before.saturating_add(1)..);
        let listed: Vec<_> = numbers.by_ref().take(count).collect();
        let is_last = numbers.next().is_none();
        let end = listed.last().filter(|_| !is_last).map_or(self.executions, |(number, _)| **number);
        let fill = |(number, order): &(&u64, &OrderId)| {
            let fills = &self.orders.get(*order)?.fills;
            fills.iter().find(|(of_fill, _)| of_fill == *number).map(|(_, fill)| fill.clone())
        };
        let strangers: BTreeSet<_> =
            listed.iter().map(|(_, order)| **order).filter(|order| is_stranger(*order)).collect();
        ListedFills {
            fills: listed.iter().filter(|(_, order)| !is_stranger(**order)).filter_map(fill).collect(),
            externals: strangers.into_iter().filter_map(|order| self.external(order)).collect(),
            end,
            is_last,
            is_cut: end.saturating_sub(before) > listed.len() as u64,
        }
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
            self.fills.insert(number, execution.order);
            let names_legs = self.names_legs;
            let held = self.find_mut(execution.order);
            let (side, order, leg) = (held.submission.side, held.client_order(), held.ext_id.clone());
            let fill = VenueFill {
                order,
                exec_id: execution.exec_id.clone(),
                quantity: trade.quantity,
                price: trade.price,
                at: Some(trade.at),
                fee: execution.fee,
                charges: vec![],
                ext_order: leg.filter(|_| names_legs),
                liquidity: Liquidity::of_side(side, trade.aggressor),
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

    /// Its number stays in the list of fills, so that the list has no hole where nothing is missing.
    fn revise(&mut self, revision: &ExecutionRevision) {
        let number = self.executions + 1;
        let held = self.find_mut(revision.order);
        let place = held.fills.iter().position(|(_, fill)| fill.exec_id == revision.exec_id);
        let (revised, fill) = held.fills.remove(place.expect("a revision is of a fill that counts"));
        let corrected_by = revision.by.as_ref().map(|by| by.exec_id.clone());
        held.revised.get_or_insert_default().push(RevisedFill { number: revised, fill: fill.clone(), corrected_by });
        match &revision.by {
            Some(by) => {
                let (exec_id, at) = (by.exec_id.clone(), Some(revision.at));
                held.fills.push((number, VenueFill { exec_id, price: by.price, at, ..fill }));
                self.executions = number;
                self.fills.insert(number, revision.order);
            }
            None => {
                held.filled = held.filled.minus(fill.quantity).expect("it was part of the sum");
                // What is open again does not go back to the book.
                if held.stage == OrderStage::Filled {
                    held.stage = OrderStage::Ended(VenueOrderState::Canceled);
                    held.reason = Some(BUSTED.into());
                }
            }
        }
    }

    /// The newest fills of clients' orders that have ended and have one leg: those that may be busted or corrected.
    pub(crate) fn revisable_fills(&self) -> Vec<(&ClientOrder, &VenueFill)> {
        let of_number = |(number, order): (&u64, &OrderId)| {
            let held = self.orders.get(order).filter(|held| held.stage.is_done())?;
            let fill = held.fills.iter().find(|(of_fill, _)| of_fill == number).map(|(_, fill)| fill)?;
            Some((held, fill))
        };
        let own = self.fills.iter().rev().filter(|(_, order)| !is_internal(**order) && !self.legs.contains_key(order));
        own.filter_map(of_number).take(REVISABLE_FILLS).collect()
    }

    /// Orders of which fills were busted or corrected.
    pub(crate) fn revised(&self) -> impl Iterator<Item = &ClientOrder> {
        self.orders.values().filter(|held| held.revised.is_some())
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
            let retired = self.orders.remove(&oldest);
            let fills = retired.iter().flat_map(|order| order.fills.iter().map(|(number, _)| *number));
            let revised = retired.iter().flat_map(ClientOrder::revised_fills).map(|revised| revised.number);
            for number in fills.chain(revised) {
                self.fills.remove(&number);
            }
            let first = retired.as_ref().and_then(|order| order.submission.leg_of);
            first.iter().for_each(|first| self.forget_leg(*first, oldest));
            // Nobody sends a number that the venue gave.
            if !is_internal(oldest) {
                self.retired.insert(oldest);
            }
        }
    }

    fn forget_leg(&mut self, first: OrderId, leg: OrderId) {
        if let Some(legs) = self.legs.get_mut(&first) {
            legs.retain(|known| *known != leg);
            if legs.is_empty() {
                self.legs.remove(&first);
            }
        }
    }

    fn find_mut(&mut self, order: OrderId) -> &mut ClientOrder {
        let records = self.records;
        self.orders
            .get_mut(&order)
            .unwrap_or_else(|| panic!("record {records} of the ledger: order {order} is unknown"))
    }
}

/// A part of the client's fills.
pub(crate) struct ListedFills {
    pub(crate) fills: Vec<VenueFill>,
    /// Orders of somebody else with fills among them.
    pub(crate) externals: Vec<ExternalOrder>,
    /// The number of the last one.
    pub(crate) end: u64,
    /// None follows.
    pub(crate) is_last: bool,
    /// Some between are no longer kept.
    pub(crate) is_cut: bool,
}

/// A decrease at the same price keeps the queue position; any other change loses it, as in the book.
fn keeps_place(old: &OrderTerms, new: &OrderTerms) -> bool {
    old.kind.limit() == new.kind.limit() && new.quantity <= old.quantity
}

#[cfg(test)]
mod tests {
    use domain::order::TimeInForce;
    use domain::{AccountId, ExchangeId, OrderKind, OrderProperties, SecurityId, Side};

    use super::*;

    fn submitted(id: u64) -> VenueRecord {
        let kind = OrderKind::Limit { limit: "10.05".parse().unwrap() };
        VenueRecord::Submitted(SubmittedOrder {
            at: Timestamp(1_780_574_400_000_000_000),
            order: OrderId(id),
            account: AccountId(1),
            exchange: ExchangeId(1),
            security: SecurityId(7),
            side: Side::Buy,
            terms: OrderTerms { quantity: 100.into(), kind, tif: TimeInForce::Day },
            properties: OrderProperties::default(),
            leg_of: None,
        })
    }

    fn rejected(id: u64) -> VenueRecord {
        VenueRecord::Rejected { at: Timestamp(0), order: OrderId(id), reason: "market closed".into() }
    }

    #[test]
    fn a_compacted_ledger_is_as_long_as_what_is_kept_and_gives_the_same_orders() {
        let mut orders = ClientOrders::default();
        let all = 3 * FINISHED_ORDERS_KEPT as u64;
        (1..=all).flat_map(|id| [submitted(id), rejected(id)]).for_each(|record| orders.apply(&record));
        orders.apply(&submitted(all + 1));
        let records: Vec<_> = orders.compacted().collect();
        assert_eq!(records.len(), 1 + FINISHED_ORDERS_KEPT + 1);
        let bytes: usize = records.iter().map(|record| minicbor::to_vec(record).unwrap().len()).sum();
        assert!(bytes < 100 * records.len(), "{bytes} bytes");
        let mut again = ClientOrders::default();
        records.iter().for_each(|record| again.apply(record));
        assert_eq!(again.snapshot(), orders.snapshot());
        assert_eq!(again.compacted().collect::<Vec<_>>(), records);
        let known = [1, all, all + 1, all + 2].map(|id| again.contains(OrderId(id)));
        assert_eq!(known, [true, true, true, false]);
    }
}
