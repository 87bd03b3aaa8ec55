//! Values and cash of strategies.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::{Answer, Query};
use wire::{CashBalanceVO, PortfolioValueVO, json};

use crate::app_state::AppState;
use crate::extract::QueryExtension;
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn value(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&state.reference())?;
    let reply = state.query_at(parameters.past_point()?, Query::PortfolioValue(filter.strategy)).await?;
    let Answer::PortfolioValues(values) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let list = response::list(form, values, |value, text| json::write(&PortfolioValueVO::from_domain(value), text));
    Ok(response::with_sequence(reply.sequence, list))
}

pub(crate) async fn balance(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&state.reference())?;
    let reply = state.query_at(parameters.past_point()?, Query::Balances(filter)).await?;
    let Answer::Balances(balances) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let list = response::list(form, balances, |balance, text| json::write(&CashBalanceVO::from_domain(balance), text));
    Ok(response::with_sequence(reply.sequence, list))
}
