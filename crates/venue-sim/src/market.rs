//! Market of one security: book, stops, participants, last trade.

use std::sync::Arc;

use domain::{Security, SecurityId, Side, Timestamp};

use crate::book::{self, Book, Event, How, Rules};
use crate::config::{BOOK_ORDERS_MAX, ConfigError, Listing, VenueConfig};
use crate::crowd::{Character, Crowd, Room, Wish};
use crate::grid::Grid;
use crate::rng::Rng;
use crate::stops::Stops;
use crate::tape::Tape;

#[derive(Debug)]
pub(crate) struct Market {
    pub(crate) security: Arc<Security>,
    pub(crate) grid: Grid,
    pub(crate) book: Book,
    pub(crate) stops: Stops,
    pub(crate) crowd: Crowd,
    pub(crate) tape: Tape,
    /// When the participants act next, if they do.
    pub(crate) next_act: Option<Timestamp>,
    pub(crate) halted: bool,
    /// The end of its last session, where it expires.
    pub(crate) ends: Option<Timestamp>,
    pub(crate) last: Option<Last>,
    /// Lots traded today; none when 64 bits cannot count them.
    pub(crate) volume: Option<u64>,
    rules: Rules,
    is_index: bool,
}

/// The last trade.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last {
    pub(crate) price: i64,
    pub(crate) lots: Option<u64>,
    pub(crate) at: Timestamp,
}

impl Market {
    pub(crate) fn new(config: &VenueConfig, listing: &Listing, at: Timestamp) -> Result<Self, ConfigError> {
        let grid = listing.grid()?;
        let (mid, size) = listing.opening(&grid)?;
        let is_index = listing.is_index();
        let character = Character {
            mid,
            spread: listing.opening.spread_ticks,
            size: if is_index { 0 } else { size },
            volatility: listing.opening.volatility,
            activity: config.activity,
        };
        let rules = Rules { self_trade: config.self_trade, max_orders: BOOK_ORDERS_MAX };
        Ok(Self {
            security: Arc::clone(&listing.security),
            grid,
            book: Book::new(rules),
            stops: Stops::default(),
            crowd: Crowd::new(character, Rng::new(config.seed, listing.security.id.0)),
            tape: Tape::default(),
            next_act: None,
            halted: false,
            ends: None,
            last: is_index.then_some(Last { price: mid, lots: None, at }),
            volume: Some(0),
            rules,
            is_index,
        })
    }

    pub(crate) fn id(&self) -> SecurityId {
        self.security.id
    }

    pub(crate) fn is_tradeable(&self) -> bool {
        self.security.tradeable && !self.is_index
    }

    /// Neither halted nor past its last day.
    pub(crate) fn is_alive(&self, at: Timestamp) -> bool {
        !self.halted && self.ends.is_none_or(|end| at < end)
    }

    /// An empty book, as before the opening quotes.
    pub(crate) fn clear(&mut self) {
        self.book = Book::new(self.rules);
        self.stops = Stops::default();
    }

    /// Adds the opening quotes to the book. They stay away from clients' orders and stops, so that the start of a venue
    /// trades and triggers nothing.
    pub(crate) fn open(&mut self) {
        let (buy_stop, sell_stop) = self.stops.nearest();
        let room = Room {
            bid_above: sell_stop.unwrap_or(i64::MIN),
            bid_below: self.book.best_ask().unwrap_or(i64::MAX),
            ask_above: self.book.best_bid().unwrap_or(i64::MIN),
            ask_below: buy_stop.unwrap_or(i64::MAX),
        };
        for wish in self.crowd.open(room, &self.book) {
            if let Wish::Quote(order) = wish {
                // A quote is left out where the book is full of clients' orders.
                let _ = self.book.queue(&order);
            }
        }
    }

    /// Carries out an action of a participant and returns its effect. An action that the book refuses, because it is
    /// full or the order has ended, is dropped.
    pub(crate) fn grant(&mut self, wish: Wish) -> (Vec<Event>, Option<Side>) {
        let mut events = Vec::new();
        let aggressor = match wish {
            Wish::Withdraw(key) => {
                let _ = self.book.cancel(key);
                None
            }
            Wish::Join(order) => {
                let _ = self.book.queue(&order);
                None
            }
            Wish::Quote(order) => {
                let _ = self.book.place(&order, How::Rest, &mut |event| events.push(event));
                Some(order.side)
            }
            Wish::Take(order) => {
                let _ = self.book.place(&order, How::Immediate, &mut |event| events.push(event));
                Some(order.side)
            }
        };
        (events, aggressor.map(from_book))
    }

    /// An index follows its fair price, which counts as its last trade.
    pub(crate) fn follow_fair(&mut self, at: Timestamp) {
        if self.is_index {
            self.last = Some(Last { price: self.crowd.fair(), lots: None, at });
        }
    }

    pub(crate) fn traded(&mut self, trade: &book::Trade, aggressor: Option<Side>, at: Timestamp) {
        self.last = Some(Last { price: trade.price, lots: Some(trade.lots), at });
        self.volume = self.volume.and_then(|volume| volume.checked_add(trade.lots));
        self.tape.print(trade.price, trade.lots, aggressor, at);
    }

    /// The reference price of an auction.
    pub(crate) fn reference(&self) -> i64 {
        self.last.map_or_else(|| self.crowd.fair(), |last| last.price)
    }

    /// The prices that trigger stops: for buys and for sells.
    pub(crate) fn stop_prices(&self) -> (Option<i64>, Option<i64>) {
        match self.last {
            Some(last) => (Some(last.price), Some(last.price)),
            None => (self.book.best_ask(), self.book.best_bid()),
        }
    }
}

pub(crate) fn to_book(side: Side) -> book::Side {
    match side {
        Side::Buy => book::Side::Buy,
        Side::Sell => book::Side::Sell,
    }
}

pub(crate) fn from_book(side: book::Side) -> Side {
    match side {
        book::Side::Buy => Side::Buy,
        book::Side::Sell => Side::Sell,
    }
}
