//! Names of orders: none is given twice, and a client that repeats its own is told so.

use domain::command::{Command, PlaceOrder, ReferenceChange};
use domain::order::{OrderKind, Side};
use domain::query::Answer;
use domain::{Account, AccountId, Price, SecurityId, TimeInForce};

use crate::world::World;

/// An order as a FIX client sends it: it has a ClOrdID and leaves the id to us.
fn from_fix(cl_ord_id: &str) -> Command {
    Command::Place(PlaceOrder {
        int_id: None,
        cl_ord_id: Some(cl_ord_id.into()),
        security: SecurityId(1),
        account: None,
        strategy: None,
        exchange: None,
        side: Side::Buy,
        quantity: 1.into(),
        kind: OrderKind::Limit { limit: Price::from(10) },
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
    })
}

#[test]
fn a_repeated_cl_ord_id_is_a_duplicate_also_where_another_order_bears_it_as_its_id() {
    let mut world = World::open();
    let fix = |world: &mut World, name| world.command_of(domain::Source::Fix("BANK".into()), from_fix(name));
    world.tell("place X buy 1 AAPL @ 10");
    let Ok(Answer::Order(first)) = fix(&mut world, "X") else { panic!("the name is free among this client's") };
    assert_eq!(first.int_id.as_str(), "A-1");
    assert_eq!(fix(&mut world, "X").unwrap_err().code(), "duplicate-order");
}

#[test]
fn accounts_whose_qualifier_cannot_begin_an_id_share_one_row_of_numbers() {
    let mut world = World::open();
    let account = |id, qualifier: Option<&str>| {
        ReferenceChange::Account(Account {
            id: AccountId(id),
            name: format!("account-{id}").into(),
            active: true,
            adapter_type: "SIM".into(),
            session_qualifier: qualifier.map(Into::into),
            ext_account: None,
            ext_account_group: None,
            ext_allocation_profile: None,
            ext_clearing_account: None,
        })
    };
    world.command(Command::Reference(vec![account(3, None), account(4, Some("two words"))])).unwrap();
    let ids = [3, 4, 3, 4].map(|id| match world.command(Command::NextOrderId(AccountId(id))) {
        Ok(Answer::OrderId(id)) => id.to_string(),
        other => panic!("an id is given, not {other:?}"),
    });
    assert_eq!(ids, ["R-1", "R-2", "R-3", "R-4"]);
}
