//! Answers to questions about orders: a status report, or the reports of a mass status.

use domain::report::{FilledTotal, InquiryAnswer, InquiryResult, ReportKind, VenueOrder, VenueOrderState};
use domain::{OrderId, Price, Quantity, Text, Timestamp, WireId};
use fix::FixMessage;

use crate::account::open_captures::Captured;
use crate::account::trade_capture::{filled_by, reported_fill};
use crate::dialect::OrdState;
use crate::execution::{ExecutionFields, contradiction, decimal, terms_of};
use crate::order_chains::{OrderChain, Question};
use crate::refusals::reject_reason;
use crate::reports::{FixTranslator, InboundMeaning, report, unclear};
use crate::requests::{MASS_STATUS_PREFIX, QuestionId};

impl FixTranslator {
    /// The open question that a status report answers. A report of a mass status from before the question does not.
    pub(crate) fn answered_question(&self, message: &FixMessage<'_>, order: OrderId) -> Option<Question> {
        let question = self.chains.get(order)?.questions.front().copied()?;
        let of = message.text(584).and_then(|text| QuestionId::read(MASS_STATUS_PREFIX, text));
        let is_older = of.zip(question.mass).is_some_and(|(of, asked)| !of.covers(asked));
        (!is_older).then_some(question)
    }

    /// The answer to a question. Its executions are part of it where the venue was asked for them. Otherwise, where the venue has more
    /// than was reported, the engine infers them where the dialect says so, and nothing is concluded where it does not.
    pub(crate) fn answer(
        &mut self,
        message: &FixMessage<'_>,
        id: WireId,
        fields: &ExecutionFields<'_>,
        question: Question,
    ) -> Vec<InboundMeaning> {
        let order = id.order;
        let chain = self.chains.chain(order);
        if let Some(reason) = fields.is_refused_question().then(|| reject_reason(message, "OrdRejReason", 103)) {
            chain.questions.clear();
            return refused_question(order, &reason);
        }
        if question.capture.is_some() && chain.captured.is_none() && !fields.is_unknown_order() {
            chain.held_status = Some(message.bytes().to_vec());
            return Vec::new();
        }
        chain.questions.clear();
        let captured = chain.captured.take().unwrap_or_default();
        if fields.is_unknown_order() {
            return self.on_unknown_id(id, question);
        }
        if let Some(reason) = contradiction(&self.dialect.executions, fields) {
            return unclear(Some(order), reason);
        }
        let chain = self.chains.chain(order);
        chain.unknown.clear();
        let shown = fields.condition.cum_qty;
        let Some(mut known) = known_after(chain, &captured, question.filled, shown) else {
            return captured.taken_back.into_iter().map(|taken| InboundMeaning::Report(taken.report())).collect();
        };
        let filled = self.filled_total(message, fields);
        let chain = self.chains.chain(order);
        if let Some(total) = filled {
            known = known.max(total.quantity);
        }
        if let Some(more) = shown.filter(|shown| *shown > known) {
            return unclear(Some(order), format!("the venue has filled {more}, but only {known} were reported"));
        }
        if let Some(less) = shown.filter(|shown| *shown < known) {
            return self.on_fewer_filled(order, question, (less, known));
        }
        chain.fewer = None;
        let base = chain.terms.unwrap_or(question.terms);
        let terms = terms_of(&self.dialect, message, Some(base)).unwrap_or(base);
        let state = fields.condition.state;
        // A venue names the order by the id under which it knows it, unless a request is pending.
        if state.is_open() && state != OrdState::PendingRequest {
            (chain.known, chain.terms) = (Some(id.request), Some(terms));
        }
        let seen = VenueOrder {
            order,
            ext_id: fields.order_id.map(Text::from),
            terms,
            state: venue_state(state),
            reason: fields.text.map(Text::from),
        };
        chain.cum_qty = Some(known);
        for fill in &captured.fills {
            chain.add_fill(reported_fill(fill, false));
        }
        if !state.is_open() {
            self.chains.end(order);
        }
        let taken_back = captured.taken_back.into_iter().map(|taken| InboundMeaning::Report(taken.report()));
        taken_back.chain(inquiry(order, question, InquiryResult::Found(seen, captured.fills), filled)).collect()
    }

    /// CumQty (14) and AvgPx (6), where executions that are missing may be inferred: nothing else can bring them.
    fn filled_total(&self, message: &FixMessage<'_>, fields: &ExecutionFields<'_>) -> Option<FilledTotal> {
        if !self.dialect.recovery.infers_fills || self.has_drop_copy() {
            return None;
        }
        let average_price = decimal(message, 6).ok().flatten().map(Price).filter(|price| price.is_positive())?;
        let at = fields.at.max(sent_at(message));
        Some(FilledTotal { quantity: fields.condition.cum_qty?, average_price, at })
    }

    /// Which request the venue knows the order by is a guess after a start: the newest may have been a cancel that it refused. An order is
    /// unknown when the venue knows none of its ids.
    fn on_unknown_id(&mut self, id: WireId, question: Question) -> Vec<InboundMeaning> {
        let unknown = &mut self.chains.chain(id.order).unknown;
        unknown.push(id.request);
        if question.mass.is_none() && (0..=question.newest).any(|request| !unknown.contains(&request)) {
            return vec![InboundMeaning::AskAgain { order: id.order }];
        }
        unknown.clear();
        not_found(id.order, question)
    }

    /// An answer from before the newest execution says nothing about now, and one answer may lag behind. The same answer to a
    /// question from after that execution is a difference.
    fn on_fewer_filled(
        &mut self,
        order: OrderId,
        question: Question,
        (less, known): (Quantity, Quantity),
    ) -> Vec<InboundMeaning> {
        let is_new = question.reported == Some(known);
        if !is_new || self.chains.chain(order).fewer.replace(less) != Some(less) {
            return Vec::new();
        }
        unclear(Some(order), format!("the venue has filled {less}, and {known} were reported"))
    }

    /// The last report of a mass status: what was asked about until then and not listed is not open at the venue.
    pub(crate) fn end_of_mass_status(&mut self, message: &FixMessage<'_>) -> Option<Vec<InboundMeaning>> {
        let is_empty = message.number(911) == Some(0);
        let is_last = message.flag(912) || is_empty;
        let refused = self.refused_list(message).filter(|_| is_empty);
        let answered =
            message.text(584).and_then(|text| QuestionId::read(MASS_STATUS_PREFIX, text)).filter(|_| is_last)?;
        let mut meanings = Vec::new();
        if let Some(id) = self.named_order(message).filter(|_| !is_empty) {
            let fields = ExecutionFields::read(&self.dialect, message);
            match fields {
                Ok(fields) => meanings.extend(self.interpret(message, id, &fields)),
                Err(reason) => return Some(unclear(Some(id.order), reason)),
            }
        }
        for order in self.chains.questioned(answered) {
            if let Some(question) = self.chains.chain(order).questions.pop_front() {
                let answer = refused.as_ref().map(|reason| refused_question(order, reason));
                meanings.extend(answer.unwrap_or_else(|| not_found(order, question)));
            }
        }
        Some(meanings)
    }
}

/// What is filled of an order by what was reported and by what an answer has. An answer that takes something back and has all that the status
/// shows is right also about less; some venues tell the executions of today alone. `None` where that is not so, and what is taken back was not
/// reported since the start: whether it is booked is known when the engine asks again.
fn known_after(
    chain: &mut OrderChain,
    captured: &Captured,
    booked: Quantity,
    shown: Option<Quantity>,
) -> Option<Quantity> {
    let unreported =
        captured.taken_back.iter().map(|taken| chain.take_back(taken)).filter(|is_known| !is_known).count();
    let told = filled_by(&captured.fills).unwrap_or(Quantity::ZERO);
    if !captured.taken_back.is_empty() && shown == Some(told) && chain.is_covered_by(captured) {
        return Some(told);
    }
    (unreported == 0).then(|| chain.cum_qty.unwrap_or(booked).max(told))
}

/// When the venue wrote it: OrigSendingTime (122) of a message that is sent again, else SendingTime (52). TransactTime (60) of a status can be
/// that of the order's entry, before executions that the status has.
fn sent_at(message: &FixMessage<'_>) -> Option<Timestamp> {
    message.time(122).or(message.time(52)).map(|time| Timestamp(time.nanos()))
}

fn refused_question(order: OrderId, reason: &str) -> Vec<InboundMeaning> {
    unclear(Some(order), format!("the venue refused the question about the order: {reason}"))
}

fn not_found(order: OrderId, question: Question) -> Vec<InboundMeaning> {
    inquiry(order, question, InquiryResult::NotFound, None)
}

fn inquiry(
    order: OrderId,
    question: Question,
    result: InquiryResult,
    filled: Option<FilledTotal>,
) -> Vec<InboundMeaning> {
    report(ReportKind::Inquiry(InquiryAnswer {
        order,
        as_of: question.as_of,
        dead_after: None,
        result,
        other_legs: None,
        filled: filled.map(Box::new),
    }))
}

pub(crate) fn venue_state(state: OrdState) -> VenueOrderState {
    match state {
        OrdState::Canceled => VenueOrderState::Canceled,
        OrdState::Expired => VenueOrderState::Expired,
        OrdState::Rejected => VenueOrderState::Rejected,
        OrdState::PendingNew
        | OrdState::New
        | OrdState::PartiallyFilled
        | OrdState::Filled
        | OrdState::PendingRequest
        | OrdState::Working
        | OrdState::DoneForDay => VenueOrderState::Live,
    }
}
