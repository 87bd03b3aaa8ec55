use crate::script::check;

#[test]
fn quotes_stand_around_the_middle_follow_it_and_lean_against_the_position() {
    check(
        "market-making",
        &[("security", "ONE"), ("quantity", "10"), ("maxPosition", "10"), ("distance", "3"), ("lean", "2")],
        "
        INIT                 => subscribe 1
        PREFEED
        START
        RUN
        book 1 5@9.99 5@10.01  => buy 10 of 1 @ 9.97, sell 10 of 1 @ 10.03
        book 1 5@9.99 5@10.01
        book 1 5@10.01 5@10.03 => move TEST-1-1 to 9.99, move TEST-1-2 to 10.05
        book 1 5@9.95 5@9.97   => move TEST-1-2 to 9.97
        book 1 5@9.95 5@9.97
        book 1 1@9.97 3@9.99   => buy 10 of 1 @ 9.94, sell 10 of 1 @ 10.01
        EXIT                   => cancel TEST-1-3, cancel TEST-1-4
        ",
    );
}
