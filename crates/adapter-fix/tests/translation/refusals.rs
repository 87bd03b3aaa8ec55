//! Refusals of requests: a Cancel Reject (9), a Reject (3), a Business Message Reject (j), and a report that rejects (8).

use adapter_fix::Dialect;
use expect_test::expect;

use crate::story::{NOW, Story, order, terms};

const ACCEPTED: &str = "8 11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100";

/// Questions (H, AD) carry the ClOrdID of the order. Their refusals come again after a log-on, when no number (45) is known any more.
#[test]
fn a_question_that_is_refused_rejects_no_order() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue(ACCEPTED);
    story.translator.chains.on_disconnected(false);
    story.venue("j 43=Y|45=9|372=H|379=R7-1-0|380=4");
    story.venue("j 43=Y|45=10|372=AD|379=R7-1-0|380=4");
    story.venue("j 45=11|372=H|379=R7-1-0|380=4");
    story.venue("j 45=12|379=R7-1-0|380=4");
    story.submit(&order(2));
    story.venue("j 43=Y|45=9|372=H|379=R7-2-0|380=4");
    story.venue("j 43=Y|45=9|379=R7-2-0|380=4");
    story.venue("j 43=Y|45=9|372=D|379=R7-2-0|380=4|58=no such order");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100
            1 accepted as Some("V1")
        < 35=j|43=Y|45=9|372=H|379=R7-1-0|380=4
            nothing
        < 35=j|43=Y|45=10|372=AD|379=R7-1-0|380=4
            nothing
        < 35=j|45=11|372=H|379=R7-1-0|380=4
            nothing
        < 35=j|45=12|379=R7-1-0|380=4
            ALARM order 1: the venue refused a request, and which one is not certain: reason (380) 4
        > 35=D|11=R7-2-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=j|43=Y|45=9|372=H|379=R7-2-0|380=4
            nothing
        < 35=j|43=Y|45=9|379=R7-2-0|380=4
            ALARM order 2: the venue refused a request, and which one is not certain: reason (380) 4
        < 35=j|43=Y|45=9|372=D|379=R7-2-0|380=4|58=no such order
            2 rejected: no such order
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_question_of_this_connection_is_not_refused_by_what_comes_again_of_another() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.translator.chains.on_disconnected(false);
    story.translator.chains.on_question(NOW.parse().unwrap(), &order(1), None, None);
    story.venue("j 43=Y|45=9|372=H|379=R7-1-0|380=4");
    story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=j|43=Y|45=9|372=H|379=R7-1-0|380=4
            nothing
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC
    "#]]
    .assert_eq(&story.told);
}

/// Where no question is ever sent, the id of a D is that of a D.
#[test]
fn a_venue_that_is_asked_nothing_refuses_an_order_by_its_id_alone() {
    let text = "name = 'x'\nversion = 'FIX.4.4'\n[orders.types]\nlimit = '2'\n[orders.timesInForce]\ngtc = '1'\n";
    let mut story = Story::of(Dialect::parse(text).unwrap());
    story.submit(&order(1));
    story.venue("j 45=9|379=R7-1-0|380=4");
    assert_eq!(story.told.lines().last(), Some("    1 rejected: reason (380) 4"), "{}", story.told);
}

#[test]
fn an_order_that_the_venue_has_accepted_is_not_refused_any_more() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue(ACCEPTED);
    story.venue("j 43=Y|45=9|372=D|379=R7-1-0|380=4");
    let alarm = "    ALARM order 1: the venue refused an order that it has accepted: reason (380) 4";
    assert_eq!(story.told.lines().last(), Some(alarm), "{}", story.told);
}

/// CxlRejResponseTo (434) says what was refused, and some venues leave it out and name the order by its first id.
#[test]
fn a_cancel_reject_rejects_no_order() {
    for dialect in ["generic-44", "deribit"] {
        let mut story = Story::new(dialect);
        story.submit(&order(1));
        story.told.clear();
        story.venue("9 11=R7-1-0|41=R7-1-0|37=V1|39=0|102=99");
        let told = story.told.lines().last().unwrap_or_default();
        let alarm =
            "    ALARM order 1: the venue refused a request, and which one is not certain: CxlRejReason (102) 99";
        assert!(told.starts_with(alarm), "{dialect}: {}", story.told);
    }
}

/// OrdStatus (39) of such a report says that the order is rejected, so the venue is asked.
#[test]
fn a_replace_or_a_cancel_that_is_rejected_by_a_report_rejects_no_order() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue(ACCEPTED);
    let held = |request| domain::Order { request, ..order(1) };
    let rejected = |request| {
        format!("8 11=R7-1-{request}|41=R7-1-0|37=V1|17=E{request}|150=8|39=8|38=100|14=0|151=0|103=99|58=no")
    };
    story.replace(&held(1), terms(150, "10.6"));
    story.venue(&rejected(1));
    story.cancel(&held(2));
    story.venue(&rejected(2));
    // After a start a request with another number than the first is no D that is known.
    story.venue("8 43=Y|11=R7-2-1|41=R7-2-0|37=V2|17=E1|150=8|39=8|38=100|14=0|151=0|58=no");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100
            1 accepted as Some("V1")
        > 35=G|11=R7-1-1|21=1|38=150|40=2|41=R7-1-0|44=10.6|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-1|41=R7-1-0|37=V1|17=E1|150=8|39=8|38=100|14=0|151=0|103=99|58=no
            1 replace refused: no; 1 in doubt: the venue refused a request about the order, and may not have it as it is here
        > 35=F|11=R7-1-2|38=100|41=R7-1-0|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=8|11=R7-1-2|41=R7-1-0|37=V1|17=E2|150=8|39=8|38=100|14=0|151=0|103=99|58=no
            1 cancel refused: no; 1 in doubt: the venue refused a request about the order, and may not have it as it is here
        < 35=8|43=Y|11=R7-2-1|41=R7-2-0|37=V2|17=E1|150=8|39=8|38=100|14=0|151=0|58=no
            ALARM order 2: the venue refused a request, and which one is not certain: no
    "#]].assert_eq(&story.told);
}

/// All requests about an order have its id there.
#[test]
fn deribit_rejects_an_order_until_something_was_heard_of_it_and_then_its_newest_request() {
    let told = |is_accepted: bool| {
        let mut story = Story::new("deribit");
        story.submit(&order(1));
        if is_accepted {
            story.venue("8 11=8000001|41=R7-1-0|37=8000001|55=MSFT|38=100|150=I|39=0|14=0|151=100");
        }
        story.replace(&domain::Order { request: 1, ext_id: Some("8000001".into()), ..order(1) }, terms(200, "10.6"));
        story.venue("8 41=R7-1-0|55=MSFT|38=100|150=8|39=8|14=0|151=0|58=no");
        story.told.lines().last().unwrap_or_default().trim().to_owned()
    };
    expect![[r#"
        1 rejected: no
        1 replace refused: no; 1 in doubt: the venue refused a request about the order, and may not have it as it is here
    "#]].assert_eq(&format!("{}\n{}\n", told(false), told(true)));
}
