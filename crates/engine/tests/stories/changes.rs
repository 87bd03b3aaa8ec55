//! Partial changes: some limits of a scope, the note on an order, its time in force.

use domain::command::{Command, ModifyOrder, RecordTransaction, RestatedFields};
use domain::query::Answer;
use domain::risk::{RiskLimitName, RiskLimits, RiskLimitsChange};
use domain::{AccountId, Currency, Price, Query, Refusal, RiskScope, SecurityId, TimeInForce, TransactionKind};

use crate::world::StoryEngine;

fn limits_of(world: &StoryEngine, scope: RiskScope) -> Option<RiskLimits> {
    let Ok(Answer::Limits(all)) = world.engine.answer(world.now, 0, &Query::Limits) else {
        panic!("limits are listed")
    };
    all.into_iter().find(|(of, _)| *of == scope).map(|(_, limits)| limits)
}

fn change(world: &mut StoryEngine, scope: RiskScope, named: &[RiskLimitName], limits: RiskLimits) {
    let change = RiskLimitsChange { limits, named: named.to_vec() };
    world.command(Command::ChangeLimits { scope, change }).unwrap();
}

#[test]
fn to_tighten_one_limit_leaves_the_others_as_they_are() {
    let mut world = StoryEngine::open();
    let scope = RiskScope::Account(AccountId(1));
    let before = RiskLimits { max_order_quantity: Some(10.into()), max_open_orders: Some(5), ..RiskLimits::default() };
    world.limits(scope, before.clone());
    change(
        &mut world,
        scope,
        &[RiskLimitName::MaxOpenOrders],
        RiskLimits { max_open_orders: Some(2), ..RiskLimits::default() },
    );
    assert_eq!(limits_of(&world, scope), Some(RiskLimits { max_open_orders: Some(2), ..before.clone() }));
    change(&mut world, scope, &[RiskLimitName::MaxOrderQuantity], RiskLimits::default());
    assert_eq!(limits_of(&world, scope), Some(RiskLimits { max_open_orders: Some(2), ..RiskLimits::default() }));
    let first = RiskLimits { orders_per_second: Some(9), ..RiskLimits::default() };
    change(&mut world, RiskScope::Security(SecurityId(1)), &[RiskLimitName::OrdersPerSecond], first.clone());
    assert_eq!(
        limits_of(&world, RiskScope::Security(SecurityId(1))),
        Some(first),
        "a scope without limits gets its first"
    );
}

fn modify(tif: Option<TimeInForce>, reference: Option<&str>) -> ModifyOrder {
    ModifyOrder {
        int_id: "1".parse().unwrap(),
        cl_ord_id: None,
        quantity: None,
        limit: None,
        stop: None,
        tif,
        restated: RestatedFields::default(),
        reference: reference.map(Into::into),
    }
}

#[test]
fn the_note_on_an_order_changes_at_once_without_the_venue() {
    let mut world = StoryEngine::open();
    world.run("place 1 buy 10 AAPL @ 10\n venue accepts 1");
    let Ok(Answer::Order(order)) = world.command(Command::Modify(modify(None, Some("hedge")))) else {
        panic!("it is changed")
    };
    assert_eq!((order.reference.as_deref(), order.status().name()), (Some("hedge"), "SUBMITTED"));
    assert_eq!(world.order("1").unwrap().reference.as_deref(), Some("hedge"));
    let both = ModifyOrder { limit: Some(Price::from(9)), ..modify(None, Some("hedge 2")) };
    world.command(Command::Modify(both)).unwrap();
    let order = world.order("1").unwrap();
    assert_eq!((order.reference.as_deref(), order.status().name()), (Some("hedge 2"), "PENDING_REPLACE"));
    world.run("venue cancels 1");
    let late = world.command(Command::Modify(modify(None, Some("too late"))));
    assert_eq!(late.unwrap_err().code(), "order-closed");
}

#[test]
fn a_resting_order_cannot_become_one_that_trades_at_once() {
    let mut world = StoryEngine::open();
    world.run("place 1 buy 10 AAPL @ 10\n venue accepts 1");
    for tif in [TimeInForce::Ioc, TimeInForce::Fok, TimeInForce::Ato, TimeInForce::Atc] {
        let refused = world.command(Command::Modify(modify(Some(tif), None))).unwrap_err();
        assert_eq!(refused, Refusal::TifFixed { now: "DAY", wanted: tif.name() });
        assert_eq!((refused.code(), refused.field()), ("tif-fixed", Some("tif")));
    }
    assert_eq!(world.order("1").unwrap().status().name(), "SUBMITTED");
    world.command(Command::Modify(modify(Some(TimeInForce::Gtc), None))).unwrap();
}

#[test]
fn a_refused_booking_names_the_account_and_currency_it_needs() {
    let mut world = StoryEngine::open();
    let record = RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: None,
        price: Price::from(5),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: Some(Currency::USD),
        account: None,
        security: None,
        strategy: None,
        description: None,
    };
    let told = |world: &mut StoryEngine, record: &RecordTransaction| {
        world.command(Command::Record(record.clone())).unwrap_err().to_string()
    };
    assert_eq!(told(&mut world, &record), "several accounts are active, choose one of 1, 2");
    let foreign = RecordTransaction {
        kind: TransactionKind::Buy,
        quantity: Some(1.into()),
        currency: Some("EUR".parse().unwrap()),
        account: Some(AccountId(1)),
        security: Some(SecurityId(1)),
        ..record
    };
    let expected = "currency of a booking of security 1 must be USD, that of the security";
    assert_eq!(told(&mut world, &foreign), expected);
}
