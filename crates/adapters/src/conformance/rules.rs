//! Conformance rules, each with one client and one venue.

use std::collections::BTreeSet;

use domain::report::{VenueFill, VenueOrderState, VenueSnapshot};
use domain::{Order, OrderId, Quantity, SecurityId};

use super::conformance_client::{ConformanceClient, RuleResult, failed, order_in, sent};
use super::{Harness, OrderIntent};
use crate::venue::SendOutcome;

pub(super) type Rule<H> = fn(&mut ConformanceClient<H>) -> RuleResult;

pub(super) fn all<H: Harness>() -> Vec<(&'static str, Rule<H>)> {
    vec![
        ("the capabilities name an exchange", profile_names_an_exchange),
        ("an order that rests is accepted", resting_order_is_accepted),
        ("an order that trades is filled in full", trading_order_is_filled),
        ("every fill has an id of its own", fills_have_their_own_ids),
        ("a cancel is reported", canceled_order_is_reported),
        ("a cancel of an unknown order is refused", cancel_of_unknown_is_refused),
        ("a replaced order has the new terms", replaced_order_has_new_terms),
        ("a replace of an unknown order is refused", replace_of_unknown_is_refused),
        ("an order for an unlisted security is refused", unlisted_security_is_refused),
        ("an order sent twice is one order", order_sent_twice_is_one),
        ("the snapshot has every reported order and fill", snapshot_has_all),
        ("a reconnect does not change the snapshot", reconnect_keeps_snapshot),
        ("the snapshot after a disconnect has what was missed", snapshot_has_missed_reports),
        ("without a session nothing is sent", nothing_is_sent_without_session),
        (
            "a lost session is reported, and no new one is possible while the connection is down",
            lost_session_is_reported,
        ),
        ("nothing is reported after a disconnect", silence_after_disconnect),
        ("a subscription brings prices", subscription_brings_prices),
        ("a security that is not subscribed is silent", unsubscribed_is_silent),
        ("nothing is reported before it is recorded", reports_follow_records),
        ("a restart loses nothing and uses no id again", restart_forgets_nothing),
    ]
}

fn profile_names_an_exchange<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let profile = desk.harness.adapter().capabilities();
    if profile.exchanges.is_empty() { failed("it serves no exchange") } else { Ok(()) }
}

fn resting_order_is_accepted<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = desk.send(OrderIntent::Rest)?;
    expect_reports(desk, order.id, &["accepted"])?;
    expect_reports(desk, order.id, &[])
}

fn trading_order_is_filled<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = desk.send(OrderIntent::Trade)?;
    expect_reports(desk, order.id, &["accepted", "filled"])?;
    filled_in_full(&order, desk.fills())
}

fn fills_have_their_own_ids<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    for _ in 0..2 {
        let order = desk.send(OrderIntent::Trade)?;
        expect_reports(desk, order.id, &["accepted", "filled"])?;
    }
    own_ids(desk.fills())
}

fn canceled_order_is_reported<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = accepted(desk)?;
    sent(&desk.cancel(&order))?;
    expect_reports(desk, order.id, &["canceled"])?;
    has_state(&desk.snapshot()?, order.id, VenueOrderState::Canceled)
}

fn cancel_of_unknown_is_refused<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let stranger = desk.harness.order(OrderIntent::Rest);
    sent(&desk.cancel(&stranger))?;
    expect_refused(desk, stranger.id, "cancel rejected")
}

fn replaced_order_has_new_terms<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = accepted(desk)?;
    let terms = desk.harness.other_terms(&order);
    sent(&desk.modify(&order, terms))?;
    expect_reports(desk, order.id, &["replaced"])?;
    let now = order_in(&desk.snapshot()?, order.id)?.terms;
    if now == terms { Ok(()) } else { failed(format!("requested {terms:?}, the snapshot has {now:?}")) }
}

fn replace_of_unknown_is_refused<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let stranger = desk.harness.order(OrderIntent::Rest);
    let terms = desk.harness.other_terms(&stranger);
    sent(&desk.modify(&stranger, terms))?;
    expect_refused(desk, stranger.id, "replace rejected")
}

/// Before it is sent, or by the venue. One that is listed passes after it: the session was not the reason.
fn unlisted_security_is_refused<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let order = Order { security: SecurityId(u64::MAX), ..desk.harness.order(OrderIntent::Rest) };
    let expected: &[&str] = match desk.submit(&order) {
        SendOutcome::Sent => &["rejected"],
        SendOutcome::NotSent(_) => &[],
        SendOutcome::Unknown { reason, .. } => return failed(format!("it may have been sent: {reason}")),
    };
    expect_reports(desk, order.id, expected)?;
    accepted(desk).map(drop)
}

/// The answer to the second one may repeat that the first is accepted, and must not end it.
fn order_sent_twice_is_one<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let (rests, trades) = (desk.send(OrderIntent::Rest)?, desk.send(OrderIntent::Trade)?);
    expect_reports(desk, rests.id, &["accepted"])?;
    for order in [&rests, &trades] {
        sent(&desk.submit(order))?;
        let heard = desk.reports_for(order.id)?;
        if !matches!(heard[..], [] | ["accepted"]) {
            return failed(format!("order {} was sent again: {heard:?}", order.id));
        }
    }
    filled_in_full(&trades, desk.fills())?;
    has_state(&desk.snapshot()?, rests.id, VenueOrderState::Live)
}

fn snapshot_has_all<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let business = run_scenario(desk)?;
    snapshot_shows(&desk.snapshot()?, &business, desk.fills())
}

fn reconnect_keeps_snapshot<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let business = run_scenario(desk)?;
    let before = desk.snapshot()?;
    desk.disconnect();
    desk.connect()?;
    let after = desk.snapshot()?;
    snapshot_shows(&after, &business, desk.fills())?;
    let after = VenueSnapshot { as_of: before.as_of, ..after };
    if after == before { Ok(()) } else { failed(format!("before {before:?}, after {after:?}")) }
}

fn snapshot_has_missed_reports<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let canceled = accepted(desk)?;
    sent(&desk.cancel(&canceled))?;
    let traded = desk.send(OrderIntent::Trade)?;
    desk.harness.disconnect();
    desk.harness.advance();
    desk.disconnect();
    desk.harness.reconnect();
    desk.connect()?;
    let snapshot = desk.snapshot()?;
    has_state(&snapshot, canceled.id, VenueOrderState::Canceled)?;
    has_state(&snapshot, traded.id, VenueOrderState::Live)?;
    filled_in_full(&traded, &snapshot.fills)
}

fn nothing_is_sent_without_session<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let early = expect_all_not_sent(desk)?;
    desk.connect()?;
    desk.disconnect();
    let late = expect_all_not_sent(desk)?;
    desk.connect()?;
    let snapshot = desk.snapshot()?;
    match snapshot.orders.iter().find(|known| [early, late].contains(&known.order)) {
        None => Ok(()),
        Some(known) => failed(format!("order {} was not sent, yet it is in the snapshot", known.order)),
    }
}

fn lost_session_is_reported<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    desk.harness.disconnect();
    if desk.receive().is_ok() {
        return failed("the connection was cut and not reported");
    }
    desk.disconnect();
    if desk.try_connect().is_ok() {
        return failed("a session began over a cut connection");
    }
    desk.harness.reconnect();
    desk.connect()
}

fn silence_after_disconnect<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    desk.send(OrderIntent::Trade)?;
    desk.disconnect();
    // An error is as good as no report.
    let _ = desk.receive();
    match desk.take_reports().first() {
        None => Ok(()),
        Some(said) => failed(format!("{said:?}")),
    }
}

fn subscription_brings_prices<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let security = desk.harness.order(OrderIntent::Rest).security;
    sent(&desk.subscribe(security))?;
    let order = desk.send(OrderIntent::Trade)?;
    expect_reports(desk, order.id, &["accepted", "filled"])?;
    let prices = desk.drain_prices();
    match prices.iter().find(|data| data.security() != security) {
        _ if prices.is_empty() => failed("no price came"),
        None => Ok(()),
        Some(other) => failed(format!("a price of {} came", other.security())),
    }
}

fn unsubscribed_is_silent<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    trades_in_silence(desk)?;
    let security = desk.harness.order(OrderIntent::Rest).security;
    sent(&desk.subscribe(security))?;
    sent(&desk.unsubscribe(security))?;
    desk.wait()?;
    desk.drain_prices();
    trades_in_silence(desk)
}

fn reports_follow_records<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.compare_with_durable()?;
    desk.connect()?;
    run_scenario(desk)?;
    match desk.early_reports() {
        [] => Ok(()),
        hasty => failed(format!("{hasty:?}")),
    }
}

fn restart_forgets_nothing<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    desk.connect()?;
    let business = run_scenario(desk)?;
    desk.harness.restart();
    desk.connect()?;
    snapshot_shows(&desk.snapshot()?, &business, desk.fills())?;
    let order = desk.send(OrderIntent::Trade)?;
    expect_reports(desk, order.id, &["accepted", "filled"])?;
    own_ids(desk.fills())
}

/// One order of each state.
struct OrderScenario {
    rests: Order,
    traded: Order,
    canceled: Order,
    replaced: Order,
}

fn run_scenario<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<OrderScenario> {
    let (rests, canceled, mut replaced) = (accepted(desk)?, accepted(desk)?, accepted(desk)?);
    sent(&desk.cancel(&canceled))?;
    expect_reports(desk, canceled.id, &["canceled"])?;
    let terms = desk.harness.other_terms(&replaced);
    sent(&desk.modify(&replaced, terms))?;
    expect_reports(desk, replaced.id, &["replaced"])?;
    replaced.terms = terms;
    let traded = desk.send(OrderIntent::Trade)?;
    expect_reports(desk, traded.id, &["accepted", "filled"])?;
    Ok(OrderScenario { rests, traded, canceled, replaced })
}

fn snapshot_shows(snapshot: &VenueSnapshot, business: &OrderScenario, fills: &[VenueFill]) -> RuleResult {
    let OrderScenario { rests, traded, canceled, replaced } = business;
    has_state(snapshot, canceled.id, VenueOrderState::Canceled)?;
    for order in [rests, traded, replaced] {
        has_state(snapshot, order.id, VenueOrderState::Live)?;
        let terms = order_in(snapshot, order.id)?.terms;
        if terms != order.terms {
            return failed(format!("order {} has {:?}, the snapshot {terms:?}", order.id, order.terms));
        }
    }
    match fills.iter().find(|fill| !snapshot.fills.contains(fill)) {
        None => own_ids(&snapshot.fills),
        Some(fill) => failed(format!("fill {} is not in the snapshot", fill.exec_id)),
    }
}

pub(super) fn accepted<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<Order> {
    let order = desk.send(OrderIntent::Rest)?;
    expect_reports(desk, order.id, &["accepted"])?;
    Ok(order)
}

fn trades_in_silence<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let order = desk.send(OrderIntent::Trade)?;
    expect_reports(desk, order.id, &["accepted", "filled"])?;
    match desk.drain_prices().first() {
        None => Ok(()),
        Some(data) => failed(format!("{data:?}")),
    }
}

/// Every kind of request is sent, and all are `NotSent`.
fn expect_all_not_sent<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<OrderId> {
    let order = desk.harness.order(OrderIntent::Rest);
    let terms = desk.harness.other_terms(&order);
    let sendings = [
        ("submit", desk.submit(&order)),
        ("modify", desk.modify(&order, terms)),
        ("cancel", desk.cancel(&order)),
        ("subscribe", desk.subscribe(order.security)),
    ];
    match sendings.iter().find(|(_, sending)| !matches!(sending, SendOutcome::NotSent(_))) {
        None => Ok(order.id),
        Some((what, sending)) => failed(format!("{what} without a session: {sending:?}")),
    }
}

pub(super) fn expect_reports<H: Harness>(
    desk: &mut ConformanceClient<H>,
    order: OrderId,
    expected: &[&str],
) -> RuleResult {
    let heard = desk.reports_for(order)?;
    if heard == expected { Ok(()) } else { failed(format!("order {order}: expected {expected:?}, reported {heard:?}")) }
}

/// An adapter may add that the order is in doubt: a venue that does not know it is to be asked.
fn expect_refused<H: Harness>(desk: &mut ConformanceClient<H>, order: OrderId, refused: &str) -> RuleResult {
    let heard = desk.reports_for(order)?;
    let is_refused = heard == [refused] || heard == [refused, "lost"];
    if is_refused { Ok(()) } else { failed(format!("order {order}: expected {refused:?}, reported {heard:?}")) }
}

pub(super) fn has_state(snapshot: &VenueSnapshot, order: OrderId, state: VenueOrderState) -> RuleResult {
    let known = order_in(snapshot, order)?.state;
    if known == state { Ok(()) } else { failed(format!("order {order} is {state:?}, the snapshot has {known:?}")) }
}

pub(super) fn filled_in_full(order: &Order, fills: &[VenueFill]) -> RuleResult {
    let of_order = fills.iter().filter(|fill| fill.order == order.id);
    let filled = of_order.map(|fill| fill.quantity).try_fold(Quantity::ZERO, Quantity::plus);
    match filled {
        Ok(filled) if filled == order.terms.quantity => Ok(()),
        Ok(filled) => failed(format!("{filled} of {} are filled", order.terms.quantity)),
        Err(_) => failed("the fills of one order do not fit a quantity"),
    }
}

fn own_ids(fills: &[VenueFill]) -> RuleResult {
    let ids: BTreeSet<_> = fills.iter().map(|fill| &fill.exec_id).collect();
    if ids.len() == fills.len() { Ok(()) } else { failed(format!("{} fills have {} ids", fills.len(), ids.len())) }
}
