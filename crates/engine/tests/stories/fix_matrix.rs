//! The scenario matrix of FIX 4.4 (volume 4, appendix D): status and filled quantity of each line are what a report
//! shows. The rows about messages and ids are tested in the FIX gateway.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

/// Only what the wire shows of the order.
fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    let all = world.run(story);
    let is_shown = |line: &&str| {
        !line.starts_with("    ") || line.starts_with("    7 ") || line.contains("refused") || line.contains("alarm")
    };
    let shown: String = all.lines().filter(is_shown).map(|line| format!("{line}\n")).collect();
    told.assert_eq(&shown);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_1_a_filled_order() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         venue fills 7 20 @ 10 x1
         venue fills 7 80 @ 10 x2",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 20 @ 10 x1
                7 PARTIALLY_EXECUTED filled 20
            venue fills 7 80 @ 10 x2
                7 EXECUTED filled 100
        "#]],
    );
}

#[test]
fn a_1_b_part_filled_day_order_that_expires() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         venue fills 7 20 @ 10 x1
         venue expires 7
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 20 @ 10 x1
                7 PARTIALLY_EXECUTED filled 20
            venue expires 7
                7 CANCELED filled 20 (day over)
            order 7
                7 CANCELED 20 of 100 LimitOrder
        "#]],
    );
}

#[test]
fn b_1_a_cancel_of_an_unfilled_order() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         cancel 7
         venue refuses-cancel 7
         cancel 7
         venue cancels 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            cancel 7
                7 PENDING_CANCEL
            venue refuses-cancel 7
                7 SUBMITTED (too late)
            cancel 7
                7 PENDING_CANCEL
            venue cancels 7
                7 CANCELED
        "#]],
    );
}

#[test]
fn b_1_b_fills_arrive_while_the_cancel_waits() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         venue fills 7 20 @ 10 x1
         cancel 7
         venue fills 7 30 @ 10 x2
         venue cancels 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 20 @ 10 x1
                7 PARTIALLY_EXECUTED filled 20
            cancel 7
                7 PENDING_CANCEL filled 20
            venue fills 7 30 @ 10 x2
                7 PENDING_CANCEL filled 50
            venue cancels 7
                7 CANCELED filled 50
        "#]],
    );
}

#[test]
fn b_1_c_filled_before_the_cancel_is_accepted() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         cancel 7
         venue fills 7 100 @ 10 x1
         venue refuses-cancel 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            cancel 7
                7 PENDING_CANCEL
            venue fills 7 100 @ 10 x1
                7 PENDING_CANCEL filled 100
            venue refuses-cancel 7
                7 EXECUTED filled 100 (too late)
        "#]],
    );
}

#[test]
fn b_1_d_cancel_before_the_order_is_acknowledged() {
    check(
        "place 7 buy 100 AAPL @ 10
         cancel 7
         venue accepts 7
         venue cancels 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            cancel 7
                7 PENDING_CANCEL
            venue accepts 7
                7 PENDING_CANCEL
            venue cancels 7
                7 CANCELED
        "#]],
    );
}

#[test]
fn b_1_f_cancel_of_an_unknown_order() {
    check(
        "cancel 8",
        expect![[r#"
            cancel 8
                refused unknown-order: order 8 is neither open nor of today or yesterday
        "#]],
    );
}

#[test]
fn c_1_a_replace_to_more_of_an_unfilled_order() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         modify 7 to 110 @ 10
         venue replaces 7 110 @ 10
         venue fills 7 20 @ 10 x1
         venue fills 7 90 @ 10 x2",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            modify 7 to 110 @ 10
                7 PENDING_REPLACE
            venue replaces 7 110 @ 10
                7 SUBMITTED
            venue fills 7 20 @ 10 x1
                7 PARTIALLY_EXECUTED filled 20
            venue fills 7 90 @ 10 x2
                7 EXECUTED filled 110
        "#]],
    );
}

#[test]
fn c_1_b_replace_to_more_while_it_is_filling() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         venue fills 7 20 @ 10 x1
         modify 7 to 110 @ 10
         venue fills 7 10 @ 10 x2
         venue replaces 7 110 @ 10
         venue fills 7 80 @ 10 x3",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 20 @ 10 x1
                7 PARTIALLY_EXECUTED filled 20
            modify 7 to 110 @ 10
                7 PENDING_REPLACE filled 20
            venue fills 7 10 @ 10 x2
                7 PENDING_REPLACE filled 30
            venue replaces 7 110 @ 10
                7 PARTIALLY_EXECUTED filled 30
            venue fills 7 80 @ 10 x3
                7 EXECUTED filled 110
        "#]],
    );
}

#[test]
fn c_1_c_replace_to_more_that_arrives_when_all_is_filled() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         modify 7 to 120 @ 10
         venue fills 7 100 @ 10 x1
         venue replaces 7 120 @ 10
         venue fills 7 20 @ 10 x2
         modify 7 to 130 @ 10",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            modify 7 to 120 @ 10
                7 PENDING_REPLACE
            venue fills 7 100 @ 10 x1
                7 PENDING_REPLACE filled 100
            venue replaces 7 120 @ 10
                7 PARTIALLY_EXECUTED filled 100
            venue fills 7 20 @ 10 x2
                7 EXECUTED filled 120
            modify 7 to 130 @ 10
                refused order-closed: order 7 is finished
        "#]],
    );
}

#[test]
fn c_2_a_price_change_of_an_order_that_is_filled_meanwhile() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         modify 7 to 100 @ 11
         venue fills 7 100 @ 10 x1
         venue refuses-replace 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            modify 7 to 100 @ 11
                7 PENDING_REPLACE
            venue fills 7 100 @ 10 x1
                7 PENDING_REPLACE filled 100
            venue refuses-replace 7
                7 EXECUTED filled 100 (too late)
        "#]],
    );
}

#[test]
fn c_3_decrease_above_to_and_below_what_is_filled() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         venue fills 7 40 @ 10 x1
         modify 7 to 80 @ 10
         venue replaces 7 80 @ 10
         modify 7 to 40 @ 10
         venue refuses-replace 7
         modify 7 to 20 @ 10
         venue replaces 7 40 @ 10
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 40 @ 10 x1
                7 PARTIALLY_EXECUTED filled 40
            modify 7 to 80 @ 10
                7 PENDING_REPLACE filled 40
            venue replaces 7 80 @ 10
                7 PARTIALLY_EXECUTED filled 40
            modify 7 to 40 @ 10
                7 PENDING_REPLACE filled 40
            venue refuses-replace 7
                7 PARTIALLY_EXECUTED filled 40 (too late)
            modify 7 to 20 @ 10
                7 PENDING_REPLACE filled 40
            venue replaces 7 40 @ 10
                7 EXECUTED filled 40
            order 7
                7 EXECUTED 40 of 40 LimitOrder
        "#]],
    );
}

#[test]
fn d_1_one_replace_after_the_other() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         modify 7 to 110 @ 10
         venue refuses-replace 7
         modify 7 to 120 @ 10
         venue replaces 7 120 @ 10
         modify 7 to 130 @ 10
         venue replaces 7 130 @ 10
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            modify 7 to 110 @ 10
                7 PENDING_REPLACE
            venue refuses-replace 7
                7 SUBMITTED (too late)
            modify 7 to 120 @ 10
                7 PENDING_REPLACE
            venue replaces 7 120 @ 10
                7 SUBMITTED
            modify 7 to 130 @ 10
                7 PENDING_REPLACE
            venue replaces 7 130 @ 10
                7 SUBMITTED
            order 7
                7 SUBMITTED 0 of 130 LimitOrder
        "#]],
    );
}

#[test]
fn d_2_c_a_second_replace_while_the_first_waits() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         modify 7 to 110 @ 10
         modify 7 to 120 @ 10
         venue replaces 7 110 @ 10
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            modify 7 to 110 @ 10
                7 PENDING_REPLACE
            modify 7 to 120 @ 10
                refused replace-pending: order 7 is being replaced already
            venue replaces 7 110 @ 10
                7 SUBMITTED
            order 7
                7 SUBMITTED 0 of 110 LimitOrder
        "#]],
    );
}

#[test]
fn e_1_the_venue_cancels_and_restates_by_itself() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         venue fills 7 10 @ 10 x1
         venue replaces 7 60 @ 10
         order 7
         venue cancels 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 10 @ 10 x1
                7 PARTIALLY_EXECUTED filled 10
            venue replaces 7 60 @ 10
                7 PARTIALLY_EXECUTED filled 10
            order 7
                7 PARTIALLY_EXECUTED 10 of 60 LimitOrder
            venue cancels 7
                7 CANCELED filled 10
        "#]],
    );
}

#[test]
fn i_1_immediate_or_cancel_and_fill_or_kill() {
    check(
        "place 7 buy 100 AAPL @ 10 IOC
         venue accepts 7
         venue fills 7 30 @ 10 x1
         venue expires 7
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10 IOC
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 30 @ 10 x1
                7 PARTIALLY_EXECUTED filled 30
            venue expires 7
                7 CANCELED filled 30 (day over)
            order 7
                7 CANCELED 30 of 100 LimitOrder
        "#]],
    );
    check(
        "place 7 buy 100 AAPL @ 10 FOK
         venue accepts 7
         venue expires 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10 FOK
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue expires 7
                7 CANCELED (day over)
        "#]],
    );
}

#[test]
fn j_1_a_trade_is_taken_back_or_corrected() {
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         venue fills 7 50 @ 10 x1
         venue fills 7 50 @ 11 x2
         venue busts 7 x2
         venue corrects 7 x1 to 40 @ 10.10 x3
         venue busts 7 x3
         order 7",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 50 @ 10 x1
                7 PARTIALLY_EXECUTED filled 50
            venue fills 7 50 @ 11 x2
                7 EXECUTED filled 100
            venue busts 7 x2
                7 PARTIALLY_EXECUTED filled 50
            venue corrects 7 x1 to 40 @ 10.10 x3
                7 PARTIALLY_EXECUTED filled 40 (corrected by x3)
            venue busts 7 x3
                7 SUBMITTED
            order 7
                7 SUBMITTED 0 of 100 LimitOrder
        "#]],
    );
    check(
        "place 7 buy 100 AAPL @ 10
         venue accepts 7
         venue fills 7 50 @ 10 x1
         venue cancels 7
         venue busts 7 x1",
        expect![[r#"
            place 7 buy 100 AAPL @ 10
                7 OPEN
            venue accepts 7
                7 SUBMITTED
            venue fills 7 50 @ 10 x1
                7 PARTIALLY_EXECUTED filled 50
            venue cancels 7
                7 CANCELED filled 50
            venue busts 7 x1
                7 CANCELED
        "#]],
    );
}
