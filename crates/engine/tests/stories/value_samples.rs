//! Samples of the value history: when they are taken, of what, and that a replay gives the same.

use domain::command::{Command, RecordTransaction, ReferenceChange};
use domain::risk::{EngineSettings, ReconciliationSettings};
use domain::{AccountId, Decimal, Input, Mark, Price, SecurityId, StrategyId, TransactionKind};
use expect_test::expect;

use crate::world::StoryEngine;

fn sampling(seconds: u32) -> Command {
    // Without lists of the venues, so that the next deadline is that of a sample.
    let reconciliation = ReconciliationSettings::default();
    Command::Configure(EngineSettings { sample_seconds: Some(seconds), reconciliation, ..EngineSettings::default() })
}

fn open() -> StoryEngine {
    let mut world = StoryEngine::open();
    world.command(sampling(3600)).unwrap();
    world
}

/// The samples that a clock input at an instant causes.
fn samples_at(world: &mut StoryEngine, at: &str) -> Vec<String> {
    world.now = at.parse().unwrap();
    samples(world)
}

fn samples(world: &mut StoryEngine) -> Vec<String> {
    let caused = world.apply(Input::Clock).1;
    caused.into_iter().filter(|line| line.starts_with("sample ")).collect()
}

const TRADE: &str = "place 1 buy 100 AAPL @ 10.02
    venue accepts 1
    venue fills 1 100 @ 10.02 x1
    mark AAPL 11 11.02";

#[test]
fn what_changed_is_sampled_at_multiples_of_the_pause_and_at_the_close() {
    let mut world = open();
    world.run(TRADE);
    let mut told = String::new();
    let mut look = |world: &mut StoryEngine, at: &str| {
        told += &format!("{at}\n");
        samples_at(world, at).iter().for_each(|line| told += &format!("    {line}\n"));
    };
    look(&mut world, "2026-11-16T12:59:59Z");
    look(&mut world, "2026-11-16T13:00:00Z");
    look(&mut world, "2026-11-16T14:00:00Z");
    world.run("mark AAPL 10.5 10.52");
    look(&mut world, "2026-11-16T15:10:00Z");
    look(&mut world, "2026-11-17T00:00:00Z");
    look(&mut world, "2026-11-17T01:00:00Z");
    look(&mut world, "2026-11-18T00:00:00Z");
    expect![[r#"
        2026-11-16T12:59:59Z
        2026-11-16T13:00:00Z
            sample PLATFORM 2026-11-16: 200097.5 = 198997.5 + 1100, long 1100 short 0, P/L 0 + 98, costs 0.5 + 0, day 97.5 flow 200000
            sample ACCOUNT-1 2026-11-16: 100097.5 = 98997.5 + 1100, long 1100 short 0, P/L 0 + 98, costs 0.5 + 0, day 97.5 flow 100000
            sample ACCOUNT-2 2026-11-16: 100000 = 100000 + 0, long 0 short 0, P/L 0 + 0, costs 0 + 0, day 0 flow 100000
            sample STRATEGY-1 2026-11-16: 200097.5 = 198997.5 + 1100, long 1100 short 0, P/L 0 + 98, costs 0.5 + 0, day 97.5 flow 200000
            sample SECURITY-1 2026-11-16: ? = ? + 1100, long 1100 short 0, P/L 0 + 98, costs 0.5 + 0, day 97.5 flow ?
        2026-11-16T14:00:00Z
        2026-11-16T15:10:00Z
            sample PLATFORM 2026-11-16: 200047.5 = 198997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 47.5 flow 200000
            sample ACCOUNT-1 2026-11-16: 100047.5 = 98997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 47.5 flow 100000
            sample STRATEGY-1 2026-11-16: 200047.5 = 198997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 47.5 flow 200000
            sample SECURITY-1 2026-11-16: ? = ? + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 47.5 flow ?
        2026-11-17T00:00:00Z
            sample PLATFORM 2026-11-16 close: 200047.5 = 198997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 47.5 flow 200000
            sample ACCOUNT-1 2026-11-16 close: 100047.5 = 98997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 47.5 flow 100000
            sample ACCOUNT-2 2026-11-16 close: 100000 = 100000 + 0, long 0 short 0, P/L 0 + 0, costs 0 + 0, day 0 flow 100000
            sample STRATEGY-1 2026-11-16 close: 200047.5 = 198997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 47.5 flow 200000
            sample SECURITY-1 2026-11-16 close: ? = ? + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 47.5 flow ?
        2026-11-17T01:00:00Z
            sample PLATFORM 2026-11-17: 200047.5 = 198997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 0 flow 0
            sample ACCOUNT-1 2026-11-17: 100047.5 = 98997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 0 flow 0
            sample ACCOUNT-2 2026-11-17: 100000 = 100000 + 0, long 0 short 0, P/L 0 + 0, costs 0 + 0, day 0 flow 0
            sample STRATEGY-1 2026-11-17: 200047.5 = 198997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 0 flow 0
            sample SECURITY-1 2026-11-17: ? = ? + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 0 flow ?
        2026-11-18T00:00:00Z
            sample PLATFORM 2026-11-17 close: 200047.5 = 198997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 0 flow 0
            sample ACCOUNT-1 2026-11-17 close: 100047.5 = 98997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 0 flow 0
            sample ACCOUNT-2 2026-11-17 close: 100000 = 100000 + 0, long 0 short 0, P/L 0 + 0, costs 0 + 0, day 0 flow 0
            sample STRATEGY-1 2026-11-17 close: 200047.5 = 198997.5 + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 0 flow 0
            sample SECURITY-1 2026-11-17 close: ? = ? + 1050, long 1050 short 0, P/L 0 + 48, costs 0.5 + 0, day 0 flow ?
    "#]].assert_eq(&told);
    let (state, again) = world.replayed();
    assert_eq!(state, again);
}

#[test]
fn a_server_that_was_down_over_midnight_closes_the_day_on_which_it_went_down() {
    let mut world = open();
    world.run(TRADE);
    let told = samples_at(&mut world, "2026-11-19T07:00:00Z");
    assert!(told.iter().all(|line| line.contains(" 2026-11-16 close: ")) && !told.is_empty(), "{told:#?}");
}

#[test]
fn a_missing_price_is_not_known_and_not_zero() {
    let mut world = open();
    world.run("mark SAP 10 10.02");
    hold(&mut world, SecurityId(6), 1);
    let told = samples_at(&mut world, "2026-11-16T13:00:00Z");
    expect![[r#"
        sample PLATFORM 2026-11-16: ? = 200000 + ?, long 1000 short 0, P/L 0 + ?, costs 0 + 0, day ? flow 201000
        sample ACCOUNT-1 2026-11-16: ? = 100000 + ?, long 1000 short 0, P/L 0 + ?, costs 0 + 0, day ? flow 101000
        sample ACCOUNT-2 2026-11-16: 100000 = 100000 + 0, long 0 short 0, P/L 0 + 0, costs 0 + 0, day 0 flow 100000
        sample STRATEGY-1 2026-11-16: ? = 200000 + ?, long 1000 short 0, P/L 0 + ?, costs 0 + 0, day ? flow 201000
        sample SECURITY-6 2026-11-16: ? = ? + ?, long 1000 short 0, P/L 0 + ?, costs 0 + 0, day ? flow ?"#]]
    .assert_eq(&told.join("\n"));
}

/// A EUR costs two dollars.
#[test]
fn the_day_goes_on_where_the_base_currency_changes() {
    let mut world = open();
    world.run(TRADE);
    mark(&mut world, &[SecurityId(3)], 2);
    let in_dollars = samples_at(&mut world, "2026-11-16T13:00:00Z");
    let Command::Configure(settings) = sampling(3600) else { unreachable!() };
    let in_euros = EngineSettings { base_currency: "EUR".parse().unwrap(), ..settings };
    world.command(Command::Configure(in_euros)).unwrap();
    let told = [in_dollars, samples_at(&mut world, "2026-11-16T14:00:00Z")].concat();
    let days = told
        .iter()
        .map(|line| line.split(": ").next().unwrap().to_owned() + " day" + line.split(" day").nth(1).unwrap());
    expect![[r#"
        sample PLATFORM 2026-11-16 day 97.5 flow 200000
        sample ACCOUNT-1 2026-11-16 day 97.5 flow 100000
        sample ACCOUNT-2 2026-11-16 day 0 flow 100000
        sample STRATEGY-1 2026-11-16 day 97.5 flow 200000
        sample SECURITY-1 2026-11-16 day 97.5 flow ?
        sample PLATFORM 2026-11-16 day 48.75 flow 100000
        sample ACCOUNT-1 2026-11-16 day 48.75 flow 50000
        sample ACCOUNT-2 2026-11-16 day 0 flow 50000
        sample STRATEGY-1 2026-11-16 day 48.75 flow 100000
        sample SECURITY-1 2026-11-16 day 48.75 flow ?"#]]
    .assert_eq(&days.collect::<Vec<_>>().join("\n"));
}

#[test]
fn without_the_setting_there_are_none() {
    let mut world = StoryEngine::open();
    world.run(TRADE);
    let without = world.engine.encode_state();
    assert_eq!(samples_at(&mut world, "2026-11-17T00:00:00Z"), Vec::<String>::new());
    let mut world = open();
    world.run(TRADE);
    world.command(Command::Configure(EngineSettings::default())).unwrap();
    assert_eq!(world.engine.encode_state(), without, "sampling leaves nothing behind");
    assert_eq!(samples_at(&mut world, "2026-11-17T00:00:00Z"), Vec::<String>::new());
}

#[test]
fn the_next_deadline_is_that_of_the_next_round() {
    let mut world = open();
    let next = |world: &StoryEngine| world.engine.next_deadline().unwrap().to_string();
    assert_eq!(next(&world), "2026-11-16T13:00:00Z");
    samples_at(&mut world, "2026-11-16T13:20:00Z");
    assert_eq!(next(&world), "2026-11-16T14:00:00Z");
    world.command(sampling(7 * 3600)).unwrap();
    // Multiples of the pause since 1970.
    assert_eq!(next(&world), "2026-11-16T16:00:00Z");
    world.command(sampling(86_400)).unwrap();
    assert_eq!(next(&world), "2026-11-17T00:00:00Z");
}

const POSITIONS: u64 = 1_000;

#[test]
fn a_round_costs_one_sample_for_each_scope_that_changed() {
    let mut world = open();
    let securities: Vec<_> = (1_000..1_000 + POSITIONS).map(SecurityId).collect();
    let listed = securities.iter().map(|id| {
        let template = &world.engine.reference().securities[&SecurityId(1)];
        let (symbol, family) = (format!("S{id}").into(), None);
        ReferenceChange::Security(domain::Security { id: *id, symbol, family, ..(**template).clone() })
    });
    world.command(Command::Reference(listed.collect())).unwrap();
    securities.iter().for_each(|id| hold(&mut world, *id, 1));
    mark(&mut world, &securities, 10);
    // The platform, two accounts with cash, one strategy.
    assert_eq!(samples_at(&mut world, "2026-11-16T13:00:00Z").len(), securities.len() + 4);
    assert_eq!(samples_at(&mut world, "2026-11-16T14:00:00Z").len(), 0);
    mark(&mut world, &securities[..1], 11);
    // The security, its account, its strategy, the platform.
    assert_eq!(samples_at(&mut world, "2026-11-16T15:00:00Z").len(), 4);
    mark(&mut world, &securities, 12);
    assert_eq!(samples_at(&mut world, "2026-11-16T16:00:00Z").len(), securities.len() + 3);
}

/// Moves a security in without a trade.
fn hold(world: &mut StoryEngine, security: SecurityId, quantity: i64) {
    let transfer = RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Transfer,
        quantity: Some(quantity.into()),
        price: 10.into(),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: None,
        account: Some(AccountId(1)),
        security: Some(security),
        strategy: Some(StrategyId::SERVER),
        description: None,
    };
    world.command(Command::Record(transfer)).unwrap();
}

fn mark(world: &mut StoryEngine, securities: &[SecurityId], price: i64) {
    let price = Some(Price(Decimal::from(price)));
    let mark = |security| Mark { security, bid: price, ask: price, last: None, at: world.now, stale: None };
    let marks = securities.iter().map(|security| mark(*security)).collect();
    world.apply(Input::Marks(marks)).0.unwrap();
}
