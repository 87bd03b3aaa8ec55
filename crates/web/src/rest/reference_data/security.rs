//! Securities and their families.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::{Currency, FamilyId, Security, SecurityFamily, SecurityId};
use wire::{BadSearch, SecurityFamilyVO, SecuritySearch, SecurityVO, json};

use crate::app_state::AppState;
use crate::extract::{PathId, QueryExtension, QueryParameters};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;
use crate::rest::reference_data::reference::ListRequest;

pub(crate) async fn list(State(state): State<AppState>, request: ListRequest) -> Response {
    request.respond(&state, "securities", |reference| &reference.securities, write)
}

fn write(security: &Arc<Security>, text: &mut Vec<u8>) {
    json::write(&SecurityVO::from_domain(security), text);
}

/// Without a query, all of them.
pub(crate) async fn search(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let search = SecuritySearch::parse(parameters.get("query").unwrap_or_default())
        .map_err(|BadSearch { at, reason }| Problem::new("malformed-search", format!("at character {at}: {reason}")))?;
    let reference = state.reference();
    let found = reference.securities.values().filter(|security| search.matches(security)).cloned().collect();
    Ok(response::list(form, found, write))
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
