//! History, page by page.

use bus::history::{OrderSearch, PageRequest, SortOrder, SourceSearch, StoredEvent, TextSearch};
use domain::event::{Alarm, AlarmLevel};
use domain::order::{ExecType, OrdStatus};
use domain::query::Filter;
use domain::{AccountId, Answer, EventClass, OrderId, OrderStatus, Quantity, SecurityId, StrategyId, Timestamp};
use expect_test::expect;

use crate::fake_operations::{DURABLE, FakeHistory};
use crate::test_server::{FakeOperations, TestServer, code, order};

fn at() -> Timestamp {
    Timestamp::from_millis(1_794_839_400_000).unwrap()
}

fn status_of(int_id: &str, sequence: u64) -> OrderStatus {
    OrderStatus {
        order: OrderId(7),
        int_id: int_id.parse().unwrap(),
        ext_id: None,
        strategy: StrategyId(1),
        at: at(),
        ext_at: None,
        sequence,
        status: OrdStatus::Open,
        exec_type: ExecType::New,
        filled: Quantity::ZERO,
        remaining: 100.into(),
        last_quantity: None,
        last_price: None,
        avg_price: None,
        reason: None,
        request: None,
        client: None,
    }
}

fn alarm(sequence: u64) -> StoredEvent {
    let alarm = Alarm { level: AlarmLevel::Warn, code: "no-rate".into(), text: "EUR has no rate".into() };
    let payload = minicbor::to_vec(&alarm).unwrap();
    StoredEvent { sequence, at: at(), class: EventClass::Alarm as u8, payload }
}

fn remembering(past: FakeHistory) -> TestServer {
    TestServer::with_program(FakeOperations { history: past, ..FakeOperations::default() }, |_| Ok(Answer::Done))
}

#[test]
fn a_page_begins_after_a_key_and_is_as_true_as_what_was_acknowledged() {
    let server = remembering(FakeHistory { orders: vec![order("A-1")], ..FakeHistory::default() });
    let answer = server.get("/rest/history/order?strategy=MOMENTUM&account=ALPHA&security=AAPL&after=6&limit=1000");
    assert!(answer.contains("\"intId\":\"A-1\"") && answer.contains("\nrialto-sequence: 4700\n"), "{answer}");
    server.get("/rest/history/transaction");
    let filter = Filter { strategy: Some(StrategyId(2)), account: Some(AccountId(1)), security: Some(SecurityId(1)) };
    let first_page = (DURABLE, Filter::default(), SortOrder::Oldest, PageRequest { after: 0, limit: 100 });
    let asked = [(DURABLE, filter, SortOrder::Oldest, PageRequest { after: 6, limit: 1_000 }), first_page];
    assert_eq!(*server.program.history.queries.lock().unwrap(), asked);
    assert!(server.queries().is_empty(), "the engine is not asked about the past");
}

#[test]
fn the_newest_come_first_where_that_is_wanted() {
    let server = remembering(FakeHistory::default());
    for (path, after) in
        [("order?sort=NEWEST", u64::MAX), ("transaction?sort=NEWEST&after=7", 7), ("order?sort=OLDEST", 0)]
    {
        server.get(&format!("/rest/history/{path}"));
        let asked = server.program.history.queries.lock().unwrap().pop().unwrap();
        let sort = if path.contains("NEWEST") { SortOrder::Newest } else { SortOrder::Oldest };
        assert_eq!(asked, (DURABLE, Filter::default(), sort, PageRequest { after, limit: 100 }), "{path}");
    }
    let odd = server.get("/rest/history/order?sort=newest");
    assert_eq!(code(&odd), "400 malformed-parameter");
    assert!(odd.contains("the parameter sort must be OLDEST or NEWEST"), "{odd}");
    assert_eq!(code(&server.get("/rest/history/events?sort=NEWEST")), "400 unknown-parameter");
}

#[test]
fn orders_are_looked_for_by_words_and_by_what_they_are() {
    let server = remembering(FakeHistory::default());
    let query = "text=%20aap&source=UI,FIX,FIX:BANK&withoutStrategies=true&status=OPEN,EXECUTED&from=5&to=7";
    let answer = server.get(&format!("/rest/history/order?{query}&account=ALPHA"));
    assert_eq!(code(&answer), "200 -");
    let expected = OrderSearch {
        filter: Filter { account: Some(AccountId(1)), ..Filter::default() },
        text: Some(TextSearch { part: "aap".into(), securities: vec![SecurityId(1)] }),
        statuses: vec![OrdStatus::Open, OrdStatus::Executed],
        sources: vec![
            SourceSearch::Exactly("UI".into()),
            SourceSearch::AnyFix,
            SourceSearch::Exactly("FIX:BANK".into()),
        ],
        exclude_strategies: true,
        from: Timestamp::from_millis(5),
        to: Timestamp::from_millis(7),
    };
    assert_eq!(*server.program.history.searched.lock().unwrap(), [expected]);
}

#[test]
fn transactions_are_looked_for_by_words() {
    let server = remembering(FakeHistory::default());
    assert_eq!(code(&server.get("/rest/history/transaction?text=AAP&account=ALPHA")), "200 -");
    let expected = TextSearch { part: "aap".into(), securities: vec![SecurityId(1)] };
    assert_eq!(*server.program.history.transaction_text.lock().unwrap(), Some(expected));
    let empty = server.get("/rest/history/transaction?text=%20");
    assert_eq!(code(&empty), "400 malformed-parameter");
    assert!(empty.contains("text must be a part of a name or a note, of 1 to 100 characters"), "{empty}");
}

#[test]
fn a_search_that_cannot_be_is_refused_by_name() {
    let server = remembering(FakeHistory::default());
    let long = "x".repeat(101);
    let cases = [
        ("text=", "text must be a part of a name or a note, of 1 to 100 characters"),
        (&format!("text={long}"), "text must be a part of a name or a note, of 1 to 100 characters"),
        ("source=PHONE", "source must be one or several of REST,UI,STRATEGY,PLATFORM,EXTERNAL,FIX,FIX:<CompID>"),
        ("source=UI,", "source must be one or several of REST,UI,STRATEGY,PLATFORM,EXTERNAL,FIX,FIX:<CompID>"),
        ("withoutStrategies=yes", "withoutStrategies must be true or false"),
        (
            "status=DONE",
            "status must be one or several of OPEN,SUBMITTED,PARTIALLY_EXECUTED,EXECUTED,CANCELED,PENDING_CANCEL,\
             REJECTED,PENDING_REPLACE",
        ),
        ("from=yesterday", "from must be epoch milliseconds"),
        ("to=-1", "to must be epoch milliseconds"),
        ("to=99999999999999999", "to must be epoch milliseconds"),
    ];
    for (query, told) in cases {
        let answer = server.get(&format!("/rest/history/order?{query}"));
        assert_eq!(code(&answer), "400 malformed-parameter", "{query}");
        assert!(answer.contains(&format!("the parameter {told}")), "{query}: {answer}");
    }
}

#[test]
fn a_page_out_of_bounds_is_refused_by_name() {
    let server = remembering(FakeHistory::default());
    for path in ["order", "order/A-1/event", "transaction", "events"] {
        for bad in ["limit=0", "limit=1001", "limit=ten", "limit=", "after=-1", "after=1.5", "after=9007199254740992"] {
            let answer = server.get(&format!("/rest/history/{path}?{bad}"));
            assert_eq!(code(&answer), "400 malformed-parameter", "{path} {bad}");
            let name = bad.split('=').next().unwrap();
            assert!(answer.contains(&format!("the parameter {name} must be a whole number")), "{answer}");
        }
    }
    assert_eq!(code(&server.get("/rest/history/order?strategy=NOBODY")), "404 unknown-strategy");
}

#[test]
fn events_of_an_order_are_listed_in_order() {
    let statuses = vec![status_of("A-1", 5), status_of("B-2", 6), status_of("A-1", 9), status_of("A-1", 12)];
    let server = remembering(FakeHistory { statuses, ..FakeHistory::default() });
    let sequences = |path: &str| -> Vec<String> {
        let answer = server.get(path);
        let found = answer.split("\"sequenceNumber\":").skip(1);
        found.map(|rest| rest.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(sequences("/rest/history/order/A-1/event"), ["5", "9", "12"]);
    assert_eq!(sequences("/rest/history/order/A-1/event?after=5&limit=1"), ["9"]);
    assert_eq!(code(&server.get("/rest/history/order/C-3/event")), "404 unknown-order");
}

#[test]
fn events_join_by_their_sequence() {
    let server = remembering(FakeHistory { events: vec![alarm(17), alarm(18)], ..FakeHistory::default() });
    let answer = server.get("/rest/history/events?after=16&limit=2");
    let body = answer.split("\n\n").nth(1).unwrap().lines().nth(1).unwrap();
    expect![[r#"[{"sequence":17,"dateTime":1794839400000,"objectType":"LogEvent","event":{"dateTime":1794839400000,"level":"WARN","logger":"engine","message":"no-rate: EUR has no rate","exceptionClass":null,"exceptionMessage":null}},{"sequence":18,"dateTime":1794839400000,"objectType":"LogEvent","event":{"dateTime":1794839400000,"level":"WARN","logger":"engine","message":"no-rate: EUR has no rate","exceptionClass":null,"exceptionMessage":null}}]"#]]
    .assert_eq(body);
    assert_eq!(server.program.history.queries.lock().unwrap()[0].3, PageRequest { after: 16, limit: 2 });
}

#[test]
fn a_past_that_is_behind_or_unreadable_is_told() {
    let behind = remembering(FakeHistory { behind: Some(4_000), ..FakeHistory::default() }).get("/rest/history/order");
    assert_eq!(code(&behind), "503 history-behind");
    assert!(behind.contains("history is at 4000 and not yet at 4700") && behind.contains("\nretry-after: 1\n"));
    let foreign = StoredEvent { class: 200, ..alarm(17) };
    let server = remembering(FakeHistory { events: vec![foreign], ..FakeHistory::default() });
    assert_eq!(code(&server.get("/rest/history/events")), "500 internal");
}
