//! Each rule of the documentation as a story.

use adapter_binance::depth_book::{BUFFERED_DIFFERENCES_MAX, DepthBook, DepthGap, DepthStep};
use adapter_binance::protocol::market_answers::{DepthSnapshot, WireLevel};
use adapter_binance::protocol::market_events::DepthDifference;
use adapter_binance::protocol::wire_values::WireInteger;

/// `"10x1 9x2"`: price and quantity.
fn levels(text: &str) -> Vec<WireLevel> {
    let level = |text: &str| {
        let (price, quantity) = text.split_once('x').unwrap();
        WireLevel { price: price.parse().unwrap(), quantity: quantity.parse().unwrap() }
    };
    text.split_whitespace().map(level).collect()
}

fn snapshot(last: i64, bids: &str, asks: &str) -> DepthSnapshot {
    DepthSnapshot { last_update: WireInteger(last), bids: levels(bids), asks: levels(asks) }
}

fn difference(first: i64, last: i64, bids: &str, asks: &str) -> DepthDifference {
    let (bids, asks) = (levels(bids), levels(asks));
    DepthDifference { symbol: "BNBBTC".to_owned(), at: WireInteger(0), first, last, bids, asks }
}

fn shown(book: &DepthBook) -> String {
    let side = |levels: Vec<WireLevel>| {
        let texts: Vec<_> = levels.iter().map(|level| format!("{}x{}", level.price, level.quantity)).collect();
        texts.join(" ")
    };
    format!("{:?} {} | {}", book.last_update(), side(book.bids().collect()), side(book.asks().collect()))
}

/// A book at update 100.
fn book() -> DepthBook {
    let mut book = DepthBook::default();
    assert_eq!(book.on_snapshot(&snapshot(100, "9x2 8x3", "11x1 12x4"), 5_000), DepthStep::Updated);
    book
}

#[test]
fn differences_before_the_snapshot_wait_and_follow_it() {
    let mut book = DepthBook::default();
    assert_eq!(book.on_difference(difference(90, 95, "9x7", "")), DepthStep::Buffered);
    assert_eq!(book.on_difference(difference(96, 101, "9x5", "11x0")), DepthStep::Buffered);
    assert_eq!(book.on_difference(difference(102, 103, "10x1", "")), DepthStep::Buffered);
    assert!(!book.is_ready());
    assert_eq!(book.on_snapshot(&snapshot(100, "9x2 8x3", "11x1 12x4"), 5_000), DepthStep::Updated);
    assert_eq!(shown(&book), "Some(103) 10x1 9x5 8x3 | 12x4");
}

#[test]
fn a_snapshot_older_than_the_first_difference_is_stale() {
    let mut book = DepthBook::default();
    book.on_difference(difference(102, 105, "9x7", ""));
    assert_eq!(book.on_snapshot(&snapshot(100, "9x2", "11x1"), 5_000), DepthStep::StaleSnapshot);
    assert!(!book.is_ready());
    // Its successor continues where the difference begins.
    assert_eq!(book.on_snapshot(&snapshot(101, "9x2", "11x1"), 5_000), DepthStep::Updated);
    assert_eq!(shown(&book), "Some(105) 9x7 | 11x1");
}

#[test]
fn a_difference_that_follows_sets_and_removes_levels() {
    let mut book = book();
    assert_eq!(book.on_difference(difference(101, 104, "9x0 8.5x1 7x0", "11x6")), DepthStep::Updated);
    assert_eq!(shown(&book), "Some(104) 8.5x1 8x3 | 11x6 12x4");
    assert_eq!(book.on_difference(difference(103, 104, "9x1", "")), DepthStep::Known);
    // One that overlaps is applied: quantities are absolute.
    assert_eq!(book.on_difference(difference(103, 106, "9x4", "")), DepthStep::Updated);
    assert_eq!(shown(&book), "Some(106) 9x4 8.5x1 8x3 | 11x6 12x4");
}

#[test]
fn a_missing_difference_is_told_by_the_next_one() {
    let mut book = book();
    let gap = DepthGap::Missed { after: 100, before: 103 };
    assert_eq!(gap.to_string(), "the updates between 100 and 103 did not come");
    assert_eq!(book.on_difference(difference(103, 104, "9x4", "")), DepthStep::Discarded(gap));
    assert!(!book.is_ready());
    assert_eq!((book.best_bid(), book.best_ask()), (None, None));
    // The difference that showed the gap waits for the snapshot already.
    assert_eq!(book.on_snapshot(&snapshot(102, "9x2", "11x1"), 5_000), DepthStep::Updated);
    assert_eq!(shown(&book), "Some(104) 9x4 | 11x1");
}

#[test]
fn a_hole_between_waiting_differences_needs_a_newer_snapshot() {
    let mut book = DepthBook::default();
    book.on_difference(difference(101, 102, "9x1", ""));
    book.on_difference(difference(105, 106, "9x2", ""));
    assert_eq!(book.on_snapshot(&snapshot(101, "", ""), 5_000), DepthStep::StaleSnapshot);
    assert_eq!(book.on_snapshot(&snapshot(104, "", ""), 5_000), DepthStep::Updated);
    assert_eq!(shown(&book), "Some(106) 9x2 | ");
}

#[test]
fn a_book_that_would_be_crossed_is_discarded() {
    let mut book = book();
    let step = book.on_difference(difference(101, 101, "11x1", ""));
    assert_eq!(step, DepthStep::Discarded(DepthGap::Crossed { bid: 11.into(), ask: 11.into() }));
    let mut fresh = DepthBook::default();
    let step = fresh.on_snapshot(&snapshot(5, "12x1", "11x1"), 5_000);
    assert_eq!(step, DepthStep::Discarded(DepthGap::Crossed { bid: 12.into(), ask: 11.into() }));
    assert!(!fresh.is_ready());
}

#[test]
fn a_difference_that_contradicts_itself_is_a_gap() {
    let mut backwards = book();
    let step = backwards.on_difference(difference(104, 101, "9x4", ""));
    assert_eq!(step, DepthStep::Discarded(DepthGap::Malformed { update: 104 }));
    let mut negative = book();
    let step = negative.on_difference(difference(101, 101, "9x-4", ""));
    assert_eq!(step, DepthStep::Discarded(DepthGap::Malformed { update: 101 }));
}

#[test]
fn an_older_snapshot_does_not_turn_the_book_back() {
    let mut book = book();
    book.on_difference(difference(101, 104, "9x0", ""));
    assert_eq!(book.on_snapshot(&snapshot(103, "5x5", "6x6"), 5_000), DepthStep::Known);
    assert_eq!(shown(&book), "Some(104) 8x3 | 11x1 12x4");
}

#[test]
fn levels_beyond_a_snapshot_that_was_cut_are_not_shown() {
    let mut book = DepthBook::default();
    book.on_snapshot(&snapshot(100, "9x2 8x3", "11x1 12x4"), 2);
    book.on_difference(difference(101, 101, "7x1 9x0", "10x1 15x1"));
    assert_eq!(shown(&book), "Some(101) 8x3 | 10x1 11x1 12x4");
    assert!(book.is_thin(2));
    assert!(!book.is_thin(1));
    // A snapshot with fewer levels than were asked for has them all.
    assert!(!self::book().is_thin(50));
}

#[test]
fn what_waits_is_bounded() {
    let mut book = DepthBook::default();
    let many = i64::try_from(BUFFERED_DIFFERENCES_MAX).unwrap() + 10;
    for update in 1..=many {
        book.on_difference(difference(update, update, "9x1", ""));
    }
    assert_eq!(book.on_snapshot(&snapshot(9, "", ""), 5_000), DepthStep::StaleSnapshot);
    assert_eq!(book.on_snapshot(&snapshot(10, "", ""), 5_000), DepthStep::Updated);
    assert_eq!(book.last_update(), Some(many));
}
