use crate::script::check;

#[test]
fn a_close_above_the_range_buys_and_one_below_it_sells_out() {
    check(
        "breakout",
        &[("security", "ONE"), ("period", "3"), ("quantity", "10")],
        "
        INIT       => subscribe 1
        PREFEED
        START
        RUN
        bar 1 11 9 10
        bar 1 12 9 11
        bar 1 11 10 10
        bar 1 12 10 12
        bar 1 14 11 13 => buy 10 of 1
        bar 1 15 13 14
        bar 1 13 8 9   => sell 10 of 1
        bar 1 9 7 7
        ",
    );
}

#[test]
fn below_the_range_it_goes_short_where_it_may() {
    check(
        "breakout",
        &[("security", "ONE"), ("period", "2"), ("quantity", "10"), ("short", "true")],
        "
        INIT       => subscribe 1
        PREFEED
        START
        RUN
        bar 1 11 9 10
        bar 1 12 9 11
        bar 1 10 8 8   => sell 10 of 1
        bar 1 14 8 13  => buy 20 of 1
        ",
    );
}
