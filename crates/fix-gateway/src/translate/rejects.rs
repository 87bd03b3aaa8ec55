//! Rejects: answers to requests that changed no order, from our own checks or the engine's.

use domain::event::{MassCancelReport, RefusedCommand};
use domain::{Order, ReferenceData, Refusal, Timestamp};
use fix::{OutgoingMessage, tag};

use super::field::{self, ord_status};
use super::field_reader::{MessageReject, parse_decimal};
use super::messages::{RefusalForm, RequestMeaning, StatusClass};
use super::reject_codes;
use super::report::{ExecTypeProfile, order_status_as, printable_text, write_utc};
use super::request_echo::RequestEcho;
use crate::limits::REPEATED_CHARS_MAX;

/// Time and id of an answer.
pub(crate) struct ReplyContext<'a> {
    pub(crate) at: Timestamp,
    pub(crate) reference: &'a ReferenceData,
    pub(crate) profile: ExecTypeProfile,
    pub(crate) exec_id: &'a str,
}

/// The engine refused the command.
pub(crate) fn command_rejected(refused: &RefusedCommand, answering: &ReplyContext<'_>) -> OutgoingMessage {
    let echo = RequestEcho::decode(refused.origin.request_echo.as_deref().unwrap_or_default());
    let text = format!("{}: {}", refused.code, refused.text);
    let order = refused.order.as_deref();
    let form = echo.refused_with();
    if form == RefusalForm::MassCancelReport {
        return mass_cancel_report(&echo, Err(&MessageReject::other(&refused.code, &refused.text)), answering.at);
    }
    if let Some((reason, order)) = refused.refused_before.as_deref().zip(order) {
        return repeated_reject(&echo, order, reason, answering.at);
    }
    // An unreadable order under the id of a live one, or of one that it may repeat, is the same order.
    let is_again = refused.is_repeated || (form == RefusalForm::RejectedOrder && echo.may_be_resent());
    match order.filter(|known| &*refused.code == "duplicate-order" || is_again || known.is_open()) {
        Some(known) if is_again => repeated_status(&echo, known, answering),
        _ if matches!(form, RefusalForm::CancelReject(_)) => {
            cancel_reject(&echo, order, reject_codes::cxl_rej_reason(&refused.code), &text, answering.at)
        }
        Some(known) if &*refused.code == "duplicate-order" => duplicate_cl_ord_id(&echo, known, text, answering),
        Some(known) => {
            let text = format!("{text}; order {} stays as it is", known.int_id);
            duplicate_cl_ord_id(&echo, known, text, answering)
        }
        None => rejected_order(&echo, reject_codes::ord_rej_reason(&refused.code, &refused.text), &text, answering),
    }
}

/// A message that could not become a command. The state of its order is not known here and not reported.
pub(crate) fn locally_rejected(
    echo: &RequestEcho,
    number: u64,
    reject: &MessageReject,
    answering: &ReplyContext<'_>,
) -> OutgoingMessage {
    match echo.refused_with() {
        RefusalForm::RejectedOrder => rejected_order(echo, reject.reason, &reject.display_text(), answering),
        RefusalForm::MassCancelReport => mass_cancel_report(echo, Err(reject), answering.at),
        RefusalForm::CancelReject(_) | RefusalForm::BusinessReject => application_not_available(echo, number, reject),
    }
}

/// A request that was sent again, and that the venue has refused.
fn repeated_reject(echo: &RequestEcho, order: &Order, reason: &str, at: Timestamp) -> OutgoingMessage {
    let is_over = order.remaining().is_zero();
    cancel_reject(echo, Some(order), if is_over { reject_codes::TOO_LATE } else { reject_codes::OTHER }, reason, at)
}

/// A repeated message is answered with the state of its order, under the id in the message.
fn repeated_status(echo: &RequestEcho, known: &Order, answering: &ReplyContext<'_>) -> OutgoingMessage {
    let reason = known.reason.as_deref().map(str::to_owned);
    report_for_repeat(echo, known, "I", reason, answering)
}

/// A second order with a known ClOrdID never touches the first.
fn duplicate_cl_ord_id(
    echo: &RequestEcho,
    known: &Order,
    text: String,
    answering: &ReplyContext<'_>,
) -> OutgoingMessage {
    if answering.profile.standard {
        let mut reject = report_for_repeat(echo, known, "8", Some(text), answering);
        reject.number(field::ORD_REJ_REASON, reject_codes::DUPLICATE_ORDER);
        return reject;
    }
    rejected_order(echo, reject_codes::DUPLICATE_ORDER, &text, answering)
}

fn report_for_repeat(
    echo: &RequestEcho,
    known: &Order,
    exec_type: &'static str,
    text: Option<String>,
    answering: &ReplyContext<'_>,
) -> OutgoingMessage {
    let ReplyContext { at, reference, exec_id, .. } = *answering;
    let cl_ord_id = echo.get(field::CL_ORD_ID).unwrap_or(field::NONE);
    order_status_as(known, cl_ord_id, exec_type, text, at, reference, exec_id)
}

/// Execution Report 8/8 for an order that is not stored.
fn rejected_order(echo: &RequestEcho, reason: u64, text: &str, answering: &ReplyContext<'_>) -> OutgoingMessage {
    unknown_order_report(echo, "8", reason, text, answering)
}

/// Repeats the client's fields; nothing else is known. A value that FIX does not have is not repeated, because the
/// client's own dictionary would reject the answer.
fn unknown_order_report(
    echo: &RequestEcho,
    exec_type: &str,
    reason: u64,
    text: &str,
    answering: &ReplyContext<'_>,
) -> OutgoingMessage {
    let sent = |tag, otherwise| echo.get(tag).unwrap_or(otherwise);
    let sane =
        |tag, is_sane: fn(&str) -> bool, otherwise| echo.get(tag).filter(|text| is_sane(text)).unwrap_or(otherwise);
    let mut reject = OutgoingMessage::new("8");
    reject.field(field::EXEC_ID, answering.exec_id).field(field::EXEC_TYPE, exec_type).field(field::ORD_STATUS, "8");
    reject.field(field::ORDER_ID, field::NONE).field(field::CL_ORD_ID, sent(field::CL_ORD_ID, field::NONE));
    reject.field(field::ACCOUNT, sent(field::ACCOUNT, field::NONE));
    reject.field(field::SECURITY_ID, sent(field::SECURITY_ID, field::NONE));
    reject.field(field::SYMBOL, sent(field::SYMBOL, field::NONE));
    reject.field(field::SIDE, sane(field::SIDE, field::is_side, "1"));
    reject.field(field::ORDER_QTY, sane(field::ORDER_QTY, |text| parse_decimal(text).is_some(), "0"));
    reject.field(field::TIME_IN_FORCE, sane(field::TIME_IN_FORCE, field::is_time_in_force, "0"));
    reject.field(field::AVG_PX, "0").field(field::CUM_QTY, "0").field(field::LEAVES_QTY, "0");
    reject.number(field::ORD_REJ_REASON, reason).field(field::TEXT, printable_text(text));
    write_utc(&mut reject, field::TRANSACT_TIME, answering.at);
    reject
}

/// The answer to a status request without a matching order, with the ids of the request.
pub(crate) fn unknown_order(echo: &RequestEcho, at: Timestamp, exec_id: &str) -> OutgoingMessage {
    let order = echo.get(field::CL_ORD_ID).or(echo.get(field::ORDER_ID));
    let refusal = Refusal::UnknownOrder(order.unwrap_or(field::NONE).into());
    let text = match echo.becomes() {
        Some(RequestMeaning::Status(StatusClass::OpenOrders)) => no_open_orders_text(echo),
        _ => refusal.to_string(),
    };
    let text = &MessageReject::other(refusal.code(), &text).display_text();
    let reference = ReferenceData::default();
    let answering = ReplyContext { at, reference: &reference, profile: ExecTypeProfile { standard: false }, exec_id };
    unknown_order_report(echo, "I", reject_codes::ORD_REJ_UNKNOWN_ORDER, text, &answering)
}

fn no_open_orders_text(echo: &RequestEcho) -> String {
    let is_of_one = echo.get(field::MASS_STATUS_REQ_TYPE) == Some("1");
    let security = [field::SECURITY_ID, field::SYMBOL].into_iter().find_map(|tag| Some((tag, echo.get(tag)?)));
    match security.filter(|_| is_of_one) {
        Some((tag, value)) => format!("none of your orders in {} {value} is open", field::tag_with_name(tag)),
        None => "none of your orders is open".to_owned(),
    }
}

/// Business Message Reject of a status request that cannot be parsed: the client must not conclude that there is no
/// order.
pub(crate) fn status_request_rejected(echo: &RequestEcho, number: u64, reject: &MessageReject) -> OutgoingMessage {
    let is_security = reject.reason == reject_codes::UNKNOWN_SYMBOL;
    business_reject(
        echo,
        number,
        if is_security { reject_codes::UNKNOWN_SECURITY } else { reject_codes::UNANSWERABLE },
        reject,
    )
}

/// Business Message Reject of a status request that the engine could not serve in time.
pub(crate) fn application_not_available(echo: &RequestEcho, number: u64, reject: &MessageReject) -> OutgoingMessage {
    business_reject(echo, number, reject_codes::NOT_AVAILABLE, reject)
}

fn business_reject(echo: &RequestEcho, number: u64, reason: u64, complaint: &MessageReject) -> OutgoingMessage {
    let mut reject = OutgoingMessage::new("j");
    reject.number(tag::REF_SEQ_NUM, number).field(tag::REF_MSG_TYPE, echo.get(tag::MSG_TYPE).unwrap_or_default());
    let ids = [field::CL_ORD_ID, field::MASS_STATUS_REQ_ID, field::TRADE_REQUEST_ID, field::POS_REQ_ID];
    refer_to(ids.into_iter().find_map(|id| echo.get(id)), &mut reject);
    reject.number(tag::BUSINESS_REJECT_REASON, reason).field(field::TEXT, printable_text(&complaint.display_text()));
    reject
}

/// BusinessRejectRefID (379), where the id is short enough to be repeated.
pub(crate) fn refer_to(id: Option<&str>, reject: &mut OutgoingMessage) {
    if let Some(id) = id.filter(|id| id.chars().count() <= REPEATED_CHARS_MAX) {
        reject.field(field::BUSINESS_REJECT_REF_ID, id);
    }
}

/// Order Mass Cancel Report of an accepted request; the reports of each order follow.
pub(crate) fn mass_cancel_accepted(cancel: &MassCancelReport, at: Timestamp) -> OutgoingMessage {
    let echo = RequestEcho::decode(cancel.origin.request_echo.as_deref().unwrap_or_default());
    mass_cancel_report(&echo, Ok(cancel), at)
}

/// How many orders are affected, or why none can be.
fn mass_cancel_report(
    echo: &RequestEcho,
    outcome: Result<&MassCancelReport, &MessageReject>,
    at: Timestamp,
) -> OutgoingMessage {
    let wanted = echo.get(field::MASS_CANCEL_REQUEST_TYPE).unwrap_or_default();
    let request = echo.get(field::CL_ORD_ID).unwrap_or(field::NONE);
    let mut report = OutgoingMessage::new("r");
    report.field(field::ORDER_ID, request).field(field::CL_ORD_ID, request);
    report.field(field::MASS_CANCEL_REQUEST_TYPE, wanted);
    write_utc(&mut report, field::TRANSACT_TIME, at);
    match outcome {
        Ok(MassCancelReport { affected, not_cancellable: out_of_reach, .. }) => {
            report.field(field::MASS_CANCEL_RESPONSE, wanted).number(field::TOTAL_AFFECTED_ORDERS, *affected);
            if *out_of_reach > 0 {
                let text = format!("adapter-down: {out_of_reach} orders stay, their venue is not connected");
                report.field(field::TEXT, text);
            }
        }
        Err(reject) => {
            report.field(field::MASS_CANCEL_RESPONSE, "0").field(field::TEXT, printable_text(&reject.display_text()));
            report.number(field::MASS_CANCEL_REJECT_REASON, reject_codes::mass_cancel_reject_reason(reject.reason));
        }
    }
    report
}

/// Order Cancel Reject; without an order its status is rejected.
fn cancel_reject(echo: &RequestEcho, order: Option<&Order>, reason: u64, text: &str, at: Timestamp) -> OutgoingMessage {
    let orig = order.and_then(|order| order.cl_ord_id.as_deref()).or(echo.get(field::ORIG_CL_ORD_ID));
    let mut reject = OutgoingMessage::new("9");
    reject.field(field::ORDER_ID, order.map_or(field::NONE, |order| order.int_id.as_str()));
    reject.field(field::CL_ORD_ID, echo.get(field::CL_ORD_ID).unwrap_or(field::NONE));
    reject.field(field::ORIG_CL_ORD_ID, orig.unwrap_or(field::NONE));
    reject.field(field::ORD_STATUS, order.map_or("8", |order| ord_status(order.status())));
    let response_to = match echo.refused_with() {
        RefusalForm::CancelReject(response_to) => response_to,
        RefusalForm::RejectedOrder | RefusalForm::MassCancelReport | RefusalForm::BusinessReject => 1,
    };
    reject.number(field::CXL_REJ_RESPONSE_TO, response_to);
    reject.number(field::CXL_REJ_REASON, reason).field(field::TEXT, printable_text(text));
    write_utc(&mut reject, field::TRANSACT_TIME, at);
    reject
}
