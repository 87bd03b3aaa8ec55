//! The running server: its parameters, its shutdown.

use axum::extract::State;
use axum::response::Response;
use wire::json;

use crate::answer;
use crate::doors::Doors;

pub(crate) async fn parameters(State(doors): State<Doors>) -> Response {
    answer::value(json::encode(&doors.operations().parameters()))
}

/// The shutdown is orderly, so this response is still sent.
pub(crate) async fn exit(State(doors): State<Doors>) -> Response {
    doors.operations().shut_down();
    answer::done()
}
