//! Trading rights of the caller: accounts, securities, interfaces.

use domain::{Caller, Command, CommandEnvelope, Query, Source};
use expect_test::expect;

use crate::world::StoryEngine;

fn caller(source: Source, rights: &str) -> Caller {
    Caller { rights: Some(Box::new(rights.parse().unwrap())), ..Caller::new(source, Some("bob".into())) }
}

#[test]
fn only_the_permitted_accounts_securities_and_interfaces_can_be_traded() {
    let mut world = StoryEngine::open();
    let told = world.run_as(
        &caller(Source::Rest, "accounts 1; securities 1; interfaces REST"),
        "place 1 buy 1 AAPL @ 10
         place 2 buy 1 ES @ 5000
         place 3 buy 1 SAP @ 10 GTC
         place 4 buy 1 AAPL @ 10",
    ) + &world.run_as(&caller(Source::Ui, "interfaces REST"), "place 5 buy 1 AAPL @ 10")
        + &world.run_as(&caller(Source::Fix("BANK".into()), "interfaces REST"), "place 6 buy 1 AAPL @ 10")
        + &world.run_as(&caller(Source::Rest, "accounts none"), "place 7 buy 1 AAPL @ 10")
        + &world.run_as(&caller(Source::Rest, "everything"), "place 8 buy 1 AAPL @ 10");
    expect![[r#"
        place 1 buy 1 AAPL @ 10
            1 OPEN
            to SIM-A: submit 1
        place 2 buy 1 ES @ 5000
            refused security-not-permitted: this user may not trade security 2
        place 3 buy 1 SAP @ 10 GTC
            refused account-not-permitted: this user may not trade account 2
        place 4 buy 1 AAPL @ 10
            4 OPEN
            to SIM-A: submit 4
        place 5 buy 1 AAPL @ 10
            5 OPEN
            to SIM-A: submit 5
        place 6 buy 1 AAPL @ 10
            refused interface-not-permitted: this user may not trade over FIX
        place 7 buy 1 AAPL @ 10
            refused account-not-permitted: this user may not trade account 1
        place 8 buy 1 AAPL @ 10
            8 OPEN
            to SIM-A: submit 8
    "#]]
    .assert_eq(&told);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_cancel_needs_the_account_only() {
    let mut world = StoryEngine::open();
    world.run("place 1 buy 1 AAPL @ 10\n venue accepts 1");
    let told = world.run_as(&caller(Source::Rest, "accounts 2"), "cancel 1\n modify 1 to 2 @ 10")
        + &world.run_as(
            &caller(Source::Rest, "accounts 1; securities 2; interfaces FIX"),
            "modify 1 to 2 @ 10
             cancel 1
             kill",
        );
    expect![[r#"
        cancel 1
            refused account-not-permitted: this user may not trade account 1
        modify 1 to 2 @ 10
            refused account-not-permitted: this user may not trade account 1
        modify 1 to 2 @ 10
            refused interface-not-permitted: this user may not trade over REST
        cancel 1
            1 PENDING_CANCEL
            to SIM-A: cancel 1
        kill
            PLATFORM is HALTED
            killed, 0 cancels
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_dry_run_knows_the_rights() {
    let mut world = StoryEngine::open();
    let caller = caller(Source::Rest, "securities 2");
    let Command::Place(order) = world.place("buy 1 AAPL @ 10") else { panic!("it places an order") };
    let answer = world.engine.answer(world.now, 0, &Query::CheckOrder(order.clone(), caller.clone()));
    let Ok(domain::Answer::PreTradeCheck(verdict)) = answer else { panic!("a check is answered by a verdict") };
    let refused = verdict.refusal.unwrap();
    assert_eq!((refused.code(), refused.field()), ("security-not-permitted", Some("securityId")));
    let envelope = CommandEnvelope { caller, command: Command::Place(order) };
    assert_eq!(world.send(envelope), Err(refused));
}

/// What was journalled before there were rights had all of them.
#[test]
fn a_command_without_rights_is_read_as_before() {
    let before = Caller::new(Source::Rest, Some("ann".into()));
    let bytes = minicbor::to_vec(&before).unwrap();
    assert_eq!(bytes, [0x82, 0x82, 0x00, 0x80, 0x63, b'a', b'n', b'n'], "the bytes of every version before");
    assert_eq!(minicbor::decode::<Caller>(&bytes).unwrap(), before);
    let limited = caller(Source::Rest, "accounts 1; interfaces FIX");
    assert_eq!(minicbor::decode::<Caller>(&minicbor::to_vec(&limited).unwrap()).unwrap(), limited);
}
