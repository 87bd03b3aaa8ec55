//! Translation between FIX messages and domain commands and events; pure.

pub(crate) mod field;
mod reading;
mod naming;
mod scope;
mod unfit;
mod terms;
mod inbound;
mod memo;
mod reasons;
mod report;
mod refusal;
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
