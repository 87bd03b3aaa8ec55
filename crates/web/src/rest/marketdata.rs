//! Prices as they are now: newest ticks, bars that are closed, books; and settlement prices, which are given.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::{Answer, Bar, BarSize, Command, Query, SecurityId};
use wire::{BarVO, OrderBookVO, SettlementBody, TickVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{Client, JsonBody, KnownParameters, Parameters};

pub(crate) async fn ticks(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let told = doors.ask(Query::Ticks(parameters.filter(&doors.reference())?)).await?;
    let Answer::Ticks(ticks) = told.answer else { return Err(Problem::unexpected_answer()) };
    let list = answer::list(form, ticks, |tick, text| json::write(&TickVO::from_domain(tick), text));
    Ok(answer::as_of(told.sequence, list))
}

/// Oldest first: the first of those after an instant, or the newest there are, of this start and of those before it.
pub(crate) async fn bars(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let (security, size) = (security(&doors, &parameters)?, bar_size(&parameters)?);
    let (after, limit) = (parameters.number("after", "epoch milliseconds")?, parameters.page_limit()?);
    let told = doors.ask(Query::Bars(security, size)).await?;
    let Answer::Bars(live) = told.answer else { return Err(Problem::unexpected_answer()) };
    let stored_max = if after.is_some() { usize::MAX } else { limit.saturating_sub(live.len()) };
    let bars = if stored_max == 0 { live } else { joined(&doors, (security, size, stored_max), live).await? };
    let page = page(bars, after, limit);
    let list = answer::list(form, page, |bar, text| json::write(&BarVO::from_domain(bar), text));
    Ok(answer::as_of(told.sequence, list))
}

/// Where both have a bar, the engine's counts: it knows no less.
async fn joined(
    doors: &Doors,
    (security, size, stored_max): (SecurityId, BarSize, usize),
    live: Vec<Arc<Bar>>,
) -> Result<Vec<Arc<Bar>>, Problem> {
    // The files have those of the engine too.
    let (operations, count) = (doors.shared_operations(), stored_max.saturating_add(live.len()));
    let stored = doors.aside(move || operations.stored_bars(security, size, count)).await?;
    let is_older = |bar: &Bar| live.first().is_none_or(|first| bar.at < first.at);
    let older: Vec<_> = stored.into_iter().filter(is_older).map(Arc::new).collect();
    Ok(older.into_iter().chain(live).collect())
}

fn page(mut bars: Vec<Arc<Bar>>, after: Option<i64>, limit: usize) -> Vec<Arc<Bar>> {
    match after {
        Some(after) => bars.into_iter().filter(|bar| bar.at.millis() > after).take(limit).collect(),
        None => bars.split_off(bars.len().saturating_sub(limit)),
    }
}

pub(crate) async fn set_settlement(
    State(doors): State<Doors>,
    Client(caller): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let price = SettlementBody::parse(&body)?;
    let told = doors.tell(caller, Command::SetSettlementPrice(price)).await?;
    Ok(answer::as_of(told.sequence, answer::done()))
}

/// A list with the book; empty while none is known.
pub(crate) async fn book(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let told = doors.ask(Query::Book(security(&doors, &parameters)?)).await?;
    let Answer::Book(book) = told.answer else { return Err(Problem::unexpected_answer()) };
    let books = book.into_iter().collect();
    let list = answer::list(form, books, |book, text| json::write(&OrderBookVO::from_domain(book), text));
    Ok(answer::as_of(told.sequence, list))
}

fn security(doors: &Doors, parameters: &Parameters) -> Result<SecurityId, Problem> {
    parameters.required("security")?;
    parameters.filter(&doors.reference())?.security.ok_or_else(Problem::unexpected_answer)
}

fn bar_size(parameters: &Parameters) -> Result<BarSize, Problem> {
    let Some(wanted) = parameters.get("barSize") else { return Ok(BarSize::Min1) };
    BarSize::ALL.into_iter().find(|size| size.name() == wanted).ok_or_else(|| {
        let names = BarSize::ALL.map(BarSize::name);
        Problem::bad_parameter("barSize", &format!("one of {}", names.join(", ")))
    })
}
