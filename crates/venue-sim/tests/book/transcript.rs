//! Scenario scripts of `command => result` lines: runs the commands and compares the results.

use expect_test::Expect;
use venue_sim::book::{
    ANONYMOUS, BookEvent, BookOrder, BookReject, BookRules, BookSide, Iceberg, LimitOrderBook, MatchOutcome,
    MatchPolicy,
};

pub(crate) fn check(story: &Expect) {
    check_with(BookRules::default(), story);
}

pub(crate) fn check_with(rules: BookRules, story: &Expect) {
    let mut book = LimitOrderBook::new(rules);
    let told: String = story
        .data()
        .lines()
        .filter_map(|line| line.split("=>").next())
        .map(str::trim)
        .filter(|command| !command.is_empty())
        .map(|command| tell(command, &play(&mut book, command)))
        .collect();
    story.assert_eq(&told);
}

/// The first result stands beside its command, the others below.
fn tell(command: &str, results: &[String]) -> String {
    let commands = std::iter::once(command).chain(std::iter::repeat(""));
    let lines = commands.zip(results);
    lines.map(|(command, result)| format!("{command:<36} => {result}\n")).collect()
}

fn play(book: &mut LimitOrderBook, command: &str) -> Vec<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let number = |at: usize| words[at].parse::<u64>().expect("a number");
    let mut said = Vec::new();
    let end = match words[0] {
        "buy" | "sell" => {
            let placed = book.place(&order(&words), how(&words), &mut |e| said.push(event(e)));
            placed.map(outcome)
        }
        "queue" => book.queue(&order(&words[1..])).map(|()| "queued".into()),
        "cancel" => book.cancel(number(1)).map(|order| left(&order)),
        "replace" => {
            let limit = limit(&words).expect("a limit");
            let replaced = book.replace(number(1), limit, number(2), &mut |e| said.push(event(e)));
            replaced.map(outcome)
        }
        "requeue" => {
            let requeued = book.requeue(number(1), limit(&words), number(2));
            requeued.map(|()| "queued".into())
        }
        "ahead" => {
            let ahead = book.lots_ahead(number(1)).ok_or(BookReject::UnknownKey);
            ahead.map(|lots| lots.to_string())
        }
        "indicate" => Ok(indication(book, tick(words[1]))),
        "uncross" => {
            let traded = book.uncross(tick(words[1]), &mut |e| said.push(event(e)));
            Ok(format!("{traded} traded"))
        }
        "book" => Ok(format!("{} | {}", queue(book, BookSide::Buy), queue(book, BookSide::Sell))),
        "depth" => Ok(format!("{} | {}", depth(book, BookSide::Buy), depth(book, BookSide::Sell))),
        other => panic!("no such command: {other}"),
    };
    said.push(end.unwrap_or_else(|refusal| format!("refused {}", refusal.code())));
    said
}

/// `buy 7 100 @ 10 own 3 ioc`: side, key, lots, and what follows in any order.
fn order(words: &[&str]) -> BookOrder {
    let owner = words.iter().position(|word| *word == "own");
    BookOrder {
        key: words[1].parse().expect("a key"),
        side: if words[0] == "buy" { BookSide::Buy } else { BookSide::Sell },
        limit: limit(words),
        lots: words[2].parse().expect("lots"),
        owner: owner.map_or(ANONYMOUS, |at| words[at + 1].parse().expect("an owner")),
        iceberg: number_after(words, "shows").map(|peak| Iceberg { shown: peak, peak }),
    }
}

fn number_after(words: &[&str], name: &str) -> Option<u64> {
    let at = words.iter().position(|word| *word == name)?;
    Some(words[at + 1].parse().expect("a number"))
}

fn limit(words: &[&str]) -> Option<i64> {
    let at = words.iter().position(|word| *word == "@")?;
    Some(tick(words[at + 1]))
}

fn tick(word: &str) -> i64 {
    word.parse().expect("a price in ticks")
}

fn how(words: &[&str]) -> MatchPolicy {
    match words.last() {
        Some(&"ioc") if words.contains(&"least") => {
            MatchPolicy::ImmediateAtLeast(number_after(words, "least").expect("lots"))
        }
        Some(&"ioc") => MatchPolicy::Immediate,
        Some(&"fok") => MatchPolicy::FillOrKill,
        Some(&"post-only") => MatchPolicy::PostOnly,
        _ => MatchPolicy::Rest,
    }
}

fn event(event: BookEvent) -> String {
    match event {
        BookEvent::Traded(trade) => format!(
            "{} takes {} of {} @ {} (left {} and {})",
            trade.taker, trade.lots, trade.maker, trade.price, trade.taker_left, trade.maker_left
        ),
        BookEvent::Prevented { key, lots } => format!("{key} prevented {lots}"),
    }
}

fn outcome(outcome: MatchOutcome) -> String {
    match outcome {
        MatchOutcome::Filled => "filled".into(),
        MatchOutcome::Resting { lots } => format!("resting {lots}"),
        MatchOutcome::Expired { lots } => format!("expired {lots}"),
        MatchOutcome::Prevented { lots } => format!("prevented {lots}"),
    }
}

fn indication(book: &LimitOrderBook, reference: i64) -> String {
    book.auction_price(reference).map_or("none".into(), |found| {
        format!("{} @ {}, surplus {} buy {} sell", found.lots, found.price, found.buy_surplus, found.sell_surplus)
    })
}

fn left(order: &BookOrder) -> String {
    let limit = order.limit.map_or("market".into(), |limit| limit.to_string());
    format!("{}: {} @ {limit}", order.key, order.lots)
}

fn queue(book: &LimitOrderBook, side: BookSide) -> String {
    let orders: Vec<String> = book.orders(side).map(|order| left(&order)).collect();
    join(&orders)
}

fn depth(book: &LimitOrderBook, side: BookSide) -> String {
    let levels = book.depth(side).map(|at| format!("{} in {} @ {}", at.lots, at.orders, at.price));
    join(&levels.collect::<Vec<_>>())
}

fn join(words: &[String]) -> String {
    if words.is_empty() { "-".into() } else { words.join(", ") }
}
