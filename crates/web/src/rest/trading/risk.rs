//! The risk gate: dry runs, trading states, the kill switch, dead-man timers, limits.

use axum::extract::State;
use axum::response::Response;
use domain::risk::RiskLimitsChange;
use domain::{Answer, Command, OrderType, Query, ReferenceData, Refusal, RiskScope};
use wire::limits::parse_limits;
use wire::{
    DeadManBody, DeadManTimerVO, FieldError, KillBody, KilledVO, LimitsVO, OrderBody, StateBody, TradingStateVO,
    VerdictVO, json,
};

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody, PathText};
use crate::lists::list_format::ListFormat;
use crate::middleware::caller::HttpCaller;
use crate::problem::Problem;
use crate::response;
use crate::rest::trading::order::modify_command;

/// Dry run of an order; no effect.
pub(crate) async fn check(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let body = OrderBody::parse(&body)?;
    let order_type = required_order_type(&body)?;
    let order = body.to_place(order_type, &state.reference())?;
    dry_run(&state, caller, Command::Place(order)).await
}

/// Dry run of new terms for a live order; no effect.
pub(crate) async fn check_modify(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let body = OrderBody::parse(&body)?;
    let change = modify_command(&state, required_order_type(&body)?, body).await?;
    dry_run(&state, caller, Command::Modify(change)).await
}

/// A path for orders of every type requires the type in the body.
fn required_order_type(body: &OrderBody) -> Result<OrderType, Problem> {
    Ok(body.order_type.ok_or_else(|| vec![FieldError::missing("objectType")])?)
}

/// A dry run obeys the same rule as the command itself.
async fn dry_run(state: &AppState, caller: HttpCaller, command: Command) -> Result<Response, Problem> {
    let query = match state.scoped_command(&caller, command).await? {
        Command::Place(order) => Query::CheckOrder(order, caller.caller()),
        Command::Modify(change) => Query::CheckModify(change, caller.caller()),
        _ => return Err(Problem::unexpected_answer()),
    };
    let reply = state.query(query).await?;
    let Answer::PreTradeCheck(verdict) = reply.answer else { return Err(Problem::unexpected_answer()) };
    Ok(response::with_sequence(reply.sequence, response::output(json::encode(&VerdictVO::from_domain(&verdict)))))
}

pub(crate) async fn states(State(doors): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let reply = doors.query(Query::TradingStates).await?;
    let Answer::TradingStates(states) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let list = response::list(form, states, |state, text| json::write(&TradingStateVO::from_domain(state), text));
    Ok(response::with_sequence(reply.sequence, list))
}

pub(crate) async fn set_state(
    State(doors): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let StateBody { scope, state, reason } = StateBody::parse(&body)?;
    check_scope(scope, &doors.reference())?;
    let reply = doors.command(caller, Command::SetTradingState { scope, state, reason }).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

pub(crate) async fn kill(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let KillBody { scope, reason } = KillBody::parse(&body)?;
    check_scope(scope, &state.reference())?;
    let reply = state.command(caller, Command::Kill { scope, reason }).await?;
    let Answer::Killed { cancels } = reply.answer else { return Err(Problem::unexpected_answer()) };
    Ok(response::with_sequence(reply.sequence, response::output(json::encode(&KilledVO::from_domain(scope, cancels)))))
}

pub(crate) async fn limits(State(state): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let reply = state.query(Query::Limits).await?;
    let Answer::Limits(limits) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let list =
        response::list(form, limits, |(scope, limits), text| json::write(&LimitsVO::from_domain(*scope, limits), text));
    Ok(response::with_sequence(reply.sequence, list))
}

pub(crate) async fn set_limits(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let (scope, change) = parse_limits(&body)?;
    check_scope(scope, &state.reference())?;
    check_securities(&change, &state.reference())?;
    let reply = state.command(caller, Command::ChangeLimits { scope, change }).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

pub(crate) async fn dead_man_timers(State(state): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let reply = state.query(Query::DeadManTimers).await?;
    let Answer::DeadManTimers(timers) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let list = response::list(form, timers, |timer, text| json::write(&DeadManTimerVO::from_domain(timer), text));
    Ok(response::with_sequence(reply.sequence, list))
}

pub(crate) async fn arm_dead_man(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let DeadManBody { scope, seconds } = DeadManBody::parse(&body)?;
    check_scope(scope, &state.reference())?;
    let reply = state.command(caller, Command::ArmDeadMan { scope, seconds }).await?;
    let Answer::DeadManTimers(timers) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let timer = timers.first().ok_or_else(Problem::unexpected_answer)?;
    let output = response::output(json::encode(&DeadManTimerVO::from_domain(timer)));
    Ok(response::with_sequence(reply.sequence, output))
}

pub(crate) async fn disarm_dead_man(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    PathText(scope): PathText,
) -> Result<Response, Problem> {
    let scope: RiskScope = scope.parse().map_err(|_| {
        Problem::new("malformed-path", "the scope must be PLATFORM, ACCOUNT-<id>, STRATEGY-<id> or SECURITY-<id>")
    })?;
    let reply = state.command(caller, Command::DisarmDeadMan { scope }).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

/// A misspelt id on a restricted list would protect nothing.
fn check_securities(change: &RiskLimitsChange, reference: &ReferenceData) -> Result<(), Refusal> {
    let mut listed = change.limits.restricted_securities.iter().flatten();
    match listed.find(|id| !reference.securities.contains_key(id)) {
        Some(unknown) => Err(Refusal::UnknownSecurity(*unknown)),
        None => Ok(()),
    }
}

/// An unknown scope is rejected: the caller would believe that trading is halted.
fn check_scope(scope: RiskScope, reference: &ReferenceData) -> Result<(), Refusal> {
    match scope {
        RiskScope::Account(id) if !reference.accounts.contains_key(&id) => {
            Err(Refusal::UnknownAccount(id.to_string().into()))
        }
        RiskScope::Strategy(id) if !reference.strategies.contains_key(&id) => {
            Err(Refusal::UnknownStrategy(id.to_string().into()))
        }
        RiskScope::Security(id) if !reference.securities.contains_key(&id) => Err(Refusal::UnknownSecurity(id)),
        RiskScope::Platform | RiskScope::Account(_) | RiskScope::Strategy(_) | RiskScope::Security(_) => Ok(()),
    }
}
