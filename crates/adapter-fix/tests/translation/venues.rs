//! Venues whose dialects follow their documentation and were tried against nothing: the messages as it describes them.

use adapter_fix::RequestKind;
use domain::Order;
use expect_test::expect;

use crate::story::{Story, order, terms};

/// Deribit's reports have its own id in ClOrdID (11) and ours in OrigClOrdID (41); executions are in a group.
#[test]
fn deribit_names_orders_by_its_own_ids() {
    let mut story = Story::new("deribit");
    let report = |fields: &str| format!("8 11=8000001|41=R7-1-0|37=8000001|527=1|54=1|55=MSFT|38=100|{fields}");
    story.submit(&order(1));
    story.venue(&report("150=I|39=0|14=0|151=100|58=success"));
    let first = "1363=T1|1364=10.5|1365=30|1443=2|1363=T2|1364=10.4|1365=10|1443=1";
    story.venue(&report(&format!("150=I|39=1|14=40|151=60|58=notification|1362=2|{first}")));
    story.venue(&report(&format!("150=I|39=1|14=40|151=60|58=notification|1362=2|{first}")));
    story.venue(&report("150=I|39=1|14=70|151=30|58=notification|1362=1|1363=T4|1364=10.5|1365=10"));
    let held = |request| Order { request, ext_id: Some("8000001".into()), ..order(1) };
    story.replace(&held(1), terms(200, "10.6"));
    story.venue("8 11=8000001|41=R7-1-0|37=8000001|55=MSFT|38=200|44=10.6|150=5|39=1|14=70|151=130");
    story.cancel(&held(2));
    story.venue("9 11=8000001|41=R7-1-0|39=1|58=already_closed");
    story.cancel(&held(3));
    story.venue("8 11=8000001|41=R7-1-0|150=4|39=4|58=cancelled");
    story.cancel(&Order { request: 1, ..order(2) });
    expect![[r#"
        > 35=D|11=R7-1-0|38=100|40=2|44=10.5|54=1|55=MSFT|59=1
        < 35=8|11=8000001|41=R7-1-0|37=8000001|527=1|54=1|55=MSFT|38=100|150=I|39=0|14=0|151=100|58=success
            1 accepted as Some("8000001")
        < 35=8|11=8000001|41=R7-1-0|37=8000001|527=1|54=1|55=MSFT|38=100|150=I|39=1|14=40|151=60|58=notification|1362=2|1363=T1|1364=10.5|1365=30|1443=2|1363=T2|1364=10.4|1365=10|1443=1
            1 filled 30 @ 10.5 (T1), TAKER; 1 filled 10 @ 10.4 (T2), MAKER
        < 35=8|11=8000001|41=R7-1-0|37=8000001|527=1|54=1|55=MSFT|38=100|150=I|39=1|14=40|151=60|58=notification|1362=2|1363=T1|1364=10.5|1365=30|1443=2|1363=T2|1364=10.4|1365=10|1443=1
            nothing
        < 35=8|11=8000001|41=R7-1-0|37=8000001|527=1|54=1|55=MSFT|38=100|150=I|39=1|14=70|151=30|58=notification|1362=1|1363=T4|1364=10.5|1365=10
            1 filled 10 @ 10.5 (T4); ALARM order 1: the venue has filled 70, but only 50 were reported
        > 35=G|11=R7-1-0|38=200|40=2|41=8000001|44=10.6|54=1|55=MSFT|59=1
        < 35=8|11=8000001|41=R7-1-0|37=8000001|55=MSFT|38=200|44=10.6|150=5|39=1|14=70|151=130
            1 replaced: 200 @ 10.6 GTC
        > 35=F|11=R7-1-0|41=8000001|55=MSFT
        < 35=9|11=8000001|41=R7-1-0|39=1|58=already_closed
            1 cancel refused: already_closed
        > 35=F|11=R7-1-0|41=8000001|55=MSFT
        < 35=8|11=8000001|41=R7-1-0|150=4|39=4|58=cancelled
            1 cancelled Some("cancelled")
        > 35=F|11=R7-2-0|55=MSFT
    "#]].assert_eq(&story.told);
}

/// Its requests all have the id of the order, so a refusal does not say which one it means but by its number.
#[test]
fn deribit_refuses_a_request_by_a_reject_of_the_message() {
    let mut story = Story::new("deribit");
    let held = |request| Order { request, ext_id: Some("8000001".into()), ..order(1) };
    story.submit(&order(1));
    story.venue("8 11=8000001|41=R7-1-0|37=8000001|527=1|54=1|55=MSFT|38=100|150=I|39=0|14=0|151=100");
    story.replace(&held(1), terms(200, "10.6"));
    story.sent(5, 1, 0, RequestKind::Replace);
    story.venue("3 45=5|371=44|372=G|373=5|58=no such price");
    story.cancel(&held(2));
    story.sent(6, 1, 0, RequestKind::Cancel);
    story.venue("j 45=6|372=F|380=4|58=not available");
    story.cancel(&held(3));
    story.venue("j 372=F|379=R7-1-0|380=4|58=not available");
    let told: Vec<&str> = story.told.lines().filter(|line| line.starts_with("    ")).map(str::trim).collect();
    let refused = "1 cancel refused: not available";
    assert_eq!(told[1..], ["1 replace refused: no such price", refused, refused], "{}", story.told);
}

/// Coinbase takes UUIDs as ids.
#[test]
fn coinbase_has_ids_that_are_uuids() {
    let mut story = Story::new("coinbase-exchange");
    story.submit(&order(1));
    let ours = "11=00000000-0007-8000-8000-000000004000";
    story.venue(&format!("8 {ours}|37=c0ffee00-0000-4000-8000-000000000001|17=X1|150=0|39=0|38=100|14=0|151=100"));
    story.venue(&format!(
        "8 {ours}|37=c0ffee00-0000-4000-8000-000000000001|17=X2|150=F|39=1|38=100|32=40|31=10.5|14=40|151=60|1057=Y"
    ));
    story.cancel(&Order { request: 1, ext_id: Some("c0ffee00-0000-4000-8000-000000000001".into()), ..order(1) });
    story.venue("8 11=00000000-0007-8000-8000-000000004001|41=00000000-0007-8000-8000-000000004000|17=X3|150=4|39=4|38=100|14=40|151=0");
    story.venue("8 11=c0ffee00-0000-4000-8000-000000000002|37=V9|17=X4|150=0|39=0|38=1|14=0|151=1");
    expect![[r#"
        > 35=D|11=00000000-0007-8000-8000-000000004000|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=00000000-0007-8000-8000-000000004000|37=c0ffee00-0000-4000-8000-000000000001|17=X1|150=0|39=0|38=100|14=0|151=100
            1 accepted as Some("c0ffee00-0000-4000-8000-000000000001")
        < 35=8|11=00000000-0007-8000-8000-000000004000|37=c0ffee00-0000-4000-8000-000000000001|17=X2|150=F|39=1|38=100|32=40|31=10.5|14=40|151=60|1057=Y
            1 filled 40 @ 10.5 (X2), TAKER
        > 35=F|11=00000000-0007-8000-8000-000000004001|37=c0ffee00-0000-4000-8000-000000000001|38=100|41=00000000-0007-8000-8000-000000004000|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=8|11=00000000-0007-8000-8000-000000004001|41=00000000-0007-8000-8000-000000004000|17=X3|150=4|39=4|38=100|14=40|151=0
            1 cancelled None
        < 35=8|11=c0ffee00-0000-4000-8000-000000000002|37=V9|17=X4|150=0|39=0|38=1|14=0|151=1
            not ours: c0ffee00-0000-4000-8000-000000000002
    "#]].assert_eq(&story.told);
}
