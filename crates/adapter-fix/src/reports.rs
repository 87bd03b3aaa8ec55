//! Messages of the venue as reports to the engine: Execution Report (8), Order Cancel Reject (9), Reject (3), Business Message
//! Reject (j), Trade Capture Report (AE).

use std::borrow::Cow;

use domain::report::{ReportKind, VenueFill};
use domain::{Amount, Charge, ChargeKind, OrderId, PlantedBug, Quantity, Text, Timestamp, WireId};
use fix::FixMessage;

use crate::account::open_captures::OpenCaptures;
use crate::dialect::{Dialect, ExecIdRule, ExecKind, OrdState, OrderNaming, OrderQuery};
use crate::execution::{ExecutionFields, contradiction, decimal, liquidity, misc_fees, terms_of};
use crate::order_chains::{OrderChains, ReportedFill};
use crate::requests::{ClientIds, RequestKind};

/// What a message means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InboundMeaning {
    Report(ReportKind),
    /// Nothing may be concluded: it is an alarm, and the venue is asked about the order.
    Unclear {
        order: Option<OrderId>,
        reason: String,
    },
    /// An order that we did not place.
    Foreign {
        id: String,
    },
    /// The venue does not know the order by the id that it was asked by; it may know it by another one.
    AskAgain {
        order: OrderId,
    },
}

/// Translates the messages of one session.
pub struct FixTranslator {
    pub(crate) dialect: Dialect,
    pub(crate) ids: ClientIds,
    pub chains: OrderChains,
    pub(crate) captures: OpenCaptures,
    /// Of the adapter: answers to questions of an earlier one are not ours.
    pub begun_millis: u64,
    /// Reports come over two sessions, and the second copy of one says nothing new.
    has_drop_copy: bool,
}

impl FixTranslator {
    pub fn new(dialect: Dialect, instance: u64) -> Self {
        let ids = ClientIds::new(instance, dialect.ids.clone());
        let (chains, captures) = (OrderChains::default(), OpenCaptures::default());
        Self { dialect, ids, chains, captures, begun_millis: 0, has_drop_copy: false }
    }

    /// Whether the messages of a drop copy are translated too.
    pub fn with_drop_copy(self, has_drop_copy: bool) -> Self {
        Self { has_drop_copy, ..self }
    }

    pub(crate) fn has_drop_copy(&self) -> bool {
        self.has_drop_copy
    }

    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub fn ids(&self) -> &ClientIds {
        &self.ids
    }

    /// What a message means, with the venue's time; messages of other types mean nothing.
    pub fn translate(&mut self, message: &FixMessage<'_>) -> (Option<Timestamp>, Vec<InboundMeaning>) {
        let at = message.time(60).map(|time| Timestamp(time.nanos()));
        let meanings = match message.msg_type() {
            b"8" => self.on_execution(message),
            b"9" => self.on_cancel_reject(message),
            b"3" | b"j" => self.on_reject(message),
            b"AE" | b"AQ" => {
                let step = self.on_capture(message);
                self.on_captured(step)
            }
            _ => Vec::new(),
        };
        (at, meanings)
    }

    fn on_execution(&mut self, message: &FixMessage<'_>) -> Vec<InboundMeaning> {
        self.end_of_mass_status(message).unwrap_or_else(|| self.on_order_report(message))
    }

    /// Where the venue names orders by its own ids, ours is OrigClOrdID (41).
    pub(crate) fn named_order(&self, message: &FixMessage<'_>) -> Option<WireId> {
        [11, 41].into_iter().find_map(|tag| self.ids.read(message.text(tag)?))
    }

    pub(crate) fn on_order_report(&mut self, message: &FixMessage<'_>) -> Vec<InboundMeaning> {
        let ours = [11, 41].map(|tag| message.text(tag).and_then(|text| self.ids.read(text)));
        let fields = ExecutionFields::read(&self.dialect, message);
        let id = match ours {
            [Some(id), Some(other)] if id.order != other.order => {
                return unclear(Some(id.order), "ClOrdID (11) and OrigClOrdID (41) name two orders".to_owned());
            }
            [Some(id), _] | [None, Some(id)] => id,
            [None, None] => {
                let id = message.text(11).or_else(|| message.text(37)).unwrap_or_default().to_owned();
                return vec![InboundMeaning::Foreign { id }];
            }
        };
        match fields {
            Ok(fields) => self.interpret(message, id, &fields),
            Err(reason) => unclear(Some(id.order), reason),
        }
    }

    pub(crate) fn interpret(
        &mut self,
        message: &FixMessage<'_>,
        id: WireId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        let id = self.request_meant(id);
        if fields.kind == ExecKind::Status
            && let Some(question) = self.answered_question(message, id.order)
        {
            return self.answer(message, id, fields, question);
        }
        if let Some(reason) = contradiction(&self.dialect.executions, fields) {
            return unclear(Some(id.order), reason);
        }
        if self.is_second_copy(message, id.order, fields) {
            return Vec::new();
        }
        let mut meanings = self.on_fill_group(message, id.order, fields);
        let (missing, total) = (self.missing_by(id, fields), self.total_of_first_news(id, fields));
        meanings.extend(self.meaning_of(message, id, fields));
        meanings.extend(missing.or(total));
        meanings
    }

    /// Where the venue names orders by its own ids, what it says is about the newest request.
    pub(crate) fn request_meant(&self, id: WireId) -> WireId {
        let newest = || self.chains.get(id.order)?.kinds.last().map(|(request, _)| *request);
        match self.dialect.ids.naming {
            OrderNaming::Chain => id,
            OrderNaming::Venue => WireId { request: newest().unwrap_or(id.request), ..id },
        }
    }

    fn meaning_of(
        &mut self,
        message: &FixMessage<'_>,
        id: WireId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        let order = id.order;
        match self.meant(id, fields) {
            // The group had the executions.
            ExecKind::Trade if self.dialect.executions.fill_group => self.end_by_status(order, fields),
            ExecKind::PendingNew | ExecKind::Pending | ExecKind::Status => Vec::new(),
            ExecKind::New => {
                let chain = self.chains.chain(order);
                chain.known = chain.known.max(Some(id.request));
                report(ReportKind::Accepted { order, ext_id: fields.order_id.map(Text::from) })
            }
            ExecKind::Trade => self.on_trade(message, order, fields),
            ExecKind::Canceled | ExecKind::Expired => {
                self.chains.end(order);
                end_of(order, fields)
            }
            ExecKind::Rejected => self.on_rejected(message, id, fields),
            ExecKind::Replaced => self.on_replaced(message, id, fields),
            ExecKind::Restated => {
                let meanings = self.on_restated(message, order, fields);
                self.with_end(meanings, order, fields)
            }
            ExecKind::Bust => self.on_bust(message, order, fields),
            ExecKind::Correct => self.on_correction(message, order, fields),
        }
    }

    /// Both sessions tell the same ExecID (17), kind, status and quantity; an ExecID alone may be used again.
    fn is_second_copy(&mut self, message: &FixMessage<'_>, order: OrderId, fields: &ExecutionFields<'_>) -> bool {
        if !self.has_drop_copy || fields.kind == ExecKind::Status {
            return false;
        }
        let text = |tag| message.text(tag).unwrap_or_default();
        let copy = [17, 150, 39, 14].map(text).join("/");
        !text(17).is_empty() && !self.chains.chain(order).note_report(&copy)
    }

    /// At some venues a status report confirms a request.
    fn meant(&self, id: WireId, fields: &ExecutionFields<'_>) -> ExecKind {
        if fields.kind != ExecKind::Status || !self.dialect.executions.status_confirms {
            return fields.kind;
        }
        let chain = self.chains.get(id.order);
        let replaces = || chain.and_then(|chain| chain.kind(id.request)) == Some(RequestKind::Replace);
        let known = chain.and_then(|chain| chain.known);
        let names_by_venue = self.dialect.ids.naming == OrderNaming::Venue;
        match fields.condition.state {
            OrdState::Canceled => ExecKind::Canceled,
            OrdState::Expired => ExecKind::Expired,
            // The same id comes with every report: it confirms what was not confirmed before.
            state if names_by_venue && state.is_open() && known.is_none() => ExecKind::New,
            _ if names_by_venue && known >= Some(id.request) => ExecKind::Status,
            state if fields.orig_cl_ord_id.is_some() && state != OrdState::PendingRequest && replaces() => {
                ExecKind::Replaced
            }
            _ => ExecKind::Status,
        }
    }

    fn on_trade(
        &mut self,
        message: &FixMessage<'_>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        // Venues send executions of nothing at times.
        let Some(mut fill) = self.fill(message, order, fields) else { return self.end_by_status(order, fields) };
        let missing = self.missing_before(order, &fill, fields);
        let chain = self.chains.chain(order);
        if chain.is_in_snapshot(&fill.exec_id) {
            return self.end_by_status(order, fields);
        }
        // What is sent again may have been busted since.
        if chain.add_fill(reported(fields, &fill)) {
            chain.cum_qty = chain.cum_qty.max(fields.condition.cum_qty);
        } else if PlantedBug::RenameRepeatedFill.is_planted() {
            fill.exec_id = format!("{} again", fill.exec_id).into();
        }
        let mut meanings = self.with_end(report(ReportKind::Filled(fill)), order, fields);
        meanings.extend(missing.map(|reason| InboundMeaning::Unclear { order: Some(order), reason }));
        meanings
    }

    /// What an execution or new terms mean, and the end of the order behind it. Where they are unclear nothing is concluded.
    pub(crate) fn with_end(
        &mut self,
        mut meanings: Vec<InboundMeaning>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        if !meanings.iter().any(|meaning| matches!(meaning, InboundMeaning::Unclear { .. })) {
            meanings.extend(self.end_by_status(order, fields));
        }
        meanings
    }

    /// The end that OrdStatus (39) alone tells. None where it was told, and where nothing was left to be cancelled.
    fn end_by_status(&mut self, order: OrderId, fields: &ExecutionFields<'_>) -> Vec<InboundMeaning> {
        let condition = &fields.condition;
        if !matches!(condition.state, OrdState::Filled | OrdState::Canceled | OrdState::Expired) {
            return Vec::new();
        }
        let chain = self.chains.chain(order);
        let total = condition.order_qty.or(chain.terms.map(|terms| terms.quantity));
        let is_filled = total.zip(condition.cum_qty).is_some_and(|(total, filled)| filled >= total);
        let is_told = chain.has_ended;
        self.chains.end(order);
        if is_told || is_filled { Vec::new() } else { end_of(order, fields) }
    }

    /// CumQty (14) has more than what was reported: an execution is missing.
    fn missing_before(&self, order: OrderId, fill: &VenueFill, fields: &ExecutionFields<'_>) -> Option<String> {
        let (known, cum_qty) = (self.chains.get(order)?.cum_qty?, fields.condition.cum_qty?);
        let before = cum_qty.minus(fill.quantity).ok()?;
        (before > known).then(|| format!("{before} were filled before this execution, but only {known} were reported"))
    }

    /// A report that is no execution, and whose CumQty (14) has more than what was reported: an execution before it is missing. Where
    /// it is not known here what was reported, the engine compares.
    fn missing_by(&mut self, id: WireId, fields: &ExecutionFields<'_>) -> Option<InboundMeaning> {
        let kind = self.meant(id, fields);
        let (known, shown) = (self.chains.get(id.order)?.cum_qty?, fields.condition.cum_qty?);
        if !kind.is_of_order() || shown <= known {
            return None;
        }
        // Otherwise the answer of the venue is compared with what was reported, so that it concludes nothing without the execution.
        if !self.asks_over_fix() {
            self.chains.chain(id.order).cum_qty = Some(shown);
        }
        let reason = format!("the venue has filled {shown}, but only {known} were reported");
        Some(InboundMeaning::Unclear { order: Some(id.order), reason })
    }

    /// What was filled, where it is not known here what was reported before: the engine compares it with what is booked.
    fn total_of_first_news(&mut self, id: WireId, fields: &ExecutionFields<'_>) -> Option<InboundMeaning> {
        let (kind, quantity) = (self.meant(id, fields), fields.condition.cum_qty?);
        let told_now = match kind {
            ExecKind::Trade => fields.last_qty?,
            kind if kind.is_of_order() => Quantity::ZERO,
            _ => return None,
        };
        // Where an execution was taken back, a report may be from before that.
        let is_first = self.chains.get(id.order).is_none_or(|chain| chain.cum_qty.is_none() && chain.fills.is_empty());
        if !is_first || quantity <= told_now {
            return None;
        }
        if !self.asks_over_fix() {
            self.chains.chain(id.order).cum_qty = Some(quantity);
        }
        Some(InboundMeaning::Report(ReportKind::FilledInAll { order: id.order, quantity }))
    }

    fn asks_over_fix(&self) -> bool {
        matches!(self.dialect.recovery.orders, OrderQuery::Status | OrderQuery::MassStatus)
    }

    pub(crate) fn fill(
        &self,
        message: &FixMessage<'_>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
    ) -> Option<VenueFill> {
        let quantity = fields.last_qty.filter(|quantity| quantity.is_positive())?;
        let (fee, charges) = self.charges(message);
        Some(VenueFill {
            order,
            exec_id: self.exec_id(order, self.scoped(message, fields.exec_id?)?, fields).as_ref().into(),
            quantity,
            price: fields.last_px?,
            at: fields.at,
            fee,
            charges,
            ext_order: None,
            liquidity: liquidity(message),
        })
    }

    /// Where ExecIDs begin at 1 again, what was filled until then is part of the id; after a bust its time too.
    fn exec_id<'a>(&self, order: OrderId, exec_id: Cow<'a, str>, fields: &ExecutionFields<'_>) -> Cow<'a, str> {
        let (ExecIdRule::Repeat, Some(cum_qty)) = (self.dialect.executions.exec_ids, fields.condition.cum_qty) else {
            return exec_id;
        };
        let id = format!("{exec_id}@{}", cum_qty.0.normalize());
        let is_void = self.chains.get(order).is_some_and(|chain| chain.is_void(&id, fields.at));
        match fields.at.filter(|_| is_void) {
            Some(at) => format!("{id}@{}", at.0).into(),
            None => id.into(),
        }
    }

    /// Where ids are unique in a symbol alone, it stands before them.
    pub(crate) fn scoped<'a>(&self, message: &FixMessage<'_>, exec_id: &'a str) -> Option<Cow<'a, str>> {
        match self.dialect.executions.exec_ids_of_symbol {
            true => Some(format!("{}:{exec_id}", message.text(55)?).into()),
            false => Some(exec_id.into()),
        }
    }

    pub(crate) fn charges(&self, message: &FixMessage<'_>) -> (Option<Amount>, Vec<Charge>) {
        match self.dialect.executions.misc_fees {
            true => (None, misc_fees(message)),
            false => self.commission(message),
        }
    }

    /// An absolute commission (13=3): without its currency it is a fee in the security's.
    fn commission(&self, message: &FixMessage<'_>) -> (Option<Amount>, Vec<Charge>) {
        let is_absolute = message.get(13) == Some(b"3");
        let amount = decimal(message, 12).ok().flatten().filter(|_| self.dialect.executions.commission && is_absolute);
        let Some(amount) = amount.map(Amount) else { return (None, Vec::new()) };
        match message.text(479).and_then(|currency| currency.parse().ok()) {
            Some(currency) => (None, vec![Charge { amount, currency, kind: ChargeKind::ExecutionCommission }]),
            None => (Some(amount), Vec::new()),
        }
    }

    fn on_replaced(
        &mut self,
        message: &FixMessage<'_>,
        id: WireId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        if self.is_superseded(id, RequestKind::Replace) {
            return self.on_replaced_late(message, id);
        }
        let chain = self.chains.get(id.order);
        let base = chain.and_then(|chain| chain.asked_terms(id.request).or(chain.terms));
        let Some(terms) = terms_of(&self.dialect, message, base) else {
            return unclear(Some(id.order), "the order was replaced, and its terms are not told".to_owned());
        };
        let chain = self.chains.chain(id.order);
        chain.known = chain.known.max(Some(id.request));
        chain.terms = Some(terms);
        let ext_id = fields.order_id.map(Text::from);
        report(ReportKind::Replaced { order: id.order, terms, ext_id })
    }

    pub(crate) fn is_superseded(&self, id: WireId, kind: RequestKind) -> bool {
        self.chains.get(id.order).is_some_and(|chain| chain.is_superseded(id.request, kind))
    }

    /// A replace before the newest one. What is sent again was said before, or is part of the answer to the question about the order;
    /// otherwise one took effect that nobody waits for any more.
    fn on_replaced_late(&mut self, message: &FixMessage<'_>, id: WireId) -> Vec<InboundMeaning> {
        let chain = self.chains.chain(id.order);
        let is_told = chain.known >= Some(id.request) || message.flag(43) || message.flag(97);
        chain.known = chain.known.max(Some(id.request));
        if is_told {
            return Vec::new();
        }
        unclear(Some(id.order), "the order was replaced by a request that is not the newest".to_owned())
    }

    /// The venue itself changed the order; a stop that was triggered has the terms that it had.
    fn on_restated(
        &mut self,
        message: &FixMessage<'_>,
        order: OrderId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        let before = self.chains.get(order).and_then(|chain| chain.terms);
        let Some((before, terms)) = before.and_then(|base| Some((base, terms_of(&self.dialect, message, Some(base))?)))
        else {
            return unclear(Some(order), "the venue changed the order, and its terms before are not known".to_owned());
        };
        if terms == before {
            return Vec::new();
        }
        self.chains.chain(order).terms = Some(terms);
        report(ReportKind::Replaced { order, terms, ext_id: fields.order_id.map(Text::from) })
    }
}

pub(crate) fn reported(fields: &ExecutionFields<'_>, fill: &VenueFill) -> ReportedFill {
    ReportedFill {
        exec_id: fields.exec_id.unwrap_or_default().to_owned(),
        reported: fill.exec_id.to_string(),
        quantity: fill.quantity,
        at: fill.at,
        is_void: false,
        replaced_by: None,
        in_snapshot: false,
    }
}

/// As OrdStatus (39) says it.
fn end_of(order: OrderId, fields: &ExecutionFields<'_>) -> Vec<InboundMeaning> {
    let reason = fields.text.map(Text::from);
    match fields.condition.state {
        OrdState::Canceled => report(ReportKind::Canceled { order, reason }),
        OrdState::Expired => report(ReportKind::Expired { order, reason }),
        _ => Vec::new(),
    }
}

pub(crate) fn report(kind: ReportKind) -> Vec<InboundMeaning> {
    vec![InboundMeaning::Report(kind)]
}

pub(crate) fn unclear(order: Option<OrderId>, reason: String) -> Vec<InboundMeaning> {
    vec![InboundMeaning::Unclear { order, reason }]
}
