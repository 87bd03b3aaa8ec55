//! Current prices: newest ticks, closed bars, books; and settlement prices, which are set by clients.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::query::Filter;
use domain::{Answer, Bar, BarSize, Command, Query, SecurityId};
use wire::{BarVO, OrderBookVO, SettlementBody, TickVO, json};

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody, QueryExtension, QueryParameters};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;

/// Bars per response.
const BARS_MAX: usize = 20_000;

/// Of the given securities, in that order, or of all.
pub(crate) async fn ticks(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let wanted = parameters.securities(&state.reference())?;
    let only = if let [only] = wanted[..] { Some(only) } else { None };
    let reply = state.query(Query::Ticks(Filter { security: only, ..Filter::default() })).await?;
    let Answer::Ticks(mut ticks) = reply.answer else { return Err(Problem::unexpected_answer()) };
    if wanted.len() > 1 {
        ticks = wanted.iter().filter_map(|id| ticks.iter().find(|tick| tick.security == *id).cloned()).collect();
    }
    let list = response::list(form, ticks, |tick, text| json::write(&TickVO::from_domain(tick), text));
    Ok(response::with_sequence(reply.sequence, list))
}

/// Security by security, each oldest first: the first after an instant, or the newest, of this run of the server and of
/// earlier ones.
pub(crate) async fn bars(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let (wanted, size) = (named_securities(&state, &parameters)?, bar_size(&parameters)?);
    let (after, limit) = (parameters.number("after", "epoch milliseconds")?, parameters.page_limit()?);
    if wanted.len() * limit > BARS_MAX {
        let most = BARS_MAX / wanted.len();
        return Err(Problem::bad_parameter("limit", &format!("at most {most} for {} securities", wanted.len())));
    }
    // The response is as complete as its oldest part.
    let (mut bars, mut sequence) = (vec![], u64::MAX);
    for security in wanted {
        let (reply, of_one) = bars_of(&state, security, size, after, limit).await?;
        sequence = sequence.min(reply);
        bars.extend(of_one);
    }
    let list = response::list(form, bars, |bar, text| json::write(&BarVO::from_domain(bar), text));
    Ok(response::with_sequence(sequence, list))
}

async fn bars_of(
    state: &AppState,
    security: SecurityId,
    size: BarSize,
    after: Option<i64>,
    limit: usize,
) -> Result<(u64, Vec<Arc<Bar>>), Problem> {
    let reply = state.query(Query::Bars(security, size)).await?;
    let Answer::Bars(live) = reply.answer else { return Err(Problem::unexpected_answer()) };
    let stored_max = if after.is_some() { usize::MAX } else { limit.saturating_sub(live.len()) };
    let bars = if stored_max == 0 { live } else { stored_and_live(state, (security, size, stored_max), live).await? };
    Ok((reply.sequence, page(bars, after, limit)))
}

/// Where both have a bar, the engine's wins: it is at least as complete.
async fn stored_and_live(
    state: &AppState,
    (security, size, stored_max): (SecurityId, BarSize, usize),
    live: Vec<Arc<Bar>>,
) -> Result<Vec<Arc<Bar>>, Problem> {
    // The files contain those of the engine too.
    let (bars, count) = (state.services().bars.clone(), stored_max.saturating_add(live.len()));
    let stored = state.blocking(move || bars.newest_bars(security, size, count)).await?;
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
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let price = SettlementBody::parse(&body)?;
    let reply = state.command(caller, Command::SetSettlementPrice(price)).await?;
    Ok(response::with_sequence(reply.sequence, response::empty()))
}

/// The books of the given securities; one without a book is omitted.
pub(crate) async fn book(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let (mut books, mut sequence) = (vec![], u64::MAX);
    for security in named_securities(&state, &parameters)? {
        let reply = state.query(Query::Book(security)).await?;
        let Answer::Book(book) = reply.answer else { return Err(Problem::unexpected_answer()) };
        sequence = sequence.min(reply.sequence);
        books.extend(book);
    }
    let list = response::list(form, books, |book, text| json::write(&OrderBookVO::from_domain(book), text));
    Ok(response::with_sequence(sequence, list))
}

fn named_securities(state: &AppState, parameters: &QueryParameters) -> Result<Vec<SecurityId>, Problem> {
    parameters.required("security")?;
    parameters.securities(&state.reference())
}

fn bar_size(parameters: &QueryParameters) -> Result<BarSize, Problem> {
    let Some(wanted) = parameters.get("barSize") else { return Ok(BarSize::Min1) };
    BarSize::ALL.into_iter().find(|size| size.name() == wanted).ok_or_else(|| {
        let names = BarSize::ALL.map(BarSize::name);
        Problem::bad_parameter("barSize", &format!("one of {}", names.join(", ")))
    })
}
