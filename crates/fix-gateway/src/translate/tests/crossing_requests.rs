//! Requests that overtake each other, cross the venue's report or come too late: every one gets an answer of its own.

use expect_test::expect;

use super::{CANCEL, ORDER, check, check_standard, replace};

/// A cancel that overtakes the replace Y.
const OVERTAKING: &str = "35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1";

fn begun<'a>(replace: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [ORDER, "venue accepts X", replace, OVERTAKING].into_iter().chain(rest.iter().copied()).collect()
}

#[test]
fn the_venue_takes_the_replace_and_then_the_cancel() {
    let first = replace("Y", "X", 110);
    check(
        &begun(&first, &["venue replaces X", "venue fills X e1 10 10", "venue cancels X"]),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(Y,X) I/6 id X of 110 cum 0 leaves 110 avg 0
        venue fills X e1 10 10
            8(Y) F/6 id X of 110 cum 10 leaves 100 avg 10 last 10 at 10
        venue cancels X
            8(Z,Y) I/4 id X of 110 cum 10 leaves 0 avg 10
    "#]],
    );
    check_standard(
        &begun(&first, &["venue replaces X", "venue cancels X"]),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(Y,X) 5/6 id X of 110 cum 0 leaves 110 avg 0
        venue cancels X
            8(Z,Y) 4/4 id X of 110 cum 0 leaves 0 avg 0
    "#]],
    );
}

#[test]
fn the_venue_refuses_the_replace_and_takes_the_cancel() {
    let first = replace("Y", "X", 110);
    check(
        &begun(&first, &["venue keeps X unreplaced not now", "venue cancels X"]),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue keeps X unreplaced not now
            9(Y,X) 39=6 id X to 2 reason 99 text not now
        venue cancels X
            8(Z,X) I/4 id X of 100 cum 0 leaves 0 avg 0
    "#]],
    );
}

#[test]
fn the_cancel_reaches_the_venue_first() {
    let first = replace("Y", "X", 110);
    check(
        &begun(&first, &["venue cancels X", "venue keeps X unreplaced unknown order"]),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X
            8(Z,X) I/4 id X of 100 cum 0 leaves 0 avg 0
            9(Y,X) 39=4 id X to 2 reason 0 text too late: the order is finished
        venue keeps X unreplaced unknown order
    "#]],
    );
}

#[test]
fn the_venue_refuses_the_cancel_and_takes_the_replace() {
    let first = replace("Y", "X", 110);
    let next = "35=F|11=V|41=Y|54=1|60=20261116-12:00:00";
    check(
        &begun(&first, &["venue keeps X uncancelled not now", "venue replaces X", next]),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue keeps X uncancelled not now
            9(Z,X) 39=E id X to 1 reason 99 text not now
        venue replaces X
            8(Y,X) I/0 id X of 110 cum 0 leaves 110 avg 0
        35=F|11=V|41=Y|54=1|60=20261116-12:00:00
            8(V,Y) 6/6 id X of 110 cum 0 leaves 110 avg 0
    "#]],
    );
}

#[test]
fn it_is_filled_before_either_arrives() {
    let first = replace("Y", "X", 110);
    let late = ["venue fills X e1 100 10", "venue keeps X unreplaced too late", "venue keeps X uncancelled too late"];
    check(
        &begun(&first, &late),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 100 10
            8(X) F/6 id X of 100 cum 100 leaves 0 avg 10 last 100 at 10
        venue keeps X unreplaced too late
            9(Y,X) 39=6 id X to 2 reason 0 text too late
        venue keeps X uncancelled too late
            9(Z,X) 39=2 id X to 1 reason 0 text too late
    "#]],
    );
}

#[test]
fn another_client_cancels_while_the_replace_is_pending() {
    let first = replace("Y", "X", 110);
    let by_rest = [ORDER, "venue accepts X", &first, "rest cancels X", "venue replaces X", "venue cancels X"];
    check(
        &by_rest,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        rest cancels X
            8(X) 6/6 id X of 100 cum 0 leaves 100 avg 0 text asked for by REST
        venue replaces X
            8(Y,X) I/6 id X of 110 cum 0 leaves 110 avg 0
        venue cancels X
            8(Y) I/4 id X of 110 cum 0 leaves 0 avg 0 text asked for by REST
    "#]],
    );
    let all = [ORDER, "venue accepts X", &first, "35=q|11=all|530=7", "venue cancels X"];
    check(
        &all,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=q|11=all|530=7
            35=r|11=all|37=all|60=20261116-12:00:00.000|530=7|531=7|533=1
            8(X) 6/6 id X of 100 cum 0 leaves 100 avg 0 text asked for by a mass cancel
        venue cancels X
            8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text asked for by a mass cancel
            9(Y,X) 39=4 id X to 2 reason 0 text too late: the order is finished
    "#]],
    );
}

#[test]
fn a_cancel_overtakes_the_request_of_another_client() {
    let begun = [ORDER, "venue accepts X", "rest resizes X 50", CANCEL];
    check(
        &[&begun[..], &["venue replaces X", "venue cancels X"]].concat(),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        rest resizes X 50
            8(X) E/E id X of 100 cum 0 leaves 100 avg 0 text asked for by REST
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(X) I/6 id X of 50 cum 0 leaves 50 avg 0 text asked for by REST
        venue cancels X
            8(Y,X) I/4 id X of 50 cum 0 leaves 0 avg 0
    "#]],
    );
    check(
        &[&begun[..], &["venue cancels X"]].concat(),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        rest resizes X 50
            8(X) E/E id X of 100 cum 0 leaves 100 avg 0 text asked for by REST
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X
            8(Y,X) I/4 id X of 100 cum 0 leaves 0 avg 0
            8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text too late: the order is finished (asked for by REST)
    "#]],
    );
}

#[test]
fn the_venue_rejects_an_order_on_which_requests_wait() {
    let first = replace("Y", "X", 110);
    check(
        &[ORDER, CANCEL, "venue rejects X no such book", "venue keeps X uncancelled unknown"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue rejects X no such book
            8(X) 8/8 id X of 100 cum 0 leaves 0 avg 0 reason 0 text no such book
            9(Y,X) 39=8 id X to 1 reason 0 text too late: the order is finished
        venue keeps X uncancelled unknown
    "#]],
    );
    check(
        &[ORDER, &first, "venue rejects X no such book"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue rejects X no such book
            8(X) 8/8 id X of 100 cum 0 leaves 0 avg 0 reason 0 text no such book
            9(Y,X) 39=8 id X to 2 reason 0 text too late: the order is finished
    "#]],
    );
    check(
        &[ORDER, &first, OVERTAKING, "venue rejects X no such book"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue rejects X no such book
            8(X) 8/8 id X of 100 cum 0 leaves 0 avg 0 reason 0 text no such book
            9(Y,X) 39=8 id X to 2 reason 0 text too late: the order is finished
            9(Z,X) 39=8 id X to 1 reason 0 text too late: the order is finished
    "#]],
    );
}

#[test]
fn the_venue_ends_an_order_on_which_a_replace_waits() {
    let first = replace("Y", "X", 110);
    check(
        &[ORDER, "venue accepts X", &first, "venue cancels X the listing ended"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue cancels X the listing ended
            8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text the listing ended (by the venue)
            9(Y,X) 39=4 id X to 2 reason 0 text too late: the order is finished
    "#]],
    );
    check_standard(
        &[ORDER, "venue accepts X", &first, "venue expires X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue expires X
            8(X) 4/4 id X of 100 cum 0 leaves 0 avg 0 text the day is over (by the venue)
            9(Y,X) 39=4 id X to 2 reason 0 text too late: the order is finished
    "#]],
    );
    check(
        &[ORDER, &first, OVERTAKING, "venue expires X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue expires X
            8(Z,X) I/4 id X of 100 cum 0 leaves 0 avg 0 text the day is over
            9(Y,X) 39=4 id X to 2 reason 0 text too late: the order is finished
    "#]],
    );
}

#[test]
fn the_line_to_the_venue_breaks_while_both_wait() {
    let first = replace("Y", "X", 110);
    check(
        &begun(&first, &["venue is away", "venue is back with X live", "venue cancels X"]),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue is away
            8(X) I/6 id X of 100 cum 0 leaves 100 avg 0 text the connection was lost before the venue answered
        venue is back with X live
            9(Y,X) 39=6 id X to 2 reason 99 text the request was lost with the connection
            8(X) I/6 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X
            8(Z,X) I/4 id X of 100 cum 0 leaves 0 avg 0
    "#]],
    );
    check(
        &begun(&first, &["venue is away", "venue is back without orders"]),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|60=20261116-12:00:00|48=1
            8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue is away
            8(X) I/6 id X of 100 cum 0 leaves 100 avg 0 text the connection was lost before the venue answered
        venue is back without orders
            8(Z,X) I/4 id X of 100 cum 0 leaves 0 avg 0 text the venue no longer knows the order
            9(Y,X) 39=4 id X to 2 reason 0 text too late: the order is finished
    "#]],
    );
}
