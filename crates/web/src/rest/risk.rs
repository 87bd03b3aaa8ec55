//! The risk gate: dry runs, trading states, the kill switch, limits.

use axum::extract::State;
use axum::response::Response;
use domain::{Answer, Command, Query, ReferenceData, Refusal, Scope};
use wire::risk::parse_limits;
use wire::{
    FieldError, KillBody, KilledVO, LimitsVO, OrderBody, OrderType, StateBody, TradingStateVO, VerdictVO, json,
};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{Client, JsonBody};
use crate::rest::order::changed;
use crate::visitor::Speaker;

/// Dry run of an order; no effect.
pub(crate) async fn check(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let body = OrderBody::parse(&body)?;
    let order_type = named_type(&body)?;
    let order = body.to_place(order_type, &doors.reference())?;
    judged(&doors, caller, Command::Place(order)).await
}

/// Dry run of new terms for a live order; no effect.
pub(crate) async fn check_modify(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let body = OrderBody::parse(&body)?;
    let change = changed(&doors, named_type(&body)?, body).await?;
    judged(&doors, caller, Command::Modify(change)).await
}

/// A path for orders of every type requires the type in the body.
fn named_type(body: &OrderBody) -> Result<OrderType, Problem> {
    Ok(body.order_type.ok_or_else(|| vec![FieldError::missing("objectType")])?)
}

/// A dry run obeys the same rule as the command itself.
async fn judged(doors: &Doors, caller: Speaker, command: Command) -> Result<Response, Problem> {
    let query = match doors.in_own_name(&caller, command).await? {
        Command::Place(order) => Query::Check(order, caller.caller()),
        Command::Modify(change) => Query::CheckModify(change, caller.caller()),
        _ => return Err(Problem::unexpected_answer()),
    };
    let told = doors.ask(query).await?;
    let Answer::Verdict(verdict) = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(answer::as_of(told.sequence, answer::output(json::encode(&VerdictVO::from_domain(&verdict)))))
}

pub(crate) async fn states(State(doors): State<Doors>, form: Form) -> Result<Response, Problem> {
    let told = doors.ask(Query::TradingStates).await?;
    let Answer::TradingStates(states) = told.answer else { return Err(Problem::unexpected_answer()) };
    let list = answer::list(form, states, |state, text| json::write(&TradingStateVO::from_domain(state), text));
    Ok(answer::as_of(told.sequence, list))
}

pub(crate) async fn set_state(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let StateBody { scope, state, reason } = StateBody::parse(&body)?;
    check_scope(scope, &doors.reference())?;
    let told = doors.tell(caller, Command::SetTradingState { scope, state, reason }).await?;
    Ok(answer::as_of(told.sequence, answer::done()))
}

pub(crate) async fn kill(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let KillBody { scope, reason } = KillBody::parse(&body)?;
    check_scope(scope, &doors.reference())?;
    let told = doors.tell(caller, Command::Kill { scope, reason }).await?;
    let Answer::Killed { cancels } = told.answer else { return Err(Problem::unexpected_answer()) };
    Ok(answer::as_of(told.sequence, answer::output(json::encode(&KilledVO::from_domain(scope, cancels)))))
}

pub(crate) async fn limits(State(doors): State<Doors>, form: Form) -> Result<Response, Problem> {
    let told = doors.ask(Query::Limits).await?;
    let Answer::Limits(limits) = told.answer else { return Err(Problem::unexpected_answer()) };
    let list =
        answer::list(form, limits, |(scope, limits), text| json::write(&LimitsVO::from_domain(*scope, limits), text));
    Ok(answer::as_of(told.sequence, list))
}

pub(crate) async fn set_limits(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let (scope, change) = parse_limits(&body)?;
    check_scope(scope, &doors.reference())?;
    let told = doors.tell(caller, Command::ChangeLimits { scope, change }).await?;
    Ok(answer::as_of(told.sequence, answer::done()))
}

/// An unknown scope is rejected: the caller would believe that trading is halted.
fn check_scope(scope: Scope, reference: &ReferenceData) -> Result<(), Refusal> {
    match scope {
        Scope::Account(id) if !reference.accounts.contains_key(&id) => {
            Err(Refusal::UnknownAccount(id.to_string().into()))
        }
        Scope::Strategy(id) if !reference.strategies.contains_key(&id) => {
            Err(Refusal::UnknownStrategy(id.to_string().into()))
        }
        Scope::Security(id) if !reference.securities.contains_key(&id) => Err(Refusal::UnknownSecurity(id)),
        Scope::Platform | Scope::Account(_) | Scope::Strategy(_) | Scope::Security(_) => Ok(()),
    }
}
