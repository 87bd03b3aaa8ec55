//! Any commands in any order: the book and the slow model give the same results and the same state.

use proptest::prelude::*;
use venue_sim::book::{
    BookEvent, BookOrder, BookReject, BookRules, BookSide, Iceberg, LimitOrderBook, MatchOutcome, MatchPolicy,
    SelfTradeRule,
};

use crate::model::Model;

#[derive(Clone, Debug)]
enum Command {
    Place(BookOrder, MatchPolicy),
    Queue(BookOrder),
    Cancel(u64),
    Replace(u64, i64, u64),
    Requeue(u64, Option<i64>, u64),
    Uncross(i64),
    Auction(i64),
}

/// What a command answers, in one type for all of them.
#[derive(Debug, PartialEq)]
enum Answer {
    Outcome(Result<MatchOutcome, BookReject>),
    Queued(Result<(), BookReject>),
    Cancelled(Result<BookOrder, BookReject>),
    Traded(u64),
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_book_agrees_with_the_slow_one(
        rules in rules(),
        commands in prop::collection::vec(command(), 1..120),
    ) {
        let (mut book, mut model) = (LimitOrderBook::new(rules), Model::new(rules));
        for command in &commands {
            if has_many_parts(&book, command) {
                continue;
            }
            let (mut events, mut expected) = (Vec::new(), Vec::new());
            let answer = tell_book(&mut book, command, &mut events);
            prop_assert_eq!(answer, tell_model(&mut model, command, &mut expected));
            prop_assert_eq!(events, expected);
            compare(&book, &model)?;
        }
    }

    #[test]
    fn a_book_queued_from_its_own_orders_is_the_same_book(
        commands in prop::collection::vec(command(), 1..120),
    ) {
        let mut book = LimitOrderBook::new(BookRules::default());
        for command in &commands {
            if has_many_parts(&book, command) {
                continue;
            }
            tell_book(&mut book, command, &mut Vec::new());
        }
        let mut copy = LimitOrderBook::new(BookRules::default());
        for side in [BookSide::Buy, BookSide::Sell] {
            for order in book.orders(side) {
                prop_assert_eq!(copy.queue(&order), Ok(()));
            }
            prop_assert!(copy.orders(side).eq(book.orders(side)));
        }
    }

    #[test]
    fn an_auction_at_its_price_leaves_no_crossed_book(
        orders in prop::collection::vec(order(), 1..60),
        reference in price(),
    ) {
        let mut book = LimitOrderBook::new(BookRules::default());
        for order in &orders {
            let _ = book.queue(order);
        }
        let Some(found) = book.auction_price(reference) else { return Ok(()) };
        prop_assert_eq!(book.uncross(found.price, &mut |_| ()), found.lots);
        if let (Some(bid), Some(ask)) = (book.best_bid(), book.best_ask()) {
            prop_assert!(bid < ask, "{} stands against {}", bid, ask);
        }
    }
}

/// An iceberg of so many lots would trade for years: a venue limits the parts of one.
const MANY_LOTS: u64 = 1_000;

fn has_many_parts(book: &LimitOrderBook, command: &Command) -> bool {
    let (Command::Replace(key, _, lots) | Command::Requeue(key, _, lots)) = command else { return false };
    *lots > MANY_LOTS && book.get(*key).is_some_and(|order| order.iceberg.is_some())
}

fn tell_book(book: &mut LimitOrderBook, command: &Command, events: &mut Vec<BookEvent>) -> Answer {
    let mut out = |event| events.push(event);
    match *command {
        Command::Place(order, how) => Answer::Outcome(book.place(&order, how, &mut out)),
        Command::Queue(order) => Answer::Queued(book.queue(&order)),
        Command::Cancel(key) => Answer::Cancelled(book.cancel(key)),
        Command::Replace(key, limit, lots) => Answer::Outcome(book.replace(key, limit, lots, &mut out)),
        Command::Requeue(key, limit, lots) => Answer::Queued(book.requeue(key, limit, lots)),
        Command::Uncross(price) => Answer::Traded(book.uncross(price, &mut out)),
        Command::Auction(reference) => {
            let found = book.auction_price(reference);
            Answer::Traded(found.map_or(0, |found| book.uncross(found.price, &mut out)))
        }
    }
}

fn tell_model(model: &mut Model, command: &Command, out: &mut Vec<BookEvent>) -> Answer {
    match *command {
        Command::Place(order, how) => Answer::Outcome(model.place(&order, how, out)),
        Command::Queue(order) => Answer::Queued(model.queue(&order)),
        Command::Cancel(key) => Answer::Cancelled(model.cancel(key)),
        Command::Replace(key, limit, lots) => Answer::Outcome(model.replace(key, limit, lots, out)),
        Command::Requeue(key, limit, lots) => Answer::Queued(model.requeue(key, limit, lots)),
        Command::Uncross(price) => Answer::Traded(model.uncross(price, out)),
        Command::Auction(reference) => {
            let found = model.auction_price(reference);
            Answer::Traded(found.map_or(0, |found| model.uncross(found.price, out)))
        }
    }
}

fn compare(book: &LimitOrderBook, model: &Model) -> Result<(), TestCaseError> {
    for side in [BookSide::Buy, BookSide::Sell] {
        let depth = model.depth(side);
        prop_assert_eq!(book.best(side), depth.first().map(|level| level.price));
        prop_assert_eq!(book.depth(side).collect::<Vec<_>>(), depth);
        prop_assert_eq!(book.orders(side).collect::<Vec<_>>(), model.ranked(side));
        prop_assert_eq!(book.lots(side), model.lots(side));
    }
    for order in model.orders() {
        prop_assert_eq!(book.get(order.key), Some(*order));
        prop_assert_eq!(book.lots_ahead(order.key), model.lots_ahead(order.key));
    }
    prop_assert_eq!(book.len(), model.orders().len());
    for reference in [0, 100, i64::MAX] {
        prop_assert_eq!(book.auction_price(reference), model.auction_price(reference));
    }
    Ok(())
}

fn rules() -> impl Strategy<Value = BookRules> {
    let policy = prop_oneof![Just(SelfTradeRule::CancelNewest), Just(SelfTradeRule::CancelOldest)];
    let most = prop_oneof![Just(BookRules::default().max_orders), 1..12_u32];
    (policy, most).prop_map(|(self_trade, max_orders)| BookRules { self_trade, max_orders })
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        8 => (order(), how()).prop_map(|(order, how)| Command::Place(order, how)),
        4 => order().prop_map(Command::Queue),
        3 => key().prop_map(Command::Cancel),
        5 => (key(), price(), lots()).prop_map(|(k, p, l)| Command::Replace(k, p, l)),
        2 => (key(), limit(), lots()).prop_map(|(k, p, l)| Command::Requeue(k, p, l)),
        1 => price().prop_map(Command::Uncross),
        1 => price().prop_map(Command::Auction),
    ]
}

fn order() -> impl Strategy<Value = BookOrder> {
    let side = prop_oneof![Just(BookSide::Buy), Just(BookSide::Sell)];
    let peak = prop_oneof![3 => Just(None), 1 => (1..20_u64).prop_map(Some)];
    (key(), side, limit(), lots(), 0..4_u32, peak).prop_map(|(key, side, limit, lots, owner, peak)| {
        let peak = peak.filter(|_| lots < MANY_LOTS && limit.is_some());
        let iceberg = peak.map(|peak| Iceberg { shown: peak, peak });
        BookOrder { key, side, limit, lots, owner, iceberg }
    })
}

fn how() -> impl Strategy<Value = MatchPolicy> {
    prop_oneof![
        3 => Just(MatchPolicy::Rest),
        1 => Just(MatchPolicy::PostOnly),
        1 => Just(MatchPolicy::Immediate),
        1 => (1..20_u64).prop_map(MatchPolicy::ImmediateAtLeast),
        1 => Just(MatchPolicy::FillOrKill),
    ]
}

/// Few enough that keys return, and wide enough apart to share places of the index.
fn key() -> impl Strategy<Value = u64> {
    prop_oneof![0..24_u64, (0..8_u64).prop_map(|key| key << 40)]
}

fn limit() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![6 => price().prop_map(Some), 1 => Just(None)]
}

/// Mostly around one price, so that orders meet; sometimes on other pages or at the ends.
fn price() -> impl Strategy<Value = i64> {
    prop_oneof![
        20 => 95..106_i64,
        3 => -200..400_i64,
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(i64::MAX - 1)],
    ]
}

fn lots() -> impl Strategy<Value = u64> {
    prop_oneof![30 => 1..20_u64, 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(u64::MAX / 2)]
}
