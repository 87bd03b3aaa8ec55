//! Transactions: to record, to find, those of today.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use domain::{Answer, Command, Query, Transaction, TransactionId};
use wire::{TransactionBody, TransactionVO, json};

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody, PathId, QueryExtension};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn record(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let record = TransactionBody::parse(&body)?.to_record(&state.reference())?;
    let reply = state.command(caller, Command::Record(record)).await?;
    let Answer::Transaction(booked) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let mut done = response::empty();
    done.headers_mut().insert(header::LOCATION, location(booked.id));
    Ok(response::with_sequence(reply.sequence, done))
}

fn location(id: TransactionId) -> HeaderValue {
    HeaderValue::try_from(format!("/rest/transaction/{id}")).expect("only ASCII is in it")
}

/// The engine has today's; older ones are in history.
pub(crate) async fn one(State(state): State<AppState>, PathId(id): PathId) -> Result<Response, Problem> {
    let id = TransactionId(id);
    match state.query(Query::Transaction(id)).await {
        Ok(reply) => {
            let Answer::Transaction(booked) = reply.answer else { return Err(Problem::unexpected_answer()) };
            Ok(response::with_sequence(reply.sequence, transaction_response(&booked)))
        }
        Err(unknown) if unknown.code() == "unknown-transaction" => {
            let (as_of, found) = state.history(move |history, as_of| history.transaction(as_of, id)).await?;
            let booked = found.ok_or_else(|| unknown.into_not_found())?;
            Ok(response::with_sequence(as_of, transaction_response(&booked)))
        }
        Err(problem) => Err(problem),
    }
}

fn transaction_response(booked: &Transaction) -> Response {
    response::value(json::encode(&TransactionVO::from_domain(booked)))
}

/// Newest first.
pub(crate) async fn daily(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let filter = parameters.filter(&state.reference())?;
    let limit = limit(parameters.number("limit", FROM_ONE)?)?;
    let reply = state.query_at(parameters.past_point()?, Query::DailyTransactions(filter)).await?;
    let Answer::Transactions(mut booked) = reply.answer else { return Err(Problem::unexpected_answer()) };
    booked.truncate(limit);
    let list = response::list(form, booked, |booked, text| json::write(&TransactionVO::from_domain(booked), text));
    Ok(response::with_sequence(reply.sequence, list))
}

const FROM_ONE: &str = "a whole number from 1 below 2^32";

/// All of them by default.
fn limit(wanted: Option<u32>) -> Result<usize, Problem> {
    match wanted {
        Some(0) => Err(Problem::bad_parameter("limit", FROM_ONE)),
        wanted => Ok(wanted.and_then(|limit| limit.try_into().ok()).unwrap_or(usize::MAX)),
    }
}

pub(crate) async fn reset_cash(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
) -> Result<Response, Problem> {
    let reply = state.command(caller, Command::ResetCash).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}
