//! Price levels of one side, best first.
//!
//! Levels are kept in pages of 64 neighbouring ranks with one bit each, and a tree leads to the pages. A busy book has
//! a few pages, so the tree is one node; an outlying price costs only one page.

use std::collections::BTreeMap;

use super::slab::{NONE, Slab};

const PAGE_BITS: u32 = 6;
const PAGE_LEVELS: usize = 1 << PAGE_BITS;
const PLACE_MASK: u64 = (1 << PAGE_BITS) - 1;

/// A level and its rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct PriceLevel {
    pub(super) rank: i64,
    pub(super) level: u32,
}

#[derive(Debug)]
struct LevelPage {
    occupied: u64,
    levels: [u32; PAGE_LEVELS],
}

#[derive(Debug)]
pub(super) struct PriceLadder {
    directory: BTreeMap<i64, u32>,
    pages: Slab<LevelPage>,
    best: Option<PriceLevel>,
}

impl PriceLadder {
    pub(super) fn new() -> Self {
        PriceLadder { directory: BTreeMap::new(), pages: Slab::new(), best: None }
    }

    pub(super) fn best(&self) -> Option<PriceLevel> {
        self.best
    }

    pub(super) fn get(&self, rank: i64) -> Option<u32> {
        let page = self.directory.get(&page_of(rank))?;
        let level = self.pages[*page].levels[bit_of(rank)];
        (level != NONE).then_some(level)
    }

    /// The rank must be free.
    pub(super) fn insert(&mut self, rank: i64, level: u32) {
        let id = self.page_for(rank);
        let page = &mut self.pages[id];
        page.levels[bit_of(rank)] = level;
        page.occupied |= 1 << bit_of(rank);
        if self.best.is_none_or(|best| rank < best.rank) {
            self.best = Some(PriceLevel { rank, level });
        }
    }

    /// The rank must be taken.
    pub(super) fn remove(&mut self, rank: i64) {
        let number = page_of(rank);
        let id = self.directory[&number];
        let page = &mut self.pages[id];
        page.levels[bit_of(rank)] = NONE;
        page.occupied &= !(1 << bit_of(rank));
        if page.occupied == 0 {
            self.directory.remove(&number);
            self.pages.release(id);
        }
        if self.best.is_some_and(|best| best.rank == rank) {
            let next = self.iter().next();
            self.best = next;
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = PriceLevel> {
        self.directory.iter().flat_map(|(number, id)| {
            let page = &self.pages[*id];
            SetBits(page.occupied).map(move |place| PriceLevel {
                rank: (number << PAGE_BITS) | i64::from(place),
                level: page.levels[place as usize],
            })
        })
    }

    /// The tree's own nodes are counted as two words of 8 bytes per page, at the half-full worst.
    pub(super) fn bytes(&self) -> usize {
        self.pages.bytes() + self.directory.len() * 32
    }

    fn page_for(&mut self, rank: i64) -> u32 {
        let pages = &mut self.pages;
        *self
            .directory
            .entry(page_of(rank))
            .or_insert_with(|| pages.insert(LevelPage { occupied: 0, levels: [NONE; PAGE_LEVELS] }))
    }
}

fn page_of(rank: i64) -> i64 {
    rank >> PAGE_BITS
}

fn bit_of(rank: i64) -> usize {
    (rank.cast_unsigned() & PLACE_MASK) as usize
}

/// The set bits of a page, from either end.
struct SetBits(u64);

impl Iterator for SetBits {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let place = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (place < u64::BITS).then_some(place)
    }
}

impl DoubleEndedIterator for SetBits {
    fn next_back(&mut self) -> Option<u32> {
        let place = self.0.checked_ilog2()?;
        self.0 &= !(1 << place);
        Some(place)
    }
}
