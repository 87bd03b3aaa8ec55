//! Mass cancel: one command, one report, then the reports of each order.

use expect_test::expect;

use super::{ORDER, check};

const IBM: &str = "35=D|11=I|54=2|38=10|40=2|44=11|60=20261116-12:00:00|48=3";

#[test]
fn a_mass_cancel_is_reported_first_and_then_each_order() {
    check(
        &[ORDER, IBM, "rest places other", "35=q|11=all|530=7", "venue cancels X", "35=q|11=again|530=7"],
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            35=D|11=I|54=2|38=10|40=2|44=11|60=20261116-12:00:00|48=3
                8(I) A/A id I of 10 cum 0 leaves 10 avg 0
            rest places other
            35=q|11=all|530=7
                35=r|11=all|37=all|60=20261116-12:00:00.000|530=7|531=7|533=2
                8(X) 6/6 id X of 100 cum 0 leaves 100 avg 0 text asked for by a mass cancel
                8(I) 6/6 id I of 10 cum 0 leaves 10 avg 0 text asked for by a mass cancel
            venue cancels X
                8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text asked for by a mass cancel
            35=q|11=again|530=7
                35=r|11=again|37=again|60=20261116-12:00:00.000|530=7|531=7|533=0
        "#]],
    );
}

#[test]
fn a_mass_cancel_can_be_of_one_security() {
    check(
        &[ORDER, IBM, "35=q|11=some|530=1|55=IBM", "35=q|11=none|530=1|48=2"],
        &expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        35=D|11=I|54=2|38=10|40=2|44=11|60=20261116-12:00:00|48=3
            8(I) A/A id I of 10 cum 0 leaves 10 avg 0
        35=q|11=some|530=1|55=IBM
            35=r|11=some|37=some|60=20261116-12:00:00.000|530=1|531=1|533=1
            8(I) 6/6 id I of 10 cum 0 leaves 10 avg 0 text asked for by a mass cancel
        35=q|11=none|530=1|48=2
            35=r|11=none|37=none|60=20261116-12:00:00.000|530=1|531=1|533=0
    "#]],
    );
}

#[test]
fn a_mass_cancel_that_can_not_be_done_says_why() {
    let story = [
        "35=q|11=a|530=2",
        "35=q|11=b|530=1|55=NOBODY",
        "35=q|11=c|530=1",
        "35=q|34=8|11=d|530=9",
        "35=q|34=9|530=7",
        ORDER,
        "venue is away",
        "35=q|11=e|530=7",
    ];
    check(
        &story,
        &expect![[r#"
            35=q|11=a|530=2
                35=r|11=a|37=a|58=not-offered: MassCancelRequestType (530) is 1 (by security, with 48 or 55) or 7 (all)|60=20261116-12:00:00.000|530=2|531=0|532=0
            35=q|11=b|530=1|55=NOBODY
                35=r|11=b|37=b|58=unknown-security: Symbol (55) NOBODY is not known|60=20261116-12:00:00.000|530=1|531=0|532=1
            35=q|11=c|530=1
                35=r|11=c|37=c|58=missing-field: SecurityID (48) is needed|60=20261116-12:00:00.000|530=1|531=0|532=0
            35=q|34=8|11=d|530=9
                35=3|45=8|58=Value is incorrect (out of range) for this tag|371=530|372=q|373=5
            35=q|34=9|530=7
                35=3|45=9|58=Required tag missing|371=11|372=q|373=1
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            venue is away
                8(X) I/A id X of 100 cum 0 leaves 100 avg 0 text the connection was lost before the venue answered
            35=q|11=e|530=7
                35=r|11=e|37=e|58=adapter-down: the adapter SIMULATED is not connected, try again later|60=20261116-12:00:00.000|530=7|531=0|532=0
        "#]],
    );
}

#[test]
fn a_mass_cancel_that_is_sent_again_is_answered_again_and_cancels_nothing_new() {
    check(
        &[
            ORDER,
            "35=q|11=all|530=7",
            "venue cancels X",
            IBM,
            "35=q|11=all|530=7|97=Y",
            "35=q|11=all|530=7",
            "35=q|11=I|530=7",
            "35=D|11=all|54=2|38=10|40=2|44=11|60=20261116-12:00:00|48=3",
            "35=F|11=all|41=I|54=2|60=20261116-12:00:00",
            "a day passes",
            "35=q|11=all|530=7|97=Y",
            "35=q|11=all|530=7",
        ],
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            35=q|11=all|530=7
                35=r|11=all|37=all|60=20261116-12:00:00.000|530=7|531=7|533=1
                8(X) 6/6 id X of 100 cum 0 leaves 100 avg 0 text asked for by a mass cancel
            venue cancels X
                8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text asked for by a mass cancel
            35=D|11=I|54=2|38=10|40=2|44=11|60=20261116-12:00:00|48=3
                8(I) A/A id I of 10 cum 0 leaves 10 avg 0
            35=q|11=all|530=7|97=Y
                35=r|11=all|37=all|60=20261116-12:00:00.000|530=7|531=7|533=1
            35=q|11=all|530=7
                35=r|11=all|37=all|58=duplicate-order: the ClOrdID all was used before, and nothing was done|60=20261116-12:00:00.000|530=7|531=0|532=0
            35=q|11=I|530=7
                35=r|11=I|37=I|58=duplicate-order: an order with the id I exists already and was not touched|60=20261116-12:00:00.000|530=7|531=0|532=0
            35=D|11=all|54=2|38=10|40=2|44=11|60=20261116-12:00:00|48=3
                8(all) 8/8 id NONE of 10 cum 0 leaves 0 avg 0 reason 6 text duplicate-order: the ClOrdID all was used before, and nothing was done
            35=F|11=all|41=I|54=2|60=20261116-12:00:00
                9(all,I) 39=A id I to 1 reason 6 text duplicate-order: the ClOrdID all was used before, and nothing was done
            a day passes
                8(I) I/A id I of 10 cum 0 leaves 10 avg 0 text the venue has not answered for 10 s
            35=q|11=all|530=7|97=Y
                35=r|11=all|37=all|60=20261117-12:00:00.000|530=7|531=7|533=1
            35=q|11=all|530=7
                35=r|11=all|37=all|60=20261117-12:00:00.000|530=7|531=7|533=1
                8(I) 6/6 id I of 10 cum 0 leaves 10 avg 0 text the venue has not answered for 10 s (asked for by a mass cancel)
        "#]],
    );
}
