//! Order ids and ClOrdIDs: none is given twice, a repeated one is refused, and a client can name only its own orders.

use domain::command::{
    CancelOrder, Command, MassCancelRequest, ModifyOrder, PlaceOrder, ReferenceChange, RejectedRequest, RestatedFields,
};
use domain::order::{OrderKind, Side};
use domain::query::Answer;
use domain::{
    Account, AccountId, Caller, CommandEnvelope, Event, Input, MessageOrigin, Order, Price, Query, SecurityId,
    Sequenced, Source, TimeInForce,
};
use engine::{Engine, Outbox};

use crate::world::StoryEngine;

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
        properties: domain::OrderProperties::default(),
        pass_through: None,
    })
}

#[test]
fn a_repeated_cl_ord_id_is_a_duplicate_also_where_another_order_bears_it_as_its_id() {
    let mut world = StoryEngine::open();
    let fix = |world: &mut StoryEngine, name| world.command_of(bank(), from_fix(name));
    world.run("place X buy 1 AAPL @ 10");
    let Ok(Answer::Order(first)) = fix(&mut world, "X") else { panic!("the name is free among this client's") };
    assert_eq!(first.int_id.as_str(), "A-1");
    assert_eq!(fix(&mut world, "X").unwrap_err().code(), "duplicate-order");
}

fn bank() -> Source {
    Source::Fix("BANK".into())
}

/// A command of a FIX client: the id of the order, or the refusal.
fn ask(world: &mut StoryEngine, command: Command) -> Result<String, &'static str> {
    match world.command_of(bank(), command) {
        Ok(Answer::Order(order)) => Ok(order.int_id.to_string()),
        Ok(other) => panic!("an order is the answer, not {other:?}"),
        Err(refusal) => Err(refusal.code()),
    }
}

fn cancel(cl_ord_id: &str, of: &str, restated: RestatedFields) -> Command {
    Command::Cancel(CancelOrder { int_id: of.parse().unwrap(), cl_ord_id: Some(cl_ord_id.into()), restated })
}

fn replace(cl_ord_id: &str, of: &str) -> Command {
    Command::Modify(ModifyOrder {
        int_id: of.parse().unwrap(),
        cl_ord_id: Some(cl_ord_id.into()),
        quantity: Some(2.into()),
        limit: None,
        stop: None,
        tif: None,
        restated: RestatedFields::default(),
        reference: None,
    })
}

#[test]
fn a_cl_ord_id_is_free_again_on_the_next_day_unless_its_order_is_open() {
    let mut world = StoryEngine::open();
    assert_eq!(ask(&mut world, from_fix("X")), Ok("X".to_string()));
    assert_eq!(ask(&mut world, from_fix("L")), Ok("L".to_string()));
    world.run("venue cancels X");
    assert_eq!(ask(&mut world, from_fix("X")), Err("duplicate-order"));
    world.run("wait 43200\nclock\nmark AAPL 10 10.02");
    assert_eq!(ask(&mut world, from_fix("L")), Err("duplicate-order"));
    // The platform's own ids are never given twice.
    assert_eq!(ask(&mut world, from_fix("X")), Ok("A-1".to_string()));
    assert_eq!(ask(&mut world, from_fix("X")), Err("duplicate-order"));
    assert_eq!(ask(&mut world, cancel("C", "X", RestatedFields::default())), Ok("A-1".to_string()));
    let newest = world.engine.answer(world.now, 0, &Query::ClientOrder(bank(), "X".into()));
    assert!(matches!(newest, Ok(Answer::Orders(orders)) if orders.len() == 1 && orders[0].int_id.as_str() == "A-1"));
}

#[test]
fn only_what_was_accepted_or_waits_to_be_names_an_order() {
    let mut world = StoryEngine::open();
    ask(&mut world, from_fix("X")).unwrap();
    ask(&mut world, cancel("C", "X", RestatedFields::default())).unwrap();
    assert_eq!(ask(&mut world, cancel("D", "C", RestatedFields::default())), Err("unknown-order"));
    world.run("venue refuses-cancel X");
    ask(&mut world, replace("Y", "X")).unwrap();
    assert_eq!(ask(&mut world, replace("Z", "Y")), Err("replace-pending"));
    world.run("venue refuses-replace X");
    assert_eq!(ask(&mut world, replace("Z", "Y")), Err("unknown-order"));
    // They stay used, also after a restart.
    world.engine = Engine::from_state(&world.engine.encode_state()).unwrap();
    assert_eq!(ask(&mut world, replace("C", "X")), Err("duplicate-order"));
    assert_eq!(ask(&mut world, replace("Y", "X")), Err("duplicate-order"));
    ask(&mut world, replace("Z", "X")).unwrap();
}

#[test]
fn a_cancel_is_refused_when_a_restated_field_differs() {
    let mut world = StoryEngine::open();
    ask(&mut world, from_fix("X")).unwrap();
    ask(&mut world, from_fix("W")).unwrap();
    let restated = [
        RestatedFields { side: Some(Side::Sell), ..RestatedFields::default() },
        RestatedFields { security: Some(SecurityId(2)), ..RestatedFields::default() },
        RestatedFields { order: Some("W".into()), ..RestatedFields::default() },
        RestatedFields { order: Some("nobody".into()), ..RestatedFields::default() },
    ];
    for restated in restated {
        assert_eq!(ask(&mut world, cancel("C", "X", restated)), Err("other-order"));
    }
    let right = RestatedFields { side: Some(Side::Buy), security: Some(SecurityId(1)), ..RestatedFields::default() };
    ask(&mut world, cancel("C", "X", RestatedFields { order: Some("X".into()), ..right })).unwrap();
}

/// The refusal event of the session.
fn refused(world: &mut StoryEngine, command: Command, may_be_known: bool) -> (String, Option<Order>, bool) {
    let origin = MessageOrigin { session: "BANK".into(), seq_num: 1, request_echo: None, poss_resend: may_be_known };
    let caller = Caller { origin: Some(Box::new(origin)), ..Caller::new(bank(), None) };
    let what = Input::Command(Box::new(CommandEnvelope { caller, command }));
    let mut out = Outbox::default();
    let _ = world.engine.apply(&Sequenced { sequence: 1, at: world.now, payload: what }, &mut out);
    let told = out.events.iter().find_map(|event| match event {
        Event::Refused(refused) => Some(refused.clone()),
        _ => None,
    });
    let told = told.expect("the session gets a refusal");
    (told.code.to_string(), told.order.as_deref().cloned(), told.is_repeated)
}

#[test]
fn a_refusal_shows_the_order_that_was_meant_and_whether_the_same_came_before() {
    let mut world = StoryEngine::open();
    ask(&mut world, from_fix("X")).unwrap();
    ask(&mut world, from_fix("W")).unwrap();
    ask(&mut world, replace("Y", "X")).unwrap();
    let (order, other) = (world.order("X").map(|order| Order::clone(&order)), world.order("W"));
    let duplicate = |known: bool| ("duplicate-order".to_string(), order.clone(), known);
    assert_eq!(refused(&mut world, replace("Y", "X"), true), duplicate(true));
    assert_eq!(refused(&mut world, replace("Y", "X"), false), duplicate(false));
    assert_eq!(refused(&mut world, replace("W", "X"), true), duplicate(false));
    assert_eq!(refused(&mut world, from_fix("W"), true).1, other.map(|order| Order::clone(&order)));
    let decline = |name: &str| {
        let (code, text) = ("bad-field".into(), "a field can't be read".into());
        Command::RejectRequest(RejectedRequest { order: Some(name.into()), code, text })
    };
    assert_eq!(refused(&mut world, decline("Y"), false), ("bad-field".to_string(), order.clone(), false));
    assert_eq!(refused(&mut world, decline("nobody"), false), ("bad-field".to_string(), None, false));
}

#[test]
fn what_may_have_been_sent_before_is_looked_for_among_yesterdays_orders_too() {
    let mut world = StoryEngine::open();
    ask(&mut world, from_fix("X")).unwrap();
    world.run("venue cancels X\nwait 43200\nclock\nmark AAPL 10 10.02");
    let (code, order, is_repeated) = refused(&mut world, from_fix("X"), true);
    assert_eq!((code.as_str(), order.is_some(), is_repeated), ("duplicate-order", true, true));
    ask(&mut world, from_fix("X")).unwrap();
}

const WEEKEND: &str = "wait 259200\nclock\nmark AAPL 10 10.02";

#[test]
fn what_may_have_been_sent_before_the_weekend_is_not_traded_twice() {
    let mut world = StoryEngine::open();
    // The second has a generated id, because its name is used.
    world.run("place Y buy 1 AAPL @ 10");
    assert_eq!(ask(&mut world, from_fix("X")), Ok("X".to_string()));
    assert_eq!(ask(&mut world, from_fix("Y")), Ok("A-1".to_string()));
    world.run("venue fills X 1 @ 10 e1\nvenue fills A-1 1 @ 10 e2\nvenue cancels Y");
    world.run(WEEKEND);
    world.engine = Engine::from_state(&world.engine.encode_state()).unwrap();
    for name in ["X", "Y"] {
        assert_eq!(refused(&mut world, from_fix(name), true), ("duplicate-order".to_string(), None, false));
    }
    // Another client has not sent it, and a new week begins with the same names.
    let other = Source::Fix("FUND".into());
    assert!(matches!(world.command_of(other, from_fix("X")), Ok(Answer::Order(_))));
    assert_eq!(ask(&mut world, from_fix("X")), Ok("A-3".to_string()));
}

#[test]
fn a_cl_ord_id_is_free_on_the_day_after_its_use_also_where_its_order_ends_then() {
    let mut world = StoryEngine::open();
    ask(&mut world, from_fix("X")).unwrap();
    ask(&mut world, from_fix("W")).unwrap();
    world.run("wait 43200\nclock\nmark AAPL 10 10.02\nvenue expires X");
    assert_eq!(ask(&mut world, from_fix("X")), Ok("A-1".to_string()));
    // The name of a request is of the day of the request, not of that of its order.
    ask(&mut world, cancel("C", "W", RestatedFields::default())).unwrap();
    world.run("venue cancels W");
    assert_eq!(ask(&mut world, from_fix("C")), Err("duplicate-order"));
    assert_eq!(ask(&mut world, from_fix("W")), Ok("A-2".to_string()));
}

#[test]
fn no_order_bears_the_mark_of_no_order_and_a_refusal_names_the_order_by_its_own_id() {
    let mut world = StoryEngine::open();
    assert_eq!(ask(&mut world, from_fix("NONE")), Ok("A-1".to_string()));
    ask(&mut world, replace("Y", "NONE")).unwrap();
    ask(&mut world, cancel("C", "NONE", RestatedFields::default())).unwrap();
    let refusal = world.command_of(bank(), cancel("D", "Y", RestatedFields::default())).unwrap_err();
    assert_eq!(refusal.to_string(), "order A-1 is being cancelled already");
}

fn mass_cancel(cl_ord_id: &str) -> Command {
    Command::MassCancel(MassCancelRequest { security: None, cl_ord_id: Some(cl_ord_id.into()) })
}

#[test]
fn a_mass_cancel_in_an_older_journal_has_no_name() {
    let written = [0x81, 0x01];
    let read: MassCancelRequest = minicbor::decode(&written).unwrap();
    assert_eq!(read, MassCancelRequest { security: Some(SecurityId(1)), cl_ord_id: None });
}

#[test]
fn the_name_of_a_mass_cancel_is_used_like_others_and_is_known_after_a_restart_and_a_weekend() {
    let mut world = StoryEngine::open();
    ask(&mut world, from_fix("X")).unwrap();
    world.command_of(bank(), mass_cancel("Q")).unwrap();
    let code = |world: &mut StoryEngine, command| world.command_of(bank(), command).map_err(|refusal| refusal.code());
    world.engine = Engine::from_state(&world.engine.encode_state()).unwrap();
    assert_eq!(code(&mut world, mass_cancel("Q")), Err("duplicate-order"));
    assert_eq!(code(&mut world, mass_cancel("X")), Err("duplicate-order"));
    assert_eq!(code(&mut world, from_fix("Q")), Err("duplicate-order"));
    assert_eq!(code(&mut world, replace("Q", "X")), Err("duplicate-order"));
    world.run("venue cancels X");
    world.run(WEEKEND);
    ask(&mut world, from_fix("Z")).unwrap();
    assert_eq!(refused(&mut world, mass_cancel("Q"), true), ("duplicate-order".to_string(), None, false));
    assert_eq!(code(&mut world, mass_cancel("Q")), Ok(Answer::Done));
}

#[test]
fn accounts_whose_qualifier_cannot_begin_an_id_share_one_sequence() {
    let mut world = StoryEngine::open();
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
