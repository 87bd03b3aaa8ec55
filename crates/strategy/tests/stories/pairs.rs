use crate::script::check;

#[test]
fn the_dear_one_is_sold_against_the_cheap_one_until_their_ratio_is_back() {
    check(
        "pairs",
        &[("first", "ONE"), ("second", "TWO"), ("period", "3"), ("width", "2"), ("quantity", "10"), ("hedge", "20")],
        "
        INIT           => subscribe 1, subscribe 2
        PREFEED
        START
        RUN
        bars 10 20
        bars 10.1 20
        bars 9.9 20
        bars 10 20
        bars 12 20    => sell 10 of 1, buy 20 of 2
        bars 11 20
        bars 10 20    => buy 10 of 1, sell 20 of 2
        bars 8 20     => buy 10 of 1, sell 20 of 2
        bar 1 8 8 8
        bars 10 20    => sell 10 of 1, buy 20 of 2
        ",
    );
}
