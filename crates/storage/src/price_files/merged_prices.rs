//! Merge of price files by time, in a fixed order. At the same instant the file that was named first comes first, and
//! rows of one file keep their order, so that every run gets the same sequence. Bars of one security and size may come
//! from several files, one after the other, without overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use domain::{Bar, Timestamp};

use super::{CsvSource, InvalidPriceData, PriceFileKind, PriceRecord, PriceSource};

pub struct MergedPrices {
    sources: Vec<CsvSource>,
    /// The next of each source.
    heads: Vec<Option<PriceRecord>>,
    /// By instant, then by the place of the source.
    order: BinaryHeap<Reverse<(Timestamp, usize)>>,
    /// For each source the first one that has bars of the same security and size.
    series: Vec<usize>,
    /// By the first source of a series: when its newest bar is over, and which source it is from.
    newest: Vec<(Timestamp, usize)>,
}

impl MergedPrices {
    pub fn new(sources: Vec<CsvSource>) -> Result<Self, InvalidPriceData> {
        let heads = sources.iter().map(|_| None).collect();
        let series = (0..sources.len()).map(|place| first_of_series(&sources, place)).collect();
        let newest = vec![(Timestamp(i64::MIN), 0); sources.len()];
        let mut merge = Self { sources, heads, order: BinaryHeap::new(), series, newest };
        for place in 0..merge.sources.len() {
            merge.refill(place)?;
        }
        Ok(merge)
    }

    /// The source is still at the line of this bar.
    fn check_overlap(&mut self, place: usize, bar: &Bar) -> Result<(), InvalidPriceData> {
        let (over, from) = &mut self.newest[self.series[place]];
        if bar.at < *over {
            let earlier = self.sources[*from].sheet.name();
            let reason = format!("is within a bar of {} of the same security from {earlier}", bar.size.name());
            return Err(self.sources[place].sheet.bad("dateTime", reason));
        }
        (*over, *from) = (bar.at.plus_seconds(bar.size.seconds()), place);
        Ok(())
    }

    fn refill(&mut self, place: usize) -> Result<(), InvalidPriceData> {
        self.heads[place] = self.sources[place].next()?;
        if let Some(head) = &self.heads[place] {
            self.order.push(Reverse((head.at(), place)));
        }
        Ok(())
    }
}

impl PriceSource for MergedPrices {
    fn next(&mut self) -> Result<Option<PriceRecord>, InvalidPriceData> {
        let Some(Reverse((_, place))) = self.order.pop() else { return Ok(None) };
        let next = self.heads[place].take();
        if let Some(PriceRecord::Bar(bar)) = &next {
            self.check_overlap(place, bar)?;
        }
        self.refill(place)?;
        Ok(next)
    }

    fn progress(&self) -> (u64, u64) {
        let parts = self.sources.iter().map(PriceSource::progress);
        parts.fold((0, 0), |(read, total), (part, whole)| (read + part, total + whole))
    }
}

fn first_of_series(sources: &[CsvSource], place: usize) -> usize {
    let CsvSource { kind, security, .. } = &sources[place];
    let is_alike = |other: &CsvSource| other.kind == *kind && other.security == *security;
    match kind {
        PriceFileKind::Bar(_) => sources.iter().position(is_alike).unwrap_or(place),
        PriceFileKind::Tick | PriceFileKind::Trade | PriceFileKind::Book => place,
    }
}
