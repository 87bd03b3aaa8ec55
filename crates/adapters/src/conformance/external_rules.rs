//! Conformance rules of orders that the adapter did not send: they were placed elsewhere on the account.

use domain::report::{ExternalOrder, InquiryResult, ReportKind, VenueOrderState};
use domain::{Order, Quantity, Source};

use super::conformance_client::{ConformanceClient, RuleResult, failed, sent};
use super::rules::Rule;
use super::{Harness, OrderIntent, RuleVerdict};

pub(super) fn all<H: Harness>() -> Vec<(&'static str, Rule<H>)> {
    vec![
        ("an order that was placed elsewhere is reported", external_order_is_reported),
        ("an order that was placed elsewhere is reported with its fills", external_fills_are_reported),
        ("the snapshot has orders that were placed elsewhere", snapshot_has_external_orders),
        ("an order that was placed elsewhere can be cancelled", external_order_is_canceled),
        ("an inquiry finds an order that was placed elsewhere", inquiry_finds_an_external_order),
    ]
}

fn external_order_is_reported<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    place_elsewhere(desk, OrderIntent::Rest)?;
    let mut told = reported(desk);
    if told.is_empty() && desk.is_under_fault() {
        // The engine lists open orders every so often.
        sent(&desk.ask_for_open_orders())?;
        desk.wait()?;
        told = reported(desk);
    }
    match &told[..] {
        [seen] if seen.state == VenueOrderState::Live => Ok(()),
        told => failed(format!("somebody else placed an order that rests, reported {told:?}")),
    }
}

/// Each report is the whole picture, so the last one has all fills.
fn external_fills_are_reported<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    place_elsewhere(desk, OrderIntent::Trade)?;
    let mut told = reported(desk);
    if desk.is_under_fault() && told.last().is_none_or(|seen| seen.fills.is_empty()) {
        // The engine lists fills by their cursor.
        told.extend(listed_with_fills(desk)?);
    }
    let Some(seen) = told.last() else { return failed("somebody else's order traded and was not reported") };
    let filled = seen.fills.iter().map(|fill| fill.quantity).try_fold(Quantity::ZERO, Quantity::plus);
    match filled {
        Ok(filled) if filled == seen.terms.quantity => Ok(()),
        _ => failed(format!("somebody else's order traded in full, reported {seen:?}")),
    }
}

fn listed_with_fills<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<Vec<ExternalOrder>> {
    let security = desk.harness.order(OrderIntent::Rest).security;
    sent(&desk.ask_for_fills(security, None))?;
    // The order of a trade that is listed is asked for.
    desk.wait()?;
    desk.wait()?;
    Ok(reported(desk))
}

fn snapshot_has_external_orders<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    place_elsewhere(desk, OrderIntent::Rest)?;
    desk.disconnect();
    desk.connect()?;
    let mut snapshot = desk.snapshot()?;
    if desk.is_under_fault() && snapshot.external.is_empty() {
        // The engine finds it in the next list.
        snapshot = desk.snapshot()?;
    }
    match &snapshot.external[..] {
        [seen] if seen.state == VenueOrderState::Live => Ok(()),
        seen => failed(format!("somebody else's order rests, the snapshot has {seen:?}")),
    }
}

fn external_order_is_canceled<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let order = adopted(desk)?;
    sent(&desk.cancel(&order))?;
    desk.wait()?;
    let told = desk.take_reports();
    let is_canceled = |said: &ReportKind| match said {
        ReportKind::External(seen) => seen.state == VenueOrderState::Canceled,
        ReportKind::Canceled { order: ended, .. } => *ended == order.id,
        _ => false,
    };
    match told.iter().any(is_canceled) {
        true => Ok(()),
        false => canceled_in_snapshot(desk, &order),
    }
}

/// The report may be lost; the snapshot knows.
fn canceled_in_snapshot<H: Harness>(desk: &mut ConformanceClient<H>, order: &Order) -> RuleResult {
    let snapshot = desk.snapshot()?;
    let seen = snapshot.external.iter().find(|seen| Some(&seen.ext_id) == order.ext_id.as_ref());
    match seen.map(|seen| seen.state) {
        Some(VenueOrderState::Canceled) => Ok(()),
        state => failed(format!("somebody else's order {:?} was cancelled, it is {state:?}", order.ext_id)),
    }
}

fn inquiry_finds_an_external_order<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let order = adopted(desk)?;
    match desk.ask_about(&order)?.result {
        InquiryResult::Found(seen, _) if seen.order == order.id && seen.ext_id == order.ext_id => Ok(()),
        result => failed(format!("somebody else's order {:?} rests, the answer is {result:?}", order.ext_id)),
    }
}

fn place_elsewhere<H: Harness>(desk: &mut ConformanceClient<H>, aim: OrderIntent) -> RuleResult {
    desk.connect()?;
    if !desk.harness.place_elsewhere(aim) {
        return Err(RuleVerdict::NotSupported("the harness cannot place orders elsewhere"));
    }
    desk.wait()
}

fn reported<H: Harness>(desk: &mut ConformanceClient<H>) -> Vec<ExternalOrder> {
    let told = desk.take_reports().into_iter();
    told.filter_map(|said| if let ReportKind::External(seen) = said { Some(*seen) } else { None }).collect()
}

/// A resting order of somebody else under a number of ours, as the engine adopts it.
fn adopted<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<Order> {
    place_elsewhere(desk, OrderIntent::Rest)?;
    let seen = match reported(desk).pop() {
        Some(seen) => Some(seen),
        None => desk.snapshot()?.external.pop(),
    };
    let Some(seen) = seen else { return failed("somebody else's order was neither reported nor in the snapshot") };
    let order = desk.harness.order(OrderIntent::Rest);
    Ok(Order {
        ext_id: Some(seen.ext_id),
        account: seen.account,
        security: seen.security,
        side: seen.side,
        terms: seen.terms,
        source: Source::External,
        ..order
    })
}
