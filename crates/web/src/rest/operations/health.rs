//! Health and readiness.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use wire::{CheckVO, HealthVO, json};

use crate::app_state::AppState;
use crate::response;

/// Alive if it responds.
pub(crate) async fn live() -> Response {
    response::value(json::encode(&HealthVO::new(vec![])))
}

/// Ready if every check passes.
pub(crate) async fn ready(State(state): State<AppState>) -> Response {
    let checks = state.services().health.checks();
    let shown = checks.iter().map(|check| CheckVO { name: &check.name, ok: check.ok, detail: &check.detail });
    let health = HealthVO::new(shown.collect());
    let mut response = response::value(json::encode(&health));
    if !health.is_up() {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}
