//! Orders: to see them, to place, change and cancel them.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::command::{CancelOrder, ClaimOrder, ModifyOrder};
use domain::{AccountId, Answer, Command, ExchangeId, IntId, OrderType, Query, Refusal, Text};
use wire::fields::bare_id;
use wire::{ClaimBody, OrderBody, OrderVO, json};

use crate::app_state::{AppState, EngineReply};
use crate::extract::{AuthenticatedClient, JsonBody, PathText, QueryExtension};
use crate::lists::list_format::ListFormat;
use crate::middleware::caller::HttpCaller;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&state.reference())?;
    order_response(form, state.query_at(parameters.past_point()?, Query::OpenOrders(filter)).await?)
}

/// A list, because a ClOrdID may identify several.
pub(crate) async fn one(
    State(state): State<AppState>,
    PathText(id): PathText,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let query = Query::Order(id.as_str().into());
    let reply = state.query_at(parameters.past_point()?, query).await.map_err(Problem::into_not_found)?;
    if matches!(&reply.answer, Answer::Orders(orders) if orders.is_empty()) {
        return Err(unknown_order(id));
    }
    order_response(form, reply)
}

fn order_response(form: ListFormat, reply: EngineReply) -> Result<Response, Problem> {
    let Answer::Orders(orders) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let list = response::list(form, orders, |order, text| json::write(&OrderVO::from_domain(order), text));
    Ok(response::with_sequence(reply.sequence, list))
}

fn unknown_order(id: impl Into<Text>) -> Problem {
    Problem::from(Refusal::UnknownOrder(id.into())).into_not_found()
}

pub(crate) async fn cancel(
    State(state): State<AppState>,
    PathText(id): PathText,
    AuthenticatedClient(caller): AuthenticatedClient,
) -> Result<Response, Problem> {
    let Ok(int_id) = id.parse::<IntId>() else { return Err(unknown_order(id)) };
    let command = Command::Cancel(CancelOrder::new(int_id));
    let reply = state.command(caller, command).await.map_err(Problem::into_not_found)?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

/// An order that nobody placed here goes to a strategy.
pub(crate) async fn claim(
    State(state): State<AppState>,
    PathText(id): PathText,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let strategy = ClaimBody::parse(&body)?.find(&state.reference())?;
    let Ok(int_id) = id.parse::<IntId>() else { return Err(unknown_order(id)) };
    let command = Command::Claim(ClaimOrder { int_id, strategy });
    let reply = state.command(caller, command).await.map_err(Problem::into_not_found)?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

macro_rules! by_type {
    ($($order_type:ident: $place:ident, $modify:ident;)*) => { $(
        pub(crate) async fn $place(
            State(doors): State<AppState>,
            AuthenticatedClient(caller): AuthenticatedClient,
            body: JsonBody,
        ) -> Result<Response, Problem> {
            place(&doors, caller, OrderType::$order_type, &body).await
        }

        pub(crate) async fn $modify(
            State(doors): State<AppState>,
            AuthenticatedClient(caller): AuthenticatedClient,
            body: JsonBody,
        ) -> Result<Response, Problem> {
            modify(&doors, caller, OrderType::$order_type, &body).await
        }
    )* };
}

by_type! {
    Market: place_market, modify_market;
    Limit: place_limit, modify_limit;
    Stop: place_stop, modify_stop;
    StopLimit: place_stop_limit, modify_stop_limit;
}

async fn place(
    state: &AppState,
    caller: HttpCaller,
    order_type: OrderType,
    body: &JsonBody,
) -> Result<Response, Problem> {
    let order = OrderBody::parse(&body.0)?.to_place(order_type, &state.reference())?;
    let reply = state.command(caller, Command::Place(order)).await?;
    let Answer::Order(order) = reply.answer else { return Err(Problem::unexpected_answer()) };
    Ok(response::with_sequence(reply.sequence, response::order_placed(&order.int_id)))
}

async fn modify(
    state: &AppState,
    caller: HttpCaller,
    order_type: OrderType,
    body: &JsonBody,
) -> Result<Response, Problem> {
    let change = modify_command(state, order_type, OrderBody::parse(&body.0)?).await?;
    let reply = state.command(caller, Command::Modify(change)).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

/// New terms for a live order of this type.
pub(crate) async fn modify_command(
    state: &AppState,
    order_type: OrderType,
    body: OrderBody,
) -> Result<ModifyOrder, Problem> {
    let listed_on = exchange_of(state, &body).await?;
    Ok(body.to_modify(order_type, &state.reference(), listed_on)?)
}

/// A bare date is a day of the live order's exchange.
async fn exchange_of(state: &AppState, body: &OrderBody) -> Result<Option<ExchangeId>, Problem> {
    let Some(int_id) = body.int_id.as_ref().filter(|_| body.has_date_only()) else { return Ok(None) };
    let reply = state.query(Query::Order(int_id.as_str().into())).await?;
    let Answer::Orders(orders) = reply.answer else { return Err(Problem::unexpected_answer()) };
    Ok(orders.first().map(|order| order.exchange))
}

pub(crate) async fn next_id(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let account = AccountId(bare_id("accountId", &body)?);
    let reply = state.command(caller, Command::NextOrderId(account)).await?;
    let Answer::OrderId(id) = reply.answer else { return Err(Problem::unexpected_answer()) };
    Ok(response::output(json::encode(&id.as_str())))
}
