//! Trade capture: executions by a Trade Capture Report Request (AD), of one order or of the account since an instant. An answer counts
//! when its last report has come; half of one is none.

use std::collections::BTreeMap;

use domain::report::VenueFill;
use domain::{OrderId, Price, Quantity, Timestamp, WireId};
use fix::{FixDecoder, FixMessage, OutgoingMessage};

use crate::dialect::Dialect;
use crate::execution::decimal;
use crate::order_chains::ReportedFill;
use crate::reports::{FixTranslator, InboundMeaning, liquidity, unclear};
use crate::requests::{ClientIds, QuestionId, RequestKind, RequestRefusal, utc, write_constants};

/// First letter of TradeRequestID (568).
pub(crate) const CAPTURE_PREFIX: char = 'T';
/// Digits of a date: `20260105`.
pub(crate) const DATE_DIGITS: usize = 8;
/// Executions of one answer; a longer one is not used.
pub const CAPTURED_FILLS_MAX: usize = 100_000;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureScope {
    /// By the id under which the venue knows it.
    Order(WireId),
    /// All orders, executed at this instant or later.
    Since(Timestamp),
}

/// Asks for executions.
pub fn trade_capture(
    dialect: &Dialect,
    ids: &ClientIds,
    id: QuestionId,
    scope: CaptureScope,
) -> Result<OutgoingMessage, RequestRefusal> {
    let mut message = OutgoingMessage::new(RequestKind::TradeCapture.msg_type());
    message.field(568, id.text(CAPTURE_PREFIX)).field(569, "1");
    match scope {
        CaptureScope::Order(order) => drop(message.field(11, ids.write(order)?)),
        CaptureScope::Since(from) => {
            let mut time = Vec::new();
            utc(from).write(dialect.session.time_digits, &mut time);
            // The date begins the entry.
            message.field(580, "1").member(75, &time[..time.len().min(DATE_DIGITS)]).member(60, &time);
        }
    }
    write_constants(dialect, RequestKind::TradeCapture, &mut message)?;
    Ok(message)
}

/// Answers that have begun, or are waited for.
#[derive(Debug, Default)]
pub(crate) struct OpenCaptures(BTreeMap<u64, OpenCapture>);

#[derive(Debug, Default)]
struct OpenCapture {
    /// Of the account where absent.
    order: Option<OrderId>,
    fills: Vec<VenueFill>,
    /// AE messages so far, also of orders that are not ours.
    reports: u64,
    total: Option<u64>,
    /// Something in it could not be read.
    is_spoilt: bool,
}

/// What a message of an answer brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CaptureStep {
    /// More has to come, or it is not ours.
    Waiting,
    /// All executions; none at all where the venue refused or what it sent cannot be used.
    Done { number: u64, order: Option<OrderId>, fills: Option<Vec<VenueFill>> },
}

impl OpenCaptures {
    pub(crate) fn begin(&mut self, id: QuestionId, order: Option<OrderId>) {
        self.0.insert(id.number, OpenCapture { order, ..OpenCapture::default() });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// An acknowledgement (AQ): how many reports come, or that none does.
    fn on_ack(&mut self, number: u64, message: &FixMessage<'_>) -> CaptureStep {
        let Some(open) = self.0.get_mut(&number) else { return CaptureStep::Waiting };
        let is_refused = message.text(750) == Some("2") || message.text(749).is_some_and(|result| result != "0");
        if is_refused {
            let reason = message.text(58).or(message.text(749)).unwrap_or_default();
            tracing::warn!(reason, "the venue does not tell executions");
            open.is_spoilt = true;
            return self.end(number);
        }
        open.total = message.number(748);
        match open.total == Some(0) || (message.text(750) == Some("1") && open.reports == 0 && open.total.is_none()) {
            true => self.end(number),
            false => CaptureStep::Waiting,
        }
    }

    fn on_report(
        &mut self,
        number: u64,
        fills: Result<Vec<VenueFill>, String>,
        message: &FixMessage<'_>,
    ) -> CaptureStep {
        let Some(open) = self.0.get_mut(&number) else { return CaptureStep::Waiting };
        open.reports += 1;
        open.total = message.number(748).or(open.total);
        match fills {
            Ok(fills) if open.fills.len() + fills.len() <= CAPTURED_FILLS_MAX => open.fills.extend(fills),
            Ok(_) => open.is_spoilt = true,
            Err(reason) => {
                tracing::error!(%reason, message = %fix::masked(message.bytes()), "an execution of the venue cannot be read");
                open.is_spoilt = true;
            }
        }
        match message.flag(912) || open.total == Some(open.reports) {
            true => self.end(number),
            false => CaptureStep::Waiting,
        }
    }

    fn end(&mut self, number: u64) -> CaptureStep {
        let Some(open) = self.0.remove(&number) else { return CaptureStep::Waiting };
        // Where reports are missing, executions may be.
        let is_whole = !open.is_spoilt && open.total.is_none_or(|total| total == open.reports);
        CaptureStep::Done { number, order: open.order, fills: is_whole.then_some(open.fills) }
    }

    /// The number of the open question about this order.
    fn of_order(&self, order: OrderId) -> Option<u64> {
        self.0.iter().find(|(_, open)| open.order == Some(order)).map(|(number, _)| *number)
    }
}

impl FixTranslator {
    /// Executions of an order, or of the account, are asked for.
    pub fn on_executions_asked(&mut self, id: QuestionId, order: Option<OrderId>) {
        self.captures.begin(id, order);
    }

    /// A message of an answer (AE, AQ).
    pub(crate) fn on_capture(&mut self, message: &FixMessage<'_>) -> CaptureStep {
        let id = message.text(568).and_then(|text| QuestionId::read(CAPTURE_PREFIX, text));
        let Some(number) = id.filter(|id| id.begun_millis == self.begun_millis).map(|id| id.number) else {
            return CaptureStep::Waiting;
        };
        match message.msg_type() {
            b"AQ" => self.captures.on_ack(number, message),
            _ => {
                let fills = self.captured_fills(message);
                self.captures.on_report(number, fills, message)
            }
        }
    }

    /// What the answer of an inquiry means, where its last message has come.
    pub(crate) fn on_captured(&mut self, step: CaptureStep) -> Vec<InboundMeaning> {
        let CaptureStep::Done { number, order: Some(order), fills } = step else { return Vec::new() };
        let chain = self.chains.chain(order);
        if chain.questions.front().and_then(|question| question.capture) != Some(number) {
            return Vec::new();
        }
        chain.captured = Some(fills.unwrap_or_default());
        let Some(frame) = chain.held_status.take() else { return Vec::new() };
        let mut decoder = FixDecoder::new();
        match decoder.decode(&frame) {
            Ok(status) => self.translate(&status).1,
            Err(_) => unclear(Some(order), "the status of the order cannot be read".to_owned()),
        }
    }

    /// The request was refused as a message: what is known of the order is all that there is.
    pub(crate) fn on_capture_refused(&mut self, order: OrderId) -> Vec<InboundMeaning> {
        match self.captures.of_order(order) {
            Some(number) => {
                let _ = self.captures.end(number);
                self.on_captured(CaptureStep::Done { number, order: Some(order), fills: None })
            }
            None => Vec::new(),
        }
    }

    /// The executions of a report (AE) that are of our orders: a trade of ours with ourselves has two sides.
    fn captured_fills(&self, message: &FixMessage<'_>) -> Result<Vec<VenueFill>, String> {
        let is_taken_back = message.text(487) == Some("1") || message.text(150) == Some("H");
        if is_taken_back {
            return Ok(Vec::new());
        }
        let sides = message.fields().filter(|field| field.tag == 11);
        let ours = sides.filter_map(|field| self.ids().read(std::str::from_utf8(field.value).ok()?));
        ours.map(|id| self.captured_fill(id.order, message)).collect()
    }

    fn captured_fill(&self, order: OrderId, message: &FixMessage<'_>) -> Result<VenueFill, String> {
        let missing = |name: &str| format!("an execution without {name}");
        let exec_id = message.text(self.dialect.executions.exec_id_tag).filter(|id| !id.is_empty());
        let exec_id = exec_id.and_then(|id| self.scoped(message, id)).ok_or_else(|| missing("its id"))?;
        let quantity = decimal(message, 32)?.map(Quantity).filter(|quantity| quantity.is_positive());
        let (fee, charges) = self.charges(message);
        Ok(VenueFill {
            order,
            exec_id: exec_id.as_ref().into(),
            quantity: quantity.ok_or_else(|| missing("LastQty (32)"))?,
            price: decimal(message, 31)?.map(Price).ok_or_else(|| missing("LastPx (31)"))?,
            at: message.time(60).map(|time| Timestamp(time.nanos())),
            fee,
            charges,
            ext_order: None,
            liquidity: liquidity(message),
        })
    }
}

/// As it is kept of an order.
pub(crate) fn reported_fill(fill: &VenueFill, in_snapshot: bool) -> ReportedFill {
    ReportedFill {
        exec_id: fill.exec_id.to_string(),
        reported: fill.exec_id.to_string(),
        quantity: fill.quantity,
        at: fill.at,
        is_void: false,
        in_snapshot,
    }
}

/// What they filled together; nothing where that is no quantity.
pub(crate) fn filled_by(fills: &[VenueFill]) -> Option<Quantity> {
    fills.iter().try_fold(Quantity::ZERO, |sum, fill| sum.plus(fill.quantity).ok())
}
