//! Securities and their families.

use axum::extract::State;
use axum::response::Response;
use domain::{FamilyId, SecurityId};
use wire::{SecurityFamilyVO, SecurityVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::problem::Problem;
use crate::request::PathId;

pub(crate) async fn list(State(doors): State<Doors>) -> Response {
    let securities = doors.reference().securities.values().cloned().collect();
    answer::list(securities, |security, text| json::write(&SecurityVO::from_domain(security), text))
}

pub(crate) async fn one(State(doors): State<Doors>, PathId(id): PathId) -> Result<Response, Problem> {
    let reference = doors.reference();
    let unknown = || Problem::new("unknown-security", format!("security {id} is not known")).of_the_path();
    let security = reference.securities.get(&SecurityId(id)).ok_or_else(unknown)?;
    Ok(answer::value(json::encode(&SecurityVO::from_domain(security))))
}

pub(crate) async fn families(State(doors): State<Doors>) -> Response {
    let families = doors.reference().families.values().cloned().collect();
    answer::list(families, |family, text| json::write(&SecurityFamilyVO::from_domain(family), text))
}

pub(crate) async fn family(State(doors): State<Doors>, PathId(id): PathId) -> Result<Response, Problem> {
    let reference = doors.reference();
    let unknown = || Problem::new("unknown-security-family", format!("family {id} is not known")).of_the_path();
    let family = reference.families.get(&FamilyId(id)).ok_or_else(unknown)?;
    Ok(answer::value(json::encode(&SecurityFamilyVO::from_domain(family))))
}
