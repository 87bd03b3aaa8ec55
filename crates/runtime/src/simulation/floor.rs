//! Replay venues, driven by recorded prices.

use domain::report::Report;
use domain::{AdapterName, Bar, BarSize, BySecurity, Instruction, SecurityId, Timestamp};
use storage::history::Recorded;
use venue_sim::replay::{Replay, Spoken};

#[derive(Debug, Default)]
pub(super) struct Floor {
    venues: Vec<(AdapterName, Replay)>,
    /// Venue of a security.
    places: BySecurity<usize>,
    /// The bar size that its venue uses; none where it uses none.
    bars: BySecurity<BarSize>,
}

impl Floor {
    pub(super) fn add(&mut self, adapter: AdapterName, venue: Replay, securities: &[SecurityId]) {
        for security in securities {
            self.places.insert(*security, self.venues.len());
        }
        self.venues.push((adapter, venue));
    }

    /// From now on the venue of a security gets its bars of that size, and no others.
    pub(super) fn show_bars(&mut self, security: SecurityId, size: BarSize) {
        self.bars.insert(security, size);
    }

    #[inline]
    pub(super) fn show(&mut self, at: Timestamp, recorded: &Recorded) {
        let Some(place) = self.places.get(recorded.security()) else { return };
        let venue = &mut self.venues[place].1;
        match recorded {
            Recorded::Tick(tick) => venue.tick(at, tick),
            Recorded::Trade(trade) => venue.trade(at, trade),
            Recorded::Book(book) => venue.book(at, book),
            Recorded::Bar(bar) if self.bars.get(bar.security) == Some(bar.size) => venue.bar_opens(at, bar),
            Recorded::Bar(_) => {}
        }
    }

    pub(super) fn close_bar(&mut self, at: Timestamp, bar: &Bar) {
        let is_shown = self.bars.get(bar.security) == Some(bar.size);
        if let Some(place) = self.places.get(bar.security).filter(|_| is_shown) {
            self.venues[place].1.bar_closes(at, bar);
        }
    }

    pub(super) fn instruct(&mut self, at: Timestamp, adapter: &AdapterName, instruction: &Instruction) {
        let Some((_, venue)) = self.venues.iter_mut().find(|(name, _)| name == adapter) else { return };
        match instruction {
            Instruction::Submit(order) => venue.submit(at, order),
            Instruction::Replace(order, terms) => venue.replace(at, order, *terms),
            Instruction::Cancel(order) => venue.cancel(at, order),
            // Every recorded price is played anyway, and the venue is always connected.
            Instruction::Subscribe(_) | Instruction::Unsubscribe(_) | Instruction::LogOn => {}
        }
    }

    pub(super) fn advance(&mut self, to: Timestamp) {
        self.venues.iter_mut().for_each(|(_, venue)| venue.advance(to));
    }

    /// The next report that has arrived by then, venue by venue.
    pub(super) fn heard(&mut self, by: Timestamp) -> Option<Report> {
        self.venues.iter_mut().find_map(|(adapter, venue)| {
            let Spoken { said, at } = venue.heard(by)?;
            Some(Report { adapter: adapter.clone(), ext_at: Some(at), said })
        })
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.venues.iter().filter_map(|(_, venue)| venue.next_due()).min()
    }

    /// Whether a venue has reports or tasks.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.venues.iter().any(|(_, venue)| venue.is_busy())
    }
}
