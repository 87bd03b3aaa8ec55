//! Exchanges.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::Exchange;
use wire::{ExchangeVO, json};

use crate::app_state::AppState;
use crate::rest::reference_list::ListRequest;

pub(crate) async fn list(State(doors): State<AppState>, wish: ListRequest) -> Response {
    let write = |exchange: &Arc<Exchange>, text: &mut Vec<u8>| json::write(&ExchangeVO::from_domain(exchange), text);
    wish.respond(&doors, "exchanges", |reference| &reference.exchanges, write)
}
