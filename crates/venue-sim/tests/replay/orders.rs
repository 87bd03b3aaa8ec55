//! Order handling that is the same for all fill rules.

use venue_sim::replay::FillRule;

use crate::transcript::{check, check_in};

#[test]
fn a_resting_order_is_replaced_and_canceled() {
    check(
        FillRule::Touch,
        "
        quote 10 x 11           =>
        1 buy 100 @ 9           => 1 accepted
        replace 1 to 50 @ 9.5   => 1 replaced
        replace 1 to 50 @ 11    => 1 replaced, 1 filled 50 @ 11 by touch
        cancel 1                => 1 not canceled (unknown-order)
        replace 1 to 60 @ 9     => 1 not replaced (unknown-order)
        2 buy 10 @ 9            => 2 accepted
        cancel 2                => 2 canceled
        ",
    );
}

#[test]
fn a_post_only_order_never_takes() {
    check(
        FillRule::Touch,
        "
        quote 10 x 11           =>
        1 buy 10 @ 11 gtc post-only => 1 rejected (would-take: a post-only order would trade at once)
        2 buy 10 @ 10 post-only => 2 accepted
        replace 2 to 10 @ 11    => 2 not replaced (would-take: a post-only order would trade at once)
        replace 2 to 10 @ 10.5  => 2 replaced
        quote 10 x 10.5         => 2 filled 10 @ 10.5 by touch
        ",
    );
}

#[test]
fn an_order_with_a_minimum_trades_at_least_that_or_not_at_all() {
    check(
        FillRule::Depth,
        "
        book 9x50 | 11x70 12x90 =>
        1 buy 100 @ 11 ioc least 71 => 1 accepted, 1 expired (IOC: the rest could not trade at once)
        2 buy 100 @ 11 ioc least 70 => 2 accepted, 2 filled 70 @ 11 by depth, 2 expired (IOC: the rest could not trade at once)
        ",
    );
}

#[test]
fn every_part_of_an_iceberg_waits_behind_its_level() {
    check(
        FillRule::QueuePosition,
        "
        book 9x50 | 11x70       =>
        1 buy 30 @ 9 gtc showing 20 => 1 accepted
        trade 60 @ 9            => 1 filled 10 @ 9 by queue-position
        trade 60 @ 9            => 1 filled 10 @ 9 by queue-position
        trade 55 @ 9            => 1 filled 5 @ 9 by queue-position
        trade 10 @ 9            => 1 filled 5 @ 9 by queue-position
        ",
    );
}

#[test]
fn a_day_order_ends_with_the_day_of_its_first_price_and_a_day_without_prices_is_none() {
    check(
        FillRule::Touch,
        "
        quote 10 x 11           =>
        1 buy 10 @ 9            => 1 accepted
        2 buy 10 @ 9 gtc        => 2 accepted
        wait 259200             =>
        quote 10 x 11           =>
        wait 3600               =>
        quote 10 x 11           =>
        wait 86400              =>
        quote 9 x 9             => 1 expired (DAY: the day is over), 2 filled 10 @ 9 by touch
        ",
    );
}

#[test]
fn a_day_order_meets_the_range_of_every_bar_that_begins_on_its_day() {
    check(
        FillRule::Touch,
        "
        1 buy 10 @ 9            => 1 accepted
        2 sell 10 stop 8.5      => 2 accepted
        3 buy 10 @ 7            => 3 accepted
        4 buy 10 @ 7 gtc        => 4 accepted
        open 10                 =>
        wait 86400              =>
        bar 10 11 8 10          => 1 filled 10 @ 9 by touch, 2 filled 10 @ 8.5 by touch
        open 6                  => 3 expired (DAY: the day is over), 4 filled 10 @ 6 by touch
        ",
    );
}

#[test]
fn the_last_bar_of_a_day_is_met_and_the_first_of_the_next_is_not() {
    check(
        FillRule::Touch,
        "
        wait 86340              =>
        open 10                 =>
        1 buy 10 @ 9            => 1 accepted
        2 buy 10 @ 8            => 2 accepted
        wait 60                 =>
        bar 10 10 9 10          => 1 filled 10 @ 9 by touch
        open 10                 => 2 expired (DAY: the day is over)
        wait 60                 =>
        bar 10 10 8 10          =>
        ",
    );
}

/// Midnight in New York comes five hours after a daily bar began.
#[test]
fn a_daily_bar_belongs_to_the_day_on_which_it_begins_whatever_the_zone() {
    check_in(
        "America/New_York",
        FillRule::NextBarOpen,
        "
        1 buy 10 @ 9            => 1 accepted
        2 buy 10 @ 7            => 2 accepted
        open 10                 =>
        wait 86400              =>
        bar 10 11 8 10          => 1 filled 10 @ 9 by next-bar-open
        3 buy 10 @ 6            => 3 accepted
        open 10                 => 2 expired (DAY: the day is over)
        wait 86400              =>
        bar 10 11 5 10          => 3 filled 10 @ 6 by next-bar-open
        ",
    );
}

#[test]
fn a_dated_order_ends_at_its_instant_without_a_price() {
    check(
        FillRule::Touch,
        "
        quote 10 x 11           =>
        1 buy 10 @ 9 gtd 60     => 1 accepted
        2 buy 10 @ 9 gtd 90     => 2 accepted
        wait 59                 =>
        wait 1                  => 1 expired (GTD: its time is over)
        cancel 2                => 2 canceled
        3 buy 10 @ 9 gtd 0      => 3 rejected (tif: the date has passed)
        ",
    );
}

#[test]
fn auctions_are_not_recorded() {
    check(FillRule::Touch, "1 buy 10 @ 9 ato => 1 rejected (tif: auctions are not recorded)");
}

#[test]
fn a_stop_limit_becomes_a_limit_when_its_price_is_reached() {
    check(
        FillRule::Touch,
        "
        quote 10 x 10.1         =>
        1 buy 10 stop 11 @ 11.2 => 1 accepted
        quote 11.3 x 11.4       =>
        quote 11 x 11.2         => 1 filled 10 @ 11.2 by touch
        ",
    );
}
