//! Adapters: their sessions, and what their venues offer.

use axum::extract::State;
use axum::response::Response;
use domain::{Answer, Query};
use wire::{AdapterVO, json};

use crate::app_state::AppState;
use crate::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn list(State(state): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let reply = state.query(Query::Adapters).await?;
    let Answer::Adapters(adapters) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let reference = state.reference();
    let write = move |status: &_, text: &mut _| json::write(&AdapterVO::from_domain(status, &reference), text);
    Ok(response::with_sequence(reply.sequence, response::list(form, adapters, write)))
}
