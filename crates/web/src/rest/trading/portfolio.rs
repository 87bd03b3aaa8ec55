//! Values and cash of strategies, and the value history.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::{Answer, Query};
use wire::{CashBalanceVO, PortfolioValueVO, ValueHistoryVO, json};

use crate::app_state::AppState;
use crate::extract::QueryExtension;
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;
use crate::rest::trading::value_search::ValueHistorySearch;

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

pub(crate) async fn history(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let search = ValueHistorySearch::from_parameters(&parameters, &state.reference())?;
    let (as_of, rows) = state.history(move |history, as_of| search.rows(history, as_of)).await?;
    let list = response::list(form, rows, |row, text| json::write(&ValueHistoryVO::from_domain(row), text));
    Ok(response::with_sequence(as_of, list))
}
