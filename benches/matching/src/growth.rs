//! How our book grows: bytes per resting order, and what an order costs in a small and in a huge book.

use std::time::Instant;

use venue_sim::book::{ANONYMOUS, Book, How, Order, Rules, Side};

use crate::measure::resident_bytes;
use crate::stream::Chance;

const MIDDLE: i64 = 100_000_000;
const SIZES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Ticks from the middle over which the orders of a side are spread: a usual book and a wide one.
const SPREADS: [u64; 2] = [2_000, 1_000_000];
/// Orders from which on the kernel's count of resident memory is shown.
const RESIDENT_FROM: u64 = 1_000_000;
/// Commands per measurement at each size.
const SAMPLE: u64 = 200_000;

pub fn print_table() {
    println!("| resting orders | ticks a side | bytes/order | resident | ns/place | ns/replace | ns/cancel |");
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    for spread in SPREADS {
        for size in SIZES {
            print_row(size, spread);
        }
    }
}

fn print_row(size: u64, spread: u64) {
    let mut chance = Chance::new();
    let mut book = Book::new(Rules::default());
    let before = resident_bytes();
    let place = per_order(size, |key| place(&mut book, &mut chance, key, spread));
    let counted = book.bytes() as u64 / size;
    let resident = resident_per_order(before, size);
    let replace = per_order(SAMPLE, |_| shift(&mut book, &mut chance, size, spread));
    let sample = SAMPLE.min(size);
    let cancel = per_order(sample, |turn| cancel(&mut book, turn * (size / sample)));
    println!("| {size} | {spread} | {counted} | {resident} | {place:.0} | {replace:.0} | {cancel:.0} |");
}

/// A small book fits into memory that the process held already, so the kernel's word says nothing.
fn resident_per_order(before: usize, size: u64) -> String {
    if size < RESIDENT_FROM {
        return "-".to_owned();
    }
    (resident_bytes().saturating_sub(before) as u64 / size).to_string()
}

fn per_order(times: u64, mut act: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    for turn in 0..times {
        act(turn);
    }
    start.elapsed().as_secs_f64() * 1e9 / times as f64
}

fn place(book: &mut Book, chance: &mut Chance, key: u64, spread: u64) {
    let side = side_of(key);
    let limit = Some(passive(side, chance, spread));
    let order = Order { key, side, limit, lots: 10, owner: ANONYMOUS };
    book.place(&order, How::Rest, &mut |_| ()).expect("a good order");
}

fn shift(book: &mut Book, chance: &mut Chance, size: u64, spread: u64) {
    let key = chance.below(size);
    let side = side_of(key);
    let limit = passive(side, chance, spread);
    book.replace(key, limit, 10, &mut |_| ()).expect("a resting order");
}

fn cancel(book: &mut Book, key: u64) {
    book.cancel(key).expect("a resting order");
}

fn side_of(key: u64) -> Side {
    if key.is_multiple_of(2) { Side::Buy } else { Side::Sell }
}

fn passive(side: Side, chance: &mut Chance, spread: u64) -> i64 {
    let away = 1 + chance.below(spread).cast_signed();
    match side {
        Side::Buy => MIDDLE - away,
        Side::Sell => MIDDLE + away,
    }
}
