//! Their words and ours, both ways; pure.

/// The fields and values that orders and reports are made of.
pub(crate) mod field;
/// Reading the fields of a message, with a complaint that names the tag.
mod reading;
/// Which security, exchange, account and strategy a message means.
mod naming;
/// Which of its orders a client asks about.
mod scope;
/// Messages that can't even be answered as what they are.
mod unfit;
/// Which fields of an order are honoured, refused or ignored.
mod terms;
/// Orders and requests on their way in.
mod inbound;
/// What is remembered of a request until it is answered.
mod memo;
/// Why something was refused, in FIX's codes.
mod reasons;
/// Reports on their way out.
mod report;
/// Answers to requests that were refused.
mod refusal;
/// Ids of reports that a replay repeats.
mod exec_id;

#[cfg(test)]
mod tests;

pub(crate) use exec_id::ExecIds;
pub(crate) use inbound::{cancel, declined, mass_cancel, order, replace};
pub(crate) use memo::Memo;
pub(crate) use reading::{Complaint, text_of};
pub(crate) use refusal::{
    Answering, mass_cancelled, not_answered, not_available, refused_command, refused_here, unknown_order,
};
pub(crate) use report::{Profile, ReportIds, picture, report, standing};
pub(crate) use scope::Scope;
pub(crate) use unfit::unfit;
