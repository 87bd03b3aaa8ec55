//! Orders: to see them, to place, change and cancel them.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::command::{CancelOrder, ModifyOrder};
use domain::{AccountId, Answer, Command, ExchangeId, IntId, Query, Refusal, Text};
use wire::fields::bare_id;
use wire::{OrderBody, OrderType, OrderVO, json};

use crate::answer;
use crate::doors::{Doors, Told};
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{Client, JsonBody, KnownParameters, PathText};
use crate::visitor::Speaker;

pub(crate) async fn list(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&doors.reference())?;
    shown(form, doors.ask(Query::OpenOrders(filter)).await?)
}

/// A list, because a ClOrdID may identify several.
pub(crate) async fn one(State(doors): State<Doors>, PathText(id): PathText, form: Form) -> Result<Response, Problem> {
    let told = doors.ask(Query::Order(id.as_str().into())).await.map_err(Problem::of_the_path)?;
    if matches!(&told.answer, Answer::Orders(orders) if orders.is_empty()) {
        return Err(unknown(id));
    }
    shown(form, told)
}

fn shown(form: Form, told: Told) -> Result<Response, Problem> {
    let Answer::Orders(orders) = told.answer else { return Err(Problem::unexpected_answer()) };
    let list = answer::list(form, orders, |order, text| json::write(&OrderVO::from_domain(order), text));
    Ok(answer::as_of(told.sequence, list))
}

fn unknown(id: impl Into<Text>) -> Problem {
    Problem::from(Refusal::UnknownOrder(id.into())).of_the_path()
}

pub(crate) async fn cancel(
    State(doors): State<Doors>,
    PathText(id): PathText,
    Client(caller): Client,
) -> Result<Response, Problem> {
    let Ok(int_id) = id.parse::<IntId>() else { return Err(unknown(id)) };
    let command = Command::Cancel(CancelOrder::of(int_id));
    let told = doors.tell(caller, command).await.map_err(Problem::of_the_path)?;
    Ok(answer::as_of(told.sequence, answer::done()))
}

macro_rules! by_type {
    ($($order_type:ident: $place:ident, $modify:ident;)*) => { $(
        pub(crate) async fn $place(
            State(doors): State<Doors>,
            Client(caller): Client,
            body: JsonBody,
        ) -> Result<Response, Problem> {
            place(&doors, caller, OrderType::$order_type, &body).await
        }

        pub(crate) async fn $modify(
            State(doors): State<Doors>,
            Client(caller): Client,
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

async fn place(doors: &Doors, caller: Speaker, order_type: OrderType, body: &JsonBody) -> Result<Response, Problem> {
    let order = OrderBody::parse(&body.0)?.to_place(order_type, &doors.reference())?;
    let told = doors.tell(caller, Command::Place(order)).await?;
    let Answer::Order(order) = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(answer::as_of(told.sequence, answer::placed(&order.int_id)))
}

async fn modify(doors: &Doors, caller: Speaker, order_type: OrderType, body: &JsonBody) -> Result<Response, Problem> {
    let change = changed(doors, order_type, OrderBody::parse(&body.0)?).await?;
    let told = doors.tell(caller, Command::Modify(change)).await?;
    Ok(answer::as_of(told.sequence, answer::done()))
}

/// New terms for a live order of this type.
pub(crate) async fn changed(doors: &Doors, order_type: OrderType, body: OrderBody) -> Result<ModifyOrder, Problem> {
    let listed_on = listed_on(doors, &body).await?;
    Ok(body.to_modify(order_type, &doors.reference(), listed_on)?)
}

/// A bare date is a day of the live order's exchange.
async fn listed_on(doors: &Doors, body: &OrderBody) -> Result<Option<ExchangeId>, Problem> {
    let Some(int_id) = body.int_id.as_ref().filter(|_| body.names_a_day_alone()) else { return Ok(None) };
    let told = doors.ask(Query::Order(int_id.as_str().into())).await?;
    let Answer::Orders(orders) = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(orders.first().map(|order| order.exchange))
}

pub(crate) async fn next_id(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let account = AccountId(bare_id("accountId", &body)?);
    let told = doors.tell(caller, Command::NextOrderId(account)).await?;
    let Answer::OrderId(id) = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(answer::output(json::encode(&id.as_str())))
}
