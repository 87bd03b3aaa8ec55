//! Invalid input never stops the engine: numbers of 28 digits, unknown ids, venues that were never attached.

use domain::command::{ModifyOrder, RestatedFields};
use domain::query::Filter;
use domain::{
    AccountId, BarSize, Decimal, Input, Price, Quantity, Query, Side, StrategyId, TimeInForce, TransactionId,
};
use engine::{Engine, Outbox};
use proptest::prelude::*;

use crate::engine_fixture::{EURO_STOCK, EngineFixture, FOREX, FUTURE, SECURITIES, STOCK, trader};
use crate::invalid_inputs::{odd_input, odd_place};
use crate::steps::{RandomOrder, RandomOrderKind, RandomTif, Step, any_step};
use crate::trial::Trial;

/// All queries still work, and the state can be encoded and decoded.
fn look_at_all(fixture: &EngineFixture, check: domain::command::PlaceOrder) {
    let filter = Filter::default();
    let mut queries = vec![
        Query::OpenOrders(filter),
        Query::Order("A-1".into()),
        Query::Positions(filter),
        Query::Balances(filter),
        Query::PortfolioValue(None),
        Query::DailyTransactions(filter),
        Query::Transaction(TransactionId(1)),
        Query::TradingStates,
        Query::Limits,
        Query::CheckOrder(check, trader()),
        Query::CheckModify(huge_change(), trader()),
        Query::Subscriptions,
        Query::ProcessRun(StrategyId::SERVER),
        Query::Ticks(filter),
        Query::Marks,
        Query::Adapters,
        Query::ReconciliationLags,
        Query::Phases,
        Query::State,
    ];
    queries.extend(SECURITIES.map(Query::Book));
    queries.extend(SECURITIES.map(|security| Query::Bars(security, BarSize::Min1)));
    for query in &queries {
        let _ = fixture.engine.answer(fixture.now, 0, query);
    }
    let state = fixture.engine.encode_state();
    assert!(Engine::from_state(&state).unwrap().encode_state() == state, "the state does not survive the disk");
}

/// More than any number can hold, for the first order there is.
fn huge_change() -> ModifyOrder {
    ModifyOrder {
        int_id: "A-1".parse().unwrap(),
        cl_ord_id: None,
        quantity: Some(Quantity(Decimal::MAX)),
        limit: Some(Price(Decimal::MAX)),
        stop: None,
        tif: None,
        restated: RestatedFields::default(),
        reference: None,
    }
}

/// Sane orders, so that nonsense has something to be about.
fn orders() -> Vec<Step> {
    let order = |(account, security, side)| {
        Step::Place(RandomOrder {
            account: AccountId(account),
            strategy: StrategyId(account),
            security,
            side,
            quantity: 20,
            shape: RandomOrderKind::Limit,
            ticks: 0,
            tif: RandomTif::Plainly(TimeInForce::Gtc),
        })
    };
    let (buy, sell) = (Side::Buy, Side::Sell);
    let first = [(1, STOCK, buy), (1, STOCK, sell), (2, FUTURE, buy), (2, FOREX, sell), (1, EURO_STOCK, buy)];
    first.map(order).to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nonsense_is_refused_or_believed_but_never_fatal(
        steps in prop::collection::vec(any_step(), 0..12),
        inputs in prop::collection::vec((odd_input(), 0..90_000_i64), 1..40),
        check in odd_place(),
    ) {
        let mut trial = Trial::of(&orders());
        steps.iter().for_each(|step| trial.apply(step));
        let mut fixture = trial.desk;
        for (input, millis) in inputs {
            fixture.now = fixture.now.plus_millis(millis);
            let before = fixture.engine.encode_state();
            let is_command = matches!(input, Input::Command(_));
            let (reply, out) = fixture.apply(input);
            if is_command && reply.is_err() {
                prop_assert_eq!(out, Outbox::default());
                prop_assert!(fixture.engine.encode_state() == before, "a refusal left a trace: {:?}", reply);
            }
            let _ = fixture.engine.all_changed_marks();
            fixture.engine.advance_market(fixture.now, &mut Outbox::default());
            fixture.engine.flag_silent_feeds(fixture.now, &mut Outbox::default());
        }
        look_at_all(&fixture, check);
        let mut again = Engine::default();
        for input in &fixture.inputs {
            let _ = again.apply(input, &mut Outbox::default());
        }
        prop_assert!(again.encode_state() == fixture.engine.encode_state(), "a replay gives another state");
    }
}
