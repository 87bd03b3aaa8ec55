//! Answers to requests that were refused, by our own checks or by the engine's: no order has changed.

use domain::event::{MassCancel, RefusedCommand};
use domain::order::Status;
use domain::{Order, ReferenceData, Timestamp};
use fix::{Outgoing, tag};

use super::field::{self, named_status};
use super::memo::Memo;
use super::reading::{Complaint, parse_decimal};
use super::reasons;
use super::report::{Profile, plain, standing, standing_as, utc};
use crate::session::Standing;

/// When and as what an answer goes out.
pub(crate) struct Answering<'a> {
    pub(crate) at: Timestamp,
    pub(crate) reference: &'a ReferenceData,
    pub(crate) profile: Profile,
    pub(crate) exec_id: &'a str,
}

/// The engine did not obey.
pub(crate) fn refused_command(refused: &RefusedCommand, answering: &Answering<'_>) -> Outgoing {
    let memo = Memo::read(refused.origin.memo.as_deref().unwrap_or_default());
    let text = format!("{}: {}", refused.code, refused.text);
    let order = refused.order.as_deref();
    if memo.is_mass_cancel() {
        return mass_cancel_report(&memo, Err(&Complaint { reason: reasons::OTHER, text }), answering.at);
    }
    if !memo.is_new_order() {
        let order = order.map(Subject::of);
        return cancel_reject(&memo, order, reasons::of_request(&refused.code), &text, answering.at);
    }
    match order.filter(|_| &*refused.code == "duplicate-order") {
        Some(known) => duplicate(&memo, known, text, answering),
        None => order_reject(&memo, reasons::of_order(&refused.code, &refused.text), &text, answering),
    }
}

/// A message that could not become a command.
pub(crate) fn refused_here(
    memo: &Memo,
    complaint: &Complaint,
    meant: Option<&Standing>,
    answering: &Answering<'_>,
) -> Outgoing {
    let Complaint { reason, text } = complaint;
    match memo {
        memo if memo.is_new_order() => order_reject(memo, *reason, text, answering),
        memo if memo.is_mass_cancel() => mass_cancel_report(memo, Err(complaint), answering.at),
        memo => cancel_reject(memo, meant.map(Subject::standing), *reason, text, answering.at),
    }
}

/// The order that a refused request was about.
struct Subject<'a> {
    order_id: &'a str,
    cl_ord_id: Option<&'a str>,
    status: Status,
}

impl<'a> Subject<'a> {
    fn of(order: &'a Order) -> Self {
        let (order_id, cl_ord_id) = (order.int_id.as_str(), order.cl_ord_id.as_deref());
        Self { order_id, cl_ord_id, status: order.status() }
    }

    fn standing(order: &'a Standing) -> Self {
        let (order_id, cl_ord_id) = (order.int_id.as_str(), order.cl_ord_id.as_deref());
        Self { order_id, cl_ord_id, status: order.status }
    }
}

/// A second order with a known ClOrdID never touches the first.
fn duplicate(memo: &Memo, known: &Order, text: String, answering: &Answering<'_>) -> Outgoing {
    let Answering { at, reference, exec_id, profile } = *answering;
    if memo.may_be_known() {
        return standing(known, at, reference, exec_id);
    }
    if profile.standard {
        let mut reject = standing_as(known, "8", Some(text), at, reference, exec_id);
        reject.number(field::ORD_REJ_REASON, reasons::DUPLICATE_ORDER);
        return reject;
    }
    order_reject(memo, reasons::DUPLICATE_ORDER, &text, answering)
}

/// Execution Report 8/8 for an order that is not kept.
fn order_reject(memo: &Memo, reason: u64, text: &str, answering: &Answering<'_>) -> Outgoing {
    order_report(memo, "8", reason, text, answering)
}

/// Repeats what the client sent; there is nothing else to tell. A value that FIX does not have is not repeated, because the
/// client's own dictionary would refuse the answer.
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

/// The answer to a question about an order that is not known.
pub(crate) fn unknown_order(memo: &Memo, text: &str, at: Timestamp, exec_id: &str) -> Outgoing {
    let reference = ReferenceData::default();
    let answering = Answering { at, reference: &reference, profile: Profile { standard: false }, exec_id };
    order_report(memo, "I", reasons::UNKNOWN_ORDER_TO_STATE, text, &answering)
}

/// Business Message Reject of a question that can't be understood: whoever asked must not think that there is nothing.
pub(crate) fn not_answered(memo: &Memo, number: u64, complaint: &Complaint) -> Outgoing {
    let is_security = complaint.reason == reasons::UNKNOWN_SYMBOL;
    business_reject(
        memo,
        number,
        if is_security { reasons::UNKNOWN_SECURITY } else { reasons::UNANSWERABLE },
        complaint,
    )
}

/// Business Message Reject of a question that the engine had no time for.
pub(crate) fn not_available(memo: &Memo, number: u64, complaint: &Complaint) -> Outgoing {
    business_reject(memo, number, reasons::NOT_AVAILABLE, complaint)
}

fn business_reject(memo: &Memo, number: u64, reason: u64, complaint: &Complaint) -> Outgoing {
    let mut reject = Outgoing::new("j");
    reject.number(tag::REF_SEQ_NUM, number).field(tag::REF_MSG_TYPE, memo.get(tag::MSG_TYPE).unwrap_or_default());
    if let Some(id) = memo.get(field::CL_ORD_ID).or(memo.get(field::MASS_STATUS_REQ_ID)) {
        reject.field(field::BUSINESS_REJECT_REF_ID, id);
    }
    reject.number(tag::BUSINESS_REJECT_REASON, reason).field(field::TEXT, plain(&complaint.text));
    reject
}

/// Order Mass Cancel Report of a request that the engine obeys; the reports of each order follow.
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
        Err(Complaint { reason, text }) => {
            report.field(field::MASS_CANCEL_RESPONSE, "0").field(field::TEXT, plain(text));
            report.number(field::MASS_CANCEL_REJECT_REASON, reasons::of_mass_cancel(*reason));
        }
    }
    report
}

/// Order Cancel Reject; without an order it is as if it had been rejected.
fn cancel_reject(memo: &Memo, order: Option<Subject<'_>>, reason: u64, text: &str, at: Timestamp) -> Outgoing {
    let order = order.as_ref();
    let orig = order.and_then(|order| order.cl_ord_id).or(memo.get(field::ORIG_CL_ORD_ID));
    let mut reject = Outgoing::new("9");
    reject.field(field::ORDER_ID, order.map_or(field::NONE, |order| order.order_id));
    reject.field(field::CL_ORD_ID, memo.get(field::CL_ORD_ID).unwrap_or(field::NONE));
    reject.field(field::ORIG_CL_ORD_ID, orig.unwrap_or(field::NONE));
    reject.field(field::ORD_STATUS, order.map_or("8", |order| named_status(order.status)));
    reject.number(field::CXL_REJ_RESPONSE_TO, if memo.is_replace() { 2 } else { 1 });
    reject.number(field::CXL_REJ_REASON, reason).field(field::TEXT, plain(text));
    utc(&mut reject, field::TRANSACT_TIME, at);
    reject
}
