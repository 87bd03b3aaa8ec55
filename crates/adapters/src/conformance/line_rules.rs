//! Conformance rules of lines that fail apart; an adapter has to keep those of the lines that it names in its capabilities.

use domain::report::{InquiryResult, LineKind, ReportKind};

use super::conformance_client::{ConformanceClient, RuleResult, failed, sent};
use super::rules::{Rule, accepted};
use super::{Harness, OrderIntent, RuleVerdict};
use crate::venue::SendOutcome;

pub(super) fn all<H: Harness>() -> Vec<(&'static str, Rule<H>)> {
    vec![
        ("a line that fails is reported, and that it is back", line_changes_are_reported),
        ("on a trading line that is down nothing is sent", nothing_is_sent_on_a_failed_line),
        ("while the private line is down an order can be asked about", inquiry_needs_no_private_line),
        ("a price line that is back brings prices again", prices_come_again),
    ]
}

fn has_line<H: Harness>(desk: &mut ConformanceClient<H>, line: LineKind) -> bool {
    desk.harness.adapter().capabilities().lines.contains(&line)
}

fn switch<H: Harness>(desk: &mut ConformanceClient<H>, line: LineKind, up: bool) -> RuleResult {
    match desk.harness.switch_line(line, up) {
        true => desk.wait(),
        false => Err(RuleVerdict::NotSupported("the harness cannot switch lines")),
    }
}

fn line_changes_are_reported<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    for line in desk.harness.adapter().capabilities().lines {
        switch(desk, line, false)?;
        switch(desk, line, true)?;
        let told = desk.take_reports().into_iter().filter_map(|said| match said {
            ReportKind::Line { line, up, .. } => Some((line, up)),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        if told != [(line, false), (line, true)] {
            return failed(format!("{line:?} failed and is back, reported was {told:?}"));
        }
    }
    Ok(())
}

fn nothing_is_sent_on_a_failed_line<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    if !has_line(desk, LineKind::Trading) {
        return Ok(());
    }
    desk.connect()?;
    let order = accepted(desk)?;
    switch(desk, LineKind::Trading, false)?;
    let unsent = desk.harness.order(OrderIntent::Rest);
    for sending in [desk.submit(&unsent), desk.cancel(&order), desk.inquire(&order)] {
        if !matches!(sending, SendOutcome::NotSent(_)) {
            return failed(format!("a request on a line that is down: {sending:?}"));
        }
    }
    Ok(())
}

fn inquiry_needs_no_private_line<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    if !has_line(desk, LineKind::Private) {
        return Ok(());
    }
    desk.connect()?;
    switch(desk, LineKind::Private, false)?;
    let order = desk.send(OrderIntent::Rest)?;
    desk.wait()?;
    match desk.ask_about(&order)?.result {
        InquiryResult::Found(..) => Ok(()),
        InquiryResult::NotFound => failed(format!("order {} was not found", order.id)),
    }
}

fn prices_come_again<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    if !has_line(desk, LineKind::Prices) {
        return Ok(());
    }
    desk.connect()?;
    let security = desk.harness.order(OrderIntent::Rest).security;
    sent(&desk.subscribe(security))?;
    desk.wait()?;
    switch(desk, LineKind::Prices, false)?;
    desk.drain_prices();
    switch(desk, LineKind::Prices, true)?;
    desk.wait()?;
    match desk.drain_prices().is_empty() {
        true => failed(format!("no price of security {security} since the line is back")),
        false => Ok(()),
    }
}
