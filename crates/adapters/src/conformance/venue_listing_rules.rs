//! Conformance rules of what a venue takes of a security: changes are told, and only changes.

use domain::report::{ReportKind, VenueListing};

use super::conformance_client::{ConformanceClient, RuleResult, failed};
use super::rules::Rule;
use super::{Harness, OrderIntent, RuleVerdict};

pub(super) fn all<H: Harness>() -> Vec<(&'static str, Rule<H>)> {
    vec![
        ("a listing that changes is told", changed_listing_is_told),
        ("a listing that changed without a session is told after the log-on", missed_change_is_told),
        ("a listing that did not change is not told again", unchanged_listing_is_not_told_again),
    ]
}

fn changed_listing_is_told<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let before = told(desk)?;
    change(desk)?;
    let mut after = told(desk)?;
    if after.is_empty() {
        desk.wait_for_retry()?;
        after = told(desk)?;
    }
    expect_change(before.last(), &after)
}

/// The list of the log-on is compared with what was told, not with what came in the same session.
fn missed_change_is_told<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let before = told(desk)?;
    desk.disconnect();
    change(desk)?;
    desk.connect()?;
    expect_change(before.last(), &told(desk)?)
}

/// Every report is journalled.
fn unchanged_listing_is_not_told_again<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    told(desk)?;
    change(desk)?;
    let first = told(desk)?;
    desk.disconnect();
    desk.connect()?;
    let again = told(desk)?;
    // What was not told at all breaks another rule.
    match again.iter().find(|listing| first.contains(listing)) {
        None => Ok(()),
        Some(_) => failed(format!("told {first:?}, and after the next log-on {again:?}")),
    }
}

fn change<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    match desk.harness.change_listing() {
        true => Ok(()),
        false => Err(RuleVerdict::NotSupported("the harness cannot change a listing")),
    }
}

/// What was told of the security of the harness, in order.
fn told<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<Vec<VenueListing>> {
    let own = desk.harness.order(OrderIntent::Rest).security;
    desk.wait()?;
    let listings = desk.take_reports().into_iter().filter_map(|said| match said {
        ReportKind::Listed { security, listing } if security == own => Some(listing),
        _ => None,
    });
    Ok(listings.collect())
}

fn expect_change(before: Option<&VenueListing>, told: &[VenueListing]) -> RuleResult {
    match told {
        [listing] if Some(listing) != before => Ok(()),
        _ => failed(format!("a listing changed: before {before:?}, then told {told:?}")),
    }
}
