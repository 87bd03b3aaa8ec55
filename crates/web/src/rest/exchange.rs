//! Exchanges.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::Exchange;
use wire::{ExchangeVO, json};

use crate::doors::Doors;
use crate::rest::reference_list::ListWish;

pub(crate) async fn list(State(doors): State<Doors>, wish: ListWish) -> Response {
    let write = |exchange: &Arc<Exchange>, text: &mut Vec<u8>| json::write(&ExchangeVO::from_domain(exchange), text);
    wish.answer(&doors, "exchanges", |reference| &reference.exchanges, write)
}
