//! Adapters: their sessions, and what their venues offer.

use axum::extract::State;
use axum::response::Response;
use domain::query::AdapterStatus;
use domain::{Answer, Query, VenueFacts};
use wire::{AdapterVO, json};

use crate::app_state::AppState;
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn list(State(state): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let reply = state.query(Query::Adapters).await?;
    let Answer::Adapters(adapters) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let reference = state.reference();
    let venues = state.settings().venues.clone();
    let write = move |status: &AdapterStatus, text: &mut _| {
        let facts = venues.get(&status.adapter).copied();
        let facts = facts.unwrap_or_else(|| VenueFacts::unconfigured(status.simulated));
        json::write(&AdapterVO::from_domain(status, facts, &reference), text);
    };
    Ok(response::with_sequence(reply.sequence, response::list(form, adapters, write)))
}
