//! More of Appendix D: consecutive requests, unrequested changes, repeated ids, and cases that the standard does not
//! define.

use expect_test::expect;

use super::{CANCEL, ORDER, check, check_standard, replace};

#[test]
fn d1_one_replace_after_the_other_and_a_refusal_between() {
    let (first, second, third) = (replace("Y", "X", 110), replace("Z", "Y", 120), replace("W", "Y", 130));
    let story = [
        ORDER,
        "venue accepts X",
        &first,
        "venue replaces X",
        &second,
        "venue keeps X unreplaced not now",
        &third,
        "venue replaces X",
    ];
    check(
        &story,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(Y,X) I/0 id X of 110 cum 0 leaves 110 avg 0
        35=G|11=Z|41=Y|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
            8(Z,Y) E/E id X of 110 cum 0 leaves 110 avg 0
        venue keeps X unreplaced not now
            9(Z,Y) 39=0 id X to 2 reason 99 text not now
        35=G|11=W|41=Y|54=1|38=130|40=2|44=10|60=20261116-12:00:00|48=1
            8(W,Y) E/E id X of 110 cum 0 leaves 110 avg 0
        venue replaces X
            8(W,Y) I/0 id X of 130 cum 0 leaves 130 avg 0
    "#]],
    );
}

#[test]
fn d2c_a_second_request_while_the_first_is_pending() {
    let (first, second) = (replace("Y", "X", 110), replace("Z", "Y", 120));
    check(
        &[ORDER, "venue accepts X", &first, &second, "venue replaces X"],
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue accepts X
                8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
            35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
                8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
            35=G|11=Z|41=Y|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
                9(Z,X) 39=E id X to 2 reason 3 text replace-pending: order X is being replaced already
            venue replaces X
                8(Y,X) I/0 id X of 110 cum 0 leaves 110 avg 0
        "#]],
    );
    let again = "35=F|11=Z|41=X|54=1|38=100|60=20261116-12:00:00|48=1";
    check(
        &[ORDER, "venue accepts X", CANCEL, again, &replace("W", "X", 50)],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            9(Z,X) 39=6 id X to 1 reason 3 text cancel-pending: order X is being cancelled already
        35=G|11=W|41=X|54=1|38=50|40=2|44=10|60=20261116-12:00:00|48=1
            9(W,X) 39=6 id X to 2 reason 3 text cancel-pending: order X is being cancelled already
    "#]],
    );
}

#[test]
fn a_cancel_may_follow_a_pending_replace() {
    let first = replace("Y", "X", 110);
    let cancel = "35=F|11=Z|41=Y|54=1|60=20261116-12:00:00";
    check(
        &[ORDER, "venue accepts X", &first, cancel, "venue cancels X"],
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue accepts X
                8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
            35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
                8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
            35=F|11=Z|41=Y|54=1|60=20261116-12:00:00
                8(Z,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
            venue cancels X
                8(Z,X) I/4 id X of 100 cum 0 leaves 0 avg 0
                9(Y,X) 39=4 id X to 2 reason 0 text too late: the order is finished
        "#]],
    );
}

#[test]
fn e1_what_the_client_did_not_ask_for() {
    check(
        &[ORDER, "venue accepts X", "venue cancels X the listing ended"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X the listing ended
            8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text the listing ended (by the venue)
    "#]],
    );
    check_standard(
        &[ORDER, "venue accepts X", "venue cancels X the listing ended"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X the listing ended
            8(X) 4/4 id X of 100 cum 0 leaves 0 avg 0 text the listing ended (by the venue)
    "#]],
    );
}

#[test]
fn e1_requests_of_another_client() {
    let by_rest =
        [ORDER, "venue accepts X", "rest resizes X 50", "venue replaces X", "rest cancels X", "venue cancels X"];
    check(
        &by_rest,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        rest resizes X 50
            8(X) E/E id X of 100 cum 0 leaves 100 avg 0 text asked for by REST
        venue replaces X
            8(X) I/0 id X of 50 cum 0 leaves 50 avg 0 text asked for by REST
        rest cancels X
            8(X) 6/6 id X of 50 cum 0 leaves 50 avg 0 text asked for by REST
        venue cancels X
            8(X) I/4 id X of 50 cum 0 leaves 0 avg 0 text asked for by REST
    "#]],
    );
    check_standard(
        &by_rest,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        rest resizes X 50
            8(X) E/E id X of 100 cum 0 leaves 100 avg 0 text asked for by REST
        venue replaces X
            8(X) D/0 id X of 50 cum 0 leaves 50 avg 0 text asked for by REST
        rest cancels X
            8(X) 6/6 id X of 50 cum 0 leaves 50 avg 0 text asked for by REST
        venue cancels X
            8(X) 4/4 id X of 50 cum 0 leaves 0 avg 0 text asked for by REST
    "#]],
    );
    check(
        &[ORDER, "venue accepts X", "rest cancels X", "venue keeps X uncancelled not now"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        rest cancels X
            8(X) 6/6 id X of 100 cum 0 leaves 100 avg 0 text asked for by REST
        venue keeps X uncancelled not now
            8(X) I/0 id X of 100 cum 0 leaves 100 avg 0 text not now (asked for by REST)
    "#]],
    );
}

#[test]
fn a_new_order_is_rejected_by_the_venue() {
    check(
        &[ORDER, "venue rejects X no such book"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue rejects X no such book
            8(X) 8/8 id X of 100 cum 0 leaves 0 avg 0 reason 0 text no such book
    "#]],
    );
}

#[test]
fn f1_a_second_order_with_a_known_id() {
    let again = ORDER.replace("35=D|", "35=D|97=N|");
    check(
        &[ORDER, "venue accepts X", &again],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=D|97=N|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 6 text duplicate-order: an order with the id X exists already and was not touched
    "#]],
    );
    check_standard(
        &[ORDER, "venue accepts X", "venue fills X e1 40 10", &again],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        35=D|97=N|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) 8/1 id X of 100 cum 40 leaves 60 avg 10 reason 6 text duplicate-order: an order with the id X exists already and was not touched
    "#]],
    );
}

#[test]
fn f1b_an_order_that_may_have_been_sent_before() {
    let resent = ORDER.replace("35=D|", "35=D|97=Y|");
    check(
        &[&resent, "venue accepts X", &resent],
        &expect![[r#"
        35=D|97=Y|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=D|97=Y|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) I/0 id X of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}

#[test]
fn an_order_that_can_not_be_read_does_not_hide_the_one_that_has_its_name() {
    let (unreadable, resent) = (ORDER.replace("38=100", "38=x"), ORDER.replace("35=D|", "35=D|97=Y|"));
    let resent_unreadable = resent.replace("38=100", "38=x");
    check(
        &[ORDER, "venue accepts X", &resent_unreadable, &unreadable, &resent_unreadable.replace("11=X", "11=never")],
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue accepts X
                8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
            35=D|97=Y|11=X|54=1|38=x|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) I/0 id X of 100 cum 0 leaves 100 avg 0
            35=D|11=X|54=1|38=x|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) 8/8 id NONE of 0 cum 0 leaves 0 avg 0 reason 6 text bad-field: OrderQty (38) x is not a decimal; order X stays as it is
            35=D|97=Y|11=never|54=1|38=x|40=2|44=10|60=20261116-12:00:00|48=1
                8(never) 8/8 id NONE of 0 cum 0 leaves 0 avg 0 reason 99 text bad-field: OrderQty (38) x is not a decimal
        "#]],
    );
}

#[test]
fn a_cl_ord_id_is_used_once_for_requests_too() {
    let again = "35=F|11=X|41=X|54=1|60=20261116-12:00:00";
    check(
        &[ORDER, "venue accepts X", again, &replace("X", "X", 110)],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=X|41=X|54=1|60=20261116-12:00:00
            9(X,X) 39=0 id X to 1 reason 6 text duplicate-order: an order with the id X exists already and was not touched
        35=G|11=X|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            9(X,X) 39=0 id X to 2 reason 6 text duplicate-order: an order with the id X exists already and was not touched
    "#]],
    );
}

#[test]
fn i_immediate_or_cancel_and_fill_or_kill() {
    let at_once = |tif| format!("{ORDER}|59={tif}");
    check(
        &[&at_once(3), "venue accepts X", "venue fills X e1 40 10", "venue expires X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1|59=3
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        venue expires X
            8(X) I/4 id X of 100 cum 40 leaves 0 avg 10 text the day is over (by the venue)
    "#]],
    );
    check(
        &[&at_once(4), "venue accepts X", "venue cancels X no match"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1|59=4
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X no match
            8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text no match (by the venue)
    "#]],
    );
}

#[test]
fn j_a_fill_is_taken_back_or_corrected() {
    let story =
        [ORDER, "venue accepts X", "venue fills X e1 40 10", "venue corrects X e1 30 10.5", "venue busts X e1-new"];
    check(
        &story,
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue accepts X
                8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
            venue fills X e1 40 10
                8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
            venue corrects X e1 30 10.5
                8(X) I/1 id X of 100 cum 30 leaves 70 avg 10.5 last 30 at 10.5 text corrected by e1-new
            venue busts X e1-new
                8(X) I/0 id X of 100 cum 0 leaves 100 avg 0
        "#]],
    );
    check_standard(
        &story,
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue accepts X
                8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
            venue fills X e1 40 10
                8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
            venue corrects X e1 30 10.5
                8(X) G/1 id X of 100 cum 30 leaves 70 avg 10.5 last 30 at 10.5 text corrected by e1-new
            venue busts X e1-new
                8(X) H/0 id X of 100 cum 0 leaves 100 avg 0
        "#]],
    );
}

#[test]
fn l_the_venue_is_gone_and_the_outcome_unknown() {
    check(
        &[ORDER, "venue loses X the line broke", "venue accepts X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue loses X the line broke
            8(X) I/A id X of 100 cum 0 leaves 100 avg 0 text the line broke
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}

#[test]
fn a_fill_after_the_end_is_booked_and_the_status_stays() {
    check(
        &[ORDER, "venue accepts X", CANCEL, "venue cancels X", "venue fills X e1 40 10"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X
            8(Y,X) I/4 id X of 100 cum 0 leaves 0 avg 0
        venue fills X e1 40 10
            8(X) F/4 id X of 100 cum 40 leaves 0 avg 10 last 40 at 10
    "#]],
    );
}

#[test]
fn a_fill_overtakes_the_confirmation() {
    check(
        &[ORDER, "venue fills X e1 40 10", "venue accepts X"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 40 10
            8(X) F/1 id X of 100 cum 40 leaves 60 avg 10 last 40 at 10
        venue accepts X
            8(X) I/1 id X of 100 cum 40 leaves 60 avg 10
    "#]],
    );
}

#[test]
fn a_request_may_name_the_order_by_its_order_id() {
    check(
        &[ORDER, "35=F|11=Y|37=X|54=1|60=20261116-12:00:00"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|37=X|54=1|60=20261116-12:00:00
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}

#[test]
fn an_id_that_is_taken_on_the_platform_is_minted_anew() {
    check(
        &["rest places X", ORDER, CANCEL],
        &expect![[r#"
        rest places X
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id R-1 of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id R-1 of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}
