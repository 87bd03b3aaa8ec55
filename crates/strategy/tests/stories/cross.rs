use crate::script::check;

#[test]
fn the_position_is_reversed_when_the_averages_cross_and_not_before_both_are_warm() {
    check(
        "moving-average-cross",
        &[("security", "ONE"), ("fast", "2"), ("slow", "3"), ("quantity", "100")],
        "
        INIT       => subscribe 1
        PREFEED
        START
        RUN
        tick 1 9 11
        tick 1 8 10
        tick 1 7 9
        tick 1 8 10
        tick 1 12 14 => buy 100 of 1
        tick 1 14 16
        tick 1 5 7   => sell 200 of 1
        tick 1 5 7
        tick 2 50 51
        EXIT
        ",
    );
}

#[test]
fn bars_move_the_averages_where_bars_are_chosen() {
    check(
        "moving-average-cross",
        &[("security", "1"), ("fast", "2"), ("slow", "3"), ("quantity", "5"), ("prices", "MIN_1")],
        "
        INIT       => subscribe 1
        PREFEED
        START
        RUN
        bar 1 10 10 10
        bar 1 9 9 9
        bar 1 8 8 8
        tick 1 90 91
        bar 1 20 20 20 => buy 5 of 1
        bar 1 1 1 1 => sell 10 of 1
        ",
    );
}
