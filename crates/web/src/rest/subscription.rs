//! Market data subscriptions: the feeds, and the subscriptions of strategies.

use axum::extract::State;
use axum::response::Response;
use domain::report::SessionState;
use domain::{Answer, Command, Query};
use wire::{SubscriptionBody, json};

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody};
use crate::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

/// Each adapter that is connected has its feed.
pub(crate) async fn feeds(State(doors): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let told = doors.query(Query::Adapters).await?;
    let Answer::Adapters(adapters) = told.answer else { return Err(Problem::unexpected_answer()) };
    let active = adapters.into_iter().filter(|(_, state)| *state > SessionState::Disconnected);
    let names = active.map(|(adapter, _)| adapter).collect();
    let list = response::list(form, names, |name: &domain::AdapterName, text| json::write(&&*name.0, text));
    Ok(response::with_sequence(told.sequence, list))
}

pub(crate) async fn subscribe(
    State(doors): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let wish = SubscriptionBody::parse(&body)?.to_subscribe(&doors.reference())?;
    let told = doors.command(caller, Command::Subscribe(wish)).await?;
    Ok(response::with_sequence(told.sequence, response::empty()))
}

pub(crate) async fn unsubscribe(
    State(doors): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let wish = SubscriptionBody::parse(&body)?.to_unsubscribe(&doors.reference())?;
    let told = doors.command(caller, Command::Unsubscribe(wish)).await?;
    Ok(response::with_sequence(told.sequence, response::empty()))
}
