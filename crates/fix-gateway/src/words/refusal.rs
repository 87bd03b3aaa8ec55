//! Rejects: answers to requests that changed no order, from our own checks or the engine's.

use domain::event::{MassCancel, RefusedCommand};
use domain::{Order, ReferenceData, Refusal, Timestamp};
use fix::{Outgoing, tag};

use super::field::{self, named_status};
use super::memo::Memo;
use super::reading::{Complaint, parse_decimal};
use super::reasons;
use super::report::{Profile, plain, standing_as, utc};

/// Time and id of an answer.
pub(crate) struct Answering<'a> {
    pub(crate) at: Timestamp,
    pub(crate) reference: &'a ReferenceData,
    pub(crate) profile: Profile,
    pub(crate) exec_id: &'a str,
}

/// The engine refused the command.
pub(crate) fn refused_command(refused: &RefusedCommand, answering: &Answering<'_>) -> Outgoing {
    let memo = Memo::read(refused.origin.memo.as_deref().unwrap_or_default());
    let text = format!("{}: {}", refused.code, refused.text);
    let order = refused.order.as_deref();
    if memo.is_mass_cancel() {
        return mass_cancel_report(&memo, Err(&Complaint::other(&refused.code, &refused.text)), answering.at);
    }
    if let Some((reason, order)) = refused.refused_before.as_deref().zip(order) {
        return refused_again(&memo, order, reason, answering.at);
    }
    // An unreadable order under the id of a live one, or of one that it may repeat, is the same order.
    let is_again = refused.is_repeated || (memo.is_new_order() && memo.may_be_known());
    match order.filter(|known| &*refused.code == "duplicate-order" || is_again || known.is_open()) {
        Some(known) if is_again => standing_again(&memo, known, answering),
        _ if memo.is_request() => cancel_reject(&memo, order, reasons::of_request(&refused.code), &text, answering.at),
        Some(known) if &*refused.code == "duplicate-order" => duplicate(&memo, known, text, answering),
        Some(known) => {
            let text = format!("{text}; order {} stays as it is", known.int_id);
            duplicate(&memo, known, text, answering)
        }
        None => order_reject(&memo, reasons::of_order(&refused.code, &refused.text), &text, answering),
    }
}

/// A message that could not become a command. The state of its order is not known here and not reported.
pub(crate) fn refused_here(memo: &Memo, number: u64, complaint: &Complaint, answering: &Answering<'_>) -> Outgoing {
    match memo {
        memo if memo.is_new_order() => order_reject(memo, complaint.reason, &complaint.shown(), answering),
        memo if memo.is_mass_cancel() => mass_cancel_report(memo, Err(complaint), answering.at),
        memo => not_available(memo, number, complaint),
    }
}

/// A request that was sent again, and that the venue has refused.
fn refused_again(memo: &Memo, order: &Order, reason: &str, at: Timestamp) -> Outgoing {
    let is_over = order.remaining().is_zero();
    cancel_reject(memo, Some(order), if is_over { reasons::TOO_LATE } else { reasons::OTHER }, reason, at)
}

/// A repeated message is answered with the state of its order, under the id in the message.
fn standing_again(memo: &Memo, known: &Order, answering: &Answering<'_>) -> Outgoing {
    let reason = known.reason.as_deref().map(str::to_owned);
    repeated(memo, known, "I", reason, answering)
}

/// A second order with a known ClOrdID never touches the first.
fn duplicate(memo: &Memo, known: &Order, text: String, answering: &Answering<'_>) -> Outgoing {
    if answering.profile.standard {
        let mut reject = repeated(memo, known, "8", Some(text), answering);
        reject.number(field::ORD_REJ_REASON, reasons::DUPLICATE_ORDER);
        return reject;
    }
    order_reject(memo, reasons::DUPLICATE_ORDER, &text, answering)
}

fn repeated(
    memo: &Memo,
    known: &Order,
    exec_type: &'static str,
    text: Option<String>,
    answering: &Answering<'_>,
) -> Outgoing {
    let Answering { at, reference, exec_id, .. } = *answering;
    let cl_ord_id = memo.get(field::CL_ORD_ID).unwrap_or(field::NONE);
    standing_as(known, cl_ord_id, exec_type, text, at, reference, exec_id)
}

/// Execution Report 8/8 for an order that is not stored.
fn order_reject(memo: &Memo, reason: u64, text: &str, answering: &Answering<'_>) -> Outgoing {
    order_report(memo, "8", reason, text, answering)
}

/// Repeats the client's fields; nothing else is known. A value that FIX does not have is not repeated, because the
/// client's own dictionary would reject the answer.
fn order_report(memo: &Memo, exec_type: &str, reason: u64, text: &str, answering: &Answering<'_>) -> Outgoing {
    let sent = |tag, otherwise| memo.get(tag).unwrap_or(otherwise);
    let sane =
        |tag, is_sane: fn(&str) -> bool, otherwise| memo.get(tag).filter(|text| is_sane(text)).unwrap_or(otherwise);
    let mut reject = Outgoing::new("8");
    reject.field(field::EXEC_ID, answering.exec_id).field(field::EXEC_TYPE, exec_type).field(field::ORD_STATUS, "8");
    reject.field(field::ORDER_ID, field::NONE).field(field::CL_ORD_ID, sent(field::CL_ORD_ID, field::NONE));
    reject.field(field::ACCOUNT, sent(field::ACCOUNT, field::NONE));
    reject.field(field::SECURITY_ID, sent(field::SECURITY_ID, field::NONE));
    reject.field(field::SYMBOL, sent(field::SYMBOL, field::NONE));
    reject.field(field::SIDE, sane(field::SIDE, field::is_side, "1"));
    reject.field(field::ORDER_QTY, sane(field::ORDER_QTY, |text| parse_decimal(text).is_some(), "0"));
    reject.field(field::TIME_IN_FORCE, sane(field::TIME_IN_FORCE, field::is_time_in_force, "0"));
    reject.field(field::AVG_PX, "0").field(field::CUM_QTY, "0").field(field::LEAVES_QTY, "0");
    reject.number(field::ORD_REJ_REASON, reason).field(field::TEXT, plain(text));
    utc(&mut reject, field::TRANSACT_TIME, answering.at);
    reject
}

/// The answer to a status request without a matching order, with the ids of the request.
pub(crate) fn unknown_order(memo: &Memo, at: Timestamp, exec_id: &str) -> Outgoing {
    let order = memo.get(field::CL_ORD_ID).or(memo.get(field::ORDER_ID));
    let refusal = Refusal::UnknownOrder(order.unwrap_or(field::NONE).into());
    let text = match memo.get(tag::MSG_TYPE) {
        Some("AF") => none_is_open(memo),
        _ => refusal.to_string(),
    };
    let text = &Complaint::other(refusal.code(), &text).shown();
    let reference = ReferenceData::default();
    let answering = Answering { at, reference: &reference, profile: Profile { standard: false }, exec_id };
    order_report(memo, "I", reasons::UNKNOWN_ORDER_TO_STATE, text, &answering)
}

fn none_is_open(memo: &Memo) -> String {
    let is_of_one = memo.get(field::MASS_STATUS_REQ_TYPE) == Some("1");
    let security = [field::SECURITY_ID, field::SYMBOL].into_iter().find_map(|tag| Some((tag, memo.get(tag)?)));
    match security.filter(|_| is_of_one) {
        Some((tag, value)) => format!("none of your orders in {} {value} is open", field::named(tag)),
        None => "none of your orders is open".to_owned(),
    }
}

/// Business Message Reject of a status request that cannot be parsed: the client must not conclude that there is no
/// order.
pub(crate) fn not_answered(memo: &Memo, number: u64, complaint: &Complaint) -> Outgoing {
    let is_security = complaint.reason == reasons::UNKNOWN_SYMBOL;
    business_reject(
        memo,
        number,
        if is_security { reasons::UNKNOWN_SECURITY } else { reasons::UNANSWERABLE },
        complaint,
    )
}

/// Business Message Reject of a status request that the engine could not serve in time.
pub(crate) fn not_available(memo: &Memo, number: u64, complaint: &Complaint) -> Outgoing {
    business_reject(memo, number, reasons::NOT_AVAILABLE, complaint)
}

fn business_reject(memo: &Memo, number: u64, reason: u64, complaint: &Complaint) -> Outgoing {
    let mut reject = Outgoing::new("j");
    reject.number(tag::REF_SEQ_NUM, number).field(tag::REF_MSG_TYPE, memo.get(tag::MSG_TYPE).unwrap_or_default());
    if let Some(id) = memo.get(field::CL_ORD_ID).or(memo.get(field::MASS_STATUS_REQ_ID)) {
        reject.field(field::BUSINESS_REJECT_REF_ID, id);
    }
    reject.number(tag::BUSINESS_REJECT_REASON, reason).field(field::TEXT, plain(&complaint.shown()));
    reject
}

/// Order Mass Cancel Report of an accepted request; the reports of each order follow.
pub(crate) fn mass_cancelled(cancel: &MassCancel, at: Timestamp) -> Outgoing {
    let memo = Memo::read(cancel.origin.memo.as_deref().unwrap_or_default());
    mass_cancel_report(&memo, Ok(cancel), at)
}

/// How many orders are affected, or why none can be.
fn mass_cancel_report(memo: &Memo, outcome: Result<&MassCancel, &Complaint>, at: Timestamp) -> Outgoing {
    let wanted = memo.get(field::MASS_CANCEL_REQUEST_TYPE).unwrap_or_default();
    let request = memo.get(field::CL_ORD_ID).unwrap_or(field::NONE);
    let mut report = Outgoing::new("r");
    report.field(field::ORDER_ID, request).field(field::CL_ORD_ID, request);
    report.field(field::MASS_CANCEL_REQUEST_TYPE, wanted);
    utc(&mut report, field::TRANSACT_TIME, at);
    match outcome {
        Ok(MassCancel { affected, out_of_reach, .. }) => {
            report.field(field::MASS_CANCEL_RESPONSE, wanted).number(field::TOTAL_AFFECTED_ORDERS, *affected);
            if *out_of_reach > 0 {
                let text = format!("adapter-down: {out_of_reach} orders stay, their venue is not connected");
                report.field(field::TEXT, text);
            }
        }
        Err(complaint) => {
            report.field(field::MASS_CANCEL_RESPONSE, "0").field(field::TEXT, plain(&complaint.shown()));
            report.number(field::MASS_CANCEL_REJECT_REASON, reasons::of_mass_cancel(complaint.reason));
        }
    }
    report
}

/// Order Cancel Reject; without an order its status is rejected.
fn cancel_reject(memo: &Memo, order: Option<&Order>, reason: u64, text: &str, at: Timestamp) -> Outgoing {
    let orig = order.and_then(|order| order.cl_ord_id.as_deref()).or(memo.get(field::ORIG_CL_ORD_ID));
    let mut reject = Outgoing::new("9");
    reject.field(field::ORDER_ID, order.map_or(field::NONE, |order| order.int_id.as_str()));
    reject.field(field::CL_ORD_ID, memo.get(field::CL_ORD_ID).unwrap_or(field::NONE));
    reject.field(field::ORIG_CL_ORD_ID, orig.unwrap_or(field::NONE));
    reject.field(field::ORD_STATUS, order.map_or("8", |order| named_status(order.status())));
    reject.number(field::CXL_REJ_RESPONSE_TO, if memo.is_replace() { 2 } else { 1 });
    reject.number(field::CXL_REJ_REASON, reason).field(field::TEXT, plain(text));
    utc(&mut reject, field::TRANSACT_TIME, at);
    reject
}
