//! Auctions: orders are collected, may be crossed, and trade at one price.

use expect_test::expect;

use crate::transcript::check;

#[test]
fn orders_stand_crossed_until_the_auction() {
    check(&expect![[r#"
        queue buy 1 10 @ 105                 => queued
        queue sell 2 10 @ 95                 => queued
        book                                 => 1: 10 @ 105 | 2: 10 @ 95
        indicate 100                         => 10 @ 100, surplus 0 buy 0 sell
        uncross 100                          => 1 takes 10 of 2 @ 100 (left 0 and 0)
                                             => 10 traded
        book                                 => - | -
    "#]]);
}

#[test]
fn most_lots_decide_first() {
    check(&expect![[r#"
        queue buy 1 10 @ 103                 => queued
        queue buy 2 20 @ 102                 => queued
        queue buy 3 40 @ 101                 => queued
        queue sell 4 15 @ 100                => queued
        queue sell 5 15 @ 102                => queued
        queue sell 6 50 @ 103                => queued
        indicate 90                          => 30 @ 102, surplus 0 buy 0 sell
        uncross 102                          => 1 takes 10 of 4 @ 102 (left 0 and 5)
                                             => 2 takes 5 of 4 @ 102 (left 15 and 0)
                                             => 2 takes 15 of 5 @ 102 (left 0 and 0)
                                             => 30 traded
        indicate 90                          => none
        book                                 => 3: 40 @ 101 | 6: 50 @ 103
    "#]]);
}

#[test]
fn then_the_smaller_imbalance_even_between_the_limits() {
    check(&expect![[r#"
        queue buy 1 5 @ 110                  => queued
        queue buy 2 5 @ 105                  => queued
        queue sell 3 5 @ 105                 => queued
        queue sell 4 5 @ 110                 => queued
        indicate 50                          => 5 @ 106, surplus 0 buy 0 sell
        indicate 107                         => 5 @ 107, surplus 0 buy 0 sell
        indicate 150                         => 5 @ 109, surplus 0 buy 0 sell
    "#]]);
}

#[test]
fn then_the_price_closest_to_the_reference() {
    check(&expect![[r#"
        queue buy 1 5 @ 110                  => queued
        queue sell 2 5 @ 100                 => queued
        indicate 90                          => 5 @ 100, surplus 0 buy 0 sell
        indicate 104                         => 5 @ 104, surplus 0 buy 0 sell
        indicate 120                         => 5 @ 110, surplus 0 buy 0 sell
    "#]]);
}

#[test]
fn orders_without_a_price_trade_first() {
    check(&expect![[r#"
        queue buy 1 10 @ 110                 => queued
        queue buy 2 10                       => queued
        queue sell 3 5                       => queued
        queue sell 4 10 @ 100                => queued
        queue buy 5 2                        => queued
        indicate 105                         => 15 @ 105, surplus 7 buy 0 sell
        uncross 105                          => 2 takes 5 of 3 @ 105 (left 5 and 0)
                                             => 2 takes 5 of 4 @ 105 (left 0 and 5)
                                             => 5 takes 2 of 4 @ 105 (left 0 and 3)
                                             => 1 takes 3 of 4 @ 105 (left 7 and 0)
                                             => 15 traded
        book                                 => 1: 7 @ 110 | -
    "#]]);
}

#[test]
fn markets_on_both_sides_trade_at_the_reference() {
    check(&expect![[r#"
        queue buy 1 10                       => queued
        queue sell 2 4                       => queued
        indicate 77                          => 4 @ 77, surplus 6 buy 0 sell
        uncross 77                           => 1 takes 4 of 2 @ 77 (left 6 and 0)
                                             => 4 traded
        book                                 => 1: 6 @ market | -
    "#]]);
}

#[test]
fn nothing_to_trade_has_no_price() {
    check(&expect![[r#"
        indicate 100                         => none
        queue buy 1 10 @ 99                  => queued
        indicate 100                         => none
        queue sell 2 10 @ 101                => queued
        indicate 100                         => none
        uncross 100                          => 0 traded
    "#]]);
}

#[test]
fn owners_may_meet_themselves_in_an_auction() {
    check(&expect![[r#"
        queue buy 1 10 @ 100 own 7           => queued
        queue sell 2 10 @ 100 own 7          => queued
        uncross 100                          => 1 takes 10 of 2 @ 100 (left 0 and 0)
                                             => 10 traded
    "#]]);
}

#[test]
fn requeueing_keeps_the_place_only_for_fewer_lots() {
    check(&expect![[r#"
        queue buy 1 10                       => queued
        queue buy 2 10                       => queued
        requeue 1 9                          => queued
        book                                 => 1: 9 @ market, 2: 10 @ market | -
        requeue 1 10                         => queued
        book                                 => 2: 10 @ market, 1: 10 @ market | -
        requeue 2 10 @ 100                   => queued
        requeue 2 10                         => queued
        book                                 => 1: 10 @ market, 2: 10 @ market | -
    "#]]);
}

#[test]
fn unpriced_leftovers_are_not_met_in_continuous_trading() {
    check(&expect![[r#"
        queue buy 1 10                       => queued
        sell 2 5 @ 1                         => resting 5
        sell 3 5 ioc                         => expired 5
        replace 1 10 @ 2                     => 1 takes 5 of 2 @ 1 (left 5 and 0)
                                             => resting 5
        book                                 => 1: 5 @ 2 | -
    "#]]);
}
