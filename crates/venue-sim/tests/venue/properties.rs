use expect_test::{Expect, expect};

use crate::venue_client::{quiet, run_story};

fn check(story: &str, told: &Expect) {
    told.assert_eq(&run_story(quiet(), story));
}

#[test]
fn a_post_only_order_that_would_take_is_rejected_new_and_changed() {
    check(
        "10:00 submit 1 buy 10 STOCK limit 10.01 DAY post-only
         10:00 submit 2 buy 10 STOCK limit 10.00 DAY post-only
         10:01 replace 2 10 limit 10.01 DAY
         10:01 replace 2 20 limit 9.99 DAY
         10:02 submit 3 buy 10 STOCK limit 10.00 IOC post-only
         10:02 submit 4 buy 10 STOCK market DAY post-only
         10:03 picture",
        &expect![[r#"
            10:00 submit 1 buy 10 STOCK limit 10.01 DAY post-only
                rejected 1: would-take: a post-only order would trade at once
            10:00 submit 2 buy 10 STOCK limit 10.00 DAY post-only
                accepted 2 as SIM-O1
            10:01 replace 2 10 limit 10.01 DAY
                replace of 2 refused: would-take: a post-only order would trade at once
            10:01 replace 2 20 limit 9.99 DAY
                replaced 2: 20 @ 9.99 DAY
            10:02 submit 3 buy 10 STOCK limit 10.00 IOC post-only
                rejected 3: postOnly: not possible for this order
            10:02 submit 4 buy 10 STOCK market DAY post-only
                rejected 4: postOnly: not possible for this order
            10:03 picture
                1 10 @ 10.01 DAY rejected
                2 20 @ 9.99 DAY live
                3 10 @ 10 IOC rejected
                4 10 DAY rejected
        "#]],
    );
}

#[test]
fn before_the_opening_a_post_only_order_joins_the_auction_where_nobody_takes() {
    check(
        "08:30 submit 1 buy 10 STOCK limit 10.05 DAY post-only
         09:10 wait
         09:11 picture",
        &expect![[r#"
            08:30 submit 1 buy 10 STOCK limit 10.05 DAY post-only
                accepted 1 as SIM-O1
            09:10 wait
                filled 1 10 @ 10.01 by SIM-1
            09:11 picture
                1 10 @ 10.05 DAY live
                1 10 @ 10.01 by SIM-1
        "#]],
    );
}

#[test]
fn an_iceberg_shows_a_part_also_after_a_restart() {
    check(
        "10:00 submit 1 buy 50 STOCK limit 10.00 GTC showing 20
         10:00 submit 2 buy 10 STOCK limit 10.00 GTC account 2
         10:01 book STOCK
         10:02 submit 3 sell 15 STOCK limit 10.00 IOC account 3
         10:02 book STOCK
         10:03 restart
         10:03 book STOCK
         10:04 submit 4 sell 10 STOCK limit 10.00 IOC account 3
         10:05 restart
         10:05 submit 5 sell 12 STOCK limit 10.00 IOC account 3
         10:05 book STOCK",
        &expect![[r#"
            10:00 submit 1 buy 50 STOCK limit 10.00 GTC showing 20
                accepted 1 as SIM-O1
            10:00 submit 2 buy 10 STOCK limit 10.00 GTC account 2
                accepted 2 as SIM-O2
            10:01 book STOCK
                tick 10 x 10.01 (30 x 100) last - (-) vol 0
                book bids 30 @ 10, 100 @ 9.99, 200 @ 9.98 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
            10:02 submit 3 sell 15 STOCK limit 10.00 IOC account 3
                accepted 3 as SIM-O3
                filled 1 15 @ 10 by SIM-1
                filled 3 15 @ 10 by SIM-2
            10:02 book STOCK
                tick 10 x 10.01 (15 x 100) last 10 (15) vol 15
                book bids 15 @ 10, 100 @ 9.99, 200 @ 9.98 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
            10:03 restart
            10:03 book STOCK
                tick 10 x 10.01 (15 x 100) last - (-) vol 0
                book bids 15 @ 10, 100 @ 9.99, 200 @ 9.98 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
            10:04 submit 4 sell 10 STOCK limit 10.00 IOC account 3
                accepted 4 as SIM-O4
                filled 1 5 @ 10 by SIM-3
                filled 4 5 @ 10 by SIM-4
                filled 2 5 @ 10 by SIM-5
                filled 4 5 @ 10 by SIM-6
            10:05 restart
            10:05 submit 5 sell 12 STOCK limit 10.00 IOC account 3
                accepted 5 as SIM-O5
                filled 2 5 @ 10 by SIM-7
                filled 5 5 @ 10 by SIM-8
                filled 1 7 @ 10 by SIM-9
                filled 5 7 @ 10 by SIM-10
            10:05 book STOCK
                tick 10 x 10.01 (13 x 100) last 10 (7) vol 12
                book bids 13 @ 10, 100 @ 9.99, 200 @ 9.98 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
        "#]],
    );
}

#[test]
fn a_changed_iceberg_gives_up_hidden_lots_first() {
    check(
        "10:00 submit 1 buy 50 STOCK limit 10.00 GTC showing 20
         10:01 submit 2 sell 7 STOCK limit 10.00 IOC account 3
         10:06 replace 1 35 limit 10.00 GTC
         10:06 book STOCK
         10:07 replace 1 80 limit 10.00 GTC
         10:07 book STOCK
         10:08 replace 1 2001 limit 10.00 GTC
         10:09 submit 6 buy 5 STOCK limit 10.00 GTC showing 6
         10:09 submit 7 buy 500 STOCK limit 10.00 GTC showing 4
         10:10 cancel 1
         10:10 book STOCK",
        &expect![[r#"
            10:00 submit 1 buy 50 STOCK limit 10.00 GTC showing 20
                accepted 1 as SIM-O1
            10:01 submit 2 sell 7 STOCK limit 10.00 IOC account 3
                accepted 2 as SIM-O2
                filled 1 7 @ 10 by SIM-1
                filled 2 7 @ 10 by SIM-2
            10:06 replace 1 35 limit 10.00 GTC
                replaced 1: 35 @ 10 GTC
            10:06 book STOCK
                tick 10 x 10.01 (13 x 100) last 10 (7) vol 7
                book bids 13 @ 10, 100 @ 9.99, 200 @ 9.98 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
            10:07 replace 1 80 limit 10.00 GTC
                replaced 1: 80 @ 10 GTC
            10:07 book STOCK
                tick 10 x 10.01 (20 x 100) last 10 (7) vol 7
                book bids 20 @ 10, 100 @ 9.99, 200 @ 9.98 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
            10:08 replace 1 2001 limit 10.00 GTC
                replace of 1 refused: displayQuantity: shown in more than 100 parts
            10:09 submit 6 buy 5 STOCK limit 10.00 GTC showing 6
                rejected 6: displayQuantity: not possible for this order
            10:09 submit 7 buy 500 STOCK limit 10.00 GTC showing 4
                rejected 7: displayQuantity: shown in more than 100 parts
            10:10 cancel 1
                canceled 1
            10:10 book STOCK
                tick 9.99 x 10.01 (100 x 100) last 10 (7) vol 7
                book bids 100 @ 9.99, 200 @ 9.98, 300 @ 9.97 (+7) asks 100 @ 10.01, 200 @ 10.02, 300 @ 10.03 (+7)
        "#]],
    );
}

#[test]
fn an_order_with_a_minimum_trades_at_least_that_or_not_at_all() {
    check(
        "10:00 submit 1 buy 150 STOCK limit 10.01 IOC at-least 101
         10:00 submit 2 buy 150 STOCK limit 10.01 IOC at-least 100
         10:01 submit 3 buy 150 STOCK market IOC at-least 150
         10:02 submit 4 buy 150 STOCK limit 10.01 DAY at-least 10
         10:02 submit 5 buy 150 STOCK limit 10.01 FOK at-least 10",
        &expect![[r#"
            10:00 submit 1 buy 150 STOCK limit 10.01 IOC at-least 101
                accepted 1 as SIM-O1
                expired 1: IOC: less than its minimum quantity at its price
            10:00 submit 2 buy 150 STOCK limit 10.01 IOC at-least 100
                accepted 2 as SIM-O2
                filled 2 100 @ 10.01 by SIM-1
                expired 2: IOC: no more at its price
            10:01 submit 3 buy 150 STOCK market IOC at-least 150
                accepted 3 as SIM-O3
                filled 3 150 @ 10.02 by SIM-2
            10:02 submit 4 buy 150 STOCK limit 10.01 DAY at-least 10
                rejected 4: minQuantity: not possible for this order
            10:02 submit 5 buy 150 STOCK limit 10.01 FOK at-least 10
                rejected 5: minQuantity: not possible for this order
        "#]],
    );
}
