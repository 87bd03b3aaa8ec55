//! Market data subscriptions: the feeds, and the subscriptions of strategies.

use axum::extract::State;
use axum::response::Response;
use domain::report::SessionState;
use domain::{Answer, Command, Query};
use wire::{SubscriptionBody, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{Client, JsonBody};

/// Each adapter that is connected has its feed.
pub(crate) async fn feeds(State(doors): State<Doors>, form: Form) -> Result<Response, Problem> {
    let told = doors.ask(Query::Adapters).await?;
    let Answer::Adapters(adapters) = told.answer else { return Err(Problem::unexpected_answer()) };
    let active = adapters.into_iter().filter(|(_, state)| *state > SessionState::Disconnected);
    let names = active.map(|(adapter, _)| adapter).collect();
    let list = answer::list(form, names, |name: &domain::AdapterName, text| json::write(&&*name.0, text));
    Ok(answer::as_of(told.sequence, list))
}

pub(crate) async fn subscribe(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let wish = SubscriptionBody::parse(&body)?.to_subscribe(&doors.reference())?;
    let told = doors.tell(caller, Command::Subscribe(wish)).await?;
    Ok(answer::as_of(told.sequence, answer::done()))
}

pub(crate) async fn unsubscribe(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let wish = SubscriptionBody::parse(&body)?.to_unsubscribe(&doors.reference())?;
    let told = doors.tell(caller, Command::Unsubscribe(wish)).await?;
    Ok(answer::as_of(told.sequence, answer::done()))
}
