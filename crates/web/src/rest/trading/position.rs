//! Positions: to see them, to reduce and to close them, to rebuild them.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::command::ReducePosition;
use domain::{Answer, Command, PositionId, Quantity, Query};
use wire::fields::bare_decimal;
use wire::{PositionVO, json};

use crate::app_state::{AppState, EngineReply};
use crate::extract::{AuthenticatedClient, JsonBody, PathId, QueryExtension};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&state.reference())?;
    let reply = state.query_at(parameters.past_point()?, Query::Positions(filter)).await?;
    let Answer::Positions(positions) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let list = response::list(form, positions, |position, text| json::write(&PositionVO::from_domain(position), text));
    Ok(response::with_sequence(reply.sequence, list))
}

pub(crate) async fn close(
    State(state): State<AppState>,
    PathId(id): PathId,
    AuthenticatedClient(caller): AuthenticatedClient,
) -> Result<Response, Problem> {
    let all_of_it = ReducePosition { position: PositionId(id), quantity: None };
    reduce_response(state.command(caller, Command::Reduce(all_of_it)).await)
}

pub(crate) async fn reduce(
    State(state): State<AppState>,
    PathId(id): PathId,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let quantity = Quantity(bare_decimal("quantity", &body)?);
    let part_of_it = ReducePosition { position: PositionId(id), quantity: Some(quantity) };
    reduce_response(state.command(caller, Command::Reduce(part_of_it)).await)
}

pub(crate) async fn reset(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
) -> Result<Response, Problem> {
    let reply = state.command(caller, Command::ResetPositions).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

/// The response has the order that does it.
fn reduce_response(reply: Result<EngineReply, Problem>) -> Result<Response, Problem> {
    let reply = reply.map_err(Problem::into_not_found)?;
    let Answer::Order(order) = reply.answer else { return Err(Problem::unexpected_answer()) };
    Ok(response::with_sequence(reply.sequence, response::order_placed(&order.int_id)))
}
