//! Securities and their families.

use std::ops::Bound;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bus::history::PageRequest;
use domain::{Currency, FamilyId, ReferenceData, Security, SecurityChange, SecurityFamily, SecurityId};
use wire::{BadSearch, SecurityChangeVO, SecurityFamilyVO, SecuritySearch, SecurityVO, json};

use crate::app_state::AppState;
use crate::extract::{PathId, QueryExtension, QueryParameters};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;
use crate::rest::reference_data::reference::ListRequest;

/// All of them, or a page where one is asked for.
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
    request: ListRequest,
) -> Result<Response, Problem> {
    let reference = state.reference();
    let sequence = reference.security_changes.last();
    let Some(PageRequest { after, limit }) = parameters.wanted_page()? else {
        let all = request.respond(&state, "securities", |reference| &reference.securities, write);
        return Ok(response::with_sequence(sequence, all));
    };
    let behind = reference.securities.range((Bound::Excluded(SecurityId(after)), Bound::Unbounded));
    let page: Vec<_> = behind.take(limit).map(|(_, security)| security.clone()).collect();
    Ok(response::with_sequence(sequence, response::list(form, page, write)))
}

/// What was added, changed or removed after a sequence. Changes of one input stay on one page, which may exceed its limit for
/// that.
pub(crate) async fn changes(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let PageRequest { after, limit } = parameters.page()?;
    let reference = state.reference();
    if !reference.security_changes.is_known_after(after) {
        let reason = format!("not all changes after sequence {after} are known; load the list again");
        return Err(Problem::new("changes-forgotten", reason));
    }
    let page = page_of_changes(&reference, after, limit);
    let last = page.last().map_or(after, |(sequence, _)| *sequence);
    let list = response::list(form, page, |(sequence, change), text| {
        json::write(&SecurityChangeVO::from_domain(*sequence, change), text);
    });
    Ok(response::with_after(last, list))
}

fn page_of_changes(reference: &ReferenceData, after: u64, limit: usize) -> Vec<(u64, SecurityChange)> {
    let (mut page, mut last) = (Vec::new(), None);
    for (sequence, id) in reference.security_changes.after(Some(after)) {
        if page.len() >= limit && last != Some(sequence) {
            break;
        }
        last = Some(sequence);
        page.push((sequence, SecurityChange { id, security: reference.securities.get(&id).cloned() }));
    }
    page
}

fn write(security: &Arc<Security>, text: &mut Vec<u8>) {
    json::write(&SecurityVO::from_domain(security), text);
}

/// Without a query all of them, or a page of what matches.
pub(crate) async fn search(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let search = SecuritySearch::parse(parameters.get("query").unwrap_or_default())
        .map_err(|BadSearch { at, reason }| Problem::new("malformed-search", format!("at character {at}: {reason}")))?;
    let page = parameters.wanted_page()?.unwrap_or(PageRequest { after: 0, limit: usize::MAX });
    let reference = state.reference();
    let behind = reference.securities.range((Bound::Excluded(SecurityId(page.after)), Bound::Unbounded));
    let found = behind.map(|(_, security)| security).filter(|security| search.matches(security));
    Ok(response::list(form, found.take(page.limit).cloned().collect(), write))
}

pub(crate) async fn forex(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
) -> Result<Response, Problem> {
    let base = currency(&parameters, "baseCurrency")?;
    let transaction = currency(&parameters, "transactionCurrency")?;
    let reference = state.reference();
    let unknown = || Problem::new("unknown-pair", format!("no security is the pair {base}.{transaction}"));
    let pair = reference.forex(base, transaction).ok_or_else(unknown)?;
    Ok(response::value(json::encode(&SecurityVO::from_domain(pair))))
}

fn currency(parameters: &QueryParameters, name: &'static str) -> Result<Currency, Problem> {
    let given = parameters.required(name)?.parse();
    given.map_err(|_| Problem::bad_parameter(name, "a currency such as USD"))
}

pub(crate) async fn one(State(state): State<AppState>, PathId(id): PathId) -> Result<Response, Problem> {
    let reference = state.reference();
    let unknown = || Problem::new("unknown-security", format!("security {id} is not known")).into_not_found();
    let security = reference.securities.get(&SecurityId(id)).ok_or_else(unknown)?;
    Ok(response::value(json::encode(&SecurityVO::from_domain(security))))
}

pub(crate) async fn families(State(state): State<AppState>, request: ListRequest) -> Response {
    let write =
        |family: &Arc<SecurityFamily>, text: &mut Vec<u8>| json::write(&SecurityFamilyVO::from_domain(family), text);
    request.respond(&state, "families", |reference| &reference.families, write)
}

pub(crate) async fn family(State(state): State<AppState>, PathId(id): PathId) -> Result<Response, Problem> {
    let reference = state.reference();
    let unknown = || Problem::new("unknown-security-family", format!("family {id} is not known")).into_not_found();
    let family = reference.families.get(&FamilyId(id)).ok_or_else(unknown)?;
    Ok(response::value(json::encode(&SecurityFamilyVO::from_domain(family))))
}
