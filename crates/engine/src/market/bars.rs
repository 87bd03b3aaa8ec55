//! Bar builder of one security. A price updates the bar of its second; a closed bar is merged into the next size.

use std::collections::VecDeque;
use std::sync::Arc;

use domain::{Bar, BarSize, Event, OpenBar, Price, Quantity, SecurityId, Text, Timestamp};

use crate::outbox::Outbox;

/// Closed bars kept for each size, and fewer of the shortest, of which there are most.
const BARS_KEPT: usize = 1_000;
const SECOND_BARS_KEPT: usize = 300;

const SIZES: usize = BarSize::ALL.len();

#[derive(Debug, Clone)]
pub(super) struct BarBuilder {
    security: SecurityId,
    open: [Option<OpenBar>; SIZES],
    closed: [VecDeque<Arc<Bar>>; SIZES],
    next_close: Timestamp,
}

impl BarBuilder {
    pub(super) fn new(security: SecurityId) -> Self {
        Self { security, open: Default::default(), closed: Default::default(), next_close: Timestamp(i64::MAX) }
    }

    /// When the first of the open bars ends.
    pub(super) fn next_close(&self) -> Timestamp {
        self.next_close
    }

    pub(super) fn add(
        &mut self,
        price: Price,
        quantity: Option<Quantity>,
        feed: &Text,
        at: Timestamp,
        out: &mut Outbox,
    ) {
        self.close_until(at, out);
        let [second, ..] = &mut self.open;
        match second {
            Some(forming) => forming.add_price(price),
            None => {
                let forming = second.insert(OpenBar::new(price, feed.clone(), BarSize::Sec1, at));
                self.next_close = self.next_close.min(forming.end());
            }
        }
        if let (Some(forming), Some(quantity)) = (second, quantity) {
            forming.add_volume(price, quantity);
        }
    }

    /// Closes, from short to long, the bars whose span is over.
    pub(super) fn close_until(&mut self, at: Timestamp, out: &mut Outbox) {
        if at < self.next_close {
            return;
        }
        for place in 0..SIZES {
            if let Some(over) = self.open[place].take_if(|forming| forming.end() <= at) {
                self.merge_into(place + 1, &over);
                self.close(place, over.into_bar(self.security), out);
            }
        }
        self.next_close = self.open.iter().flatten().map(OpenBar::end).min().unwrap_or(Timestamp(i64::MAX));
    }

    fn merge_into(&mut self, place: usize, part: &OpenBar) {
        let Some(size) = BarSize::ALL.get(place) else { return };
        match &mut self.open[place] {
            Some(forming) => forming.merge(part),
            nothing => *nothing = Some(part.lengthened(*size)),
        }
    }

    fn close(&mut self, place: usize, bar: Bar, out: &mut Outbox) {
        let kept = if bar.size == BarSize::Sec1 { SECOND_BARS_KEPT } else { BARS_KEPT };
        let bar = Arc::new(bar);
        let closed = &mut self.closed[place];
        if closed.len() == kept {
            closed.pop_front();
        }
        closed.push_back(bar.clone());
        out.publish(Event::Bar(bar));
    }

    pub(super) fn closed(&self, size: BarSize) -> Vec<Arc<Bar>> {
        let place = BarSize::ALL.iter().position(|known| *known == size);
        place.map_or(Vec::new(), |place| self.closed[place].iter().cloned().collect())
    }
}
