//! Market data subscriptions: the feeds, and the subscriptions of strategies.

use axum::extract::State;
use axum::response::Response;
use domain::report::SessionState;
use domain::{Answer, Command, Query};
use wire::{SubscriptionBody, json};

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

/// Each adapter that is connected has its feed.
pub(crate) async fn feeds(State(doors): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let reply = doors.query(Query::Adapters).await?;
    let Answer::Adapters(adapters) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let active = adapters.into_iter().filter(|status| status.session > SessionState::Disconnected);
    let names = active.map(|status| status.adapter).collect();
    let list = response::list(form, names, |name: &domain::AdapterName, text| json::write(&&*name.0, text));
    Ok(response::with_sequence(reply.sequence, list))
}

pub(crate) async fn subscribe(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let request = SubscriptionBody::parse(&body)?.to_subscribe(&state.reference())?;
    let reply = state.command(caller, Command::Subscribe(request)).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

pub(crate) async fn unsubscribe(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let request = SubscriptionBody::parse(&body)?.to_unsubscribe(&state.reference())?;
    let reply = state.command(caller, Command::Unsubscribe(request)).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}
