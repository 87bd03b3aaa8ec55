//! What the venue reports, from the first acceptance to a bust, by the rules of FIX 4.4 and of FIX 4.2.

use adapter_fix::{Dialect, RequestKind, shipped_dialect};
use domain::order::OrderTerms;
use domain::{Order, TimeInForce};
use expect_test::expect;

use crate::story::{NOW, Story, order, terms};

#[test]
fn an_order_is_accepted_filled_in_parts_and_the_rest_cancelled() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue("8 11=R7-1-0|37=V1|17=E0|150=A|39=A|38=100|14=0|151=100|6=0");
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100|6=0");
    story.venue("8 11=R7-1-0|37=V1|17=E2|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5|12=0.04|13=3|479=BNB|851=1");
    let order = Order { request: 1, ext_id: Some("V1".into()), ..order(1) };
    story.cancel(&order);
    story.venue("8 11=R7-1-1|41=R7-1-0|37=V1|17=E3|150=6|39=6|38=100|14=40|151=60");
    story.venue("8 11=R7-1-0|37=V1|17=E4|150=F|39=6|38=100|14=50|151=50|32=10|31=10.4|12=0.01|13=3|851=2");
    story.venue("8 11=R7-1-1|41=R7-1-0|37=V1|17=E5|150=4|39=4|38=100|14=50|151=0|58=as asked");
    story.venue("8 11=R7-1-0|37=V1|17=E6|150=F|39=4|38=100|14=55|151=0|32=5|31=10.4|851=3");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=V1|17=E0|150=A|39=A|38=100|14=0|151=100|6=0
            nothing
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100|6=0
            1 accepted as Some("V1")
        < 35=8|11=R7-1-0|37=V1|17=E2|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5|12=0.04|13=3|479=BNB|851=1
            1 filled 40 @ 10.5 (E2), charge 0.04 BNB, MAKER
        > 35=F|11=R7-1-1|37=V1|38=100|41=R7-1-0|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=8|11=R7-1-1|41=R7-1-0|37=V1|17=E3|150=6|39=6|38=100|14=40|151=60
            nothing
        < 35=8|11=R7-1-0|37=V1|17=E4|150=F|39=6|38=100|14=50|151=50|32=10|31=10.4|12=0.01|13=3|851=2
            1 filled 10 @ 10.4 (E4), fee 0.01, TAKER
        < 35=8|11=R7-1-1|41=R7-1-0|37=V1|17=E5|150=4|39=4|38=100|14=50|151=0|58=as asked
            1 cancelled Some("as asked")
        < 35=8|11=R7-1-0|37=V1|17=E6|150=F|39=4|38=100|14=55|151=0|32=5|31=10.4|851=3
            1 filled 5 @ 10.4 (E6)
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_chain_of_replaces_goes_by_the_last_accepted_id() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100");
    story.replace(&Order { request: 1, ..order(1) }, terms(150, "10.6"));
    story.venue("8 11=R7-1-1|41=R7-1-0|37=V1|17=E2|150=E|39=E|38=100|14=0|151=100");
    story.venue("8 11=R7-1-1|41=R7-1-0|37=V1|17=E3|150=5|39=0|38=150|44=10.6|14=0|151=150");
    story.replace(&Order { request: 2, ..order(1) }, terms(20, "10.6"));
    story.venue("9 11=R7-1-2|41=R7-1-1|37=V1|39=0|434=2|102=99|58=not now");
    story.cancel(&Order { request: 3, ..order(1) });
    story.venue("9 11=R7-1-3|41=R7-1-1|37=V1|39=2|434=1|102=0");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100
            1 accepted as Some("V1")
        > 35=G|11=R7-1-1|21=1|38=150|40=2|41=R7-1-0|44=10.6|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-1|41=R7-1-0|37=V1|17=E2|150=E|39=E|38=100|14=0|151=100
            nothing
        < 35=8|11=R7-1-1|41=R7-1-0|37=V1|17=E3|150=5|39=0|38=150|44=10.6|14=0|151=150
            1 replaced: 150 @ 10.6 GTC
        > 35=G|11=R7-1-2|21=1|38=20|40=2|41=R7-1-1|44=10.6|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=9|11=R7-1-2|41=R7-1-1|37=V1|39=0|434=2|102=99|58=not now
            1 replace refused: not now
        > 35=F|11=R7-1-3|38=100|41=R7-1-1|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=9|11=R7-1-3|41=R7-1-1|37=V1|39=2|434=1|102=0
            1 cancel refused: CxlRejReason (102) 0; 1 in doubt: the venue refused a request about the order, and may not have it as it is here
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn what_is_said_of_an_older_request_does_not_settle_the_newest() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.replace(&Order { request: 1, ..order(1) }, terms(150, "10.6"));
    story.venue("8 11=R7-1-1|41=R7-1-0|37=V1|17=E2|150=5|39=0|38=150|44=10.6|14=0|151=150");
    story.replace(&Order { request: 2, ..order(1) }, terms(80, "10.7"));
    story.venue("8 43=Y|11=R7-1-1|41=R7-1-0|37=V1|17=E2|150=5|39=0|38=150|44=10.6|14=0|151=150");
    story.venue("8 97=Y|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100");
    story.venue("8 11=R7-1-2|41=R7-1-1|37=V1|17=E3|150=5|39=0|38=80|44=10.7|14=0|151=80");
    story.cancel(&Order { request: 3, ..order(1) });
    story.venue("9 11=R7-1-3|41=R7-1-2|37=V1|39=0|434=1|102=0");
    story.cancel(&Order { request: 4, ..order(1) });
    story.venue("9 43=Y|11=R7-1-3|41=R7-1-2|37=V1|39=0|434=1|102=0");
    story.sent(9, 1, 3, RequestKind::Cancel);
    story.venue("j 45=9|372=F|380=3");
    story.venue("9 11=R7-1-4|41=R7-1-2|37=V1|39=0|434=1|102=3");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        > 35=G|11=R7-1-1|21=1|38=150|40=2|41=R7-1-0|44=10.6|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-1|41=R7-1-0|37=V1|17=E2|150=5|39=0|38=150|44=10.6|14=0|151=150
            1 replaced: 150 @ 10.6 GTC
        > 35=G|11=R7-1-2|21=1|38=80|40=2|41=R7-1-1|44=10.7|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|43=Y|11=R7-1-1|41=R7-1-0|37=V1|17=E2|150=5|39=0|38=150|44=10.6|14=0|151=150
            nothing
        < 35=8|97=Y|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100
            1 accepted as Some("V1")
        < 35=8|11=R7-1-2|41=R7-1-1|37=V1|17=E3|150=5|39=0|38=80|44=10.7|14=0|151=80
            1 replaced: 80 @ 10.7 GTC
        > 35=F|11=R7-1-3|38=100|41=R7-1-2|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=9|11=R7-1-3|41=R7-1-2|37=V1|39=0|434=1|102=0
            1 cancel refused: CxlRejReason (102) 0; 1 in doubt: the venue refused a request about the order, and may not have it as it is here
        > 35=F|11=R7-1-4|38=100|41=R7-1-2|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=9|43=Y|11=R7-1-3|41=R7-1-2|37=V1|39=0|434=1|102=0
            nothing
        < 35=j|45=9|372=F|380=3
            nothing
        < 35=9|11=R7-1-4|41=R7-1-2|37=V1|39=0|434=1|102=3
            1 cancel refused: CxlRejReason (102) 3
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_replace_that_nobody_waits_for_any_more_is_asked_about() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.replace(&Order { request: 1, ..order(1) }, terms(150, "10.6"));
    story.replace(&Order { request: 2, ..order(1) }, terms(80, "10.7"));
    story.venue("8 11=R7-1-1|41=R7-1-0|37=V1|17=E2|150=5|39=0|38=150|44=10.6|14=0|151=150");
    // After a start the engine names its newest request only with the question.
    story.translator.chains.on_question(NOW.parse().unwrap(), &Order { request: 3, ..order(2) }, None, None);
    story.venue("8 43=Y|11=R7-2-2|41=R7-2-0|37=V2|17=E2|150=5|39=0|38=150|44=10.6|14=0|151=150");
    story.venue("9 43=Y|11=R7-2-2|41=R7-2-0|37=V2|39=0|434=1|102=0");
    story.venue("9 43=Y|11=R7-2-1|41=R7-2-0|37=V2|39=0|102=0");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        > 35=G|11=R7-1-1|21=1|38=150|40=2|41=R7-1-0|44=10.6|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        > 35=G|11=R7-1-2|21=1|38=80|40=2|41=R7-1-0|44=10.7|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-1|41=R7-1-0|37=V1|17=E2|150=5|39=0|38=150|44=10.6|14=0|151=150
            ALARM order 1: the order was replaced by a request that is not the newest
        < 35=8|43=Y|11=R7-2-2|41=R7-2-0|37=V2|17=E2|150=5|39=0|38=150|44=10.6|14=0|151=150
            nothing
        < 35=9|43=Y|11=R7-2-2|41=R7-2-0|37=V2|39=0|434=1|102=0
            nothing
        < 35=9|43=Y|11=R7-2-1|41=R7-2-0|37=V2|39=0|102=0
            nothing
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn rialto_confirms_by_status_reports() {
    let mut story = Story::new("rialto");
    story.submit(&order(1));
    story.replace(&Order { request: 1, ..order(1) }, terms(150, "10.6"));
    story.venue("8 11=R7-1-1|41=R7-1-0|37=R7-1-0|17=E3|150=I|39=0|38=150|40=2|44=10.6|59=1|14=0|151=150");
    story.cancel(&Order { request: 2, ..order(1) });
    story.venue("8 11=R7-1-2|41=R7-1-1|37=R7-1-0|17=E4|150=I|39=4|38=150|14=0|151=0");
    expect![[r#"
        > 35=D|11=R7-1-0|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        > 35=G|11=R7-1-1|38=150|40=2|41=R7-1-0|44=10.6|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-1|41=R7-1-0|37=R7-1-0|17=E3|150=I|39=0|38=150|40=2|44=10.6|59=1|14=0|151=150
            1 replaced: 150 @ 10.6 GTC
        > 35=F|11=R7-1-2|38=100|41=R7-1-1|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=8|11=R7-1-2|41=R7-1-1|37=R7-1-0|17=E4|150=I|39=4|38=150|14=0|151=0
            1 cancelled None
    "#]]
    .assert_eq(&story.told);
}

/// ExecRefID (19) is that of the first execution each time.
#[test]
fn a_correction_that_names_what_was_corrected_before_corrects_its_correction() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.told.clear();
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 11=R7-1-0|37=V1|17=E2|19=E1|150=G|39=1|38=100|14=30|151=70|32=30|31=10.4");
    story.venue("8 11=R7-1-0|37=V1|17=E3|19=E1|150=G|39=1|38=100|14=20|151=80|32=20|31=10.3");
    story.venue("8 43=Y|11=R7-1-0|37=V1|17=E2|19=E1|150=G|39=1|38=100|14=30|151=70|32=30|31=10.4");
    let told: Vec<&str> = story.told.lines().filter(|line| line.starts_with("    ")).map(str::trim).collect();
    let first = "1 corrected E1: 30 @ 10.4 (E2)";
    assert_eq!(told[1..], [first, "1 corrected E2: 20 @ 10.3 (E3)", first], "{}", story.told);
}

#[test]
fn busts_corrections_and_restatements() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 11=R7-1-0|37=V1|17=E2|19=E1|150=G|39=1|38=100|14=30|151=70|32=30|31=10.4");
    story.venue("8 11=R7-1-0|37=V1|17=E3|19=E2|150=H|39=0|38=100|14=0|151=100|58=error of the venue");
    story.venue("8 11=R7-1-0|37=V1|17=E4|150=D|39=0|38=80|44=10.5|14=0|151=80|378=5");
    story.venue("8 11=R7-1-0|37=V1|17=E5|150=D|39=0|38=80|44=10.5|14=0|151=80|378=1");
    story.venue("8 11=R7-1-0|37=V1|17=E6|150=C|39=C|38=80|14=0|151=0|58=end of day");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (E1)
        < 35=8|11=R7-1-0|37=V1|17=E2|19=E1|150=G|39=1|38=100|14=30|151=70|32=30|31=10.4
            1 corrected E1: 30 @ 10.4 (E2)
        < 35=8|11=R7-1-0|37=V1|17=E3|19=E2|150=H|39=0|38=100|14=0|151=100|58=error of the venue
            1 busted E2
        < 35=8|11=R7-1-0|37=V1|17=E4|150=D|39=0|38=80|44=10.5|14=0|151=80|378=5
            1 replaced: 80 @ 10.5 GTC
        < 35=8|11=R7-1-0|37=V1|17=E5|150=D|39=0|38=80|44=10.5|14=0|151=80|378=1
            nothing
        < 35=8|11=R7-1-0|37=V1|17=E6|150=C|39=C|38=80|14=0|151=0|58=end of day
            1 expired Some("end of day")
    "#]]
    .assert_eq(&story.told);
}

/// A bust names it as it is in that symbol, so it is booked under the id with the symbol.
#[test]
fn a_bust_or_a_correction_names_an_exec_id_of_its_symbol() {
    let generic = shipped_dialect("generic-44").unwrap();
    let of_symbol = generic.replace("execIds = \"unique\"", "execIds = \"unique\"\nexecIdsOfSymbol = true");
    let mut story = Story::of(Dialect::parse(&of_symbol).unwrap());
    story.venue("8 11=R7-1-0|37=V1|17=1|55=MSFT|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 11=R7-1-0|37=V1|17=2|19=1|55=MSFT|150=G|39=1|38=100|14=30|151=70|32=30|31=10.4");
    story.venue("8 11=R7-1-0|37=V1|17=3|19=2|55=MSFT|150=H|39=0|38=100|14=0|151=100");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=1|55=MSFT|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (MSFT:1)
        < 35=8|11=R7-1-0|37=V1|17=2|19=1|55=MSFT|150=G|39=1|38=100|14=30|151=70|32=30|31=10.4
            1 corrected MSFT:1: 30 @ 10.4 (MSFT:2)
        < 35=8|11=R7-1-0|37=V1|17=3|19=2|55=MSFT|150=H|39=0|38=100|14=0|151=100
            1 busted MSFT:2
    "#]]
    .assert_eq(&story.told);
}

/// ExecRefID (19) is an ExecID (17), and these executions are known by another field.
#[test]
fn a_bust_at_a_venue_that_names_executions_by_another_field_is_unclear() {
    let mut story = Story::new("binance-spot");
    story.venue("8 11=R7-1-0|37=1|17=2|1003=9|55=MSFT|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 11=R7-1-0|37=1|17=3|19=2|55=MSFT|150=H|39=0|38=100|14=0|151=100");
    let alarm = "    ALARM order 1: an execution is busted, and which of the reported ones is not certain";
    assert_eq!(story.told.lines().last(), Some(alarm), "{}", story.told);
}

#[test]
fn fix_42_says_by_exec_trans_type_whether_an_execution_is_new() {
    let mut story = Story::new("generic-42");
    story.submit(&order(1));
    story.venue("8 11=R7-1-0|37=V1|17=1|20=0|150=0|39=0|38=100|14=0|151=100");
    story.venue("8 11=R7-1-0|37=V1|17=2|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 11=R7-1-0|37=V1|17=3|19=2|20=2|150=1|39=1|38=100|14=30|151=70|32=30|31=10.5");
    story.venue("8 11=R7-1-0|37=V1|17=4|19=3|20=1|150=0|39=0|38=100|14=0|151=100");
    story.venue("8 11=R7-1-0|37=V1|17=5|20=3|150=0|39=0|38=100|14=0|151=100");
    story.venue("8 11=R7-1-0|37=V1|17=6|150=2|39=2|38=100|14=100|151=0|32=100|31=10.5");
    story.venue("8 11=R7-1-0|37=V1|17=6|20=0|150=2|39=2|38=100|14=100|151=0|32=100|31=10.5");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=V1|17=1|20=0|150=0|39=0|38=100|14=0|151=100
            1 accepted as Some("V1")
        < 35=8|11=R7-1-0|37=V1|17=2|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (2)
        < 35=8|11=R7-1-0|37=V1|17=3|19=2|20=2|150=1|39=1|38=100|14=30|151=70|32=30|31=10.5
            1 corrected 2: 30 @ 10.5 (3)
        < 35=8|11=R7-1-0|37=V1|17=4|19=3|20=1|150=0|39=0|38=100|14=0|151=100
            1 busted 3
        < 35=8|11=R7-1-0|37=V1|17=5|20=3|150=0|39=0|38=100|14=0|151=100
            nothing
        < 35=8|11=R7-1-0|37=V1|17=6|150=2|39=2|38=100|14=100|151=0|32=100|31=10.5
            ALARM order 1: ExecTransType (20) is missing
        < 35=8|11=R7-1-0|37=V1|17=6|20=0|150=2|39=2|38=100|14=100|151=0|32=100|31=10.5
            1 filled 100 @ 10.5 (6)
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn exec_ids_that_begin_at_1_again_are_told_apart_and_a_repeated_report_is_the_same() {
    let mut story = Story::new("quickfix-ordermatch");
    let day = OrderTerms { tif: TimeInForce::Day, ..order(1).terms };
    story.submit(&Order { terms: day, ..order(1) });
    story.venue("8 11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 43=Y|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 97=Y|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 11=R7-1-0|37=1|17=1|20=0|150=2|39=2|38=100|14=100|151=0|32=60|31=10.5");
    story.venue("8 11=R7-1-0|37=1|17=2|19=1|20=1|150=1|39=1|38=100|14=40|151=60");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=0|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (1@40)
        < 35=8|43=Y|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (1@40)
        < 35=8|97=Y|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (1@40)
        < 35=8|11=R7-1-0|37=1|17=1|20=0|150=2|39=2|38=100|14=100|151=0|32=60|31=10.5
            1 filled 60 @ 10.5 (1@100)
        < 35=8|11=R7-1-0|37=1|17=2|19=1|20=1|150=1|39=1|38=100|14=40|151=60
            1 busted 1@100
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_bust_of_a_repeated_exec_id_takes_the_fill_of_its_quantity_and_no_other() {
    let mut story = Story::new("quickfix-ordermatch");
    let day = OrderTerms { tif: TimeInForce::Day, ..order(1).terms };
    story.submit(&Order { terms: day, ..order(1) });
    story.venue("8 11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=60|151=40|32=20|31=10.5");
    story.venue("8 11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=80|151=20|32=20|31=10.5");
    story.venue("8 11=R7-1-0|37=1|17=2|19=1|20=1|150=1|39=1|38=100|14=60|151=40");
    story.venue("8 11=R7-1-0|37=1|17=3|19=1|20=2|150=1|39=1|38=100|14=70|151=30|32=30|31=10.5");
    story.venue("8 11=R7-1-0|37=1|17=4|19=9|20=1|150=1|39=1|38=100|14=60|151=40");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=0|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (1@40)
        < 35=8|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=60|151=40|32=20|31=10.5
            1 filled 20 @ 10.5 (1@60)
        < 35=8|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=80|151=20|32=20|31=10.5
            1 filled 20 @ 10.5 (1@80)
        < 35=8|11=R7-1-0|37=1|17=2|19=1|20=1|150=1|39=1|38=100|14=60|151=40
            ALARM order 1: an execution is busted, and which of the reported ones is not certain
        < 35=8|11=R7-1-0|37=1|17=3|19=1|20=2|150=1|39=1|38=100|14=70|151=30|32=30|31=10.5
            1 corrected 1@40: 30 @ 10.5 (3@70)
        < 35=8|11=R7-1-0|37=1|17=4|19=9|20=1|150=1|39=1|38=100|14=60|151=40
            ALARM order 1: an execution is busted, and which of the reported ones is not certain
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_fill_after_a_bust_that_has_the_same_id_again_is_another_fill() {
    let mut story = Story::new("quickfix-ordermatch");
    let day = OrderTerms { tif: TimeInForce::Day, ..order(1).terms };
    story.submit(&Order { terms: day, ..order(1) });
    let fill = "11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5";
    story.venue(&format!("8 {fill}|60=20261116-11:59:58"));
    story.venue("8 11=R7-1-0|37=1|17=2|19=1|20=1|150=0|39=0|38=100|14=0|151=100|60=20261116-11:59:59");
    story.venue(&format!("8 43=Y|{fill}|60=20261116-11:59:58"));
    story.venue(&format!("8 {fill}|60=20261116-12:00:00"));
    story.venue(&format!("8 97=Y|{fill}|60=20261116-12:00:00"));
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=0|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5|60=20261116-11:59:58
            1 filled 40 @ 10.5 (1@40)
        < 35=8|11=R7-1-0|37=1|17=2|19=1|20=1|150=0|39=0|38=100|14=0|151=100|60=20261116-11:59:59
            1 busted 1@40
        < 35=8|43=Y|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5|60=20261116-11:59:58
            1 filled 40 @ 10.5 (1@40)
        < 35=8|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5|60=20261116-12:00:00
            1 filled 40 @ 10.5 (1@40@1794830400000000000)
        < 35=8|97=Y|11=R7-1-0|37=1|17=1|20=0|150=1|39=1|38=100|14=40|151=60|32=40|31=10.5|60=20261116-12:00:00
            1 filled 40 @ 10.5 (1@40@1794830400000000000)
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn refusals_of_every_kind_name_the_request() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue("8 11=R7-1-0|37=NONE|17=E1|150=8|39=8|38=100|14=0|151=0|103=3|58=too much");
    story.sent(5, 2, 0, RequestKind::New);
    story.sent(6, 3, 1, RequestKind::Cancel);
    story.sent(7, 3, 2, RequestKind::Replace);
    story.sent(8, 3, 2, RequestKind::Status);
    story.venue("3 45=5|371=40|372=D|373=5|58=Value is incorrect");
    story.venue("j 45=6|372=F|380=3");
    story.venue("j 45=7|372=G|380=4|58=not available");
    story.venue("j 45=8|372=H|380=3");
    story.venue("j 45=99|372=D|380=0|58=what?");
    story.venue("j 45=99|372=D|379=R7-1-0|380=0|58=no");
    story.venue("8 11=web-1|37=V9|17=E9|150=0|39=0|38=1|14=0|151=1");
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=NONE|17=E1|150=8|39=8|38=100|14=0|151=0|103=3|58=too much
            1 rejected: too much
        < 35=3|45=5|371=40|372=D|373=5|58=Value is incorrect
            2 rejected: Value is incorrect
        < 35=j|45=6|372=F|380=3
            3 cancel refused: reason (380) 3
        < 35=j|45=7|372=G|380=4|58=not available
            3 replace refused: not available
        < 35=j|45=8|372=H|380=3
            nothing
        < 35=j|45=99|372=D|380=0|58=what?
            ALARM no order: the venue refused a message: what?
        < 35=j|45=99|372=D|379=R7-1-0|380=0|58=no
            1 rejected: no
        < 35=8|11=web-1|37=V9|17=E9|150=0|39=0|38=1|14=0|151=1
            not ours: web-1
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_drop_copy_tells_the_same_once_and_an_exec_id_that_is_used_again_is_another_report() {
    let mut story = Story::new("quickfix-executor");
    story.translator = story.translator.with_drop_copy(true);
    story.submit(&order(1));
    for _ in 0..2 {
        story.venue("8 11=R7-1-0|37=V1|17=1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5");
    }
    // The program began again, and its ids with it.
    for _ in 0..2 {
        story.venue("8 11=R7-1-0|37=V1|17=1|150=F|39=2|38=100|14=100|151=0|32=60|31=10.5");
    }
    expect![[r#"
        > 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        < 35=8|11=R7-1-0|37=V1|17=1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (1@40)
        < 35=8|11=R7-1-0|37=V1|17=1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5
            nothing
        < 35=8|11=R7-1-0|37=V1|17=1|150=F|39=2|38=100|14=100|151=0|32=60|31=10.5
            1 filled 60 @ 10.5 (1@100)
        < 35=8|11=R7-1-0|37=V1|17=1|150=F|39=2|38=100|14=100|151=0|32=60|31=10.5
            nothing
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_fee_of_nothing_is_told_so_that_none_of_the_reference_data_is_booked() {
    let mut story = Story::new("binance-spot");
    story.submit(&order(1));
    let fill = "8 11=R7-1-0|37=1|17=2|1003=9|55=MSFT|150=F|39=2|38=100|14=100|151=0|32=100|31=10.5";
    story.venue(&format!("{fill}|136=1|137=0.00|138=BNB|139=4"));
    expect![[r#"
        > 35=D|11=R7-1-0|38=100|40=2|44=10.5|54=1|55=MSFT|59=1
        < 35=8|11=R7-1-0|37=1|17=2|1003=9|55=MSFT|150=F|39=2|38=100|14=100|151=0|32=100|31=10.5|136=1|137=0.00|138=BNB|139=4
            1 filled 100 @ 10.5 (MSFT:9), charge 0 BNB
    "#]].assert_eq(&story.told);
}
