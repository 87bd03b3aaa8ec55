//! Conformance rules of lists: open orders page by page, fills by cursor.

use domain::report::{OpenOrdersPage, VenueOrder};
use domain::{OrderId, Text, Timestamp};

use super::conformance_client::{ConformanceClient, RuleResult, failed, sent};
use super::rules::{Rule, accepted, expect_reports};
use super::{Harness, OrderIntent, RuleVerdict};
use crate::venue::SendOutcome;

pub(super) fn all<H: Harness>() -> Vec<(&'static str, Rule<H>)> {
    vec![
        ("the list of open orders has every open order with its terms", list_has_open_orders),
        ("the list of open orders has none that ended", list_has_no_ended_order),
        ("the pages of a list are numbered, and one is the last", list_has_a_last_page),
        ("a list is as of its question, not later", list_is_as_of_its_question),
        ("the list of fills has every fill once", list_has_every_fill),
        ("a cursor goes on where the last list ended", cursor_goes_on),
        ("without a session nothing is listed", nothing_is_listed_without_session),
    ]
}

fn list_has_open_orders<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    lists_open_orders(desk)?;
    desk.connect()?;
    let (rests, mut replaced) = (accepted(desk)?, accepted(desk)?);
    let terms = desk.harness.other_terms(&replaced);
    sent(&desk.modify(&replaced, terms))?;
    replaced.terms = terms;
    expect_reports(desk, replaced.id, &["replaced"])?;
    let listed = orders_of(desk.list_open_orders()?);
    let is_listed = |id: OrderId, terms| listed.iter().any(|seen| seen.order == id && seen.terms == terms);
    match [&rests, &replaced].iter().find(|order| !is_listed(order.id, order.terms)) {
        None => Ok(()),
        Some(order) => failed(format!("order {} rests with {:?}, the list is {listed:?}", order.id, order.terms)),
    }
}

fn list_has_no_ended_order<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    lists_open_orders(desk)?;
    desk.connect()?;
    let canceled = accepted(desk)?;
    sent(&desk.cancel(&canceled))?;
    desk.wait()?;
    let traded = desk.send(OrderIntent::Trade)?;
    desk.wait()?;
    let listed = orders_of(desk.list_open_orders()?);
    match listed.iter().find(|seen| [canceled.id, traded.id].contains(&seen.order)) {
        None => Ok(()),
        Some(seen) => failed(format!("order {} has ended and is listed: {seen:?}", seen.order)),
    }
}

/// Half a list would look like a whole one.
fn list_has_a_last_page<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    lists_open_orders(desk)?;
    desk.connect()?;
    accepted(desk)?;
    let pages: Vec<_> = desk.list_open_orders()?.iter().map(|page| (page.page, page.last)).collect();
    let is_in_order = pages.iter().zip(0..).all(|((page, _), place)| *page == place);
    let ends = pages.iter().filter(|(_, last)| *last).count();
    let is_whole = is_in_order && ends == 1 && pages.last().is_some_and(|(_, last)| *last);
    if is_whole { Ok(()) } else { failed(format!("the pages of a list, and which is the last: {pages:?}")) }
}

/// A later instant would take an order that came after the question for one that vanished.
fn list_is_as_of_its_question<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    lists_open_orders(desk)?;
    desk.connect()?;
    accepted(desk)?;
    let mut dates: Vec<Timestamp> = desk.list_open_orders()?.iter().map(|page| page.as_of).collect();
    dates.dedup();
    let asked_at = desk.asked_at;
    match dates[..] {
        [as_of] if as_of <= asked_at && as_of > Timestamp(0) => Ok(()),
        _ => failed(format!("asked at {asked_at}, the pages are as of {dates:?}")),
    }
}

fn list_has_every_fill<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    lists_fills(desk)?;
    desk.connect()?;
    for _ in 0..2 {
        let order = desk.send(OrderIntent::Trade)?;
        expect_reports(desk, order.id, &["accepted", "filled"])?;
    }
    let (listed, _) = desk.list_fills(None)?;
    if listed == desk.fills() { Ok(()) } else { failed(format!("reported {:?}, listed {listed:?}", desk.fills())) }
}

fn cursor_goes_on<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    lists_fills(desk)?;
    desk.connect()?;
    let mut cursor: Option<Text> = None;
    for _ in 0..2 {
        let order = desk.send(OrderIntent::Trade)?;
        expect_reports(desk, order.id, &["accepted", "filled"])?;
        let (listed, next) = desk.list_fills(cursor.as_ref())?;
        if let Some(other) = listed.iter().find(|fill| fill.order != order.id) {
            return failed(format!(
                "fill {} was listed before the cursor {cursor:?} and again after it",
                other.exec_id
            ));
        }
        cursor = next;
    }
    Ok(())
}

fn nothing_is_listed_without_session<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    lists_open_orders(desk)?;
    expect_not_asked(desk)?;
    desk.connect()?;
    desk.disconnect();
    expect_not_asked(desk)
}

fn lists_open_orders<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    match desk.harness.adapter().capabilities().lists.open_orders {
        true => Ok(()),
        false => Err(RuleVerdict::NotSupported("the venue does not list open orders")),
    }
}

fn lists_fills<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    match desk.harness.adapter().capabilities().lists.fills {
        Some(_) => Ok(()),
        None => Err(RuleVerdict::NotSupported("the venue does not list fills")),
    }
}

fn orders_of(pages: Vec<OpenOrdersPage>) -> Vec<VenueOrder> {
    pages.into_iter().flat_map(|page| page.orders).collect()
}

fn expect_not_asked<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    match desk.ask_for_open_orders() {
        SendOutcome::NotSent(_) => Ok(()),
        sending => failed(format!("a list without a session: {sending:?}")),
    }
}
