//! Execution Reports and Order Cancel Rejects.

use domain::order::{ClientView, ExecType, OrdStatus, OrderStatus, OrderTerms};
use domain::{
    AccountId, Liquidity, Order, OrderProperties, Price, Quantity, ReferenceData, SecurityId, Side, Source, StrategyId,
    TimeInForce, Timestamp,
};
use fix::tag::Tag;
use fix::{OutgoingMessage, UtcTimestamp};

use super::exec_id::ExecIds;
use super::field::{self, ord_status};
use super::reject_codes;
use crate::limits::TEXT_CHARS_MAX;

/// Report options of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExecTypeProfile {
    /// `StandardExecTypes=Y`: ExecTypes that the specification's list does not have.
    pub(crate) standard: bool,
}

/// The content of an Execution Report.
pub(super) struct ExecutionReport<'a> {
    pub(super) exec_id: &'a str,
    pub(super) exec_type: &'static str,
    pub(super) status: OrdStatus,
    pub(super) order_id: &'a str,
    pub(super) cl_ord_id: &'a str,
    pub(super) orig_cl_ord_id: Option<&'a str>,
    pub(super) account: AccountId,
    pub(super) security: SecurityId,
    pub(super) side: Side,
    pub(super) terms: OrderTerms,
    pub(super) properties: OrderProperties,
    pub(super) filled: Quantity,
    pub(super) remaining: Quantity,
    pub(super) average: Option<Price>,
    pub(super) last: Option<(Quantity, Price)>,
    pub(super) liquidity: Option<Liquidity>,
    pub(super) text: Option<String>,
    pub(super) at: Timestamp,
}

/// The ids of a report.
#[derive(Debug)]
pub(crate) struct ReportIds {
    exec_id: String,
    /// Of the execution that is busted or corrected.
    exec_ref_id: Option<String>,
}

impl ReportIds {
    /// Of the order event with this index among those of an input.
    pub(crate) fn for_status(
        ids: ExecIds,
        status: &OrderStatus,
        view: &ClientView,
        (sequence, place): (u64, u32),
    ) -> Self {
        let execution = |id: &str| ids.for_execution(status.order.0, id);
        let exec_id = view.exec_id.as_deref().map_or_else(|| ids.for_event(sequence, place), execution);
        Self { exec_id, exec_ref_id: view.exec_ref_id.as_deref().map(execution) }
    }
}

/// The report of a change: an Execution Report, or where a request of the client was refused, an Order Cancel Reject.
pub(crate) fn report(
    status: &OrderStatus,
    view: &ClientView,
    reference: &ReferenceData,
    profile: ExecTypeProfile,
    ids: &ReportIds,
) -> OutgoingMessage {
    match (status.exec_type, &status.request) {
        (ExecType::CancelRejected | ExecType::ReplaceRejected, Some(request)) => cancel_reject(status, view, request),
        _ => execution_report(status, view, reference, profile, ids),
    }
}

/// A copy of the report for somebody else. Where a request of the client was refused it is the state of the order: the refusal is for
/// the client alone.
pub(crate) fn copy_of_report(
    status: &OrderStatus,
    view: &ClientView,
    reference: &ReferenceData,
    profile: ExecTypeProfile,
    ids: &ReportIds,
) -> OutgoingMessage {
    let mut copy = execution_report(status, view, reference, profile, ids);
    let source = view.source().unwrap_or(Source::Platform);
    mark_copy(&mut copy, &source, status.strategy, reference);
    copy
}

/// Adds what a drop copy has beside the report: CopyMsgIndicator (797), and whose order it is (453). One party alone, and no tag twice: an engine
/// without a dictionary would reject a repeated one.
pub(crate) fn mark_copy(
    report: &mut OutgoingMessage,
    source: &Source,
    strategy: StrategyId,
    reference: &ReferenceData,
) {
    report.field(field::COPY_MSG_INDICATOR, "Y");
    let interface = source.session().map_or_else(|| source.to_string(), ToString::to_string);
    report.number(field::NO_PARTY_IDS, 1).member(field::PARTY_ID, printable_text(&interface));
    report.member(field::PARTY_ID_SOURCE, field::PROPRIETARY).member(field::PARTY_ROLE, field::ORIGINATION_FIRM);
    if let Some(strategy) = reference.strategies.get(&strategy) {
        report.member(field::NO_PARTY_SUB_IDS, "1").member(field::PARTY_SUB_ID, printable_text(&strategy.name));
        report.member(field::PARTY_SUB_ID_TYPE, field::APPLICATION);
    }
}

fn execution_report(
    status: &OrderStatus,
    view: &ClientView,
    reference: &ReferenceData,
    profile: ExecTypeProfile,
    ids: &ReportIds,
) -> OutgoingMessage {
    let accepted = view.cl_ord_id.as_deref();
    let request = status.request.as_deref();
    let execution = ExecutionReport {
        exec_id: &ids.exec_id,
        exec_type: exec_type(status.exec_type, status.status, request.is_some(), profile),
        status: status.status,
        order_id: status.int_id.as_str(),
        cl_ord_id: request.or(accepted).unwrap_or(status.int_id.as_str()),
        orig_cl_ord_id: accepted.filter(|_| request.is_some() && status.exec_type != ExecType::PendingNew),
        account: view.account,
        security: view.security,
        side: view.side,
        terms: view.terms,
        properties: view.properties,
        filled: status.filled,
        remaining: status.remaining,
        average: status.avg_price,
        last: status.last_quantity.zip(status.last_price),
        liquidity: view.liquidity,
        text: text(status, view),
        at: status.at,
    };
    let mut report = execution.encode(reference);
    if let Some(id) = &ids.exec_ref_id {
        report.field(field::EXEC_REF_ID, id.as_str());
    }
    if status.exec_type == ExecType::Rejected {
        report.number(field::ORD_REJ_REASON, reject_codes::VENUE_REFUSED);
    }
    if profile.standard
        && !is_client_requested(status)
        && matches!(status.exec_type, ExecType::Canceled | ExecType::Expired | ExecType::Replaced)
    {
        report.number(field::EXEC_RESTATEMENT_REASON, exec_restatement_reason(view));
    }
    report
}

/// Whether the client requested it, or no request for it exists.
fn is_client_requested(status: &OrderStatus) -> bool {
    status.request.is_some() || !is_request_step(status.exec_type)
}

/// Whether it begins or ends a request.
fn is_request_step(step: ExecType) -> bool {
    matches!(
        step,
        ExecType::PendingCancel
            | ExecType::CancelRejected
            | ExecType::Canceled
            | ExecType::Expired
            | ExecType::PendingReplace
            | ExecType::ReplaceRejected
            | ExecType::Replaced
    )
}

fn exec_type(step: ExecType, status: OrdStatus, was_asked: bool, profile: ExecTypeProfile) -> &'static str {
    match step {
        ExecType::PendingNew => "A",
        // A fill that overtook the confirmation has reported more already.
        ExecType::New if matches!(status, OrdStatus::PartiallyExecuted | OrdStatus::Executed) => "I",
        ExecType::New => "0",
        ExecType::Rejected => "8",
        ExecType::PartialFill | ExecType::Fill => "F",
        ExecType::PendingCancel => "6",
        ExecType::PendingReplace => "E",
        ExecType::Canceled | ExecType::Expired if profile.standard => "4",
        ExecType::Replaced if profile.standard && was_asked => "5",
        ExecType::Replaced if profile.standard => "D",
        ExecType::TradeCancel if profile.standard => "H",
        ExecType::TradeCorrect if profile.standard => "G",
        ExecType::Canceled
        | ExecType::Expired
        | ExecType::Replaced
        | ExecType::TradeCancel
        | ExecType::TradeCorrect
        | ExecType::CancelRejected
        | ExecType::ReplaceRejected
        | ExecType::InDoubt
        | ExecType::DoubtResolved => "I",
    }
}

/// The venue's reason and, without a request of the client, the originator.
fn text(status: &OrderStatus, view: &ClientView) -> Option<String> {
    let reason = status.reason.as_deref().map(str::to_owned);
    if is_client_requested(status) {
        return reason;
    }
    let cause = requested_by(view);
    Some(reason.map_or_else(|| cause.clone(), |reason| format!("{reason} ({cause})")))
}

fn requested_by(view: &ClientView) -> String {
    let door = match &view.requested_by {
        None => "by the venue",
        Some(Source::Rest) => "asked for by REST",
        Some(Source::Ui) => "asked for in the UI",
        Some(Source::Strategy) => "asked for by a strategy",
        // Without a request of the order's own.
        Some(Source::Fix(_)) => "asked for by a mass cancel",
        Some(Source::Platform | Source::External) => "asked for by the platform",
    };
    view.on_behalf_of.as_ref().map_or_else(|| door.to_owned(), |name| format!("{door}, {name}"))
}

/// ExecRestatementReason (378): the venue's option, or the broker's.
fn exec_restatement_reason(view: &ClientView) -> u64 {
    if view.requested_by.is_none() { 8 } else { 4 }
}

/// The state of an order, after a reconnect: with the text of the last missed event.
pub(crate) fn order_state_report(
    order: &Order,
    missed: Option<&OrderStatus>,
    at: Timestamp,
    reference: &ReferenceData,
    exec_id: &str,
) -> OutgoingMessage {
    let told = missed.and_then(|status| text(status, status.client.as_deref()?));
    let text = told.or_else(|| order.reason.as_deref().map(str::to_owned));
    order_status_as(order, accepted_cl_ord_id(order), "I", text, at, reference, exec_id)
}

/// The state of an order, on request.
pub(crate) fn order_status_report(
    order: &Order,
    at: Timestamp,
    reference: &ReferenceData,
    exec_id: &str,
) -> OutgoingMessage {
    order_status_as(
        order,
        accepted_cl_ord_id(order),
        "I",
        order.reason.as_deref().map(str::to_owned),
        at,
        reference,
        exec_id,
    )
}

/// An order of another interface is named by its id on the platform.
fn accepted_cl_ord_id(order: &Order) -> &str {
    order.cl_ord_id.as_deref().unwrap_or(order.int_id.as_str())
}

pub(super) fn order_status_as(
    order: &Order,
    cl_ord_id: &str,
    exec_type: &'static str,
    text: Option<String>,
    at: Timestamp,
    reference: &ReferenceData,
    exec_id: &str,
) -> OutgoingMessage {
    let execution = ExecutionReport {
        exec_id,
        exec_type,
        status: order.status(),
        order_id: order.int_id.as_str(),
        cl_ord_id,
        orig_cl_ord_id: None,
        account: order.account,
        security: order.security,
        side: order.side,
        terms: order.terms,
        properties: order.properties,
        filled: order.filled,
        remaining: order.remaining(),
        average: order.avg_price(),
        last: None,
        liquidity: None,
        text,
        at,
    };
    execution.encode(reference)
}

impl ExecutionReport<'_> {
    pub(super) fn encode(&self, reference: &ReferenceData) -> OutgoingMessage {
        let mut report = OutgoingMessage::new("8");
        report.field(field::EXEC_ID, self.exec_id).field(field::EXEC_TYPE, self.exec_type);
        report.field(field::ORD_STATUS, ord_status(self.status));
        report.field(field::ORDER_ID, self.order_id).field(field::CL_ORD_ID, self.cl_ord_id);
        if let Some(orig) = self.orig_cl_ord_id {
            report.field(field::ORIG_CL_ORD_ID, orig);
        }
        report.number(field::ACCOUNT, self.account.0).field(field::SIDE, field::side(self.side));
        self.write_security(reference, &mut report);
        self.write_terms(&mut report);
        self.write_properties(&mut report);
        self.write_quantities(&mut report);
        write_utc(&mut report, field::TRANSACT_TIME, self.at);
        if let Some(text) = &self.text {
            report.field(field::TEXT, printable_text(text));
        }
        report
    }

    fn write_security(&self, reference: &ReferenceData, report: &mut OutgoingMessage) {
        report.number(field::SECURITY_ID, self.security.0);
        let security = reference.securities.get(&self.security);
        report.field(field::SYMBOL, security.map_or(field::NONE, |security| &security.symbol));
        if let Some(kind) = security.and_then(|security| field::security_type(&security.kind)) {
            report.field(field::SECURITY_TYPE, kind);
        }
    }

    fn write_terms(&self, report: &mut OutgoingMessage) {
        let OrderTerms { quantity, kind, tif } = &self.terms;
        report.display(field::ORDER_QTY, quantity).field(field::ORD_TYPE, field::ord_type(kind.order_type()).0);
        if let Some(limit) = kind.limit() {
            report.display(field::PRICE, limit);
        }
        if let Some(stop) = kind.stop() {
            report.display(field::STOP_PX, stop);
        }
        report.field(field::TIME_IN_FORCE, field::time_in_force(*tif));
        if let TimeInForce::Gtd { until } = tif {
            write_utc(&mut *report, field::EXPIRE_TIME, *until);
        }
    }

    fn write_properties(&self, report: &mut OutgoingMessage) {
        let OrderProperties { post_only, display_quantity, min_quantity, reduce_only } = self.properties;
        let exec_inst = match (post_only, reduce_only) {
            (true, true) => Some("6 E"),
            (true, false) => Some(field::POST_ONLY),
            (false, true) => Some(field::REDUCE_ONLY),
            (false, false) => None,
        };
        if let Some(instructions) = exec_inst {
            report.field(field::EXEC_INST, instructions);
        }
        if let Some(least) = min_quantity {
            report.display(field::MIN_QTY, least);
        }
        if let Some(shown) = display_quantity {
            report.display(field::MAX_FLOOR, shown);
        }
    }

    fn write_quantities(&self, report: &mut OutgoingMessage) {
        report.display(field::CUM_QTY, self.filled).display(field::LEAVES_QTY, self.remaining);
        report.display(field::AVG_PX, self.average.unwrap_or(Price::ZERO));
        if let Some((quantity, price)) = self.last {
            report.display(field::LAST_QTY, quantity).display(field::LAST_PX, price);
        }
        if let Some(liquidity) = self.liquidity {
            report.field(field::LAST_LIQUIDITY_IND, field::last_liquidity_ind(liquidity));
        }
    }
}

/// A request that the venue has refused; the order has the status of the event.
fn cancel_reject(status: &OrderStatus, view: &ClientView, request: &str) -> OutgoingMessage {
    // Also where another pending request hides it in the status.
    let is_over = status.remaining.is_zero();
    let mut reject = OutgoingMessage::new("9");
    reject.field(field::ORDER_ID, status.int_id.as_str()).field(field::CL_ORD_ID, request);
    reject.field(field::ORIG_CL_ORD_ID, view.cl_ord_id.as_deref().unwrap_or(field::NONE));
    reject.field(field::ORD_STATUS, ord_status(status.status));
    let is_replace = status.exec_type == ExecType::ReplaceRejected;
    reject.number(field::CXL_REJ_RESPONSE_TO, if is_replace { 2 } else { 1 });
    reject.number(field::CXL_REJ_REASON, if is_over { reject_codes::TOO_LATE } else { reject_codes::OTHER });
    reject.display(field::ACCOUNT, view.account);
    write_utc(&mut reject, field::TRANSACT_TIME, status.at);
    if let Some(reason) = &status.reason {
        reject.field(field::TEXT, printable_text(reason));
    }
    reject
}

/// A time in FIX format, to the millisecond.
pub(crate) fn write_utc(report: &mut OutgoingMessage, tag: Tag, at: Timestamp) {
    report.time(tag, UtcTimestamp::from_nanos(at.0), 3);
}

/// A text that is valid in a field: unprintable characters become blanks, and one that is too long is cut.
pub(crate) fn printable_text(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
