//! Continuous trading.

use expect_test::expect;
use venue_sim::book::{BookRules, SelfTradeRule};

use crate::transcript::{check, check_with};

#[test]
fn better_price_first_then_the_older_order() {
    check(&expect![[r#"
        sell 1 10 @ 101                      => resting 10
        sell 2 10 @ 100                      => resting 10
        sell 3 10 @ 100                      => resting 10
        buy 4 25 @ 101                       => 4 takes 10 of 2 @ 100 (left 15 and 0)
                                             => 4 takes 10 of 3 @ 100 (left 5 and 0)
                                             => 4 takes 5 of 1 @ 101 (left 0 and 5)
                                             => filled
        book                                 => - | 1: 5 @ 101
    "#]]);
}

#[test]
fn a_limit_is_never_overrun_and_the_rest_waits() {
    check(&expect![[r#"
        sell 1 10 @ 100                      => resting 10
        sell 2 10 @ 102                      => resting 10
        buy 3 15 @ 101                       => 3 takes 10 of 1 @ 100 (left 5 and 0)
                                             => resting 5
        book                                 => 3: 5 @ 101 | 2: 10 @ 102
        sell 4 9 @ 99                        => 4 takes 5 of 3 @ 101 (left 4 and 0)
                                             => resting 4
        book                                 => - | 4: 4 @ 99, 2: 10 @ 102
    "#]]);
}

#[test]
fn prices_below_nought_and_at_the_ends_of_the_scale_are_prices() {
    check(&expect![[r#"
        sell 1 10 @ -5                       => resting 10
        sell 2 10 @ 9223372036854775807      => resting 10
        buy 3 10 @ -9223372036854775808      => resting 10
        buy 4 5 @ -4                         => 4 takes 5 of 1 @ -5 (left 0 and 5)
                                             => filled
        buy 5 20 ioc                         => 5 takes 5 of 1 @ -5 (left 15 and 0)
                                             => 5 takes 10 of 2 @ 9223372036854775807 (left 5 and 0)
                                             => expired 5
        sell 6 20 ioc                        => 6 takes 10 of 3 @ -9223372036854775808 (left 10 and 0)
                                             => expired 10
        book                                 => - | -
    "#]]);
}

#[test]
fn an_iceberg_shows_a_part_and_refills_behind_the_others() {
    check(&expect![[r#"
        sell 1 25 @ 100 shows 10             => resting 25
        sell 2 10 @ 100                      => resting 10
        depth                                => - | 20 in 2 @ 100
        buy 3 12 @ 100                       => 3 takes 10 of 1 @ 100 (left 2 and 15)
                                             => 3 takes 2 of 2 @ 100 (left 0 and 8)
                                             => filled
        depth                                => - | 18 in 2 @ 100
        buy 4 13 @ 100                       => 4 takes 8 of 2 @ 100 (left 5 and 0)
                                             => 4 takes 5 of 1 @ 100 (left 0 and 10)
                                             => filled
        book                                 => - | 1: 10 @ 100
        replace 1 4 @ 100                    => resting 4
        depth                                => - | 4 in 1 @ 100
        buy 5 9 @ 100 fok                    => expired 9
        cancel 1                             => 1: 4 @ 100
    "#]]);
}

#[test]
fn hidden_lots_fill_an_order_that_must_fill_and_take_part_in_an_auction() {
    check(&expect![[r#"
        sell 1 25 @ 100 shows 10             => resting 25
        buy 2 26 @ 100 fok                   => expired 26
        buy 3 5 @ 100 fok                    => 3 takes 5 of 1 @ 100 (left 0 and 20)
                                             => filled
        queue buy 4 30 @ 101                 => queued
        queue sell 5 5 @ 100                 => queued
        indicate 100                         => 25 @ 100, surplus 5 buy 0 sell
        uncross 100                          => 4 takes 5 of 1 @ 100 (left 25 and 15)
                                             => 4 takes 5 of 5 @ 100 (left 20 and 0)
                                             => 4 takes 10 of 1 @ 100 (left 10 and 5)
                                             => 4 takes 5 of 1 @ 100 (left 5 and 0)
                                             => 25 traded
        book                                 => 4: 5 @ 101 | -
    "#]]);
}

#[test]
fn a_taker_is_filled_part_by_part_and_its_own_rest_is_hidden() {
    check(&expect![[r#"
        sell 1 20 @ 100                      => resting 20
        buy 2 60 @ 101 shows 15              => 2 takes 20 of 1 @ 100 (left 40 and 0)
                                             => resting 40
        depth                                => 15 in 1 @ 101 | -
        sell 3 40 @ 101                      => 3 takes 15 of 2 @ 101 (left 25 and 25)
                                             => 3 takes 15 of 2 @ 101 (left 10 and 10)
                                             => 3 takes 10 of 2 @ 101 (left 0 and 0)
                                             => filled
    "#]]);
}

#[test]
fn a_post_only_order_never_takes() {
    check(&expect![[r#"
        sell 1 10 @ 100 own 1                => resting 10
        buy 2 10 @ 100 post-only             => refused would-take
        buy 3 10 @ 100 own 1 post-only       => refused would-take
        buy 4 10 @ 99 post-only              => resting 10
        buy 5 10 post-only                   => refused no-limit
        book                                 => 4: 10 @ 99 | 1: 10 @ 100
    "#]]);
}

#[test]
fn less_than_the_minimum_does_not_trade() {
    check(&expect![[r#"
        sell 1 10 @ 100                      => resting 10
        sell 2 10 @ 101                      => resting 10
        buy 3 50 @ 100 least 11 ioc          => expired 50
        buy 4 50 @ 101 least 11 ioc          => 4 takes 10 of 1 @ 100 (left 40 and 0)
                                             => 4 takes 10 of 2 @ 101 (left 30 and 0)
                                             => expired 30
        book                                 => - | -
    "#]]);
}

#[test]
fn what_an_iceberg_hides_does_not_count_where_an_own_order_stands_behind_it() {
    check(&expect![[r#"
        sell 1 10 @ 100 shows 1              => resting 10
        sell 2 1 @ 100 own 7                 => resting 1
        buy 3 10 @ 100 own 7 least 2 ioc     => expired 10
        buy 4 2 @ 100 own 7 fok              => expired 2
        buy 5 2 @ 100 own 8 fok              => 5 takes 1 of 1 @ 100 (left 1 and 9)
                                             => 5 takes 1 of 2 @ 100 (left 0 and 0)
                                             => filled
    "#]]);
}

#[test]
fn an_immediate_order_never_rests() {
    check(&expect![[r#"
        buy 1 10 @ 100 ioc                   => expired 10
        sell 2 10 @ 100                      => resting 10
        buy 3 15 @ 100 ioc                   => 3 takes 10 of 2 @ 100 (left 5 and 0)
                                             => expired 5
        sell 4 10 ioc                        => expired 10
        book                                 => - | -
    "#]]);
}

#[test]
fn fill_or_kill_trades_whole_or_not_at_all() {
    check(&expect![[r#"
        sell 1 10 @ 100                      => resting 10
        sell 2 10 @ 101                      => resting 10
        buy 3 11 @ 100 fok                   => expired 11
        buy 4 21 fok                         => expired 21
        buy 5 15 @ 101 fok                   => 5 takes 10 of 1 @ 100 (left 5 and 0)
                                             => 5 takes 5 of 2 @ 101 (left 0 and 5)
                                             => filled
        book                                 => - | 2: 5 @ 101
    "#]]);
}

#[test]
fn fewer_lots_keep_the_place_and_all_else_loses_it() {
    check(&expect![[r#"
        buy 1 10 @ 100                       => resting 10
        buy 2 10 @ 100                       => resting 10
        buy 3 10 @ 100                       => resting 10
        replace 1 4 @ 100                    => resting 4
        ahead 2                              => 4
        replace 1 5 @ 100                    => resting 5
        book                                 => 2: 10 @ 100, 3: 10 @ 100, 1: 5 @ 100 | -
        replace 2 10 @ 99                    => resting 10
        replace 2 10 @ 100                   => resting 10
        ahead 2                              => 15
        depth                                => 25 in 3 @ 100 | -
    "#]]);
}

#[test]
fn a_replaced_order_may_trade_on_its_way() {
    check(&expect![[r#"
        buy 1 10 @ 100                       => resting 10
        sell 2 4 @ 101                       => resting 4
        sell 3 9 @ 102                       => resting 9
        replace 1 10 @ 101                   => 1 takes 4 of 2 @ 101 (left 6 and 0)
                                             => resting 6
        replace 1 9 @ 102                    => 1 takes 9 of 3 @ 102 (left 0 and 0)
                                             => filled
        book                                 => - | -
    "#]]);
}

#[test]
fn the_rest_of_the_newest_of_two_own_orders_is_cancelled() {
    check(&expect![[r#"
        sell 1 10 @ 100                      => resting 10
        sell 2 10 @ 100 own 7                => resting 10
        sell 3 10 @ 100                      => resting 10
        buy 4 30 @ 100 own 7                 => 4 takes 10 of 1 @ 100 (left 20 and 0)
                                             => prevented 20
        buy 5 5 @ 100 own 8                  => 5 takes 5 of 2 @ 100 (left 0 and 5)
                                             => filled
        buy 6 6 @ 100 own 7 fok              => expired 6
        buy 8 1 @ 99 own 7                   => resting 1
        replace 8 2 @ 100                    => prevented 2
        book                                 => - | 2: 5 @ 100, 3: 10 @ 100
    "#]]);
}

#[test]
fn the_resting_order_is_cancelled_by_the_cancel_oldest_rule() {
    let rules = BookRules { self_trade: SelfTradeRule::CancelOldest, ..BookRules::default() };
    check_with(
        rules,
        &expect![[r#"
            sell 1 10 @ 100                      => resting 10
            sell 2 10 @ 100 own 7                => resting 10
            sell 3 10 @ 100                      => resting 10
            buy 4 21 @ 100 own 7 fok             => expired 21
            book                                 => - | 1: 10 @ 100, 2: 10 @ 100, 3: 10 @ 100
            buy 5 20 @ 100 own 7 fok             => 5 takes 10 of 1 @ 100 (left 10 and 0)
                                                 => 2 prevented 10
                                                 => 5 takes 10 of 3 @ 100 (left 0 and 0)
                                                 => filled
            book                                 => - | -
        "#]],
    );
}

#[test]
fn orders_without_an_owner_may_trade_with_each_other() {
    check(&expect![[r#"
        sell 1 10 @ 100 own 0                => resting 10
        buy 2 10 @ 100 own 0                 => 2 takes 10 of 1 @ 100 (left 0 and 0)
                                             => filled
    "#]]);
}

#[test]
fn nonsense_is_refused_and_changes_nothing() {
    check(&expect![[r#"
        buy 1 10 @ 100                       => resting 10
        buy 1 10 @ 101                       => refused duplicate-key
        sell 1 10 @ 100 ioc                  => refused duplicate-key
        buy 2 0 @ 100                        => refused no-lots
        buy 3 5                              => refused no-limit
        cancel 9                             => refused unknown-key
        replace 9 1 @ 100                    => refused unknown-key
        requeue 9 1                          => refused unknown-key
        replace 1 0 @ 100                    => refused no-lots
        ahead 9                              => refused unknown-key
        buy 4 18446744073709551615 @ 99      => refused too-many-lots
        replace 1 18446744073709551615 @ 99  => resting 18446744073709551615
        buy 5 1 @ 99                         => refused too-many-lots
        replace 1 18446744073709551615 @ 98  => resting 18446744073709551615
        book                                 => 1: 18446744073709551615 @ 98 | -
    "#]]);
}

#[test]
fn a_full_book_takes_no_more_resting_orders() {
    let rules = BookRules { max_orders: 2, ..BookRules::default() };
    check_with(
        rules,
        &expect![[r#"
            buy 1 10 @ 100                       => resting 10
            buy 2 10 @ 100                       => resting 10
            buy 3 10 @ 100                       => refused book-full
            sell 4 10 @ 101                      => refused book-full
            queue sell 5 10                      => refused book-full
            sell 6 10 @ 100 ioc                  => 6 takes 10 of 1 @ 100 (left 0 and 0)
                                                 => filled
            buy 3 10 @ 100                       => resting 10
        "#]],
    );
}

#[test]
fn a_cancelled_order_leaves_the_queue_closed_behind_it() {
    check(&expect![[r#"
        buy 1 1 @ 100                        => resting 1
        buy 2 2 @ 100                        => resting 2
        buy 3 3 @ 100                        => resting 3
        cancel 2                             => 2: 2 @ 100
        ahead 3                              => 1
        cancel 1                             => 1: 1 @ 100
        ahead 3                              => 0
        cancel 3                             => 3: 3 @ 100
        cancel 3                             => refused unknown-key
        depth                                => - | -
    "#]]);
}
