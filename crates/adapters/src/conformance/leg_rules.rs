//! Conformance rules of adapters whose venue replaces an order by cancelling it and placing another one: two legs, and either
//! half may fail.

use domain::report::{
    CancelReplaceReport, HalfOutcome, InquiryResult, ReplaceKind, ReportKind, VenueOrder, VenueOrderState,
};
use domain::{Order, Text};

use super::conformance_client::{ConformanceClient, RuleResult, failed, order_in, sent};
use super::harness::FailedHalf;
use super::rules::{Rule, expect_reports};
use super::{Harness, OrderIntent, RuleVerdict};

/// None where the venue replaces orders otherwise.
pub(super) fn all<H: Harness>(replace: ReplaceKind) -> Vec<(&'static str, Rule<H>)> {
    if replace != ReplaceKind::CancelReplace {
        return Vec::new();
    }
    vec![
        ("a replaced order has a new id at the venue", replaced_order_has_a_new_id),
        ("a fill names the leg that traded", fill_names_its_leg),
        ("a replace of which nothing was done leaves the order", nothing_was_done),
        ("a replace of which only the cancel was done is told so", only_the_cancel_was_done),
        ("a replace of which only the new leg was done is told so", only_the_new_leg_was_done),
        ("an inquiry finds both legs", inquiry_finds_both_legs),
        ("the list of open orders has both legs", list_has_both_legs),
        ("the snapshot has both legs", snapshot_has_both_legs),
        ("a leg is cancelled by its id, and the order stays", leg_is_cancelled),
    ]
}

fn replaced_order_has_a_new_id<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (order, first) = rests(desk)?;
    replace(desk, &order)?;
    desk.wait()?;
    let told = desk.take_reports().into_iter().find_map(|said| match said {
        ReportKind::Replaced { ext_id, .. } => Some(ext_id),
        _ => None,
    });
    match told {
        Some(Some(second)) if second != first => Ok(()),
        told => failed(format!("the first leg is {first}, the replace was told with {told:?}")),
    }
}

fn fill_names_its_leg<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    desk.take_reports();
    let order = desk.send(OrderIntent::Trade)?;
    desk.wait()?;
    let leg = accepted_as(&desk.take_reports(), &order)?;
    match desk.fills().iter().find(|fill| fill.order == order.id && fill.ext_order.as_ref() != Some(&leg)) {
        None => Ok(()),
        Some(fill) => {
            failed(format!("order {} is {leg} at the venue, and {fill:?} names another leg or none", order.id))
        }
    }
}

fn nothing_was_done<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (order, first) = rests(desk)?;
    fail_half(desk, FailedHalf::Both)?;
    replace(desk, &order)?;
    expect_reports(desk, order.id, &["replace rejected"])?;
    let (seen, _) = found(desk, &order)?;
    if seen.ext_id == Some(first.clone()) && seen.state == VenueOrderState::Live && seen.terms == order.terms {
        return Ok(());
    }
    failed(format!("nothing was done to {first}, and the venue has {seen:?}"))
}

fn only_the_cancel_was_done<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (order, _) = rests(desk)?;
    fail_half(desk, FailedHalf::Place)?;
    replace(desk, &order)?;
    let told = told_halves(desk, &order)?;
    let is_told = (told.canceled, told.placed) == (HalfOutcome::Done, HalfOutcome::Refused);
    if is_told && told.reason.is_some() { Ok(()) } else { failed(format!("only the cancel was done: {told:?}")) }
}

/// Where the answer is lost with the connection the outcome is unknown, and never less than what was done.
fn only_the_new_leg_was_done<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (order, first) = rests(desk)?;
    fail_half(desk, FailedHalf::Cancel)?;
    replace(desk, &order)?;
    let is_lost = desk.receive().is_err();
    let said = reports_on(desk, &order);
    let is_unknown = said.iter().all(|said| matches!(said, ReportKind::DeliveryUnknown { .. }));
    if is_unknown && (is_lost || !said.is_empty()) {
        let newest = newest_leg(desk, order, is_lost)?.ext_id;
        return if newest != Some(first) {
            Ok(())
        } else {
            failed(format!("a new leg is placed, {newest:?} is found"))
        };
    }
    let told = halves_in(&said)?;
    let is_told = told.canceled == HalfOutcome::Refused && told.placed == HalfOutcome::Done;
    let has_ids = told.new_leg.as_ref().is_some_and(|leg| *leg != first);
    if is_told && has_ids { Ok(()) } else { failed(format!("{first} stays and a new leg is placed: {told:?}")) }
}

fn inquiry_finds_both_legs<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (order, first) = has_two_legs(desk)?;
    let (newest, others) = found(desk, &order)?;
    let is_other = |leg: &VenueOrder| leg.ext_id.as_ref() == Some(&first) && leg.state == VenueOrderState::Live;
    if newest.ext_id != Some(first.clone()) && others.iter().any(is_other) {
        return Ok(());
    }
    failed(format!("{first} and a newer leg rest, the answer is {newest:?} and {others:?}"))
}

fn list_has_both_legs<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (order, first) = has_two_legs(desk)?;
    let pages = desk.list_open_orders()?;
    let listed = pages.iter().flat_map(|page| &page.orders).filter(|seen| seen.order == order.id);
    both_legs(&first, listed.collect())
}

fn snapshot_has_both_legs<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (order, first) = has_two_legs(desk)?;
    let snapshot = desk.snapshot()?;
    both_legs(&first, snapshot.orders.iter().filter(|seen| seen.order == order.id).collect())
}

fn leg_is_cancelled<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (order, first) = has_two_legs(desk)?;
    desk.take_reports();
    sent(&desk.cancel_leg(&order, &first))?;
    desk.wait()?;
    let said = desk.take_reports();
    let is_ended = |said: &ReportKind| match said {
        ReportKind::Leg(seen) => seen.ext_id.as_ref() == Some(&first) && seen.state == VenueOrderState::Canceled,
        _ => false,
    };
    let of_order: Vec<_> = said.iter().filter(|said| said.order() == Some(order.id)).collect();
    if !matches!(of_order[..], [only] if is_ended(only)) {
        return failed(format!("leg {first} was cancelled: {of_order:?}"));
    }
    match order_in(&desk.snapshot()?, order.id)?.state {
        VenueOrderState::Live => Ok(()),
        state => failed(format!("one leg was cancelled, and the order is {state:?}")),
    }
}

/// An order that rests, and the venue's id of it.
fn rests<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<(Order, Text)> {
    desk.take_reports();
    let order = desk.send(OrderIntent::Rest)?;
    desk.wait()?;
    let leg = accepted_as(&desk.take_reports(), &order)?;
    Ok((Order { ext_id: Some(leg.clone()), ..order }, leg))
}

/// An order whose first leg stayed when the second was placed, and the first. Where the connection was lost with it the next
/// session has begun; the venue was asked by which leg the order works.
fn has_two_legs<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<(Order, Text)> {
    let (order, first) = rests(desk)?;
    fail_half(desk, FailedHalf::Cancel)?;
    replace(desk, &order)?;
    let is_lost = desk.receive().is_err();
    Ok((newest_leg(desk, order, is_lost)?, first))
}

/// The order as an inquiry finds it after a replace, with the venue's id of its newest leg.
fn newest_leg<H: Harness>(desk: &mut ConformanceClient<H>, order: Order, is_lost: bool) -> RuleResult<Order> {
    if is_lost {
        desk.connect()?;
        desk.snapshot()?;
    }
    fail_half(desk, FailedHalf::None)?;
    let order = Order { request: order.request + 1, ..order };
    let (mut newest, _) = found(desk, &order)?;
    if desk.is_under_fault() {
        // The engine asks until the venue's answers are sure to have the request.
        (newest, _) = found(desk, &order)?;
    }
    Ok(Order { ext_id: newest.ext_id, ..order })
}

fn accepted_as(said: &[ReportKind], order: &Order) -> RuleResult<Text> {
    let told = said.iter().find_map(|said| match said {
        ReportKind::Accepted { order: of, ext_id } if *of == order.id => ext_id.clone(),
        _ => None,
    });
    told.map_or_else(|| failed(format!("order {} was not accepted with an id", order.id)), Ok)
}

/// With the number that the engine gives the request.
fn replace<H: Harness>(desk: &mut ConformanceClient<H>, order: &Order) -> RuleResult {
    let terms = desk.harness.new_leg_terms(order);
    sent(&desk.modify(&Order { request: order.request + 1, ..order.clone() }, terms))
}

fn fail_half<H: Harness>(desk: &mut ConformanceClient<H>, half: FailedHalf) -> RuleResult {
    match desk.harness.fail_half(half) {
        true => Ok(()),
        false => Err(RuleVerdict::NotSupported("the harness cannot fail this half of a replace")),
    }
}

fn told_halves<H: Harness>(desk: &mut ConformanceClient<H>, order: &Order) -> RuleResult<CancelReplaceReport> {
    desk.wait()?;
    halves_in(&reports_on(desk, order))
}

fn reports_on<H: Harness>(desk: &mut ConformanceClient<H>, order: &Order) -> Vec<ReportKind> {
    desk.take_reports().into_iter().filter(|said| said.order() == Some(order.id)).collect()
}

fn halves_in(said: &[ReportKind]) -> RuleResult<CancelReplaceReport> {
    match said {
        [ReportKind::CancelReplaced(told)] => Ok((**told).clone()),
        _ => failed(format!("half of a replace was done: {said:?}")),
    }
}

fn found<H: Harness>(desk: &mut ConformanceClient<H>, order: &Order) -> RuleResult<(VenueOrder, Vec<VenueOrder>)> {
    let answer = desk.ask_about(order)?;
    match answer.result {
        InquiryResult::Found(seen, _) => Ok((seen, answer.other_legs.unwrap_or_default())),
        InquiryResult::NotFound => failed(format!("order {} was not found", order.id)),
    }
}

fn both_legs(first: &Text, listed: Vec<&VenueOrder>) -> RuleResult {
    let is_live = |seen: &&VenueOrder| seen.state == VenueOrderState::Live;
    let ids: Vec<_> = listed.into_iter().filter(is_live).map(|seen| seen.ext_id.clone()).collect();
    let has_first = ids.contains(&Some(first.clone()));
    if ids.len() == 2 && has_first {
        Ok(())
    } else {
        failed(format!("{first} and a newer leg rest, listed are {ids:?}"))
    }
}
