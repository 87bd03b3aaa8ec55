//! Breaks: differences between us and the venues, and what people do with them.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::breaks::{Break, BreakId, BreakState, BreakStep, SettleBreak};
use domain::{Answer, Command, Query};
use wire::{BreakBody, BreakVO, json};

use crate::app_state::{AppState, EngineReply};
use crate::extract::{AuthenticatedClient, JsonBody, PathText, QueryExtension};
use crate::lists::list_format::ListFormat;
use crate::middleware::authorization::AuditDetail;
use crate::middleware::caller::HttpCaller;
use crate::problem::Problem;
use crate::response;

/// The open ones, oldest first; of another state or all of them, where that is asked for.
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let wanted = parameters.get("state").map_or(Ok(Some(BreakState::Open)), wanted_state)?;
    let reply = state.query(Query::Breaks).await?;
    let Answer::Breaks(mut breaks) = reply.answer else { return Err(Problem::unexpected_answer()) };
    breaks.retain(|found| wanted.is_none_or(|wanted| found.state == wanted));
    let reference = state.reference();
    let list = response::list(form, breaks, move |found: &Arc<Break>, text: &mut Vec<u8>| {
        json::write(&BreakVO::from_domain(found, &reference), text);
    });
    Ok(response::with_sequence(reply.sequence, list))
}

/// None of `ALL`.
fn wanted_state(name: &str) -> Result<Option<BreakState>, Problem> {
    if name == "ALL" {
        return Ok(None);
    }
    let state = BreakState::ALL.into_iter().find(|state| state.name() == name);
    state.map(Some).ok_or_else(|| Problem::bad_parameter("state", "ALL, OPEN, EXPLAINED, REPAIRED or ACCEPTED"))
}

pub(crate) async fn one(State(state): State<AppState>, PathText(id): PathText) -> Result<Response, Problem> {
    let reply = state.query(Query::Break(break_id(&id)?)).await.map_err(Problem::into_not_found)?;
    break_response(&state, reply, response::value)
}

pub(crate) async fn explain(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    PathText(id): PathText,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    settle(&state, caller, (&id, BreakStep::Explain), &body).await
}

pub(crate) async fn accept(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    PathText(id): PathText,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    settle(&state, caller, (&id, BreakStep::Accept), &body).await
}

pub(crate) async fn repair(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    PathText(id): PathText,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    settle(&state, caller, (&id, BreakStep::Repair), &body).await
}

async fn settle(
    state: &AppState,
    caller: HttpCaller,
    (id, step): (&str, BreakStep),
    body: &[u8],
) -> Result<Response, Problem> {
    let id = break_id(id)?;
    let BreakBody { comment } = BreakBody::parse(body)?;
    let detail = AuditDetail(format!("{} {id}: {comment}", step.name()));
    let reply = state.command(caller, Command::SettleBreak(SettleBreak { id, step, comment })).await;
    let mut done = break_response(state, reply.map_err(Problem::into_not_found)?, response::output)?;
    done.extensions_mut().insert(detail);
    Ok(done)
}

fn break_response(
    state: &AppState,
    reply: EngineReply,
    response_of: fn(Vec<u8>) -> Response,
) -> Result<Response, Problem> {
    let Answer::Break(found) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let value = json::encode(&BreakVO::from_domain(&found, &state.reference()));
    Ok(response::with_sequence(reply.sequence, response_of(value)))
}

fn break_id(id: &str) -> Result<BreakId, Problem> {
    id.parse().map_err(|_| Problem::new("malformed-path", "the id of a break is B and a number, such as B17"))
}
