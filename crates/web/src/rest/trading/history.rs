//! History, page by page: orders, order events, transactions, all events. Each page begins after a key: an order's or a
//! transaction's id, or the sequence of an event.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bus::history::{HistoryError, StoredEvent};
use domain::{PublishedEvent, Refusal};
use wire::{OrderStatusVO, OrderVO, PastEventVO, TransactionVO, json};

use crate::app_state::AppState;
use crate::extract::{PathText, QueryExtension};
use crate::lists::list_format::ListFormat;
use crate::problem::Problem;
use crate::response;
use crate::rest::trading::order_search::{order_search, transaction_search};

pub(crate) async fn orders(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let (search, (sort, page)) = (order_search(&parameters, &state.reference())?, parameters.sorted_page()?);
    let (as_of, orders) = state.history(move |history, as_of| history.orders(as_of, &search, sort, page)).await?;
    let list = response::list(form, orders, |order, text| json::write(&OrderVO::from_domain(order), text));
    Ok(response::with_sequence(as_of, list))
}

pub(crate) async fn order_events(
    State(state): State<AppState>,
    PathText(int_id): PathText,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let page = parameters.page()?;
    let wanted = int_id.clone();
    let (as_of, mut events) = state.history(move |history, as_of| history.order_events(as_of, &wanted)).await?;
    // An accepted order has at least one.
    if events.is_empty() {
        return Err(Problem::from(Refusal::UnknownOrder(int_id.into())).into_not_found());
    }
    events.retain(|event| event.sequence > page.after);
    events.truncate(page.limit);
    let list = response::list(form, events, |event, text| json::write(&OrderStatusVO::from_domain(event), text));
    Ok(response::with_sequence(as_of, list))
}

pub(crate) async fn transactions(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let (search, (sort, page)) = (transaction_search(&parameters, &state.reference())?, parameters.sorted_page()?);
    let (as_of, booked) = state.history(move |history, as_of| history.transactions(as_of, &search, sort, page)).await?;
    let list = response::list(form, booked, |booked, text| json::write(&TransactionVO::from_domain(booked), text));
    Ok(response::with_sequence(as_of, list))
}

/// Events of one input stay on one page, which may exceed its limit for that.
pub(crate) async fn events(
    State(state): State<AppState>,
    Extension(parameters): QueryExtension,
    form: ListFormat,
) -> Result<Response, Problem> {
    let (page, reference) = (parameters.page()?, state.reference());
    let (as_of, events) = state.history(move |history, as_of| decode_events(history.events(as_of, page)?)).await?;
    let list = response::list(form, events, move |published, text| {
        json::write(&PastEventVO::from_domain(published, &reference), text);
    });
    Ok(response::with_sequence(as_of, list))
}

fn decode_events(events: Vec<StoredEvent>) -> Result<Vec<PublishedEvent>, HistoryError> {
    let read = |event: &StoredEvent| {
        let unreadable = || HistoryError::Failed(format!("event {} is of another build", event.sequence));
        event.decode_event().ok_or_else(unreadable)
    };
    events.iter().map(read).collect()
}
