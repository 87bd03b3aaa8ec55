//! Trade capture: executions (AE) that answer a question, of one order or of the account since an instant.

use domain::report::VenueFill;
use domain::{OrderId, Price, Quantity, Text, Timestamp};
use fix::{FixDecoder, FixMessage};

use crate::account::open_captures::{CAPTURE_PREFIX, CaptureStep, Captured, TakenBack};
use crate::execution::{decimal, liquidity};
use crate::order_chains::ReportedFill;
use crate::reports::{FixTranslator, InboundMeaning, unclear};
use crate::requests::QuestionId;

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
                let captured = self.captured(message);
                self.captures.on_report(number, captured, message)
            }
        }
    }

    /// What the answer of an inquiry means, where its last message has come.
    pub(crate) fn on_captured(&mut self, step: CaptureStep) -> Vec<InboundMeaning> {
        let CaptureStep::Done { number, order: Some(order), captured } = step else { return Vec::new() };
        let chain = self.chains.chain(order);
        if chain.questions.front().and_then(|question| question.capture) != Some(number) {
            return Vec::new();
        }
        chain.captured = Some(captured.unwrap_or_default());
        let Some(frame) = chain.held_status.take() else { return Vec::new() };
        let mut decoder = FixDecoder::new();
        match decoder.decode(&frame) {
            // It may have been the last one of a list, which has ended once.
            Ok(status) => self.on_order_report(&status),
            Err(_) => unclear(Some(order), "the status of the order cannot be read".to_owned()),
        }
    }

    /// The request was refused as a message: what is known of the order is all that there is.
    pub(crate) fn on_capture_refused(&mut self, order: OrderId) -> Vec<InboundMeaning> {
        match self.captures.of_order(order) {
            Some(number) => {
                let _ = self.captures.end(number);
                self.on_captured(CaptureStep::Done { number, order: Some(order), captured: None })
            }
            None => Vec::new(),
        }
    }

    /// What a report (AE) says of our orders: a trade of ours with ourselves has two sides.
    fn captured(&self, message: &FixMessage<'_>) -> Result<Captured, String> {
        let sides = message.fields().filter(|field| field.tag == 11);
        let ours = sides.filter_map(|field| self.ids().read(std::str::from_utf8(field.value).ok()?));
        let mut captured = Captured::default();
        for id in ours {
            let (by, exec_id) = match (message.text(487), message.text(150)) {
                // One that is released or reversed (3, 4) could be booked twice, or not taken back.
                (Some(code), _) if !matches!(code, "0" | "1" | "2" | "5") => {
                    return Err(format!("TradeReportTransType (487) is '{}', which is not known", code.escape_debug()));
                }
                (Some("1" | "5"), _) | (_, Some("H")) => {
                    (None, self.taken_back_id(message).or_else(|| self.captured_exec_id(message)))
                }
                (Some("2"), _) | (_, Some("G")) => {
                    (Some(self.captured_fill(id.order, message)?), self.taken_back_id(message))
                }
                _ => (Some(self.captured_fill(id.order, message)?), None),
            };
            captured.fills.extend(by.clone());
            let (at, told_by) = (message.time(60).map(|time| Timestamp(time.nanos())), self.captured_exec_id(message));
            let taken_back = exec_id.map(|exec_id| TakenBack { order: id.order, exec_id, by, at, told_by });
            captured.taken_back.extend(taken_back);
        }
        Ok(captured)
    }

    /// The execution that does not count any more: ExecRefID (19) where the venue has it here, else TradeReportRefID (572), which names a
    /// report by the id of its execution.
    fn taken_back_id(&self, message: &FixMessage<'_>) -> Option<Text> {
        let id = message.text(19).or_else(|| message.text(572)).filter(|id| !id.is_empty())?;
        Some(self.scoped(message, id)?.as_ref().into())
    }

    pub(crate) fn captured_exec_id(&self, message: &FixMessage<'_>) -> Option<Text> {
        let exec_id = message.text(self.dialect.executions.exec_id_tag).filter(|id| !id.is_empty())?;
        Some(self.scoped(message, exec_id)?.as_ref().into())
    }

    fn captured_fill(&self, order: OrderId, message: &FixMessage<'_>) -> Result<VenueFill, String> {
        let missing = |name: &str| format!("an execution without {name}");
        let exec_id = self.captured_exec_id(message).ok_or_else(|| missing("its id"))?;
        let quantity = decimal(message, 32)?.map(Quantity).filter(|quantity| quantity.is_positive());
        let (fee, charges) = self.charges(message);
        Ok(VenueFill {
            order,
            exec_id,
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
    ReportedFill { in_snapshot, ..ReportedFill::listed(fill) }
}

/// What they filled together; nothing where that is no quantity.
pub(crate) fn filled_by(fills: &[VenueFill]) -> Option<Quantity> {
    fills.iter().try_fold(Quantity::ZERO, |sum, fill| sum.plus(fill.quantity).ok())
}
