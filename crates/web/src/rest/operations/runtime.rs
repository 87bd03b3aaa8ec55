//! The running server: its parameters, its shutdown.

use axum::extract::State;
use axum::response::Response;
use wire::json;

use crate::app_state::AppState;
use crate::response;

pub(crate) async fn parameters(State(state): State<AppState>) -> Response {
    response::value(json::encode(&state.services().admin.parameters()))
}

/// The shutdown is orderly, so this response is still sent.
pub(crate) async fn exit(State(state): State<AppState>) -> Response {
    state.services().admin.shutdown();
    response::empty()
}
