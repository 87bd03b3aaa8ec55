//! Refusals of requests: Order Cancel Reject (9), Reject (3), Business Message Reject (j), and an Execution Report (8) that rejects. Only
//! what is certainly the refusal of a New Order (D) rejects an order: questions (H, AD) carry its id too.

use domain::report::ReportKind;
use domain::{OrderId, Text, WireId};
use fix::FixMessage;
use fix::tag::Tag;

use crate::dialect::{OrderNaming, OrderQuery};
use crate::execution::ExecutionFields;
use crate::order_chains::OrderChain;
use crate::reports::{FixTranslator, InboundMeaning, report, unclear};
use crate::requests::RequestKind;

impl FixTranslator {
    /// A cancel or a replace was refused, and never an order: where the kind is not told, the one that was sent with that id.
    pub(crate) fn on_cancel_reject(&mut self, message: &FixMessage<'_>) -> Vec<InboundMeaning> {
        let tag = if self.dialect.ids.naming == OrderNaming::Venue { 41 } else { 11 };
        let Some(id) = message.text(tag).and_then(|text| self.ids.read(text)) else {
            let id = message.text(tag).unwrap_or_default().to_owned();
            return vec![InboundMeaning::Foreign { id }];
        };
        let id = self.request_meant(id);
        let kind = match message.text(434) {
            Some("1") => Some(RequestKind::Cancel),
            Some("2") => Some(RequestKind::Replace),
            _ => self.sent_kind(id).filter(|kind| kind.changes_order()),
        };
        let is_doubtful = self.is_order_doubtful(id.order, message);
        self.refuse_change(id, kind, reject_reason(message, "CxlRejReason", 102), is_doubtful)
    }

    /// A doubtful order is asked about, where the venue can be asked.
    fn refuse_change(
        &mut self,
        id: WireId,
        kind: Option<RequestKind>,
        reason: Text,
        is_doubtful: bool,
    ) -> Vec<InboundMeaning> {
        let mut meanings = self.refuse(id, kind, reason);
        let has_ended = self.chains.get(id.order).is_some_and(|chain| chain.has_ended);
        let is_asked = is_doubtful && !has_ended && self.dialect.recovery.orders != OrderQuery::None;
        if !meanings.is_empty() && is_asked {
            let reason = "the venue refused a request about the order, and may not have it as it is here".into();
            meanings.extend(report(ReportKind::DeliveryUnknown { order: id.order, reason, dead_after: None }));
        }
        meanings
    }

    /// Too late (0) or unknown (1): the order may have ended, or the request named it by an id that is not the venue's, which is a guess
    /// until something of the order was heard. Without a question each further cancel would be refused in the same way.
    fn is_order_doubtful(&self, order: OrderId, message: &FixMessage<'_>) -> bool {
        let is_guess = self.chains.get(order).is_none_or(|chain| chain.known.is_none());
        is_guess || matches!(message.text(102), Some("0" | "1"))
    }

    /// A report (8) that rejects. It names a replace or a cancel at some venues: then that is refused, and the order is asked about, because
    /// OrdStatus (39) says that it is rejected.
    pub(crate) fn on_rejected(
        &mut self,
        message: &FixMessage<'_>,
        id: WireId,
        fields: &ExecutionFields<'_>,
    ) -> Vec<InboundMeaning> {
        let chain = self.chains.get(id.order);
        let is_heard = chain.is_some_and(OrderChain::is_heard);
        // It was sent twice, and the first one is known to be there.
        if fields.is_duplicate() && is_heard {
            return Vec::new();
        }
        if fields.is_duplicate() {
            let reason = "the venue refused the order as a duplicate: it has the first one";
            return unclear(Some(id.order), reason.to_owned());
        }
        let reason = reject_reason(message, "OrdRejReason", 103);
        // There all requests have the id of the order.
        let is_new = self.dialect.ids.naming == OrderNaming::Venue && !is_heard;
        match self.sent_kind(id) {
            Some(kind) if kind.changes_order() && !is_new => self.refuse_change(id, Some(kind), reason, true),
            // From before the start, and a replace or a cancel most likely.
            None if id.request > 0 => self.refuse(id, None, reason),
            _ => {
                self.chains.end(id.order);
                report(ReportKind::Rejected { order: id.order, reason })
            }
        }
    }

    /// Names the request by its number (45), or by its id (379).
    pub(crate) fn on_reject(&mut self, message: &FixMessage<'_>) -> Vec<InboundMeaning> {
        let by_number = message.number(45).and_then(|number| self.chains.sent(number));
        let by_id = message.text(379).and_then(|text| self.ids.read(text));
        let reason = reject_reason(message, "reason", if message.msg_type() == b"3" { 373 } else { 380 });
        match (by_number, by_id) {
            (Some(sent), _) => self.refuse(self.request_meant(sent.id), Some(sent.kind), reason),
            (None, Some(id)) => {
                let id = self.request_meant(id);
                match self.refused_kind(message, id) {
                    // Of an earlier connection: the question that is open now was not refused by it.
                    Some(kind) if message.flag(43) && kind != RequestKind::New && !kind.changes_order() => Vec::new(),
                    kind => self.refuse(id, kind, reason),
                }
            }
            (None, None) => unclear(None, format!("the venue refused a message: {reason}")),
        }
    }

    /// What kind of request a refusal means that names it by its id alone. RefMsgType (372) says it; without it the id of a New Order (D)
    /// can be that of a question, where questions carry it.
    fn refused_kind(&self, message: &FixMessage<'_>, id: WireId) -> Option<RequestKind> {
        let sent = self.sent_kind(id);
        let is_shared = self.dialect.recovery.orders == OrderQuery::Status || self.dialect.recovery.trades;
        let Some(code) = message.text(372) else {
            return sent.filter(|kind| *kind != RequestKind::New || !is_shared);
        };
        // Where the id is that of one request alone, it was no other one.
        let is_certain = self.dialect.ids.naming == OrderNaming::Venue || sent.is_none_or(|sent| !sent.changes_order());
        RequestKind::of(code).filter(|kind| *kind != RequestKind::New || is_certain)
    }

    fn sent_kind(&self, id: WireId) -> Option<RequestKind> {
        self.chains.get(id.order)?.kind(id.request)
    }

    /// Whether a refused message (3, j) was about an order.
    pub(crate) fn names_request(&self, message: &FixMessage<'_>) -> bool {
        let by_number = message.number(45).and_then(|number| self.chains.sent(number));
        by_number.is_some() || message.text(379).and_then(|text| self.ids.read(text)).is_some()
    }

    /// Why the venue refuses a mass status (AF); none where it lists orders, or has none.
    pub(crate) fn refused_list(&self, message: &FixMessage<'_>) -> Option<Text> {
        let fields = ExecutionFields::read(&self.dialect, message).ok()?;
        fields.is_refused_question().then(|| reject_reason(message, "OrdRejReason", 103))
    }

    fn refuse(&mut self, id: WireId, kind: Option<RequestKind>, reason: Text) -> Vec<InboundMeaning> {
        let order = id.order;
        match kind {
            Some(RequestKind::New) => self.refuse_order(order, reason),
            // Another request of its kind is pending, and not refused by this.
            Some(kind @ (RequestKind::Cancel | RequestKind::Replace)) if self.is_superseded(id, kind) => Vec::new(),
            Some(RequestKind::Cancel) => report(ReportKind::CancelRejected { order, reason }),
            Some(RequestKind::Replace) => report(ReportKind::ReplaceRejected { order, reason }),
            // A question that is refused has no answer.
            Some(RequestKind::TradeCapture) => self.on_capture_refused(order),
            Some(RequestKind::Status | RequestKind::MassStatus | RequestKind::Positions | RequestKind::MarketData) => {
                self.chains.chain(order).questions.clear();
                Vec::new()
            }
            None if self.is_superseded(id, RequestKind::New) => Vec::new(),
            None => {
                let text = format!("the venue refused a request, and which one is not certain: {reason}");
                unclear(Some(order), text)
            }
        }
    }

    /// One that the venue has told of lives: what was refused is a second copy of it.
    fn refuse_order(&mut self, order: OrderId, reason: Text) -> Vec<InboundMeaning> {
        let chain = self.chains.chain(order);
        if chain.known.is_some() || !chain.fills.is_empty() {
            return unclear(Some(order), format!("the venue refused an order that it has accepted: {reason}"));
        }
        self.chains.end(order);
        report(ReportKind::Rejected { order, reason })
    }
}

/// The venue's text, else its code.
pub(crate) fn reject_reason(message: &FixMessage<'_>, name: &str, tag: Tag) -> Text {
    match (message.text(58), message.text(tag)) {
        (Some(text), _) if !text.is_empty() => text.into(),
        (_, Some(code)) => format!("{name} ({tag}) {code}").into(),
        _ => "rejected by the venue".into(),
    }
}
