//! The running server: its parameters, its end.

use axum::extract::State;
use axum::response::Response;
use wire::json;

use crate::answer;
use crate::doors::Doors;

pub(crate) async fn parameters(State(doors): State<Doors>) -> Response {
    answer::value(json::encode(&doors.operations().parameters()))
}

/// The stop is orderly, so this answer still leaves.
pub(crate) async fn exit(State(doors): State<Doors>) -> Response {
    doors.operations().shut_down();
    answer::done()
}
