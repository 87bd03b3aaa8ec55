//! Unrequested changes of a venue, answers while it is disconnected, and order status requests.

use expect_test::expect;
use fix::FixDecoder;

use super::harness::{GatewayHarness, in_full, wire};
use super::{CANCEL, ORDER, check, check_standard, replace};
use crate::translate::{RequestEcho, unknown_order};

#[test]
fn e1_the_venue_lowers_the_quantity_or_cancels_and_says_by_whose_option() {
    check(
        &[ORDER, "venue accepts X", "venue fills X e1 40 10", "venue restates X 60"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        venue restates X 60
            8(X) I/1 id X of 60 cum 40 leaves 20 avg 10 text by the venue
    "#]],
    );
    check_standard(
        &[ORDER, "venue accepts X", "venue fills X e1 40 10", "venue restates X 60"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        venue restates X 60
            8(X) D/1 id X of 60 cum 40 leaves 20 avg 10 text by the venue
    "#]],
    );
    let reason_of = |story: &str| {
        let told = GatewayHarness::standard().showing_all().run(story);
        let last = told.lines().last().unwrap_or_default().to_owned();
        last.split('|').find_map(|field| field.strip_prefix("378=").map(str::to_owned))
    };
    assert_eq!(reason_of(&format!("{ORDER}\nvenue restates X 60")).as_deref(), Some("8"));
    assert_eq!(reason_of(&format!("{ORDER}\nvenue cancels X")).as_deref(), Some("8"));
    assert_eq!(reason_of(&format!("{ORDER}\nrest cancels X\nvenue cancels X")).as_deref(), Some("4"));
    assert_eq!(reason_of(&format!("{ORDER}\n{CANCEL}\nvenue cancels X")), None);
}

#[test]
fn g1_order_status_on_request() {
    let bigger = replace("Z", "X", 120);
    let story = [ORDER, "status of X", CANCEL, "status of X", "status of Y", "venue keeps X uncancelled not now"];
    check(
        &[&story[..], &[&bigger, "status of Z", "venue fills X e1 100 10", "status of X"]].concat(),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        status of X
            8(X) I/A id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        status of X
            8(X) I/6 id X of 100 cum 0 leaves 100 avg 0
        status of Y
            8(X) I/6 id X of 100 cum 0 leaves 100 avg 0
        venue keeps X uncancelled not now
            9(Y,X) 39=A id X to 1 reason 99 text not now
        35=G|11=Z|41=X|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
            8(Z,X) E/E id X of 100 cum 0 leaves 100 avg 0
        status of Z
            8(X) I/E id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 100 10
            8(X) F/E id X of 100 cum 100 leaves 0 avg 10 last 100 at 10
        status of X
            8(X) I/E id X of 100 cum 100 leaves 0 avg 10
    "#]],
    );
    let echo = RequestEcho::from_message(&FixDecoder::new().decode(&wire("35=H|11=nobody|54=1|48=1")).unwrap());
    expect!["35=8|1=NONE|6=0|11=nobody|14=0|17=an-id|37=NONE|38=0|39=8|48=1|54=1|55=NONE|58=unknown-order: order nobody is neither open nor of today or yesterday|59=0|60=19700101-00:00:00.000|103=5|150=I|151=0"].assert_eq(&in_full(&unknown_order(&echo, domain::Timestamp(0), "an-id")));
}

#[test]
fn l_new_orders_and_requests_while_the_venue_is_away() {
    let other = ORDER.replace("11=X", "11=W");
    let story = [ORDER, "venue accepts X", "venue is away", &other, CANCEL, &replace("Z", "X", 120)];
    check(
        &[&story[..], &["venue is back with X live", &other, CANCEL]].concat(),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue is away
        35=D|11=W|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(W) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text adapter-down: the adapter SIMULATED is not connected, try again later
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            9(Y,X) 39=0 id X to 1 reason 2 text adapter-down: the adapter SIMULATED is not connected, try again later
        35=G|11=Z|41=X|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
            9(Z,X) 39=0 id X to 2 reason 2 text adapter-down: the adapter SIMULATED is not connected, try again later
        venue is back with X live
        35=D|11=W|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(W) A/A id W of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}
