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

/// The second book has its own quotes in front of 5 at 9.91 and 5 at 10.05, whose mid is 9.98. In the third there are
/// no other orders on one side, so there is no fair price.
#[test]
fn quotes_of_its_own_are_not_the_market() {
    check(
        "market-making",
        &[("security", "ONE"), ("quantity", "10"), ("maxPosition", "10"), ("distance", "3")],
        "
        INIT                 => subscribe 1
        PREFEED
        START
        RUN
        book 1 5@9.99 5@10.01                  => buy 10 of 1 @ 9.97, sell 10 of 1 @ 10.03
        book 1 10@9.97/5@9.91 10@10.03/5@10.05 => move TEST-1-1 to 9.95, move TEST-1-2 to 10.01
        book 1 10@9.95 10@10.01/5@10.05
        book 1 12@9.95 12@10.01
        EXIT                                   => cancel TEST-1-1, cancel TEST-1-2
        ",
    );
}
