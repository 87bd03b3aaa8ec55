//! Accounts.

use axum::extract::State;
use axum::response::Response;
use wire::{AccountVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::problem::Problem;
use crate::request::PathText;

pub(crate) async fn list(State(doors): State<Doors>) -> Response {
    let accounts = doors.reference().accounts.values().cloned().collect();
    answer::list(accounts, |account, text| json::write(&AccountVO::from_domain(account), text))
}

pub(crate) async fn one(State(doors): State<Doors>, PathText(name): PathText) -> Result<Response, Problem> {
    let reference = doors.reference();
    let unknown = || Problem::new("unknown-account", format!("account {name} is not known")).of_the_path();
    let account = reference.account_named(&name).ok_or_else(unknown)?;
    Ok(answer::value(json::encode(&AccountVO::from_domain(account))))
}
