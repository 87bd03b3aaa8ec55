//! Security search, and formats of lists.

use std::sync::Arc;

use bus::operations::ReferenceError;
use domain::{Answer, Currency, Refusal, SecurityId, SecurityKind};
use expect_test::expect;
use web::WebSettings;

use crate::test_server::{FakeOperations, TestServer, code, reference_data, status};

fn with_a_pair() -> TestServer {
    let mut reference = reference_data();
    let mut pair = samples::stock(9, "EUR.USD");
    pair.kind = SecurityKind::Forex { base: "EUR".parse().unwrap(), transaction: Currency::USD };
    reference.securities.insert(pair.id, Arc::new(pair));
    TestServer::open_with(WebSettings::default(), FakeOperations::default(), reference, |_, _| {})
}

fn ids(answer: &str) -> Vec<&str> {
    let starts = answer.match_indices("{\"id\":").map(|(place, key)| place + key.len());
    starts.map(|start| answer[start..].split(',').next().unwrap()).collect()
}

#[test]
fn securities_are_found_by_words_fields_and_comparisons() {
    let server = with_a_pair();
    let cases: &[(&str, &[&str])] = &[
        ("", &["1", "2", "3", "4", "9"]),
        ("?query=", &["1", "2", "3", "4", "9"]),
        ("?query=aapl", &["1"]),
        ("?query=symbol:TWIN%20AND%20id%3E3", &["4"]),
        ("?query=(aapl+OR+msft)+NOT+id:1", &["2"]),
        ("?query=%22eur.usd%22", &["9"]),
        ("?query=EU*", &["9"]),
        ("?query=nothing", &[]),
    ];
    for (query, expected) in cases {
        assert_eq!(ids(&server.get(&format!("/rest/security.search{query}"))), *expected, "{query}");
    }
}

#[test]
fn long_lists_of_securities_are_read_page_by_page() {
    let server = with_a_pair();
    let cases: &[(&str, &[&str])] = &[
        ("", &["1", "2", "3", "4", "9"]),
        ("?limit=2", &["1", "2"]),
        ("?after=2&limit=2", &["3", "4"]),
        ("?after=4", &["9"]),
        ("?after=9&limit=1000", &[]),
    ];
    for (query, expected) in cases {
        for path in ["/rest/security", "/rest/security.search"] {
            assert_eq!(ids(&server.get(&format!("{path}{query}"))), *expected, "{path}{query}");
        }
    }
    assert_eq!(ids(&server.get("/rest/security.search?query=symbol:TWIN&after=3")), ["4"]);
    for bad in ["?limit=0", "?limit=1001", "?after=-1"] {
        assert_eq!(code(&server.get(&format!("/rest/security{bad}"))), "400 malformed-parameter", "{bad}");
    }
}

/// Securities from 1 on, all listed at sequence 5; then 7 changed at 8, and 9 was removed at 12.
fn with_changes(count: u64) -> TestServer {
    let mut reference = reference_data();
    for id in 1..=count {
        reference.securities.insert(SecurityId(id), Arc::new(samples::stock(id, &format!("S{id}"))));
        reference.security_changes.on_changed(5, SecurityId(id));
    }
    reference.security_changes.on_changed(8, SecurityId(7));
    reference.securities.remove(&SecurityId(9));
    reference.security_changes.on_removed(12, SecurityId(9));
    TestServer::open_with(WebSettings::default(), FakeOperations::default(), reference, |_, _| {})
}

fn after(answer: &str) -> &str {
    let header = answer.lines().find_map(|line| line.strip_prefix("rialto-after: "));
    header.unwrap_or_else(|| panic!("no rialto-after in {answer}")).trim()
}

fn changed(answer: &str) -> Vec<&str> {
    let starts = answer.match_indices("\"securityId\":").map(|(place, key)| place + key.len());
    starts.map(|start| answer[start..].split(',').next().unwrap()).collect()
}

#[test]
fn what_changed_since_a_sequence_is_read_page_by_page() {
    let server = with_changes(10);
    let cases: &[(&str, &[&str], &str)] = &[
        ("?limit=3", &["1", "2", "3", "4", "5", "6", "8", "10"], "5"),
        ("?after=5&limit=1", &["7"], "8"),
        ("?after=8&limit=1", &["9"], "12"),
        ("?after=12", &[], "12"),
        ("?after=5", &["7", "9"], "12"),
    ];
    for (query, expected, last) in cases {
        let answer = server.get(&format!("/rest/security.changes{query}"));
        assert_eq!((changed(&answer), after(&answer)), (expected.to_vec(), *last), "{query}");
    }
    assert!(
        server.get("/rest/security.changes?after=8").contains("{\"sequence\":12,\"securityId\":9,\"security\":null}")
    );
    assert_eq!(code(&server.get("/rest/security.changes?after=13")), "410 changes-forgotten", "of another journal");
    let list = server.get("/rest/security?limit=1");
    assert!(list.contains("rialto-sequence: 12"), "where the changes begin: {list}");
}

/// The numbers of two journals look alike.
#[test]
fn a_page_names_its_journal_and_after_of_another_is_refused() {
    let journal = "0123456789abcdef0123456789abcdef";
    let settings = WebSettings { journal: journal.to_owned(), ..WebSettings::default() };
    let mut reference = reference_data();
    reference.security_changes.on_changed(5, SecurityId(1));
    let server = TestServer::open_with(settings, FakeOperations::default(), reference, |_, _| {});
    let pages =
        ["security", "security.search", "security.changes", "history/order", "history/transaction", "history/events"];
    for page in pages {
        let get = |journal: &str| server.get(&format!("/rest/{page}?after=5&journal={journal}"));
        let answer = get(journal);
        assert!(code(&answer).starts_with("200"), "{page}: {answer}");
        assert!(answer.contains(&format!("rialto-journal: {journal}")), "{page}: {answer}");
        let other = get("ffffffffffffffffffffffffffffffff");
        assert_eq!(code(&other), "410 other-journal", "{page}");
        assert!(other.contains(&format!("the parameter journal names another journal than {journal}")), "{other}");
        for bad in ["", "1", "0123456789ABCDEF0123456789ABCDEF"] {
            assert_eq!(code(&get(bad)), "400 malformed-parameter", "{page} {bad}");
        }
    }
    assert!(!server.get("/rest/account").contains("rialto-journal"));
}

/// A change costs what it is worth, however long the list is.
#[test]
fn a_change_among_a_hundred_thousand_securities_is_a_short_answer() {
    let server = with_changes(100_000);
    let (all, change) = (server.get("/rest/security"), server.get("/rest/security.changes?after=5"));
    assert!(all.len() > 20_000_000 && change.len() < 2_000, "{} and {} bytes", all.len(), change.len());
    assert_eq!(changed(&change), ["7", "9"]);
}

#[test]
fn a_search_that_cannot_be_understood_says_where() {
    let server = with_a_pair();
    let answer = server.get("/rest/security.search?query=(aapl");
    assert_eq!(code(&answer), "400 malformed-search");
    assert!(answer.contains("\"detail\":\"at character 6: a ) is missing\""), "{answer}");
    assert_eq!(code(&server.get("/rest/security.search?q=aapl")), "400 unknown-parameter");
}

#[test]
fn a_pair_is_found_by_its_currencies() {
    let server = with_a_pair();
    let pair = server.get("/rest/forex?baseCurrency=EUR&transactionCurrency=USD");
    assert!(pair.contains("\"objectType\":\"Forex\"") && ids(&pair) == ["9"], "{pair}");
    let cases = [
        ("?baseCurrency=USD&transactionCurrency=EUR", "404 unknown-pair"),
        ("?baseCurrency=EUR", "400 missing-parameter"),
        ("", "400 missing-parameter"),
        ("?baseCurrency=euro&transactionCurrency=USD", "400 malformed-parameter"),
    ];
    for (query, expected) in cases {
        assert_eq!(code(&server.get(&format!("/rest/forex{query}"))), expected, "{query}");
    }
}

#[test]
fn a_client_with_a_current_list_of_reference_data_is_304() {
    let server = TestServer::without_engine(WebSettings::default());
    for path in ["/rest/account", "/rest/security", "/rest/security-family", "/rest/exchange"] {
        let first = server.get(path);
        let tag = first.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let again = server.call("GET", path, &format!("If-None-Match: \"other\", {tag}\r\n"), "");
        assert_eq!(status(&again), "HTTP/1.1 304 Not Modified", "{path}");
        assert!(again.contains(&format!("\netag: {tag}\n")) && !again.contains("[{"), "{again}");
        let other = server.call("GET", path, "If-None-Match: \"other\"\r\n", "");
        assert_eq!(status(&other), "HTTP/1.1 200 OK", "{path}");
    }
}

#[test]
fn a_list_that_changed_is_sent_again_with_another_tag() {
    let server = TestServer::without_engine(WebSettings::default());
    let first = server.get("/rest/security");
    let tag = first.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let mut reference = reference_data();
    reference.securities.insert(SecurityId(5), Arc::new(samples::stock(5, "NEW")));
    server.catalogue.replace(Arc::new(reference));
    let again = server.call("GET", "/rest/security", &format!("If-None-Match: {tag}\r\n"), "");
    assert!(again.starts_with("HTTP/1.1 200 OK\n") && again.contains("\"symbol\":\"NEW\""), "{again}");
    assert!(!again.contains(tag));
}

#[test]
fn lists_are_csv_for_clients_that_prefer_it() {
    let server = TestServer::open(|_| Ok(Answer::Orders(vec![crate::test_server::order("A-1")])));
    let table = |path: &str| server.call("GET", path, "Accept: text/csv\r\n", "");
    let empty = table("/rest/security.search?query=nothing");
    assert!(empty.contains("\nid,objectType,symbol,description,isin,"), "an empty table has its columns: {empty}");
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: text/csv; charset=utf-8; header=present
        vary: Accept
        vary: Accept-Encoding
        etag: W/"09f83335656eaa9f893607b140d70bad"
        x-content-type-options: nosniff
        cache-control: private, no-cache
        x-request-id: story
        connection: close
        transfer-encoding: chunked

        92
        id,name,code,mic,bloombergCode,timeZone,tradingHours,holidays
        1,Day,,,,UTC,"[{""close"":""17:00"",""days"":[1,2,3,4,5],""open"":""09:00""}]",[]

        0

    "#]]
    .assert_eq(&table("/rest/exchange"));
    let orders = table("/rest/execution/order");
    assert!(orders.contains("\nobjectType,id,intId,") && orders.contains("\nLimitOrder,7,A-1,"), "{orders}");
    let one = table("/rest/account/ALPHA");
    assert!(one.contains("\ncontent-type: application/json\n"), "what is no list stays JSON: {one}");
}

#[test]
fn reference_data_is_read_again_from_where_the_configuration_says() {
    let server = TestServer::without_engine(WebSettings::default());
    let answer = server.call("POST", "/rest/cache/clear-all", "", "");
    assert!(answer.starts_with("HTTP/1.1 200 OK\n") && answer.contains("\ncontent-length: 0\n"), "{answer}");
    assert_eq!(*server.program.read.lock().unwrap(), [None]);
}

#[test]
fn reference_data_is_imported_from_a_folder_of_this_machine() {
    let server = TestServer::without_engine(WebSettings::default());
    let answer = server.post("/rest/reference/import", r#"{"path": "/srv/desk"}"#);
    assert!(answer.ends_with("\n{\"changes\":12}"), "{answer}");
    assert_eq!(*server.program.read.lock().unwrap(), [Some("/srv/desk".into())]);
    assert_eq!(code(&server.post("/rest/reference/import", r#"{"path": "desk"}"#)), "400 malformed-field");
    assert_eq!(code(&server.post("/rest/reference/import", "{}")), "422 missing");
}

#[test]
fn invalid_reference_data_is_rejected_with_its_errors() {
    let told = |trouble: ReferenceError| {
        let program = FakeOperations { trouble: Some(trouble), ..FakeOperations::default() };
        TestServer::with_program(program, |_| Ok(Answer::Done)).call("POST", "/rest/cache/clear-all", "", "")
    };
    let faults: Vec<_> = (1..=22).map(|line| format!("securities.csv:{line}: no symbol")).collect();
    let files = told(ReferenceError::Files(faults));
    assert_eq!(code(&files), "422 bad-reference-data");
    assert!(files.contains("securities.csv:1: no symbol; ") && files.contains("; and 2 more\""), "{files}");
    assert_eq!(code(&told(ReferenceError::Refused(Refusal::UnknownZone("Mars".into())))), "422 unknown-zone");
    assert_eq!(code(&told(ReferenceError::Unanswered)), "503 outcome-unknown");
}
