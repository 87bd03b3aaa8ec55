//! Conformance rules of inquiries and of lost reports.

use domain::report::{InquiryAnswer, InquiryResult, ReportKind, VenueFill, VenueOrder, VenueOrderState};
use domain::{Order, Timestamp};

use super::conformance_client::{ConformanceClient, RuleResult, failed, sent};
use super::rules::{Rule, accepted, expect_reports, filled_in_full};
use super::{Harness, OrderIntent, RuleVerdict};
use crate::venue::SendOutcome;

pub(super) fn all<H: Harness>() -> Vec<(&'static str, Rule<H>)> {
    vec![
        ("an inquiry finds a resting order with its terms", inquiry_finds_a_resting_order),
        ("an inquiry finds every fill of an order", inquiry_finds_every_fill),
        ("an inquiry finds how an order ended", inquiry_finds_the_end),
        ("an inquiry about an order that never came is answered", inquiry_misses_an_unknown_order),
        ("an inquiry makes no order", inquiry_makes_no_order),
        ("an answer is as of its question, not later", answer_is_as_of_its_question),
        ("without a session nobody is asked", nobody_is_asked_without_session),
        ("a snapshot says as of when it is", snapshot_is_dated),
        ("a lost report is told before the next one", lost_report_is_told),
    ]
}

fn inquiry_finds_a_resting_order<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = accepted(desk)?;
    let (seen, _) = found(desk.ask_about(&order)?)?;
    if (seen.order, seen.terms, seen.state) == (order.id, order.terms, VenueOrderState::Live) {
        return Ok(());
    }
    failed(format!("order {} rests with {:?}, the answer is {seen:?}", order.id, order.terms))
}

fn inquiry_finds_every_fill<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = desk.send(OrderIntent::Trade)?;
    expect_reports(desk, order.id, &["accepted", "filled"])?;
    let (_, fills) = found(desk.ask_about(&order)?)?;
    match fills == desk.fills() {
        true => filled_in_full(&order, &fills),
        false => failed(format!("reported {:?}, answered {fills:?}", desk.fills())),
    }
}

fn inquiry_finds_the_end<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = accepted(desk)?;
    sent(&desk.cancel(&order))?;
    desk.wait()?;
    let (seen, _) = found(desk.ask_about(&order)?)?;
    match seen.state {
        VenueOrderState::Canceled => Ok(()),
        state => failed(format!("order {} is canceled, the answer is {state:?}", order.id)),
    }
}

fn inquiry_misses_an_unknown_order<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let unknown = desk.harness.order(OrderIntent::Rest);
    expect_absent(&desk.ask_about(&unknown)?)
}

/// The second question shows what the first has done.
fn inquiry_makes_no_order<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let unknown = desk.harness.order(OrderIntent::Rest);
    sent(&desk.inquire(&unknown))?;
    desk.wait()?;
    match desk.snapshot()?.orders.iter().find(|known| known.order == unknown.id) {
        None => Ok(()),
        Some(known) => failed(format!("the venue was asked about an order and has it now: {known:?}")),
    }
}

/// A later instant would count absence as proof while a request is on its way.
fn answer_is_as_of_its_question<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = accepted(desk)?;
    let as_of = desk.ask_about(&order)?.as_of;
    let asked_at = desk.asked_at;
    let is_earlier = as_of <= asked_at && as_of > Timestamp(0);
    if is_earlier { Ok(()) } else { failed(format!("asked at {asked_at}, answered as of {as_of}")) }
}

fn nobody_is_asked_without_session<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let order = desk.harness.order(OrderIntent::Rest);
    expect_not_asked(desk, &order)?;
    desk.connect()?;
    desk.disconnect();
    expect_not_asked(desk, &order)
}

fn snapshot_is_dated<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let as_of = desk.snapshot()?.as_of;
    let asked_at = desk.asked_at;
    match as_of {
        Some(as_of) if as_of <= asked_at => Ok(()),
        as_of => failed(format!("asked at {asked_at}, the snapshot is as of {as_of:?}")),
    }
}

/// As a gap, or by the lost report itself, where the venue sends it again.
fn lost_report_is_told<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = accepted(desk)?;
    if !desk.harness.lose_reports(true) {
        return Err(RuleVerdict::NotSupported("the harness cannot lose reports"));
    }
    let lost = desk.send(OrderIntent::Rest)?;
    desk.wait()?;
    desk.harness.lose_reports(false);
    sent(&desk.cancel(&order))?;
    desk.wait()?;
    let told = desk.take_reports();
    let is_loss = |said: &ReportKind| *said == ReportKind::Gap || said.order() == Some(lost.id);
    let next = told.iter().find(|said| is_loss(said) || said.order() == Some(order.id));
    match next {
        Some(said) if is_loss(said) => Ok(()),
        next => failed(format!("a report was lost, and the next is {next:?}")),
    }
}

fn found(answer: InquiryAnswer) -> RuleResult<(VenueOrder, Vec<VenueFill>)> {
    match answer.result {
        InquiryResult::Found(seen, fills) => Ok((seen, fills)),
        InquiryResult::NotFound => failed(format!("order {} was not found", answer.order)),
    }
}

fn expect_absent(answer: &InquiryAnswer) -> RuleResult {
    match &answer.result {
        InquiryResult::NotFound => Ok(()),
        InquiryResult::Found(seen, _) => failed(format!("an order that never came was found: {seen:?}")),
    }
}

fn expect_not_asked<H: Harness>(desk: &mut ConformanceClient<H>, order: &Order) -> RuleResult {
    match desk.inquire(order) {
        SendOutcome::NotSent(_) => Ok(()),
        sending => failed(format!("an inquiry without a session: {sending:?}")),
    }
}
