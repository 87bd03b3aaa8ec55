//! Exchanges.

use axum::extract::State;
use axum::response::Response;
use wire::{ExchangeVO, json};

use crate::answer;
use crate::doors::Doors;

pub(crate) async fn list(State(doors): State<Doors>) -> Response {
    let exchanges = doors.reference().exchanges.values().cloned().collect();
    answer::list(exchanges, |exchange, text| json::write(&ExchangeVO::from_domain(exchange), text))
}
