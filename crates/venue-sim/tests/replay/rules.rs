//! Fill rules: when and at what price each fills.

use domain::Decimal;
use venue_sim::replay::{FillRule, ReplayConfig};

use crate::transcript::{check, check_with, config};

#[test]
fn next_bar_open_fills_an_order_placed_at_the_close_at_the_open_of_the_next_bar() {
    check(
        FillRule::NextBarOpen,
        "
        open 10                 =>
        bar 10 12 9 11          =>
        1 buy 100 market        => 1 accepted
        open 11.5               => 1 filled 100 @ 11.5 by next-bar-open
        2 buy 100 @ 11          => 2 accepted
        bar 11.5 12 11 12       =>
        open 12                 =>
        bar 12 13 10.9 12       => 2 filled 100 @ 11 by next-bar-open
        3 sell 100 @ 12.5       => 3 accepted
        open 13                 => 3 filled 100 @ 13 by next-bar-open
        ",
    );
}

#[test]
fn a_stop_is_filled_at_its_price_within_a_bar_and_at_the_open_where_the_bar_opens_beyond_it() {
    check(
        FillRule::NextBarOpen,
        "
        open 10                 =>
        bar 10 11 9 10          =>
        1 buy 10 stop 10.5      => 1 accepted
        2 sell 10 stop 8        => 2 accepted
        open 10                 =>
        bar 10 10.7 9.5 10      => 1 filled 10 @ 10.5 by next-bar-open
        open 7                  => 2 filled 10 @ 7 by next-bar-open
        ",
    );
}

#[test]
fn touch_fills_takers_at_the_other_side_and_what_rests_when_it_is_touched() {
    check(
        FillRule::Touch,
        "
        1 buy 100 market        => 1 rejected (market: no price is recorded yet)
        quote 10.00 x 10.02     =>
        2 buy 100 market        => 2 accepted, 2 filled 100 @ 10.02 by touch
        3 sell 100 @ 9.99       => 3 accepted, 3 filled 100 @ 10 by touch
        4 buy 100 @ 9.98        => 4 accepted
        quote 9.97 x 9.99       =>
        quote 9.96 x 9.98       => 4 filled 100 @ 9.98 by touch
        5 sell 100 @ 10.05      => 5 accepted
        trade 1 @ 10.05         => 5 filled 100 @ 10.05 by touch
        ",
    );
}

#[test]
fn a_quote_that_the_other_side_has_passed_can_not_be_traded_at() {
    check(
        FillRule::Touch,
        "
        quote 10.00 x 10.02     =>
        quote 10.50 x -         =>
        1 buy 100 market        => 1 rejected (market: no offer is shown)
        quote - x 10.52         =>
        2 buy 100 market        => 2 accepted, 2 filled 100 @ 10.52 by touch
        quote - x 9.90          =>
        3 sell 100 market       => 3 rejected (market: no bid is shown)
        ",
    );
}

#[test]
fn the_last_price_replaces_quotes_only_before_the_first_quote() {
    check(
        FillRule::Touch,
        "
        trade 5 @ 100           =>
        1 buy 10 market         => 1 accepted, 1 filled 10 @ 100 by touch
        quote 99.98 x 100.02    =>
        quote 150 x -           =>
        2 buy 10 market         => 2 rejected (market: no offer is shown)
        3 buy 10 @ 120          => 3 accepted
        4 buy 10 @ 120 ioc      => 4 accepted, 4 expired (IOC: the rest could not trade at once)
        5 buy 10 stop 90        => 5 accepted, 5 canceled (market: the book shows no more)
        quote - x 119           => 3 filled 10 @ 120 by touch
        6 sell 10 market        => 6 rejected (market: no bid is shown)
        ",
    );
}

#[test]
fn ticks_that_quote_nothing_reach_what_rests_by_what_was_traded_last() {
    let story = "
        last 10                 =>
        1 buy 10 @ 9            => 1 accepted
        last 9                  => TOUCHED
        last 8                  => PASSED
        2 buy 10 @ 6            => 2 accepted
        quote 7 x 8             =>
        last 5                  =>
        ";
    check(FillRule::Touch, &story.replace("TOUCHED", "1 filled 10 @ 9 by touch").replace("PASSED", ""));
    for rule in [FillRule::Cross, FillRule::Depth, FillRule::QueuePosition] {
        let passed = format!("1 filled 10 @ 9 by {rule}");
        check(rule, &story.replace("TOUCHED", "").replace("PASSED", &passed));
    }
}

#[test]
fn what_was_traded_last_adds_nothing_to_the_size_that_is_shown() {
    for rule in [FillRule::Depth, FillRule::QueuePosition] {
        let story = "
        trade 5 @ 100                       =>
        quote 100.99 x 101.01 of 10 x 10    =>
        1 buy 15 market         => 1 accepted, 1 filled 10 @ 101.01 by RULE, 1 canceled (market: the book shows no more)
        quote 150 x - of 10 x 0             =>
        2 buy 15 market         => 2 rejected (market: no offer is shown)
        book 9x5 |                          =>
        3 buy 15 market         => 3 rejected (market: no offer is shown)
        4 buy 15 @ 200          => 4 accepted
        book | 10x5                         => 4 filled 5 @ 200 by RULE
        5 sell 15 market        => 5 rejected (market: no bid is shown)
        ";
        let story = story.replace("RULE", rule.name());
        // Only depth counts what comes to an order that rests.
        check(rule, &story.replace("filled 5 @ 200 by queue-position", "filled 15 @ 200 by queue-position"));
    }
}

#[test]
fn cross_fills_what_rests_only_when_the_market_goes_beyond_it() {
    check(
        FillRule::Cross,
        "
        quote 10.00 x 10.02     =>
        1 buy 100 @ 9.98        => 1 accepted
        quote 9.96 x 9.98       =>
        trade 500 @ 9.98        =>
        quote 9.95 x 9.97       => 1 filled 100 @ 9.98 by cross
        2 sell 100 @ 9.99       => 2 accepted
        bar 9.97 9.99 9.9 9.95  =>
        bar 9.97 10 9.9 9.95    => 2 filled 100 @ 9.99 by cross
        ",
    );
}

#[test]
fn depth_takes_level_by_level_what_the_book_shows() {
    check(
        FillRule::Depth,
        "
        book 9x50 8x50 | 10x30 11x40 12x50  =>
        1 buy 50 market         => 1 accepted, 1 filled 30 @ 10 by depth, 1 filled 20 @ 11 by depth
        2 buy 30 @ 11           => 2 accepted, 2 filled 20 @ 11 by depth
        3 buy 100 market        => 3 accepted, 3 filled 50 @ 12 by depth, 3 canceled (market: the book shows no more)
        book 9x50 | 11x4 12x5   => 2 filled 4 @ 11 by depth
        trade 100 @ 10.9        => 2 filled 6 @ 11 by depth
        4 sell 60 @ 9 fok       => 4 accepted, 4 expired (FOK: the rest could not trade at once)
        5 sell 60 @ 9 ioc       => 5 accepted, 5 filled 50 @ 9 by depth, 5 expired (IOC: the rest could not trade at once)
        ",
    );
}

#[test]
fn queue_position_waits_behind_what_stood_there_first() {
    check(
        FillRule::QueuePosition,
        "
        book 10x100 9x80 | 11x100  =>
        1 buy 50 @ 10           => 1 accepted
        trade 60 @ 10           =>
        trade 60 @ 10           => 1 filled 20 @ 10 by queue-position
        book 10x500 | 11x100    =>
        trade 25 @ 10           => 1 filled 25 @ 10 by queue-position
        2 buy 10 @ 9            => 2 accepted
        book 10x5 9x30 | 11x1   =>
        trade 35 @ 9            => 1 filled 5 @ 10 by queue-position, 2 filled 5 @ 9 by queue-position
        book 8x5 | 9x5          => 2 filled 5 @ 9 by queue-position
        ",
    );
}

#[test]
fn slippage_worsens_market_and_stop_orders_and_no_limit() {
    let slipping = ReplayConfig { slippage_ticks: 3, ..config(FillRule::Touch) };
    check_with(
        slipping,
        "
        quote 10.00 x 10.02     =>
        1 buy 1 market          => 1 accepted, 1 filled 1 @ 10.05 by touch
        2 sell 1 market         => 2 accepted, 2 filled 1 @ 9.97 by touch
        3 buy 1 @ 10.02         => 3 accepted, 3 filled 1 @ 10.02 by touch
        4 buy 1 stop 10.1       => 4 accepted
        quote 10.09 x 10.1      => 4 filled 1 @ 10.13 by touch
        ",
    );
}

#[test]
fn a_fee_is_a_part_of_the_traded_value() {
    let charging = ReplayConfig { fee_rate: Some(Decimal::new(1, 3)), ..config(FillRule::Touch) };
    check_with(
        charging,
        "
        quote 10 x 20           =>
        1 buy 100 market        => 1 accepted, 1 filled 100 @ 20 fee 2 by touch
        ",
    );
}

#[test]
fn with_latency_an_order_meets_the_price_of_the_time_when_it_arrives() {
    let slow = ReplayConfig { order_latency_nanos: 2_000_000_000, ..config(FillRule::Touch) };
    check_with(
        slow,
        "
        quote 10.00 x 10.02     =>
        1 buy 100 market        =>
        wait 1                  =>
        quote 10.10 x 10.12     =>
        wait 1                  =>
        wait 2                  => 1 accepted, 1 filled 100 @ 10.12 by touch
        ",
    );
}
