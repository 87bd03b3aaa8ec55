//! The audit, page by page.

use access::Recorded;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bus::history::{Page, Sort};
use wire::{AuditVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::KnownParameters;

pub(crate) async fn list(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let (sort, Page { after, limit }) = parameters.sorted_page()?;
    let rows = doors
        .with_register(move |register, _| match sort {
            Sort::Oldest => Ok(register.audit(after, limit)?),
            Sort::Newest => Ok(register.audit_back(after, limit)?),
        })
        .await?;
    Ok(answer::list(form, rows, |row, text| json::write(&shown(row), text)))
}

fn shown(row: &Recorded) -> AuditVO<'_> {
    AuditVO {
        id: row.id,
        date_time: row.at.into(),
        user: row.user.as_deref(),
        door: &row.door,
        peer: row.peer.as_deref(),
        action: &row.action,
        outcome: &row.outcome,
        detail: &row.detail,
        times: row.times,
        last_date_time: row.last_at.into(),
    }
}
