//! History, page by page: orders, order events, transactions, all events. Each page begins after a key: an order's or a
//! transaction's id, or the sequence of an event.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bus::history::{HistoryError, PastEvent};
use domain::{Published, Refusal};
use wire::{OrderStatusVO, OrderVO, PastEventVO, TransactionVO, json};

use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{KnownParameters, PathText};
use crate::rest::order_search::order_search;

pub(crate) async fn orders(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let (search, (sort, page)) = (order_search(&parameters, &doors.reference())?, parameters.sorted_page()?);
    let (as_of, orders) = doors.recall(move |history, as_of| history.orders(as_of, &search, sort, page)).await?;
    let list = answer::list(form, orders, |order, text| json::write(&OrderVO::from_domain(order), text));
    Ok(answer::as_of(as_of, list))
}

pub(crate) async fn order_events(
    State(doors): State<Doors>,
    PathText(int_id): PathText,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let page = parameters.page()?;
    let wanted = int_id.clone();
    let (as_of, mut events) = doors.recall(move |history, as_of| history.order_events(as_of, &wanted)).await?;
    // An accepted order has at least one.
    if events.is_empty() {
        return Err(Problem::from(Refusal::UnknownOrder(int_id.into())).of_the_path());
    }
    events.retain(|event| event.sequence > page.after);
    events.truncate(page.limit);
    let list = answer::list(form, events, |event, text| json::write(&OrderStatusVO::from_domain(event), text));
    Ok(answer::as_of(as_of, list))
}

pub(crate) async fn transactions(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let (filter, (sort, page)) = (parameters.filter(&doors.reference())?, parameters.sorted_page()?);
    let (as_of, booked) = doors.recall(move |history, as_of| history.transactions(as_of, filter, sort, page)).await?;
    let list = answer::list(form, booked, |booked, text| json::write(&TransactionVO::from_domain(booked), text));
    Ok(answer::as_of(as_of, list))
}

/// Events of one input stay on one page, which may exceed its limit for that.
pub(crate) async fn events(
    State(doors): State<Doors>,
    Extension(parameters): KnownParameters,
    form: Form,
) -> Result<Response, Problem> {
    let (page, reference) = (parameters.page()?, doors.reference());
    let (as_of, events) = doors.recall(move |history, as_of| readable(history.events(as_of, page)?)).await?;
    let list = answer::list(form, events, move |published, text| {
        json::write(&PastEventVO::from_domain(published, &reference), text);
    });
    Ok(answer::as_of(as_of, list))
}

fn readable(events: Vec<PastEvent>) -> Result<Vec<Published>, HistoryError> {
    let read = |event: &PastEvent| {
        let unreadable = || HistoryError::Broken(format!("event {} is of another build", event.sequence));
        event.published().ok_or_else(unreadable)
    };
    events.iter().map(read).collect()
}
