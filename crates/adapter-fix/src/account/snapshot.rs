//! The snapshot after a log-on: orders by a mass status (AF), their executions by a trade capture (AD). Only an order whose executions
//! add up to what it has filled is part of it; every other one is asked about alone.

use std::collections::{BTreeMap, BTreeSet};

use domain::report::{VenueFill, VenueOrder, VenueOrderState, VenueSnapshot};
use domain::{OrderId, Quantity, Text, Timestamp};
use fix::FixMessage;

use crate::account::open_captures::{CaptureStep, Captured};
use crate::account::trade_capture::{filled_by, reported_fill};
use crate::answers::venue_state;
use crate::dialect::OrdState;
use crate::execution::{ExecutionFields, contradiction, terms_of};
use crate::reports::FixTranslator;
use crate::requests::{MASS_STATUS_PREFIX, QuestionId};

/// Both answers, as far as they have come.
pub(crate) struct SnapshotAnswers {
    orders_id: QuestionId,
    trades_id: QuestionId,
    orders: Vec<SnapshotOrder>,
    has_all_orders: bool,
    captured: Option<Captured>,
    is_refused: bool,
}

pub(super) struct SnapshotOrder {
    pub(super) seen: VenueOrder,
    /// CumQty (14).
    pub(super) filled: Quantity,
    /// The number of the request by which the venue knows it; absent while one is pending or after its end.
    known: Option<u32>,
}

impl SnapshotAnswers {
    pub(crate) fn new(orders_id: QuestionId, trades_id: QuestionId) -> Self {
        Self { orders_id, trades_id, orders: Vec::new(), has_all_orders: false, captured: None, is_refused: false }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.has_all_orders && self.captured.is_some()
    }

    /// There will be none.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Whether the message was part of an answer; one that is not is for the translator.
    pub(crate) fn on_message(&mut self, translator: &mut FixTranslator, message: &FixMessage<'_>) -> bool {
        match message.msg_type() {
            b"8" if self.is_of_orders(message) => self.on_order(translator, message),
            b"AE" | b"AQ" => match translator.on_capture(message) {
                CaptureStep::Done { number, order: None, captured } if number == self.trades_id.number => {
                    self.is_refused |= captured.is_none();
                    self.captured = captured;
                }
                CaptureStep::Waiting | CaptureStep::Done { .. } => {}
            },
            b"3" | b"j" if matches!(message.text(372), Some("AF" | "AD")) => self.is_refused = true,
            _ => return false,
        }
        true
    }

    fn is_of_orders(&self, message: &FixMessage<'_>) -> bool {
        message.text(584).and_then(|text| QuestionId::read(MASS_STATUS_PREFIX, text)) == Some(self.orders_id)
    }

    /// An order of another client is none of ours, and one that contradicts itself is asked about alone.
    fn on_order(&mut self, translator: &FixTranslator, message: &FixMessage<'_>) {
        let is_empty = message.number(911) == Some(0);
        self.has_all_orders |= is_empty || message.flag(912);
        self.is_refused |= is_empty && translator.refused_list(message).is_some();
        if !is_empty {
            self.orders.extend(snapshot_order(translator, message));
        }
    }

    /// What was found, and what the translator has to know of it: an execution that is in it is not told again. An order of which something was
    /// taken back is asked about alone: only the answer about an order says what.
    pub(crate) fn into_snapshot(self, translator: &mut FixTranslator, at: Timestamp) -> VenueSnapshot {
        let mut fills: BTreeMap<OrderId, Vec<VenueFill>> = BTreeMap::new();
        let captured = self.captured.unwrap_or_default();
        let revised: BTreeSet<OrderId> = captured.taken_back.iter().map(|taken| taken.order).collect();
        for fill in captured.fills {
            fills.entry(fill.order).or_default().push(fill);
        }
        let mut snapshot = VenueSnapshot { as_of: Some(at), complete: false, ..VenueSnapshot::default() };
        for SnapshotOrder { seen, filled, known } in self.orders {
            let of_order = fills.remove(&seen.order).unwrap_or_default();
            if filled_by(&of_order) != Some(filled) || revised.contains(&seen.order) {
                continue;
            }
            let chain = translator.chains.chain(seen.order);
            if known.is_some() {
                (chain.known, chain.terms) = (known, Some(seen.terms));
            }
            chain.cum_qty = Some(filled);
            for fill in &of_order {
                chain.add_fill(reported_fill(fill, true));
            }
            if seen.state != VenueOrderState::Live || filled >= seen.terms.quantity {
                translator.chains.end(seen.order);
            }
            snapshot.fills.extend(of_order);
            snapshot.orders.push(seen);
        }
        snapshot
    }
}

pub(super) fn snapshot_order(translator: &FixTranslator, message: &FixMessage<'_>) -> Option<SnapshotOrder> {
    let id = translator.request_meant(translator.named_order(message)?);
    let dialect = translator.dialect();
    let fields = ExecutionFields::read(dialect, message).ok()?;
    let is_no_order = fields.is_unknown_order() || fields.is_refused_question();
    if is_no_order || contradiction(&dialect.executions, &fields).is_some() {
        return None;
    }
    let base = translator.chains.get(id.order).and_then(|chain| chain.terms);
    let state = fields.condition.state;
    let is_settled = state.is_open() && state != OrdState::PendingRequest;
    let seen = VenueOrder {
        order: id.order,
        ext_id: fields.order_id.map(Text::from),
        terms: terms_of(dialect, message, base)?,
        state: venue_state(state),
        reason: fields.text.map(Text::from),
    };
    Some(SnapshotOrder { seen, filled: fields.condition.cum_qty?, known: is_settled.then_some(id.request) })
}
