//! Replay venues, driven by recorded prices.

use domain::report::Report;
use domain::{AdapterName, Bar, BarSize, Instruction, SecurityId, SecurityMap, Timestamp};
use storage::price_files::PriceRecord;
use venue_sim::replay::{ReplayVenue, TimedReport};

#[derive(Debug, Default)]
pub(super) struct ReplayVenues {
    venues: Vec<(AdapterName, ReplayVenue)>,
    /// Venue of a security.
    venue_by_security: SecurityMap<usize>,
    /// The bar size that its venue uses; none where it uses none.
    bar_sizes: SecurityMap<BarSize>,
}

impl ReplayVenues {
    pub(super) fn add(&mut self, adapter: AdapterName, venue: ReplayVenue, securities: &[SecurityId]) {
        for security in securities {
            self.venue_by_security.insert(*security, self.venues.len());
        }
        self.venues.push((adapter, venue));
    }

    /// From now on the venue of a security gets its bars of that size, and no others.
    pub(super) fn set_bar_size(&mut self, security: SecurityId, size: BarSize) {
        self.bar_sizes.insert(security, size);
    }

    #[inline]
    pub(super) fn on_price(&mut self, at: Timestamp, recorded: &PriceRecord) {
        let Some(place) = self.venue_by_security.get(recorded.security()) else { return };
        let venue = &mut self.venues[place].1;
        match recorded {
            PriceRecord::Tick(tick) => venue.on_tick(at, tick),
            PriceRecord::Trade(trade) => venue.on_trade(at, trade),
            PriceRecord::Book(book) => venue.on_book(at, book),
            PriceRecord::Bar(bar) if self.bar_sizes.get(bar.security) == Some(bar.size) => venue.on_bar_open(at, bar),
            PriceRecord::Bar(_) => {}
        }
    }

    pub(super) fn close_bar(&mut self, at: Timestamp, bar: &Bar) {
        let is_shown = self.bar_sizes.get(bar.security) == Some(bar.size);
        if let Some(place) = self.venue_by_security.get(bar.security).filter(|_| is_shown) {
            self.venues[place].1.on_bar_close(at, bar);
        }
    }

    pub(super) fn send(&mut self, at: Timestamp, adapter: &AdapterName, instruction: &Instruction) {
        let Some((_, venue)) = self.venues.iter_mut().find(|(name, _)| name == adapter) else { return };
        match instruction {
            Instruction::Submit(order) => venue.submit(at, order),
            Instruction::Replace(order, terms) => venue.replace(at, order, *terms),
            Instruction::Cancel(order) => venue.cancel(at, order),
            // It loses nothing and answers everything, only later.
            Instruction::Inquire(_) | Instruction::AskStatement(_) => {}
            // It replaces in place, so no order has legs.
            Instruction::CancelLeg(..) => {}
            Instruction::ListOpenOrders | Instruction::ListFills { .. } => {}
            // Every recorded price is played anyway, and the venue is always connected.
            Instruction::Subscribe(_) | Instruction::Unsubscribe(_) | Instruction::LogOn => {}
        }
    }

    pub(super) fn advance(&mut self, to: Timestamp) {
        self.venues.iter_mut().for_each(|(_, venue)| venue.advance(to));
    }

    /// The next report that has arrived by then, venue by venue.
    pub(super) fn next_report(&mut self, by: Timestamp) -> Option<Report> {
        self.venues.iter_mut().find_map(|(adapter, venue)| {
            let TimedReport { kind: said, at } = venue.next_report(by)?;
            Some(Report { adapter: adapter.clone(), ext_at: Some(at), kind: said })
        })
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.venues.iter().filter_map(|(_, venue)| venue.next_due()).min()
    }

    /// Whether a venue has reports or tasks.
    #[inline]
    pub(super) fn has_work(&self) -> bool {
        self.venues.iter().any(|(_, venue)| venue.has_work())
    }
}
