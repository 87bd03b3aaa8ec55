//! The audit, page by page.

use access::AuditRow;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bus::history::{PageRequest, SortOrder};
use wire::{AuditVO, json};

use crate::app_state::AppState;
use crate::extract::QueryExtension;
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let (sort, PageRequest { after, limit }) = parameters.sorted_page()?;
    let rows = state
        .with_register(move |register, _| match sort {
            SortOrder::Oldest => Ok(register.audit(after, limit)?),
            SortOrder::Newest => Ok(register.audit_back(after, limit)?),
        })
        .await?;
    Ok(response::list(form, rows, |row, text| json::write(&to_vo(row), text)))
}

fn to_vo(row: &AuditRow) -> AuditVO<'_> {
    AuditVO {
        id: row.id,
        dateTime: row.at.into(),
        user: row.user.as_deref(),
        door: &row.door,
        peer: row.peer.as_deref(),
        action: &row.action,
        outcome: &row.outcome,
        detail: &row.detail,
        times: row.times,
        lastDateTime: row.last_at.into(),
    }
}
