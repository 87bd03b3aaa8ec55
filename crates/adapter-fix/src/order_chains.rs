//! What is known of the orders at the venue since the start: the id by which the venue knows each, its terms, what is filled, and
//! open questions. All of it can be lost: after a restart the venue is asked.

use std::collections::{BTreeMap, VecDeque};

use domain::order::OrderTerms;
use domain::report::VenueFill;
use domain::{Order, OrderId, Quantity, Timestamp, WireId};
use fix::SeqNum;

use crate::account::open_captures::{Captured, TakenBack};
use crate::requests::{QuestionId, RequestKind};

/// Ended orders that are kept for late fills; of older ones the venue is asked again where that is needed.
pub(crate) const ENDED_CHAINS_MAX: usize = 10_000;
/// Sent requests that a Reject (3) or Business Message Reject (j) can refer to; an older one stays unanswered.
pub(crate) const SENT_REQUESTS_MAX: usize = 10_000;
/// Fills of one order that a bust or a correction can refer to.
pub(crate) const CHAIN_FILLS_MAX: usize = 10_000;

/// A request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentRequest {
    pub id: WireId,
    pub kind: RequestKind,
}

/// What was asked about an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question {
    pub as_of: Timestamp,
    /// The mass status that asks about it, where it is not asked about alone.
    pub mass: Option<QuestionId>,
    /// The number of the trade capture that asks for its executions.
    pub capture: Option<u64>,
    /// What the engine had booked.
    pub filled: Quantity,
    /// What was reported as filled until then.
    pub reported: Option<Quantity>,
    pub terms: OrderTerms,
    /// The newest request of the order.
    pub newest: u32,
}

/// A fill as it was reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportedFill {
    pub exec_id: String,
    /// The id under which it was reported.
    pub reported: String,
    pub quantity: Quantity,
    /// The venue's time.
    pub at: Option<Timestamp>,
    /// Busted, or corrected by another one.
    pub is_void: bool,
    /// The id under which the one that corrected it was reported.
    pub replaced_by: Option<String>,
    /// It was part of a snapshot, and is not told again.
    pub in_snapshot: bool,
}

impl ReportedFill {
    /// As an answer has it.
    pub(crate) fn listed(fill: &VenueFill) -> Self {
        let (exec_id, reported) = (fill.exec_id.to_string(), fill.exec_id.to_string());
        Self {
            exec_id,
            reported,
            quantity: fill.quantity,
            at: fill.at,
            is_void: false,
            replaced_by: None,
            in_snapshot: false,
        }
    }

    /// One that was taken back before anything else was heard of it.
    fn void(exec_id: &str) -> Self {
        let (exec_id, reported, quantity) = (exec_id.to_owned(), exec_id.to_owned(), Quantity::ZERO);
        Self { exec_id, reported, quantity, at: None, is_void: true, replaced_by: None, in_snapshot: false }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct OrderChain {
    /// The number of the request by which the venue knows the order.
    pub known: Option<u32>,
    /// The terms as the venue confirmed them.
    pub terms: Option<OrderTerms>,
    /// Terms that were asked for, by the number of the request.
    pub asked: Vec<(u32, OrderTerms)>,
    pub kinds: Vec<(u32, RequestKind)>,
    /// The newest request that the engine has named; one from before the start has no kind here.
    pub newest: u32,
    /// CumQty (14); absent where nothing was heard.
    pub cum_qty: Option<Quantity>,
    /// The newest last.
    pub fills: VecDeque<ReportedFill>,
    /// ExecIDs (17) of reports that were told, where a drop copy tells them too; the newest last.
    pub reports: VecDeque<String>,
    /// Oldest first.
    pub questions: VecDeque<Question>,
    /// Requests by whose ids the venue was asked since it last knew the order, and did not.
    pub unknown: Vec<u32>,
    /// Executions that answer the open question; the status may still come.
    pub captured: Option<Captured>,
    /// The status that answers it; its executions have still to come.
    pub held_status: Option<Vec<u8>>,
    /// What the last answer had as filled, where that is less than was reported.
    pub fewer: Option<Quantity>,
    pub has_ended: bool,
}

impl OrderChain {
    pub(crate) fn kind(&self, request: u32) -> Option<RequestKind> {
        self.kinds.iter().find(|(number, _)| *number == request).map(|(_, kind)| *kind)
    }

    /// Whether a newer request of that kind was made: what is said of the older one does not settle it. A request from before the
    /// start may be of that kind.
    pub(crate) fn is_superseded(&self, request: u32, kind: RequestKind) -> bool {
        let is_newer = |(number, known): &(u32, RequestKind)| *number > request && *known == kind;
        self.kinds.iter().any(is_newer) || (self.newest > request && self.kind(self.newest).is_none())
    }

    pub(crate) fn asked_terms(&self, request: u32) -> Option<OrderTerms> {
        self.asked.iter().find(|(number, _)| *number == request).map(|(_, terms)| *terms)
    }

    /// Whether it was not reported before.
    pub(crate) fn add_fill(&mut self, fill: ReportedFill) -> bool {
        if self.fills.iter().any(|known| known.reported == fill.reported) {
            return false;
        }
        if self.fills.len() == CHAIN_FILLS_MAX {
            self.fills.pop_front();
        }
        self.fills.push_back(fill);
        true
    }

    /// Whether the venue has it: something was heard of it.
    pub(crate) fn is_heard(&self) -> bool {
        self.known.is_some() || !self.fills.is_empty() || self.has_ended
    }

    /// Whether a snapshot has told it.
    pub(crate) fn is_in_snapshot(&self, reported: &str) -> bool {
        self.fills.iter().any(|fill| fill.in_snapshot && fill.reported == reported)
    }

    /// Whether it was not told before.
    pub(crate) fn note_report(&mut self, exec_id: &str) -> bool {
        if self.reports.iter().any(|known| known == exec_id) {
            return false;
        }
        if self.reports.len() == CHAIN_FILLS_MAX {
            self.reports.pop_front();
        }
        self.reports.push_back(exec_id.to_owned());
        true
    }

    /// Whether a fill of that id was busted or corrected, and this one is of another time: it is another fill.
    pub(crate) fn is_void(&self, reported: &str, at: Option<Timestamp>) -> bool {
        self.fills.iter().any(|known| known.is_void && known.reported == reported && known.at != at)
    }

    /// The only fill of that ExecID and quantity; where the quantity is not known, the only one of that ExecID.
    pub(crate) fn reported_fill(&self, exec_id: &str, quantity: Option<Quantity>) -> Option<&str> {
        let is_meant = |fill: &&ReportedFill| {
            !fill.is_void && fill.exec_id == exec_id && quantity.is_none_or(|quantity| fill.quantity == quantity)
        };
        let mut meant = self.fills.iter().filter(is_meant);
        let fill = meant.next()?;
        meant.next().is_none().then_some(fill.reported.as_str())
    }

    /// What an answer shows as taken back was no report of its own; what it shows instead counts. Returns whether the execution was known. Of one
    /// that was not, it is not known either whether it is part of what is filled.
    pub(crate) fn take_back(&mut self, taken: &TakenBack) -> bool {
        let by = taken.by.as_ref();
        if let Some(newest) = by.and_then(|by| self.newest(&taken.exec_id, &by.exec_id)) {
            return self.take_back(&TakenBack { exec_id: newest.into(), ..taken.clone() });
        }
        let is_known = self.take_back_named(taken);
        if let Some(by) = by {
            self.note_correction(&taken.exec_id, &by.exec_id);
        }
        is_known
    }

    fn take_back_named(&mut self, taken: &TakenBack) -> bool {
        let by = taken.by.as_ref();
        let keeps_id = by.is_some_and(|by| by.exec_id == taken.exec_id);
        let Some(known) = self.fills.iter_mut().find(|fill| *fill.reported == *taken.exec_id) else {
            self.cum_qty = None;
            if !keeps_id {
                self.add_fill(ReportedFill::void(&taken.exec_id));
            }
            if let Some(by) = by {
                self.add_fill(ReportedFill::listed(by));
            }
            return false;
        };
        if known.is_void {
            return true;
        }
        let before = known.quantity;
        match by.filter(|_| keeps_id) {
            Some(by) => known.quantity = by.quantity,
            None => known.is_void = true,
        }
        // It may have been reported as one of its own.
        let is_new = by.is_some_and(|by| keeps_id || self.add_fill(ReportedFill::listed(by)));
        let instead = by.filter(|_| is_new).map_or(Quantity::ZERO, |by| by.quantity);
        let rest = self.cum_qty.map(|filled| filled.minus(before).unwrap_or(Quantity::ZERO));
        self.cum_qty = rest.and_then(|rest| rest.plus(instead).ok());
        // What was reported after it counts without it: the next report tells how much that is.
        let is_named = |id: &str| *taken.exec_id == *id || by.is_some_and(|by| *by.exec_id == *id);
        let is_later = |fill: &ReportedFill| !fill.is_void && !is_named(&fill.reported) && fill.at > taken.at;
        if self.fills.iter().any(is_later) {
            self.cum_qty = None;
        }
        true
    }

    /// Whether the executions of an answer have all that was reported and still counts.
    pub(crate) fn is_covered_by(&self, captured: &Captured) -> bool {
        let is_captured = |known: &&ReportedFill| captured.fills.iter().any(|fill| *fill.exec_id == *known.reported);
        self.fills.iter().filter(|known| !known.is_void).all(|known| is_captured(&known))
    }

    /// The execution that counts in place of one that was corrected before. None where it was not, and where `by` tells it again.
    pub(crate) fn newest(&self, reported: &str, by: &str) -> Option<String> {
        let mut id = reported;
        for _ in 0..self.fills.len() {
            let known = self.fills.iter().find(|fill| fill.reported == id);
            let Some(next) = known.and_then(|fill| fill.replaced_by.as_deref()) else { break };
            if next == by {
                return None;
            }
            id = next;
        }
        (id != reported && by != reported).then(|| id.to_owned())
    }

    /// One that keeps the id replaces nothing under another one.
    pub(crate) fn note_correction(&mut self, reported: &str, by: &str) {
        let corrected =
            self.fills.iter_mut().filter(|fill| fill.is_void && fill.reported == reported && reported != by);
        corrected.for_each(|fill| fill.replaced_by = Some(by.to_owned()));
    }

    pub(crate) fn make_void(&mut self, reported: &str) {
        self.fills.iter_mut().filter(|fill| fill.reported == reported).for_each(|fill| fill.is_void = true);
    }
}

/// The orders of a session.
#[derive(Debug, Default)]
pub struct OrderChains {
    chains: BTreeMap<OrderId, OrderChain>,
    /// In the order of their ends.
    ended: VecDeque<OrderId>,
    sent: VecDeque<(SeqNum, SentRequest)>,
}

impl OrderChains {
    /// A new order is about to be sent: nothing of it is filled.
    pub fn on_new_order(&mut self, order: &Order) {
        let chain = self.chain(order.id);
        chain.terms = Some(order.terms);
        chain.asked.push((order.request, order.terms));
        chain.kinds.push((order.request, RequestKind::New));
        // Of one that is sent again something may be filled.
        chain.cum_qty.get_or_insert(Quantity::ZERO);
    }

    pub fn on_cancel(&mut self, order: &Order) {
        self.learn(order).kinds.push((order.request, RequestKind::Cancel));
    }

    pub fn on_replace(&mut self, order: &Order, terms: OrderTerms) {
        let chain = self.learn(order);
        chain.kinds.push((order.request, RequestKind::Replace));
        chain.asked.push((order.request, terms));
    }

    /// Alone, or by a mass status.
    pub fn on_question(&mut self, at: Timestamp, order: &Order, mass: Option<QuestionId>, capture: Option<QuestionId>) {
        let chain = self.learn(order);
        let (filled, reported) = (order.filled, chain.cum_qty);
        let (capture, newest) = (capture.map(|id| id.number), order.request);
        let question = Question { as_of: at, mass, capture, filled, reported, terms: order.terms, newest };
        // One question is enough: the oldest answers for all. With executions both parts of its answer are those that were asked for last.
        match chain.questions.front_mut() {
            Some(open) if capture.is_some() => (open.capture, open.mass) = (capture, mass),
            Some(_) => {}
            None => chain.questions.push_back(question),
        }
        if capture.is_some() {
            (chain.captured, chain.held_status) = (None, None);
        }
    }

    /// Questions of an earlier connection get no answers.
    /// `is_told_elsewhere`: what was filled meanwhile does not come over FIX, so CumQty (14) says nothing until the next report.
    pub fn on_disconnected(&mut self, is_told_elsewhere: bool) {
        self.sent.clear();
        for chain in self.chains.values_mut() {
            chain.questions.clear();
            chain.unknown.clear();
            (chain.captured, chain.held_status) = (None, None);
            if is_told_elsewhere {
                chain.cum_qty = None;
            }
        }
    }

    /// A request left with that number.
    pub fn on_sent(&mut self, number: SeqNum, request: SentRequest) {
        if self.sent.len() == SENT_REQUESTS_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back((number, request));
    }

    pub fn sent(&self, number: SeqNum) -> Option<SentRequest> {
        self.sent.iter().rev().find(|(known, _)| *known == number).map(|(_, request)| *request)
    }

    /// The id by which the venue knows the order. Where that was not heard since the start, it is that of the submit, or where
    /// the order was replaced before, that of the newest request before this one.
    pub fn known_id(&self, instance: u64, order: &Order) -> WireId {
        self.heard_id(instance, order, order.request.saturating_sub(1))
    }

    /// The id to ask by. A question is no request of its own: where nothing is pending, the newest request is the likely one. It may have
    /// been refused; where the venue does not know the order by it, the newest of the others is next.
    pub fn inquiry_id(&self, instance: u64, order: &Order) -> WireId {
        let (cancel, replace) = (order.pending.cancel(), order.pending.replace());
        let pending = u32::from(cancel.is_some()) + u32::from(replace.is_some());
        let likely = self.heard_id(instance, order, order.request.saturating_sub(pending));
        let is_unknown = |request: &u32| self.get(order.id).is_some_and(|chain| chain.unknown.contains(request));
        if !is_unknown(&likely.request) {
            return likely;
        }
        let other = (0..=order.request).rev().find(|request| !is_unknown(request));
        WireId { request: other.unwrap_or(likely.request), ..likely }
    }

    /// Without a replace it is the id of the submit.
    fn heard_id(&self, instance: u64, order: &Order, likely: u32) -> WireId {
        let heard = self.chains.get(&order.id).and_then(|chain| chain.known);
        let likely = if order.revision == 0 { 0 } else { likely };
        WireId { instance, order: order.id, request: heard.unwrap_or(likely) }
    }

    pub(crate) fn get(&self, order: OrderId) -> Option<&OrderChain> {
        self.chains.get(&order)
    }

    pub(crate) fn chain(&mut self, order: OrderId) -> &mut OrderChain {
        self.chains.entry(order).or_default()
    }

    pub(crate) fn take_back(&mut self, taken: &TakenBack) {
        if let Some(chain) = self.chains.get_mut(&taken.order) {
            chain.take_back(taken);
        }
    }

    /// What the engine knows of an order that is new to us.
    fn learn(&mut self, order: &Order) -> &mut OrderChain {
        let chain = self.chain(order.id);
        chain.terms.get_or_insert(order.terms);
        chain.cum_qty = chain.cum_qty.max(Some(order.filled));
        chain.newest = chain.newest.max(order.request);
        chain
    }

    pub(crate) fn end(&mut self, order: OrderId) {
        let chain = self.chain(order);
        if std::mem::replace(&mut chain.has_ended, true) {
            return;
        }
        self.ended.push_back(order);
        if self.ended.len() > ENDED_CHAINS_MAX
            && let Some(oldest) = self.ended.pop_front()
        {
            self.chains.remove(&oldest);
        }
    }

    /// It may work again, and is not forgotten with those that have ended.
    pub(crate) fn reopen(&mut self, order: OrderId) {
        if std::mem::replace(&mut self.chain(order).has_ended, false) {
            self.ended.retain(|ended| *ended != order);
        }
    }

    /// Orders with an open question that this mass status should have answered. One whose status has come waits for its executions.
    pub(crate) fn questioned(&self, answered: QuestionId) -> Vec<OrderId> {
        let is_asked = |question: &Question| question.mass.is_some_and(|asked| answered.covers(asked));
        let is_open = |chain: &OrderChain| chain.held_status.is_none() && chain.questions.front().is_some_and(is_asked);
        let all = self.chains.iter().filter(|(_, chain)| is_open(chain));
        all.map(|(order, _)| *order).collect()
    }
}
