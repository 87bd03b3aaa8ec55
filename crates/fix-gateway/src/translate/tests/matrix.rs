//! The order state changes of FIX 4.4, volume 4, Appendix D, by their numbers there: fills, cancels, replaces. X is the order's
//! first ClOrdID, Y and Z are those of requests. The literal profile knows no ExecType 4 and 5.

use expect_test::expect;

use super::harness::GatewayHarness;
use super::{CANCEL, ORDER, check, check_standard, replace};

#[test]
fn a1a_a_filled_order() {
    check(
        &[ORDER, "venue accepts X", "venue fills X e1 40 10", "venue fills X e2 60 10.5"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        venue fills X e2 60 10.5
            8(X) F/2 id X of 100 cum 100 leaves 0 avg 10.3 last 60 at 10.5
    "#]],
    );
}

#[test]
fn a1b_part_filled_and_the_day_is_over() {
    check(
        &[ORDER, "venue accepts X", "venue fills X e1 40 10", "venue expires X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        venue expires X
            8(X) I/4 id X of 100 cum 40 leaves 0 avg 10 text the day is over (by the venue)
    "#]],
    );
    check_standard(
        &[ORDER, "venue accepts X", "venue fills X e1 40 10", "venue expires X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        venue expires X
            8(X) 4/4 id X of 100 cum 40 leaves 0 avg 10 text the day is over (by the venue)
    "#]],
    );
}

#[test]
fn b1a_a_cancel_of_an_unfilled_order() {
    check(
        &[ORDER, "venue accepts X", CANCEL, "venue cancels X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X
            8(Y,X) I/4 id X of 100 cum 0 leaves 0 avg 0
    "#]],
    );
    check_standard(
        &[ORDER, "venue accepts X", CANCEL, "venue cancels X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X
            8(Y,X) 4/4 id X of 100 cum 0 leaves 0 avg 0
    "#]],
    );
}

#[test]
fn b1a_a_cancel_that_the_venue_refuses() {
    check(
        &[ORDER, "venue accepts X", CANCEL, "venue keeps X uncancelled not now"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue keeps X uncancelled not now
            9(Y,X) 39=0 id X to 1 reason 99 text not now
    "#]],
    );
}

#[test]
fn b1b_fills_arrive_while_the_cancel_is_pending() {
    check(
        &[ORDER, "venue accepts X", CANCEL, "venue fills X e1 40 10", "venue cancels X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/6 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        venue cancels X
            8(Y,X) I/4 id X of 100 cum 40 leaves 0 avg 10
    "#]],
    );
}

#[test]
fn b1c_filled_before_the_cancel_is_accepted() {
    let story = [ORDER, "venue accepts X", CANCEL, "venue fills X e1 100 10", "venue keeps X uncancelled too late"];
    check(
        &story,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 100 10
            8(X) F/6 id X of 100 cum 100 leaves 0 avg 10 last 100 at 10
        venue keeps X uncancelled too late
            9(Y,X) 39=2 id X to 1 reason 0 text too late
    "#]],
    );
}

#[test]
fn b1d_a_cancel_before_the_venue_has_the_order() {
    check(
        &[ORDER, CANCEL, "venue accepts X", "venue cancels X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/6 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X
            8(Y,X) I/4 id X of 100 cum 0 leaves 0 avg 0
    "#]],
    );
}

#[test]
fn b1f_a_cancel_of_an_unknown_order() {
    check(
        &[CANCEL],
        &expect![[r#"
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            9(Y,X) 39=8 id NONE to 1 reason 1 text unknown-order: order X is neither open nor of today or yesterday
    "#]],
    );
}

#[test]
fn c1a_a_replace_to_more_of_an_unfilled_order() {
    let bigger = replace("Y", "X", 110);
    check(
        &[ORDER, "venue accepts X", &bigger, "venue replaces X", "venue fills X e1 110 10"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(Y,X) I/0 id X of 110 cum 0 leaves 110 avg 0
        venue fills X e1 110 10
            8(Y) F/2 id X of 110 cum 110 leaves 0 avg 10 last 110 at 10
    "#]],
    );
    check_standard(
        &[ORDER, "venue accepts X", &bigger, "venue replaces X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(Y,X) 5/0 id X of 110 cum 0 leaves 110 avg 0
    "#]],
    );
}

#[test]
fn c1b_a_replace_while_it_fills() {
    let bigger = replace("Y", "X", 120);
    let story = [
        ORDER,
        "venue accepts X",
        "venue fills X e1 20 10",
        &bigger,
        "venue fills X e2 20 10",
        "venue replaces X",
        "venue fills X e3 80 10",
    ];
    check(
        &story,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 20 10
            8(X) F/1 id X of 100 cum 20 leaves 80 avg 10 last 20 at 10
        35=G|11=Y|41=X|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 20 leaves 80 avg 10
        venue fills X e2 20 10
            8(X) F/E id X of 100 cum 40 leaves 60 avg 10 last 20 at 10
        venue replaces X
            8(Y,X) I/1 id X of 120 cum 40 leaves 80 avg 10
        venue fills X e3 80 10
            8(Y) F/2 id X of 120 cum 120 leaves 0 avg 10 last 80 at 10
    "#]],
    );
}

#[test]
fn c1c_a_replace_of_a_filled_order() {
    let bigger = replace("Y", "X", 120);
    check(
        &[ORDER, "venue accepts X", "venue fills X e1 100 10", &bigger],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 100 10
            8(X) F/2 id X of 100 cum 100 leaves 0 avg 10 last 100 at 10
        35=G|11=Y|41=X|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
            9(Y,X) 39=2 id X to 2 reason 0 text order-closed: order X is finished
    "#]],
    );
}

#[test]
fn c1c_a_replace_that_meets_the_filled_order_at_a_venue_that_allows_it() {
    let bigger = replace("Y", "X", 120);
    let story = [ORDER, "venue accepts X", &bigger, "venue fills X e1 100 10", "venue replaces X"];
    check(
        &story,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 100 10
            8(X) F/E id X of 100 cum 100 leaves 0 avg 10 last 100 at 10
        venue replaces X
            8(Y,X) I/1 id X of 120 cum 100 leaves 20 avg 10
    "#]],
    );
}

#[test]
fn c2a_filled_while_the_replace_was_on_its_way() {
    let changed = replace("Y", "X", 100);
    let story = [ORDER, "venue accepts X", &changed, "venue fills X e1 100 10", "venue keeps X unreplaced too late"];
    check(
        &story,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 100 10
            8(X) F/E id X of 100 cum 100 leaves 0 avg 10 last 100 at 10
        venue keeps X unreplaced too late
            9(Y,X) 39=2 id X to 2 reason 0 text too late
    "#]],
    );
}

#[test]
fn c3_a_replace_to_less() {
    let begun = [ORDER, "venue accepts X", "venue fills X e1 40 10"];
    for (quantity, expected) in [
        (
            60,
            expect![[r#"
        35=G|11=Y|41=X|54=1|38=60|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 40 leaves 60 avg 10
        venue replaces X
            8(Y,X) I/1 id X of 60 cum 40 leaves 20 avg 10
    "#]],
        ),
        (
            40,
            expect![[r#"
        35=G|11=Y|41=X|54=1|38=40|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 40 leaves 60 avg 10
        venue replaces X
            8(Y,X) I/2 id X of 40 cum 40 leaves 0 avg 10
    "#]],
        ),
        (
            10,
            expect![[r#"
        35=G|11=Y|41=X|54=1|38=10|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 40 leaves 60 avg 10
        venue replaces X
            8(Y,X) I/2 id X of 40 cum 40 leaves 0 avg 10
    "#]],
        ),
    ] {
        let mut floor = GatewayHarness::literal();
        floor.run(&begun.join("\n"));
        expected.assert_eq(&floor.run(&format!("{}\nvenue replaces X", replace("Y", "X", quantity))));
    }
}
