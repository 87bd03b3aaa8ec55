//! Exchanges.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::Exchange;
use wire::{ExchangeVO, json};

use crate::app_state::AppState;
use crate::rest::reference_data::reference::ListRequest;

pub(crate) async fn list(State(state): State<AppState>, request: ListRequest) -> Response {
    let write = |exchange: &Arc<Exchange>, text: &mut Vec<u8>| json::write(&ExchangeVO::from_domain(exchange), text);
    request.respond(&state, "exchanges", |reference| &reference.exchanges, write)
}
