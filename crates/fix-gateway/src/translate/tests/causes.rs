//! The originator of an unrequested change is in Text (58), the same when it happens and when it is reported later.

use expect_test::expect;

use super::harness::GatewayHarness;
use super::{ORDER, check};

#[test]
fn the_text_names_the_interface_and_the_user() {
    let second = ORDER.replace("11=X", "11=Y");
    let third = ORDER.replace("11=X", "11=Z");
    check(
        &[
            ORDER,
            "rest user boss cancels X",
            "venue keeps X uncancelled not now",
            "user anna cancels X",
            "venue cancels X",
            &second,
            "user anna kills because fire",
            "venue cancels Y",
            &third,
        ],
        &expect![[r#"
            35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(X) A/A id X of 100 cum 0 leaves 100 avg 0
            rest user boss cancels X
                8(X) 6/6 id X of 100 cum 0 leaves 100 avg 0 text asked for by REST, boss
            venue keeps X uncancelled not now
                8(X) I/A id X of 100 cum 0 leaves 100 avg 0 text not now (asked for by REST, boss)
            user anna cancels X
                8(X) 6/6 id X of 100 cum 0 leaves 100 avg 0 text asked for in the UI, anna
            venue cancels X
                8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text asked for in the UI, anna
            35=D|11=Y|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(Y) A/A id Y of 100 cum 0 leaves 100 avg 0
            user anna kills because fire
                8(Y) 6/6 id Y of 100 cum 0 leaves 100 avg 0 text asked for in the UI, kill switch, anna: fire
            venue cancels Y
                8(Y) I/4 id Y of 100 cum 0 leaves 0 avg 0 text asked for in the UI, kill switch, anna: fire
            35=D|11=Z|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
                8(Z) 8/8 id NONE of 100 cum 0 leaves 0 avg 0 reason 99 text trading-halted: trading is HALTED for PLATFORM
        "#]],
    );
}

#[test]
fn a_state_report_after_a_reset_has_the_text_of_the_missed_event() {
    let mut floor = GatewayHarness::literal();
    let live = floor.run(&[ORDER, "rest user boss cancels X", "venue cancels X the end"].join("\n"));
    expect![[r#"
        35=D|11=X|54=1|38=100|40=2|44=10|60=20261116-12:00:00|48=1
            8(X) A/A id X of 100 cum 0 leaves 100 avg 0
        rest user boss cancels X
            8(X) 6/6 id X of 100 cum 0 leaves 100 avg 0 text asked for by REST, boss
        venue cancels X the end
            8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text the end (asked for by REST, boss)
    "#]]
    .assert_eq(&live);
    expect!["8(X) I/4 id X of 100 cum 0 leaves 0 avg 0 text the end (asked for by REST, boss)"]
        .assert_eq(&floor.order_state("X"));
}
