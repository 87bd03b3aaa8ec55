//! A book as a subscriber sees it: a snapshot, the changes since, and what of them is within its depth.

use std::collections::BTreeMap;

use venue_sim::book::BookSide;

use crate::exchange::{SpotExchange, Units, VenueEvent};

/// A price and what is there.
pub(crate) type Level = (Units, Units);

/// The book of a market for one request.
#[derive(Debug)]
pub(crate) struct BookSnapshot {
    pub(crate) request: Vec<u8>,
    pub(crate) market: usize,
    pub(crate) update_id: u64,
    levels: [Vec<Level>; 2],
    pub(crate) last: Level,
    pub(crate) time_micros: i64,
    pub(crate) trade_id: u64,
}

impl BookSnapshot {
    pub(crate) fn take(exchange: &SpotExchange, request: Vec<u8>, market: usize) -> Self {
        let state = &exchange.markets[market];
        let side = |side: BookSide| -> Vec<Level> {
            let level = |price: i64, lots: u64| (state.rules.price(price), state.rules.quantity(lots));
            state.book.depth(side).map(|entry| level(entry.price, entry.lots)).collect()
        };
        let last = state.trades.back();
        Self {
            request,
            market,
            update_id: state.update_id,
            levels: [side(BookSide::Buy), side(BookSide::Sell)],
            last: (state.last, last.map_or(Units::ZERO, |trade| trade.quantity)),
            time_micros: last.map_or(0, |trade| trade.time_micros),
            trade_id: last.map_or(0, |trade| trade.id),
        }
    }
}

/// What happens to a level: MDUpdateAction (279).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LevelAction {
    New,
    Change,
    Delete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelChange {
    pub(crate) action: LevelAction,
    pub(crate) side: BookSide,
    pub(crate) price: Units,
    pub(crate) quantity: Units,
}

#[derive(Debug, Default)]
pub(crate) struct BookView {
    update_id: u64,
    /// Levels that are shown of each side; all where it is 0.
    depth: usize,
    sides: [BTreeMap<Units, Units>; 2],
}

const SIDES: [BookSide; 2] = [BookSide::Buy, BookSide::Sell];

impl BookView {
    pub(crate) fn new(snapshot: &BookSnapshot, depth: usize) -> Self {
        let sides = snapshot.levels.clone().map(|levels| levels.into_iter().collect());
        Self { update_id: snapshot.update_id, depth, sides }
    }

    /// The best level first.
    pub(crate) fn shown(&self, side: BookSide) -> Vec<Level> {
        let most = if self.depth == 0 { usize::MAX } else { self.depth };
        let level = |(price, quantity): (&Units, &Units)| (*price, *quantity);
        match side {
            BookSide::Buy => self.sides[0].iter().rev().map(level).take(most).collect(),
            BookSide::Sell => self.sides[1].iter().map(level).take(most).collect(),
        }
    }

    /// Applies a change of the book; what of it is seen within the depth. A change from before the snapshot is in it.
    pub(crate) fn apply(&mut self, event: &VenueEvent) -> Vec<LevelChange> {
        let VenueEvent::Depth { last_update, changes, .. } = event else { return Vec::new() };
        if *last_update <= self.update_id {
            return Vec::new();
        }
        self.update_id = *last_update;
        let before = SIDES.map(|side| self.shown(side));
        for (side, price, quantity) in changes {
            let levels = &mut self.sides[usize::from(*side == BookSide::Sell)];
            if quantity.is_zero() {
                levels.remove(price);
            } else {
                levels.insert(*price, *quantity);
            }
        }
        let sides = SIDES.into_iter().zip(&before);
        sides.flat_map(|(side, before)| compare(side, before, &self.shown(side))).collect()
    }
}

/// Deletions first, so that a book of fixed depth is never too deep.
pub(crate) fn compare(side: BookSide, before: &[Level], after: &[Level]) -> Vec<LevelChange> {
    let before: BTreeMap<Units, Units> = before.iter().copied().collect();
    let now: BTreeMap<Units, Units> = after.iter().copied().collect();
    let gone = before.iter().filter(|(price, _)| !now.contains_key(price));
    let gone = gone.map(|(price, quantity)| (LevelAction::Delete, *price, *quantity));
    let kept = after.iter().filter_map(|(price, quantity)| match before.get(price) {
        Some(was) if was == quantity => None,
        Some(_) => Some((LevelAction::Change, *price, *quantity)),
        None => Some((LevelAction::New, *price, *quantity)),
    });
    gone.chain(kept).map(|(action, price, quantity)| LevelChange { action, side, price, quantity }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Units {
        Units::parse(text).unwrap()
    }

    fn depth(last_update: u64, changes: &[(BookSide, &str, &str)]) -> VenueEvent {
        let changes = changes.iter().map(|(side, price, quantity)| (*side, units(price), units(quantity))).collect();
        VenueEvent::Depth { market: 0, first_update: last_update, last_update, changes, best: Default::default() }
    }

    fn told(changes: &[LevelChange]) -> Vec<String> {
        let tell = |change: &LevelChange| {
            format!("{:?} {:?} {} {}", change.action, change.side, change.quantity, change.price)
        };
        changes.iter().map(|change| tell(change).replace(".00000000", "")).collect()
    }

    fn view(depth: usize) -> BookView {
        let levels = [vec![(units("99"), units("1")), (units("98"), units("2"))], vec![(units("101"), units("3"))]];
        let last = (units("100"), units("1"));
        let snapshot =
            BookSnapshot { request: Vec::new(), market: 0, update_id: 7, levels, last, time_micros: 0, trade_id: 1 };
        BookView::new(&snapshot, depth)
    }

    #[test]
    fn changes_since_the_snapshot_are_told_by_what_they_do_to_a_level() {
        let mut view = view(0);
        assert_eq!(told(&view.apply(&depth(7, &[(BookSide::Buy, "99", "0")]))), Vec::<String>::new());
        let event = depth(9, &[(BookSide::Buy, "99", "0"), (BookSide::Buy, "98", "5"), (BookSide::Sell, "102", "1")]);
        assert_eq!(told(&view.apply(&event)), ["Delete Buy 1 99", "Change Buy 5 98", "New Sell 1 102"]);
        assert_eq!(view.shown(BookSide::Sell), [(units("101"), units("3")), (units("102"), units("1"))]);
    }

    #[test]
    fn the_best_price_alone_is_followed_where_that_is_asked() {
        let mut view = view(1);
        assert_eq!(told(&view.apply(&depth(8, &[(BookSide::Buy, "98", "5")]))), Vec::<String>::new());
        assert_eq!(
            told(&view.apply(&depth(9, &[(BookSide::Buy, "99", "0")]))),
            ["Delete Buy 1 99", "New Buy 5 98"],
            "the second best becomes the best"
        );
    }
}
