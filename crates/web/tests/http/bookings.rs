//! Transactions: recorded by clients, of today and before, and positions rebuilt from them.

use std::sync::Arc;

use domain::command::RecordTransaction;
use domain::query::Filter;
use domain::{
    AccountId, Amount, Answer, Command, Currency, Decimal, Price, Quantity, Query, Refusal, SecurityId, StrategyId,
    Timestamp, Transaction, TransactionId, TransactionKind, Uuid,
};
use expect_test::expect;

use crate::fake_operations::{DURABLE, FakeHistory};
use crate::test_server::{FakeOperations, TestServer, code, status};

pub(crate) fn booked(id: u64) -> Arc<Transaction> {
    Arc::new(Transaction {
        id: TransactionId(id),
        uuid: Uuid::mint(1, id),
        at: Timestamp::from_millis(1_794_839_400_000).unwrap(),
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: Quantity(Decimal::ONE),
        price: Price::from(1_000),
        execution_commission: Amount::ZERO,
        clearing_commission: Amount::ZERO,
        fee: Amount::ZERO,
        currency: Currency::USD,
        account: AccountId(1),
        security: None,
        strategy: StrategyId(1),
        description: None,
        charges: vec![],
        venue_kind: None,
        liquidity: None,
    })
}

const CREDIT: &str = r#"{"type": "CREDIT", "price": 1000, "currency": "USD", "strategyName": "MOMENTUM"}"#;

#[test]
fn a_recorded_transaction_is_200_without_a_body_and_says_where_it_is() {
    let server = TestServer::open(|_| Ok(Answer::Transaction(booked(8))));
    expect![[r#"
        HTTP/1.1 200 OK
        location: /rest/transaction/8
        rialto-sequence: 4711
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        connection: close
        content-length: 0

    "#]]
    .assert_eq(&server.post("/rest/transaction", CREDIT));
    let expected = RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: None,
        price: Price::from(1_000),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: Some(Currency::USD),
        account: None,
        security: None,
        strategy: Some(StrategyId(2)),
        description: None,
    };
    assert_eq!(server.commands()[0].command, Command::Record(expected));
}

#[test]
fn an_invalid_transaction_is_rejected_with_the_reason() {
    let server = TestServer::open(|_| Ok(Answer::Transaction(booked(8))));
    let cases = [
        ("{", "400 malformed-json"),
        ("{}", "422 missing"),
        (r#"{"type": "GIFT", "price": 1}"#, "400 malformed-field"),
        (r#"{"type": "CREDIT", "price": 1, "strategyName": "NOBODY"}"#, "422 unknown-strategy"),
    ];
    for (body, expected) in cases {
        assert_eq!(code(&server.post("/rest/transaction", body)), expected, "{body}");
    }
    assert!(server.commands().is_empty());
    let refusals = [
        (Refusal::DuplicateTransaction(Uuid::mint(1, 8)), "409 duplicate-transaction"),
        (Refusal::WrongSign { field: "quantity", value: Decimal::NEGATIVE_ONE }, "422 wrong-sign"),
        (Refusal::NotHeld { held: Quantity::ZERO, change: Quantity::from(-2) }, "422 not-held"),
        (Refusal::Missing { field: "securityId" }, "422 missing"),
        (Refusal::AccountAmbiguous(vec![AccountId(1), AccountId(2)]), "422 account-ambiguous"),
        (Refusal::UnknownSecurity(SecurityId(99)), "422 unknown-security"),
    ];
    for (refusal, expected) in refusals {
        let server = TestServer::open(move |_| Err(refusal.clone()));
        assert_eq!(code(&server.post("/rest/transaction", CREDIT)), expected);
    }
}

fn with_a_past() -> TestServer {
    let past = FakeHistory { transactions: vec![booked(3)], ..FakeHistory::default() };
    TestServer::with_program(FakeOperations { history: past, ..FakeOperations::default() }, |wanted| match wanted {
        bus::RequestPayload::Query(query) => match **query {
            Query::Transaction(TransactionId(8)) => Ok(Answer::Transaction(booked(8))),
            Query::Transaction(id) => Err(Refusal::UnknownTransaction(id)),
            _ => Ok(Answer::Transactions(vec![booked(9), booked(8), booked(7)])),
        },
        _ => Ok(Answer::Done),
    })
}

#[test]
fn a_transaction_is_found_among_todays_and_then_in_history() {
    let server = with_a_past();
    let today = server.get("/rest/transaction/8");
    assert!(today.contains("{\"id\":8,") && today.contains("\nrialto-sequence: 4711\n"), "{today}");
    assert!(server.program.history.queries.lock().unwrap().is_empty(), "the engine knew it");
    let older = server.get("/rest/transaction/3");
    assert!(older.contains("{\"id\":3,") && older.contains(&format!("\nrialto-sequence: {DURABLE}\n")), "{older}");
    assert_eq!(server.program.history.queries.lock().unwrap()[0].0, DURABLE);
    assert_eq!(code(&server.get("/rest/transaction/99")), "404 unknown-transaction");
    assert_eq!(code(&server.get("/rest/transaction/x")), "400 malformed-path");
}

#[test]
fn todays_transactions_come_newest_first_and_no_more_than_wanted() {
    let server = with_a_past();
    let ids = |answer: &str| answer.matches("{\"id\":").count();
    assert_eq!(ids(&server.get("/rest/transaction/daily")), 3);
    let two = server.get("/rest/transaction/daily?limit=2&strategy=MOMENTUM");
    assert!(ids(&two) == 2 && two.find("\"id\":9,") < two.find("\"id\":8,"), "{two}");
    let filter = Filter { strategy: Some(StrategyId(2)), ..Filter::default() };
    let asked = [Query::DailyTransactions(Filter::default()), Query::DailyTransactions(filter)];
    assert_eq!(server.queries(), asked);
    let cases = [
        ("?strategy=NOBODY", "404 unknown-strategy"),
        ("?limit=0", "400 malformed-parameter"),
        ("?limit=-1", "400 malformed-parameter"),
        ("?limit=many", "400 malformed-parameter"),
        ("?limit=99999999999999999999999", "400 malformed-parameter"),
    ];
    for (query, expected) in cases {
        assert_eq!(code(&server.get(&format!("/rest/transaction/daily{query}"))), expected, "{query}");
    }
}

#[test]
fn positions_and_cash_are_rebuilt_on_demand_under_both_spellings() {
    let server = TestServer::open(|_| Ok(Answer::Done));
    let paths = [
        "/rest/position/reset-positions",
        "/rest/transaction/reset-cache-balances",
        "/rest/transaction/reset-cash-balances",
    ];
    for path in paths {
        let answer = server.call("POST", path, "", "");
        assert_eq!(status(&answer), "HTTP/1.1 200 OK", "{path}");
        assert!(answer.contains("\ncontent-length: 0\n"), "{answer}");
    }
    let commands: Vec<_> = server.commands().into_iter().map(|envelope| envelope.command).collect();
    assert_eq!(commands, [Command::ResetPositions, Command::ResetCash, Command::ResetCash]);
}
