//! Accounts.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::Account;
use wire::{AccountVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::problem::Problem;
use crate::request::PathText;
use crate::rest::reference_list::ListWish;

pub(crate) async fn list(State(doors): State<Doors>, wish: ListWish) -> Response {
    let write = |account: &Arc<Account>, text: &mut Vec<u8>| json::write(&AccountVO::from_domain(account), text);
    wish.answer(&doors, "accounts", |reference| &reference.accounts, write)
}

pub(crate) async fn one(State(doors): State<Doors>, PathText(name): PathText) -> Result<Response, Problem> {
    let reference = doors.reference();
    let unknown = || Problem::new("unknown-account", format!("account {name} is not known")).of_the_path();
    let account = reference.account_named(&name).ok_or_else(unknown)?;
    Ok(answer::value(json::encode(&AccountVO::from_domain(account))))
}
