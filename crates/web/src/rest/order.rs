//! Orders: to see them, to place, change and cancel them.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::command::{CancelOrder, ModifyOrder};
use domain::{AccountId, Answer, Command, ExchangeId, IntId, Query, Refusal, Text};
use wire::fields::bare_id;
use wire::{OrderBody, OrderType, OrderVO, json};

use crate::app_state::{AppState, EngineReply};
use crate::caller::HttpCaller;
use crate::extract::{AuthenticatedClient, JsonBody, PathText, QueryExtension};
use crate::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn list(
    State(doors): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&doors.reference())?;
    order_response(form, doors.query(Query::OpenOrders(filter)).await?)
}

/// A list, because a ClOrdID may identify several.
pub(crate) async fn one(
    State(doors): State<AppState>,
    PathText(id): PathText,
    form: ListFormat,
) -> Result<Response, Problem> {
    let told = doors.query(Query::Order(id.as_str().into())).await.map_err(Problem::into_not_found)?;
    if matches!(&told.answer, Answer::Orders(orders) if orders.is_empty()) {
        return Err(unknown_order(id));
    }
    order_response(form, told)
}

fn order_response(form: ListFormat, told: EngineReply) -> Result<Response, Problem> {
    let Answer::Orders(orders) = told.answer else { return Err(Problem::unexpected_answer()) };
    let list = response::list(form, orders, |order, text| json::write(&OrderVO::from_domain(order), text));
    Ok(response::with_sequence(told.sequence, list))
}

fn unknown_order(id: impl Into<Text>) -> Problem {
    Problem::from(Refusal::UnknownOrder(id.into())).into_not_found()
}

pub(crate) async fn cancel(
    State(doors): State<AppState>,
    PathText(id): PathText,
    AuthenticatedClient(caller): AuthenticatedClient,
) -> Result<Response, Problem> {
    let Ok(int_id) = id.parse::<IntId>() else { return Err(unknown_order(id)) };
    let command = Command::Cancel(CancelOrder::new(int_id));
    let told = doors.command(caller, command).await.map_err(Problem::into_not_found)?;
    Ok(response::with_sequence(told.sequence, response::empty()))
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
    doors: &AppState,
    caller: HttpCaller,
    order_type: OrderType,
    body: &JsonBody,
) -> Result<Response, Problem> {
    let order = OrderBody::parse(&body.0)?.to_place(order_type, &doors.reference())?;
    let told = doors.command(caller, Command::Place(order)).await?;
    let Answer::Order(order) = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(response::with_sequence(told.sequence, response::order_placed(&order.int_id)))
}

async fn modify(
    doors: &AppState,
    caller: HttpCaller,
    order_type: OrderType,
    body: &JsonBody,
) -> Result<Response, Problem> {
    let change = modify_command(doors, order_type, OrderBody::parse(&body.0)?).await?;
    let told = doors.command(caller, Command::Modify(change)).await?;
    Ok(response::with_sequence(told.sequence, response::empty()))
}

/// New terms for a live order of this type.
pub(crate) async fn modify_command(
    doors: &AppState,
    order_type: OrderType,
    body: OrderBody,
) -> Result<ModifyOrder, Problem> {
    let listed_on = exchange_of(doors, &body).await?;
    Ok(body.to_modify(order_type, &doors.reference(), listed_on)?)
}

/// A bare date is a day of the live order's exchange.
async fn exchange_of(doors: &AppState, body: &OrderBody) -> Result<Option<ExchangeId>, Problem> {
    let Some(int_id) = body.int_id.as_ref().filter(|_| body.has_date_only()) else { return Ok(None) };
    let told = doors.query(Query::Order(int_id.as_str().into())).await?;
    let Answer::Orders(orders) = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(orders.first().map(|order| order.exchange))
}

pub(crate) async fn next_id(
    State(doors): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let account = AccountId(bare_id("accountId", &body)?);
    let told = doors.command(caller, Command::NextOrderId(account)).await?;
    let Answer::OrderId(id) = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(response::output(json::encode(&id.as_str())))
}
