//! Seeded gaps: whatever gets lost, the book is told to be broken with the next difference, is never crossed, and equals
//! the venue's after every resync.

use adapter_binance::depth_book::{DepthBook, DepthStep};
use adapter_binance::protocol::market_answers::DepthSnapshot;
use adapter_binance::protocol::market_events::DepthDifference;

use crate::lossy_venue::{Seeded, TrueBook};

/// Differences of the whole test; `DEPTH_UPDATES` sets another number.
const UPDATES: u64 = 100_000;
const UPDATES_OF_A_SEED: u64 = 10_000;

fn updates() -> u64 {
    std::env::var("DEPTH_UPDATES").ok().and_then(|text| text.parse().ok()).unwrap_or(UPDATES)
}

/// Everything that happened, so that the test shows that it tested something.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    lost: u64,
    repeated: u64,
    gaps: u64,
    resyncs: u64,
    stale: u64,
}

struct Line {
    truth: TrueBook,
    book: DepthBook,
    random: Seeded,
    /// A snapshot that was asked for and is on its way; it may be older than what comes before it.
    pending: Option<(u64, DepthSnapshot)>,
    /// The newest update that was lost.
    newest_lost: i64,
    seen: Seen,
}

#[test]
fn a_lossy_line_never_shows_a_wrong_book() {
    let seeds = updates().div_ceil(UPDATES_OF_A_SEED);
    let mut total = Seen::default();
    for seed in 0..seeds {
        let mut line = Line::new(seed);
        for step in 0..UPDATES_OF_A_SEED {
            line.step(seed, step);
        }
        let Seen { lost, repeated, gaps, resyncs, stale } = line.seen;
        total.lost += lost;
        total.repeated += repeated;
        total.gaps += gaps;
        total.resyncs += resyncs;
        total.stale += stale;
    }
    println!("{total:?}");
    assert!(
        total.gaps > seeds && total.resyncs > total.gaps / 2 && total.repeated > seeds && total.stale > 0,
        "{total:?}"
    );
}

impl Line {
    fn new(seed: u64) -> Self {
        let (truth, book) = (TrueBook::default(), DepthBook::default());
        Self { truth, book, random: Seeded(seed), pending: None, newest_lost: 0, seen: Seen::default() }
    }

    fn limit(&self) -> usize {
        // The smaller one cuts the book, so that levels beyond its edge are not known.
        if self.truth.update % 2 == 0 { 5_000 } else { 8 }
    }

    fn step(&mut self, seed: u64, step: u64) {
        let difference = self.truth.change(&mut self.random);
        match self.random.below(100) {
            0..=1 => {
                self.seen.lost += 1;
                self.newest_lost = difference.last;
            }
            2..=3 => {
                self.seen.repeated += 1;
                self.deliver(difference.clone(), (seed, step));
                self.deliver(difference, (seed, step));
            }
            _ => self.deliver(difference, (seed, step)),
        }
        self.follow_snapshot((seed, step));
    }

    fn deliver(&mut self, difference: DepthDifference, place: (u64, u64)) {
        let is_broken = self.book.last_update().is_some_and(|last| last < self.newest_lost);
        let told = self.book.on_difference(difference);
        match told {
            DepthStep::Discarded(_) => {
                self.seen.gaps += 1;
                assert!(is_broken, "{place:?}: {told:?} without a loss");
                assert!(!self.book.is_ready());
            }
            _ => assert!(!is_broken, "{place:?}: a loss was not told, but {told:?}"),
        }
        self.compare(place);
    }

    /// Asks for a snapshot where there is no book; it comes a few differences later, as it was when it was asked for.
    fn follow_snapshot(&mut self, place: (u64, u64)) {
        match self.pending.take() {
            None if !self.book.is_ready() => {
                let snapshot = self.truth.snapshot(self.limit());
                self.pending = Some((self.random.below(6), snapshot));
            }
            Some((0, snapshot)) => {
                let limit = if snapshot.bids.len() == 8 || snapshot.asks.len() == 8 { 8 } else { 5_000 };
                match self.book.on_snapshot(&snapshot, limit) {
                    DepthStep::Updated => self.seen.resyncs += 1,
                    DepthStep::StaleSnapshot => self.seen.stale += 1,
                    other => panic!("{place:?}: {other:?}"),
                }
                self.compare(place);
            }
            Some((steps, snapshot)) => self.pending = Some((steps - 1, snapshot)),
            None => {}
        }
    }

    /// The book shows the venue's levels, as far as it knows them all.
    fn compare(&self, place: (u64, u64)) {
        if !self.book.is_ready() {
            return;
        }
        let (bid, ask) = (self.book.best_bid(), self.book.best_ask());
        assert!(bid.zip(ask).is_none_or(|(bid, ask)| bid.price < ask.price), "{place:?}: crossed");
        if self.book.last_update() != Some(self.truth.update) {
            return;
        }
        // The whole book now and then: it takes long.
        let is_whole = place.1.is_multiple_of(8);
        let levels = if is_whole { usize::MAX } else { 10 };
        let truth = self.truth.snapshot(levels);
        let bids: Vec<_> = self.book.bids().take(levels).collect();
        let asks: Vec<_> = self.book.asks().take(levels).collect();
        assert_eq!(bids, truth.bids[..bids.len()], "{place:?}");
        assert_eq!(asks, truth.asks[..asks.len()], "{place:?}");
        if is_whole && !self.book.is_thin(usize::MAX) {
            assert_eq!((bids.len(), asks.len()), (truth.bids.len(), truth.asks.len()), "{place:?}");
        }
    }
}
