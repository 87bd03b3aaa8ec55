//! Conformance rules, each with one client and one venue.

use std::collections::BTreeSet;

use domain::report::{Fate, Picture, VenueFill};
use domain::{Order, OrderId, Quantity, SecurityId};

use super::desk::{Desk, Kept, broken, order_in, sent};
use super::{Aim, Harness};
use crate::venue::Sending;

pub(super) type Rule<H> = fn(&mut Desk<H>) -> Kept;

pub(super) fn all<H: Harness>() -> Vec<(&'static str, Rule<H>)> {
    vec![
        ("the capabilities name an exchange", profile_names_an_exchange),
        ("an order that rests is accepted", resting_order_is_accepted),
        ("an order that trades is filled in full", trading_order_is_filled),
        ("every fill has an id of its own", fills_have_their_own_ids),
        ("a cancel is reported", canceled_order_is_told),
        ("a cancel of an unknown order is refused", cancel_of_unknown_is_refused),
        ("a replaced order has the new terms", replaced_order_has_new_terms),
        ("a replace of an unknown order is refused", replace_of_unknown_is_refused),
        ("an order for an unlisted security is rejected", unlisted_security_is_rejected),
        ("an order sent twice is one order", order_sent_twice_is_one),
        ("the snapshot has every reported order and fill", picture_has_all),
        ("a reconnect does not change the snapshot", reconnect_keeps_picture),
        ("the snapshot after a disconnect has what was missed", picture_has_what_was_missed),
        ("without a session nothing is sent", nothing_is_sent_without_session),
        ("a lost session is reported, and no new one is possible while the connection is down", lost_session_is_told),
        ("nothing is reported after a disconnect", silence_after_disconnect),
        ("a subscription brings prices", subscription_brings_prices),
        ("a security that is not subscribed is silent", unsubscribed_is_silent),
        ("nothing is reported before it is recorded", reports_follow_records),
        ("a restart loses nothing and uses no id again", restart_forgets_nothing),
    ]
}

fn profile_names_an_exchange<H: Harness>(desk: &mut Desk<H>) -> Kept {
    let profile = desk.world.adapter().profile();
    if profile.exchanges.is_empty() { broken("it serves no exchange") } else { Ok(()) }
}

fn resting_order_is_accepted<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let order = desk.send(Aim::Rest)?;
    told(desk, order.id, &["accepted"])?;
    told(desk, order.id, &[])
}

fn trading_order_is_filled<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let order = desk.send(Aim::Trade)?;
    told(desk, order.id, &["accepted", "filled"])?;
    filled_in_full(&order, desk.fills())
}

fn fills_have_their_own_ids<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    for _ in 0..2 {
        let order = desk.send(Aim::Trade)?;
        told(desk, order.id, &["accepted", "filled"])?;
    }
    own_ids(desk.fills())
}

fn canceled_order_is_told<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let order = accepted(desk)?;
    sent(&desk.cancel(&order))?;
    told(desk, order.id, &["canceled"])?;
    has_fate(&desk.picture()?, order.id, Fate::Canceled)
}

fn cancel_of_unknown_is_refused<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let stranger = desk.world.order(Aim::Rest);
    sent(&desk.cancel(&stranger))?;
    told(desk, stranger.id, &["cancel rejected"])
}

fn replaced_order_has_new_terms<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let order = accepted(desk)?;
    let terms = desk.world.other_terms(&order);
    sent(&desk.modify(&order, terms))?;
    told(desk, order.id, &["replaced"])?;
    let now = order_in(&desk.picture()?, order.id)?.terms;
    if now == terms { Ok(()) } else { broken(format!("requested {terms:?}, the snapshot has {now:?}")) }
}

fn replace_of_unknown_is_refused<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let stranger = desk.world.order(Aim::Rest);
    let terms = desk.world.other_terms(&stranger);
    sent(&desk.modify(&stranger, terms))?;
    told(desk, stranger.id, &["replace rejected"])
}

fn unlisted_security_is_rejected<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let order = Order { security: SecurityId(u64::MAX), ..desk.world.order(Aim::Rest) };
    sent(&desk.submit(&order))?;
    told(desk, order.id, &["rejected"])
}

/// The answer to the second one may repeat that the first is accepted, and must not end it.
fn order_sent_twice_is_one<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let (rests, trades) = (desk.send(Aim::Rest)?, desk.send(Aim::Trade)?);
    told(desk, rests.id, &["accepted"])?;
    for order in [&rests, &trades] {
        sent(&desk.submit(order))?;
        let heard = desk.hear(order.id)?;
        if !matches!(heard[..], [] | ["accepted"]) {
            return broken(format!("order {} was sent again: {heard:?}", order.id));
        }
    }
    filled_in_full(&trades, desk.fills())?;
    has_fate(&desk.picture()?, rests.id, Fate::Live)
}

fn picture_has_all<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let business = do_business(desk)?;
    shows(&desk.picture()?, &business, desk.fills())
}

fn reconnect_keeps_picture<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let business = do_business(desk)?;
    let before = desk.picture()?;
    desk.disconnect();
    desk.connect()?;
    let after = desk.picture()?;
    shows(&after, &business, desk.fills())?;
    if after == before { Ok(()) } else { broken(format!("before {before:?}, after {after:?}")) }
}

fn picture_has_what_was_missed<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let canceled = accepted(desk)?;
    sent(&desk.cancel(&canceled))?;
    let traded = desk.send(Aim::Trade)?;
    desk.world.cut();
    desk.world.pass();
    desk.disconnect();
    desk.world.mend();
    desk.connect()?;
    let picture = desk.picture()?;
    has_fate(&picture, canceled.id, Fate::Canceled)?;
    has_fate(&picture, traded.id, Fate::Live)?;
    filled_in_full(&traded, &picture.fills)
}

fn nothing_is_sent_without_session<H: Harness>(desk: &mut Desk<H>) -> Kept {
    let early = refused_all(desk)?;
    desk.connect()?;
    desk.disconnect();
    let late = refused_all(desk)?;
    desk.connect()?;
    let picture = desk.picture()?;
    match picture.orders.iter().find(|known| [early, late].contains(&known.order)) {
        None => Ok(()),
        Some(known) => broken(format!("order {} was not sent, yet it is in the snapshot", known.order)),
    }
}

fn lost_session_is_told<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    desk.world.cut();
    if desk.listen().is_ok() {
        return broken("the connection was cut and not reported");
    }
    desk.disconnect();
    if desk.try_connect().is_ok() {
        return broken("a session began over a cut connection");
    }
    desk.world.mend();
    desk.connect()
}

fn silence_after_disconnect<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    desk.send(Aim::Trade)?;
    desk.disconnect();
    // An error is as good as no report.
    let _ = desk.listen();
    match desk.take_said().first() {
        None => Ok(()),
        Some(said) => broken(format!("{said:?}")),
    }
}

fn subscription_brings_prices<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let security = desk.world.order(Aim::Rest).security;
    sent(&desk.subscribe(security))?;
    let order = desk.send(Aim::Trade)?;
    told(desk, order.id, &["accepted", "filled"])?;
    let prices = desk.take_prices();
    match prices.iter().find(|data| data.security() != security) {
        _ if prices.is_empty() => broken("no price came"),
        None => Ok(()),
        Some(other) => broken(format!("a price of {} came", other.security())),
    }
}

fn unsubscribed_is_silent<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    trades_in_silence(desk)?;
    let security = desk.world.order(Aim::Rest).security;
    sent(&desk.subscribe(security))?;
    sent(&desk.unsubscribe(security))?;
    desk.wait()?;
    desk.take_prices();
    trades_in_silence(desk)
}

fn reports_follow_records<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.call_witness()?;
    desk.connect()?;
    do_business(desk)?;
    match desk.hasty() {
        [] => Ok(()),
        hasty => broken(format!("{hasty:?}")),
    }
}

fn restart_forgets_nothing<H: Harness>(desk: &mut Desk<H>) -> Kept {
    desk.connect()?;
    let business = do_business(desk)?;
    desk.world.restart();
    desk.connect()?;
    shows(&desk.picture()?, &business, desk.fills())?;
    let order = desk.send(Aim::Trade)?;
    told(desk, order.id, &["accepted", "filled"])?;
    own_ids(desk.fills())
}

/// One order of each state.
struct Business {
    rests: Order,
    traded: Order,
    canceled: Order,
    replaced: Order,
}

fn do_business<H: Harness>(desk: &mut Desk<H>) -> Kept<Business> {
    let (rests, canceled, mut replaced) = (accepted(desk)?, accepted(desk)?, accepted(desk)?);
    sent(&desk.cancel(&canceled))?;
    told(desk, canceled.id, &["canceled"])?;
    let terms = desk.world.other_terms(&replaced);
    sent(&desk.modify(&replaced, terms))?;
    told(desk, replaced.id, &["replaced"])?;
    replaced.terms = terms;
    let traded = desk.send(Aim::Trade)?;
    told(desk, traded.id, &["accepted", "filled"])?;
    Ok(Business { rests, traded, canceled, replaced })
}

fn shows(picture: &Picture, business: &Business, fills: &[VenueFill]) -> Kept {
    let Business { rests, traded, canceled, replaced } = business;
    has_fate(picture, canceled.id, Fate::Canceled)?;
    for order in [rests, traded, replaced] {
        has_fate(picture, order.id, Fate::Live)?;
        let terms = order_in(picture, order.id)?.terms;
        if terms != order.terms {
            return broken(format!("order {} has {:?}, the snapshot {terms:?}", order.id, order.terms));
        }
    }
    match fills.iter().find(|fill| !picture.fills.contains(fill)) {
        None => own_ids(&picture.fills),
        Some(fill) => broken(format!("fill {} is not in the snapshot", fill.exec_id)),
    }
}

fn accepted<H: Harness>(desk: &mut Desk<H>) -> Kept<Order> {
    let order = desk.send(Aim::Rest)?;
    told(desk, order.id, &["accepted"])?;
    Ok(order)
}

fn trades_in_silence<H: Harness>(desk: &mut Desk<H>) -> Kept {
    let order = desk.send(Aim::Trade)?;
    told(desk, order.id, &["accepted", "filled"])?;
    match desk.take_prices().first() {
        None => Ok(()),
        Some(data) => broken(format!("{data:?}")),
    }
}

/// Every kind of request is sent, and all are `NotSent`.
fn refused_all<H: Harness>(desk: &mut Desk<H>) -> Kept<OrderId> {
    let order = desk.world.order(Aim::Rest);
    let terms = desk.world.other_terms(&order);
    let sendings = [
        ("submit", desk.submit(&order)),
        ("modify", desk.modify(&order, terms)),
        ("cancel", desk.cancel(&order)),
        ("subscribe", desk.subscribe(order.security)),
    ];
    match sendings.iter().find(|(_, sending)| !matches!(sending, Sending::NotSent(_))) {
        None => Ok(order.id),
        Some((what, sending)) => broken(format!("{what} without a session: {sending:?}")),
    }
}

fn told<H: Harness>(desk: &mut Desk<H>, order: OrderId, expected: &[&str]) -> Kept {
    let heard = desk.hear(order)?;
    if heard == expected { Ok(()) } else { broken(format!("order {order}: expected {expected:?}, reported {heard:?}")) }
}

fn has_fate(picture: &Picture, order: OrderId, fate: Fate) -> Kept {
    let known = order_in(picture, order)?.fate;
    if known == fate { Ok(()) } else { broken(format!("order {order} is {fate:?}, the snapshot has {known:?}")) }
}

fn filled_in_full(order: &Order, fills: &[VenueFill]) -> Kept {
    let of_order = fills.iter().filter(|fill| fill.order == order.id);
    let filled = of_order.map(|fill| fill.quantity).try_fold(Quantity::ZERO, Quantity::plus);
    match filled {
        Ok(filled) if filled == order.terms.quantity => Ok(()),
        Ok(filled) => broken(format!("{filled} of {} are filled", order.terms.quantity)),
        Err(_) => broken("the fills of one order do not fit a quantity"),
    }
}

fn own_ids(fills: &[VenueFill]) -> Kept {
    let ids: BTreeSet<_> = fills.iter().map(|fill| &fill.exec_id).collect();
    if ids.len() == fills.len() { Ok(()) } else { broken(format!("{} fills have {} ids", fills.len(), ids.len())) }
}
