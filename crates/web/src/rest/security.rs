//! Securities and their families.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::{Currency, Family, FamilyId, Security, SecurityId};
use wire::{BadSearch, Search, SecurityFamilyVO, SecurityVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{KnownParameters, Parameters, PathId};
use crate::rest::reference_list::ListWish;

pub(crate) async fn list(State(doors): State<Doors>, wish: ListWish) -> Response {
    wish.answer(&doors, "securities", |reference| &reference.securities, write)
}

fn write(security: &Arc<Security>, text: &mut Vec<u8>) {
    json::write(&SecurityVO::from_domain(security), text);
}

/// Without a query, all of them.
pub(crate) async fn search(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let search = Search::parse(parameters.get("query").unwrap_or_default())
        .map_err(|BadSearch { at, reason }| Problem::new("malformed-search", format!("at character {at}: {reason}")))?;
    let reference = doors.reference();
    let found = reference.securities.values().filter(|security| search.finds(security)).cloned().collect();
    Ok(answer::list(form, found, write))
}

pub(crate) async fn forex(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
) -> Result<Response, Problem> {
    let base = currency(&parameters, "baseCurrency")?;
    let transaction = currency(&parameters, "transactionCurrency")?;
    let reference = doors.reference();
    let unknown = || Problem::new("unknown-pair", format!("no security is the pair {base}.{transaction}"));
    let pair = reference.forex(base, transaction).ok_or_else(unknown)?;
    Ok(answer::value(json::encode(&SecurityVO::from_domain(pair))))
}

fn currency(parameters: &Parameters, name: &'static str) -> Result<Currency, Problem> {
    let given = parameters.required(name)?.parse();
    given.map_err(|_| Problem::bad_parameter(name, "a currency such as USD"))
}

pub(crate) async fn one(State(doors): State<Doors>, PathId(id): PathId) -> Result<Response, Problem> {
    let reference = doors.reference();
    let unknown = || Problem::new("unknown-security", format!("security {id} is not known")).of_the_path();
    let security = reference.securities.get(&SecurityId(id)).ok_or_else(unknown)?;
    Ok(answer::value(json::encode(&SecurityVO::from_domain(security))))
}

pub(crate) async fn families(State(doors): State<Doors>, wish: ListWish) -> Response {
    let write = |family: &Arc<Family>, text: &mut Vec<u8>| json::write(&SecurityFamilyVO::from_domain(family), text);
    wish.answer(&doors, "families", |reference| &reference.families, write)
}

pub(crate) async fn family(State(doors): State<Doors>, PathId(id): PathId) -> Result<Response, Problem> {
    let reference = doors.reference();
    let unknown = || Problem::new("unknown-security-family", format!("family {id} is not known")).of_the_path();
    let family = reference.families.get(&FamilyId(id)).ok_or_else(unknown)?;
    Ok(answer::value(json::encode(&SecurityFamilyVO::from_domain(family))))
}
