//! Scenario scripts of `command => result` lines: runs the commands and compares the results.

use expect_test::Expect;
use venue_sim::book::{ANONYMOUS, Book, Event, How, Order, Outcome, Refusal, Rules, Side};

pub(crate) fn check(story: &Expect) {
    check_with(Rules::default(), story);
}

pub(crate) fn check_with(rules: Rules, story: &Expect) {
    let mut book = Book::new(rules);
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

fn play(book: &mut Book, command: &str) -> Vec<String> {
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
            let ahead = book.lots_ahead(number(1)).ok_or(Refusal::UnknownKey);
            ahead.map(|lots| lots.to_string())
        }
        "indicate" => Ok(indication(book, tick(words[1]))),
        "uncross" => {
            let traded = book.uncross(tick(words[1]), &mut |e| said.push(event(e)));
            Ok(format!("{traded} traded"))
        }
        "book" => Ok(format!("{} | {}", queue(book, Side::Buy), queue(book, Side::Sell))),
        "depth" => Ok(format!("{} | {}", depth(book, Side::Buy), depth(book, Side::Sell))),
        other => panic!("no such command: {other}"),
    };
    said.push(end.unwrap_or_else(|refusal| format!("refused {}", refusal.code())));
    said
}

/// `buy 7 100 @ 10 own 3 ioc`: side, key, lots, and what follows in any order.
fn order(words: &[&str]) -> Order {
    let owner = words.iter().position(|word| *word == "own");
    Order {
        key: words[1].parse().expect("a key"),
        side: if words[0] == "buy" { Side::Buy } else { Side::Sell },
        limit: limit(words),
        lots: words[2].parse().expect("lots"),
        owner: owner.map_or(ANONYMOUS, |at| words[at + 1].parse().expect("an owner")),
    }
}

fn limit(words: &[&str]) -> Option<i64> {
    let at = words.iter().position(|word| *word == "@")?;
    Some(tick(words[at + 1]))
}

fn tick(word: &str) -> i64 {
    word.parse().expect("a price in ticks")
}

fn how(words: &[&str]) -> How {
    match words.last() {
        Some(&"ioc") => How::Immediate,
        Some(&"fok") => How::FillOrKill,
        _ => How::Rest,
    }
}

fn event(event: Event) -> String {
    match event {
        Event::Traded(trade) => format!(
            "{} takes {} of {} @ {} (left {} and {})",
            trade.taker, trade.lots, trade.maker, trade.price, trade.taker_left, trade.maker_left
        ),
        Event::Prevented { key, lots } => format!("{key} prevented {lots}"),
    }
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Filled => "filled".into(),
        Outcome::Resting { lots } => format!("resting {lots}"),
        Outcome::Expired { lots } => format!("expired {lots}"),
        Outcome::Prevented { lots } => format!("prevented {lots}"),
    }
}

fn indication(book: &Book, reference: i64) -> String {
    book.auction_price(reference).map_or("none".into(), |found| {
        format!("{} @ {}, surplus {} buy {} sell", found.lots, found.price, found.buy_surplus, found.sell_surplus)
    })
}

fn left(order: &Order) -> String {
    let limit = order.limit.map_or("market".into(), |limit| limit.to_string());
    format!("{}: {} @ {limit}", order.key, order.lots)
}

fn queue(book: &Book, side: Side) -> String {
    let orders: Vec<String> = book.orders(side).map(|order| left(&order)).collect();
    join(&orders)
}

fn depth(book: &Book, side: Side) -> String {
    let levels = book.depth(side).map(|at| format!("{} in {} @ {}", at.lots, at.orders, at.price));
    join(&levels.collect::<Vec<_>>())
}

fn join(words: &[String]) -> String {
    if words.is_empty() { "-".into() } else { words.join(", ") }
}
