//! Ids: which of them identify an order, when they may be used again, and how repeated messages are answered.

use expect_test::expect;

use super::{CANCEL, ORDER, check, check_standard, replace};

#[test]
fn the_id_of_a_cancel_names_no_order() {
    let by_cancel = "35=F|11=Z|41=Y|54=1|60=20261116-12:00:00";
    let refused = "venue keeps X uncancelled not now";
    check(
        &[ORDER, "venue accepts X", CANCEL, by_cancel, refused, by_cancel, &replace("W", "Y", 90)],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|38=100|60=20261116-12:00:00|48=1
            8(Y,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
        35=F|11=Z|41=Y|54=1|60=20261116-12:00:00
            9(Z,Y) 39=8 id NONE to 1 reason 1 text unknown-order: order Y is neither open nor of today or yesterday
        venue keeps X uncancelled not now
            9(Y,X) 39=0 id X to 1 reason 99 text not now
        35=F|11=Z|41=Y|54=1|60=20261116-12:00:00
            9(Z,Y) 39=8 id NONE to 1 reason 1 text unknown-order: order Y is neither open nor of today or yesterday
        35=G|11=W|41=Y|54=1|38=90|40=2|44=10|60=20261116-12:00:00|48=1
            9(W,Y) 39=8 id NONE to 2 reason 1 text unknown-order: order Y is neither open nor of today or yesterday
    "#]],
    );
}

#[test]
fn the_id_of_a_replace_names_the_order_until_it_is_refused() {
    let (first, second) = (replace("Y", "X", 110), replace("Z", "Y", 120));
    let refused = "venue keeps X unreplaced not now";
    check(
        &[ORDER, "venue accepts X", &first, refused, &second, &replace("Z", "X", 120)],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue keeps X unreplaced not now
            9(Y,X) 39=0 id X to 2 reason 99 text not now
        35=G|11=Z|41=Y|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
            9(Z,Y) 39=8 id NONE to 2 reason 1 text unknown-order: order Y is neither open nor of today or yesterday
        35=G|11=Z|41=X|54=1|38=120|40=2|44=10|60=20261116-12:00:00|48=1
            8(Z,X) E/E id X of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}

#[test]
fn any_accepted_id_names_the_order_and_what_is_restated_is_compared() {
    let (first, second) = (replace("Y", "X", 110), replace("Z", "Y", 120));
    let story = [
        ORDER,
        "venue accepts X",
        &first,
        "venue replaces X",
        &second,
        "venue replaces X",
        "35=F|11=A|41=Y|54=2|60=20261116-12:00:00",
        "35=F|11=A|41=Y|54=1|60=20261116-12:00:00|55=IBM",
        "35=F|11=A|41=Y|54=1|60=20261116-12:00:00|55=NOBODY",
        "35=F|11=A|41=Y|54=1|60=20261116-12:00:00|37=elsewhere",
        "35=G|11=A|41=Y|54=2|38=90|40=2|44=10|60=20261116-12:00:00",
        "35=F|11=A|41=Y|54=1|60=20261116-12:00:00|55=AAPL|37=X",
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
        venue replaces X
            8(Z,Y) I/0 id X of 120 cum 0 leaves 120 avg 0
        35=F|11=A|41=Y|54=2|60=20261116-12:00:00
            9(A,Z) 39=0 id X to 1 reason 99 text other-order: side is not that of order X
        35=F|11=A|41=Y|54=1|60=20261116-12:00:00|55=IBM
            9(A,Z) 39=0 id X to 1 reason 99 text other-order: securityId is not that of order X
        35=F|11=A|41=Y|54=1|60=20261116-12:00:00|55=NOBODY
            9(A,Z) 39=0 id X to 1 reason 99 text unknown-security: Symbol (55) NOBODY is not known
        35=F|11=A|41=Y|54=1|60=20261116-12:00:00|37=elsewhere
            9(A,Z) 39=0 id X to 1 reason 99 text other-order: orderId is not that of order X
        35=G|11=A|41=Y|54=2|38=90|40=2|44=10|60=20261116-12:00:00
            9(A,Z) 39=0 id X to 2 reason 99 text field-fixed: side of an order cannot be changed
        35=F|11=A|41=Y|54=1|60=20261116-12:00:00|55=AAPL|37=X
            8(A,Z) 6/6 id X of 120 cum 0 leaves 120 avg 0
    "#]],
    );
    let vague = "35=F|11=A|41=X|54=1|60=20261116-12:00:00|55=[N/A]";
    check(
        &[ORDER, vague],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=F|11=A|41=X|54=1|60=20261116-12:00:00|55=[N/A]
            8(A,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}

#[test]
fn a_request_that_can_not_be_read_is_refused_with_how_its_order_stands() {
    let first = replace("Y", "X", 110);
    let unreadable = "35=G|11=A|41=X|54=1|38=ten|40=2|44=10|60=20261116-12:00:00";
    let story = [
        ORDER,
        "venue accepts X",
        &first,
        "venue replaces X",
        unreadable,
        "35=F|11=A|41=X|54=3|60=20261116-12:00:00",
        "35=G|11=A|41=Y|54=1|38=90|40=2|44=10|60=20261116-12:00:00|55=NOBODY",
        "35=G|11=A|41=Y|54=1|38=90|40=2|44=10|60=20261116-12:00:00|1=NOBODY",
        "venue fills X e1 110 10",
        unreadable,
        "35=G|11=A|41=elsewhere|54=1|38=ten|40=2|44=10|60=20261116-12:00:00",
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
        35=G|11=A|41=X|54=1|38=ten|40=2|44=10|60=20261116-12:00:00
            9(A,Y) 39=0 id X to 2 reason 99 text bad-field: OrderQty (38) ten is not a decimal
        35=F|11=A|41=X|54=3|60=20261116-12:00:00
            9(A,Y) 39=0 id X to 1 reason 99 text bad-field: Side (54) 3 is not 1 (buy) or 2 (sell)
        35=G|11=A|41=Y|54=1|38=90|40=2|44=10|60=20261116-12:00:00|55=NOBODY
            9(A,Y) 39=0 id X to 2 reason 99 text unknown-security: Symbol (55) NOBODY is not known
        35=G|11=A|41=Y|54=1|38=90|40=2|44=10|60=20261116-12:00:00|1=NOBODY
            9(A,Y) 39=0 id X to 2 reason 99 text unknown-account: Account (1) NOBODY is not known
        venue fills X e1 110 10
            8(Y) F/2 id X of 110 cum 110 leaves 0 avg 10 last 110 at 10
        35=G|11=A|41=X|54=1|38=ten|40=2|44=10|60=20261116-12:00:00
            9(A,Y) 39=2 id X to 2 reason 99 text bad-field: OrderQty (38) ten is not a decimal
        35=G|11=A|41=elsewhere|54=1|38=ten|40=2|44=10|60=20261116-12:00:00
            9(A,elsewhere) 39=8 id NONE to 2 reason 99 text bad-field: OrderQty (38) ten is not a decimal
    "#]],
    );
}

#[test]
fn an_id_may_be_used_again_on_another_day() {
    let story = [
        ORDER,
        "venue accepts X",
        "venue cancels X",
        ORDER,
        "a day passes",
        ORDER,
        "status of X",
        "35=F|11=Y|41=X|54=1|60=20261117-12:00:00",
        ORDER,
    ];
    check(
        &story,
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue cancels X
            8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text by the venue
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 6 text duplicate-order: an order with the id X exists already and was not touched
        a day passes
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id R-1 of 100 cum 0 leaves 100 avg 0
        status of X
            8(X) I/A id R-1 of 100 cum 0 leaves 100 avg 0
        35=F|11=Y|41=X|54=1|60=20261117-12:00:00
            8(Y,X) 6/6 id R-1 of 100 cum 0 leaves 100 avg 0
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 6 text duplicate-order: an order with the id R-1 exists already and was not touched
    "#]],
    );
}

#[test]
fn the_id_of_a_live_order_stays_taken_however_old_it_is() {
    let lasting = format!("{ORDER}|59=1");
    let (first, second) = (replace("Y", "X", 110), ORDER.replace("11=X", "11=Y"));
    let days = ["a day passes"; 3];
    let placed = [&lasting, "venue accepts X", &first, "venue replaces X"];
    let again = [ORDER, &second, "venue cancels X", ORDER, "a day passes", ORDER];
    check(
        &[&placed[..], &days, &again].concat(),
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1|59=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue accepts X
                8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
            35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
                8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
            venue replaces X
                8(Y,X) I/0 id X of 110 cum 0 leaves 110 avg 0
            a day passes
            a day passes
            a day passes
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 6 text duplicate-order: an order with the id X exists already and was not touched
            35=D|11=Y|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(Y) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 6 text duplicate-order: an order with the id X exists already and was not touched
            venue cancels X
                8(Y) I/4 id X of 110 cum 0 leaves 0 avg 0 text by the venue
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id R-1 of 100 cum 0 leaves 100 avg 0
            a day passes
                8(X) I/A id R-1 of 100 cum 0 leaves 100 avg 0 text the venue has not answered for 10 s
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 6 text duplicate-order: an order with the id R-1 exists already and was not touched
        "#]],
    );
}

#[test]
fn what_may_have_been_sent_yesterday_is_known() {
    let resent = ORDER.replace("35=D|", "35=D|97=Y|");
    check(
        &[ORDER, "venue accepts X", "venue fills X e1 100 10", "a day passes", &resent],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        venue fills X e1 100 10
            8(X) F/2 id X of 100 cum 100 leaves 0 avg 10 last 100 at 10
        a day passes
        35=D|97=Y|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) I/2 id X of 100 cum 100 leaves 0 avg 10
    "#]],
    );
}

#[test]
fn an_order_that_comes_again_is_answered_under_its_own_id() {
    let first = replace("Y", "X", 110);
    let resent = ORDER.replace("35=D|", "35=D|97=Y|");
    check(
        &[ORDER, "venue accepts X", &first, "venue replaces X", &resent],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(Y,X) I/0 id X of 110 cum 0 leaves 110 avg 0
        35=D|97=Y|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) I/0 id X of 110 cum 0 leaves 110 avg 0
    "#]],
    );
    check_standard(
        &[ORDER, "venue accepts X", &first, "venue replaces X", ORDER],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(Y,X) 5/0 id X of 110 cum 0 leaves 110 avg 0
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) 8/0 id X of 110 cum 0 leaves 110 avg 0 reason 6 text duplicate-order: an order with the id X exists already and was not touched
    "#]],
    );
}

#[test]
fn a_request_that_comes_again_is_answered_by_how_its_order_stands() {
    let again = replace("Y", "X", 110).replace("35=G|", "35=G|97=Y|");
    let cancel = "35=F|97=Y|11=Z|41=Y|54=1|60=20261116-12:00:00";
    let replaces = [ORDER, "venue accepts X", &again, &again, "venue replaces X", &again];
    let cancels = [cancel, cancel, "venue cancels X", cancel];
    check(
        &[&replaces[..], &cancels].concat(),
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        venue accepts X
            8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
        35=G|97=Y|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
        35=G|97=Y|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y) I/E id X of 100 cum 0 leaves 100 avg 0
        venue replaces X
            8(Y,X) I/0 id X of 110 cum 0 leaves 110 avg 0
        35=G|97=Y|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
            8(Y) I/0 id X of 110 cum 0 leaves 110 avg 0
        35=F|97=Y|11=Z|41=Y|54=1|60=20261116-12:00:00
            8(Z,Y) 6/6 id X of 110 cum 0 leaves 110 avg 0
        35=F|97=Y|11=Z|41=Y|54=1|60=20261116-12:00:00
            8(Z) I/6 id X of 110 cum 0 leaves 110 avg 0
        venue cancels X
            8(Z,Y) I/4 id X of 110 cum 0 leaves 0 avg 0
        35=F|97=Y|11=Z|41=Y|54=1|60=20261116-12:00:00
            8(Z) I/4 id X of 110 cum 0 leaves 0 avg 0
    "#]],
    );
}

#[test]
fn a_request_under_the_id_of_an_order_did_not_come_before() {
    let own = "35=F|97=Y|11=X|41=X|54=1|60=20261116-12:00:00";
    let other = "35=F|97=Y|11=W|41=X|54=1|60=20261116-12:00:00";
    check(
        &[ORDER, &ORDER.replace("11=X", "11=W"), own, other],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=D|11=W|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(W) A/A id W of 100 cum 0 leaves 100 avg 0
        35=F|97=Y|11=X|41=X|54=1|60=20261116-12:00:00
            9(X,X) 39=A id X to 1 reason 6 text duplicate-order: an order with the id X exists already and was not touched
        35=F|97=Y|11=W|41=X|54=1|60=20261116-12:00:00
            9(W,X) 39=A id X to 1 reason 6 text duplicate-order: an order with the id W exists already and was not touched
    "#]],
    );
}

#[test]
fn a_refused_request_that_is_sent_again_is_refused_again() {
    let (replacing, resent) = (replace("Y", "X", 110), replace("Y", "X", 110) + "|97=Y");
    let cancel = "35=F|11=C|41=X|54=1|60=20261116-12:00:00";
    check(
        &[
            ORDER,
            "venue accepts X",
            &replacing,
            "venue keeps X unreplaced not now",
            &resent,
            cancel,
            "venue keeps X uncancelled nor this",
            &format!("{cancel}|97=Y"),
            "venue fills X e1 100 10",
            &resent,
        ],
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue accepts X
                8(X) 0/0 id X of 100 cum 0 leaves 100 avg 0
            35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1
                8(Y,X) E/E id X of 100 cum 0 leaves 100 avg 0
            venue keeps X unreplaced not now
                9(Y,X) 39=0 id X to 2 reason 99 text not now
            35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1|97=Y
                9(Y,X) 39=0 id X to 2 reason 99 text not now
            35=F|11=C|41=X|54=1|60=20261116-12:00:00
                8(C,X) 6/6 id X of 100 cum 0 leaves 100 avg 0
            venue keeps X uncancelled nor this
                9(C,X) 39=0 id X to 1 reason 99 text nor this
            35=F|11=C|41=X|54=1|60=20261116-12:00:00|97=Y
                9(C,X) 39=0 id X to 1 reason 99 text nor this
            venue fills X e1 100 10
                8(X) F/2 id X of 100 cum 100 leaves 0 avg 10 last 100 at 10 text nor this
            35=G|11=Y|41=X|54=1|38=110|40=2|44=10|60=20261116-12:00:00|48=1|97=Y
                9(Y,X) 39=2 id X to 2 reason 0 text not now
        "#]],
    );
}

#[test]
fn an_order_that_may_have_been_sent_before_the_weekend_is_a_duplicate() {
    let again = format!("{ORDER}|97=Y");
    check(
        &[ORDER, "venue fills X e1 100 10", "a day passes", &again, "a day passes", "a day passes", &again, ORDER],
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue fills X e1 100 10
                8(X) F/2 id X of 100 cum 100 leaves 0 avg 10 last 100 at 10
            a day passes
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1|97=Y
                8(X) I/2 id X of 100 cum 100 leaves 0 avg 10
            a day passes
            a day passes
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1|97=Y
                8(X) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 6 text duplicate-order: the ClOrdID X was used before, and nothing was done
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id R-1 of 100 cum 0 leaves 100 avg 0
        "#]],
    );
}

#[test]
fn an_order_is_never_called_none() {
    check(
        &["35=D|11=NONE|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1"],
        &expect![[r#"
        35=D|11=NONE|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(NONE) A/A id R-1 of 100 cum 0 leaves 100 avg 0
    "#]],
    );
}
