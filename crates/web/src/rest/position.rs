//! Positions: to see them, to reduce and to close them, to rebuild them.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::command::ReducePosition;
use domain::{Answer, Command, PositionId, Quantity, Query};
use wire::fields::bare_decimal;
use wire::{PositionVO, json};

use crate::answer;
use crate::doors::{Doors, Told};
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{Client, JsonBody, KnownParameters, PathId};

pub(crate) async fn list(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&doors.reference())?;
    let told = doors.ask(Query::Positions(filter)).await?;
    let Answer::Positions(positions) = told.answer else { return Err(Problem::unexpected_answer()) };
    let list = answer::list(form, positions, |position, text| json::write(&PositionVO::from_domain(position), text));
    Ok(answer::as_of(told.sequence, list))
}

pub(crate) async fn close(
    State(doors): State<Doors>,
    PathId(id): PathId,
    Client(caller): Client,
) -> Result<Response, Problem> {
    let all_of_it = ReducePosition { position: PositionId(id), quantity: None };
    reduced(doors.tell(caller, Command::Reduce(all_of_it)).await)
}

pub(crate) async fn reduce(
    State(doors): State<Doors>,
    PathId(id): PathId,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let quantity = Quantity(bare_decimal("quantity", &body)?);
    let part_of_it = ReducePosition { position: PositionId(id), quantity: Some(quantity) };
    reduced(doors.tell(caller, Command::Reduce(part_of_it)).await)
}

pub(crate) async fn reset(State(doors): State<Doors>, Client(caller): Client) -> Result<Response, Problem> {
    let told = doors.tell(caller, Command::ResetPositions).await?;
    Ok(answer::as_of(told.sequence, answer::done()))
}

/// The response has the order that does it.
fn reduced(told: Result<Told, Problem>) -> Result<Response, Problem> {
    let told = told.map_err(Problem::of_the_path)?;
    let Answer::Order(order) = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(answer::as_of(told.sequence, answer::placed(&order.int_id)))
}
