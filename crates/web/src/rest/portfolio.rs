//! Values and cash of strategies.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::{Answer, Query};
use wire::{CashBalanceVO, PortfolioValueVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::KnownParameters;

pub(crate) async fn value(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&doors.reference())?;
    let told = doors.ask(Query::PortfolioValue(filter.strategy)).await?;
    let Answer::PortfolioValues(values) = told.answer else { return Err(Problem::unexpected_answer()) };
    let list = answer::list(form, values, |value, text| json::write(&PortfolioValueVO::from_domain(value), text));
    Ok(answer::as_of(told.sequence, list))
}

pub(crate) async fn balance(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&doors.reference())?;
    let told = doors.ask(Query::Balances(filter)).await?;
    let Answer::Balances(balances) = told.answer else { return Err(Problem::unexpected_answer()) };
    let list = answer::list(form, balances, |balance, text| json::write(&CashBalanceVO::from_domain(balance), text));
    Ok(answer::as_of(told.sequence, list))
}
