//! Accounts.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::Account;
use wire::{AccountVO, json};

use crate::app_state::AppState;
use crate::extract::PathText;
use crate::problem::Problem;
use crate::response;
use crate::rest::reference_data::reference::ListRequest;

pub(crate) async fn list(State(state): State<AppState>, request: ListRequest) -> Response {
    let write = |account: &Arc<Account>, text: &mut Vec<u8>| json::write(&AccountVO::from_domain(account), text);
    request.respond(&state, "accounts", |reference| &reference.accounts, write)
}

pub(crate) async fn one(State(state): State<AppState>, PathText(name): PathText) -> Result<Response, Problem> {
    let reference = state.reference();
    let unknown = || Problem::new("unknown-account", format!("account {name} is not known")).into_not_found();
    let account = reference.account_named(&name).ok_or_else(unknown)?;
    Ok(response::value(json::encode(&AccountVO::from_domain(account))))
}
