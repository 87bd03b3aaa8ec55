//! Many sources in the order of time. At the same instant the source that was named first comes first, and rows of one
//! source keep their order, so that every run sees the same sequence.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use domain::Timestamp;

use super::{BadData, Recorded, Source};

pub struct Merge {
    sources: Vec<Box<dyn Source>>,
    /// The next of each source.
    heads: Vec<Option<Recorded>>,
    /// By instant, then by the place of the source.
    order: BinaryHeap<Reverse<(Timestamp, usize)>>,
}

impl Merge {
    pub fn new(sources: Vec<Box<dyn Source>>) -> Result<Self, BadData> {
        let heads = sources.iter().map(|_| None).collect();
        let mut merge = Self { sources, heads, order: BinaryHeap::new() };
        for place in 0..merge.sources.len() {
            merge.refill(place)?;
        }
        Ok(merge)
    }

    fn refill(&mut self, place: usize) -> Result<(), BadData> {
        self.heads[place] = self.sources[place].next()?;
        if let Some(head) = &self.heads[place] {
            self.order.push(Reverse((head.at(), place)));
        }
        Ok(())
    }
}

impl Source for Merge {
    fn next(&mut self) -> Result<Option<Recorded>, BadData> {
        let Some(Reverse((_, place))) = self.order.pop() else { return Ok(None) };
        let next = self.heads[place].take();
        self.refill(place)?;
        Ok(next)
    }

    fn progress(&self) -> (u64, u64) {
        let parts = self.sources.iter().map(|source| source.progress());
        parts.fold((0, 0), |(read, total), (part, whole)| (read + part, total + whole))
    }
}
